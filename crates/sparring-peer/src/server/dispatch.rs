//! From a request to the handler's method, with what the method needs checked;
//! and the handler without its type, so that all that serves is built only once.

use std::any::Any;
use std::borrow::Cow;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::FutureExt as _;
use sparring_wire::mirror::{self, Mirrored};
use sparring_wire::{ErrorObject, Json, JsonKind, code};

use super::context::Context;
use super::handler::{Answer, Failure, Handler, Reply};
use crate::panics;

/// What serving a request comes to.
pub(super) type Served = Result<Reply, ErrorObject>;

/// A request being served.
pub(super) type Serving = Pin<Box<dyn Future<Output = Served> + Send>>;

/// A handler of whatever type.
pub(super) trait AnyHandler: Any + Send + Sync {
    /// Serves one request; a handler that panics has failed at it.
    fn serve(self: Arc<Self>, cx: Context) -> Serving;

    /// See [`Handler::notified`].
    fn notified(&self, method: &str, params: Option<Json<'_>>);
}

impl<H: Handler> AnyHandler for H {
    fn serve(self: Arc<Self>, cx: Context) -> Serving {
        Box::pin(async move {
            let serving = AssertUnwindSafe(dispatch(&*self, &cx)).catch_unwind();
            serving.await.unwrap_or_else(|panic| {
                let said = panics::said(&*panic);
                Err(ErrorObject::internal(format!("the handler panicked: {said}")))
            })
        })
    }

    fn notified(&self, method: &str, params: Option<Json<'_>>) {
        Handler::notified(self, method, params);
    }
}

/// Lets the handler serve one request.
async fn dispatch<H: Handler>(handler: &H, cx: &Context) -> Served {
    match serve(handler, cx).await {
        Ok(reply) => Ok(reply),
        Err(Failure::Error(error)) => Err(error),
        Err(Failure::InputRequired(input)) => Ok(input.to_result().into()),
    }
}

/// Holds the arguments against the headers that mirror them (2026-07-28,
/// basic/transports/streamable-http#server-behavior-for-custom-headers).
fn check_headers<H: Handler>(handler: &H, cx: &Context, tool: &str) -> Result<(), ErrorObject> {
    let Some(headers) = cx.headers().filter(|_| cx.revision().is_modern()) else { return Ok(()) };
    let Some(schema) = handler.input_schema(tool) else { return Ok(()) };
    // A definition that no client can follow asks for nothing.
    let mirrored = Mirrored::read(schema.view()).unwrap_or_default();
    mirror::check(headers, cx.request(), &mirrored)
        .map_err(|why| ErrorObject::new(code::HEADER_MISMATCH, why))
}

async fn serve<H: Handler>(handler: &H, cx: &Context) -> Answer {
    let params = cx.params();
    match cx.method() {
        "tools/list" => handler.list_tools(cursor(params)?.as_deref(), cx).await,
        "tools/call" => {
            let name = string(params, "name")?;
            check_headers(handler, cx, &name)?;
            handler.call_tool(&name, object(params, "arguments")?, cx).await
        }
        "resources/list" => handler.list_resources(cursor(params)?.as_deref(), cx).await,
        "resources/templates/list" => {
            handler.list_resource_templates(cursor(params)?.as_deref(), cx).await
        }
        "resources/read" => handler.read_resource(&string(params, "uri")?, cx).await,
        "resources/subscribe" => handler.subscribe(&string(params, "uri")?, cx).await,
        "resources/unsubscribe" => handler.unsubscribe(&string(params, "uri")?, cx).await,
        "prompts/list" => handler.list_prompts(cursor(params)?.as_deref(), cx).await,
        "prompts/get" => {
            handler.get_prompt(&string(params, "name")?, object(params, "arguments")?, cx).await
        }
        "completion/complete" => {
            let reference = required(params, "ref")?;
            let argument = required(params, "argument")?;
            string(Some(argument), "name")?;
            string(Some(argument), "value")?;
            handler.complete(reference, argument, cx).await
        }
        _ => handler.other(cx).await,
    }
}

fn string<'a>(params: Option<Json<'a>>, name: &str) -> Result<Cow<'a, str>, ErrorObject> {
    let found = params.and_then(|params| params.get(name));
    found.and_then(Json::as_str).ok_or_else(|| wrong(name, "a string", found))
}

fn required<'a>(params: Option<Json<'a>>, name: &str) -> Result<Json<'a>, ErrorObject> {
    let found = params.and_then(|params| params.get(name));
    found.filter(|found| found.is_object()).ok_or_else(|| wrong(name, "an object", found))
}

/// An object that may be left out, and is empty then.
fn object<'a>(params: Option<Json<'a>>, name: &str) -> Result<Json<'a>, ErrorObject> {
    match params.and_then(|params| params.get(name)) {
        None => Ok(Json::EMPTY_OBJECT),
        Some(found) if found.is_object() => Ok(found),
        found => Err(wrong(name, "an object", found)),
    }
}

fn cursor<'a>(params: Option<Json<'a>>) -> Result<Option<Cow<'a, str>>, ErrorObject> {
    match params.and_then(|params| params.get("cursor")) {
        None => Ok(None),
        found => string(params, "cursor").map(Some).map_err(|_| wrong("cursor", "a string", found)),
    }
}

fn wrong(name: &str, expected: &str, found: Option<Json<'_>>) -> ErrorObject {
    let found = found.map_or("nothing", |found| JsonKind::name(found.kind()));
    ErrorObject::invalid_params(format!("{name}: expected {expected}, found {found}"))
}
