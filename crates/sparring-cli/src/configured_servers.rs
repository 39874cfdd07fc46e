//! The configured servers: finds the config files, fills in their inputs, and finds a
//! server by name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use sparring_host::config::{
    Config, ConfigContext, ConfigLocations, FileProblem, InputPrompt, InputQuestion, LookupError,
    Rules, ServerConfig,
};
use sparring_host::permissions::Permissions;
use sparring_transport::{Secrets, Target};

use crate::args::login_page_opener;
use crate::command_error::CommandError;
use crate::environment::Environment;
use crate::output::{Printer, ThreadedWriter};
use crate::terminal_prompt;

/// Markers around the name of a variable that is not filled in. They are private-use
/// characters, so no file contains them and every parser keeps them.
const VARIABLE_START: char = '\u{f7a0}';
const VARIABLE_END: char = '\u{f7a1}';

/// A configured server that was selected by name.
pub(crate) struct NamedServer {
    pub(crate) server: ServerConfig,
    /// The target with variables instead of their values; [`restore_variables`] restores
    /// the text of the file.
    pub(crate) template: Target,
    /// The rules of all files for its tools.
    pub(crate) permissions: Permissions,
}

/// The inputs that were answered, by id.
pub(crate) type KnownInputs = Arc<Mutex<BTreeMap<String, String>>>;

/// Returns the config files that may exist.
pub(crate) fn config_locations(environment: &Environment) -> ConfigLocations {
    ConfigLocations::find(
        environment.user_config_file.clone(),
        environment.home.clone(),
        &environment.current_dir,
    )
}

/// Returns the context of config files: everything that they depend on besides their own text.
pub(crate) fn config_context(
    environment: &Environment,
    stderr: &ThreadedWriter,
    ask: InputPrompt,
) -> ConfigContext {
    ConfigContext {
        variables: environment.variables.clone(),
        home: environment.home.clone(),
        trust: environment.trust_file.clone(),
        credentials: environment.credentials_file.clone(),
        browser: login_page_opener(stderr, environment.has_terminal),
        proxies: environment.proxies.clone(),
        ask,
        secrets: stderr.secrets().clone(),
    }
}

/// Reads all config files without asking for inputs.
pub(crate) fn read_without_asking(environment: &Environment, printer: &Printer) -> Config {
    let context = config_context(environment, printer.stderr(), Arc::new(default_answer));
    Config::read(&config_locations(environment), &context)
}

/// Reads all config files, and asks for the inputs of the servers that can be connected.
///
/// # Errors
/// When the reading thread fails.
pub(crate) async fn read_ready(
    environment: &Environment,
    printer: &Printer,
) -> Result<Config, CommandError> {
    let config = read_without_asking(environment, printer);
    let names = config.ready().map(|server| server.name.clone()).collect();
    let ask = input_asker(names, KnownInputs::default(), environment.can_ask, printer.stderr());
    let locations = config_locations(environment);
    let context = config_context(environment, printer.stderr(), ask);
    // On a thread, so that a signal can interrupt a question.
    let read = tokio::task::spawn_blocking(move || Config::read(&locations, &context));
    read.await.map_err(|error| CommandError::System(std::io::Error::other(error)))
}

/// Returns the server with this name.
///
/// # Errors
/// When no such server is configured, or it cannot be used.
pub(crate) async fn find_server(
    name: &str,
    environment: &Environment,
    printer: &Printer,
) -> Result<NamedServer, CommandError> {
    let names = [name.to_owned()].into();
    let ask = input_asker(names, KnownInputs::default(), environment.can_ask, printer.stderr());
    let (locations, name) = (config_locations(environment), name.to_owned());
    let context = config_context(environment, printer.stderr(), ask);
    // On a thread, so that a signal can interrupt a question.
    let read = tokio::task::spawn_blocking(move || {
        let config = Config::read(&locations, &context);
        let server = config.server_by_name(&name).cloned();
        // Problems of rules are errors of `spar config check`.
        let (permissions, _) =
            Permissions::for_servers(&config, Rules::default(), server.as_ref().ok());
        let variables = context.variables.into_keys();
        let template = ConfigContext {
            ask: Arc::new(|question| {
                Some(format!("{VARIABLE_START}{}{VARIABLE_END}", variable_for_input(&question.id)))
            }),
            variables: variables
                .map(|name| (name.clone(), format!("{VARIABLE_START}{name}{VARIABLE_END}")))
                .collect(),
            // The names of variables are no secrets.
            secrets: Secrets::default(),
            ..context
        };
        let template = Config::read(&locations, &template);
        let template = template.server_by_name(&name).map(|server| server.target.clone());
        (config.faults, server, template, permissions)
    });
    let (faults, server, template, permissions) =
        read.await.map_err(|error| CommandError::System(std::io::Error::other(error)))?;
    let server = server.map_err(|refusal| refusal_error(refusal, &faults))?;
    for fault in &faults {
        let note =
            format!("{} is ignored because of errors; run `spar config check`", fault_file(fault));
        printer.note(&note).await;
    }
    let template = template.unwrap_or_else(|_| server.target.clone());
    Ok(NamedServer { server, template, permissions })
}

/// Replaces the markers with `${…}`, as in the file.
pub(crate) fn restore_variables(text: &str) -> String {
    let encoded = |c: char| {
        let mut bytes = [0; 4];
        c.encode_utf8(&mut bytes).bytes().map(|byte| format!("%{byte:02X}")).collect::<String>()
    };
    let text = text.replace(&encoded(VARIABLE_START), "${").replace(&encoded(VARIABLE_END), "}");
    text.replace(VARIABLE_START, "${").replace(VARIABLE_END, "}")
}

/// Returns the environment variable that stands for an input in a file without inputs.
fn variable_for_input(id: &str) -> String {
    id.replace(|c: char| !c.is_ascii_alphanumeric(), "_").to_uppercase()
}

/// Returns the path of the file with the fault.
pub(crate) fn fault_file(fault: &FileProblem) -> String {
    match fault {
        FileProblem::Unreadable { file, .. } => file.display().to_string(),
        FileProblem::Invalid(problems) => problems.source().name().to_owned(),
    }
}

/// Returns the error for a named server that cannot be used.
pub(crate) fn refusal_error(refusal: LookupError, faults: &[FileProblem]) -> CommandError {
    match refusal {
        LookupError::Invalid(problems) => CommandError::Script(vec![problems]),
        LookupError::Disabled { ref name, .. } => {
            CommandError::Usage(format!("{refusal}; enable it with `spar config enable {name}`"))
        }
        LookupError::Unknown { name, help } if !faults.is_empty() => {
            let files: Vec<String> = faults.iter().map(fault_file).collect();
            let files = files.join(" and ");
            CommandError::Usage(format!(
                "no server named `{name}`; {files} is ignored because of errors; run `spar config \
                 check`{help}"
            ))
        }
        refusal => CommandError::Usage(refusal.to_string()),
    }
}

/// Asks for the inputs of these servers, each once, if a user can be asked. Other servers
/// are not started and get default answers.
pub(crate) fn input_asker(
    names: BTreeSet<String>,
    known: KnownInputs,
    answers: bool,
    stderr: &ThreadedWriter,
) -> InputPrompt {
    let stderr = stderr.clone();
    Arc::new(move |question| {
        if !names.contains(&question.server) {
            return default_answer(question);
        }
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answer) = known.get(&question.id) {
            return Some(answer.clone());
        }
        let answer = answers.then(|| ask_for_input(question, &stderr)).flatten()?;
        known.insert(question.id.clone(), answer.clone());
        Some(answer)
    })
}

/// Returns the default without asking.
pub(crate) fn default_answer(question: &InputQuestion) -> Option<String> {
    Some(question.default.clone().unwrap_or_default())
}

fn ask_for_input(question: &InputQuestion, stderr: &ThreadedWriter) -> Option<String> {
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
        let answer = terminal_prompt::ask(stderr, &format!("{text}: "), question.is_secret)?;
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
    fn restores_variables_from_their_markers() {
        let text = format!("{VARIABLE_START}A{VARIABLE_END} http://h/%EF%9E%A0B%EF%9E%A1");
        assert_eq!(restore_variables(&text), "${A} http://h/${B}");
    }
}
