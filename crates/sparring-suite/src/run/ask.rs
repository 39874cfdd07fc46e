//! What a step asks for, with its holes filled, and the asking itself.

use std::time::Duration;

use serde_json::{Value, json};
use sparring_peer::Client;
use sparring_peer::client::{Error, Listing, RequestBuilder, Subscription};
use sparring_script::template::Missing;
use sparring_script::{Scope, Tree};
use sparring_wire::{Frame, RawJson, Revision};
use tokio::time::{sleep, timeout};

use super::Answer;
use crate::model::{Cancel, Completion, Raw, Step, Verb};

/// Where a request says which log messages it wants.
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// What is to be done.
pub(super) enum Asked {
    List(Listing),
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
    /// What is to come comes by itself.
    Nothing,
}

impl Asked {
    /// Fills the holes of a step.
    ///
    /// # Errors
    /// When one cannot be filled.
    pub(super) fn fill(
        step: &Step,
        scope: &dyn Scope,
        revision: Option<Revision>,
    ) -> Result<Asked, Missing> {
        let fill = |tree: &Tree| tree.render(scope);
        let text = |tree: &Tree| {
            fill(tree).map(|value| match value {
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
            Ok(Asked::Request { method: method.to_owned(), params, cancel: cancel.clone() })
        };
        match &step.verb {
            Verb::List(listing) => Ok(Asked::List(*listing)),
            Verb::Call { tool, arguments } => {
                let params = json!({"name": fill(tool)?, "arguments": fill(arguments)?});
                request("tools/call", Some(params))
            }
            Verb::Read { uri } => request("resources/read", Some(json!({"uri": fill(uri)?}))),
            Verb::Prompt { name, arguments } => {
                let params = json!({"name": fill(name)?, "arguments": fill(arguments)?});
                request("prompts/get", Some(params))
            }
            Verb::Complete(Completion { reference, argument, value, context }) => {
                let argument = json!({"name": fill(argument)?, "value": fill(value)?});
                let mut params = json!({"ref": fill(reference)?, "argument": argument});
                if let Some(context) = context {
                    params["context"] = json!({"arguments": fill(context)?});
                }
                request("completion/complete", Some(params))
            }
            // Where the revision has no ping, asking what the server is does as well.
            Verb::Ping if revision.is_some_and(Revision::is_modern) => {
                request("server/discover", None)
            }
            Verb::Ping => request("ping", None),
            Verb::Request { method, params } => {
                request(&text(method)?, params.as_ref().map(fill).transpose()?)
            }
            Verb::Notify { method, params } => Ok(Asked::Notification {
                method: text(method)?,
                params: params.as_ref().map(fill).transpose()?,
            }),
            Verb::Subscribe { uri } => text(uri).map(Asked::Subscription),
            Verb::Send(Raw::Text(raw)) => text(raw).map(|text| Asked::Bytes(text.into_bytes())),
            Verb::Send(Raw::Bytes(bytes)) => Ok(Asked::Bytes(bytes.clone())),
            Verb::Sleep(time) => Ok(Asked::Sleep(*time)),
            // An agent is run elsewhere.
            Verb::Wait(_) | Verb::Restart | Verb::Agent { .. } => Ok(Asked::Nothing),
        }
    }

    /// The tool that is called.
    pub(super) fn tool(&self, verb: &Verb) -> Option<String> {
        match (verb, self) {
            (Verb::Call { .. }, Asked::Request { params: Some(params), .. }) => {
                params["name"].as_str().map(str::to_owned)
            }
            _ => None,
        }
    }

    /// What a step asks, as a person would call it; nothing where it waits for
    /// no answer.
    pub(super) fn label(&self, verb: &Verb) -> Option<String> {
        let name = match self {
            Asked::Request { cancel: Some(_), .. }
            | Asked::Notification { .. }
            | Asked::Bytes(_)
            | Asked::Sleep(_)
            | Asked::Nothing => return None,
            Asked::List(Listing::Tools) => "tools",
            Asked::List(Listing::Resources) => "resources",
            Asked::List(Listing::ResourceTemplates) => "templates",
            Asked::List(Listing::Prompts) => "prompts",
            Asked::Subscription(_) => "",
            Asked::Request { method, params, .. } => match verb {
                Verb::Call { .. } | Verb::Prompt { .. } => {
                    params.as_ref().and_then(|params| params["name"].as_str()).unwrap_or_default()
                }
                Verb::Request { .. } => method,
                _ => "",
            },
        };
        Some(format!("{} {name}", verb.name()).trim_end().to_owned())
    }

    /// Asks, and where notifications are expected, asks for progress and for log
    /// messages too: they are seen by the watch, like all others.
    pub(super) async fn ask(
        self,
        client: &Client,
        wants_news: bool,
        held: &mut Vec<Subscription>,
    ) -> Answer {
        match self {
            Asked::List(listing) => Answer::of_list(client.list(listing).await),
            Asked::Request { method, params, cancel } => {
                let modern = client.revision().is_some_and(Revision::is_modern);
                let params = if wants_news && modern { Some(with_logs(params)) } else { params };
                let request = client.request(method, params.map(RawJson::from));
                let request = if wants_news { request.on_progress(|_| {}) } else { request };
                match cancel {
                    None => Answer::of(request.await),
                    Some((after, reason)) => cancelled(request, after, reason.as_deref()).await,
                }
            }
            Asked::Notification { method, params } => {
                client.notify(&method, params.map(RawJson::from).as_ref());
                Answer::Nothing
            }
            Asked::Subscription(uri) => match client.subscribe(&uri).await {
                Ok(subscription) if subscription.acknowledged().uris.contains(&uri) => {
                    held.push(subscription);
                    Answer::Result(json!({}))
                }
                Ok(_) => Answer::unacknowledged(&uri),
                Err(error) => Answer::failed(&error),
            },
            Asked::Bytes(bytes) => {
                send(client, bytes);
                Answer::Nothing
            }
            Asked::Sleep(time) => {
                sleep(time).await;
                Answer::Nothing
            }
            Asked::Nothing => Answer::Nothing,
        }
    }
}

/// Since 2026-07-28 a request has log messages sent only if it says so (basic,
/// logging); before, a client gets them unless it says otherwise.
fn with_logs(params: Option<Value>) -> Value {
    let mut params = params.unwrap_or_else(|| json!({}));
    if let Some(map) = params.as_object_mut()
        && let Some(meta) = map.entry("_meta").or_insert_with(|| json!({})).as_object_mut()
    {
        meta.entry(LOG_LEVEL).or_insert_with(|| "debug".into());
    }
    params
}

/// Gives a request up, unless it is over before.
async fn cancelled(request: RequestBuilder, after: Duration, reason: Option<&str>) -> Answer {
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
        answered => Answer::of(answered),
    }
}

/// Sends bytes as they are. A request over HTTP has its answer on a stream of
/// its own, which only a request that is known opens.
fn send(client: &Client, bytes: Vec<u8>) {
    let frame = Frame::parse(bytes);
    match frame.id().is_some() && frame.method().is_some() {
        true => client.request_bytes(frame.bytes()).start().forget(),
        false => client.send_bytes(frame.bytes()),
    }
}
