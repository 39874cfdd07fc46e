//! What is expected of a step, and whether its verb gives that at all.

use sparring_script::{Entry, Kind, Node, Path, Span, did_you_mean, duration};

use super::{Loader, one_or_many};
use crate::model::{Aspect, Collection, Expect, Facet, Items, Journal, Pattern, Verb};

/// The keys of a list that was found.
const ITEMS: [&str; 3] = ["has", "lacks", "count"];

/// What only servers do.
const OF_SERVERS: [&str; 6] =
    ["violations", "notifications", "requests", "frames", "status", "headers"];

impl Loader {
    pub(super) fn expect(&mut self, node: &Node, verb: &Verb) -> Expect {
        let Some(expect) = node.get("expect") else { return Expect::default() };
        let mut facets = Vec::new();
        let mut own_items = None;
        for entry in expect.entries() {
            if ITEMS.contains(&&*entry.key) {
                own_items.get_or_insert(entry.key_span);
                self.check_gives_list(entry, verb);
            } else if let Some(journal) = journal(&entry.key) {
                let of = self.journals(entry, journal);
                facets.extend(of.into_iter().map(|facet| (entry.key_span, facet)));
            } else if let Some(facet) = self.agent_facet(entry) {
                if !verb.is_agent() {
                    self.no_such(entry.key_span, &entry.key, verb);
                }
                facets.push((entry.key_span, facet));
            } else if let Some(facet) = self.facet(entry, verb) {
                facets.push((entry.key_span, facet));
            }
        }
        if let Some(span) = own_items {
            facets.push((span, Facet::Items(Collection::List, self.items(expect))));
        }
        self.check_contradiction(expect);
        Expect(facets)
    }

    fn facet(&mut self, entry: &Entry, verb: &Verb) -> Option<Facet> {
        let node = &entry.value;
        if let Some(aspect) = Aspect::ALL.into_iter().find(|aspect| aspect.key() == entry.key) {
            if !gives(verb, aspect) {
                self.no_such(entry.key_span, &entry.key, verb);
            }
            let pattern = match aspect.is_passed_through() {
                true => Pattern::read(node, &mut self.problems),
                false => Pattern::read_wire(node, &mut self.problems),
            };
            return Some(Facet::Value(aspect, pattern));
        }
        // What an agent asks of an LLM may be wrong.
        let of_llm =
            entry.key == "violations" && self.stand_ins.iter().any(|it| it.llm().is_some());
        if verb.is_agent() && OF_SERVERS.contains(&&*entry.key) && !of_llm {
            self.no_such(entry.key_span, &entry.key, verb);
        }
        Some(match &*entry.key {
            "violations" => Facet::Items(Collection::Violations, self.items(node)),
            "notifications" => Facet::Items(Collection::Notifications, self.items(node)),
            "requests" => Facet::Items(Collection::Requests, self.items(node)),
            "frames" => Facet::Items(Collection::Frames, self.items(node)),
            "status" => Facet::Status(Pattern::read(node, &mut self.problems)),
            "headers" => Facet::Headers(Pattern::read(&lower(node), &mut self.problems)),
            "snapshot" => self.snapshot(entry, verb),
            "stderr" => Facet::Stderr(Pattern::read(node, &mut self.problems)),
            "within" => {
                if !(verb.is_request() || is_slow(verb) || verb.is_agent()) {
                    self.no_such(entry.key_span, "within", verb);
                }
                Facet::Within(duration(node.as_str()?).ok()?)
            }
            _ => return None,
        })
    }

    fn items(&mut self, node: &Node) -> Items {
        let mut patterns = |key| -> Vec<Pattern> {
            let all = node.get(key).map(|it| self.some(it)).unwrap_or_default();
            all.iter().map(|it| Pattern::read_wire(it, &mut self.problems)).collect()
        };
        let (has, lacks) = (patterns("has"), patterns("lacks"));
        let count = node.get("count").map(|it| Pattern::read(it, &mut self.problems));
        if node.entries().is_empty() {
            self.problems.add(node.span, "one of `has`, `lacks` and `count` must stand here");
        }
        Items { has, lacks, count }
    }

    /// One thing or several; none of them would be an expectation that holds
    /// whatever comes.
    pub(super) fn some<'n>(&mut self, node: &'n Node) -> &'n [Node] {
        let all = one_or_many(node);
        if all.is_empty() {
            self.problems.add(node.span, "nothing is expected here");
        }
        all
    }

    fn check_gives_list(&mut self, entry: &Entry, verb: &Verb) {
        if !matches!(verb, Verb::List(_) | Verb::Complete(_)) {
            self.no_such(entry.key_span, &entry.key, verb);
        }
    }

    /// A request ends with a result or with an error, never with both.
    fn check_contradiction(&mut self, expect: &Node) {
        let Some(error) = expect.entry("error") else { return };
        let of_result = ["text", "json", "structured", "content", "is_error", "result"];
        let mut others = of_result.iter().chain(&ITEMS);
        if let Some(other) = others.find(|key| expect.get(key).is_some()) {
            let message = format!("with an error there is no result that `{other}` could look at");
            self.problems.add(error.key_span, message);
        }
    }

    pub(super) fn no_such(&mut self, span: Span, key: &str, verb: &Verb) {
        self.problems
            .add(span, format!("`{}` gives nothing that `{key}` could look at", verb.name()));
    }

    /// What is saved must be something that the verb gives.
    pub(super) fn check_root(&mut self, path: &Path, span: Span, verb: &Verb) {
        let mut known: Vec<&str> = Aspect::ALL
            .into_iter()
            .filter(|aspect| gives(verb, *aspect))
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
            let message = format!("`{}` gives no `{root}`", verb.name());
            let help = did_you_mean(root, known.iter().copied());
            let help = help.or_else(|| {
                (!known.is_empty())
                    .then(|| format!("a path begins with one of {}", known.join(", ")))
            });
            self.problems.add_with_help(span, message, help);
        }
    }
}

/// The journal that a key looks at.
fn journal(key: &str) -> Option<Journal> {
    match key {
        "received" => Some(Journal::Received),
        "called" => Some(Journal::Called),
        _ => None,
    }
}

/// Whether there is such a part in what a verb gives.
fn gives(verb: &Verb, aspect: Aspect) -> bool {
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
        Verb::Notify { .. } | Verb::Send(_) | Verb::Wait(_) | Verb::Sleep(_) | Verb::Restart => {
            false
        }
    }
}

/// Whether it is no request, and yet has a time that can be told.
fn is_slow(verb: &Verb) -> bool {
    matches!(verb, Verb::List(_) | Verb::Subscribe { .. })
}

/// The names of headers are the same in any case.
fn lower(node: &Node) -> Node {
    let mut node = node.clone();
    if let Kind::Map(entries) = &mut node.kind {
        entries.iter_mut().for_each(|entry| entry.key = entry.key.to_lowercase());
    }
    node
}
