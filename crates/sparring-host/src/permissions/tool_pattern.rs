//! Tool patterns of permission rules, and the servers they belong to.

use std::fmt;

use sparring_script::did_you_mean;

use crate::names::sanitize;

/// The prefix of every pattern outside of a server's entry.
const PREFIX: &str = "mcp__";

/// A pattern for names of tools: each `*` stands for any characters or none,
/// and every other character for itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolPattern(String);

/// The tools that a pattern refers to, among the configured servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatternTarget {
    /// Tools of one server.
    Tools {
        /// The server's name in its configuration file.
        server: String,
        /// The tools.
        tools: ToolPattern,
    },
    /// Tools of a server that is not configured.
    UnknownServer,
}

/// Why a pattern is invalid or ambiguous.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// It does not begin with `mcp__` and a server.
    #[error(
        "pattern '{0}' names no server: write mcp__SERVER, mcp__SERVER__* or \
         mcp__SERVER__get_*"
    )]
    NoServer(String),
    /// It has a `*` in the place of the server.
    #[error("pattern '{0}' has a * in the server's name: * is for tools only")]
    AnyServer(String),
    /// It has an empty tool.
    #[error("pattern '{0}' names no tool: write * for all tools")]
    NoTool(String),
    /// It matches more than one server.
    #[error(
        "pattern '{pattern}' matches {}: move it into the entry of the server that you mean",
        list_matches(servers)
    )]
    Ambiguous {
        /// The pattern.
        pattern: String,
        /// The servers, and the tools of each that it would match.
        servers: Vec<(String, ToolPattern)>,
    },
    /// It is in the entry of one server and names another.
    #[error("pattern '{pattern}' is in the entry of '{server}' but names another server")]
    Foreign {
        /// The pattern.
        pattern: String,
        /// The server whose entry contains it.
        server: String,
    },
}

impl ToolPattern {
    /// The names that match a pattern.
    pub fn new(pattern: impl Into<String>) -> Self {
        ToolPattern(pattern.into())
    }

    /// All names.
    pub fn all() -> Self {
        ToolPattern("*".to_owned())
    }

    /// Returns true if the name matches.
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
                Some((_, after)) => left = after,
                None => return false,
            }
        }
        left.ends_with(last)
    }
}

/// The pattern as it was written.
impl fmt::Display for ToolPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Resolves a pattern that is outside of a server's entry. It names the server
/// as its file does, or with `_` for the characters that names of tools cannot
/// have.
///
/// # Errors
/// If it is invalid or matches two servers.
pub fn resolve_pattern<'a>(
    pattern: &str,
    servers: impl IntoIterator<Item = &'a str> + Clone,
) -> Result<PatternTarget, PatternError> {
    let Some(rest) = pattern.strip_prefix(PREFIX).filter(|rest| !rest.is_empty()) else {
        return Err(PatternError::NoServer(pattern.to_owned()));
    };
    let mut matching: Vec<(String, ToolPattern)> = vec![];
    for server in servers {
        if let Some(tools) = match_server(server, rest)
            && !matching.iter().any(|(other, _)| other == server)
        {
            matching.push((server.to_owned(), tools));
        }
    }
    if matching.len() > 1 {
        return Err(PatternError::Ambiguous { pattern: pattern.to_owned(), servers: matching });
    }
    match matching.pop() {
        Some((_, tools)) if tools.0.is_empty() => Err(PatternError::NoTool(pattern.to_owned())),
        Some((server, tools)) => Ok(PatternTarget::Tools { server, tools }),
        None if server_part(rest).contains('*') => Err(PatternError::AnyServer(pattern.to_owned())),
        None => Ok(PatternTarget::UnknownServer),
    }
}

/// Resolves a pattern in the entry of a server: its tools, with or without the
/// server's prefix.
///
/// # Errors
/// If it is invalid or names another server.
pub fn resolve_server_pattern(pattern: &str, server: &str) -> Result<ToolPattern, PatternError> {
    if pattern.is_empty() {
        return Err(PatternError::NoTool(pattern.to_owned()));
    }
    if !pattern.starts_with(PREFIX) {
        return Ok(ToolPattern(pattern.to_owned()));
    }
    match resolve_pattern(pattern, [server])? {
        PatternTarget::Tools { tools, .. } => Ok(tools),
        PatternTarget::UnknownServer => {
            let (pattern, server) = (pattern.to_owned(), server.to_owned());
            Err(PatternError::Foreign { pattern, server })
        }
    }
}

/// The note about a pattern whose server is not configured.
pub(super) fn unknown_server_note<'a>(
    pattern: &str,
    servers: impl IntoIterator<Item = &'a str>,
) -> String {
    let named = server_part(pattern.strip_prefix(PREFIX).unwrap_or(pattern));
    let hint = did_you_mean(named, servers).map(|hint| format!("; {hint}")).unwrap_or_default();
    format!("pattern '{pattern}' matches no configured server{hint}")
}

/// The tools of a server that a pattern without its prefix refers to, if it
/// names this server.
fn match_server(server: &str, rest: &str) -> Option<ToolPattern> {
    [server, &sanitize(server)].into_iter().filter(|name| !name.is_empty()).find_map(|name| {
        match rest.strip_prefix(name)? {
            "" => Some(ToolPattern::all()),
            after => after.strip_prefix("__").map(|tools| ToolPattern(tools.to_owned())),
        }
    })
}

/// The shortest possible name of the server in a pattern without its prefix.
fn server_part(rest: &str) -> &str {
    rest.split_once("__").map_or(rest, |(server, _)| server)
}

fn list_matches(servers: &[(String, ToolPattern)]) -> String {
    let each = servers.iter().map(|(server, tools)| format!("'{tools}' of '{server}'"));
    each.collect::<Vec<_>>().join(" and ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Matches by trying everything.
    fn fits(glob: &[char], name: &[char]) -> bool {
        match (glob.split_first(), name.split_first()) {
            (None, _) => name.is_empty(),
            (Some(('*', rest)), None) => fits(rest, name),
            (Some(('*', rest)), Some((_, after))) => fits(rest, name) || fits(glob, after),
            (Some((c, rest)), Some((d, after))) => c == d && fits(rest, after),
            (Some(_), None) => false,
        }
    }

    proptest! {
        #[test]
       fn a_glob_matches_as_by_trying_everything(glob in "[ab*]{0,7}", name in "[ab*]{0,9}") {
            let [tried, on] = [&glob, &name].map(|text| text.chars().collect::<Vec<_>>());
            prop_assert_eq!(ToolPattern(glob).matches(&name), fits(&tried, &on));
        }
    }

    #[test]
    fn a_star_matches_anything_and_all_else_itself() {
        let check = |glob: &str, name: &str, expected: bool| {
            assert_eq!(ToolPattern(glob.to_owned()).matches(name), expected, "{glob} {name}");
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
        // Special characters of other pattern languages are literal.
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
    fn a_pattern_resolves_to_the_server_that_it_names() {
        let servers = ["fs", "my server", "a", "a__b", "web.2"];
        let check = |pattern: &str, expected: &str| {
            let found = match resolve_pattern(pattern, servers) {
                Ok(PatternTarget::Tools { server, tools }) => format!("{server}: {tools}"),
                Ok(PatternTarget::UnknownServer) => "unknown server".to_owned(),
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
        check("mcp__gs", "unknown server");
        check("mcp__f", "unknown server");
        check("mcp__fsx__y", "unknown server");
        check(
            "mcp__a__b",
            "pattern 'mcp__a__b' matches 'b' of 'a' and '*' of 'a__b': \
             move it into the entry of the server that you mean",
        );
        check(
            "mcp__a__b__x",
            "pattern 'mcp__a__b__x' matches 'b__x' of 'a' and 'x' of 'a__b': \
             move it into the entry of the server that you mean",
        );
        check("mcp__fs__", "pattern 'mcp__fs__' names no tool: write * for all tools");
        for none in ["", "fs", "*", "mcp__", "mcp_fs", "MCP__fs"] {
            check(
                none,
                &format!(
                    "pattern '{none}' names no server: write mcp__SERVER, \
                     mcp__SERVER__* or mcp__SERVER__get_*"
                ),
            );
        }
        for any in ["mcp__*", "mcp__*__get", "mcp__f*__x"] {
            check(
                any,
                &format!("pattern '{any}' has a * in the server's name: * is for tools only"),
            );
        }
    }

    #[test]
    fn in_the_entry_of_a_server_the_tool_is_enough() {
        let check = |pattern: &str, expected: Result<&str, &str>| {
            let found = resolve_server_pattern(pattern, "fs").map(|tools| tools.to_string());
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
            Err("pattern 'mcp__gs__x' is in the entry of 'fs' but names another server"),
        );
        check("", Err("pattern '' names no tool: write * for all tools"));
    }

    #[test]
    fn an_unknown_server_in_a_pattern_gets_a_suggestion() {
        assert_eq!(
            unknown_server_note("mcp__filesytem__x", ["filesystem", "web"]),
            "pattern 'mcp__filesytem__x' matches no configured server; \
             did you mean 'filesystem'?"
        );
    }
}
