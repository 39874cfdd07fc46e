//! `--shard`: the part of the tests that this machine runs, from the flag or from the
//! variables of a CI system.

use std::collections::HashMap;
use std::str::FromStr;

use sparring_suite::{InvalidShard, Shard};

/// The variables of CI systems: the index, its first number, and the variable with the
/// total.
const CI_VARIABLES: [(&str, usize, Option<&str>); 4] = [
    ("CI_NODE_INDEX", 1, Some("CI_NODE_TOTAL")),
    ("CIRCLE_NODE_INDEX", 0, Some("CIRCLE_NODE_TOTAL")),
    ("BUILDKITE_PARALLEL_JOB", 0, Some("BUILDKITE_PARALLEL_JOB_COUNT")),
    ("JOB_COMPLETION_INDEX", 0, None),
];

/// The value of `--shard`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ShardFlag {
    /// The index and the total.
    Explicit(Shard),
    /// The environment has the index. The total may be given.
    Environment { of: Option<usize> },
}

impl FromStr for ShardFlag {
    type Err = InvalidShard;

    fn from_str(text: &str) -> Result<ShardFlag, InvalidShard> {
        let of = text.strip_prefix("auto/").and_then(|of| of.parse().ok()).filter(|of| *of > 0);
        match text {
            "auto" => Ok(ShardFlag::Environment { of: None }),
            _ if of.is_some() => Ok(ShardFlag::Environment { of }),
            _ => text.parse().map(ShardFlag::Explicit),
        }
    }
}

impl ShardFlag {
    /// Returns the shard, with the values of the environment.
    ///
    /// # Errors
    /// When a variable is missing or invalid.
    pub(super) fn shard(self, variables: &HashMap<String, String>) -> Result<Shard, String> {
        let of = match self {
            ShardFlag::Explicit(shard) => return Ok(shard),
            ShardFlag::Environment { of } => of,
        };
        let set = |name: &str| variables.get(name).filter(|value| !value.is_empty());
        let Some((index, first, total)) =
            CI_VARIABLES.into_iter().find(|known| set(known.0).is_some())
        else {
            let names: Vec<&str> = CI_VARIABLES.iter().map(|known| known.0).collect();
            return Err(format!("--shard auto needs one of {} to be set", names.join(", ")));
        };
        let number = |name: &str| {
            let value = set(name).ok_or_else(|| format!("{name} is not set"))?;
            value.parse::<usize>().map_err(|_| format!("{name} is not a number: {value}"))
        };
        let of = match (of, total) {
            (Some(of), _) => of,
            (None, Some(total)) => number(total)?,
            (None, None) => {
                return Err(format!("{index} has no total; use --shard auto/N"));
            }
        };
        let message = |error: InvalidShard| format!("{error} (from {index})");
        Shard::new((number(index)? + 1).saturating_sub(first), of).map_err(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(flag: &str, variables: &[(&str, &str)], expected: Result<&str, &str>) {
        let variables = variables.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        let shard_flag: ShardFlag = flag.parse().unwrap();
        let found = shard_flag.shard(&variables.collect()).map(|shard| shard.to_string());
        assert_eq!(found.as_deref().map_err(|message| &**message), expected);
    }

    #[test]
    fn reads_the_variables_of_ci_systems_with_their_first_number() {
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
    fn reports_missing_and_invalid_variables() {
        let kubernetes = [("JOB_COMPLETION_INDEX", "3")];
        let message = "JOB_COMPLETION_INDEX has no total; use --shard auto/N";
        check("auto", &kubernetes, Err(message));
        check("auto/2", &kubernetes, Err("no shard 4 of 2 (from JOB_COMPLETION_INDEX)"));
        check("auto", &[("CI_NODE_INDEX", "1")], Err("CI_NODE_TOTAL is not set"));
        let zero = [("CI_NODE_INDEX", "0"), ("CI_NODE_TOTAL", "3")];
        check("auto", &zero, Err("no shard 0 of 3 (from CI_NODE_INDEX)"));
        let odd = [("CI_NODE_INDEX", "x"), ("CI_NODE_TOTAL", "3")];
        check("auto", &odd, Err("CI_NODE_INDEX is not a number: x"));
        let message = "--shard auto needs one of CI_NODE_INDEX, CIRCLE_NODE_INDEX, \
                    BUILDKITE_PARALLEL_JOB, JOB_COMPLETION_INDEX to be set";
        check("auto", &[], Err(message));
        assert!("auto/0".parse::<ShardFlag>().is_err());
    }
}
