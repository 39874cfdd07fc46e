//! What of a request stands in headers as well, on a link that has headers
//! (2026-07-28, basic/transports/streamable-http#request-metadata).

use std::borrow::Cow;

use sparring_wire::mirror::{self, Mirrored};
use sparring_wire::{Frame, Headers, Json, Revision};

use super::Core;
use crate::link::LinkKind;

/// The most tools whose mirrored arguments are remembered.
const TOOLS: usize = 10_000;

/// The headers that were made last, and for what.
#[derive(Debug, Default)]
pub(super) struct LastHeaders {
    revision: Option<Revision>,
    method: String,
    name: Option<String>,
    headers: Headers,
}

impl LastHeaders {
    fn are_for(&self, revision: Revision, method: &str, name: Option<&str>) -> bool {
        self.revision == Some(revision) && self.method == method && self.name.as_deref() == name
    }
}

impl<W> Core<W> {
    /// The headers of a request or notification; those of the last are given
    /// again where they are the same, as they mostly are.
    pub(super) fn headers(&mut self, method: &str, params: Option<Json<'_>>) -> Headers {
        // The handshake is what agrees on a version.
        let (LinkKind::Streams, Some(revision), false) =
            (self.link, self.speaking, method == "initialize")
        else {
            return Headers::new();
        };
        let method = if revision.is_modern() { method } else { "" };
        let name = mirror::name_of(method, params);
        let tool = name.as_deref().filter(|_| method == "tools/call");
        let mirrored = tool.and_then(|tool| self.mirrored.get(tool));
        if mirrored.is_none() && self.last_headers.are_for(revision, method, name.as_deref()) {
            return self.last_headers.headers.clone();
        }
        let mut headers = Headers::with_capacity(4, 128);
        headers.push(mirror::PROTOCOL_VERSION, revision.name());
        if !method.is_empty() {
            headers.push(mirror::METHOD, method);
        }
        if let Some(name) = &name {
            headers.push(mirror::NAME, &mirror::encode(name));
        }
        let arguments = params.filter(|_| mirrored.is_some()).and_then(|it| it.get("arguments"));
        if let (Some(mirrored), Some(arguments)) = (mirrored, arguments) {
            for (header, value) in mirrored.headers(arguments) {
                headers.push(header, &value);
            }
        } else if mirrored.is_none() {
            let (method, name) = (method.to_owned(), name.map(Cow::into_owned));
            let headers = headers.clone();
            self.last_headers = LastHeaders { revision: Some(revision), method, name, headers };
        }
        headers
    }

    /// The headers of a frame that the owner spelled, whatever it is.
    pub(super) fn headers_of(&mut self, frame: &Frame) -> Headers {
        // Where there are none, a frame need not be read for them.
        if self.link == LinkKind::Shared {
            return Headers::new();
        }
        self.headers(frame.method().unwrap_or_default(), frame.params())
    }

    /// Remembers which arguments of the listed tools are mirrored.
    pub(super) fn learn_tools(&mut self, result: Json<'_>) {
        if self.link == LinkKind::Shared {
            return;
        }
        for tool in result.get("tools").unwrap_or(Json::EMPTY_OBJECT).items() {
            let Some(name) = tool.get("name").and_then(Json::as_str) else { continue };
            let mirrored = tool.get("inputSchema").and_then(|schema| Mirrored::read(schema).ok());
            match mirrored.filter(|mirrored| !mirrored.is_empty()) {
                Some(mirrored) if self.mirrored.len() < TOOLS => {
                    self.mirrored.insert(name.into_owned(), mirrored);
                }
                _ => drop(self.mirrored.remove(&*name)),
            }
        }
    }
}
