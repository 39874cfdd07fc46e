//! Classes in brackets. All that stands in one is written anew, since the other
//! side has more syntax in there: `[`, `&&`, `--` and `~~`.

use super::escape::{self, Escape};
use super::translate::{Source, literal};

/// One thing in a class.
enum Atom {
    /// A character or half of a pair.
    Code(u32),
    Class(String),
}

/// Translates what follows a `[`.
pub(super) fn translate(source: &mut Source, out: &mut String) -> Result<(), String> {
    let negated = source.take("^");
    let mut inside = String::new();
    while let Some(atom) = atom(source)? {
        let before = source.position();
        let ends = source.take("-").then(|| atom_or_end(source)).transpose()?.flatten();
        match (atom, ends) {
            (Atom::Code(first), Some(Atom::Code(last))) => range(&mut inside, first, last)?,
            (atom, _) => {
                source.back_to(before);
                match atom {
                    Atom::Code(code) => range(&mut inside, code, code)?,
                    Atom::Class(class) => inside.push_str(&class),
                }
            }
        }
    }
    out.push_str(&match (negated, inside.is_empty()) {
        (true, true) => "(?s:.)".to_owned(),
        (false, true) => "(?!)".to_owned(),
        (true, false) => format!("[^{inside}]"),
        (false, false) => format!("[{inside}]"),
    });
    Ok(())
}

/// What may end a range; a `]` ends the class instead, and stays.
fn atom_or_end(source: &mut Source) -> Result<Option<Atom>, String> {
    match source.peek() {
        Some(']') => Ok(None),
        _ => atom(source),
    }
}

/// The next thing, or nothing at the end of the class.
fn atom(source: &mut Source) -> Result<Option<Atom>, String> {
    match source.next() {
        None => Err("a class is not closed".to_owned()),
        Some(']') => Ok(None),
        Some('\\') => Ok(Some(match escape::read(source, true)? {
            Escape::Character(character) => Atom::Code(character as u32),
            Escape::Surrogate(code) => Atom::Code(code),
            Escape::Class(class) | Escape::Group(class) => Atom::Class(class),
            Escape::Boundary | Escape::NoBoundary => Atom::Class(String::new()),
        })),
        Some(other) => Ok(Some(Atom::Code(other as u32))),
    }
}

/// Writes a range without the halves of pairs.
fn range(out: &mut String, first: u32, last: u32) -> Result<(), String> {
    let shown = |code: u32| char::from_u32(code).unwrap_or('\u{fffd}');
    if first > last {
        return Err(format!("`{}-{}` is in the wrong order", shown(first), shown(last)));
    }
    let lowest = if (0xD800..0xE000).contains(&first) { 0xE000 } else { first };
    let highest = if (0xD800..0xE000).contains(&last) { 0xD7FF } else { last };
    if lowest > highest {
        return Ok(());
    }
    literal(out, shown(lowest));
    if lowest != highest {
        out.push('-');
        literal(out, shown(highest));
    }
    Ok(())
}
