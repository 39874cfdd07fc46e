//! Judges a server that could not be connected to in one revision: it may not speak the
//! revision, or it breaks a rule of the handshake or of discovery.

use sparring_peer::client::Error;
use sparring_peer::{Cause, ClientBuilder};
use sparring_wire::json::Json;
use sparring_wire::{Entry, Frame, Revision, Rule, Side, code};

use crate::connection::is_crash;
use crate::context::{ConnectError, Context, FailedOpening, SpokenRevisions};
use crate::probes::http::failed_connection;
use crate::verdict::{Finding, ShownFrame};

/// The judgement about a revision without a connection.
pub(crate) enum Judgement {
    /// The server rightly does not speak the revision.
    NotSpoken(String),
    /// The server cannot be reached.
    NotConnected(String),
    /// The server breaks rules. They are among the outcomes of the context.
    Broken(Box<Context>, String),
}

/// Judges the attempt to connect.
pub(crate) async fn judge(failed: FailedOpening, spoken: &SpokenRevisions) -> Judgement {
    let FailedOpening { context, error } = failed;
    let reason = error.to_string();
    let is_spoken = spoken.any_legacy() || spoken.any_modern();
    let error = match error {
        ConnectError::Client(error) if !is_unreachable(&error, is_spoken) => error,
        _ => return judge_http(context, reason).await,
    };
    let answer = answer(&context);
    let rule = match context.revision.is_modern() {
        true => broken_discovery(&context, spoken, &error, answer.as_ref()).await,
        false => broken_handshake(&context, spoken, &error, answer.as_ref()).await,
    };
    let Some(rule) = rule else {
        // A server that refuses the headers can break a rule about them.
        let is_broken = context.revision.is_modern() && explain_http(&context).await;
        return match is_broken {
            true => Judgement::Broken(context, reason),
            false => Judgement::NotSpoken(reason),
        };
    };
    let method = if context.revision.is_modern() { "server/discover" } else { "initialize" };
    let frames = context.recordings().into_iter().flat_map(|it| it.entries_from(0));
    let shown: Vec<ShownFrame> = frames.map(|it| ShownFrame::from(&it)).collect();
    context.judge_traffic();
    // A finding about the HTTP response says more.
    if !explain_http(&context).await {
        let message = format!("expected a valid response to {method}; {reason}");
        context.fail(rule, Finding::new(message).with_frames(shown));
    }
    Judgement::Broken(context, reason)
}

/// Judges a server that cannot be reached. Over HTTP, its response may break a rule.
async fn judge_http(context: Box<Context>, reason: String) -> Judgement {
    match explain_http(&context).await {
        true => Judgement::Broken(context, reason),
        false => Judgement::NotConnected(reason),
    }
}

/// Reports the violations in the HTTP responses of a failed handshake. Returns true if there
/// are any.
async fn explain_http(context: &Context) -> bool {
    let Some(target) = context.target().http() else { return false };
    let found = failed_connection::explain(target, &context.options, context.revision).await;
    let any = !found.is_empty();
    found.into_iter().for_each(|(rule, finding)| context.fail(rule, finding));
    any
}

/// Returns true if the server cannot be reached, or does not let the client in.
fn is_unreachable(error: &Error, is_spoken: bool) -> bool {
    match error {
        Error::Closed { cause: Cause::Http { status, .. }, .. } => {
            !is_spoken || matches!(status, 401 | 403 | 407)
        }
        Error::Closed { cause: Cause::Unreachable(_) | Cause::NotAuthorized(_), .. } => true,
        _ => false,
    }
}

/// Returns the server's response to the first request. The result of a discovery is one with any
/// id.
fn answer(context: &Context) -> Option<Frame> {
    let entries: Vec<Entry> =
        context.recordings().into_iter().flat_map(|it| it.entries_from(0)).collect();
    let request = entries.iter().find(|it| it.from == Side::Client)?;
    let responses = || entries.iter().filter(|it| it.from == Side::Server);
    let responses = || responses().map(|it| &it.frame).filter(|it| it.is_response_like());
    let named = responses().find(|it| it.id() == request.frame.id());
    let discovery = || responses().find(|it| it.result().is_some_and(is_discovery));
    named.or_else(discovery).cloned()
}

/// Returns true for a result that only a server of the modern era sends.
fn is_discovery(result: Json<'_>) -> bool {
    ["supportedVersions", "resultType"].iter().any(|it| result.get(it).is_some())
}

/// Returns the rule that a failed `initialize` breaks.
async fn broken_handshake(
    context: &Context,
    spoken: &SpokenRevisions,
    error: &Error,
    answer: Option<&Frame>,
) -> Option<Rule> {
    let is_other = |name: &String| {
        Revision::from_name(name).is_some_and(|revision| revision != context.revision)
    };
    let is_result = answer.is_some_and(|it| it.result().is_some());
    if let Error::NoCommonVersion { theirs, .. } = error
        && !theirs.is_empty()
        && theirs.iter().all(is_other)
    {
        // `initialize` cannot choose a revision of the other era.
        let chose_modern = is_result && theirs.iter().any(|it| is_modern(it));
        return chose_modern.then_some(Rule::Handshake);
    }
    let is_refusal = matches!(
        error,
        Error::ErrorResponse { .. }
            | Error::NoCommonVersion { .. }
            | Error::Closed { cause: Cause::Http { .. }, .. }
    );
    // A server of the other era refuses each handshake.
    let is_right = is_refusal
        && !is_result
        && !speaks_other_legacy(context, spoken).await
        && speaks_modern(context, spoken).await;
    (!is_right).then(|| rule_of(error))
}

/// Returns true if the server speaks another revision with a handshake.
async fn speaks_other_legacy(context: &Context, spoken: &SpokenRevisions) -> bool {
    let is_unknown = |it: &Revision| !it.is_modern() && spoken.get(*it).is_none();
    match Revision::ALL.into_iter().rev().find(is_unknown) {
        _ if spoken.any_legacy() => true,
        Some(other) => connects(context, other).await,
        None => false,
    }
}

fn is_modern(name: &str) -> bool {
    Revision::from_name(name).is_some_and(Revision::is_modern)
}

/// Returns the rule that a failed `server/discover` breaks.
async fn broken_discovery(
    context: &Context,
    spoken: &SpokenRevisions,
    error: &Error,
    answer: Option<&Frame>,
) -> Option<Rule> {
    let result = answer.and_then(Frame::result);
    if result.is_some_and(|it| is_discovery(it) || !spoken.any_legacy()) {
        return Some(Rule::Handshake);
    }
    let refusal = answer.and_then(Frame::error_object).map(|it| it.code);
    match (refusal, error) {
        (Some(code::UNSUPPORTED_PROTOCOL_VERSION), Error::NoCommonVersion { theirs, .. })
            if !theirs.is_empty() =>
        {
            return None;
        }
        (Some(code::UNSUPPORTED_PROTOCOL_VERSION), _) => return Some(Rule::Handshake),
        _ => {}
    }
    if answers_modern_requests(context).await {
        return Some(match refusal {
            Some(code::METHOD_NOT_FOUND) => Rule::MissingDiscover,
            _ => rule_of(error),
        });
    }
    // A server of the other era can answer in any way, or not at all.
    let is_legacy = match spoken.get(Revision::LATEST_LEGACY) {
        Some(_) => true,
        None => refusal.is_some() || connects(context, Revision::LATEST_LEGACY).await,
    };
    (!is_legacy).then(|| rule_of(error))
}

/// Returns the rule that is broken by a server without a usable response.
fn rule_of(error: &Error) -> Rule {
    match error {
        Error::Closed { cause, .. } if is_crash(cause) => Rule::Crash,
        _ => Rule::Handshake,
    }
}

async fn speaks_modern(context: &Context, spoken: &SpokenRevisions) -> bool {
    match spoken.get(Revision::LATEST) {
        Some(spoken) => spoken || answers_modern_requests(context).await,
        None => connects(context, Revision::LATEST).await,
    }
}

/// Returns true if a client of this revision can connect, or learns of another version.
async fn connects(context: &Context, revision: Revision) -> bool {
    let connection =
        context.connect_unjudged_with(|client: ClientBuilder| client.revision(revision));
    let Ok(connection) = connection.await else { return false };
    let ready = connection.client().ready().await;
    let named_versions = |theirs: &[String]| {
        theirs.iter().any(|it| Revision::from_name(it).is_some_and(|it| !it.is_modern()))
    };
    let connects = match ready {
        Ok(()) => true,
        Err(Error::NoCommonVersion { theirs, .. }) => {
            !revision.is_modern() && named_versions(&theirs)
        }
        Err(_) => false,
    };
    connection.close().await;
    connects
}

/// Returns true if the server answers other requests like one of the modern era.
async fn answers_modern_requests(context: &Context) -> bool {
    let client = |client: ClientBuilder| client.without_lifecycle(Revision::LATEST);
    let Ok(connection) = context.connect_unjudged_with(client).await else { return false };
    let mut is_modern = false;
    for method in ["tools/list", "resources/list", "prompts/list"] {
        let reply = connection.request_leniently(method, None).await;
        let has_type = reply.result().is_some_and(|it| it.get("resultType").is_some());
        let modern_codes = [
            code::UNSUPPORTED_PROTOCOL_VERSION,
            code::HEADER_MISMATCH,
            code::MISSING_REQUIRED_CLIENT_CAPABILITY,
        ];
        let has_code = reply.error_code().is_some_and(|it| modern_codes.contains(&it));
        is_modern = has_type || has_code;
        // Without an answer there is none to the next request either.
        if is_modern || !reply.is_answered() {
            break;
        }
    }
    connection.close().await;
    is_modern
}
