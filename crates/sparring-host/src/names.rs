//! Unique names for the tools of many servers: `mcp__server__tool`, in the
//! characters that every model API accepts.
//!
//! Names are generated and looked up, but never parsed: the caller of
//! [`assign_names`] keeps the table.

use std::collections::{BTreeMap, HashMap};

use ring::digest::{SHA256, digest};

/// The lengths of the digest that is appended to an ambiguous name. A longer
/// one is used only if the shorter one is taken too, which only an attack causes.
const DIGEST_LENGTHS: [usize; 3] = [8, 16, 32];

/// The maximum length of a tool's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NameLimit(usize);

impl NameLimit {
    /// The minimum limit: `mcp__`, a part of a name, and a digest.
    pub const MIN: usize = 48;

    /// A limit of so many characters; `None` below [`NameLimit::MIN`].
    pub fn new(characters: usize) -> Option<NameLimit> {
        (characters >= NameLimit::MIN).then_some(NameLimit(characters))
    }

    /// The number of characters.
    pub fn characters(self) -> usize {
        self.0
    }
}

/// 64, the maximum of OpenAI's API.
impl Default for NameLimit {
    fn default() -> Self {
        NameLimit(64)
    }
}

/// Replaces every character except ASCII letters, digits, `_` and `-` with `_`.
pub fn sanitize(name: &str) -> String {
    let kept = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    name.chars().map(|c| if kept(c) { c } else { '_' }).collect()
}

/// The name of a server's tool, if it is short enough and no other tool has it;
/// see [`assign_names`].
pub fn qualified_name(server: &str, tool: &str) -> String {
    format!("mcp__{}__{}", sanitize(server), sanitize(tool))
}

/// The names that [`assign_names`] may give to a tool, without the prefix of its
/// server.
pub(crate) fn visible_tool_names(server: &str, tool: &str) -> Vec<String> {
    let qualified = qualified_name(server, tool);
    let digest = hex_digest(server, tool);
    let with_digest = DIGEST_LENGTHS.map(|length| {
        let kept = qualified.len().min(NameLimit::default().0 - 1 - length);
        format!("{}_{}", &qualified[..kept], &digest[..length])
    });
    let prefix = format!("mcp__{}__", sanitize(server));
    let all = std::iter::once(qualified).chain(with_digest);
    all.filter_map(|name| name.strip_prefix(&prefix).map(str::to_owned)).collect()
}

/// Returns true if [`assign_names`] may give this name to a tool or prompt of
/// the server. The end of a long name can be missing.
pub(crate) fn may_be_name_of(server: &str, name: &str) -> bool {
    let prefix = format!("mcp__{}__", sanitize(server));
    let [.., longest_digest] = DIGEST_LENGTHS;
    let kept = NameLimit::default().0 - 1 - longest_digest;
    // Sanitized names are ASCII.
    name.starts_with(&prefix[..prefix.len().min(kept)])
}

/// A short digest that identifies a server whose name cannot be used as it is.
pub(crate) fn short_digest(server: &str) -> String {
    hex_digest(server, "")[..DIGEST_LENGTHS[0]].to_owned()
}

/// The groups of servers whose sanitized names are equal, sorted.
pub fn find_collisions<'a>(servers: impl IntoIterator<Item = &'a str>) -> Vec<Vec<&'a str>> {
    let mut sets = BTreeMap::<String, Vec<&str>>::new();
    for server in servers {
        let set = sets.entry(sanitize(server)).or_default();
        if !set.contains(&server) {
            set.push(server);
        }
    }
    let mut sets: Vec<_> = sets.into_values().filter(|set| set.len() > 1).collect();
    sets.iter_mut().for_each(|set| set.sort_unstable());
    sets
}

/// Assigns names to tools, each given by its server and its own name, in the
/// same order. Names are unique if the tools are.
///
/// A name that is too long or that two tools would have gets a part of the
/// digest of server and tool; in the second case both tools get one. So the
/// names depend only on the set of tools and not on their order.
pub fn assign_names(limit: NameLimit, tools: &[(&str, &str)]) -> Vec<String> {
    let assignments = vec![Assignment::default(); tools.len()];
    let mut names = NameAssigner { limit, tools, assignments, claims: HashMap::new() };
    (0..tools.len()).for_each(|tool| names.claim(tool));
    names.assignments.into_iter().map(|assignment| assignment.name).collect()
}

/// The digest of a server and a tool, in hexadecimal digits.
fn hex_digest(server: &str, tool: &str) -> String {
    // The length distinguishes `a` + `bc` from `ab` + `c`.
    let mut text = (server.len() as u64).to_le_bytes().to_vec();
    text.extend_from_slice(server.as_bytes());
    text.extend_from_slice(tool.as_bytes());
    digest(&SHA256, &text).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

struct NameAssigner<'a> {
    limit: NameLimit,
    tools: &'a [(&'a str, &'a str)],
    assignments: Vec<Assignment>,
    /// The tool that has each name; `None` after two tools wanted it.
    claims: HashMap<String, Option<usize>>,
}

/// The progress of a tool.
#[derive(Clone, Default)]
struct Assignment {
    /// The number of its names that were taken. The first name has no digest, and each
    /// later one has a longer digest.
    step: usize,
    name: String,
}

impl NameAssigner<'_> {
    /// Gives a tool the first of its names that no other tool wants. If another
    /// tool has that name, both take their next one. A name that two tools want
    /// stays unused, so the order does not matter.
    fn claim(&mut self, tool: usize) {
        let mut waiting = vec![tool];
        while let Some(tool) = waiting.pop() {
            let name = self.next_name(tool);
            if name.len() > self.limit.0 {
                self.assignments[tool].step += 1;
                waiting.push(tool);
                continue;
            }
            let losers = match self.claims.get(&name).copied() {
                None => vec![],
                // The last name has so many digits of the digest that it
                // belongs to this tool, even if another tool was named to
                // collide with it.
                Some(holder) if self.is_last(tool) => {
                    holder.into_iter().filter(|holder| !self.is_last(*holder)).collect()
                }
                Some(Some(holder)) if !self.is_last(holder) => vec![holder, tool],
                Some(_) => vec![tool],
            };
            match losers.last() {
                Some(last) if *last == tool => {
                    if losers.len() == 2 {
                        self.claims.insert(name, None);
                    }
                }
                _ => {
                    self.assignments[tool].name.clone_from(&name);
                    self.claims.insert(name, Some(tool));
                }
            }
            losers.iter().for_each(|loser| self.assignments[*loser].step += 1);
            waiting.extend(losers);
        }
    }

    fn is_last(&self, tool: usize) -> bool {
        self.assignments[tool].step == DIGEST_LENGTHS.len()
    }

    /// The next name that a tool wants. Only the one without a digest can be
    /// too long.
    fn next_name(&self, index: usize) -> String {
        let (server, tool) = self.tools[index];
        let mut name = qualified_name(server, tool);
        if let Some(step) = self.assignments[index].step.checked_sub(1) {
            name.truncate(self.limit.0 - 1 - DIGEST_LENGTHS[step]);
            name.push('_');
            name.push_str(&hex_digest(server, tool)[..DIGEST_LENGTHS[step]]);
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn assigned(tools: &[(&str, &str)]) -> Vec<String> {
        assign_names(NameLimit::default(), tools)
    }

    #[test]
    fn a_name_contains_server_and_tool() {
        assert_eq!(assigned(&[("filesystem", "read_file")]), ["mcp__filesystem__read_file"]);
    }

    #[test]
    fn the_server_of_a_name_is_recognized() {
        let long = "s".repeat(70);
        let names = assigned(&[(&long, "a"), ("fs", "a b"), ("fs", "a.b"), ("fs", "c")]);
        assert!(may_be_name_of(&long, &names[0]));
        assert!(names[1..].iter().all(|name| may_be_name_of("fs", name)), "{names:?}");
        assert!(!may_be_name_of("fs", &names[0]) && !may_be_name_of("f", &names[1]));
    }

    #[test]
    fn other_characters_become_underscores() {
        let check = |name, expected: &str| assert_eq!(sanitize(name), expected);
        check("", "");
        check("a-B_9", "a-B_9");
        check("my server/2.0", "my_server_2_0");
        check("é🦀\n\0", "____");
    }

    #[test]
    fn every_member_of_a_colliding_set_gets_a_digest_and_no_other_tool_does() {
        let names = assigned(&[("s", "a b"), ("s", "a.b"), ("s", "c")]);
        for name in &names[..2] {
            let (base, digest) = name.rsplit_once('_').expect("a digest");
            assert_eq!((base, digest.len()), ("mcp__s__a_b", 8), "{name}");
        }
        assert_ne!(names[0], names[1]);
        assert_eq!(names[2], "mcp__s__c");
        // The digest is the same on every machine and in every run.
        assert_eq!(names[0], "mcp__s__a_b_b90eba96");
    }

    #[test]
    fn tools_of_different_servers_collide_too() {
        let names = assigned(&[("a", "b__c"), ("a__b", "c")]);
        assert!(names.iter().all(|name| name.starts_with("mcp__a__b__c_")), "{names:?}");
        assert_ne!(names[0], names[1]);
    }

    #[test]
    fn a_name_that_is_too_long_is_cut_and_gets_a_digest() {
        let (fits, long) = ("x".repeat(64 - 8), "x".repeat(64 - 7));
        let names = assigned(&[("s", &fits), ("s", &long)]);
        assert_eq!(names[0], format!("mcp__s__{fits}"));
        assert_eq!(names[1].len(), 64);
        assert!(names[1].starts_with(&format!("mcp__s__{}_", "x".repeat(64 - 17))), "{}", names[1]);
        let wide = NameLimit::new(128).expect("enough");
        assert_eq!(assign_names(wide, &[("s", &long)]), [format!("mcp__s__{long}")]);
        assert_eq!(NameLimit::new(NameLimit::MIN - 1), None);
    }

    #[test]
    fn a_tool_named_like_another_tools_name_with_digest_does_not_get_that_name() {
        let long = "x".repeat(99);
        let stolen = assigned(&[("s", &long)]).remove(0);
        let thief = stolen.strip_prefix("mcp__s__").expect("the same server");
        let names = assigned(&[("s", &long), ("s", thief)]);
        assert!(!names.contains(&stolen), "{names:?}");
        // The thief's own digest has 8 digits, the other one now has 16.
        assert_ne!(names[0], names[1]);
        assert_eq!(names[0].rsplit_once('_').expect("a digest").1.len(), 16);
    }

    #[test]
    fn assigning_ends_for_tools_named_after_each_others_names() {
        let mut tools = vec!["x".repeat(99)];
        for _ in 0..200 {
            let last = &tools[tools.len() - 1];
            tools.push(format!("{}_{}", &last[..64 - 17], &hex_digest("s", last)[..8]));
        }
        let pairs: Vec<_> = tools.iter().map(|tool| ("s", tool.as_str())).collect();
        let names = assigned(&pairs);
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
        let backwards: Vec<_> = pairs.into_iter().rev().collect();
        assert_eq!(assigned(&backwards).into_iter().rev().collect::<Vec<_>>(), names);
    }

    #[test]
    fn a_name_with_its_longest_digest_cannot_be_taken_away() {
        let long = "x".repeat(99);
        let name = |digits: usize| {
            let digest = &super::hex_digest("s", &long)[..digits];
            format!("{}_{digest}", "x".repeat(64 - 9 - digits))
        };
        let thieves = DIGEST_LENGTHS.map(name);
        let mut tools: Vec<_> = thieves.iter().map(|tool| ("s", tool.as_str())).collect();
        for place in 0..=thieves.len() {
            tools.insert(place, ("s", &long));
            let names = assigned(&tools);
            assert_eq!(names[place], format!("mcp__s__{}", thieves[2]));
            assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len(), "{names:?}");
            tools.remove(place);
        }
    }

    #[test]
    fn colliding_servers_are_returned_in_groups() {
        assert_eq!(find_collisions(["b", "a.b", "a b", "c", "a.b"]), [["a b", "a.b"]]);
        assert!(find_collisions(["a", "a", "A"]).is_empty(), "the same server twice is one");
    }

    proptest! {
        #[test]
        fn names_are_unique_short_and_plain_whatever_the_order(
            tools in prop::collection::hash_set(
                ("[ab_. ]{0,3}|.{0,80}", "[ab_. ]{0,4}|\\PC{0,80}"), 0..40),
            limit in NameLimit::MIN..70,
            seed in any::<u64>(),
        ) {
            let limit = NameLimit::new(limit).expect("enough");
            let pairs: Vec<_> = tools.iter().map(|(s, t)| (s.as_str(), t.as_str())).collect();
            let names = assign_names(limit, &pairs);
            prop_assert_eq!(names.iter().collect::<HashSet<_>>().len(), pairs.len());
            for name in &names {
                prop_assert!(name.len() <= limit.characters(), "{}", name);
                prop_assert_eq!(&sanitize(name), name);
            }
            let by_tool: HashMap<_, _> = pairs.iter().zip(&names).collect();
            let mut shuffled = pairs.clone();
            shuffled.sort_by_key(|(s, t)| hex_digest(s, &format!("{t}{seed}")));
            for (pair, name) in shuffled.iter().zip(assign_names(limit, &shuffled)) {
                prop_assert_eq!(by_tool[pair], &name);
            }
        }
    }
}
