//! The action of a step: renders the templates of its request, and performs it.

use std::time::Duration;

use serde_json::{Value, json};
use sparring_peer::Client;
use sparring_peer::client::{Error, ListKind, RequestBuilder, Response, Subscription};
use sparring_script::template::RenderError;
use sparring_script::{Scope, TemplateTree};
use sparring_wire::{Frame, Id, RawJson, Revision};
use tokio::time::{sleep, timeout};

use crate::model::{Cancel, Completion, RawMessage, Step, Verb};
use crate::step_result::Answer;

/// The member of `_meta` with the minimum level of the log messages for a request.
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// The rendered action of a step.
pub(super) enum Action {
    List(ListKind),
    Request {
        method: String,
        params: Option<Value>,
        cancel: Option<(Duration, Option<String>)>,
    },
    Notification {
        method: String,
        params: Option<Value>,
    },
    Subscription(String),
    Bytes(Vec<u8>),
    Sleep(Duration),
    /// The step only waits.
    Nothing,
}

impl Action {
    /// Renders the templates of a step.
    ///
    /// # Errors
    /// When a template uses an unknown value.
    pub(super) fn render(
        step: &Step,
        scope: &dyn Scope,
        revision: Option<Revision>,
    ) -> Result<Action, RenderError> {
        let render = |tree: &TemplateTree| tree.render(scope);
        let text = |tree: &TemplateTree| {
            render(tree).map(|value| match value {
                Value::String(text) => text,
                other => other.to_string(),
            })
        };
        let cancel = |cancel: &Cancel| {
            let reason = cancel.reason.as_ref().map(text).transpose()?;
            Ok((cancel.after, reason))
        };
        let cancel = step.cancel.as_ref().map(cancel).transpose()?;
        let request = |method: &str, params| {
            Ok(Action::Request { method: method.to_owned(), params, cancel: cancel.clone() })
        };
        match &step.verb {
            Verb::List(listing) => Ok(Action::List(*listing)),
            Verb::Call { tool, arguments, .. } => {
                let params = json!({"name": render(tool)?, "arguments": render(arguments)?});
                request("tools/call", Some(params))
            }
            Verb::Read { uri } => request("resources/read", Some(json!({"uri": render(uri)?}))),
            Verb::Prompt { name, arguments } => {
                let params = json!({"name": render(name)?, "arguments": render(arguments)?});
                request("prompts/get", Some(params))
            }
            Verb::Complete(Completion { reference, argument, value, context }) => {
                let argument = json!({"name": render(argument)?, "value": render(value)?});
                let mut params = json!({"ref": render(reference)?, "argument": argument});
                if let Some(context) = context {
                    params["context"] = json!({"arguments": render(context)?});
                }
                request("completion/complete", Some(params))
            }
            // 2026-07-28 has no ping; server/discover has the same effect.
            Verb::Ping if revision.is_some_and(Revision::is_modern) => {
                request("server/discover", None)
            }
            Verb::Ping => request("ping", None),
            Verb::Request { method, params } => {
                request(&text(method)?, params.as_ref().map(render).transpose()?)
            }
            Verb::Notify { method, params } => Ok(Action::Notification {
                method: text(method)?,
                params: params.as_ref().map(render).transpose()?,
            }),
            Verb::Subscribe { uri } => text(uri).map(Action::Subscription),
            Verb::Send(RawMessage::Text(raw)) => {
                text(raw).map(|text| Action::Bytes(text.into_bytes()))
            }
            Verb::Send(RawMessage::Bytes(bytes)) => Ok(Action::Bytes(bytes.clone())),
            Verb::Sleep(time) => Ok(Action::Sleep(*time)),
            // `agent::run` runs agents, and `check_step::run` checks.
            Verb::Wait(_) | Verb::Restart | Verb::Check(_) | Verb::Agent { .. } => {
                Ok(Action::Nothing)
            }
        }
    }

    /// The tool that the step calls.
    pub(super) fn tool(&self, verb: &Verb) -> Option<String> {
        match (verb, self) {
            (Verb::Call { .. }, Action::Request { params: Some(params), .. }) => {
                params["name"].as_str().map(str::to_owned)
            }
            _ => None,
        }
    }

    /// A readable name of the request, such as `call echo`. `None` if the step waits for
    /// no answer.
    pub(super) fn label(&self, verb: &Verb) -> Option<String> {
        let name = match self {
            Action::Request { cancel: Some(_), .. }
            | Action::Notification { .. }
            | Action::Bytes(_)
            | Action::Sleep(_)
            | Action::Nothing => return None,
            Action::List(ListKind::Tools) => "tools",
            Action::List(ListKind::Resources) => "resources",
            Action::List(ListKind::ResourceTemplates) => "templates",
            Action::List(ListKind::Prompts) => "prompts",
            Action::Subscription(_) => "",
            Action::Request { method, params, .. } => match verb {
                Verb::Call { .. } | Verb::Prompt { .. } => {
                    params.as_ref().and_then(|params| params["name"].as_str()).unwrap_or_default()
                }
                Verb::Request { .. } => method,
                _ => "",
            },
        };
        Some(format!("{} {name}", verb.name()).trim_end().to_owned())
    }

    /// Performs the action. If the step expects notifications, the request also asks
    /// for progress, and for log messages if the server declares them.
    ///
    /// Stores the id of an answered request in `request_id`.
    pub(super) async fn perform(
        self,
        client: &Client,
        wants_notifications: bool,
        subscriptions: &mut Vec<Subscription>,
        request_id: &mut Option<Id>,
    ) -> Answer {
        match self {
            Action::List(listing) => Answer::from_list(client.list(listing).await),
            Action::Request { method, params, cancel } => {
                let modern = client.revision().is_some_and(Revision::is_modern);
                let wants_logs =
                    wants_notifications && modern && client.capabilities().has("logging");
                let params = if wants_logs { Some(with_logs(params)) } else { params };
                let request = client.request(method, params.map(RawJson::from));
                let request =
                    if wants_notifications { request.on_progress(|_| {}) } else { request };
                match cancel {
                    None => {
                        let answered = request.await;
                        *request_id = answered_id(&answered).cloned();
                        Answer::from_response(answered)
                    }
                    Some((after, reason)) => {
                        send_and_cancel(request, after, reason.as_deref()).await
                    }
                }
            }
            Action::Notification { method, params } => {
                client.notify(&method, params.map(RawJson::from).as_ref());
                Answer::Nothing
            }
            Action::Subscription(uri) => match client.subscribe(&uri).await {
                Ok(subscription) if subscription.acknowledged().uris.contains(&uri) => {
                    subscriptions.push(subscription);
                    Answer::Result(json!({}))
                }
                Ok(_) => Answer::not_acknowledged(&uri),
                Err(error) => Answer::from_error(&error),
            },
            Action::Bytes(bytes) => {
                send_bytes(client, bytes);
                Answer::Nothing
            }
            Action::Sleep(time) => {
                sleep(time).await;
                Answer::Nothing
            }
            Action::Nothing => Answer::Nothing,
        }
    }
}

/// The id of an answered request.
fn answered_id(answered: &Result<Response, Error>) -> Option<&Id> {
    match answered {
        Ok(response) => response.raw().id(),
        Err(Error::InvalidResponse { frame, .. }) => frame.id(),
        Err(Error::ForeignId { expected, .. }) => Some(expected),
        Err(_) => None,
    }
}

/// Asks for log messages. Since 2026-07-28 a server sends log messages only for requests
/// that ask for them (basic, logging); earlier, it sends them unless the client objects.
fn with_logs(params: Option<Value>) -> Value {
    let mut params = params.unwrap_or_else(|| json!({}));
    if let Some(map) = params.as_object_mut()
        && let Some(meta) = map.entry("_meta").or_insert_with(|| json!({})).as_object_mut()
    {
        meta.entry(LOG_LEVEL).or_insert_with(|| "debug".into());
    }
    params
}

/// Sends a request and cancels it after a while, unless it is answered earlier.
async fn send_and_cancel(request: RequestBuilder, after: Duration, reason: Option<&str>) -> Answer {
    let mut in_flight = request.start();
    let answered = match timeout(after, &mut in_flight).await {
        Ok(answered) => answered,
        Err(_) => {
            in_flight.cancel(reason);
            in_flight.await
        }
    };
    match answered {
        Err(Error::Cancelled { .. }) => Answer::Cancelled,
        answered => Answer::from_response(answered),
    }
}

/// Sends bytes unchanged. Over HTTP, the response to a request arrives on its own
/// stream, so a frame that is a request is sent as one.
fn send_bytes(client: &Client, bytes: Vec<u8>) {
    let frame = Frame::parse(bytes);
    match frame.id().is_some() && frame.method().is_some() {
        true => client.request_bytes(frame.bytes()).start().detach(),
        false => client.send_bytes(frame.bytes()),
    }
}
