//! The command lines that a report shows, made from the command line of the check.

use std::borrow::Cow;
use std::ffi::OsString;

use sparring_wire::{Revision, Rule};

/// The flags that a repeated check sets itself or leaves out: those with a value, and those
/// without.
const OWN_VALUES: [&str; 8] =
    ["--only", "--skip", "--level", "--protocol", "--report", "--baseline", "--trace", "--color"];
const OWN_SWITCHES: [&str; 8] =
    ["--json", "--strict", "--accept", "--verbose", "-v", "--quiet", "-q", "--show-stderr"];

/// The flags that only `check` has, with a value or without.
const CHECK_VALUES: [&str; 6] =
    ["--call", "--with", "--rule-timeout", "--seed", "--cases", "--max-tokens"];
const CHECK_SWITCHES: [&str; 1] = ["--no-call"];

/// The words of the command line.
#[derive(Debug, Clone, Default)]
pub(super) struct RepeatCommand {
    /// The flags after the verb, each with its value.
    flags: Vec<Vec<String>>,
    /// `--` and the command after it.
    command: Vec<String>,
}

impl RepeatCommand {
    /// Reads the whole command line, beginning with the program and the verb.
    pub(super) fn from_words(words: &[OsString]) -> RepeatCommand {
        let words = words.iter().skip(2).map(|word| word.to_string_lossy().into_owned());
        let words: Vec<String> = words.collect();
        let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
        let (flags, command) = words.split_at(end);
        let mut groups: Vec<Vec<String>> = Vec::new();
        for word in flags {
            match groups.last_mut().filter(|_| !word.starts_with('-')) {
                Some(group) => group.push(word.clone()),
                None => groups.push(vec![word.clone()]),
            }
        }
        RepeatCommand { flags: groups, command: command.to_vec() }
    }

    /// Returns the command that checks only this rule, in one of these revisions.
    pub(super) fn for_rule(&self, rule: Rule, revisions: &[Revision]) -> String {
        let mut words: Vec<&str> = vec!["spar", "check", "--only", rule.id()];
        if let Some(revision) = revisions.last() {
            words.extend(["--protocol", revision.name()]);
        }
        words.extend(self.flags_without(&OWN_VALUES, &OWN_SWITCHES));
        words.extend(self.command.iter().map(String::as_str));
        join(&words)
    }

    /// Returns the words of the server's command.
    pub(super) fn command_words(&self) -> impl Iterator<Item = &str> {
        self.command.iter().skip(1).map(String::as_str)
    }

    /// Returns the arguments that name the server.
    pub(super) fn target_arguments(&self) -> String {
        let values = [&OWN_VALUES[..], &CHECK_VALUES].concat();
        let switches = [&OWN_SWITCHES[..], &CHECK_SWITCHES].concat();
        let mut words = self.flags_without(&values, &switches);
        words.extend(self.command.iter().map(String::as_str));
        join(&words)
    }

    fn flags_without(&self, values: &[&str], switches: &[&str]) -> Vec<&str> {
        let is_kept = |group: &&Vec<String>| {
            let name = group[0].split('=').next().unwrap_or_default();
            !values.contains(&name) && !switches.contains(&name)
        };
        self.flags.iter().filter(is_kept).flatten().map(String::as_str).collect()
    }
}

fn join(words: &[&str]) -> String {
    words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
}

/// Quotes a word for a shell, if it needs quotes.
fn quote(word: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.into(),
        false => shlex::try_quote(word).unwrap_or_else(|_| word.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(line: &str) -> RepeatCommand {
        let words = shlex::split(line).unwrap();
        RepeatCommand::from_words(&words.into_iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn repeats_a_rule_with_the_flags_of_the_target() {
        let command = command(
            "spar check --strict --protocol 2025-06-18 --call all --report=junit=a.xml \
             --level must --cwd 'my folder' -v -- python server.py --only x",
        );
        assert_eq!(
            command.for_rule(Rule::NotJson, &[Revision::V2025_11_25]),
            "spar check --only wire/not-json --protocol 2025-11-25 --call all --cwd 'my folder' \
             -- python server.py --only x"
        );
        assert_eq!(command.target_arguments(), "--cwd 'my folder' -- python server.py --only x");
    }
}
