//! What is wrong with a value, in words.

use serde_json::Value;

use crate::breach::{Breach, Kind};
use crate::keyword::{Bound, Size, TYPES, Types};

/// How many characters of a value are shown.
const LONGEST: usize = 120;

/// How many of several things are shown.
const MANY: usize = 3;

/// What is wrong, before it is told.
pub(crate) enum Wrong<'a> {
    Never,
    Type(Types),
    Enum(&'a [Value]),
    Const(&'a Value),
    Bound(Bound, &'a serde_json::Number),
    MultipleOf(&'a serde_json::Number),
    Size(Size, u64),
    Pattern(&'a str),
    /// A pattern that takes too long.
    TooLong(&'a str),
    Twins(usize, usize),
    Missing(&'a str),
    /// The member because of which another one is missing, and that one.
    Needed(&'a str, &'a str),
    Additional(Vec<&'a str>),
    Unevaluated(Vec<&'a str>),
    AdditionalItems(usize),
    UnevaluatedItems(usize),
    /// How many items fit, and how many should at least.
    TooFew(u64, u64),
    TooMany(u64, u64),
    /// The keyword, how many schemas there are, and what each of them says.
    NoneOf(&'static str, Vec<Vec<Breach>>),
    /// Two schemas that both hold.
    Several(usize, usize),
    Not(&'a Value),
    /// The name of a member, and what is wrong with it.
    Name(&'a str, String),
    Endless,
    TooDeep,
    /// Something could not be found out that it depends on.
    Unsure,
}

/// What is said of a value.
pub(crate) enum Said {
    /// A message begins with the value, and goes on with this.
    OfValue(String),
    /// This is the whole message.
    Alone(String),
}

impl Wrong<'_> {
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Wrong::Missing(name) | Wrong::Needed(_, name) => Kind::Missing((*name).to_owned()),
            Wrong::Additional(names) | Wrong::Unevaluated(names) => {
                Kind::Unknown(names.iter().map(|name| (*name).to_owned()).collect())
            }
            Wrong::TooLong(_) | Wrong::Endless | Wrong::TooDeep | Wrong::Unsure => Kind::Unsure,
            _ => Kind::Other,
        }
    }

    pub(crate) fn said(&self, value: &Value) -> Said {
        Said::OfValue(match self {
            Wrong::Type(types) => of_types(*types),
            Wrong::Enum(options) => format!("is not one of {}", one_of(options)),
            Wrong::Bound(bound, limit) => format!("is {} {limit}", beyond(*bound)),
            Wrong::MultipleOf(divisor) => format!("is not a multiple of {divisor}"),
            Wrong::Size(size, limit) => of_size(*size, *limit),
            Wrong::Pattern(source) => format!("does not match \"{source}\""),
            Wrong::TooLong(source) => {
                format!("takes too long to be matched with \"{source}\", which was given up")
            }
            Wrong::Twins(one, other) => {
                format!("has non-unique elements: those at {one} and {other} are the same")
            }
            Wrong::NoneOf(keyword, each) => none_of(keyword, each),
            Wrong::Several(one, other) => format!(
                "is valid under more than one of the schemas listed in the 'oneOf' keyword: \
                 those at {one} and {other}"
            ),
            Wrong::TooFew(0, least) => {
                format!("has no item that is as `contains` says, and should have {least}")
            }
            Wrong::TooFew(found, least) => {
                format!("has only {found} of {least} items that are as `contains` says")
            }
            Wrong::TooMany(found, most) => {
                format!("has {found} items that are as `contains` says, and at most {most} may be")
            }
            alone => return Said::Alone(alone.alone(value)),
        })
    }

    /// What does not begin with the value.
    fn alone(&self, value: &Value) -> String {
        match self {
            Wrong::Const(expected) => format!("{} was expected", shown(expected)),
            Wrong::Missing(name) => format!("{} is a required property", quoted(name)),
            Wrong::Needed(because, name) => {
                let (name, because) = (quoted(name), quoted(because));
                format!("{name} is a required property, since {because} is there")
            }
            Wrong::Additional(names) => {
                format!("Additional properties are not allowed ({})", unexpected(names))
            }
            Wrong::Unevaluated(names) => {
                format!("Unevaluated properties are not allowed ({})", unexpected(names))
            }
            Wrong::AdditionalItems(count) => format!("{} too many", items(*count)),
            Wrong::UnevaluatedItems(index) => {
                format!("Unevaluated items are not allowed (that at {index} was unexpected)")
            }
            Wrong::Not(schema) => {
                format!("{} is not allowed for {}", shown(schema), shown(value))
            }
            Wrong::Name(name, why) => format!("{} may be no name here: {why}", quoted(name)),
            Wrong::Endless => "the schema refers to itself without end".to_owned(),
            Wrong::TooDeep => "this lies too deep to be looked at".to_owned(),
            Wrong::Unsure => "whether this is as it should be cannot be found out: something \
                              that it depends on is too deep, without end, or takes too long"
                .to_owned(),
            _ => format!("False schema does not allow {}", shown(value)),
        }
    }
}

/// A value as JSON, shortened where it is long.
pub(crate) fn shown(value: &Value) -> String {
    let mut out = String::new();
    let room = write(value, &mut out, LONGEST);
    if room.is_none() {
        let end = out.char_indices().nth(LONGEST).map_or(out.len(), |(end, _)| end);
        out.truncate(end);
        out.push('…');
    }
    out
}

/// Writes a value for as long as there is room, and says how much is left. By
/// hand, since a value may be huge and deep, and only its beginning is wanted.
fn write(value: &Value, out: &mut String, room: usize) -> Option<usize> {
    let begun = out.len();
    match value {
        Value::Array(items) => {
            let mut left = room.checked_sub(2)?;
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                left = separated(out, index, left)?;
                left = write(item, out, left)?;
            }
            out.push(']');
            return Some(left);
        }
        Value::Object(members) => {
            let mut left = room.checked_sub(2)?;
            out.push('{');
            for (index, (name, member)) in members.iter().enumerate() {
                left = separated(out, index, left)?;
                left = write_text(name, out, left)?;
                out.push(':');
                left = write(member, out, left.checked_sub(1)?)?;
            }
            out.push('}');
            return Some(left);
        }
        Value::String(text) => return write_text(text, out, room),
        scalar => out.push_str(&scalar.to_string()),
    }
    room.checked_sub(out.len() - begun)
}

fn separated(out: &mut String, index: usize, room: usize) -> Option<usize> {
    match index {
        0 => Some(room),
        _ => {
            out.push(',');
            room.checked_sub(1)
        }
    }
}

fn write_text(text: &str, out: &mut String, room: usize) -> Option<usize> {
    let end = text.char_indices().nth(room).map_or(text.len(), |(end, _)| end);
    let written = Value::String(text[..end].to_owned()).to_string();
    let length = written.chars().count();
    match end < text.len() {
        true => {
            // Without the quote that would end it.
            out.push_str(&written[..written.len() - 1]);
            None
        }
        false => {
            out.push_str(&written);
            room.checked_sub(length)
        }
    }
}

fn quoted(name: &str) -> String {
    let mut out = String::new();
    match write_text(name, &mut out, LONGEST) {
        Some(_) => out,
        None => format!("{out}…"),
    }
}

fn of_types(types: Types) -> String {
    let mut names = Vec::new();
    for (bit, name) in TYPES.iter().enumerate() {
        if types.0 & (1 << bit) != 0 {
            names.push(format!("\"{name}\""));
        }
    }
    match names.len() {
        1 => format!("is not of type {}", names[0]),
        _ => format!("is not of types {}", names.join(", ")),
    }
}

fn one_of(options: &[Value]) -> String {
    let shown: Vec<String> = options.iter().take(MANY).map(shown).collect();
    match (shown.split_last(), options.len().saturating_sub(MANY)) {
        (Some((last, first)), 0) if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        (_, 0) => shown.join(""),
        (_, more) => format!("{} or {more} more", shown.join(", ")),
    }
}

fn beyond(bound: Bound) -> &'static str {
    match bound {
        Bound::Minimum => "less than the minimum of",
        Bound::Maximum => "greater than the maximum of",
        Bound::ExclusiveMinimum => "less than or equal to the minimum of",
        Bound::ExclusiveMaximum => "greater than or equal to the maximum of",
    }
}

fn of_size(size: Size, limit: u64) -> String {
    let (compared, one, many) = match size {
        Size::MinLength => ("is shorter than", "character", "characters"),
        Size::MaxLength => ("is longer than", "character", "characters"),
        Size::MinItems => ("has less than", "item", "items"),
        Size::MaxItems => ("has more than", "item", "items"),
        Size::MinProperties => ("has less than", "property", "properties"),
        Size::MaxProperties => ("has more than", "property", "properties"),
    };
    format!("{compared} {limit} {}", if limit == 1 { one } else { many })
}

fn items(count: usize) -> String {
    match count {
        1 => "Additional items are not allowed: there is one".to_owned(),
        count => format!("Additional items are not allowed: there are {count}"),
    }
}

fn unexpected(names: &[&str]) -> String {
    let mut told: Vec<String> = Vec::new();
    for name in names.iter().take(10) {
        let quoted = quoted(name);
        told.push(format!("'{}'", quoted.trim_matches('"')));
    }
    let more = names.len() - told.len();
    if more > 0 {
        told.push(format!("{more} more"));
    }
    let verb = if names.len() == 1 { "was" } else { "were" };
    format!("{} {verb} unexpected", told.join(", "))
}

/// What each of several schemas says, the nearest ones first: those that got
/// furthest into the value.
fn none_of(keyword: &str, each: &[Vec<Breach>]) -> String {
    let mut all: Vec<(usize, &Breach)> = Vec::new();
    for (index, breaches) in each.iter().enumerate() {
        if let Some(first) = breaches.first() {
            all.push((index, first));
        }
    }
    all.sort_by_key(|(_, breach)| std::cmp::Reverse(breach.steps.len()));
    let mut told = Vec::new();
    for (index, breach) in all.iter().take(MANY) {
        let about = breach.message_about("it");
        told.push(match breach.pointer.is_empty() {
            true => format!("({index}) {about}"),
            false => format!("({index}) at {}: {}", breach.pointer, breach.message),
        });
    }
    if all.len() > MANY {
        told.push(format!("and {} more", all.len() - MANY));
    }
    let told = told.join("; ");
    let colon = if told.is_empty() { "" } else { ": " };
    format!("is not valid under any of the schemas listed in the '{keyword}' keyword{colon}{told}")
}
