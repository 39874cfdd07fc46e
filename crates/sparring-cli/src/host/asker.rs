//! Who is asked whether a tool may be called: whoever sits before the terminal.

use std::sync::Arc;

use sparring_host::permissions::{Asker, Prompt};
use tokio::io::BufReader;

use crate::environment::Environment;
use crate::output::Printer;

/// Asks at the terminal; nobody where there is none.
pub(crate) fn terminal(environment: &Environment, printer: &Printer) -> Option<Arc<dyn Asker>> {
    let answers = || BufReader::new(tokio::io::stdin());
    environment.answers.then(|| Arc::new(Prompt::new(answers(), printer.stderr().clone())) as _)
}
