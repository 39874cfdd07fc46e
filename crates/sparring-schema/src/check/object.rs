//! Keywords about objects.

use serde_json::{Map, Value};

use super::{At, Run};
use crate::keyword::{Keyword, Members, NodeId, Others, Size};
use crate::marks::Marks;
use crate::told::Wrong;

impl<'p, 'v> Run<'p, 'v> {
    pub(super) fn object(
        &mut self,
        keyword: &'p Keyword,
        value: &'v Value,
        members: &'v Map<String, Value>,
        marks: Option<&mut Marks<'v>>,
    ) -> bool {
        match keyword {
            Keyword::Members(rules) => self.members(rules, value, members, marks),
            Keyword::Required(names) => {
                let mut holds = true;
                for name in names {
                    if !members.contains_key(name) {
                        holds = self.fail(value, Wrong::Missing(name));
                        if self.is_done() {
                            break;
                        }
                    }
                }
                holds
            }
            Keyword::Size(size @ Size::MinProperties, least) => {
                members.len() as u64 >= *least || self.fail(value, Wrong::Size(*size, *least))
            }
            Keyword::Size(size @ Size::MaxProperties, most) => {
                members.len() as u64 <= *most || self.fail(value, Wrong::Size(*size, *most))
            }
            Keyword::DependentRequired(all) => self.needed(all, value, members),
            Keyword::DependentSchemas(all) => self.dependent(all, value, members, marks),
            Keyword::PropertyNames(node) => self.names(*node, value, members),
            Keyword::UnevaluatedProperties(node) => {
                self.unevaluated_members(*node, value, members, marks)
            }
            _ => true,
        }
    }

    fn members(
        &mut self,
        rules: &'p Members,
        value: &'v Value,
        members: &'v Map<String, Value>,
        mut marks: Option<&mut Marks<'v>>,
    ) -> bool {
        let mut holds = true;
        let mut unknown: Vec<&str> = Vec::new();
        for (name, member) in members {
            let mut known = false;
            if let Ok(at) = rules.named.binary_search_by(|(known, _)| known.as_str().cmp(name)) {
                known = true;
                holds &= self.below(At::Name(name), rules.named[at].1, member);
            }
            for (pattern, node) in &rules.patterns {
                match pattern.is_in(name) {
                    Some(true) => {
                        known = true;
                        holds &= self.below(At::Name(name), *node, member);
                    }
                    Some(false) => {}
                    None => {
                        known = true;
                        self.unsure += 1;
                        let name = Value::String(name.clone());
                        holds = self.fail(&name, Wrong::TooLong(pattern.as_str()));
                    }
                }
            }
            if !known {
                match rules.others {
                    Others::Unsaid => continue,
                    Others::Are(node) => holds &= self.below(At::Name(name), node, member),
                    Others::Forbidden => {
                        holds = false;
                        unknown.push(name);
                    }
                }
            }
            if !holds && self.is_done() {
                return false;
            }
            if let Some(marks) = marks.as_deref_mut() {
                marks.names.push(name);
            }
        }
        if !unknown.is_empty() {
            self.fail(value, Wrong::Additional(unknown));
        }
        holds
    }

    fn needed(
        &mut self,
        all: &'p [(String, Vec<String>)],
        value: &'v Value,
        members: &Map<String, Value>,
    ) -> bool {
        let mut holds = true;
        for (because, names) in all {
            if !members.contains_key(because) {
                continue;
            }
            for name in names {
                if !members.contains_key(name) {
                    holds = self.fail(value, Wrong::Needed(because, name));
                    if self.is_done() {
                        return false;
                    }
                }
            }
        }
        holds
    }

    fn dependent(
        &mut self,
        all: &'p [(String, NodeId)],
        value: &'v Value,
        members: &Map<String, Value>,
        mut marks: Option<&mut Marks<'v>>,
    ) -> bool {
        let mut holds = true;
        for (because, node) in all {
            if members.contains_key(because) && !self.node(*node, value, marks.as_deref_mut()) {
                holds = false;
                if self.is_done() {
                    break;
                }
            }
        }
        holds
    }

    /// Each name is a value of its own, which lives no longer than this.
    fn names(&mut self, node: NodeId, value: &'v Value, members: &Map<String, Value>) -> bool {
        let mut holds = true;
        for name in members.keys() {
            let text = Value::String(name.clone());
            let mut run = Run::new(self.plan, self.most.min(1));
            run.scope = self.scope.clone();
            run.depth = self.depth;
            let fits = run.node(node, &text, None);
            self.unsure += run.unsure;
            if !fits {
                let why = run.found.pop().map(|breach| breach.message).unwrap_or_default();
                holds = self.fail(value, Wrong::Name(name, why));
                if self.is_done() {
                    break;
                }
            }
        }
        holds
    }

    fn unevaluated_members(
        &mut self,
        node: NodeId,
        value: &'v Value,
        members: &'v Map<String, Value>,
        marks: Option<&mut Marks<'v>>,
    ) -> bool {
        let Some(marks) = marks else { return true };
        marks.sort();
        let forbidden = self.is_never(node);
        let mut holds = true;
        let mut unknown: Vec<&str> = Vec::new();
        for (name, member) in members {
            if marks.has_name(name) {
                continue;
            }
            match forbidden {
                true => {
                    holds = false;
                    unknown.push(name);
                }
                false => holds &= self.below(At::Name(name), node, member),
            }
            if !holds && self.is_done() {
                return false;
            }
        }
        if !unknown.is_empty() {
            self.fail(value, Wrong::Unevaluated(unknown));
        }
        marks.all_names = true;
        holds
    }

    /// Whether a node is the schema `false`.
    pub(super) fn is_never(&self, node: NodeId) -> bool {
        matches!(self.plan.nodes[node].keywords[..], [Keyword::Never])
    }
}
