//! Asks whoever sits before the terminal: a form field by field, a page by its
//! address, and what a model would say.

use serde_json::{Map, Value};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

use super::{Said, What};
use crate::host::{fields, typed};
use crate::output::{Printer, line};

/// Whoever sits before the terminal.
pub(in super::super) struct Person {
    typed: BufReader<Box<dyn AsyncRead + Unpin>>,
}

impl Person {
    pub(in super::super) fn new() -> Person {
        Person { typed: BufReader::new(Box::new(typed())) }
    }

    /// Asks. Whoever ends the input gives no answer.
    pub(in super::super) async fn answer(
        &mut self,
        server: &str,
        what: &What,
        printer: &Printer,
    ) -> Said {
        match what {
            What::Form { message, schema } => {
                printer.notice(&format!("`{server}` asks: {}\n", line::clean(message))).await;
                self.fill_in(schema, printer).await
            }
            What::Page { message, url } => {
                let (message, url) = (line::clean(message), line::clean(url));
                let text = format!("`{server}` wants a page to be opened: {message}\n  {url}\n");
                printer.notice(&text).await;
                self.decide("have you opened it? [y]es, [n]o, [c]ancel: ", Value::Null, printer)
                    .await
            }
            What::Model { system, messages } => {
                let mut text = format!("`{server}` asks for what a model would say:\n");
                for said in system.iter().flat_map(|system| system.lines()) {
                    text.push_str(&format!("  system: {}\n", line::clean(said)));
                }
                for (role, said) in messages {
                    for said in said.lines() {
                        text.push_str(&format!("  {}: {}\n", line::clean(role), line::clean(said)));
                    }
                }
                printer.notice(&text).await;
                match self.ask("what it says, or nothing to decline: ", printer).await {
                    Some(text) if !text.trim().is_empty() => Said::Text(text),
                    _ => Said::Decline,
                }
            }
        }
    }

    async fn fill_in(&mut self, schema: &Value, printer: &Printer) -> Said {
        let mut content = Map::new();
        for field in fields(schema) {
            let question = format!("  {}", line::clean(field.question().trim_end()));
            loop {
                let Some(typed) = self.ask(&format!("{question} "), printer).await else {
                    return Said::Cancel;
                };
                match field.read(&typed) {
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

    /// Yes with that, or no, or neither. A form that was filled in is sent unless
    /// somebody says otherwise; a page counts only if somebody says so.
    async fn decide(&mut self, question: &str, content: Value, printer: &Printer) -> Said {
        loop {
            let typed = self.ask(question, printer).await;
            let typed = typed.map(|typed| typed.trim().to_ascii_lowercase());
            match typed.as_deref() {
                None | Some("c" | "cancel") => return Said::Cancel,
                Some("n" | "no") => return Said::Decline,
                Some("y" | "yes") => return Said::Accept(content),
                Some("") if !content.is_null() => return Said::Accept(content),
                Some(_) => {}
            }
        }
    }

    async fn ask(&mut self, question: &str, printer: &Printer) -> Option<String> {
        printer.notice(question).await;
        let mut line = Vec::new();
        match self.typed.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => {
                // What follows stands on a line of its own.
                printer.notice("\n").await;
                None
            }
            Ok(_) => {
                let line = String::from_utf8_lossy(&line);
                Some(line.trim_end_matches(['\n', '\r']).to_owned())
            }
        }
    }
}
