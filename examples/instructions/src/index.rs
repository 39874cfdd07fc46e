//! The index over all instructions: which of them have the words of a query, the
//! best by BM25 first. It is made anew for every change of the folder, in memory.

use std::collections::{BTreeMap, BTreeSet};

use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, BoostQuery, Occur, PhraseQuery, Query, TermQuery};
use tantivy::schema::{FAST, Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::snippet::SnippetGenerator;
use tantivy::tokenizer::{
    AsciiFoldingFilter, Language, LowerCaser, RemoveLongFilter, SimpleTokenizer, Stemmer,
    StopWordFilter, TextAnalyzer, TokenStream as _,
};
use tantivy::{IndexWriter, ReloadPolicy, Searcher, TantivyDocument, TantivyError, Term};

use crate::knowledge::Instruction;

/// The parts of an instruction that are searched, and how much a word counts
/// in each.
pub const PARTS: [(&str, f32); 5] =
    [("title", 3.0), ("topic", 3.0), ("tags", 2.0), ("category", 1.5), ("body", 1.0)];

/// The last of them, which snippets are taken from.
const BODY: usize = PARTS.len() - 1;

/// The memory that making an index may take; the least that is allowed.
const MEMORY: usize = 15_000_000;

/// Longer words are no words.
const LONGEST_WORD: usize = 40;

/// The most words of a query that count.
const MOST_WORDS: usize = 64;

/// About how long a snippet is.
const SNIPPET: usize = 200;

/// What is in every question and says nothing of what it is about, beside the
/// articles, prepositions and the like that the index leaves out anyway.
const SAYS_NOTHING: [&str; 36] = [
    "about", "am", "any", "can", "could", "did", "do", "does", "from", "had", "has", "have", "he",
    "her", "his", "how", "i", "its", "me", "my", "our", "shall", "she", "should", "so", "us", "we",
    "were", "what", "when", "where", "which", "who", "why", "would", "you",
];

const ANALYZER: &str = "instructions";
const NUMBER: &str = "number";

/// Instructions, searchable.
pub struct Index {
    searcher: Searcher,
    fields: [Field; PARTS.len()],
    analyzer: TextAnalyzer,
}

/// An instruction that fits a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Which of the instructions.
    pub number: usize,
    /// How well it fits.
    pub score: f32,
}

/// The words of a query, as the index knows them and as they were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    /// Each counts if it is there.
    any: BTreeMap<String, String>,
    /// Each must be there, its words one after the other.
    phrases: Vec<Vec<(usize, String)>>,
}

/// A word of a query that an instruction has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// As the query has it.
    pub word: String,
    /// In which of [`PARTS`].
    pub parts: Vec<&'static str>,
}

/// A word of a text.
struct Token {
    /// Which of all words it is.
    at: usize,
    /// As the index knows it.
    term: String,
    /// As it is written.
    word: String,
}

impl Index {
    /// Indexes instructions; their places in the list are their numbers.
    ///
    /// # Errors
    /// When there is not enough memory or no thread for it.
    pub fn new(instructions: &[Instruction]) -> Result<Index, TantivyError> {
        let mut schema = Schema::builder();
        let indexing = TextFieldIndexing::default()
            .set_tokenizer(ANALYZER)
            .set_index_option(IndexRecordOption::WithFreqsAndPositions);
        let text = TextOptions::default().set_indexing_options(indexing);
        let fields = PARTS.map(|(name, _)| schema.add_text_field(name, text.clone()));
        let number = schema.add_u64_field(NUMBER, FAST);
        let index = tantivy::Index::create_in_ram(schema.build());
        let analyzer = analyzer();
        index.tokenizers().register(ANALYZER, analyzer.clone());
        let mut writer: IndexWriter = index.writer_with_num_threads(1, MEMORY)?;
        for (place, instruction) in (0_u64..).zip(instructions) {
            let mut document = TantivyDocument::new();
            document.add_u64(number, place);
            for (field, text) in fields.into_iter().zip(texts(instruction)) {
                document.add_text(field, text);
            }
            writer.add_document(document)?;
        }
        writer.commit()?;
        writer.wait_merging_threads()?;
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        Ok(Index { searcher: reader.searcher(), fields, analyzer })
    }

    /// The words of a query. What stands between `"` is a phrase.
    pub fn words(&self, query: &str) -> Words {
        let mut words = Words { any: BTreeMap::new(), phrases: Vec::new() };
        // The second of every two pieces is between them; an odd one has no end.
        let pieces: Vec<&str> = query.split('"').collect();
        for (at, piece) in pieces.iter().enumerate() {
            let found = self.analyzed(piece);
            let is_phrase = at % 2 == 1 && at + 1 < pieces.len() && found.len() > 1;
            if is_phrase && words.phrases.len() < MOST_WORDS {
                let placed = found.iter().take(MOST_WORDS).map(|it| (it.at, it.term.clone()));
                words.phrases.push(placed.collect());
            }
            for Token { term, word, .. } in found {
                if words.any.len() < MOST_WORDS {
                    words.any.entry(term).or_insert(word);
                }
            }
        }
        words
    }

    /// The instructions that have some of the words and all of the phrases, the
    /// best first.
    ///
    /// # Errors
    /// When the index cannot be read, which would be a mistake of ours.
    pub fn search(&self, words: &Words, limit: usize) -> Result<Vec<Hit>, TantivyError> {
        if words.any.is_empty() || limit == 0 {
            return Ok(Vec::new());
        }
        let top = TopDocs::with_limit(limit).order_by_score();
        let mut hits = Vec::new();
        for (score, at) in self.searcher.search(&self.query(words), &top)? {
            let segment = self.searcher.segment_reader(at.segment_ord);
            let numbers = segment.fast_fields().u64(NUMBER)?;
            let number = numbers.first(at.doc_id).and_then(|number| usize::try_from(number).ok());
            hits.extend(number.map(|number| Hit { number, score }));
        }
        // What fits equally well comes in the same order each time.
        hits.sort_by(|one, other| {
            other.score.total_cmp(&one.score).then(one.number.cmp(&other.number))
        });
        Ok(hits)
    }

    /// Which of the words an instruction has, and where.
    pub fn matches(&self, words: &Words, instruction: &Instruction) -> Vec<Match> {
        let parts = PARTS.map(|(name, _)| name).into_iter().zip(texts(instruction));
        let mut found: BTreeMap<&str, Vec<&'static str>> = BTreeMap::new();
        for (name, text) in parts {
            let terms: BTreeSet<String> =
                self.analyzed(&text).into_iter().map(|token| token.term).collect();
            for (term, word) in &words.any {
                if terms.contains(term) {
                    found.entry(word).or_default().push(name);
                }
            }
        }
        let as_match = |(word, parts): (&str, _)| Match { word: word.to_owned(), parts };
        found.into_iter().map(as_match).collect()
    }

    /// The part of an instruction's text that has most of the words, which are
    /// marked with `**`; none where the text has none of them.
    pub fn snippet(&self, words: &Words, instruction: &Instruction) -> Option<String> {
        let terms = words.any.keys().map(|term| (term.clone(), 1.0)).collect();
        let field = self.fields[BODY];
        let generator = SnippetGenerator::new(terms, self.analyzer.clone(), field, SNIPPET);
        let snippet = generator.snippet(&instruction.body);
        let (text, mut marked, mut at) = (snippet.fragment(), String::new(), 0);
        for range in tantivy::snippet::collapse_overlapped_ranges(snippet.highlighted()) {
            marked.push_str(&text[at..range.start]);
            marked.push_str(&format!("**{}**", &text[range.clone()]));
            at = range.end;
        }
        marked.push_str(&text[at..]);
        let line = marked.split_whitespace().collect::<Vec<_>>().join(" ");
        (!snippet.is_empty()).then_some(line)
    }

    fn query(&self, words: &Words) -> BooleanQuery {
        let any = words.any.keys().map(|term| (Occur::Should, self.anywhere(&[(0, term.clone())])));
        let phrases = words.phrases.iter().map(|phrase| (Occur::Must, self.anywhere(phrase)));
        BooleanQuery::new(any.chain(phrases).collect())
    }

    /// A word or a phrase in any part.
    fn anywhere(&self, terms: &[(usize, String)]) -> Box<dyn Query> {
        let parts = self.fields.into_iter().zip(PARTS).map(|(field, (_, boost))| {
            let in_field = |(at, term): &(_, String)| (*at, Term::from_field_text(field, term));
            let mut terms: Vec<(usize, Term)> = terms.iter().map(in_field).collect();
            let query: Box<dyn Query> = match terms.len() {
                1 => Box::new(TermQuery::new(terms.remove(0).1, IndexRecordOption::WithFreqs)),
                _ => Box::new(PhraseQuery::new_with_offset(terms)),
            };
            (Occur::Should, Box::new(BoostQuery::new(query, boost)) as Box<dyn Query>)
        });
        Box::new(BooleanQuery::new(parts.collect()))
    }

    /// The words of a text that count.
    fn analyzed(&self, text: &str) -> Vec<Token> {
        let mut analyzer = self.analyzer.clone();
        let mut stream = analyzer.token_stream(text);
        let mut words = Vec::new();
        while let Some(token) = stream.next() {
            // What an apostrophe leaves, as the m of "I'm", is no word.
            if token.text.chars().nth(1).is_some() {
                let written = text.get(token.offset_from..token.offset_to).unwrap_or(&token.text);
                let (term, word) = (token.text.clone(), written.to_lowercase());
                words.push(Token { at: token.position, term, word });
            }
        }
        words
    }
}

fn analyzer() -> TextAnalyzer {
    let stop = StopWordFilter::new(Language::English).expect("there are stop words for English");
    TextAnalyzer::builder(SimpleTokenizer::default())
        .filter(RemoveLongFilter::limit(LONGEST_WORD))
        .filter(LowerCaser)
        .filter(AsciiFoldingFilter)
        .filter(stop)
        .filter(StopWordFilter::remove(SAYS_NOTHING.map(str::to_owned)))
        .filter(Stemmer::new(Language::English))
        .build()
}

/// What is searched of an instruction, in the order of [`PARTS`].
fn texts(instruction: &Instruction) -> [String; PARTS.len()] {
    let Instruction { title, topic, tags, category, body, .. } = instruction;
    // Names are words with something between them.
    let spaced = |name: &str| name.replace(['-', '_', '/'], " ");
    [title.clone(), spaced(topic), spaced(&tags.join(", ")), spaced(category), body.clone()]
}
