//! Implements the protocol for the tools and the instructions. It holds the current
//! library and the current engine.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use serde_json::Value;
use sparring::server::{Context, HandlerResult, Page};
use sparring::types::{
    Implementation, ReadResourceResult, Resource, ResourceContents, ServerCapabilities, Tool,
};
use sparring::{ErrorObject, Handler, Json, Server};
use tokio::task::spawn_blocking;

use crate::engines::{DEFAULT_ENGINE, ENGINES, Engine};
use crate::knowledge::Instruction;
use crate::library::Library;
use crate::log::{Level, Log};
use crate::phrase::truncate;
use crate::tools::{self, Entry};

/// Resources on one page.
const PAGE_SIZE: usize = 100;

/// Maximum bytes of a name that an error quotes.
const MAX_QUOTED_BYTES: usize = 200;

const MARKDOWN: &str = "text/markdown";

/// The current library and engine.
pub struct ServerState {
    library: RwLock<Arc<Library>>,
    engine: AtomicUsize,
}

impl ServerState {
    /// The current library.
    pub fn library(&self) -> Arc<Library> {
        Arc::clone(&self.library.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The current engine.
    pub fn engine(&self) -> &'static dyn Engine {
        ENGINES[self.engine.load(Ordering::Acquire)]
    }

    /// Switches to the engine with this index, and returns the previous one.
    pub fn switch(&self, index: usize) -> &'static dyn Engine {
        ENGINES[self.engine.swap(index, Ordering::AcqRel)]
    }

    fn replace(&self, library: Library) -> Arc<Library> {
        let mut now = self.library.write().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *now, Arc::new(library))
    }
}

/// The server's handler.
pub struct Instructions {
    state: Arc<ServerState>,
    tools: Arc<[Entry]>,
    log: Log,
}

impl Instructions {
    /// Serves a library.
    pub fn new(library: Library, log: Log) -> Instructions {
        let library = RwLock::new(Arc::new(library));
        let state = ServerState { library, engine: AtomicUsize::new(DEFAULT_ENGINE) };
        Instructions { state: Arc::new(state), tools: tools::all().into(), log }
    }

    /// The log of the server.
    pub fn log(&self) -> Log {
        self.log
    }

    /// The current library.
    pub fn library(&self) -> Arc<Library> {
        self.state.library()
    }
}

/// Replaces the library, and notifies the clients of the changes. Running requests
/// still use the previous library.
pub fn replace(server: &Server<Instructions>, library: Library) {
    let state = &server.handler().state;
    let before = state.replace(library);
    let now = state.library();
    let listed = |library: &Library| library.all().iter().map(resource).collect::<Vec<_>>();
    if listed(&before) != listed(&now) {
        server.resources_changed();
    }
    for instruction in now.all() {
        let other = before.at(&instruction.uri);
        if other.is_some_and(|other| other.body != instruction.body) {
            server.resource_updated(&instruction.uri);
        }
    }
}

impl Handler for Instructions {
    fn info(&self) -> Implementation {
        Implementation::new("instructions-server", env!("CARGO_PKG_VERSION"))
    }

    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().with("tools", serde_json::json!({})).resources()
    }

    fn instructions(&self) -> Option<String> {
        let text = "Give every message of the user to route_instructions first, and follow the \
                    instructions that come back.";
        Some(text.to_owned())
    }

    async fn list_tools(&self, _: Option<&str>, _: &Context) -> HandlerResult {
        let tools: Vec<Tool> = self.tools.iter().map(|entry| entry.definition.clone()).collect();
        Ok(tools.into())
    }

    async fn call_tool(&self, name: &str, arguments: Json<'_>, _: &Context) -> HandlerResult {
        let Some(index) = self.tools.iter().position(|entry| entry.definition.name == name) else {
            let names: Vec<&str> = self.tools.iter().map(|entry| &*entry.definition.name).collect();
            let message =
                format!("unknown tool `{}`; available: {}", shorten(name), names.join(", "));
            return Err(ErrorObject::invalid_params(message).into());
        };
        let wrong = |error: serde_json::Error| ErrorObject::invalid_params(error.to_string());
        let arguments: Value = arguments.deserialize().map_err(wrong)?;
        let (tools, state) = (Arc::clone(&self.tools), Arc::clone(&self.state));
        // Other requests are answered while this one searches.
        let called = spawn_blocking(move || tools[index].call(&arguments, &state)).await;
        let result = called.map_err(|error| ErrorObject::internal(error.to_string()))?;
        let outcome = if result.is_error { "failed" } else { "answered" };
        self.log.write(Level::Debug, format_args!("{name} {outcome}"));
        Ok(result.into())
    }

    async fn list_resources(&self, cursor: Option<&str>, _: &Context) -> HandlerResult {
        let library = self.library();
        let from = match cursor.map(str::parse::<usize>) {
            None => 0,
            Some(Ok(from)) if from <= library.all().len() => from,
            Some(_) => {
                let message = format!("unknown cursor `{}`", shorten(cursor.unwrap_or_default()));
                return Err(ErrorObject::invalid_params(message).into());
            }
        };
        let items: Vec<Resource> =
            library.all()[from..].iter().take(PAGE_SIZE).map(resource).collect();
        let end = from + items.len();
        let next_cursor = (end < library.all().len()).then(|| end.to_string());
        Ok(Page { items, next_cursor }.into())
    }

    async fn list_resource_templates(&self, _: Option<&str>, _: &Context) -> HandlerResult {
        Ok(Vec::<sparring::types::ResourceTemplate>::new().into())
    }

    async fn read_resource(&self, uri: &str, cx: &Context) -> HandlerResult {
        let library = self.library();
        let Some(instruction) = library.at(uri) else {
            let code = cx.revision().resource_not_found_code();
            let message = format!("unknown resource {}", shorten(uri));
            return Err(ErrorObject::new(code, message).into());
        };
        let mut contents = ResourceContents::text(uri, instruction.body.clone());
        contents.mime_type = Some(MARKDOWN.to_owned());
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}

fn resource(instruction: &Instruction) -> Resource {
    let mut resource = Resource::new(&instruction.uri, &instruction.id);
    resource.description.clone_from(&instruction.description);
    resource.mime_type = Some(MARKDOWN.to_owned());
    resource.rest.insert("title".to_owned(), instruction.title.clone().into());
    resource.rest.insert("size".to_owned(), instruction.body.len().into());
    resource
}

/// Shortens a client's text for an error message.
fn shorten(text: &str) -> &str {
    truncate(text, MAX_QUOTED_BYTES)
}
