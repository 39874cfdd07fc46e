//! Keywords that hold the same value against other schemas: references, and what
//! schemas come to together.

use serde_json::Value;

use super::Run;
use crate::breach::Breach;
use crate::keyword::{Keyword, NodeId};
use crate::marks::Marks;
use crate::told::Wrong;

impl<'p, 'v> Run<'p, 'v> {
    pub(super) fn together(
        &mut self,
        keyword: &'p Keyword,
        value: &'v Value,
        marks: Option<&mut Marks<'v>>,
    ) -> bool {
        match keyword {
            Keyword::Ref(target) => self.follow(*target, value, marks),
            Keyword::DynamicRef(name, target) => {
                let target = self.outermost(*name).unwrap_or(*target);
                self.follow(target, value, marks)
            }
            Keyword::AllOf(nodes) => self.all_of(nodes, value, marks),
            Keyword::AnyOf(nodes) => self.any_of(nodes, value, marks),
            Keyword::OneOf(nodes) => self.one_of(nodes, value, marks),
            Keyword::Not(node, schema) => {
                let earlier = self.unsure;
                match self.tried(*node, value, &mut None) {
                    true => self.fail(value, Wrong::Not(schema)),
                    false => self.unsure == earlier || self.fail(value, Wrong::Unsure),
                }
            }
            Keyword::If { test, then, otherwise } => {
                let (mut marks, earlier) = (marks, self.unsure);
                let next = match self.tried(*test, value, &mut marks) {
                    true => then,
                    false if self.unsure == earlier => otherwise,
                    false => return self.fail(value, Wrong::Unsure),
                };
                next.is_none_or(|next| self.node(next, value, marks))
            }
            _ => true,
        }
    }

    /// Follows a reference, unless it is being followed for this very value.
    fn follow(&mut self, target: NodeId, value: &'v Value, marks: Option<&mut Marks<'v>>) -> bool {
        let here = std::ptr::from_ref(value).addr();
        // Those of values around this one lie below those of this one.
        for (node, at) in self.under_way.iter().rev() {
            if *at != here {
                break;
            }
            if *node == target {
                self.unsure += 1;
                return self.fail(value, Wrong::Endless);
            }
        }
        // Scalars are looked at sooner than what is known of them.
        let has_inside = matches!(value, Value::Array(_) | Value::Object(_));
        let only_verdict = self.most == 0 && marks.is_none() && self.plan.dynamic.is_empty();
        let known = has_inside && only_verdict;
        if let Some(holds) = self.verdicts.get(&(target, here)).filter(|_| known) {
            return *holds;
        }
        let earlier = self.unsure;
        self.under_way.push((target, here));
        let holds = self.node(target, value, marks);
        self.under_way.pop();
        if known && self.unsure == earlier {
            self.verdicts.insert((target, here), holds);
        }
        holds
    }

    /// The node that a name means by the resources that were entered.
    fn outermost(&self, name: usize) -> Option<NodeId> {
        let anchors = &self.plan.dynamic[name];
        for entered in &self.scope {
            for (resource, node) in anchors {
                if resource == entered {
                    return Some(*node);
                }
            }
        }
        None
    }

    fn all_of(
        &mut self,
        nodes: &'p [NodeId],
        value: &'v Value,
        mut marks: Option<&mut Marks<'v>>,
    ) -> bool {
        let mut holds = true;
        for node in nodes {
            if !self.node(*node, value, marks.as_deref_mut()) {
                holds = false;
                if self.is_done() {
                    break;
                }
            }
        }
        holds
    }

    fn any_of(
        &mut self,
        nodes: &'p [NodeId],
        value: &'v Value,
        mut marks: Option<&mut Marks<'v>>,
    ) -> bool {
        let mut holds = false;
        for node in nodes {
            if self.tried(*node, value, &mut marks) {
                holds = true;
                // Whoever wants marks wants those of all.
                if marks.is_none() {
                    break;
                }
            }
        }
        holds || self.none_of("anyOf", nodes, value)
    }

    fn one_of(
        &mut self,
        nodes: &'p [NodeId],
        value: &'v Value,
        mut marks: Option<&mut Marks<'v>>,
    ) -> bool {
        let (mut holding, earlier) = (None, self.unsure);
        for (index, node) in nodes.iter().enumerate() {
            if self.tried(*node, value, &mut marks) {
                match holding {
                    None => holding = Some(index),
                    Some(earlier) => return self.fail(value, Wrong::Several(earlier, index)),
                }
            }
        }
        match holding {
            // Another may hold as well.
            Some(_) if self.unsure != earlier => self.fail(value, Wrong::Unsure),
            Some(_) => true,
            None => self.none_of("oneOf", nodes, value),
        }
    }

    /// Whether a schema holds that need not; marks of one that does not are
    /// forgotten.
    fn tried(
        &mut self,
        node: NodeId,
        value: &'v Value,
        marks: &mut Option<&mut Marks<'v>>,
    ) -> bool {
        let earlier = marks.as_ref().map(|marks| marks.now());
        let holds = self.quietly(node, value, marks.as_deref_mut());
        if let (false, Some(marks), Some(earlier)) = (holds, marks, earlier) {
            marks.back_to(earlier);
        }
        holds
    }

    fn none_of(&mut self, keyword: &'static str, nodes: &'p [NodeId], value: &'v Value) -> bool {
        if self.is_done() {
            return false;
        }
        let mut each = Vec::new();
        // Of alternatives within alternatives within others nobody reads.
        if self.alternatives < 2 {
            self.alternatives += 1;
            for node in nodes {
                each.push(self.apart(*node, value));
            }
            self.alternatives -= 1;
        }
        self.fail(value, Wrong::NoneOf(keyword, each))
    }

    /// What one schema finds first, with places from this value on.
    fn apart(&mut self, node: NodeId, value: &'v Value) -> Vec<Breach> {
        let most = std::mem::replace(&mut self.most, 1);
        let found = std::mem::take(&mut self.found);
        let path = std::mem::take(&mut self.path);
        self.node(node, value, None);
        self.path = path;
        self.most = most;
        std::mem::replace(&mut self.found, found)
    }
}
