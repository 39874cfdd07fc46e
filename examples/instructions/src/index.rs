//! The full-text index of all instructions, ranked by BM25. It is in memory, and built
//! again after every change of the folder.

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

/// The searched parts of an instruction, and the weight of a word in each.
pub const PARTS: [(&str, f32); 5] =
    [("title", 3.0), ("topic", 3.0), ("tags", 2.0), ("category", 1.5), ("body", 1.0)];

/// The index of the body in [`PARTS`], the source of snippets.
const BODY: usize = PARTS.len() - 1;

/// The memory for building an index: tantivy's minimum.
const WRITER_MEMORY_BYTES: usize = 15_000_000;

/// Maximum length of a word; longer ones are ignored.
const MAX_WORD_LENGTH: usize = 40;

/// Maximum words and phrases of a query; more are ignored.
const MAX_QUERY_WORDS: usize = 64;

/// Approximate maximum length of a snippet.
const MAX_SNIPPET_LENGTH: usize = 200;

/// Words of questions that do not describe a topic. The analyzer's own stop words
/// (articles, prepositions) come in addition.
const QUESTION_STOP_WORDS: [&str; 36] = [
    "about", "am", "any", "can", "could", "did", "do", "does", "from", "had", "has", "have", "he",
    "her", "his", "how", "i", "its", "me", "my", "our", "shall", "she", "should", "so", "us", "we",
    "were", "what", "when", "where", "which", "who", "why", "would", "you",
];

const ANALYZER: &str = "instructions";
const NUMBER: &str = "number";

/// A searchable set of instructions.
pub struct Index {
    searcher: Searcher,
    fields: [Field; PARTS.len()],
    analyzer: TextAnalyzer,
}

/// An instruction that matches a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The index of the instruction.
    pub number: usize,
    /// The BM25 score.
    pub score: f32,
}

/// The words of a query: each stemmed term with its original spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    /// Optional terms, which raise the score.
    any: BTreeMap<String, String>,
    /// Required phrases, as terms with their positions.
    phrases: Vec<Vec<(usize, String)>>,
}

/// A word of a query that occurs in an instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// The word as in the query.
    pub word: String,
    /// The names of the [`PARTS`] that contain it.
    pub parts: Vec<&'static str>,
}

/// A word of a text.
struct Token {
    /// Its position in the text.
    at: usize,
    /// Its stemmed form.
    term: String,
    /// Its original spelling, in lower case.
    word: String,
}

impl Index {
    /// Indexes instructions. An instruction's number is its place in the list.
    ///
    /// # Errors
    /// If there is not enough memory, or no thread can be started.
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
        let mut writer: IndexWriter = index.writer_with_num_threads(1, WRITER_MEMORY_BYTES)?;
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

    /// Parses a query. Text in double quotes is a phrase.
    pub fn words(&self, query: &str) -> Words {
        let mut words = Words { any: BTreeMap::new(), phrases: Vec::new() };
        // Every second piece is between quotes, unless its closing quote is missing.
        let pieces: Vec<&str> = query.split('"').collect();
        for (at, piece) in pieces.iter().enumerate() {
            let found = self.analyzed(piece);
            let is_phrase = at % 2 == 1 && at + 1 < pieces.len() && found.len() > 1;
            if is_phrase && words.phrases.len() < MAX_QUERY_WORDS {
                let placed = found.iter().take(MAX_QUERY_WORDS).map(|it| (it.at, it.term.clone()));
                words.phrases.push(placed.collect());
            }
            for Token { term, word, .. } in found {
                if words.any.len() < MAX_QUERY_WORDS {
                    words.any.entry(term).or_insert(word);
                }
            }
        }
        words
    }

    /// Returns the instructions with some of the words and all of the phrases, best first.
    ///
    /// # Errors
    /// If the index cannot be read, which would be a bug.
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
        // Hits with the same score keep a stable order.
        hits.sort_by(|one, other| {
            other.score.total_cmp(&one.score).then(one.number.cmp(&other.number))
        });
        Ok(hits)
    }

    /// Returns the query's words that an instruction contains, with the parts that contain them.
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

    /// The excerpt of an instruction's text with most of the words, which are marked with
    /// `**`. Returns `None` if the text has none of the words.
    pub fn snippet(&self, words: &Words, instruction: &Instruction) -> Option<String> {
        let terms = words.any.keys().map(|term| (term.clone(), 1.0)).collect();
        let field = self.fields[BODY];
        let generator =
            SnippetGenerator::new(terms, self.analyzer.clone(), field, MAX_SNIPPET_LENGTH);
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

    /// A query for a word or a phrase in any part.
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

    /// Splits a text into words, without stop words.
    fn analyzed(&self, text: &str) -> Vec<Token> {
        let mut analyzer = self.analyzer.clone();
        let mut stream = analyzer.token_stream(text);
        let mut words = Vec::new();
        while let Some(token) = stream.next() {
            // A single letter is the rest of a contraction, such as the m of "I'm".
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
        .filter(RemoveLongFilter::limit(MAX_WORD_LENGTH))
        .filter(LowerCaser)
        .filter(AsciiFoldingFilter)
        .filter(stop)
        .filter(StopWordFilter::remove(QUESTION_STOP_WORDS.map(str::to_owned)))
        .filter(Stemmer::new(Language::English))
        .build()
}

/// The searched texts of an instruction, in the order of [`PARTS`].
fn texts(instruction: &Instruction) -> [String; PARTS.len()] {
    let Instruction { title, topic, tags, category, body, .. } = instruction;
    // Separators in names become spaces, so that each word is indexed.
    let spaced = |name: &str| name.replace(['-', '_', '/'], " ");
    [title.clone(), spaced(topic), spaced(&tags.join(", ")), spaced(category), body.clone()]
}
