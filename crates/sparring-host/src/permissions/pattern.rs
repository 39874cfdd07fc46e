//! Patterns of tools, as people write them in rules, and whose they are.

use std::fmt;

use sparring_script::did_you_mean;

use crate::names::sanitized;

/// What every pattern begins with, but one in the entry of a server.
const PREFIX: &str = "mcp__";

/// Names of tools: every `*` stands for any characters or none, and every other
/// character for itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob(String);

/// What a pattern means where these servers are configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// Tools of one of them.
    Tools {
        /// That server, as it is called in its file.
        server: String,
        /// Which of its tools.
        tools: Glob,
    },
    /// Tools of a server that is not there.
    Nobody,
}

/// Why a pattern means nothing, or two things.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// It does not begin as patterns do.
    #[error(
        "the pattern '{0}' names no server: it must be mcp__SERVER, mcp__SERVER__* or \
         mcp__SERVER__get_*"
    )]
    NoServer(String),
    /// A `*` where a server should stand.
    #[error("the pattern '{0}' has a * for a server: it can stand for tools only")]
    AnyServer(String),
    /// Nothing where a tool should stand.
    #[error("the pattern '{0}' names no tool: * are all of them")]
    NoTool(String),
    /// It fits more than one server.
    #[error(
        "the pattern '{pattern}' fits {}: write it into the entry of the server that is meant",
        all_of(servers)
    )]
    Ambiguous {
        /// The pattern.
        pattern: String,
        /// The servers, and the tools that it would mean of each.
        servers: Vec<(String, Glob)>,
    },
    /// It stands in the entry of a server, and is another's.
    #[error("the pattern '{pattern}' is not of '{server}', in whose entry it stands")]
    Foreign {
        /// The pattern.
        pattern: String,
        /// The server in whose entry it stands.
        server: String,
    },
}

impl Glob {
    /// Those that fit a pattern.
    pub fn new(pattern: impl Into<String>) -> Self {
        Glob(pattern.into())
    }

    /// Every name.
    pub fn all() -> Self {
        Glob("*".to_owned())
    }

    /// Whether the name is one of them.
    pub fn matches(&self, name: &str) -> bool {
        if self.0 == "*" {
            return true;
        }
        let Some((first, rest)) = self.0.split_once('*') else { return self.0 == name };
        let Some(mut left) = name.strip_prefix(first) else { return false };
        let (between, last) = match rest.rsplit_once('*') {
            Some((between, last)) => (Some(between), last),
            None => (None, rest),
        };
        for part in between.into_iter().flat_map(|between| between.split('*')) {
            match left.split_once(part) {
                Some((_, behind)) => left = behind,
                None => return false,
            }
        }
        left.ends_with(last)
    }
}

/// As it was written.
impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a pattern means that stands beside the servers, where these are
/// configured. A server may be called as in its file, or with `_` in place of
/// what names of tools cannot have.
///
/// # Errors
/// When it is none, or fits two servers.
pub fn meaning<'a>(
    pattern: &str,
    servers: impl IntoIterator<Item = &'a str> + Clone,
) -> Result<Meaning, PatternError> {
    let Some(rest) = pattern.strip_prefix(PREFIX).filter(|rest| !rest.is_empty()) else {
        return Err(PatternError::NoServer(pattern.to_owned()));
    };
    let mut fitting: Vec<(String, Glob)> = vec![];
    for server in servers {
        if let Some(tools) = tools_of(server, rest)
            && !fitting.iter().any(|(other, _)| other == server)
        {
            fitting.push((server.to_owned(), tools));
        }
    }
    if fitting.len() > 1 {
        return Err(PatternError::Ambiguous { pattern: pattern.to_owned(), servers: fitting });
    }
    match fitting.pop() {
        Some((_, tools)) if tools.0.is_empty() => Err(PatternError::NoTool(pattern.to_owned())),
        Some((server, tools)) => Ok(Meaning::Tools { server, tools }),
        None if server_part(rest).contains('*') => Err(PatternError::AnyServer(pattern.to_owned())),
        None => Ok(Meaning::Nobody),
    }
}

/// What a pattern means that stands in the entry of a server: its tools, by
/// their names alone or with its own before them.
///
/// # Errors
/// When it is none, or another server's.
pub fn meaning_within(pattern: &str, server: &str) -> Result<Glob, PatternError> {
    if pattern.is_empty() {
        return Err(PatternError::NoTool(pattern.to_owned()));
    }
    if !pattern.starts_with(PREFIX) {
        return Ok(Glob(pattern.to_owned()));
    }
    match meaning(pattern, [server])? {
        Meaning::Tools { tools, .. } => Ok(tools),
        Meaning::Nobody => {
            let (pattern, server) = (pattern.to_owned(), server.to_owned());
            Err(PatternError::Foreign { pattern, server })
        }
    }
}

/// What to say of a pattern that is nobody's.
pub(super) fn nobody<'a>(pattern: &str, servers: impl IntoIterator<Item = &'a str>) -> String {
    let named = server_part(pattern.strip_prefix(PREFIX).unwrap_or(pattern));
    let hint = did_you_mean(named, servers).map(|hint| format!("; {hint}")).unwrap_or_default();
    format!("the pattern '{pattern}' fits no server that is configured{hint}")
}

/// The tools of a server that a pattern without its prefix means, if it is this
/// server's.
fn tools_of(server: &str, rest: &str) -> Option<Glob> {
    [server, &sanitized(server)].into_iter().filter(|name| !name.is_empty()).find_map(|name| {
        match rest.strip_prefix(name)? {
            "" => Some(Glob::all()),
            behind => behind.strip_prefix("__").map(|tools| Glob(tools.to_owned())),
        }
    })
}

/// The least that can be the server's name in a pattern without its prefix.
fn server_part(rest: &str) -> &str {
    rest.split_once("__").map_or(rest, |(server, _)| server)
}

fn all_of(servers: &[(String, Glob)]) -> String {
    let each = servers.iter().map(|(server, tools)| format!("'{tools}' of '{server}'"));
    each.collect::<Vec<_>>().join(" and ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// By trying everything.
    fn fits(glob: &[char], name: &[char]) -> bool {
        match (glob.split_first(), name.split_first()) {
            (None, _) => name.is_empty(),
            (Some(('*', rest)), None) => fits(rest, name),
            (Some(('*', rest)), Some((_, behind))) => fits(rest, name) || fits(glob, behind),
            (Some((c, rest)), Some((d, behind))) => c == d && fits(rest, behind),
            (Some(_), None) => false,
        }
    }

    proptest! {
        #[test]
        fn a_glob_fits_what_fits_by_trying_everything(glob in "[ab*]{0,7}", name in "[ab*]{0,9}") {
            let [tried, on] = [&glob, &name].map(|text| text.chars().collect::<Vec<_>>());
            prop_assert_eq!(Glob(glob).matches(&name), fits(&tried, &on));
        }
    }

    #[test]
    fn a_star_is_anything_and_all_else_is_itself() {
        let check = |glob: &str, name: &str, expected: bool| {
            assert_eq!(Glob(glob.to_owned()).matches(name), expected, "{glob} {name}");
        };
        for name in ["", "a", "get_x", "__", "é🦀", "a\nb", "*"] {
            check("*", name, true);
            check("**", name, true);
        }
        check("get_*", "get_", true);
        check("get_*", "get_x", true);
        check("get_*", "Get_x", false);
        check("get_*", "forget_x", false);
        check("*_file", "read_file", true);
        check("*_file", "read_files", false);
        check("a*b*c", "abc", true);
        check("a*b*c", "a-b-b-c", true);
        check("a*b*c", "acb", false);
        check("aba*aba", "aba", false);
        check("aba*aba", "ababa", false);
        check("aba*aba", "abaaba", true);
        // What other languages of patterns know.
        check("a.c", "abc", false);
        check("a.c", "a.c", true);
        check("[ab]+", "a", false);
        check("[ab]+", "[ab]+", true);
        check("a?", "ab", false);
        check("{a,b}", "a", false);
        check("^a$", "a", false);
        check(r"a\*", r"a\b", true);
        check("(.*)*$", &"(".repeat(30_000), false);
    }

    #[test]
    fn a_pattern_is_of_the_server_that_it_names() {
        let servers = ["fs", "my server", "a", "a__b", "web.2"];
        let check = |pattern: &str, expected: &str| {
            let found = match meaning(pattern, servers) {
                Ok(Meaning::Tools { server, tools }) => format!("{server}: {tools}"),
                Ok(Meaning::Nobody) => "nobody".to_owned(),
                Err(error) => error.to_string(),
            };
            assert_eq!(found, expected, "{pattern}");
        };
        check("mcp__fs", "fs: *");
        check("mcp__fs__*", "fs: *");
        check("mcp__fs__get_*", "fs: get_*");
        check("mcp__fs____", "fs: __");
        check("mcp__fs___x", "fs: _x");
        check("mcp__my server__x", "my server: x");
        check("mcp__my_server__x", "my server: x");
        check("mcp__web_2", "web.2: *");
        check("mcp__a__c", "a: c");
        check("mcp__gs", "nobody");
        check("mcp__f", "nobody");
        check("mcp__fsx__y", "nobody");
        check(
            "mcp__a__b",
            "the pattern 'mcp__a__b' fits 'b' of 'a' and '*' of 'a__b': \
             write it into the entry of the server that is meant",
        );
        check(
            "mcp__a__b__x",
            "the pattern 'mcp__a__b__x' fits 'b__x' of 'a' and 'x' of 'a__b': \
             write it into the entry of the server that is meant",
        );
        check("mcp__fs__", "the pattern 'mcp__fs__' names no tool: * are all of them");
        for none in ["", "fs", "*", "mcp__", "mcp_fs", "MCP__fs"] {
            check(
                none,
                &format!(
                    "the pattern '{none}' names no server: it must be mcp__SERVER, \
                     mcp__SERVER__* or mcp__SERVER__get_*"
                ),
            );
        }
        for any in ["mcp__*", "mcp__*__get", "mcp__f*__x"] {
            check(
                any,
                &format!("the pattern '{any}' has a * for a server: it can stand for tools only"),
            );
        }
    }

    #[test]
    fn in_the_entry_of_a_server_a_tool_is_enough() {
        let check = |pattern: &str, expected: Result<&str, &str>| {
            let found = meaning_within(pattern, "fs").map(|tools| tools.to_string());
            let found = found.map_err(|error| error.to_string());
            assert_eq!(found.as_deref().map_err(String::as_str), expected, "{pattern}");
        };
        check("*", Ok("*"));
        check("get_*", Ok("get_*"));
        check("fs", Ok("fs"));
        check("mcp__fs", Ok("*"));
        check("mcp__fs__get_*", Ok("get_*"));
        check(
            "mcp__gs__x",
            Err("the pattern 'mcp__gs__x' is not of 'fs', in whose entry it stands"),
        );
        check("", Err("the pattern '' names no tool: * are all of them"));
    }

    #[test]
    fn a_pattern_that_is_nobodys_says_whose_it_may_have_been() {
        assert_eq!(
            nobody("mcp__filesytem__x", ["filesystem", "web"]),
            "the pattern 'mcp__filesytem__x' fits no server that is configured; \
             did you mean 'filesystem'?"
        );
    }
}
