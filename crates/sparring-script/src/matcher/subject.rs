//! Kinds of values that matchers check, and the check that a matcher can match its kind.
//!
//! A mistyped matcher expects a map with that key, which no text and no number is. Below a
//! negation such an expectation always holds, so the mistake must be found when the file is
//! loaded.

use std::collections::BTreeSet;

use super::parse::{MATCHER_NAMES, is_matcher, parse_pattern};
use super::schema_keywords::check_keywords;
use super::synonym::{self, mistaken_matcher};
use crate::casing::to_camel_case;
use crate::node::{MapEntry, Node, NodeKind};
use crate::problem::Problems;
use crate::suggestion::did_you_mean;
use crate::template::Template;

/// The kind of value that a matcher checks. It decides which matchers and keys can stand
/// there.
#[derive(Debug)]
pub enum Subject {
    /// Data of the user, with any keys.
    Data,
    /// A string.
    Text,
    /// One of the strings that the function returns.
    Keyword(fn() -> Vec<&'static str>),
    /// A string that is usually one of those that the function returns. Only a misspelling of
    /// one is refused.
    Name(fn() -> Vec<&'static str>),
    /// A number.
    Number,
    /// A string or a number.
    Scalar,
    /// `true` or `false`.
    Bool,
    /// A map with known keys. The name has its article: `a tool`.
    Object(&'static str, &'static [(&'static str, Subject)]),
    /// A map with the user's own keys, whose values are of one kind.
    Map(&'static Subject),
    /// A list whose items are of one kind.
    List(&'static Subject),
    /// A value of one of these kinds.
    OneOf(&'static [Subject]),
    /// A value that always exists, so `exists` and `is` have no effect on it.
    Present(&'static Subject),
}

/// The maximum number of known words that a message lists.
const MAX_LISTED_WORDS: usize = 20;

/// The number of characters from which two edits are a misspelling of a name.
const MIN_LONG_NAME: usize = 8;

/// The matchers that every kind of value can have.
const GENERAL: [&str; 6] = ["equals", "one_of", "all", "any", "not", "conforms"];

/// The matchers of strings.
const OF_TEXT: [&str; 5] = ["contains", "matches", "starts_with", "ends_with", "len"];

/// The matchers of numbers.
const OF_NUMBER: [&str; 4] = ["gt", "ge", "lt", "le"];

/// The matchers of lists.
const OF_LIST: [&str; 4] = ["len", "contains", "every", "has"];

impl Subject {
    /// Describes the kind with its article: `a string`.
    pub fn describe(&self) -> String {
        match self {
            Subject::Data => "any value".to_owned(),
            Subject::Text | Subject::Keyword(_) | Subject::Name(_) => "a string".to_owned(),
            Subject::Number => "a number".to_owned(),
            Subject::Scalar => "a string or a number".to_owned(),
            Subject::Bool => "true or false".to_owned(),
            Subject::Object(name, _) => (*name).to_owned(),
            Subject::Map(_) => "a map".to_owned(),
            Subject::List(_) => "a list".to_owned(),
            Subject::OneOf(kinds) => {
                kinds.iter().map(Subject::describe).collect::<Vec<_>>().join(" or ")
            }
            Subject::Present(kind) => kind.describe(),
        }
    }

    /// Returns true if a matcher of this name can match the kind.
    fn has_matcher(&self, name: &str) -> bool {
        let of_kind: &[&str] = match self {
            Subject::Data => return true,
            Subject::Text | Subject::Keyword(_) | Subject::Name(_) => &OF_TEXT,
            Subject::Number => &OF_NUMBER,
            Subject::Scalar => return GENERAL.contains(&name) || !["every", "has"].contains(&name),
            Subject::Bool => &[],
            Subject::Object(..) | Subject::Map(_) => &["len"],
            Subject::List(_) => &OF_LIST,
            Subject::OneOf(kinds) => return kinds.iter().any(|kind| kind.has_matcher(name)),
            Subject::Present(kind) => {
                return !["exists", "is"].contains(&name) && kind.has_matcher(name);
            }
        };
        GENERAL.contains(&name) || ["exists", "is"].contains(&name) || of_kind.contains(&name)
    }

    /// Returns true if a literal of this type can equal a value of the kind.
    fn has_literal(&self, node: &Node) -> bool {
        match (self, &node.kind) {
            (Subject::Data, _)
            | (
                Subject::Text | Subject::Keyword(_) | Subject::Name(_) | Subject::Scalar,
                NodeKind::String(_),
            )
            | (Subject::Number | Subject::Scalar, NodeKind::Number(_))
            | (Subject::Bool, NodeKind::Bool(_))
            | (Subject::Object(..) | Subject::Map(_), NodeKind::Map(_))
            | (Subject::List(_), NodeKind::List(_)) => true,
            (Subject::OneOf(kinds), _) => kinds.iter().any(|kind| kind.has_literal(node)),
            (Subject::Present(kind), kind_of) => {
                *kind_of != NodeKind::Null && kind.has_literal(node)
            }
            // The value may be null although it should not.
            (_, kind) => *kind == NodeKind::Null,
        }
    }

    /// Returns the kind without the fact that the value exists.
    fn kind(&self) -> &Subject {
        match self {
            Subject::Present(kind) => kind,
            kind => kind,
        }
    }

    /// Returns the kind of the items of a list.
    fn item(&self) -> &Subject {
        match self.kind() {
            Subject::List(item) => item,
            Subject::OneOf(kinds) => {
                let list = kinds.iter().find(|kind| matches!(kind, Subject::List(_)));
                list.map_or(&Subject::Data, Subject::item)
            }
            _ => &Subject::Data,
        }
    }
}

/// Checks that a matcher can match a value of its kind, and adds mistakes to the problems.
pub fn check_subject(node: &Node, subject: &Subject, problems: &mut Problems) {
    match &node.kind {
        NodeKind::String(text) if is_template(text) => {}
        NodeKind::Map(entries) if is_matcher(entries) => {
            entries.iter().for_each(|entry| check_matcher(entry, subject, problems));
        }
        NodeKind::Map(entries) => check_map(node, entries, subject, problems),
        NodeKind::List(items) if subject.has_literal(node) => {
            items.iter().for_each(|item| check_subject(item, subject.item(), problems));
        }
        _ => check_literal(node, subject, problems),
    }
}

/// Checks one matcher and its operand.
fn check_matcher(entry: &MapEntry, subject: &Subject, problems: &mut Problems) {
    let (name, node) = (&*entry.key, &entry.value);
    if !subject.has_matcher(name) {
        let message = match (subject, name) {
            (Subject::Present(_), "exists" | "is") => {
                format!("`{name}` has no effect here: {} is always present", subject.describe())
            }
            _ => format!("`{name}` cannot match {}", subject.describe()),
        };
        problems.add_with_help(entry.key_span, message, matchers_of(subject));
        return;
    }
    match name {
        "not" => check_subject(node, subject, problems),
        "one_of" | "all" | "any" => {
            node.items().iter().for_each(|item| check_subject(item, subject, problems));
        }
        "len" => check_subject(node, &Subject::Present(&Subject::Number), problems),
        "every" | "has" => check_subject(node, subject.item(), problems),
        "equals" => check_operand(node, subject, problems),
        "contains" if is_text(subject) => {
            check_operand(node, &Subject::Present(&Subject::Text), problems);
            check_part(entry, subject, problems);
        }
        "conforms" => check_keywords(node, problems),
        "starts_with" | "ends_with" | "matches" => check_part(entry, subject, problems),
        _ => {}
    }
}

fn is_text(subject: &Subject) -> bool {
    matches!(subject.kind(), Subject::Text | Subject::Keyword(_) | Subject::Name(_))
}

/// Checks that a matcher of a part of a string has an effect, and that a known word has such
/// a part.
fn check_part(entry: &MapEntry, subject: &Subject, problems: &mut Problems) {
    let (name, span) = (&*entry.key, entry.value.span);
    let Some(part) = entry.value.as_str().filter(|text| !is_template(text)) else { return };
    if part.is_empty() {
        let message = format!("`{name}` has no effect here: every string has an empty part");
        let help = match subject {
            Subject::Present(_) => "use `{len: {gt: 0}}` for a string that is not empty",
            _ => "use `{is: string}` for any string",
        };
        problems.add_with_help(span, message, Some(help.to_owned()));
        return;
    }
    let Subject::Keyword(words) = subject.kind() else { return };
    let words = words();
    let pattern = (name == "matches").then(|| parse_pattern(part).ok()).flatten();
    let fits = |word: &&str| match name {
        "contains" => word.contains(part),
        "starts_with" => word.starts_with(part),
        "ends_with" => word.ends_with(part),
        _ => pattern.as_ref().is_none_or(|it| it.is_match(word).unwrap_or(true)),
    };
    if !words.iter().any(fits) {
        let message = format!("`{name}: {part}` matches none of the known values");
        let known = || format!("known values: {}", words.join(", "));
        let help = (words.len() <= MAX_LISTED_WORDS).then(known);
        let beginning = part.split_once('/').map_or(part, |(beginning, _)| beginning);
        let beginnings = words.iter().filter_map(|word| Some(word.split_once('/')?.0));
        let beginnings: BTreeSet<&str> = beginnings.collect();
        let help = help.or_else(|| did_you_mean(beginning, beginnings));
        problems.add_with_help(span, message, help);
    }
}

/// Returns the known name that a text misspells.
fn misspelled_name(text: &str, names: &[&'static str]) -> Option<&'static str> {
    let max_edits = if text.chars().count() < MIN_LONG_NAME { 1 } else { 2 };
    let is_near = |name: &&&str| {
        strsim::osa_distance(name, text) <= max_edits
            || name.strip_prefix("notifications/") == Some(text)
    };
    names.iter().find(is_near).filter(|_| !names.contains(&text)).copied()
}

/// Checks the operand of a matcher that takes a literal value.
fn check_operand(node: &Node, subject: &Subject, problems: &mut Problems) {
    let is_template = node.as_str().is_some_and(is_template);
    if !is_template {
        check_literal(node, subject, problems);
    }
}

/// Checks that a literal can equal a value of its kind.
fn check_literal(node: &Node, subject: &Subject, problems: &mut Problems) {
    if !subject.has_literal(node) {
        let message = format!("expected {}, found {}", subject.describe(), node.describe());
        problems.add_with_help(node.span, message, literal_help(node, subject));
    }
    check_name(node, subject, problems);
    if let (Subject::Keyword(words), Some(text)) = (subject.kind(), node.as_str()) {
        let words = words();
        if !words.contains(&text) {
            let known = || format!("known values: {}", words.join(", "));
            let help = did_you_mean(text, words.iter().copied())
                .or_else(|| (words.len() <= MAX_LISTED_WORDS).then(known));
            problems.add_with_help(node.span, format!("unknown value `{text}`"), help);
        }
    }
}

/// Reports a string that misspells a known name.
fn check_name(node: &Node, subject: &Subject, problems: &mut Problems) {
    let (Subject::Name(names), Some(text)) = (subject.kind(), node.as_str()) else { return };
    if let Some(meant) = misspelled_name(text, &names()) {
        let help = Some(synonym::suggest(meant));
        problems.add_with_help(node.span, format!("unknown value `{text}`"), help);
    }
}

/// Suggests the spelling of a literal that can match.
fn literal_help(node: &Node, subject: &Subject) -> Option<String> {
    match (subject.kind(), &node.kind) {
        (
            Subject::Text | Subject::Keyword(_) | Subject::Name(_),
            NodeKind::Number(_) | NodeKind::Bool(_),
        ) => Some("put it in quotes".to_owned()),
        (Subject::Object(_, fields), NodeKind::String(text)) => {
            let (name, _) =
                fields.iter().find(|(name, _)| ["name", "method", "rule"].contains(name))?;
            Some(format!("use `{{{name}: {text}}}`"))
        }
        (Subject::List(_), NodeKind::Map(_)) => {
            Some("use `has: {…}` for one of its items".to_owned())
        }
        _ => None,
    }
}

/// Checks a map that is not a matcher.
fn check_map(node: &Node, entries: &[MapEntry], subject: &Subject, problems: &mut Problems) {
    match subject.kind() {
        Subject::Data => {
            report_mistaken_matcher(entries, problems);
            entries.iter().for_each(|it| check_subject(&it.value, &Subject::Data, problems));
        }
        Subject::Object(name, fields) => {
            entries.iter().for_each(|entry| check_field(entry, name, fields, problems));
        }
        Subject::Map(value) => {
            entries.iter().for_each(|entry| check_subject(&entry.value, value, problems));
        }
        Subject::OneOf(kinds) if kinds.iter().any(|kind| kind.has_literal(node)) => {
            let kind = kinds.iter().find(|kind| kind.has_literal(node));
            check_map(node, entries, kind.unwrap_or(subject), problems);
        }
        _ => report_no_matcher(node, entries, subject, problems),
    }
}

/// Checks a key of a map with known keys, and its value.
fn check_field(
    entry: &MapEntry,
    name: &str,
    fields: &[(&'static str, Subject)],
    problems: &mut Problems,
) {
    let written = to_camel_case(&entry.key);
    match fields.iter().find(|(field, _)| *field == entry.key || *field == written) {
        Some((_, subject)) => check_subject(&entry.value, subject, problems),
        None => {
            let help = match MATCHER_NAMES.contains(&&*entry.key) {
                true => {
                    Some("a matcher cannot stand beside keys; use `all: [{…}, {…}]`".to_owned())
                }
                false => did_you_mean(&entry.key, fields.iter().map(|(field, _)| *field))
                    .or_else(|| mistaken_matcher(entry).map(synonym::suggest)),
            };
            problems.add_with_help(
                entry.key_span,
                format!("no field `{}` in {name}", entry.key),
                help,
            );
        }
    }
}

/// Reports a map of user data that looks like a misspelled matcher.
fn report_mistaken_matcher(entries: &[MapEntry], problems: &mut Problems) {
    let is_known = |entry: &MapEntry| MATCHER_NAMES.contains(&&*entry.key);
    if !entries.iter().all(|entry| is_known(entry) || mistaken_matcher(entry).is_some()) {
        return;
    }
    for entry in entries.iter().filter(|entry| !is_known(entry)) {
        let help = mistaken_matcher(entry).map(|meant| {
            format!("{} Use `{{equals: …}}` for data with this key", synonym::suggest(meant))
        });
        problems.add_with_help(entry.key_span, format!("`{}` is not a matcher", entry.key), help);
    }
}

/// Reports a map where only a matcher can match.
fn report_no_matcher(
    node: &Node,
    entries: &[MapEntry],
    subject: &Subject,
    problems: &mut Problems,
) {
    if entries.is_empty() || matches!(subject.kind(), Subject::List(_)) {
        return check_literal(node, subject, problems);
    }
    for entry in entries.iter().filter(|entry| !MATCHER_NAMES.contains(&&*entry.key)) {
        let message = format!("`{}` is not a matcher", entry.key);
        let meant = mistaken_matcher(entry).map(synonym::suggest);
        let names = || MATCHER_NAMES.into_iter().filter(|name| subject.has_matcher(name));
        let help = meant.or_else(|| did_you_mean(&entry.key, names()));
        problems.add_with_help(entry.key_span, message, help.or_else(|| matchers_of(subject)));
    }
}

/// Lists the matchers that a kind of value can have.
fn matchers_of(subject: &Subject) -> Option<String> {
    let names = MATCHER_NAMES.into_iter().filter(|name| subject.has_matcher(name));
    let names = names.collect::<Vec<_>>().join(", ");
    Some(format!("matchers of {}: {names}", subject.describe()))
}

fn is_template(text: &str) -> bool {
    Template::parse(text).is_ok_and(|template| template.as_literal().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;

    static ITEM: Subject = Subject::Object(
        "an item",
        &[
            ("name", Subject::Text),
            ("mimeType", Subject::Text),
            ("size", Subject::Number),
            ("tags", Subject::List(&Subject::Text)),
            ("rule", Subject::Keyword(|| vec!["wire/not-json", "wire/id-null"])),
            ("method", Subject::Name(|| vec!["tools/call", "notifications/message", "GET"])),
            ("kind", Subject::Text),
            ("meta", Subject::Data),
        ],
    );

    static TEXT: Subject = Subject::Present(&Subject::Text);

    /// Checks that a matcher has exactly these problems.
    #[track_caller]
    fn check(subject: &Subject, text: &str, expected: &[&str]) {
        let source = Source::new("a.yaml", text);
        let mut problems = Problems::new(&source);
        check_subject(&Node::parse(&source).unwrap(), subject, &mut problems);
        let message = problems.to_string();
        for part in expected {
            assert!(message.contains(part), "{text}: no {part:?} in\n{message}");
        }
        let count = problems.iter().count();
        assert!(expected.is_empty() == (count == 0), "{text}:\n{message}");
    }

    #[test]
    fn only_a_matcher_can_match_a_text_or_a_number() {
        for text in ["a", "{contains: a}", "{not: {contains: a}}", "{len: {gt: 1}}", "\"${n}\""] {
            check(&TEXT, text, &[]);
        }
        check(
            &TEXT,
            "{not: {contain: a}}",
            &["`contain` is not a matcher", "did you mean 'contains'?"],
        );
        check(
            &TEXT,
            "{any: [{regex: a}]}",
            &["`regex` is not a matcher", "did you mean 'matches'?"],
        );
        check(
            &TEXT,
            "{zzz: a}",
            &["`zzz` is not a matcher", "matchers of a string: equals, contains,"],
        );
        check(&TEXT, "{contains: a, flags: i}", &["`flags` is not a matcher"]);
        check(&TEXT, "{not: {gt: 5}}", &["`gt` cannot match a string"]);
        check(&TEXT, "{not: {contains: 5}}", &["expected a string, found a number", "in quotes"]);
        check(&TEXT, "{not: 5}", &["expected a string, found a number", "put it in quotes"]);
        check(&TEXT, "{len: {gte: 5}}", &["`gte` is not a matcher", "did you mean 'ge'?"]);
        check(&TEXT, "{not: {}}", &["expected a string, found a map"]);
        check(&TEXT, "{not: [a]}", &["expected a string, found a list"]);
        check(
            &TEXT,
            "{exists: true}",
            &["`exists` has no effect here: a string is always present"],
        );
        check(&Subject::Present(&Subject::Number), "{not: \"3\"}", &["expected a number, found"]);
        check(&Subject::Scalar, "{one_of: [1, SIGKILL]}", &[]);
        check(&Subject::Bool, "{not: {contains: a}}", &["`contains` cannot match true or false"]);
    }

    #[test]
    fn a_map_with_known_keys_has_no_others() {
        for text in [
            "{name: a, mime_type: b, mimeType: b}",
            "{not: {name: {contains: a}}}",
            "{size: {gt: 1}, tags: {has: a}}",
            "{name: {exists: false}, size: null}",
            "{meta: {anything: 1}}",
            "{tags: [a, {starts_with: b}]}",
            "{rule: wire/not-json}",
            "{rule: {starts_with: wire/}}",
            "{rule: {matches: \"json$\"}, kind: {starts_with: a}, method: {not: my/method}}",
            "{method: tools/call, name: {starts_with: \"${x}\"}}",
        ] {
            check(&ITEM, text, &[]);
        }
        check(&ITEM, "{nam: a}", &["no field `nam` in an item", "did you mean 'name'?"]);
        check(&ITEM, "{name: {contian: a}}", &["`contian` is not a matcher", "'contains'"]);
        check(&ITEM, "a", &["expected an item, found a string", "use `{name: a}`"]);
        check(&ITEM, "{contains: a}", &["`contains` cannot match an item"]);
        check(&ITEM, "{name: a, not: {size: 1}}", &["no field `not` in an item", "use `all: ["]);
        check(&ITEM, "{rule: wire/not-jsn}", &["unknown value `wire/not-jsn`", "'wire/not-json'"]);
        check(
            &ITEM,
            "{rule: {starts_with: wyre/}}",
            &["`starts_with: wyre/` matches none of the known values", "wire/not-json"],
        );
        check(&ITEM, "{rule: {matches: jsn}}", &["`matches: jsn` matches none of the known"]);
        for (wrong, right) in
            [("tools/cal", "tools/call"), ("message", "notifications/message"), ("GTE", "GET")]
        {
            let expected = [&*format!("unknown value `{wrong}`"), &format!("'{right}'")];
            check(&ITEM, &format!("{{method: {{not: {wrong}}}}}"), &expected);
        }
        for name in ["contains", "starts_with", "ends_with", "matches"] {
            let message = format!("`{name}` has no effect here");
            check(&ITEM, &format!("{{name: {{{name}: \"\"}}}}"), &[&message, "is: string"]);
            check(&TEXT, &format!("{{not: {{{name}: \"\"}}}}"), &[&message, "len: {gt: 0}"]);
        }
        check(&ITEM, "{meta: {list: {contains: \"\"}}}", &[]);
        check(&ITEM, "{meta: {name: {matches: \"\"}}}", &["`matches` has no effect here"]);
        check(&ITEM, "{meta: {conforms: {requird: [a]}}}", &["did you mean 'required'?"]);
        check(&ITEM, "{tags: {name: a}}", &["expected a list, found a map", "use `has:"]);
        check(&ITEM, "{meta: {size: {gte: 1}}}", &["`gte` is not a matcher"]);
    }

    #[test]
    fn user_data_that_looks_like_a_misspelled_matcher_is_refused() {
        for (word, meant) in [
            ("gte: 5", "ge"),
            ("lte: 5", "le"),
            ("regex: a", "matches"),
            ("eq: a", "equals"),
            ("ne: a", "not: {equals: …}"),
            ("length: 5", "len"),
            ("size: {gt: 5}", "len"),
            ("includes: a", "contains"),
            ("contain: a", "contains"),
            ("contians: a", "contains"),
            ("greater: 5", "gt"),
            ("less: 5", "lt"),
            ("startsWith: a", "starts_with"),
            ("oneOf: [1]", "one_of"),
            ("notEquals: 1", "not: {equals: …}"),
            ("exist: true", "exists"),
            ("match: a", "matches"),
            ("==: a", "equals"),
            ("!=: a", "not: {equals: …}"),
            (">: 5", "gt"),
            (">=: 5", "ge"),
            ("<: 5", "lt"),
            ("<=: 5", "le"),
        ] {
            let (key, operand) = word.split_once(": ").unwrap();
            let refused = format!("`{key}` is not a matcher");
            let meant = format!("did you mean '{meant}'?");
            let expected = [&*refused, &*meant, "`{equals: …}`"];
            check(&Subject::Data, &format!("{{a: {{not: {{\"{key}\": {operand}}}}}}}"), &expected);
        }
        check(&Subject::Data, "{gt: 1, lte: 5}", &["`lte` is not a matcher"]);
        check(&Subject::Data, "[{gte: 1}]", &["`gte` is not a matcher"]);
    }

    #[test]
    fn ordinary_keys_of_user_data_stay_usable() {
        for text in [
            "{note: a}",
            "{hash: a}",
            "{level: 3}",
            "{call: a}",
            "{net: 1, gate: 2, list: [1]}",
            "{size: 5, name: a}",
            "{properties: {size: {type: integer}}}",
            "{matched: true}",
            "{batches: [1]}",
            "{size: {equals: 5}}",
            "{gte: {equals: 5}}",
            "{equals: {gte: 5}}",
            "{contains: {gte: 5}}",
        ] {
            check(&Subject::Data, text, &[]);
        }
    }

    #[test]
    fn a_value_of_several_kinds_takes_the_matchers_of_each() {
        static FRAME: Subject = Subject::OneOf(&[
            Subject::Object("a frame", &[("method", Subject::Text)]),
            Subject::Text,
            Subject::List(&Subject::Object("a frame", &[("method", Subject::Text)])),
        ]);
        for text in ["hello", "{contains: a}", "{method: a}", "[{method: a}]", "{has: {method: a}}"]
        {
            check(&FRAME, text, &[]);
        }
        check(&FRAME, "{metod: a}", &["no field `metod` in a frame", "did you mean 'method'?"]);
        check(&FRAME, "{has: {metod: a}}", &["no field `metod` in a frame"]);
        check(&FRAME, "{gt: 1}", &["`gt` cannot match a frame or a string or a list"]);
    }
}
