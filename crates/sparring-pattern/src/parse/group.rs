//! What a parenthesis begins.

use super::{DEEPEST, Flags, Parser};
use crate::error::BadPattern;
use crate::tree::Node;

/// What kind of group it is.
enum Kind {
    Kept,
    Plain,
    Look { behind: bool, negative: bool },
}

impl Parser {
    /// A group whose parenthesis stands at `start`, and whether it may be repeated;
    /// or nothing, where it is no group but sets flags for the rest of the one
    /// around it.
    pub(super) fn group(&mut self, start: usize) -> Result<Option<(Node, bool)>, BadPattern> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(BadPattern::at(start, "its groups are nested too deeply"));
        }
        let around = self.flags;
        let kind = match self.source.take("?") {
            false => Kind::Kept,
            true => match self.kind(start)? {
                Some(kind) => kind,
                None => {
                    self.depth -= 1;
                    return Ok(None);
                }
            },
        };
        let number = self.groups;
        if matches!(kind, Kind::Kept) {
            self.groups += 1;
        }
        let node = Box::new(self.either()?);
        if !self.source.take(")") {
            return Err(BadPattern::at(start, "a parenthesis is not closed"));
        }
        self.flags = around;
        self.depth -= 1;
        Ok(Some(match kind {
            Kind::Kept => (Node::Group(number, node), true),
            Kind::Plain => (*node, true),
            Kind::Look { behind, negative } => (Node::Look { behind, negative, node }, false),
        }))
    }

    /// What follows `(?`.
    fn kind(&mut self, start: usize) -> Result<Option<Kind>, BadPattern> {
        for (text, behind, negative) in
            [("=", false, false), ("!", false, true), ("<=", true, false), ("<!", true, true)]
        {
            if self.source.take(text) {
                return Ok(Some(Kind::Look { behind, negative }));
            }
        }
        if self.source.take(":") {
            return Ok(Some(Kind::Plain));
        }
        if self.source.take("<") || self.is_wide() && self.source.take("P<") {
            let name = self.name()?;
            if self.names.iter().any(|(known, _)| *known == name) {
                return Err(BadPattern::at(start, format!("the group `{name}` is there twice")));
            }
            self.names.push((name, self.groups));
            return Ok(Some(Kind::Kept));
        }
        self.set_flags(start)
    }

    /// The name of a group, with its end.
    pub(super) fn name(&mut self) -> Result<String, BadPattern> {
        let start = self.source.position();
        let is_part = |it: char| it.is_alphanumeric() || matches!(it, '_' | '$');
        while self.source.peek().is_some_and(is_part) {
            self.source.next();
        }
        let name = self.source.since(start);
        let is_name = name.chars().next().is_some_and(|it| !it.is_numeric());
        match is_name && self.source.take(">") {
            true => Ok(name),
            false => Err(BadPattern::at(start, "a group wants a name and a `>`")),
        }
    }

    /// Flags for a group, or for the rest of the one around them.
    fn set_flags(&mut self, start: usize) -> Result<Option<Kind>, BadPattern> {
        let Flags { mut fold, mut dot_all, mut lines, mut spaced } = self.flags;
        let (mut on, mut some) = (true, false);
        while let Some(next) = self.source.next() {
            match next {
                'i' => fold = on,
                's' => dot_all = on,
                'm' => lines = on,
                'x' if self.is_wide() => spaced = on,
                '-' if on => on = false,
                ':' | ')' if some && (next == ':' || self.is_wide()) => {
                    self.flags = Flags { fold, dot_all, lines, spaced };
                    return Ok((next == ':').then_some(Kind::Plain));
                }
                _ => break,
            }
            some |= next != '-';
        }
        let text = self.source.since(start);
        let of = if self.is_wide() { "" } else { " of ECMA-262" };
        Err(BadPattern::at(start, format!("`{text}` begins no group{of}")))
    }
}
