//! What a child gets of our environment, where that is not all of it.

use std::ffi::{OsStr, OsString};

/// The variables of these names; a `*` at the end of one stands for any end.
pub(super) fn named(
    names: &[String],
    variables: impl Iterator<Item = (OsString, OsString)>,
) -> impl Iterator<Item = (OsString, OsString)> {
    variables.filter(move |(variable, _)| names.iter().any(|name| is_named(variable, name)))
}

fn is_named(variable: &OsStr, name: &str) -> bool {
    let Some(variable) = variable.to_str() else { return false };
    match name.strip_suffix('*') {
        Some(start) => {
            variable.get(..start.len()).is_some_and(|beginning| is_same(beginning, start))
        }
        None => is_same(variable, name),
    }
}

/// On Windows, `Path` is `PATH`.
fn is_same(one: &str, other: &str) -> bool {
    match cfg!(windows) {
        true => one.eq_ignore_ascii_case(other),
        false => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_named_is_passed_on() {
        let ours = ["PATH=/bin", "LC_ALL=C", "LCX=1", "TOKEN=hunter2", "PATHS=x", "L=1"];
        let pairs = ours.iter().filter_map(|pair| pair.split_once('='));
        let pairs = pairs.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let names = ["PATH", "LC_*", "HOME"].map(str::to_owned);
        let passed: Vec<_> = named(&names, pairs).map(|(name, _)| name).collect();
        assert_eq!(passed, ["PATH", "LC_ALL"]);
    }
}
