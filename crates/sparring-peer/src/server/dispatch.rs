//! Calls the handler's method for a request after checking the params. Also
//! erases the handler's type, so that the serving code is compiled only once.

use std::any::Any;
use std::borrow::Cow;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::FutureExt as _;
use sparring_wire::mirrored_headers::{self, MirroredArguments};
use sparring_wire::{ErrorObject, Json, JsonKind, code};

use super::context::Context;
use super::handler::{Handler, HandlerError, HandlerResult, Reply};
use crate::task;

/// The outcome of serving a request.
pub(super) type HandlerOutcome = Result<Reply, ErrorObject>;

/// A request being served.
pub(super) type HandlerFuture = Pin<Box<dyn Future<Output = HandlerOutcome> + Send>>;

/// A handler whose type is erased.
pub(super) trait ErasedHandler: Any + Send + Sync {
    /// Serves one request. A panic becomes an internal error.
    fn serve(self: Arc<Self>, cx: Context) -> HandlerFuture;

    /// See [`Handler::on_answered`].
    fn answered(&self, cx: &Context, answer: &HandlerOutcome);

    /// See [`Handler::on_notification`].
    fn notified(&self, method: &str, params: Option<Json<'_>>);
}

impl<H: Handler> ErasedHandler for H {
    fn serve(self: Arc<Self>, cx: Context) -> HandlerFuture {
        Box::pin(async move {
            let outcome = AssertUnwindSafe(dispatch(&*self, &cx)).catch_unwind();
            outcome.await.unwrap_or_else(|panic| {
                let message = task::panic_message(&*panic);
                Err(ErrorObject::internal(format!("the handler panicked: {message}")))
            })
        })
    }

    fn answered(&self, cx: &Context, answer: &HandlerOutcome) {
        Handler::on_answered(self, cx, answer);
    }

    fn notified(&self, method: &str, params: Option<Json<'_>>) {
        Handler::on_notification(self, method, params);
    }
}

/// Serves one request with the handler.
async fn dispatch<H: Handler>(handler: &H, cx: &Context) -> HandlerOutcome {
    match call_handler(handler, cx).await {
        Ok(Ok(reply)) => Ok(reply),
        Ok(Err(HandlerError::Error(error))) => Err(error),
        Ok(Err(HandlerError::InputRequired(input))) => Ok(input.to_result().into()),
        Err(refusal) => {
            let answer = Err(refusal);
            handler.on_answered(cx, &answer);
            answer
        }
    }
}

/// Compares the arguments with the headers that mirror them (2026-07-28,
/// basic/transports/streamable-http#server-behavior-for-custom-headers).
fn check_headers<H: Handler>(handler: &H, cx: &Context, tool: &str) -> Result<(), ErrorObject> {
    let Some(headers) = cx.headers().filter(|_| cx.revision().is_modern()) else { return Ok(()) };
    let Some(schema) = handler.input_schema(tool) else { return Ok(()) };
    // An invalid definition asks for no headers, because no client can follow it.
    let mirrored = MirroredArguments::from_schema(schema.view()).unwrap_or_default();
    mirrored_headers::check_headers(headers, cx.request(), &mirrored)
        .map_err(|reason| ErrorObject::new(code::HEADER_MISMATCH, reason))
}

/// Calls the method of the handler. Refuses params that are not valid.
async fn call_handler<H: Handler>(handler: &H, cx: &Context) -> Result<HandlerResult, ErrorObject> {
    let params = cx.params();
    Ok(match cx.method() {
        "tools/list" => handler.list_tools(optional_cursor(params)?.as_deref(), cx).await,
        "tools/call" => {
            let name = required_string(params, "name")?;
            check_headers(handler, cx, &name)?;
            handler.call_tool(&name, optional_object(params, "arguments")?, cx).await
        }
        "resources/list" => handler.list_resources(optional_cursor(params)?.as_deref(), cx).await,
        "resources/templates/list" => {
            handler.list_resource_templates(optional_cursor(params)?.as_deref(), cx).await
        }
        "resources/read" => handler.read_resource(&required_string(params, "uri")?, cx).await,
        "resources/subscribe" => handler.subscribe(&required_string(params, "uri")?, cx).await,
        "resources/unsubscribe" => handler.unsubscribe(&required_string(params, "uri")?, cx).await,
        "prompts/list" => handler.list_prompts(optional_cursor(params)?.as_deref(), cx).await,
        "prompts/get" => {
            let name = required_string(params, "name")?;
            let arguments = optional_object(params, "arguments")?;
            for (key, _) in arguments.members() {
                required_string(Some(arguments), &key.name())?;
            }
            handler.get_prompt(&name, arguments, cx).await
        }
        "completion/complete" => {
            let reference = required_object(params, "ref")?;
            let argument = required_object(params, "argument")?;
            required_string(Some(argument), "name")?;
            required_string(Some(argument), "value")?;
            handler.complete(reference, argument, cx).await
        }
        _ => handler.other_request(cx).await,
    })
}

fn required_string<'a>(params: Option<Json<'a>>, name: &str) -> Result<Cow<'a, str>, ErrorObject> {
    let found = params.and_then(|params| params.get(name));
    found.and_then(Json::as_str).ok_or_else(|| wrong_type_error(name, "a string", found))
}

fn required_object<'a>(params: Option<Json<'a>>, name: &str) -> Result<Json<'a>, ErrorObject> {
    let found = params.and_then(|params| params.get(name));
    found
        .filter(|found| found.is_object())
        .ok_or_else(|| wrong_type_error(name, "an object", found))
}

/// Returns an object that may be missing; then it is empty.
fn optional_object<'a>(params: Option<Json<'a>>, name: &str) -> Result<Json<'a>, ErrorObject> {
    match params.and_then(|params| params.get(name)) {
        None => Ok(Json::EMPTY_OBJECT),
        Some(found) if found.is_object() => Ok(found),
        found => Err(wrong_type_error(name, "an object", found)),
    }
}

fn optional_cursor<'a>(params: Option<Json<'a>>) -> Result<Option<Cow<'a, str>>, ErrorObject> {
    match params.and_then(|params| params.get("cursor")) {
        None => Ok(None),
        found => required_string(params, "cursor")
            .map(Some)
            .map_err(|_| wrong_type_error("cursor", "a string", found)),
    }
}

fn wrong_type_error(name: &str, expected: &str, found: Option<Json<'_>>) -> ErrorObject {
    let found = found.map_or("nothing", |found| JsonKind::name(found.kind()));
    ErrorObject::invalid_params(format!("{name}: expected {expected}, found {found}"))
}
