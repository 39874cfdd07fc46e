//! Asks the user at the terminal: fills in a form field by field, shows the URL of a
//! page, and takes the text of a model.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

use super::form::parse_fields;
use super::{Answer, QuestionKind};
use crate::host::{Roots, terminal_input};
use crate::output::{Printer, line};

/// The user at the terminal.
pub(crate) struct TerminalUser {
    input: BufReader<Box<dyn AsyncRead + Unpin + Send>>,
}

impl TerminalUser {
    pub(crate) fn new() -> TerminalUser {
        TerminalUser { input: BufReader::new(Box::new(terminal_input())) }
    }

    /// Asks the question. The end of input cancels it.
    pub(crate) async fn answer(
        &mut self,
        server: &str,
        kind: &QuestionKind,
        printer: &Printer,
    ) -> Answer {
        let open = printer.open_question();
        let answer = self.ask_for_answer(server, kind, printer).await;
        open.answered();
        answer
    }

    async fn ask_for_answer(
        &mut self,
        server: &str,
        kind: &QuestionKind,
        printer: &Printer,
    ) -> Answer {
        match kind {
            QuestionKind::Form { message, schema } => {
                printer.write_stderr(&format!("`{server}` asks: {}\n", line::clean(message))).await;
                self.fill_in_form(schema, printer).await
            }
            QuestionKind::Page { message, url } => {
                let (message, url) = (line::clean(message), line::clean(url));
                let text = format!("`{server}` asks to open a page: {message}\n  {url}\n");
                printer.write_stderr(&text).await;
                self.decide("opened? [y]es, [n]o, [c]ancel: ", Value::Null, printer).await
            }
            QuestionKind::Model { .. } => {
                printer.write_stderr(&render_model_request(server, kind)).await;
                match self.ask("the response (empty to decline): ", printer).await {
                    Some(text) if !text.trim().is_empty() => Answer::Text(text),
                    _ => Answer::Decline,
                }
            }
        }
    }

    /// Shows a request for a model, and asks for consent to send it.
    pub(crate) async fn confirm(
        &mut self,
        server: &str,
        kind: &QuestionKind,
        question: &str,
        printer: &Printer,
    ) -> bool {
        let open = printer.open_question();
        printer.write_stderr(&render_model_request(server, kind)).await;
        let input = self.ask(question, printer).await.unwrap_or_default();
        open.answered();
        ["y", "yes"].contains(&&*input.trim().to_ascii_lowercase())
    }

    /// Asks for the folders that the server may work in, one path in each line.
    pub(crate) async fn choose_folders(
        &mut self,
        server: &str,
        current_dir: &Path,
        printer: &Printer,
    ) -> Roots {
        let open = printer.open_question();
        let text = format!("`{server}` asks for the folders that it may work in (roots)\n");
        printer.write_stderr(&text).await;
        let mut folders = Vec::new();
        loop {
            match self.ask("  a folder (empty for no more): ", printer).await {
                Some(folder) if !folder.trim().is_empty() => {
                    let folder = PathBuf::from(folder.trim());
                    match Roots::from_folders(std::slice::from_ref(&folder), current_dir) {
                        Ok(_) => folders.push(folder),
                        Err(why) => printer.error(&why).await,
                    }
                }
                _ => break,
            }
        }
        open.answered();
        Roots::from_folders(&folders, current_dir).unwrap_or_default()
    }

    async fn fill_in_form(&mut self, schema: &Value, printer: &Printer) -> Answer {
        let mut content = Map::new();
        for field in parse_fields(schema) {
            let question = format!("  {}", line::clean(field.question().trim_end()));
            loop {
                let Some(input) = self.ask(&format!("{question} "), printer).await else {
                    return Answer::Cancel;
                };
                match field.parse(&input) {
                    Ok(value) => {
                        content.extend(value.map(|value| (field.name.clone(), value)));
                        break;
                    }
                    Err(why) => printer.error(&why).await,
                }
            }
        }
        let content = Value::Object(content);
        self.decide("send this? [Y]es, [n]o, [c]ancel: ", content, printer).await
    }

    /// Asks for yes, no or cancel. A form is sent by default. A page needs an explicit
    /// yes.
    async fn decide(&mut self, question: &str, content: Value, printer: &Printer) -> Answer {
        loop {
            let input = self.ask(question, printer).await;
            let input = input.map(|input| input.trim().to_ascii_lowercase());
            match input.as_deref() {
                None | Some("c" | "cancel") => return Answer::Cancel,
                Some("n" | "no") => return Answer::Decline,
                Some("y" | "yes") => return Answer::Accept(content),
                Some("") if !content.is_null() => return Answer::Accept(content),
                Some(_) => {}
            }
        }
    }

    async fn ask(&mut self, question: &str, printer: &Printer) -> Option<String> {
        printer.write_stderr(question).await;
        let mut line = Vec::new();
        match self.input.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => {
                // Ends the line of the question.
                printer.write_stderr("\n").await;
                None
            }
            Ok(_) => {
                let line = String::from_utf8_lossy(&line);
                Some(line.trim_end_matches(['\n', '\r']).to_owned())
            }
        }
    }
}

/// Renders the messages of a request for a model, each line with its role.
fn render_model_request(server: &str, kind: &QuestionKind) -> String {
    let mut text = format!("`{server}` asks for a model's response:\n");
    let QuestionKind::Model { system, messages, .. } = kind else { return text };
    let system = system.iter().map(|system| ("system", system));
    let messages = messages.iter().map(|(role, text)| (&**role, text));
    for (role, message) in system.chain(messages) {
        for line in message.lines() {
            text.push_str(&format!("  {}: {}\n", line::clean(role), line::clean(line)));
        }
    }
    text
}
