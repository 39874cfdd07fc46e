//! Answers the questions of the server during one request of a verb: with `--answer`, at the
//! terminal, or by declining them.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use clap::Args;
use serde_json::{Value, json};
use sparring_peer::ClientBuilder;
use sparring_peer::client::ServerRequest;
use sparring_wire::{ErrorObject, RawJson};

use super::{Answer, QuestionKind, TerminalUser, parse_answer, rejected_error};
use crate::command_error::CommandError;
use crate::connection::Connection;
use crate::environment::Environment;
use crate::host::Roots;
use crate::output::Printer;

/// The member of an answer to `roots/list`.
const ROOTS: &str = "roots";

/// The flag for the questions of the server.
#[derive(Args, Clone)]
#[group(skip)]
pub(crate) struct AnswerFlags {
    /// Answer the next question of the server; may be repeated. A JSON object fills in a form,
    /// a text answers as the model, `accept` confirms a page, `decline` and `cancel` refuse;
    /// {"roots":["DIR"]} answers roots/list [default: ask on a terminal, decline elsewhere]
    #[arg(long = "answer", value_name = "JSON", allow_hyphen_values = true)]
    answers: Vec<String>,

    #[arg(skip)]
    shared: Arc<Shared>,
}

/// The state that the handlers of all questions share.
#[derive(Default)]
struct Shared {
    /// The answers that are left.
    answers: Mutex<VecDeque<String>>,
    /// The result of `roots/list`, once a flag or the user has set it.
    roots: OnceLock<Value>,
    /// The user at the terminal, who answers one question at a time.
    user: OnceLock<tokio::sync::Mutex<TerminalUser>>,
    /// The server's name.
    server: OnceLock<String>,
    /// True once the request of the verb is sent.
    is_requested: AtomicBool,
    /// True if a flag answered questions.
    has_answers: AtomicBool,
    /// The current directory.
    folder: OnceLock<PathBuf>,
}

/// Declares that a client answers questions, for verbs whose requests cause none: a server
/// may list some tools only for such clients.
pub(crate) fn declare(client: ClientBuilder) -> ClientBuilder {
    let client = client
        .answer(ServerRequest::Roots, |_| async { Ok(json!({"roots": []})) })
        .answer(ServerRequest::Sampling, |_| async { Err(rejected_error()) })
        .answer(ServerRequest::Elicitation, |_| async { Ok(json!({"action": "decline"})) });
    client.optional_capability("elicitation", json!({"form": {}, "url": {}}))
}

impl AnswerFlags {
    /// Checks the answers. Asks the user for others if a user can be asked.
    ///
    /// # Errors
    /// When an answer names a folder that does not exist.
    pub(crate) fn prepare(&self, environment: &Environment) -> Result<(), CommandError> {
        let mut left = VecDeque::new();
        for answer in &self.answers {
            match parse_roots(answer, environment)? {
                Some(roots) => drop(self.shared.roots.set(roots)),
                None => left.push_back(answer.clone()),
            }
        }
        self.shared.has_answers.store(!left.is_empty(), Ordering::Relaxed);
        *self.shared.answers.lock().unwrap_or_else(PoisonError::into_inner) = left;
        let _ = self.shared.folder.set(environment.current_dir.clone());
        if environment.can_ask {
            let _ = self.shared.user.set(tokio::sync::Mutex::new(TerminalUser::new()));
        }
        Ok(())
    }

    /// Makes the client answer questions.
    pub(crate) fn configure(&self, client: ClientBuilder, printer: &Printer) -> ClientBuilder {
        let mut client = client
            .pause_timeouts_while_answering()
            .optional_capability("elicitation", json!({"form": {}, "url": {}}));
        for question in [ServerRequest::Elicitation, ServerRequest::Sampling] {
            let (shared, printer) = (Arc::clone(&self.shared), printer.clone());
            client = client.answer(question, move |params| {
                let (shared, printer) = (Arc::clone(&shared), printer.clone());
                async move { shared.answer(question, &params, &printer).await }
            });
        }
        // Some servers replace their own folders by the client's roots.
        if self.shared.roots.get().is_none() && self.shared.user.get().is_none() {
            return client;
        }
        let (shared, printer) = (Arc::clone(&self.shared), printer.clone());
        client.answer(ServerRequest::Roots, move |_| {
            let (shared, printer) = (Arc::clone(&shared), printer.clone());
            async move { Ok(shared.answer_roots(&printer).await) }
        })
    }

    /// Records that the request of the verb is sent. Questions before it are not about it.
    pub(crate) fn begin_request(&self, connection: &Connection<'_>) {
        let info = connection.client.session().and_then(|session| session.server_info.as_ref());
        let name = info.map(|info| info.name.clone()).filter(|name| !name.is_empty());
        let _ = self.shared.server.set(name.unwrap_or_else(|| "server".to_owned()));
        self.shared.is_requested.store(true, Ordering::Relaxed);
    }

    /// Prints a note if the server did not ask for all answers.
    pub(crate) async fn note_unused(&self, printer: &Printer) {
        let left = self.shared.answers.lock().unwrap_or_else(PoisonError::into_inner).len();
        if left > 0 {
            let what = if left == 1 { "1 --answer was" } else { &format!("{left} --answer were") };
            printer.note(&format!("{what} not used: the server did not ask")).await;
        }
    }
}

impl Shared {
    fn server(&self) -> &str {
        self.server.get().map_or("server", String::as_str)
    }

    async fn answer(
        &self,
        question: ServerRequest,
        params: &RawJson,
        printer: &Printer,
    ) -> Result<Value, ErrorObject> {
        let kind = QuestionKind::parse(question.method(), params)?;
        let next = self.answers.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let refused = match (&next, self.user.get()) {
            (Some(text), _) => match parse_answer(text, &kind) {
                Ok(answer) => return to_value(&kind, answer),
                Err(why) => format!("--answer {text}: {why}"),
            },
            (None, Some(user)) => {
                let answer = user.lock().await.answer(self.server(), &kind, printer).await;
                return to_value(&kind, answer);
            }
            (None, None) if self.has_answers.load(Ordering::Relaxed) => {
                "no --answer is left".to_owned()
            }
            (None, None) => format!("answer it with --answer {}", kind.example()),
        };
        let (server, message) = (self.server(), kind.message());
        printer.note(&format!("declined a question of `{server}`: {message}; {refused}")).await;
        to_value(&kind, Answer::Decline)
    }

    async fn answer_roots(&self, printer: &Printer) -> Value {
        if let Some(roots) = self.roots.get() {
            return roots.clone();
        }
        let no_roots = || json!({"roots": []});
        let Some(user) = self.user.get().filter(|_| self.is_requested.load(Ordering::Relaxed))
        else {
            return no_roots();
        };
        let mut user = user.lock().await;
        // Another request may have asked meanwhile. The user answers once.
        if let Some(roots) = self.roots.get() {
            return roots.clone();
        }
        let folder = self.folder.get().cloned().unwrap_or_default();
        let folders = user.choose_folders(self.server(), &folder, printer).await;
        self.roots.get_or_init(|| folders.value().unwrap_or_else(no_roots)).clone()
    }
}

fn to_value(kind: &QuestionKind, answer: Answer) -> Result<Value, ErrorObject> {
    kind.outcome(answer)?.view().deserialize().map_err(|why| ErrorObject::internal(why.to_string()))
}

/// Parses an answer to `roots/list`, or returns nothing if it is an answer to another
/// question. Paths of folders become URLs.
fn parse_roots(answer: &str, environment: &Environment) -> Result<Option<Value>, CommandError> {
    let Ok(Value::Object(object)) = serde_json::from_str::<Value>(answer) else { return Ok(None) };
    let Some(Value::Array(roots)) = object.get(ROOTS).filter(|_| object.len() == 1) else {
        return Ok(None);
    };
    let folders: Option<Vec<PathBuf>> =
        roots.iter().map(|root| root.as_str().map(PathBuf::from)).collect();
    match folders {
        // The user wrote the result of the method.
        None => Ok(Some(Value::Object(object))),
        Some(folders) => {
            let roots = Roots::from_folders(&folders, &environment.current_dir)
                .map_err(|why| CommandError::Usage(format!("--answer: {why}")))?;
            Ok(Some(roots.value().unwrap_or_else(|| json!({"roots": []}))))
        }
    }
}
