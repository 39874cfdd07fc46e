//! What comes beside a call: how far it is, and what its server asks for it.
//!
//! A question belongs to the request that it is asked for, so whoever is asked
//! knows who asks. A server that asks by itself gets no answer.

mod person;
mod script;

use std::pin::Pin;
use std::sync::Arc;

use serde_json::{Value, json};
use sparring_host::manager::Manager;
use sparring_host::registry::{CallError, Caller, Route};
use sparring_peer::ClientBuilder;
use sparring_peer::client::{Answering, Progress, Question, RequestBuilder, Response};
use sparring_wire::{ErrorObject, RawJson};
use tokio::sync::{mpsc, oneshot};

pub(super) use person::Person;
pub(super) use script::{ANSWER, Scripted, scripted};

/// What a server is told that asks for a model and gets none
/// (client/sampling#error-handling).
const REJECTED: i64 = -1;

/// What comes before an answer.
pub(super) enum Beside {
    /// How far it is.
    Progress(Progress),
    /// What the server asks.
    Asked(Asked),
}

/// Something that a server asks for a request.
pub(super) struct Asked {
    /// Who asks.
    pub(super) server: Arc<str>,
    /// What it is.
    pub(super) what: What,
    /// Closed when the server does not want to know any more.
    pub(super) reply: oneshot::Sender<Outcome>,
}

/// What is asked.
#[derive(Debug, PartialEq)]
pub(super) enum What {
    /// To fill in a form.
    Form { message: String, schema: Value },
    /// To open a page.
    Page { message: String, url: String },
    /// To be the model.
    Model {
        system: Option<String>,
        /// Who said what.
        messages: Vec<(String, String)>,
    },
}

/// What somebody says to it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Said {
    /// The fields of a form, or nothing for a page.
    Accept(Value),
    /// What the model would say.
    Text(String),
    /// No.
    Decline,
    /// Neither yes nor no.
    Cancel,
}

type Outcome = Result<RawJson, ErrorObject>;

/// Makes requests whose servers are answered.
#[derive(Clone)]
pub(super) struct Asking {
    manager: Manager,
    beside: mpsc::UnboundedSender<Beside>,
}

/// What the clients of a shell are made from.
pub(super) fn client(client: ClientBuilder) -> ClientBuilder {
    client
        .patient()
        .answer(Question::Elicitation, |_| async { Ok(json!({"action": "decline"})) })
        .answer(Question::Sampling, |_| async { Err(rejected()) })
        .capability("elicitation", json!({"form": {}, "url": {}}))
}

impl Asking {
    pub(super) fn new(manager: Manager) -> (Asking, mpsc::UnboundedReceiver<Beside>) {
        let (beside, came) = mpsc::unbounded_channel();
        (Asking { manager, beside }, came)
    }

    /// A request to that server, with all that comes beside it.
    pub(super) fn with(&self, server: &Arc<str>, request: RequestBuilder) -> RequestBuilder {
        let (tell, server) = (self.beside.clone(), Arc::clone(server));
        // Nobody looks once all ends.
        let request = request.on_progress({
            let tell = tell.clone();
            move |progress| drop(tell.send(Beside::Progress(progress)))
        });
        // There is one person.
        request.answered_by(1, Arc::new(Questions { tell, server }))
    }
}

/// Where the questions of a server go.
struct Questions {
    tell: mpsc::UnboundedSender<Beside>,
    server: Arc<str>,
}

impl Answering for Questions {
    fn answer(
        &self,
        method: &str,
        params: RawJson,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        let (reply, answer) = oneshot::channel();
        let asked = What::read(method, &params).map(|what| {
            let asked = Asked { server: Arc::clone(&self.server), what, reply };
            let _ = self.tell.send(Beside::Asked(asked));
        });
        Box::pin(async move {
            asked?;
            answer.await.unwrap_or_else(|_| Err(ErrorObject::internal("nobody is there")))
        })
    }
}

impl Caller for Asking {
    type Answer = Response;
    type Error = CallError;

    async fn call(&self, route: &Route, arguments: RawJson) -> Result<Response, CallError> {
        let connection = self.manager.routed(route)?;
        let request = connection.call_tool(&route.tool.name, arguments);
        let called = self.with(&route.server, request).await;
        called.map_err(|error| CallError::Failed { server: Arc::clone(&route.server), error })
    }
}

impl What {
    fn read(method: &str, params: &RawJson) -> Result<What, ErrorObject> {
        let params: Value = params.view().to().map_err(|why| {
            ErrorObject::invalid_params(format!("the params of {method} cannot be read: {why}"))
        })?;
        let text = |name: &str| params[name].as_str().map(str::to_owned);
        let message = text("message").unwrap_or_default();
        match method {
            "elicitation/create" if params["mode"] == "url" => {
                let url = text("url");
                let url = url.ok_or_else(|| ErrorObject::invalid_params("url: expected a string"));
                Ok(What::Page { message, url: url? })
            }
            "elicitation/create" => {
                Ok(What::Form { message, schema: params["requestedSchema"].clone() })
            }
            "sampling/createMessage" => {
                let messages = params["messages"].as_array().into_iter().flatten();
                let messages = messages.map(|message| {
                    let role = message["role"].as_str().unwrap_or_default().to_owned();
                    (role, contents(&message["content"]))
                });
                Ok(What::Model { system: text("systemPrompt"), messages: messages.collect() })
            }
            _ => Err(ErrorObject::method_not_found(method)),
        }
    }

    /// What is said of it in one line.
    pub(super) fn message(&self) -> &str {
        match self {
            What::Form { message, .. } | What::Page { message, .. } => message,
            What::Model { messages, .. } => {
                messages.last().map_or("what a model would say", |(_, said)| said)
            }
        }
    }

    /// What is sent for what somebody said.
    pub(super) fn outcome(&self, said: Said) -> Outcome {
        let answer = match (self, said) {
            (What::Model { .. }, Said::Text(text)) => json!({
                "role": "assistant",
                "content": {"type": "text", "text": text},
                "model": "person",
                "stopReason": "endTurn",
            }),
            (What::Model { .. }, _) => return Err(rejected()),
            (What::Page { .. }, Said::Accept(_)) => json!({"action": "accept"}),
            (What::Form { .. }, Said::Accept(content)) => {
                json!({"action": "accept", "content": content})
            }
            (_, Said::Cancel) => json!({"action": "cancel"}),
            (_, Said::Decline | Said::Text(_)) => json!({"action": "decline"}),
        };
        Ok(answer.into())
    }
}

/// How far something is, in one line.
pub(super) fn told(progress: &Progress) -> String {
    let far = match progress.total {
        Some(total) => format!("{} of {total}", progress.progress),
        None => progress.progress.to_string(),
    };
    match &progress.message {
        Some(message) => format!("{far}: {message}"),
        None => far,
    }
}

fn rejected() -> ErrorObject {
    ErrorObject::new(REJECTED, "the user rejected the request")
}

/// What a message says: the text of it, and the kinds of what is no text.
fn contents(content: &Value) -> String {
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

    fn read(method: &str, params: Value) -> What {
        What::read(method, &params.into()).unwrap()
    }

    #[test]
    fn what_is_said_becomes_what_each_question_wants() {
        let form = read("elicitation/create", json!({"message": "Who?", "requestedSchema": {}}));
        let page = read("elicitation/create", json!({"mode": "url", "url": "https://a.test/"}));
        let text = json!({"type": "text", "text": "Hello"});
        let messages = json!([{"role": "user", "content": [text, {"type": "image"}]}]);
        let model = read("sampling/createMessage", json!({"messages": messages}));
        let said = [("user".to_owned(), "Hello\n(image)".to_owned())];
        assert_eq!(model, What::Model { system: None, messages: said.to_vec() });
        let yes = || Said::Accept(json!({"name": "Ada"}));
        for (what, said, expected) in [
            (&form, yes(), r#"{"action":"accept","content":{"name":"Ada"}}"#),
            (&form, Said::Decline, r#"{"action":"decline"}"#),
            (&form, Said::Cancel, r#"{"action":"cancel"}"#),
            (&page, yes(), r#"{"action":"accept"}"#),
        ] {
            assert_eq!(what.outcome(said).unwrap().text(), expected);
        }
        let answer: Value = model.outcome(Said::Text("Hi".into())).unwrap().view().to().unwrap();
        assert_eq!(answer["content"]["text"], "Hi");
        assert_eq!(model.outcome(Said::Decline).unwrap_err().code, REJECTED);
        assert!(What::read("roots/list", &RawJson::empty_object()).is_err());
    }
}
