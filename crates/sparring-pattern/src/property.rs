//! Properties of Unicode, by the names that a pattern gives them.

use unicode_properties::{UnicodeEmoji as _, UnicodeGeneralCategory as _};
use unicode_script::{Script, UnicodeScript as _};

/// A property that a character has or has not.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Property {
    /// One of these categories, a bit each.
    Category(u32),
    Script(Script),
    ScriptExtensions(Script),
    Other(fn(char) -> bool),
}

/// The categories in the order of their bits, by both names.
const CATEGORIES: [(&str, &str); 30] = [
    ("lu", "uppercaseletter"),
    ("ll", "lowercaseletter"),
    ("lt", "titlecaseletter"),
    ("lm", "modifierletter"),
    ("lo", "otherletter"),
    ("mn", "nonspacingmark"),
    ("mc", "spacingmark"),
    ("me", "enclosingmark"),
    ("nd", "decimalnumber"),
    ("nl", "letternumber"),
    ("no", "othernumber"),
    ("pc", "connectorpunctuation"),
    ("pd", "dashpunctuation"),
    ("ps", "openpunctuation"),
    ("pe", "closepunctuation"),
    ("pi", "initialpunctuation"),
    ("pf", "finalpunctuation"),
    ("po", "otherpunctuation"),
    ("sm", "mathsymbol"),
    ("sc", "currencysymbol"),
    ("sk", "modifiersymbol"),
    ("so", "othersymbol"),
    ("zs", "spaceseparator"),
    ("zl", "lineseparator"),
    ("zp", "paragraphseparator"),
    ("cc", "control"),
    ("cf", "format"),
    ("cs", "surrogate"),
    ("co", "privateuse"),
    ("cn", "unassigned"),
];

/// What stands for several categories, with other names of single ones.
const GROUPS: [(&str, &str, &str); 11] = [
    ("l", "letter", "lu ll lt lm lo"),
    ("lc", "casedletter", "lu ll lt"),
    ("m", "mark", "mn mc me"),
    ("m", "combiningmark", "mn mc me"),
    ("n", "number", "nd nl no"),
    ("nd", "digit", "nd"),
    ("p", "punctuation", "pc pd ps pe pi pf po"),
    ("p", "punct", "pc pd ps pe pi pf po"),
    ("s", "symbol", "sm sc sk so"),
    ("z", "separator", "zs zl zp"),
    ("c", "other", "cc cf cs co cn"),
];

impl Property {
    /// The property of a name, such as `Lu`, `Letter`, `Script=Greek` or `Greek`.
    pub(crate) fn named(name: &str) -> Option<Property> {
        let Some((kind, value)) = name.split_once('=') else {
            let loose = loose(name);
            let found = category(&loose).or_else(|| other(&loose));
            return found.or_else(|| script(name).map(Property::Script));
        };
        match &*loose(kind) {
            "gc" | "generalcategory" => category(&loose(value)),
            "sc" | "script" => script(value).map(Property::Script),
            "scx" | "scriptextensions" => script(value).map(Property::ScriptExtensions),
            _ => None,
        }
    }

    pub(crate) fn has(self, character: char) -> bool {
        match self {
            Property::Category(wanted) => wanted & of(character) != 0,
            Property::Script(script) => character.script() == script,
            Property::ScriptExtensions(script) => {
                let extension = character.script_extension();
                match script {
                    Script::Common => extension.is_common(),
                    Script::Inherited => extension.is_inherited(),
                    Script::Unknown => character.script() == script,
                    // What is common to all is not what these have in common.
                    _ if extension.is_common() || extension.is_inherited() => false,
                    _ => extension.contains_script(script),
                }
            }
            Property::Other(has) => has(character),
        }
    }
}

/// Names are compared without their case and without what joins their words.
fn loose(name: &str) -> String {
    name.chars().filter(|it| *it != '_').map(|it| it.to_ascii_lowercase()).collect()
}

/// The bit of a character's category.
fn of(character: char) -> u32 {
    1 << character.general_category() as u32
}

fn category(name: &str) -> Option<Property> {
    let single = |name: &str| {
        let index = CATEGORIES.iter().position(|(short, long)| *short == name || *long == name)?;
        Some(1 << index)
    };
    let several = || {
        let (.., all) = GROUPS.iter().find(|(short, long, _)| *short == name || *long == name)?;
        Some(all.split(' ').filter_map(single).sum())
    };
    single(name).or_else(several).map(Property::Category)
}

fn script(name: &str) -> Option<Script> {
    let exact = |name: &str| Script::from_full_name(name).or_else(|| Script::from_short_name(name));
    let words = name.split('_').map(|word| {
        let (first, rest) = word.split_at_checked(1).unwrap_or_default();
        first.to_ascii_uppercase() + &rest.to_ascii_lowercase()
    });
    exact(name).or_else(|| exact(&words.collect::<Vec<_>>().join("_")))
}

fn other(name: &str) -> Option<Property> {
    let has: fn(char) -> bool = match name {
        "any" => |_| true,
        "ascii" => |it| it.is_ascii(),
        "assigned" => |it| of(it) != 1 << 29,
        "alphabetic" | "alpha" => char::is_alphabetic,
        "uppercase" | "upper" => char::is_uppercase,
        "lowercase" | "lower" => char::is_lowercase,
        "whitespace" | "space" => char::is_whitespace,
        "asciihexdigit" | "ahex" => |it| it.is_ascii_hexdigit(),
        "hexdigit" | "hex" => |it| it.is_ascii_hexdigit() || is_wide_hex_digit(it),
        "idstart" | "ids" => starts_identifier,
        "idcontinue" | "idc" => continues_identifier,
        "emoji" => |it| it.is_emoji_char(),
        _ => return None,
    };
    Some(Property::Other(has))
}

fn is_wide_hex_digit(it: char) -> bool {
    matches!(it, '\u{FF10}'..='\u{FF19}' | '\u{FF21}'..='\u{FF26}' | '\u{FF41}'..='\u{FF46}')
}

/// Letters, numbers that are letters, and those few that are kept from before.
fn starts_identifier(it: char) -> bool {
    const LETTERS: u32 = 0b10_0001_1111;
    match it {
        '\u{1885}' | '\u{1886}' | '\u{2118}' | '\u{212E}' | '\u{309B}' | '\u{309C}' => true,
        // A letter that is syntax to Unicode.
        '\u{2E2F}' => false,
        _ => of(it) & LETTERS != 0,
    }
}

fn continues_identifier(it: char) -> bool {
    const MARKS_DIGITS_AND_CONNECTORS: u32 = 0b1001_0110_0000;
    match it {
        '\u{B7}'
        | '\u{387}'
        | '\u{1369}'..='\u{1371}'
        | '\u{19DA}'
        | '\u{200C}'
        | '\u{200D}'
        | '\u{30FB}'
        | '\u{FF65}' => true,
        _ => starts_identifier(it) || of(it) & MARKS_DIGITS_AND_CONNECTORS != 0,
    }
}
