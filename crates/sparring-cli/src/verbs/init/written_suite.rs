//! The suite that `spar init` wrote for a server: runs it, and names the next command.

use std::collections::HashMap;

use serde_json::json;
use sparring_suite::RunContext;

use crate::command_error::CommandError;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::output::Printer;
use crate::signals::Signals;
use crate::verbs::{LastFailed, Test};

/// A suite on disk.
pub(super) struct WrittenSuite {
    /// Its path.
    pub(super) path: String,
    /// Its text.
    pub(super) text: String,
    /// The variables that it reads, with the values of the flags.
    pub(super) variables: Vec<(String, String)>,
}

impl WrittenSuite {
    /// Runs the suite and prints its tests.
    pub(super) async fn run(
        &self,
        printer: &Printer,
        environment: &Environment,
        signals: Signals,
    ) -> Result<Exit, CommandError> {
        let path = &self.path;
        if !printer.is_json() {
            printer.print(&format!("wrote {path}\n")).await?;
        }
        let mut variables: HashMap<String, String> =
            environment.variables.clone().into_iter().collect();
        let mut unset: Vec<String> = Vec::new();
        for (name, value) in &self.variables {
            if environment.variables.get(name) != Some(value) {
                unset.push(name.clone());
            }
            variables.insert(name.clone(), value.clone());
        }
        let unknown: Vec<String> = variables_in(&self.text)
            .into_iter()
            .filter(|name| !variables.contains_key(name))
            .collect();
        let exit = match unknown.is_empty() {
            true => {
                let context = RunContext {
                    program: "spar".into(),
                    variables,
                    proxies: environment.proxies.clone(),
                    secrets: printer.secrets().clone(),
                };
                let last_failed = LastFailed(environment.failed_tests_file.as_deref());
                let test = Test::of_file(path.into(), printer.is_json());
                test.run(printer, signals, &context, last_failed).await?
            }
            false => {
                let names = unknown.join(", ");
                printer.note(&format!("the suite did not run: it needs values for {names}")).await;
                Exit::Success
            }
        };
        unset.extend(unknown);
        match printer.is_json() {
            true => printer.print_json(&json!({"files": [path]})).await?,
            false => printer.print(&next_line(path, &unset)).await?,
        }
        Ok(exit)
    }
}

/// The line with the next command, and the variables that it needs.
pub(super) fn next_line(path: &str, variables: &[String]) -> String {
    let set: String = variables.iter().map(|name| format!("{name}=… ")).collect();
    let path = shlex::try_quote(path).unwrap_or_else(|_| path.into());
    format!("next: {set}spar test {path}\n")
}

/// The names of all variables in the text of a suite.
fn variables_in(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (at, _) in text.match_indices("${") {
        let name = text[at + 2..].split('}').next().unwrap_or_default();
        let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let is_escaped = text[..at].ends_with('$');
        if is_name && !is_escaped && !names.iter().any(|it| it == name) {
            names.push(name.to_owned());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_variables_of_a_suite() {
        let text = "a: ${KEY} ${KEY}\nb: \"$${no}\" ${OTHER_1}";
        assert_eq!(variables_in(text), ["KEY", "OTHER_1"]);
    }

    #[test]
    fn the_next_command_sets_the_variables_that_are_not_set() {
        let names = ["KEY".to_owned(), "TOKEN".to_owned()];
        assert_eq!(
            next_line("a b.spar.yaml", &names),
            "next: KEY=… TOKEN=… spar test 'a b.spar.yaml'\n"
        );
    }
}
