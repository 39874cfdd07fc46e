//! Reads the expectations of a step, and checks that its verb has such results.

use sparring_peer::client::ListKind;
use sparring_script::matcher::check_subject;
use sparring_script::{
    MapEntry, Node, NodeKind, Path, Span, Subject, did_you_mean, parse_duration,
};

use super::{Loader, one_or_many};
use crate::grammar::{COMPLETION, FRAME, MESSAGE, PROMPT, RESOURCE, TEMPLATE, TOOL, VIOLATION};
use crate::model::{
    Aspect, Collection, Expectation, Expectations, Items, Journal, MatcherTemplate, Verb,
};

/// The keys of an expectation about items.
const ITEMS: [&str; 3] = ["has", "lacks", "count"];

/// The expectations that an agent step cannot have.
const SERVER_KEYS: [&str; 6] =
    ["violations", "notifications", "requests", "frames", "status", "headers"];

impl Loader {
    pub(super) fn read_expectations(&mut self, node: &Node, verb: &Verb) -> Expectations {
        let Some(expect) = node.get("expect") else { return Expectations::default() };
        if matches!(verb, Verb::Check(_)) {
            return Expectations::default();
        }
        let mut expectations = Vec::new();
        let mut own_items = None;
        for entry in expect.entries() {
            if ITEMS.contains(&&*entry.key) {
                own_items.get_or_insert(entry.key_span);
                self.check_gives_list(entry, verb);
            } else if let Some(journal) = journal(&entry.key) {
                let of = self.read_journals(entry, journal);
                expectations
                    .extend(of.into_iter().map(|expectation| (entry.key_span, expectation)));
            } else if let Some(expectation) = self.read_agent_expectation(entry) {
                if !verb.is_agent() {
                    self.add_not_checkable(entry.key_span, &entry.key, verb);
                }
                expectations.push((entry.key_span, expectation));
            } else if let Some(expectation) = self.read_expectation(entry, verb) {
                expectations.push((entry.key_span, expectation));
            }
        }
        if let Some(span) = own_items {
            expectations.push((
                span,
                Expectation::Items(Collection::List, self.read_items(expect, listed(verb))),
            ));
        }
        self.check_contradiction(expect);
        Expectations(expectations)
    }

    fn read_expectation(&mut self, entry: &MapEntry, verb: &Verb) -> Option<Expectation> {
        let node = &entry.value;
        if let Some(aspect) = Aspect::ALL.into_iter().find(|aspect| aspect.key() == entry.key) {
            if !has_aspect(verb, aspect) {
                self.add_not_checkable(entry.key_span, &entry.key, verb);
            }
            let pattern = match aspect.is_user_data() {
                true => MatcherTemplate::read(node, &mut self.problems),
                false if aspect == Aspect::Error => {
                    MatcherTemplate::read_error(node, &mut self.problems)
                }
                false => MatcherTemplate::read_wire(node, &mut self.problems),
            };
            return Some(Expectation::Value(aspect, pattern));
        }
        // The requests of an agent to an LLM mock can be violations.
        let of_llm = entry.key == "violations" && self.mocks.iter().any(|it| it.llm().is_some());
        if verb.is_agent() && SERVER_KEYS.contains(&&*entry.key) && !of_llm {
            self.add_not_checkable(entry.key_span, &entry.key, verb);
        }
        Some(match &*entry.key {
            "violations" => {
                Expectation::Items(Collection::Violations, self.read_items(node, &VIOLATION))
            }
            "notifications" => {
                Expectation::Items(Collection::Notifications, self.read_items(node, &MESSAGE))
            }
            "requests" => Expectation::Items(Collection::Requests, self.read_items(node, &MESSAGE)),
            "frames" => Expectation::Items(Collection::Frames, self.read_items(node, &FRAME)),
            "status" => Expectation::Status(MatcherTemplate::read(node, &mut self.problems)),
            "headers" => Expectation::Headers(MatcherTemplate::read(
                &lowercase_keys(node),
                &mut self.problems,
            )),
            "snapshot" => self.read_snapshot(entry, verb),
            "stderr" => Expectation::Stderr(MatcherTemplate::read(node, &mut self.problems)),
            "within" => {
                if !(verb.is_request() || has_duration(verb) || verb.is_agent()) {
                    self.add_not_checkable(entry.key_span, "within", verb);
                }
                Expectation::Within(parse_duration(node.as_str()?).ok()?)
            }
            _ => return None,
        })
    }

    /// Reads the expectations of items of this kind.
    fn read_items(&mut self, node: &Node, item: &Subject) -> Items {
        let mut patterns = |key| -> Vec<MatcherTemplate> {
            let all = node.get(key).map(|it| self.one_or_more(it)).unwrap_or_default();
            all.iter().for_each(|it| check_subject(it, item, &mut self.problems));
            all.iter().map(|it| MatcherTemplate::read_wire(it, &mut self.problems)).collect()
        };
        let (has, lacks) = (patterns("has"), patterns("lacks"));
        let count = node.get("count").map(|it| MatcherTemplate::read(it, &mut self.problems));
        if node.entries().is_empty() {
            self.problems.add(node.span, "write `has`, `lacks` or `count`");
        }
        if let Some(none) = node.get("count").filter(|it| !has.is_empty() && it.as_u64() == Some(0))
        {
            let message = "`has` expects an item, and `count` expects none; use `lacks`";
            self.problems.add(none.span, message);
        }
        Items { has, lacks, count }
    }

    /// One item or several. Reports an empty list, because such an expectation always
    /// holds.
    fn one_or_more<'n>(&mut self, node: &'n Node) -> &'n [Node] {
        let all = one_or_many(node);
        if all.is_empty() {
            self.problems.add(node.span, "this expects nothing");
        }
        all
    }

    fn check_gives_list(&mut self, entry: &MapEntry, verb: &Verb) {
        if !matches!(verb, Verb::List(_) | Verb::Complete(_)) {
            self.add_not_checkable(entry.key_span, &entry.key, verb);
        }
    }

    /// Refuses expectations of both an error and a result.
    fn check_contradiction(&mut self, expect: &Node) {
        let Some(error) = expect.entry("error") else { return };
        let of_result = ["text", "json", "structured", "content", "is_error", "result"];
        let mut others = of_result.iter().chain(&ITEMS);
        if let Some(other) = others.find(|key| expect.get(key).is_some()) {
            let message = format!("`{other}` needs a result, and this step expects an error");
            self.problems.add(error.key_span, message);
        }
    }

    pub(super) fn add_not_checkable(&mut self, span: Span, key: &str, verb: &Verb) {
        self.problems.add(span, format!("`{key}` cannot be used with `{}`", verb.name()));
    }

    /// Checks that the verb has the value that a step saves.
    pub(super) fn check_saved_path(&mut self, path: &Path, span: Span, verb: &Verb) {
        let mut known: Vec<&str> = Aspect::ALL
            .into_iter()
            .filter(|aspect| has_aspect(verb, *aspect))
            .map(Aspect::key)
            .collect();
        if let Verb::List(_) | Verb::Complete(_) = verb {
            known.push("list");
        }
        if verb.is_agent() {
            known.extend(["stdout", "stderr", "exit"]);
        }
        let root = path.root();
        if !known.contains(&root) {
            let message = format!("`{}` has no `{root}`", verb.name());
            let help = did_you_mean(root, known.iter().copied());
            let help = help.or_else(|| {
                (!known.is_empty()).then(|| format!("a path begins with {}", known.join(", ")))
            });
            self.problems.add_with_help(span, message, help);
        }
    }
}

/// The kind of the items that a verb lists.
fn listed(verb: &Verb) -> &'static Subject {
    match verb {
        Verb::List(ListKind::Tools) => &TOOL,
        Verb::List(ListKind::Resources) => &RESOURCE,
        Verb::List(ListKind::ResourceTemplates) => &TEMPLATE,
        Verb::List(ListKind::Prompts) => &PROMPT,
        Verb::Complete(_) => &COMPLETION,
        // Another check reports that the verb has no list.
        _ => &Subject::Data,
    }
}

/// The journal that a key checks.
fn journal(key: &str) -> Option<Journal> {
    match key {
        "received" => Some(Journal::Received),
        "called" => Some(Journal::Called),
        _ => None,
    }
}

/// Returns true if the answer to a verb has an aspect.
fn has_aspect(verb: &Verb, aspect: Aspect) -> bool {
    match verb {
        Verb::Call { .. } => true,
        Verb::Read { .. } | Verb::Prompt { .. } => {
            !matches!(aspect, Aspect::Structured | Aspect::IsError)
        }
        Verb::Complete(_) | Verb::Ping | Verb::Request { .. } | Verb::Subscribe { .. } => {
            matches!(aspect, Aspect::Error | Aspect::Result)
        }
        Verb::List(_) => aspect == Aspect::Error,
        Verb::Agent { .. } => aspect == Aspect::Json,
        Verb::Notify { .. }
        | Verb::Send(_)
        | Verb::Wait(_)
        | Verb::Sleep(_)
        | Verb::Restart
        | Verb::Check(_) => false,
    }
}

/// Returns true if a verb that is not a single request still has a duration.
fn has_duration(verb: &Verb) -> bool {
    matches!(verb, Verb::List(_) | Verb::Subscribe { .. })
}

/// Converts the names of headers to lower case.
fn lowercase_keys(node: &Node) -> Node {
    let mut node = node.clone();
    if let NodeKind::Map(entries) = &mut node.kind {
        entries.iter_mut().for_each(|entry| entry.key = entry.key.to_lowercase());
    }
    node
}
