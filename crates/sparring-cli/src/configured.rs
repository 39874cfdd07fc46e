//! The configured servers as the program finds them: which files there are here,
//! what fills their holes, and a server by its name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use sparring_host::config::{
    Ask, Config, Fault, Places, Question, Refusal, ServerConfig, Surroundings,
};
use sparring_transport::Target;

use crate::args::visitor;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::output::{Outlet, Printer};
use crate::prompt;

/// What stands around the name of a variable in a text that is not to be filled,
/// until it is put into a file: nobody writes these, and everybody keeps them.
const OPEN: char = '\u{f7a0}';
const CLOSE: char = '\u{f7a1}';

/// A configured server that somebody named.
pub(crate) struct Named {
    /// The server.
    pub(crate) server: ServerConfig,
    /// How to get to it, with nothing filled in; [`with_holes`] makes a text of
    /// it what its file says.
    pub(crate) unfilled: Target,
}

/// The inputs that somebody has given, by their ids.
pub(crate) type Known = Arc<Mutex<BTreeMap<String, String>>>;

/// The files that there may be.
pub(crate) fn places(environment: &Environment) -> Places {
    Places::find(environment.config.clone(), environment.home.clone(), &environment.here)
}

/// What decides what they mean, beside themselves.
pub(crate) fn surroundings(environment: &Environment, stderr: &Outlet, ask: Ask) -> Surroundings {
    Surroundings {
        variables: environment.variables.clone(),
        home: environment.home.clone(),
        trust: environment.trust.clone(),
        credentials: environment.credentials.clone(),
        visitor: visitor(stderr, environment.attended),
        proxies: environment.proxies.clone(),
        ask,
    }
}

/// Reads all files to look at them: nobody is asked for anything.
pub(crate) fn look(environment: &Environment, printer: &Printer) -> Config {
    let surroundings = surroundings(environment, printer.stderr(), Arc::new(unasked));
    Config::read(&places(environment), &surroundings)
}

/// The server of a name.
///
/// # Errors
/// When there is none, or it cannot be used.
pub(crate) async fn named(
    name: &str,
    environment: &Environment,
    printer: &Printer,
) -> Result<Named, Failure> {
    let names = [name.to_owned()].into();
    let ask = asking(names, Known::default(), environment.answers, printer.stderr());
    let (places, name) = (places(environment), name.to_owned());
    let surroundings = surroundings(environment, printer.stderr(), ask);
    // On a thread, so that a signal is heeded although nobody answers.
    let read = tokio::task::spawn_blocking(move || {
        let config = Config::read(&places, &surroundings);
        let server = config.by_consent(&name).cloned();
        let variables = surroundings.variables.into_keys();
        let unfilled = Surroundings {
            ask: Arc::new(|question| Some(format!("{OPEN}{}{CLOSE}", variable(&question.id)))),
            variables: variables
                .map(|name| (name.clone(), format!("{OPEN}{name}{CLOSE}")))
                .collect(),
            ..surroundings
        };
        let unfilled = Config::read(&places, &unfilled);
        let unfilled = unfilled.by_consent(&name).map(|server| server.target.clone());
        (config.faults, server, unfilled)
    });
    let (faults, server, unfilled) =
        read.await.map_err(|error| Failure::System(std::io::Error::other(error)))?;
    let server = server.map_err(|refusal| refused(refusal, &faults))?;
    for fault in &faults {
        let note = format!("{} cannot be used, and `spar config check` says why", file(fault));
        printer.note(&note).await;
    }
    let unfilled = unfilled.unwrap_or_else(|_| server.target.clone());
    Ok(Named { server, unfilled })
}

/// A text with the holes that stood in the file.
pub(crate) fn with_holes(text: &str) -> String {
    let encoded = |c: char| {
        let mut bytes = [0; 4];
        c.encode_utf8(&mut bytes).bytes().map(|byte| format!("%{byte:02X}")).collect::<String>()
    };
    let text = text.replace(&encoded(OPEN), "${").replace(&encoded(CLOSE), "}");
    text.replace(OPEN, "${").replace(CLOSE, "}")
}

/// The variable that stands for an input where there are none.
fn variable(id: &str) -> String {
    id.replace(|c: char| !c.is_ascii_alphanumeric(), "_").to_uppercase()
}

/// The file that something is wrong with.
pub(crate) fn file(fault: &Fault) -> String {
    match fault {
        Fault::Unreadable { file, .. } => file.display().to_string(),
        Fault::Wrong(problems) => problems.source().name().to_owned(),
    }
}

/// Why a server that was named cannot be had.
pub(crate) fn refused(refusal: Refusal, faults: &[Fault]) -> Failure {
    match refusal {
        Refusal::Broken(problems) => Failure::Script(vec![problems]),
        Refusal::Disabled { ref name, .. } => {
            Failure::Usage(format!("{refusal}; `spar config enable {name}` changes that"))
        }
        Refusal::Unknown { name, help } if !faults.is_empty() => {
            let files: Vec<String> = faults.iter().map(file).collect();
            let files = files.join(" and ");
            Failure::Usage(format!(
                "no server is called `{name}`; {files} cannot be used, and `spar config check` \
                 says why{help}"
            ))
        }
        refusal => Failure::Usage(refusal.to_string()),
    }
}

/// Asks for the inputs of these servers, each once, where somebody can be asked;
/// no other is started.
pub(crate) fn asking(names: BTreeSet<String>, known: Known, answers: bool, stderr: &Outlet) -> Ask {
    let stderr = stderr.clone();
    Arc::new(move |question| {
        if !names.contains(&question.server) {
            return unasked(question);
        }
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answer) = known.get(&question.id) {
            return Some(answer.clone());
        }
        let answer = answers.then(|| ask(question, &stderr)).flatten()?;
        known.insert(question.id.clone(), answer.clone());
        Some(answer)
    })
}

/// The answer of nobody.
pub(crate) fn unasked(question: &Question) -> Option<String> {
    Some(question.default.clone().unwrap_or_default())
}

fn ask(question: &Question, stderr: &Outlet) -> Option<String> {
    let mut text = question.description.clone();
    if text.is_empty() {
        text.clone_from(&question.id);
    }
    if !question.options.is_empty() {
        text = format!("{text} ({})", question.options.join(", "));
    }
    if let Some(default) = question.default.as_ref().filter(|_| !question.is_secret) {
        text = format!("{text} [{default}]");
    }
    loop {
        let answer = prompt::ask(stderr, &format!("{text}: "), question.is_secret)?;
        let answer = match (&question.default, answer.is_empty()) {
            (Some(default), true) => default.clone(),
            _ => answer,
        };
        if question.options.is_empty() || question.options.contains(&answer) {
            return Some(answer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_filled_is_a_hole_again() {
        let text = format!("{OPEN}A{CLOSE} http://h/%EF%9E%A0B%EF%9E%A1");
        assert_eq!(with_holes(&text), "${A} http://h/${B}");
    }
}
