//! Keywords about arrays.

use serde_json::Value;

use super::{At, Run};
use crate::keyword::{Contains, Items, Keyword, NodeId, Others, Size};
use crate::marks::Marks;
use crate::same::twins;
use crate::told::Wrong;

impl<'p, 'v> Run<'p, 'v> {
    pub(super) fn array(
        &mut self,
        keyword: &'p Keyword,
        value: &'v Value,
        items: &'v [Value],
        marks: Option<&mut Marks<'v>>,
    ) -> bool {
        match keyword {
            Keyword::Items(rules) => self.items(rules, value, items, marks),
            Keyword::Size(size @ Size::MinItems, least) => {
                items.len() as u64 >= *least || self.fail(value, Wrong::Size(*size, *least))
            }
            Keyword::Size(size @ Size::MaxItems, most) => {
                items.len() as u64 <= *most || self.fail(value, Wrong::Size(*size, *most))
            }
            Keyword::UniqueItems => match twins(items) {
                None => true,
                Some((one, other)) => self.fail(value, Wrong::Twins(one, other)),
            },
            Keyword::Contains(rule) => self.contains(rule, value, items, marks),
            Keyword::UnevaluatedItems(node) => self.unevaluated_items(*node, value, items, marks),
            _ => true,
        }
    }

    fn items(
        &mut self,
        rules: &'p Items,
        value: &'v Value,
        items: &'v [Value],
        marks: Option<&mut Marks<'v>>,
    ) -> bool {
        let mut holds = true;
        let first = rules.first.len();
        let mut looked_at = items.len();
        for (index, item) in items.iter().enumerate() {
            let node = match (rules.first.get(index), rules.others) {
                (Some(node), _) => *node,
                (None, Others::Are(node)) => node,
                (None, Others::Unsaid) => {
                    looked_at = first;
                    break;
                }
                (None, Others::Forbidden) => {
                    return self.fail(value, Wrong::AdditionalItems(items.len() - first));
                }
            };
            if !self.below(At::Index(index), node, item) {
                holds = false;
                if self.is_done() {
                    return false;
                }
            }
        }
        if let Some(marks) = marks {
            marks.first = marks.first.max(looked_at);
        }
        holds
    }

    fn contains(
        &mut self,
        rule: &'p Contains,
        value: &'v Value,
        items: &'v [Value],
        mut marks: Option<&mut Marks<'v>>,
    ) -> bool {
        let mut count: u64 = 0;
        let earlier = self.unsure;
        for (index, item) in items.iter().enumerate() {
            if !self.quietly(rule.node, item, None) {
                continue;
            }
            count += 1;
            match marks.as_deref_mut() {
                Some(marks) if rule.marks => marks.items.push(index),
                _ if rule.most.is_none() && count >= rule.least => break,
                _ => {}
            }
        }
        if count < rule.least {
            return self.fail(value, Wrong::TooFew(count, rule.least));
        }
        match rule.most {
            Some(most) if count > most => self.fail(value, Wrong::TooMany(count, most)),
            Some(_) if self.unsure != earlier => self.fail(value, Wrong::Unsure),
            _ => true,
        }
    }

    fn unevaluated_items(
        &mut self,
        node: NodeId,
        value: &'v Value,
        items: &'v [Value],
        marks: Option<&mut Marks<'v>>,
    ) -> bool {
        let Some(marks) = marks else { return true };
        marks.sort();
        let forbidden = self.is_never(node);
        let mut holds = true;
        for (index, item) in items.iter().enumerate() {
            if marks.has_item(index) {
                continue;
            }
            if forbidden {
                return self.fail(value, Wrong::UnevaluatedItems(index));
            }
            if !self.below(At::Index(index), node, item) {
                holds = false;
                if self.is_done() {
                    return false;
                }
            }
        }
        marks.first = items.len();
        holds
    }
}
