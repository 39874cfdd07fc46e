//! Requests that do not depend on earlier requests of the connection (since 2026-07-28).

use serde_json::json;
use sparring_wire::Rule;

use super::lifecycle::UNKNOWN_VERSIONS;
use super::metadata::{CAPABILITIES_KEY, CLIENT_INFO_KEY, VERSION_KEY, good_requests};
use super::observed::Observed;
use super::{Probe, probe};
use crate::connection::{Connection, Reply};
use crate::context::{Context, ProbeResult};

pub(super) const PROBES: &[Probe] = &[probe!([Stateful], statelessness)];

/// Sends requests as the first of a connection, and a list after requests with other metadata.
async fn statelessness(context: &Context) -> ProbeResult {
    let rule = Rule::Stateful;
    let requests = good_requests(context).await;
    let is_list = |it: &&Observed| it.method.ends_with("/list");
    let lists: Vec<&Observed> = requests.iter().filter(is_list).collect();
    let discover = requests.iter().find(|it| it.method == "server/discover");
    let Some(first) = lists.first().copied().or(discover) else {
        context.not_applicable(rule, "the server answers no list with a result");
        return Ok(());
    };
    let connection = context.connect_without_discovery().await?;
    let others = requests.iter().filter(|it| !is_list(it) && it.method != "server/discover");
    let mut refused = Vec::new();
    // The last is a call of a tool, which most often needs what other requests set up.
    for good in others.rev() {
        let reply = repeat(&connection, good).await;
        if reply.error_code().is_some() {
            refused.push((good, reply));
        }
    }
    let method = &*first.method;
    let judge = |reply: Reply, order: &str| match reply.is_success() {
        true => context.pass(rule),
        false => {
            let expected = format!("expected a result for {method} {order}, as at other times");
            context.fail(rule, reply.finding(expected));
        }
    };
    judge(connection.request(method, None).await, "as the first request of a connection");
    judge_refused(context, &connection, refused, lists.into_iter().chain(discover)).await;
    let version = json!({"_meta": {VERSION_KEY: UNKNOWN_VERSIONS[0]}});
    connection.request(method, Some(version)).await;
    judge(connection.request(method, None).await, "after a request of another version");
    let capabilities = json!({"_meta": {
        CAPABILITIES_KEY: {}, CLIENT_INFO_KEY: {"name": "another", "version": "0.0.1"},
    }});
    judge(connection.request(method, Some(capabilities)).await, "from another client");
    judge(connection.request(method, None).await, "after a request of another client");
    connection.close().await;
    Ok(())
}

async fn repeat(connection: &Connection, good: &Observed) -> Reply {
    connection.request(&good.method, Some(good.params_or_empty())).await
}

/// Repeats requests that got an error on a new connection after discovery and all lists. A
/// request that then gets a result depends on them. Another one perhaps depends on something that
/// an earlier process of the server held, such as an item that a tool had created.
async fn judge_refused(
    context: &Context,
    connection: &Connection,
    refused: Vec<(&Observed, Reply)>,
    earlier: impl Iterator<Item = &Observed>,
) {
    if refused.is_empty() {
        return;
    }
    for good in earlier {
        repeat(connection, good).await;
    }
    for (good, reply) in refused {
        if repeat(connection, good).await.is_success() {
            let method = &good.method;
            let expected =
                format!("expected a result for {method} before discovery and lists, as after them");
            context.fail(Rule::Stateful, reply.finding(expected).about(method));
        }
    }
}
