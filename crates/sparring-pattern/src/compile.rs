//! From a tree to a program.

use crate::class::Class;
use crate::error::BadPattern;
use crate::parse::Parsed;
use crate::program::{Loop, Program, Step};
use crate::tree::{Counts, Node};

/// The most that the counts of a pattern may come to, in characters and steps.
const LARGEST: u64 = 500_000;

/// Compiles a pattern.
///
/// # Errors
/// When it is too large.
pub(crate) fn compile(parsed: &Parsed) -> Result<Program, BadPattern> {
    let slots = 2 * parsed.groups as u32;
    let program = Program { group_slots: slots, slots, is_plain: true, ..Program::default() };
    let mut compiler = Compiler { program, references: &parsed.references, weight: 0 };
    compiler.node(&parsed.node, false)?;
    compiler.push(Step::Match);
    let mut program = compiler.program;
    program.look_ahead();
    Ok(program)
}

struct Compiler<'a> {
    program: Program,
    references: &'a [usize],
    weight: u64,
}

impl Compiler<'_> {
    /// What matches a node, forwards or backwards.
    fn node(&mut self, node: &Node, back: bool) -> Result<(), BadPattern> {
        self.weigh(1)?;
        match node {
            Node::Sequence(nodes) if back => {
                nodes.iter().rev().try_for_each(|node| self.node(node, back))?;
            }
            Node::Sequence(nodes) => nodes.iter().try_for_each(|node| self.node(node, back))?,
            Node::Either(nodes) => self.either(nodes, back)?,
            Node::Char(character) => self.push(Step::Char { character: *character, back }),
            Node::Class(class) => {
                let class = self.class(class.clone())?;
                self.push(Step::Class { class, back });
            }
            Node::Assert(assertion) => self.push(Step::Assert(*assertion)),
            Node::Group(number, node) => {
                let start = 2 * *number as u32;
                self.push(Step::Save(start + u32::from(back)));
                self.node(node, back)?;
                self.push(Step::Save(start + u32::from(!back)));
            }
            Node::Reference { number, fold } => {
                self.program.is_plain = false;
                self.program.has_references = true;
                let group = self.references[*number] as u32;
                self.push(Step::Reference { group, back, fold: *fold });
            }
            Node::Look { behind, negative, node } => {
                self.program.is_plain = false;
                let look = self.here();
                self.push(Step::Look { negative: *negative, end: 0 });
                self.node(node, *behind)?;
                self.push(Step::Match);
                let end = self.here();
                self.program.steps[look as usize] = Step::Look { negative: *negative, end };
            }
            Node::Repeat { node, counts } if node.is_one() => self.many(node, *counts, back)?,
            Node::Repeat { node, counts } => self.repeat(node, *counts, back)?,
        }
        Ok(())
    }

    fn either(&mut self, nodes: &[Node], back: bool) -> Result<(), BadPattern> {
        let mut jumps = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            if index + 1 == nodes.len() {
                self.node(node, back)?;
                break;
            }
            let split = self.split();
            self.node(node, back)?;
            jumps.push(self.here());
            self.push(Step::Jump(0));
            let next = self.here();
            self.lead(split, split + 1, next);
        }
        let end = self.here();
        for jump in jumps {
            self.program.steps[jump as usize] = Step::Jump(end);
        }
        Ok(())
    }

    /// A single character that is repeated is one step.
    fn many(&mut self, node: &Node, counts: Counts, back: bool) -> Result<(), BadPattern> {
        self.weigh(counts.most.unwrap_or(counts.least).into())?;
        let class = match node {
            Node::Class(class) => class.clone(),
            Node::Char(character) => {
                let mut class = Class::new(false);
                class.add(*character as u32, *character as u32);
                class.done(false)
            }
            other => return self.repeat(other, counts, back),
        };
        let class = self.class(class)?;
        let Counts { least, most, greedy } = counts;
        let (more, memo) = (most.map(|most| most - least), self.memo());
        self.program.counted += u64::from(most.unwrap_or(least));
        self.program.loops.push(Loop { class, least, more, greedy, back, memo });
        let number = self.program.loops.len() as u32 - 1;
        self.push(Step::Loop(number));
        Ok(())
    }

    /// Everything else is there as often as it must be and may be.
    fn repeat(&mut self, node: &Node, counts: Counts, back: bool) -> Result<(), BadPattern> {
        let Counts { least, most, greedy } = counts;
        let empty = node.may_be_empty();
        // Its last round that must be is the first of those that may be, unless it
        // matters how far a round got.
        let joined = u32::from(most.is_none() && least > 0 && !empty);
        for _ in 0..least - joined {
            self.round(node, back, None)?;
        }
        // ECMA-262 refuses a round that need not be and takes no character.
        let place = empty.then(|| self.place());
        let Some(most) = most else {
            let start = self.here();
            if joined == 1 {
                self.round(node, back, None)?;
                let split = self.split();
                self.lead_by(split, start, split + 1, greedy);
            } else {
                let split = self.split();
                self.round(node, back, place)?;
                self.push(Step::Jump(start));
                let end = self.here();
                self.lead_by(split, split + 1, end, greedy);
            }
            return Ok(());
        };
        let mut splits = Vec::new();
        for _ in least..most {
            splits.push(self.split());
            self.round(node, back, place)?;
        }
        let end = self.here();
        for split in splits {
            self.lead_by(split, split + 1, end, greedy);
        }
        Ok(())
    }

    /// One round of something that is repeated, in which its groups are new.
    fn round(&mut self, node: &Node, back: bool, place: Option<u32>) -> Result<(), BadPattern> {
        self.weigh(1)?;
        if let Some((first, last)) = node.groups() {
            self.push(Step::Clear { from: 2 * first as u32, to: 2 * last as u32 + 2 });
        }
        if let Some(place) = place {
            self.push(Step::Save(place));
        }
        self.node(node, back)?;
        if let Some(place) = place {
            self.push(Step::Progress(place));
        }
        Ok(())
    }

    fn weigh(&mut self, more: u64) -> Result<(), BadPattern> {
        self.weight += more;
        if self.weight > LARGEST { Err(BadPattern::too_large()) } else { Ok(()) }
    }

    fn push(&mut self, step: Step) {
        self.program.steps.push(step);
    }

    fn here(&self) -> u32 {
        self.program.steps.len() as u32
    }

    fn class(&mut self, class: Class) -> Result<u32, BadPattern> {
        self.weigh(class.len() / 8)?;
        self.program.classes.push(class);
        Ok(self.program.classes.len() as u32 - 1)
    }

    fn memo(&mut self) -> u32 {
        self.program.memos += 1;
        self.program.memos - 1
    }

    /// A place that is kept and belongs to no group.
    fn place(&mut self) -> u32 {
        self.program.slots += 1;
        self.program.slots - 1
    }

    /// A split that leads nowhere yet.
    fn split(&mut self) -> u32 {
        let memo = self.memo();
        self.push(Step::Split { first: 0, second: 0, memo });
        self.here() - 1
    }

    fn lead(&mut self, split: u32, to: u32, or: u32) {
        if let Step::Split { first, second, .. } = &mut self.program.steps[split as usize] {
            (*first, *second) = (to, or);
        }
    }

    /// Leads into a round or out of it, whichever comes first.
    fn lead_by(&mut self, split: u32, round: u32, end: u32, greedy: bool) {
        match greedy {
            true => self.lead(split, round, end),
            false => self.lead(split, end, round),
        }
    }
}
