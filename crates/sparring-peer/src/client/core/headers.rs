//! What of a request stands in headers as well, on a link that has headers
//! (2026-07-28, basic/transports/streamable-http#request-metadata).

use sparring_wire::mirror::{self, Mirrored};
use sparring_wire::{Frame, Headers, Json};

use super::Core;
use crate::link::LinkKind;

/// The most tools whose mirrored arguments are remembered.
const TOOLS: usize = 10_000;

impl<W> Core<W> {
    /// The headers of a request or notification.
    pub(super) fn headers(&self, method: &str, params: Option<Json<'_>>) -> Headers {
        // The handshake is what agrees on a version.
        let (LinkKind::Streams, Some(revision), false) =
            (self.link, self.speaking, method == "initialize")
        else {
            return Headers::new();
        };
        let mut headers = Headers::with_capacity(4, 128);
        headers.push(mirror::PROTOCOL_VERSION, revision.name());
        if !revision.is_modern() {
            return headers;
        }
        headers.push(mirror::METHOD, method);
        let Some(name) = mirror::name_of(method, params) else { return headers };
        headers.push(mirror::NAME, &mirror::encode(&name));
        if method == "tools/call"
            && let Some(mirrored) = self.mirrored.get(&*name)
            && let Some(arguments) = params.and_then(|params| params.get("arguments"))
        {
            for (header, value) in mirrored.headers(arguments) {
                headers.push(header, &value);
            }
        }
        headers
    }

    /// The headers of a frame that the owner spelled, whatever it is.
    pub(super) fn headers_of(&self, frame: &Frame) -> Headers {
        self.headers(frame.method().unwrap_or_default(), frame.params())
    }

    /// Remembers which arguments of the listed tools are mirrored.
    pub(super) fn learn_tools(&mut self, result: Json<'_>) {
        if self.link == LinkKind::Shared {
            return;
        }
        for tool in result.get("tools").into_iter().flat_map(Json::items) {
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
