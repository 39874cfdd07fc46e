//! `spar mock --llm`: serves a scripted LLM endpoint over HTTP.

use std::net::SocketAddr;
use std::path::Path;

use serde_json::json;
use sparring_mock::{LlmMock, LlmScript};

use super::journal_file::JournalFile;
use super::script_reloader::load_error;
use super::{Mock, note_accept_error};
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::output::Printer;
use crate::request_lines::print_llm_request;
use crate::signals::Signals;

impl Mock {
    /// Serves until a signal arrives.
    pub(super) async fn run_llm(
        &self,
        script: &Path,
        printer: &Printer,
        mut signals: Signals,
    ) -> Result<Exit, CommandError> {
        let (path, vars) = (script.to_owned(), self.vars.clone());
        let read = move || LlmScript::from_file(path, &vars);
        let script = signals.interruptible_blocking(read).await?.map_err(load_error)?;
        let summary = script.summary();
        if self.check {
            return self.print_valid(&summary, printer).await;
        }
        let journal = match &self.journal {
            Some(path) => Some(JournalFile::open(path, printer.secrets(), &mut signals).await?),
            None => None,
        };
        let address = self.http.unwrap_or(SocketAddr::from(([127, 0, 0, 1], 0)));
        let llm = LlmMock::listen(script, address)
            .await
            .map_err(|error| CommandError::Usage(format!("cannot listen on {address}: {error}")))?;
        let writer = journal.as_ref().map(JournalFile::writer);
        let lines = printer.clone();
        llm.on_request(move |request| {
            if let Some(writer) = &writer {
                writer.add(|| request.to_line());
            }
            print_llm_request(request, &lines);
        });
        let printed = match printer.is_json() {
            true => printer.print_json(&json!({"url": llm.url()})).await,
            false => printer.print(&format!("{}\n", llm.url())).await,
        };
        // Clients may connect even if the URL could not be printed.
        printed.or_else(CommandError::ignore_broken_pipe)?;
        printer.note(&format!("serving {summary}")).await;
        let signal = tokio::select! {
            signal = signals.next() => signal,
            never = note_accept_error(llm.accept_error(), printer) => match never {},
        };
        drop(llm);
        if let Some(journal) = journal {
            journal.finish().await?;
        }
        Ok(Exit::Stopped(signal))
    }
}
