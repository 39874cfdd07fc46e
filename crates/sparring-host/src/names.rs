//! What servers and tools are called where many stand beside each other:
//! `mcp__server__tool`, in the characters that every model's API takes.
//!
//! A name is made and looked up, and never taken apart: what belongs to it
//! stands in the table of whoever gave it.

use std::collections::{BTreeMap, HashMap};

use ring::digest::{SHA256, digest};

/// How much of a digest stands behind a name that is not its tool's alone. The
/// next is taken only where the one before is not enough, which somebody must
/// have meant to happen.
const DIGITS: [usize; 3] = [8, 16, 32];

/// The longest name that a tool may get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit(usize);

impl Limit {
    /// The least that a limit can be: `mcp__`, a bit of a name, and a digest.
    pub const LEAST: usize = 48;

    /// Names of up to so many characters; `None` below [`Limit::LEAST`].
    pub fn new(characters: usize) -> Option<Limit> {
        (characters >= Limit::LEAST).then_some(Limit(characters))
    }

    /// How many characters.
    pub fn characters(self) -> usize {
        self.0
    }
}

/// 64, the most that OpenAI's API takes.
impl Default for Limit {
    fn default() -> Self {
        Limit(64)
    }
}

/// A name with `_` in place of every character but ASCII letters, digits, `_`
/// and `-`.
pub fn sanitized(name: &str) -> String {
    let kept = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    name.chars().map(|c| if kept(c) { c } else { '_' }).collect()
}

/// What a server's tool is called, if that is short enough and no other tool
/// is called so too; [`assign`] knows.
pub fn namespaced(server: &str, tool: &str) -> String {
    format!("mcp__{}__{}", sanitized(server), sanitized(tool))
}

/// What tells a server from others where its name cannot stand as it is.
pub(crate) fn label(server: &str) -> String {
    digits(server, "")[..DIGITS[0]].to_owned()
}

/// The servers that cannot be told apart once their names are sanitized, each
/// set of them together, in the order of the alphabet.
pub fn colliding<'a>(servers: impl IntoIterator<Item = &'a str>) -> Vec<Vec<&'a str>> {
    let mut sets = BTreeMap::<String, Vec<&str>>::new();
    for server in servers {
        let set = sets.entry(sanitized(server)).or_default();
        if !set.contains(&server) {
            set.push(server);
        }
    }
    let mut sets: Vec<_> = sets.into_values().filter(|set| set.len() > 1).collect();
    sets.iter_mut().for_each(|set| set.sort_unstable());
    sets
}

/// Names for tools, each given by its server and its own name, in the same
/// order. No two are equal as long as no two tools are.
///
/// A name that is too long, or that would be the name of two, gets a bit of the
/// digest of server and tool behind it; if it would be that of two, both get
/// one. So what a tool is called follows from which tools there are, and not
/// from who came first.
pub fn assign(limit: Limit, tools: &[(&str, &str)]) -> Vec<String> {
    let given = vec![Given::default(); tools.len()];
    let mut names = Names { limit, tools, given, claims: HashMap::new() };
    (0..tools.len()).for_each(|tool| names.claim(tool));
    names.given.into_iter().map(|given| given.name).collect()
}

/// The digest of a server and a tool, in hexadecimal digits.
fn digits(server: &str, tool: &str) -> String {
    // The length keeps `a` and `bc` from being `ab` and `c`.
    let mut text = (server.len() as u64).to_le_bytes().to_vec();
    text.extend_from_slice(server.as_bytes());
    text.extend_from_slice(tool.as_bytes());
    digest(&SHA256, &text).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

struct Names<'a> {
    limit: Limit,
    tools: &'a [(&'a str, &'a str)],
    given: Vec<Given>,
    /// By name: the tool that has it, or none once two wanted it.
    claims: HashMap<String, Option<usize>>,
}

/// What a tool has come to.
#[derive(Clone, Default)]
struct Given {
    /// How many of its names were not free: the first is without a digest, and
    /// each of the others has more of it than the one before.
    step: usize,
    name: String,
}

impl Names<'_> {
    /// Gives a tool the first of its names that no other has wanted, and others
    /// their next where they wanted the same. A name that two have wanted stays
    /// nobody's, so the order does not matter.
    fn claim(&mut self, tool: usize) {
        let mut waiting = vec![tool];
        while let Some(tool) = waiting.pop() {
            let name = self.name(tool);
            if name.len() > self.limit.0 {
                self.given[tool].step += 1;
                waiting.push(tool);
                continue;
            }
            let losers = match self.claims.get(&name).copied() {
                None => vec![],
                // The last name has so much of the digest that it is nobody
                // else's, whatever others called themselves to get it.
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
                    self.given[tool].name.clone_from(&name);
                    self.claims.insert(name, Some(tool));
                }
            }
            losers.iter().for_each(|loser| self.given[*loser].step += 1);
            waiting.extend(losers);
        }
    }

    fn is_last(&self, tool: usize) -> bool {
        self.given[tool].step == DIGITS.len()
    }

    /// The name that a tool wants next, which only without a digest can be too
    /// long.
    fn name(&self, index: usize) -> String {
        let (server, tool) = self.tools[index];
        let mut name = namespaced(server, tool);
        if let Some(step) = self.given[index].step.checked_sub(1) {
            name.truncate(self.limit.0 - 1 - DIGITS[step]);
            name.push('_');
            name.push_str(&digits(server, tool)[..DIGITS[step]]);
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
        assign(Limit::default(), tools)
    }

    #[test]
    fn a_name_says_server_and_tool() {
        assert_eq!(assigned(&[("filesystem", "read_file")]), ["mcp__filesystem__read_file"]);
    }

    #[test]
    fn other_characters_become_underscores() {
        let check = |name, expected: &str| assert_eq!(sanitized(name), expected);
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
        // It is the same on every machine and in every run.
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
        let wide = Limit::new(128).expect("enough");
        assert_eq!(assign(wide, &[("s", &long)]), [format!("mcp__s__{long}")]);
        assert_eq!(Limit::new(Limit::LEAST - 1), None);
    }

    #[test]
    fn a_tool_that_calls_itself_like_another_with_its_digest_does_not_get_its_name() {
        let long = "x".repeat(99);
        let stolen = assigned(&[("s", &long)]).remove(0);
        let thief = stolen.strip_prefix("mcp__s__").expect("the same server");
        let names = assigned(&[("s", &long), ("s", thief)]);
        assert!(!names.contains(&stolen), "{names:?}");
        // Of itself it has 8 digits, the other one now 16.
        assert_ne!(names[0], names[1]);
        assert_eq!(names[0].rsplit_once('_').expect("a digest").1.len(), 16);
    }

    #[test]
    fn tools_that_chase_each_others_names_come_to_an_end() {
        let mut tools = vec!["x".repeat(99)];
        for _ in 0..200 {
            let last = &tools[tools.len() - 1];
            tools.push(format!("{}_{}", &last[..64 - 17], &digits("s", last)[..8]));
        }
        let pairs: Vec<_> = tools.iter().map(|tool| ("s", tool.as_str())).collect();
        let names = assigned(&pairs);
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
        let backwards: Vec<_> = pairs.into_iter().rev().collect();
        assert_eq!(assigned(&backwards).into_iter().rev().collect::<Vec<_>>(), names);
    }

    #[test]
    fn with_all_of_its_digest_a_name_cannot_be_taken_away() {
        let long = "x".repeat(99);
        let name = |digits: usize| {
            let digest = &super::digits("s", &long)[..digits];
            format!("{}_{digest}", "x".repeat(64 - 9 - digits))
        };
        let thieves = DIGITS.map(name);
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
    fn servers_that_collide_are_told_in_sets() {
        assert_eq!(colliding(["b", "a.b", "a b", "c", "a.b"]), [["a b", "a.b"]]);
        assert!(colliding(["a", "a", "A"]).is_empty(), "the same server twice is one");
    }

    proptest! {
        #[test]
        fn names_are_unique_short_and_plain_whatever_the_order(
            tools in prop::collection::hash_set(
                ("[ab_. ]{0,3}|.{0,80}", "[ab_. ]{0,4}|\\PC{0,80}"), 0..40),
            limit in Limit::LEAST..70,
            seed in any::<u64>(),
        ) {
            let limit = Limit::new(limit).expect("enough");
            let pairs: Vec<_> = tools.iter().map(|(s, t)| (s.as_str(), t.as_str())).collect();
            let names = assign(limit, &pairs);
            prop_assert_eq!(names.iter().collect::<HashSet<_>>().len(), pairs.len());
            for name in &names {
                prop_assert!(name.len() <= limit.characters(), "{}", name);
                prop_assert_eq!(&sanitized(name), name);
            }
            let by_tool: HashMap<_, _> = pairs.iter().zip(&names).collect();
            let mut shuffled = pairs.clone();
            shuffled.sort_by_key(|(s, t)| digits(s, &format!("{t}{seed}")));
            for (pair, name) in shuffled.iter().zip(assign(limit, &shuffled)) {
                prop_assert_eq!(by_tool[pair], &name);
            }
        }
    }
}
