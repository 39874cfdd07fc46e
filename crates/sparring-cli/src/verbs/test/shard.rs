//! `--shard`: which part of the tests this machine runs, as it is said or as the
//! variables of a CI system say it.

use std::collections::HashMap;
use std::str::FromStr;

use sparring_suite::{NoShard, Shard};

/// How machines are told which of several they are: the variable, its first
/// number, and the variable that has how many there are.
const KNOWN: [(&str, usize, Option<&str>); 4] = [
    ("CI_NODE_INDEX", 1, Some("CI_NODE_TOTAL")),
    ("CIRCLE_NODE_INDEX", 0, Some("CIRCLE_NODE_TOTAL")),
    ("BUILDKITE_PARALLEL_JOB", 0, Some("BUILDKITE_PARALLEL_JOB_COUNT")),
    ("JOB_COMPLETION_INDEX", 0, None),
];

/// What `--shard` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// Which, and of how many.
    Given(Shard),
    /// The environment has it, but perhaps for of how many.
    Environment { of: Option<usize> },
}

impl FromStr for Part {
    type Err = NoShard;

    fn from_str(text: &str) -> Result<Part, NoShard> {
        let of = text.strip_prefix("auto/").and_then(|of| of.parse().ok()).filter(|of| *of > 0);
        match text {
            "auto" => Ok(Part::Environment { of: None }),
            _ if of.is_some() => Ok(Part::Environment { of }),
            _ => text.parse().map(Part::Given),
        }
    }
}

impl Part {
    /// The shard, with what the environment says.
    ///
    /// # Errors
    /// When the environment does not say it, or makes no sense.
    pub(super) fn shard(self, variables: &HashMap<String, String>) -> Result<Shard, String> {
        let of = match self {
            Part::Given(shard) => return Ok(shard),
            Part::Environment { of } => of,
        };
        let set = |name: &str| variables.get(name).filter(|value| !value.is_empty());
        let Some((index, first, total)) = KNOWN.into_iter().find(|known| set(known.0).is_some())
        else {
            let names: Vec<&str> = KNOWN.iter().map(|known| known.0).collect();
            return Err(format!("--shard auto needs one of {} to be set", names.join(", ")));
        };
        let number = |name: &str| {
            let value = set(name).ok_or_else(|| format!("{name} is not set"))?;
            value.parse::<usize>().map_err(|_| format!("{name} is no number: {value}"))
        };
        let of = match (of, total) {
            (Some(of), _) => of,
            (None, Some(total)) => number(total)?,
            (None, None) => {
                return Err(format!("{index} does not say of how many: --shard auto/N does"));
            }
        };
        let told = |error: NoShard| format!("{error}, as {index} has it");
        Shard::new((number(index)? + 1).saturating_sub(first), of).map_err(told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(flag: &str, variables: &[(&str, &str)], expected: Result<&str, &str>) {
        let variables = variables.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        let part: Part = flag.parse().unwrap();
        let found = part.shard(&variables.collect()).map(|shard| shard.to_string());
        assert_eq!(found.as_deref().map_err(|told| &**told), expected);
    }

    #[test]
    fn the_variables_of_ci_systems_are_known_with_their_first_number() {
        let gitlab = [("CI_NODE_INDEX", "2"), ("CI_NODE_TOTAL", "3")];
        check("auto", &gitlab, Ok("2/3"));
        check("auto/5", &gitlab, Ok("2/5"));
        check("1/5", &gitlab, Ok("1/5"));
        check("auto", &[("CIRCLE_NODE_INDEX", "2"), ("CIRCLE_NODE_TOTAL", "3")], Ok("3/3"));
        let buildkite = [("BUILDKITE_PARALLEL_JOB", "0"), ("BUILDKITE_PARALLEL_JOB_COUNT", "4")];
        check("auto", &buildkite, Ok("1/4"));
        check("auto/4", &[("JOB_COMPLETION_INDEX", "3")], Ok("4/4"));
    }

    #[test]
    fn what_the_environment_does_not_say_is_told() {
        let kubernetes = [("JOB_COMPLETION_INDEX", "3")];
        let told = "JOB_COMPLETION_INDEX does not say of how many: --shard auto/N does";
        check("auto", &kubernetes, Err(told));
        check(
            "auto/2",
            &kubernetes,
            Err("there is no shard 4 of 2, as JOB_COMPLETION_INDEX has it"),
        );
        check("auto", &[("CI_NODE_INDEX", "1")], Err("CI_NODE_TOTAL is not set"));
        let zero = [("CI_NODE_INDEX", "0"), ("CI_NODE_TOTAL", "3")];
        check("auto", &zero, Err("there is no shard 0 of 3, as CI_NODE_INDEX has it"));
        let odd = [("CI_NODE_INDEX", "x"), ("CI_NODE_TOTAL", "3")];
        check("auto", &odd, Err("CI_NODE_INDEX is no number: x"));
        let told = "--shard auto needs one of CI_NODE_INDEX, CIRCLE_NODE_INDEX, \
                    BUILDKITE_PARALLEL_JOB, JOB_COMPLETION_INDEX to be set";
        check("auto", &[], Err(told));
        assert!("auto/0".parse::<Part>().is_err());
    }
}
