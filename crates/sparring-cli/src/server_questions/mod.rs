//! The events of a request before its response: progress, and questions of the server.
//!
//! A question belongs to a request, so the user sees which server asks. A question
//! outside of a request is declined.

mod answer_flags;
mod form;
mod script_answer;
mod terminal_user;

use std::pin::Pin;
use std::sync::Arc;

use serde_json::{Value, json};
use sparring_host::manager::Manager;
use sparring_host::registry::{CallError, Caller, Route};
use sparring_peer::ClientBuilder;
use sparring_peer::client::{
    Progress, RequestBuilder, Response, ServerRequest, ServerRequestHandler,
};
use sparring_suite::scaffold::sample_answer;
use sparring_wire::{ErrorObject, RawJson};
use tokio::sync::{mpsc, oneshot};

pub(crate) use answer_flags::{AnswerFlags, declare};
pub(crate) use script_answer::{AnswerLine, parse_answer, parse_answer_line};
pub(crate) use terminal_user::TerminalUser;

/// The error code for a rejected sampling request (client/sampling#error-handling).
const REJECTED: i64 = -1;

/// An event of a request before its response.
pub(crate) enum RequestEvent {
    Progress(Progress),
    Question(ServerQuestion),
}

/// A question that a server asks during a request.
pub(crate) struct ServerQuestion {
    /// The server that asks.
    pub(crate) server: Arc<str>,
    pub(crate) kind: QuestionKind,
    /// Closed when the server withdraws the question.
    pub(crate) reply: oneshot::Sender<AnswerResult>,
}

/// The kinds of questions.
#[derive(Debug, PartialEq)]
pub(crate) enum QuestionKind {
    /// Fill in a form.
    Form { message: String, schema: Value },
    /// Open a page.
    Page { message: String, url: String },
    /// Answer as the model.
    Model {
        system: Option<String>,
        /// Role and text of each message.
        messages: Vec<(String, String)>,
        max_tokens: Option<u32>,
    },
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    /// The fields of a form, or null for a page.
    Accept(Value),
    /// The model's text.
    Text(String),
    Decline,
    Cancel,
}

pub(crate) type AnswerResult = Result<RawJson, ErrorObject>;

/// Sends requests and forwards their questions and progress.
#[derive(Clone)]
pub(crate) struct InteractiveRequests {
    manager: Manager,
    /// The result of `roots/list`.
    roots: Option<RawJson>,
    events: mpsc::UnboundedSender<RequestEvent>,
}

/// Configures the clients of a shell.
pub(crate) fn client(client: ClientBuilder) -> ClientBuilder {
    client
        .pause_timeouts_while_answering()
        .answer(ServerRequest::Elicitation, |_| async { Ok(json!({"action": "decline"})) })
        .answer(ServerRequest::Sampling, |_| async { Err(rejected_error()) })
        .optional_capability("elicitation", json!({"form": {}, "url": {}}))
}

impl InteractiveRequests {
    pub(crate) fn new(
        manager: Manager,
        roots: Option<RawJson>,
    ) -> (InteractiveRequests, mpsc::UnboundedReceiver<RequestEvent>) {
        let (events, receiver) = mpsc::unbounded_channel();
        (InteractiveRequests { manager, roots, events }, receiver)
    }

    /// Prepares a request to this server, with its questions and progress.
    pub(crate) fn prepare(&self, server: &Arc<str>, request: RequestBuilder) -> RequestBuilder {
        let (events, server) = (self.events.clone(), Arc::clone(server));
        // Nothing receives the events when the shell ends.
        let request = request.on_progress({
            let events = events.clone();
            move |progress| drop(events.send(RequestEvent::Progress(progress)))
        });
        // One user answers one question at a time.
        let roots = self.roots.clone();
        let forwarder = QuestionForwarder { events, server, roots };
        request.with_server_request_handler(1, Arc::new(forwarder))
    }
}

/// Forwards the questions of a server.
struct QuestionForwarder {
    events: mpsc::UnboundedSender<RequestEvent>,
    server: Arc<str>,
    roots: Option<RawJson>,
}

impl ServerRequestHandler for QuestionForwarder {
    fn answer(
        &self,
        method: &str,
        params: RawJson,
    ) -> Pin<Box<dyn Future<Output = AnswerResult> + Send>> {
        if let Some(roots) = self.roots.clone().filter(|_| method == ServerRequest::Roots.method())
        {
            return Box::pin(std::future::ready(Ok(roots)));
        }
        let (reply, answer) = oneshot::channel();
        let asked = QuestionKind::parse(method, &params).map(|kind| {
            let asked = ServerQuestion { server: Arc::clone(&self.server), kind, reply };
            let _ = self.events.send(RequestEvent::Question(asked));
        });
        Box::pin(async move {
            asked?;
            answer.await.unwrap_or_else(|_| Err(ErrorObject::internal("no user to answer")))
        })
    }
}

impl Caller for InteractiveRequests {
    type Answer = Response;
    type Error = CallError;

    async fn call(&self, route: &Route, arguments: RawJson) -> Result<Response, CallError> {
        let connection = self.manager.connection_for(route)?;
        let request = connection.call_tool(&route.tool.name, arguments);
        let called = self.prepare(&route.server, request).await;
        called.map_err(|error| CallError::Failed { server: Arc::clone(&route.server), error })
    }
}

impl QuestionKind {
    pub(crate) fn parse(method: &str, params: &RawJson) -> Result<QuestionKind, ErrorObject> {
        let params: Value = params.view().deserialize().map_err(|why| {
            ErrorObject::invalid_params(format!("invalid params of {method}: {why}"))
        })?;
        let text = |name: &str| params[name].as_str().map(str::to_owned);
        let message = text("message").unwrap_or_default();
        match method {
            "elicitation/create" if params["mode"] == "url" => {
                let url = text("url");
                let url = url.ok_or_else(|| ErrorObject::invalid_params("url: expected a string"));
                Ok(QuestionKind::Page { message, url: url? })
            }
            "elicitation/create" => {
                Ok(QuestionKind::Form { message, schema: params["requestedSchema"].clone() })
            }
            "sampling/createMessage" => {
                let messages = params["messages"].as_array().into_iter().flatten();
                let messages = messages.map(|message| {
                    let role = message["role"].as_str().unwrap_or_default().to_owned();
                    (role, render_content(&message["content"]))
                });
                Ok(QuestionKind::Model {
                    system: text("systemPrompt"),
                    messages: messages.collect(),
                    max_tokens: params["maxTokens"].as_u64().and_then(|it| it.try_into().ok()),
                })
            }
            _ => Err(ErrorObject::method_not_found(method)),
        }
    }

    /// The question in one line.
    pub(crate) fn message(&self) -> &str {
        match self {
            QuestionKind::Form { message, .. } | QuestionKind::Page { message, .. } => message,
            QuestionKind::Model { messages, .. } => {
                messages.last().map_or("a request for a model", |(_, text)| text)
            }
        }
    }

    /// An example of an answer, quoted for a shell.
    pub(crate) fn example(&self) -> String {
        match self {
            QuestionKind::Form { schema, .. } => {
                let answer = sample_answer(
                    ServerRequest::Elicitation,
                    &json!({"mode": "form", "requestedSchema": schema}),
                );
                format!("'{}'", answer["content"].to_string().replace('\'', "'\\''"))
            }
            QuestionKind::Page { .. } => "accept".to_owned(),
            QuestionKind::Model { .. } => "TEXT".to_owned(),
        }
    }

    /// Returns the response to the server for an answer.
    pub(crate) fn outcome(&self, answer: Answer) -> AnswerResult {
        let result = match (self, answer) {
            (QuestionKind::Model { .. }, Answer::Text(text)) => json!({
                "role": "assistant",
                "content": {"type": "text", "text": text},
                "model": "person",
                "stopReason": "endTurn",
            }),
            (QuestionKind::Model { .. }, _) => return Err(rejected_error()),
            (QuestionKind::Page { .. }, Answer::Accept(_)) => json!({"action": "accept"}),
            (QuestionKind::Form { .. }, Answer::Accept(content)) => {
                json!({"action": "accept", "content": content})
            }
            (_, Answer::Cancel) => json!({"action": "cancel"}),
            (_, Answer::Decline | Answer::Text(_)) => json!({"action": "decline"}),
        };
        Ok(result.into())
    }
}

/// Renders progress in one line.
pub(crate) fn render_progress(progress: &Progress) -> String {
    let far = match progress.total {
        Some(total) => format!("{} of {total}", progress.progress),
        None => progress.progress.to_string(),
    };
    match &progress.message {
        Some(message) => format!("{far}: {message}"),
        None => far,
    }
}

pub(crate) fn rejected_error() -> ErrorObject {
    ErrorObject::new(REJECTED, "the user rejected the request")
}

/// Renders the text of a message, and the types of its other content.
fn render_content(content: &Value) -> String {
    let blocks = match content {
        Value::Array(blocks) => blocks.as_slice(),
        block => std::slice::from_ref(block),
    };
    let each = blocks.iter().map(|block| match block["text"].as_str() {
        Some(text) => text.to_owned(),
        None => format!("({})", block["type"].as_str().unwrap_or("nothing")),
    });
    each.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(method: &str, params: Value) -> QuestionKind {
        QuestionKind::parse(method, &params.into()).unwrap()
    }

    #[test]
    fn an_answer_becomes_the_result_of_its_question() {
        let form = parse("elicitation/create", json!({"message": "Who?", "requestedSchema": {}}));
        let page = parse("elicitation/create", json!({"mode": "url", "url": "https://a.test/"}));
        let text = json!({"type": "text", "text": "Hello"});
        let messages = json!([{"role": "user", "content": [text, {"type": "image"}]}]);
        let model = parse("sampling/createMessage", json!({"messages": messages}));
        let texts = [("user".to_owned(), "Hello\n(image)".to_owned())];
        assert_eq!(
            model,
            QuestionKind::Model { system: None, messages: texts.to_vec(), max_tokens: None }
        );
        let yes = || Answer::Accept(json!({"name": "Ada"}));
        for (kind, answer, expected) in [
            (&form, yes(), r#"{"action":"accept","content":{"name":"Ada"}}"#),
            (&form, Answer::Decline, r#"{"action":"decline"}"#),
            (&form, Answer::Cancel, r#"{"action":"cancel"}"#),
            (&page, yes(), r#"{"action":"accept"}"#),
        ] {
            assert_eq!(kind.outcome(answer).unwrap().text(), expected);
        }
        let answer: Value =
            model.outcome(Answer::Text("Hi".into())).unwrap().view().deserialize().unwrap();
        assert_eq!(answer["content"]["text"], "Hi");
        assert_eq!(model.outcome(Answer::Decline).unwrap_err().code, REJECTED);
        assert!(QuestionKind::parse("roots/list", &RawJson::empty_object()).is_err());
    }
}
