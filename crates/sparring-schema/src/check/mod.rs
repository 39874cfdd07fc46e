//! A value followed through a schema. One walk does both: whether the value is as
//! it should be, which ends at the first breach, and what is wrong with it.

mod array;
mod object;
mod together;

use std::collections::HashMap;

use serde_json::Value;

use crate::breach::{Breach, Kind, Step, descend};
use crate::keyword::{Bound, Keyword, Node, NodeId, Plan, Size, Types};
use crate::marks::Marks;
use crate::numbers;
use crate::same::same;
use crate::told::{Said, Wrong, shown};

/// How many schemas may be within each other. A text of JSON has 128 levels at
/// most; what was made otherwise may have more, but the stack ends.
const DEEPEST: usize = 800;

/// A step into the value that is looked at.
#[derive(Debug, Clone, Copy)]
enum At<'v> {
    Name(&'v str),
    Index(usize),
}

/// A walk through a schema.
pub(crate) struct Run<'p, 'v> {
    plan: &'p Plan,
    /// How many breaches are wanted; with none of them only the verdict is.
    most: usize,
    found: Vec<Breach>,
    path: Vec<At<'v>>,
    /// The resources that were entered, the outermost first, where something
    /// depends on them.
    scope: Vec<usize>,
    /// References that are being followed, and for which value.
    under_way: Vec<(NodeId, usize)>,
    depth: usize,
    /// How deep this is in what alternatives find by themselves.
    alternatives: usize,
    /// How often something could not be found out.
    unsure: usize,
    /// What references have come to, by the node and the place of the value: a tree
    /// with alternatives would otherwise be followed anew for each of them.
    verdicts: HashMap<(NodeId, usize), bool>,
}

impl<'p, 'v> Run<'p, 'v> {
    pub(crate) fn new(plan: &'p Plan, most: usize) -> Run<'p, 'v> {
        Run {
            plan,
            most,
            found: Vec::new(),
            path: Vec::new(),
            scope: Vec::new(),
            under_way: Vec::new(),
            depth: 0,
            alternatives: 0,
            unsure: 0,
            verdicts: HashMap::new(),
        }
    }

    /// Whether a value is as the whole schema wants it.
    pub(crate) fn holds(&mut self, value: &'v Value) -> bool {
        self.node(0, value, None)
    }

    /// The breaches that were found. Where something could not be found out, none of
    /// them is certain, since it may be what they come from.
    pub(crate) fn found(mut self) -> Vec<Breach> {
        if self.unsure > 0 {
            self.found.iter_mut().for_each(|breach| breach.kind = Kind::Unsure);
        }
        self.found
    }

    /// Holds a value against a node. What the node looks at is added to `marks`,
    /// where somebody wants to know; marks of what does not hold are the caller's
    /// to forget.
    fn node(&mut self, id: NodeId, value: &'v Value, marks: Option<&mut Marks<'v>>) -> bool {
        let plan = self.plan;
        let node = &plan.nodes[id];
        if node.keywords.is_empty() {
            return true;
        }
        if self.depth == DEEPEST {
            self.unsure += 1;
            return self.fail(value, Wrong::TooDeep);
        }
        self.depth += 1;
        let enters = !plan.dynamic.is_empty() && self.scope.last() != Some(&node.resource);
        if enters {
            self.scope.push(node.resource);
        }
        let holds = match node.wants_marks {
            true => self.node_with_marks(node, value, marks),
            false => self.keywords(node, value, marks),
        };
        if enters {
            self.scope.pop();
        }
        self.depth -= 1;
        holds
    }

    /// A node that asks what was looked at sees only what it and those below it did.
    fn node_with_marks(
        &mut self,
        node: &'p Node,
        value: &'v Value,
        marks: Option<&mut Marks<'v>>,
    ) -> bool {
        let mut own = Marks::default();
        let holds = self.keywords(node, value, Some(&mut own));
        if let Some(marks) = marks {
            marks.add(own);
        }
        holds
    }

    fn keywords(
        &mut self,
        node: &'p Node,
        value: &'v Value,
        mut marks: Option<&mut Marks<'v>>,
    ) -> bool {
        let mut holds = true;
        for keyword in &node.keywords {
            if !self.keyword(keyword, value, marks.as_deref_mut()) {
                holds = false;
                if self.is_done() {
                    break;
                }
            }
        }
        holds
    }

    fn keyword(
        &mut self,
        keyword: &'p Keyword,
        value: &'v Value,
        marks: Option<&mut Marks<'v>>,
    ) -> bool {
        match keyword {
            Keyword::Type(types) => is_of(value, *types) || self.fail(value, Wrong::Type(*types)),
            Keyword::Never => self.fail(value, Wrong::Never),
            Keyword::Enum(options) => {
                options.iter().any(|option| same(option, value))
                    || self.fail(value, Wrong::Enum(options))
            }
            Keyword::Const(expected) => {
                same(expected, value) || self.fail(value, Wrong::Const(expected))
            }
            Keyword::Ref(_)
            | Keyword::DynamicRef(..)
            | Keyword::AllOf(_)
            | Keyword::AnyOf(_)
            | Keyword::OneOf(_)
            | Keyword::Not(..)
            | Keyword::If { .. } => self.together(keyword, value, marks),
            _ => match value {
                Value::Object(members) => self.object(keyword, value, members, marks),
                Value::Array(items) => self.array(keyword, value, items, marks),
                Value::String(text) => self.text(keyword, value, text),
                Value::Number(number) => self.number(keyword, value, number),
                Value::Null | Value::Bool(_) => true,
            },
        }
    }

    fn text(&mut self, keyword: &'p Keyword, value: &'v Value, text: &str) -> bool {
        match keyword {
            Keyword::Size(size @ Size::MinLength, least) => {
                // No character has more than four bytes.
                text.len() as u64 / 4 >= *least
                    || text.chars().count() as u64 >= *least
                    || self.fail(value, Wrong::Size(*size, *least))
            }
            Keyword::Size(size @ Size::MaxLength, most) => {
                text.len() as u64 <= *most
                    || text.chars().count() as u64 <= *most
                    || self.fail(value, Wrong::Size(*size, *most))
            }
            Keyword::Pattern(pattern) => match pattern.is_in(text) {
                Some(true) => true,
                Some(false) => self.fail(value, Wrong::Pattern(pattern.as_str())),
                None => {
                    self.unsure += 1;
                    self.fail(value, Wrong::TooLong(pattern.as_str()))
                }
            },
            _ => true,
        }
    }

    fn number(
        &mut self,
        keyword: &'p Keyword,
        value: &'v Value,
        number: &serde_json::Number,
    ) -> bool {
        match keyword {
            Keyword::Bound(bound, limit) => {
                let order = numbers::compare(number, limit);
                let holds = match bound {
                    Bound::Minimum => order.is_ge(),
                    Bound::Maximum => order.is_le(),
                    Bound::ExclusiveMinimum => order.is_gt(),
                    Bound::ExclusiveMaximum => order.is_lt(),
                };
                holds || self.fail(value, Wrong::Bound(*bound, limit))
            }
            Keyword::MultipleOf(divisor) => {
                numbers::is_multiple(number, divisor)
                    || self.fail(value, Wrong::MultipleOf(divisor))
            }
            _ => true,
        }
    }

    /// Whether there is nothing more to be found out.
    fn is_done(&self) -> bool {
        self.found.len() >= self.most
    }

    /// Writes down what is wrong, where that is wanted; and it is wrong.
    fn fail(&mut self, value: &Value, wrong: Wrong<'_>) -> bool {
        if !self.is_done() {
            self.tell(value, &wrong);
        }
        false
    }

    fn tell(&mut self, value: &Value, wrong: &Wrong<'_>) {
        let mut pointer = String::new();
        let mut steps = Vec::with_capacity(self.path.len());
        for at in &self.path {
            match at {
                At::Name(name) => {
                    descend(&mut pointer, name);
                    steps.push(Step::Name((*name).to_owned()));
                }
                At::Index(index) => {
                    descend(&mut pointer, &index.to_string());
                    steps.push(Step::Index(*index));
                }
            }
        }
        let (message, subject) = match wrong.said(value) {
            Said::Alone(message) => (message, 0),
            Said::OfValue(said) => {
                let shown = shown(value);
                (format!("{shown} {said}"), shown.len())
            }
        };
        self.found.push(Breach { pointer, steps, message, kind: wrong.kind(), subject });
    }

    /// Holds a member or an item against a node.
    fn below(&mut self, at: At<'v>, node: NodeId, value: &'v Value) -> bool {
        if self.most == 0 {
            return self.node(node, value, None);
        }
        self.path.push(at);
        let holds = self.node(node, value, None);
        self.path.pop();
        holds
    }

    /// Whether a value is as a node wants it, told to nobody.
    fn quietly(&mut self, node: NodeId, value: &'v Value, marks: Option<&mut Marks<'v>>) -> bool {
        let most = std::mem::replace(&mut self.most, 0);
        let holds = self.node(node, value, marks);
        self.most = most;
        holds
    }
}

fn is_of(value: &Value, types: Types) -> bool {
    // The places of their names in `TYPES`.
    let bit = match value {
        Value::Array(_) => 0,
        Value::Bool(_) => 1,
        Value::Null => 3,
        Value::Object(_) => 5,
        Value::String(_) => 6,
        Value::Number(number) => {
            const INTEGER: u8 = 1 << 2;
            const NUMBER: u8 = 1 << 4;
            return types.0 & NUMBER != 0 || types.0 & INTEGER != 0 && numbers::is_integer(number);
        }
    };
    types.0 & (1 << bit) != 0
}
