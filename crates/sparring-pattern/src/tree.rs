//! A pattern as it was read.

use crate::class::Class;

/// A part of a pattern.
#[derive(Debug)]
pub(crate) enum Node {
    /// One after the other; none is the empty text.
    Sequence(Vec<Node>),
    /// The first of these that leads to a match.
    Either(Vec<Node>),
    Char(char),
    Class(Class),
    Assert(Assertion),
    /// A group that is kept, by its number.
    Group(usize, Box<Node>),
    /// What a group has matched, in any case or not; which group is said beside the
    /// tree, since it may follow.
    Reference {
        number: usize,
        fold: bool,
    },
    Look {
        behind: bool,
        negative: bool,
        node: Box<Node>,
    },
    Repeat {
        node: Box<Node>,
        counts: Counts,
    },
}

/// How often something is repeated.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) least: u32,
    /// None is without an end.
    pub(crate) most: Option<u32>,
    pub(crate) greedy: bool,
}

/// What is asked of a place between two characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Assertion {
    Start,
    End,
    LineStart,
    LineEnd,
    Boundary,
    NoBoundary,
}

impl Node {
    /// Whether it is one character of a text, whichever.
    pub(crate) fn is_one(&self) -> bool {
        matches!(self, Node::Char(_) | Node::Class(_))
    }

    /// Whether it can match without any character.
    pub(crate) fn may_be_empty(&self) -> bool {
        match self {
            Node::Sequence(nodes) => nodes.iter().all(Node::may_be_empty),
            Node::Either(nodes) => nodes.iter().any(Node::may_be_empty),
            Node::Char(_) | Node::Class(_) => false,
            Node::Assert(_) | Node::Reference { .. } | Node::Look { .. } => true,
            Node::Group(_, node) => node.may_be_empty(),
            Node::Repeat { node, counts } => counts.least == 0 || node.may_be_empty(),
        }
    }

    /// The lowest and the highest number of the groups in it.
    pub(crate) fn groups(&self) -> Option<(usize, usize)> {
        match self {
            Node::Sequence(nodes) | Node::Either(nodes) => {
                let mut all = nodes.iter().filter_map(Node::groups);
                let (first, last) = all.next()?;
                Some((first, all.next_back().map_or(last, |(_, last)| last)))
            }
            Node::Group(number, node) => {
                Some((*number, node.groups().map_or(*number, |(_, last)| last)))
            }
            Node::Look { node, .. } | Node::Repeat { node, .. } => node.groups(),
            Node::Char(_) | Node::Class(_) | Node::Assert(_) | Node::Reference { .. } => None,
        }
    }
}
