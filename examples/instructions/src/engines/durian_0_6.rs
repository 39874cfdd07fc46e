//! `durian-0.6`: routes by triggers like `durian-0.5`, and also by the text index, the
//! context of the conversation, and related instructions.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Engine;
use crate::index::Match;
use crate::library::{Library, LibraryError};
use crate::phrase::words;
use crate::routing::{Kind, Reason, Request, Routed, rank, triggered};

/// Maximum hits of one search in the index.
const MAX_HITS: usize = 50;

/// The weight of a word of the context; a word of the message has 1.
const CONTEXT_WEIGHT: f64 = 0.3;

/// The score if the context names the topic or the category.
const NAMED_SCORE: f64 = 3.0;

/// The share of a trigger's score that related instructions get.
const RELATED_SHARE: f64 = 0.5;

/// Instructions below this share of the best score are left out.
const MIN_SCORE_SHARE: f64 = 0.1;

/// Maximum bytes of a context that are read, approximately.
const MAX_CONTEXT_BYTES: usize = 10_000;

pub(super) struct Durian;

/// The reasons for each instruction, by its number.
type Reasons = BTreeMap<usize, Vec<Reason>>;

impl Engine for Durian {
    fn version(&self) -> &'static str {
        "durian-0.6"
    }

    fn summary(&self) -> &'static str {
        "triggers, the ranking of the index, the context, and what is related"
    }

    fn route(&self, library: &Library, request: &Request) -> Result<Vec<Routed>, LibraryError> {
        let mut reasons = Reasons::new();
        add_triggered(&mut reasons, library, &words(&request.message));
        add_text(&mut reasons, library, &request.message, (Kind::Text, 1.0))?;
        add_named(&mut reasons, library, request);
        let context = strings(&request.context);
        add_text(&mut reasons, library, &context, (Kind::Context, CONTEXT_WEIGHT))?;
        let routed = reasons.into_iter().map(|(number, reasons)| Routed { number, reasons });
        let mut routed: Vec<Routed> = routed.collect();
        rank(&mut routed, library.all());
        let best = routed.first().map_or(0.0, Routed::score);
        routed.retain(|routed| routed.score() >= best * MIN_SCORE_SHARE);
        Ok(routed)
    }
}

/// Adds the instructions that the message triggers, and their related instructions.
fn add_triggered(reasons: &mut Reasons, library: &Library, message: &[String]) {
    let mut related: BTreeMap<usize, Reason> = BTreeMap::new();
    for (number, instruction) in library.all().iter().enumerate() {
        let found = triggered(instruction, message);
        if found.is_empty() {
            continue;
        }
        let score = RELATED_SHARE * found.iter().map(|reason| reason.score).sum::<f64>();
        for topic in &instruction.related {
            let others = library.all().iter().enumerate();
            for (other, _) in others.filter(|(at, it)| it.topic == *topic && *at != number) {
                let reason =
                    Reason { kind: Kind::Related, matched: instruction.topic.clone(), score };
                // If several instructions name this one, only the best score counts.
                if score > related.get(&other).map_or(0.0, |reason| reason.score) {
                    related.insert(other, reason);
                }
            }
        }
        reasons.entry(number).or_default().extend(found);
    }
    for (number, reason) in related {
        reasons.entry(number).or_default().push(reason);
    }
}

/// Adds the hits of the text index.
fn add_text(
    reasons: &mut Reasons,
    library: &Library,
    text: &str,
    (kind, weight): (Kind, f64),
) -> Result<(), LibraryError> {
    // A `"` in a message is a quotation, not a phrase search.
    let words = library.words(&text.replace('"', " "));
    for hit in library.search(&words, MAX_HITS)? {
        let matches = library.matches(&words, &library.all()[hit.number]);
        let matched: Vec<String> = matches.into_iter().map(render_match).collect();
        let score = f64::from(hit.score) * weight;
        let reason = Reason { kind, matched: matched.join(", "), score };
        reasons.entry(hit.number).or_default().push(reason);
    }
    Ok(())
}

fn render_match(found: Match) -> String {
    format!("{} ({})", found.word, found.parts.join(", "))
}

/// Adds the instructions that the context names by its `topic` or `category`.
fn add_named(reasons: &mut Reasons, library: &Library, request: &Request) {
    for (number, instruction) in library.all().iter().enumerate() {
        for (key, value) in [("topic", &instruction.topic), ("category", &instruction.category)] {
            let named = request.context.get(key).and_then(Value::as_str);
            if named.is_some_and(|named| words(named) == words(value)) {
                let matched = format!("{key}: {value}");
                let reason = Reason { kind: Kind::Context, matched, score: NAMED_SCORE };
                reasons.entry(number).or_default().push(reason);
            }
        }
    }
}

/// Joins all texts in a context, at any depth.
fn strings(context: &serde_json::Map<String, Value>) -> String {
    let mut texts = String::new();
    let mut left: Vec<&Value> = context.values().collect();
    while let Some(value) = left.pop() {
        match value {
            Value::String(text) => {
                texts.push_str(text);
                texts.push(' ');
            }
            Value::Array(items) => left.extend(items),
            Value::Object(members) => left.extend(members.values()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        if texts.len() > MAX_CONTEXT_BYTES {
            break;
        }
    }
    texts
}
