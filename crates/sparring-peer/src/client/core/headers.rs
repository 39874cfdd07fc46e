//! The headers that mirror parts of a request, on links that have headers
//! (2026-07-28, basic/transports/streamable-http#request-metadata).

use std::borrow::Cow;

use sparring_wire::mirrored_headers::{self, MirroredArguments};
use sparring_wire::{Frame, Headers, Json, Revision};

use super::Core;
use crate::link::LinkKind;

/// The maximum number of tools whose mirrored arguments are stored.
const MAX_MIRRORED_TOOLS: usize = 10_000;

/// The headers of the last request, with the values that they were built from.
#[derive(Debug, Default)]
pub(super) struct HeaderCache {
    revision: Option<Revision>,
    method: String,
    name: Option<String>,
    headers: Headers,
}

impl HeaderCache {
    fn matches(&self, revision: Revision, method: &str, name: Option<&str>) -> bool {
        self.revision == Some(revision) && self.method == method && self.name.as_deref() == name
    }
}

impl<W> Core<W> {
    /// Returns the headers of a request or notification. Returns those of the
    /// last one again if they are equal, as they usually are.
    pub(super) fn request_headers(&mut self, method: &str, params: Option<Json<'_>>) -> Headers {
        // The handshake has not yet agreed on a version.
        let (LinkKind::Streams, Some(revision), false) =
            (self.link, self.revision, method == "initialize")
        else {
            return Headers::new();
        };
        let method = if revision.is_modern() { method } else { "" };
        let name = mirrored_headers::name_header_value(method, params);
        let tool = name.as_deref().filter(|_| method == "tools/call");
        let mirrored = tool.and_then(|tool| self.mirrored.get(tool));
        if mirrored.is_none() && self.header_cache.matches(revision, method, name.as_deref()) {
            return self.header_cache.headers.clone();
        }
        let mut headers = Headers::with_capacity(4, 128);
        headers.push(mirrored_headers::PROTOCOL_VERSION_HEADER, revision.name());
        if !method.is_empty() {
            headers.push(mirrored_headers::METHOD_HEADER, method);
        }
        if let Some(name) = &name {
            headers.push(mirrored_headers::NAME_HEADER, &mirrored_headers::encode_value(name));
        }
        let arguments = params.filter(|_| mirrored.is_some()).and_then(|it| it.get("arguments"));
        if let (Some(mirrored), Some(arguments)) = (mirrored, arguments) {
            for (header, value) in mirrored.headers(arguments) {
                headers.push(header, &value);
            }
        } else if mirrored.is_none() {
            let (method, name) = (method.to_owned(), name.map(Cow::into_owned));
            let headers = headers.clone();
            self.header_cache = HeaderCache { revision: Some(revision), method, name, headers };
        }
        headers
    }

    /// Returns the headers of a frame that the caller built.
    pub(super) fn frame_headers(&mut self, frame: &Frame) -> Headers {
        // A shared channel has no headers, so the frame need not be read.
        if self.link == LinkKind::Shared {
            return Headers::new();
        }
        let headers = self.request_headers(frame.method().unwrap_or_default(), frame.params());
        // The header mirrors the version of the body, also a wrong one.
        let path = ["_meta", "io.modelcontextprotocol/protocolVersion"];
        let version = frame.params().and_then(|it| it.get_path(&path)).and_then(Json::as_str);
        let is_value = |it: &str| it.bytes().all(|byte| byte.is_ascii_graphic());
        let Some(version) = version.filter(|it| is_value(it)) else { return headers };
        let mirror = |(name, value)| match name {
            mirrored_headers::PROTOCOL_VERSION_HEADER => (name, &*version),
            _ => (name, value),
        };
        headers.iter().map(mirror).collect()
    }

    /// Stores which arguments of the listed tools are mirrored.
    pub(super) fn store_mirrored_arguments(&mut self, result: Json<'_>) {
        if self.link == LinkKind::Shared {
            return;
        }
        for tool in result.get("tools").unwrap_or(Json::EMPTY_OBJECT).items() {
            let Some(name) = tool.get("name").and_then(Json::as_str) else { continue };
            let mirrored = tool
                .get("inputSchema")
                .and_then(|schema| MirroredArguments::from_schema(schema).ok());
            match mirrored.filter(|mirrored| !mirrored.is_empty()) {
                Some(mirrored) if self.mirrored.len() < MAX_MIRRORED_TOOLS => {
                    self.mirrored.insert(name.into_owned(), mirrored);
                }
                _ => drop(self.mirrored.remove(&*name)),
            }
        }
    }
}
