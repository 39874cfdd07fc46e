//! Streamable HTTP and HTTP+SSE.

mod bodies;
mod interfaces;
mod legacy_sse;
mod mirrored_headers;
mod modern_requests;
mod named_requests;
mod origin;
mod parameter_headers;
mod resumption;
mod sessions;
mod streams;
mod version_header;

pub(crate) mod failed_connection;

use serde_json::{Value, json};
use sparring_wire::{Revision, Rule};

use super::{Probe, probe};
use crate::context::Context;
use crate::http::HttpServer;

pub(super) const PROBES: &[Probe] = &[
    probe!([ForeignOrigin], origin::foreign_origin),
    probe!([ReboundHost], origin::rebound_host),
    probe!([AllInterfaces], interfaces::all_interfaces),
    probe!([AcceptedGarbage], bodies::garbage),
    probe!([WrongStatus, UnexpectedBody], bodies::messages_without_response),
    probe!([UnansweredBatch], bodies::batch),
    probe!([GuessableSession, MissingSession, UnknownSession, DeletedSession], sessions::sessions),
    probe!([VersionHeader], version_header::invalid_version),
    probe!([MissingVersionHeader], version_header::missing_version),
    probe!(
        [
            OpenStream,
            StreamWithoutResponse,
            MissingPriming,
            BufferedStream,
            WrongContentType,
            DuplicateEventId
        ],
        streams::streams
    ),
    probe!([Broadcast, ForeignReplay, RelatedOnListening], resumption::streams_of_a_session),
    probe!([HeaderMismatch], mirrored_headers::mismatch),
    probe!([MissingHeader], mirrored_headers::missing),
    probe!([EncodedHeader, HeaderNameCase], mirrored_headers::other_forms),
    probe!([ParameterHeader, NumericHeader], parameter_headers::parameter_headers),
    probe!([UnsupportedVersionStatus], modern_requests::unsupported_version),
    probe!([InvalidMetadataStatus], modern_requests::invalid_metadata),
    probe!([LegacyMethods, LegacyHeaders], modern_requests::earlier_revisions),
    probe!([MissingEndpointEvent, WrongEventType], legacy_sse::event_stream),
];

/// The method of a request that every server answers and that changes nothing.
fn harmless_method(revision: Revision) -> &'static str {
    if revision.is_modern() { "server/discover" } else { "ping" }
}

/// Returns the body of a request that every server of a legacy revision answers.
fn ping(server: &HttpServer) -> Value {
    json!({"jsonrpc": "2.0", "id": server.next_id(), "method": "ping"})
}

/// Reports for each of the rules that it does not apply.
fn leave_out(context: &Context, rules: &[Rule], reason: &str) {
    let rules = rules.iter().filter(|rule| rule.applies_in(context.revision));
    rules.for_each(|rule| context.not_applicable(*rule, reason));
}
