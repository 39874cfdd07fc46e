//! From a text to a tree.
//!
//! The syntax is that of ECMA-262 with the flag `u`. Where a pattern is not meant
//! for `u`, as many are not, what can only mean one thing means it.

mod class;
mod escape;
mod group;
mod source;

use crate::class::{Class, LINE_ENDS};
use crate::error::BadPattern;
use crate::tree::{Assertion, Counts, Node};
use escape::Escape;
use source::Source;

/// How deep groups may stand in each other, which bounds every recursion.
const DEEPEST: usize = 200;

/// What else than ECMA-262 a pattern may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Nothing.
    Ecma,
    /// What those who know other engines write: flags, `\A`, `\z`, `(?P<name>…)`.
    /// What means something else to these is refused.
    Wide,
}

/// What is said by flags.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Flags {
    /// `i`: case is nothing.
    pub(crate) fold: bool,
    /// `s`: `.` is any character.
    pub(crate) dot_all: bool,
    /// `m`: `^` and `$` are at lines.
    pub(crate) lines: bool,
    /// `x`: space and comments are nothing.
    pub(crate) spaced: bool,
}

/// A pattern that was read.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) node: Node,
    /// How many groups are kept, the whole among them.
    pub(crate) groups: usize,
    /// The groups that have names.
    pub(crate) names: Vec<(String, usize)>,
    /// The group of each reference.
    pub(crate) references: Vec<usize>,
}

/// Reads a pattern.
///
/// # Errors
/// When it is none.
pub(crate) fn parse(text: &str, dialect: Dialect, flags: Flags) -> Result<Parsed, BadPattern> {
    let mut parser = Parser {
        source: Source::new(text),
        dialect,
        flags,
        groups: 1,
        names: Vec::new(),
        references: Vec::new(),
        depth: 0,
    };
    let node = parser.either()?;
    if parser.source.peek().is_some() {
        return Err(parser.bad("a parenthesis is closed that was not opened"));
    }
    let references = parser.resolved()?;
    Ok(Parsed { node, groups: parser.groups, names: parser.names, references })
}

/// A pattern as far as it is read.
struct Parser {
    source: Source,
    dialect: Dialect,
    flags: Flags,
    groups: usize,
    names: Vec<(String, usize)>,
    /// What was referred to, and where.
    references: Vec<(Reference, usize)>,
    depth: usize,
}

/// A group that is referred to.
enum Reference {
    Number(usize),
    Name(String),
}

impl Parser {
    /// What is wrong with what comes next.
    fn bad(&self, why: impl Into<String>) -> BadPattern {
        BadPattern::at(self.source.position(), why)
    }

    fn is_wide(&self) -> bool {
        self.dialect == Dialect::Wide
    }

    /// All up to the end of a group or of the pattern.
    fn either(&mut self) -> Result<Node, BadPattern> {
        let mut all = vec![self.sequence()?];
        while self.source.take("|") {
            all.push(self.sequence()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Node::Either(all) })
    }

    fn sequence(&mut self) -> Result<Node, BadPattern> {
        let mut all = Vec::new();
        loop {
            self.skip_space();
            if let None | Some('|' | ')') = self.source.peek() {
                break;
            }
            let Some((node, repeatable)) = self.term()? else { continue };
            self.skip_space();
            let start = self.source.position();
            let node = match self.counts()? {
                Some(counts) if repeatable => Node::Repeat { node: Box::new(node), counts },
                Some(_) => return Err(self.nothing_to_repeat(start)),
                None => node,
            };
            all.push(node);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Node::Sequence(all) })
    }

    /// One thing that a quantifier may follow, and whether it may; or nothing where
    /// only flags are set.
    fn term(&mut self) -> Result<Option<(Node, bool)>, BadPattern> {
        let start = self.source.position();
        if self.counts()?.is_some() {
            return Err(self.nothing_to_repeat(start));
        }
        let Some(next) = self.source.next() else { return Ok(None) };
        let node = match next {
            '(' => return self.group(start),
            '[' => Node::Class(self.class(start)?),
            '\\' => match self.escape(start, false)? {
                Escape::Char(character) => self.literal(character),
                Escape::Surrogate(_) => Node::Class(self.set().done(false)),
                Escape::Class(class) => Node::Class(class.done(false)),
                Escape::Assert(assertion) => return Ok(Some((Node::Assert(assertion), false))),
                Escape::Reference(reference) => {
                    self.references.push((reference, start));
                    let number = self.references.len() - 1;
                    Node::Reference { number, fold: self.flags.fold }
                }
            },
            '.' if self.flags.dot_all => Node::Class(Class::but(&[])),
            '.' => Node::Class(Class::but(&LINE_ENDS)),
            '^' | '$' => return Ok(Some((Node::Assert(self.edge(next == '^')), false))),
            other => self.literal(other),
        };
        Ok(Some((node, true)))
    }

    fn edge(&self, start: bool) -> Assertion {
        match (start, self.flags.lines) {
            (true, false) => Assertion::Start,
            (true, true) => Assertion::LineStart,
            (false, false) => Assertion::End,
            (false, true) => Assertion::LineEnd,
        }
    }

    fn literal(&self, character: char) -> Node {
        match self.flags.fold {
            true => Node::Class(Class::folded(character)),
            false => Node::Char(character),
        }
    }

    /// An empty set, by the flags.
    fn set(&self) -> Class {
        Class::new(self.flags.fold)
    }

    /// Passes what is nothing by the flag `x`.
    fn skip_space(&mut self) {
        while self.flags.spaced {
            match self.source.peek() {
                Some('#') => while self.source.next().is_some_and(|it| it != '\n') {},
                Some(space) if space.is_whitespace() => drop(self.source.next()),
                _ => return,
            }
        }
    }

    /// A quantifier, where one follows.
    fn counts(&mut self) -> Result<Option<Counts>, BadPattern> {
        let start = self.source.position();
        let (least, most) = match self.source.next() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => match self.braces()? {
                Some(counts) => counts,
                None => {
                    self.source.back_to(start);
                    return Ok(None);
                }
            },
            _ => {
                self.source.back_to(start);
                return Ok(None);
            }
        };
        if most.is_some_and(|most| most < least) {
            let counts = self.source.since(start);
            return Err(BadPattern::at(start, format!("`{counts}` is in the wrong order")));
        }
        Ok(Some(Counts { least, most, greedy: !self.source.take("?") }))
    }

    /// The counts after a brace; one that counts nothing stands for itself.
    fn braces(&mut self) -> Result<Option<(u32, Option<u32>)>, BadPattern> {
        let Some(least) = self.number()? else { return Ok(None) };
        let most = match self.source.take(",") {
            true => self.number()?,
            false => Some(least),
        };
        Ok(self.source.take("}").then_some((least, most)))
    }

    fn number(&mut self) -> Result<Option<u32>, BadPattern> {
        let start = self.source.position();
        while self.source.peek().is_some_and(|it| it.is_ascii_digit()) {
            self.source.next();
        }
        match &*self.source.since(start) {
            "" => Ok(None),
            digits => digits.parse().map(Some).map_err(|_| BadPattern::too_large()),
        }
    }

    fn nothing_to_repeat(&self, start: usize) -> BadPattern {
        let quantifier = self.source.since(start);
        BadPattern::at(start, format!("there is nothing to repeat before `{quantifier}`"))
    }

    /// The groups that are referred to, once all of them are known.
    fn resolved(&self) -> Result<Vec<usize>, BadPattern> {
        let number = |(reference, at): &(Reference, usize)| match reference {
            Reference::Number(number) if *number < self.groups => Ok(*number),
            Reference::Number(number) => {
                Err(BadPattern::at(*at, format!("there is no group {number}")))
            }
            Reference::Name(name) => match self.names.iter().find(|(known, _)| known == name) {
                Some((_, number)) => Ok(*number),
                None => Err(BadPattern::at(*at, format!("there is no group `{name}`"))),
            },
        };
        self.references.iter().map(number).collect()
    }
}
