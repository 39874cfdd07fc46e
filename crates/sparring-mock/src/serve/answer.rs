//! Answers a request for one entry.

use std::borrow::Cow;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use sparring_peer::server::{Context, HandlerError, HandlerResult, Reply as PeerReply};
use sparring_script::TemplateTree;
use sparring_script::template::RenderError;
use sparring_wire::{ErrorObject, Json};

use super::choose_reply::choose_reply;
use super::template_scope::RequestScope;
use super::{MockHandler, ScriptState, failure_answer, to_value};
use crate::model::{Body, Cache, Entry, EntryKind};

/// A request for one entry.
pub(super) struct EntryRequest<'a> {
    /// The script that it is answered from.
    pub(super) script: &'a Arc<ScriptState>,
    pub(super) kind: EntryKind,
    pub(super) entry: &'a Entry,
    /// The arguments as received; parsed on first use.
    raw: Json<'a>,
    args: OnceLock<Value>,
    uri: Cow<'a, str>,
}

impl<'a> EntryRequest<'a> {
    pub(super) fn new(
        script: &'a Arc<ScriptState>,
        kind: EntryKind,
        entry: &'a Entry,
        raw: Json<'a>,
    ) -> Self {
        EntryRequest { script, kind, entry, raw, args: OnceLock::new(), uri: Cow::Borrowed("") }
    }

    pub(super) fn with_args(
        script: &'a Arc<ScriptState>,
        kind: EntryKind,
        entry: &'a Entry,
        args: Value,
    ) -> Self {
        EntryRequest {
            args: OnceLock::from(args),
            ..EntryRequest::new(script, kind, entry, Json::EMPTY_OBJECT)
        }
    }

    /// Sets the URI of the request.
    pub(super) fn with_uri(self, uri: &'a str) -> Self {
        EntryRequest { uri: Cow::Borrowed(uri), ..self }
    }

    pub(super) fn args(&self) -> &Value {
        self.args.get_or_init(|| to_value(self.raw))
    }

    pub(super) fn uri(&self) -> &str {
        &self.uri
    }
}

impl MockHandler {
    /// Chooses a reply, asks its questions, runs its steps and returns its answer.
    pub(super) async fn answer(&self, request: EntryRequest<'_>, cx: &Context) -> HandlerResult {
        let resumed = self.resume(&request, cx)?;
        let (reply, number) = match &resumed {
            Some(paused) => (Arc::clone(&paused.reply), paused.number),
            None => {
                let number = request.entry.calls.fetch_add(1, Ordering::Relaxed) + 1;
                match choose_reply(&request, number, cx) {
                    Ok(reply) => (reply, number),
                    Err(why) => return failure_answer(request.kind, why),
                }
            }
        };
        if let Some(fault) = &reply.fault {
            // Set early, since the fault `late` must survive a cancellation.
            cx.set_faults(fault.link.clone());
        }
        for capability in &reply.requires {
            cx.require_capability(capability)?;
        }
        let answers = match self.ask(&request, (&reply, number), resumed, cx).await? {
            Ok(answers) => Value::Object(answers),
            Err(why) => return failure_answer(request.kind, why),
        };
        let scope =
            RequestScope { request: &request, cx, number, answers: &answers, reply: &reply };
        self.run_steps(&reply.during, &scope).await?;
        if let Some(delay) = reply.delay {
            tokio::time::sleep(request.script.template_state.pick_delay(delay)).await;
        }
        if let Some(fault) = &reply.fault {
            fault.process.iter().for_each(|it| self.request_process_fault(*it));
            if fault.silent {
                std::future::pending::<()>().await;
            }
        }
        let answer = match &reply.body {
            #[cfg(feature = "http")]
            Body::Http(call) => self.call_upstream(call, &scope).await,
            Body::Exec(program) => self.run_program(program, &scope).await,
            body => render_body(body, &scope),
        };
        self.schedule_steps(&reply, &scope)?;
        if request.script.model.uses_last_calls && request.kind == EntryKind::Tool {
            request
                .script
                .template_state
                .set_last_arguments(&request.entry.id, request.args().clone());
        }
        answer
    }
}

fn render_body(body: &Body, scope: &RequestScope<'_>) -> HandlerResult {
    let hint = cache_hint(scope);
    match body {
        Body::Fixed(result) if hint.is_none() => Ok(result.clone().into()),
        Body::Fixed(result) => Ok(with_cache_hint(to_value(result.view()), hint)),
        Body::Template(tree) => Ok(with_cache_hint(render(tree, scope)?, hint)),
        Body::StructuredTemplate(tree) => {
            Ok(with_cache_hint(with_structured_text(render(tree, scope)?), hint))
        }
        // Handled above, since they take time.
        #[cfg(feature = "http")]
        Body::Http(_) => Ok(PeerReply::empty()),
        Body::Exec(_) => Ok(PeerReply::empty()),
        Body::Interaction => scope.script().model.interactions.answer(scope.request.args()),
        Body::Error { code, message, data } => {
            let message = render(message, scope)?;
            let message = message.as_str().unwrap_or_default().to_owned();
            let data = data.as_ref().map(|data| render(data, scope)).transpose()?;
            Err(ErrorObject { code: *code, message, data }.into())
        }
    }
}

/// Returns the caching hint, if the result can have one.
fn cache_hint(scope: &RequestScope<'_>) -> Option<Cache> {
    let is_cacheable = matches!(scope.request.kind, EntryKind::Resource | EntryKind::Template);
    let hint = scope.request.entry.cache.or(scope.script().model.cache);
    hint.filter(|_| is_cacheable && scope.cx.revision().is_modern())
}

/// Renders a value; an undefined name is reported with its position in the script.
pub(super) fn render(tree: &TemplateTree, scope: &RequestScope<'_>) -> Result<Value, HandlerError> {
    tree.render(scope).map_err(|RenderError { span, undefined }| {
        let position = scope.script().model.source.location(span);
        ErrorObject::internal(format!("{position}: {undefined}")).into()
    })
}

/// Renders a value as text.
pub(super) fn render_text(
    tree: &TemplateTree,
    scope: &RequestScope<'_>,
) -> Result<String, HandlerError> {
    Ok(match render(tree, scope)? {
        Value::String(text) => text,
        other => other.to_string(),
    })
}

/// Copies the structured content into its text block.
fn with_structured_text(mut result: Value) -> Value {
    let Some(text) = result.get("structuredContent").map(Value::to_string) else { return result };
    let blocks = result.get_mut("content").and_then(Value::as_array_mut);
    for block in blocks.into_iter().flatten() {
        if block.get("text") == Some(&Value::Null) {
            block["text"] = text.clone().into();
        }
    }
    result
}

fn with_cache_hint(mut result: Value, hint: Option<Cache>) -> PeerReply {
    if let (Some(hint), Value::Object(result)) = (hint, &mut result) {
        hint.add_to(result);
    }
    result.into()
}
