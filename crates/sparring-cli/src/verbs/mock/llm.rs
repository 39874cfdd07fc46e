//! `spar mock --llm`: a scripted LLM endpoint over HTTP.

use std::net::SocketAddr;
use std::path::Path;

use serde_json::json;
use sparring_mock::{LlmMock, LlmScript};

use super::Mock;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::journal::Journal;
use crate::output::Printer;
use crate::reloading::not_loaded;
use crate::signals::Signals;

impl Mock {
    /// Serves until a signal comes.
    pub(super) async fn run_llm(
        &self,
        script: &Path,
        printer: &Printer,
        mut signals: Signals,
    ) -> Result<Exit, Failure> {
        let (path, vars) = (script.to_owned(), self.vars.clone());
        let read = move || LlmScript::from_file(path, &vars);
        let script = signals.beside(read).await?.map_err(not_loaded)?;
        let summary = script.summary();
        if self.check {
            return self.tell_good(&summary, printer).await;
        }
        let journal = match &self.journal {
            Some(path) => Some(Journal::begin(path, &mut signals).await?),
            None => None,
        };
        let address = self.http.unwrap_or(SocketAddr::from(([127, 0, 0, 1], 0)));
        let llm = LlmMock::listen(script, address)
            .await
            .map_err(|error| Failure::Usage(format!("cannot listen on {address}: {error}")))?;
        if let Some(journal) = &journal {
            let lines = journal.lines();
            llm.on_request(move |request| lines.add(|| request.to_line()));
        }
        let told = match printer.json() {
            true => printer.print_json(&json!({"url": llm.url()})).await,
            false => printer.print(&format!("{}\n", llm.url())).await,
        };
        // Whoever does not want to know the URL may still come.
        told.or_else(Failure::unless_loud)?;
        printer.note(&format!("serving {summary}")).await;
        let signal = signals.next().await;
        drop(llm);
        if let Some(journal) = journal {
            journal.end().await?;
        }
        Err(Failure::Stopped(signal))
    }
}
