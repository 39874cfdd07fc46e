//! Calls the tools that a model asks for, as far as they may be called, and
//! makes of what comes what the model gets.

use std::sync::Arc;

use futures_util::future::join_all;
use sparring_peer::Cause;
use sparring_peer::client::{self, Response};
use sparring_wire::RawJson;

use super::event::{Event, Permission};
use super::running::Agent;
use super::said::{Called, Outcome};
use crate::artifacts::{Call, Taken};
use crate::registry::{CallError, Caller as _, Route};
use crate::text::cut;

/// The most characters of an error that the model gets.
const LONGEST_ERROR: usize = 2_000;

/// A call that may be made.
struct Permitted {
    call: Arc<Called>,
    arguments: RawJson,
    route: Route,
}

/// A call that was decided about.
enum Decided {
    Yes(Permitted),
    No(Arc<Called>, String),
}

impl Agent<'_> {
    /// What comes of calls, in their order. Those that only read, by their
    /// server's word, run beside each other until one comes that does not: what
    /// it changes the next one may look for.
    pub(super) async fn call_all(&self, calls: Vec<Arc<Called>>) -> Vec<Outcome> {
        let mut outcomes = Vec::with_capacity(calls.len());
        let mut calls = calls.into_iter().peekable();
        while let Some(first) = calls.next() {
            let mut together = vec![first];
            while self.only_reads(&together[0]) {
                let Some(next) = calls.next_if(|next| self.only_reads(next)) else { break };
                together.push(next);
            }
            // One after the other, as whoever is asked reads them.
            let mut decided = Vec::with_capacity(together.len());
            for call in together {
                decided.push(self.decide(call).await);
            }
            outcomes.extend(join_all(decided.into_iter().map(|it| self.settle(it))).await);
        }
        outcomes
    }

    fn only_reads(&self, call: &Called) -> bool {
        let tool = self.registry.get(&call.tool);
        let hint = tool.as_ref().and_then(|tool| tool.annotations()?.get("readOnlyHint"));
        hint.and_then(|hint| hint.as_bool()) == Some(true)
    }

    async fn decide(&self, call: Arc<Called>) -> Decided {
        self.tell(Event::Call(Arc::clone(&call))).await;
        let arguments = match call.value() {
            Ok(value) => RawJson::from(value),
            Err(why) => return Decided::No(call, why),
        };
        let permitted = self.registry.permit(&call.tool, arguments.view()).await;
        let server = self.registry.get(&call.tool).map(|tool| tool.server);
        let refused = permitted.as_ref().err().map(ToString::to_string);
        let permission = Permission { call: Arc::clone(&call), server, refused };
        self.tell(Event::Permission(permission)).await;
        match permitted {
            Ok(route) => Decided::Yes(Permitted { call, arguments, route }),
            Err(refusal) => Decided::No(call, refusal.to_string()),
        }
    }

    async fn settle(&self, decided: Decided) -> Outcome {
        let (call, text, is_error) = match decided {
            Decided::No(call, why) => (call, why, true),
            Decided::Yes(permitted) => {
                let (text, is_error) = self.call(&permitted).await;
                (permitted.call, text, is_error)
            }
        };
        let outcome = Outcome { id: call.id.clone(), text: text.clone(), is_error };
        self.tell(Event::Result { call, text, is_error }).await;
        outcome
    }

    async fn call(&self, permitted: &Permitted) -> (String, bool) {
        let Permitted { call, arguments, route } = permitted;
        let answered = self.manager.call(route, arguments.clone()).await;
        let response = match answered {
            Ok(response) => response,
            Err(error) => return (cut(&told(&error), LONGEST_ERROR), true),
        };
        let Some(result) = response.result() else {
            return (cut(&refused(&response), LONGEST_ERROR), true);
        };
        let of = Call { server: &route.server, tool: &route.tool.name, arguments };
        let Taken { artifacts, for_model, .. } = self.store.take(of, result);
        for artifact in artifacts {
            self.tell(Event::Artifact { call: Arc::clone(call), artifact }).await;
        }
        (for_model, response.is_error())
    }
}

fn refused(response: &Response) -> String {
    let error = response.error();
    error.map_or("there is no result".to_owned(), |error| format!("the server refused: {error}"))
}

/// Why a call failed; what a server wrote to its stderr is not for a model.
fn told(error: &CallError) -> String {
    match error {
        CallError::Failed {
            server,
            error: client::Error::Closed { cause: Cause::Gone { how, .. }, .. },
        } => format!("server `{server}` was lost during the call: {how}"),
        error => error.to_string(),
    }
}
