//! The handshake up to 2025-11-25, and the negotiation of versions in both eras.

use futures_util::future::join_all;
use serde_json::json;
use sparring_peer::Cause;
use sparring_peer::client::Error;
use sparring_wire::{Revision, Rule, code};

use super::{Probe, probe};
use crate::connection::Reply;
use crate::context::{Context, ProbeResult, Stopped};
use crate::verdict::Finding;

pub(super) const PROBES: &[Probe] = &[
    probe!([Handshake, MissingDiscover], handshake),
    probe!([VersionNegotiation, OlderVersion], version_negotiation),
    probe!([InitializeRefusal], initialize_refusal),
];

/// Versions that no server speaks: one older than all revisions, and one newer.
pub(super) const UNKNOWN_VERSIONS: [&str; 2] = ["1999-01-01", "2099-12-31"];

/// The check has connected in this revision. If it cannot, it judges the handshake itself.
async fn handshake(context: &Context) -> ProbeResult {
    context.pass(Rule::Handshake);
    context.pass(Rule::MissingDiscover);
    Ok(())
}

/// Sends `initialize` with a version as the first request of another connection.
pub(super) async fn initialize(context: &Context, version: &str) -> Result<Reply, Stopped> {
    let connection = context.connect_raw().await?;
    let params = json!({
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": {"name": "sparring", "version": env!("CARGO_PKG_VERSION")},
    });
    let reply = connection.request_leniently("initialize", Some(params)).await;
    // Over HTTP, the ping would need the headers of the session.
    if context.http().is_none() && reply.result().is_some() && !context.revision.is_modern() {
        let ping = connection.request_leniently("ping", None).await;
        if ping.error().is_some() {
            let expected = "expected an answer to `ping` also before `notifications/initialized`";
            context.fail(Rule::NotImplemented, ping.finding(expected));
        }
    }
    connection.close().await;
    Ok(reply)
}

/// Returns true if the server agrees to a version in the handshake.
pub(super) async fn agrees_to(context: &Context, revision: Revision) -> Result<bool, Stopped> {
    match context.spoken().get(revision) {
        Some(spoken) => Ok(spoken),
        None => {
            let reply = initialize(context, revision.name()).await?;
            Ok(agreed_version(&reply).as_deref() == Some(revision.name()))
        }
    }
}

/// Returns true if the server also speaks revisions with a handshake.
pub(super) async fn speaks_legacy(context: &Context) -> Result<bool, Stopped> {
    if context.spoken().any_legacy() || context.spoken().no_legacy() {
        return Ok(context.spoken().any_legacy());
    }
    let reply = initialize(context, Revision::LATEST_LEGACY.name()).await?;
    Ok(agreed_version(&reply).is_some())
}

fn agreed_version(reply: &Reply) -> Option<String> {
    reply.result()?["protocolVersion"].as_str().map(str::to_owned)
}

async fn version_negotiation(context: &Context) -> ProbeResult {
    let versions = unknown_versions(context);
    let replies = versions.iter().map(|version| initialize(context, version));
    let replies = join_all(replies).await;
    for (requested, reply) in versions.iter().zip(replies) {
        let reply = reply?;
        if let Some(chosen) = judge_negotiation(context, requested, &reply).await? {
            judge_chosen_version(context, chosen, &reply).await?;
        }
    }
    if context.outcomes().count(Rule::VersionNegotiation) > 0 {
        // Without another version there is none that could be too old.
        context.pass(Rule::OlderVersion);
    }
    Ok(())
}

/// Returns the versions to request. If the server speaks several revisions, each of them
/// requests another one, because each request needs a connection of its own, and the response
/// does not depend on the revision.
fn unknown_versions(context: &Context) -> &'static [&'static str] {
    let is_spoken = |it: &Revision| context.spoken().get(*it) == Some(true);
    let legacy = Revision::ALL.into_iter().filter(|it| !it.is_modern());
    let spoken: Vec<Revision> = legacy.filter(is_spoken).collect();
    let position = spoken.iter().position(|it| *it == context.revision).unwrap_or_default();
    let index = position % UNKNOWN_VERSIONS.len();
    match spoken.len() {
        0 | 1 => &UNKNOWN_VERSIONS,
        _ => &UNKNOWN_VERSIONS[index..=index],
    }
}

/// Returns the version that the server chose instead of an unknown one, if it supports it.
async fn judge_negotiation(
    context: &Context,
    requested: &str,
    reply: &Reply,
) -> Result<Option<Revision>, Stopped> {
    let rule = Rule::VersionNegotiation;
    let expected = format!("expected a supported version in the response to version {requested}");
    let fail = |found: String| {
        let frames = reply.frames();
        context.fail(rule, Finding::new(format!("{expected}; {found}")).with_frames(frames));
        Ok(None)
    };
    let Some(version) = agreed_version(reply) else {
        return match reply.result() {
            Some(_) => fail("the result has no `protocolVersion`".to_owned()),
            None => fail(reply.describe()),
        };
    };
    let Some(chosen) = Revision::from_name(&version).filter(|it| !it.is_modern()) else {
        return fail(format!("the server answered with version {version}"));
    };
    if !agrees_to(context, chosen).await? {
        return fail(format!(
            "the server answered with version {version}, and does not agree to it"
        ));
    }
    context.pass(rule);
    Ok(Some(chosen))
}

/// Checks that the server knows no newer version than the one that it chose.
async fn judge_chosen_version(context: &Context, chosen: Revision, reply: &Reply) -> ProbeResult {
    let newer = Revision::ALL.into_iter().rev().filter(|it| !it.is_modern() && *it > chosen);
    for newer in newer {
        if agrees_to(context, newer).await? {
            let message = format!(
                "expected the newest version {newer} in the response to an unknown version; \
                 the server answered with version {chosen}"
            );
            let finding = Finding::new(message).with_frames(reply.frames());
            context.fail(Rule::OlderVersion, finding);
        }
    }
    context.pass(Rule::OlderVersion);
    Ok(())
}

async fn initialize_refusal(context: &Context) -> ProbeResult {
    let rule = Rule::InitializeRefusal;
    let is_dual = "the server also speaks revisions with `initialize`";
    if context.spoken().any_legacy() {
        context.not_applicable(rule, is_dual);
        return Ok(());
    }
    let reply = initialize(context, Revision::LATEST_LEGACY.name()).await?;
    let names_version = |error: &sparring_wire::ErrorObject| {
        let data = error.data.as_ref().map(ToString::to_string).unwrap_or_default();
        let name = context.revision.name();
        error.message.contains(name) || data.contains(name)
    };
    match (reply.error(), reply.outcome()) {
        (Some(error), _) if names_version(&error) => context.pass(rule),
        // `initialize` lacks the required headers, which a server checks first.
        (Some(error), _) if error.code == code::HEADER_MISMATCH => {
            context.not_applicable(rule, "the server refuses requests without required headers");
        }
        (Some(_), _) => {
            let expected = format!(
                "expected an error that names version {}, for users of older clients",
                context.revision
            );
            context.fail(rule, reply.finding(expected));
        }
        (None, Ok(_)) => context.not_applicable(rule, is_dual),
        (None, Err(Error::Closed { cause: Cause::Http { .. }, .. })) => {
            context
                .not_applicable(rule, "the server refuses `initialize` without a JSON-RPC error");
        }
        (None, Err(error)) => {
            let message = format!("expected an error in response to `initialize`; {error}");
            context.fail(rule, Finding::new(message).with_frames(reply.frames()));
        }
    }
    Ok(())
}
