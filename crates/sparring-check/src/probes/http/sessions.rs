//! Sessions over Streamable HTTP: their ids, and requests with a missing, unknown or ended one.

use serde_json::json;
use sparring_wire::{Rule, Side};

use super::bodies::end;
use super::ping;
use crate::context::{Context, ProbeResult, Stopped};
use crate::http::{
    Exchange, HttpServer, Refusal, RequestExt, Session, require_refusal, streamable,
};
use crate::verdict::{Finding, ShownFrame};

const RULES: [Rule; 4] =
    [Rule::GuessableSession, Rule::MissingSession, Rule::UnknownSession, Rule::DeletedSession];

/// The number of bits that sessions must differ in. Less can be guessed.
const MIN_BITS: usize = 48;

const SESSION_HEADER: &str = "mcp-session-id";

pub(super) async fn sessions(context: &Context) -> ProbeResult {
    let Some(server) = streamable(context, &RULES).await else { return Ok(()) };
    let session = server.session().await?;
    let Some(id) = &session.id else {
        super::leave_out(context, &RULES, "the server assigns no session ids");
        return Ok(());
    };
    let others = [server.another_session().await?, server.another_session().await?];
    check_ids(context, session, &others);
    let requires_id = unknown_id(context, server, session, id).await?;
    missing_id(context, server, session, requires_id).await?;
    let [first, second] = &others;
    deleted(context, server, first).await?;
    end(server, Some(second)).await;
    Ok(())
}

fn check_ids(context: &Context, session: &Session, others: &[Session]) {
    let rule = Rule::GuessableSession;
    let ids: Vec<&str> =
        [session].into_iter().chain(others).filter_map(|it| it.id.as_deref()).collect();
    let fewest = ids.iter().enumerate().flat_map(|(index, one)| {
        ids[index + 1..].iter().map(move |other| differing_bits(one, other))
    });
    let message = match fewest.min() {
        Some(0) => "expected a different id for each session; two sessions have the same id",
        Some(bits) if bits < MIN_BITS => {
            "expected random session ids; two of them differ in only a few characters"
        }
        _ => return context.pass(rule),
    };
    let shown = |id: &&str| format!("{SESSION_HEADER}: {id}");
    let shown = ids.iter().map(|id| ShownFrame::new(Side::Server, shown(id).as_bytes()));
    context.fail(rule, Finding::new(message).with_frames(shown));
}

/// Estimates the number of bits in which two ids differ: the characters between their common
/// beginning and their common end, as far as their kind of characters can tell.
fn differing_bits(one: &str, other: &str) -> usize {
    let begin = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    let (one, other) = (&one.as_bytes()[begin..], &other.as_bytes()[begin..]);
    let end = one.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count();
    let parts = [&one[..one.len() - end], &other[..other.len() - end]];
    let random = |part: &&[u8]| part.iter().filter(|byte| byte.is_ascii_alphanumeric()).count();
    let length = parts.iter().map(random).max().unwrap_or_default();
    let bytes = || parts.iter().flat_map(|part| part.iter());
    // Hundredths of a bit for each character.
    let each = match () {
        () if bytes().all(u8::is_ascii_digit) => 332,
        () if bytes().all(|it| it.is_ascii_hexdigit() || *it == b'-') => 400,
        () => 500,
    };
    length * each / 100
}

async fn missing_id(
    context: &Context,
    server: &HttpServer,
    session: &Session,
    requires_id: bool,
) -> ProbeResult {
    let rule = Rule::MissingSession;
    let request = session.post(&ping(server)).without(SESSION_HEADER);
    let exchange = server.send(&request).await?;
    if exchange.has_result() && !requires_id {
        context.not_applicable(rule, "the server does not require a session id");
        return Ok(());
    }
    let expected = "the status 400 for a request without a session id";
    judge(context, rule, &exchange, &[400], expected);
    let request = session.get().without(SESSION_HEADER);
    // A server that offers no stream has no use for the id.
    let refusal = Refusal::status(&[400, 405]);
    let expected = "the status 400 for a GET request without a session id";
    require_refusal(context, server, rule, &request, refusal, expected).await;
    Ok(())
}

/// Returns true if the server refuses the id, and so requires that of a session.
async fn unknown_id(
    context: &Context,
    server: &HttpServer,
    session: &Session,
    id: &str,
) -> Result<bool, Stopped> {
    let rule = Rule::UnknownSession;
    let unknown = similar_id(id);
    let request = session.post(&ping(server)).with(SESSION_HEADER, &unknown);
    let exchange = server.send(&request).await?;
    let expected = "the status 404 for a request with an unknown session id";
    judge(context, rule, &exchange, &[404], expected);
    for (request, method) in [(session.get(), "GET"), (session.delete(), "DELETE")] {
        let request = request.with(SESSION_HEADER, &unknown);
        let refusal = Refusal::status(&[404, 405]);
        let expected = format!("the status 404 for a {method} request with an unknown session id");
        require_refusal(context, server, rule, &request, refusal, expected).await;
    }
    Ok(!exchange.is_success())
}

async fn deleted(context: &Context, server: &HttpServer, session: &Session) -> ProbeResult {
    let rule = Rule::DeletedSession;
    let ended = server.send(&session.delete()).await?;
    if !ended.is_success() {
        context.not_applicable(rule, "the server does not let clients end sessions");
        return Ok(());
    }
    let notification = json!({
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": "sparring-unknown"},
    });
    let wanted = "the status 404 for";
    for (body, what) in [(ping(server), "a request"), (notification, "a notification")] {
        let request = session.post(&body);
        let expected = format!("{wanted} {what} with the id of an ended session");
        require_refusal(context, server, rule, &request, Refusal::status(&[404]), expected).await;
    }
    let refusal = Refusal::status(&[404, 405]);
    let expected = format!("{wanted} a GET request with the id of an ended session");
    require_refusal(context, server, rule, &session.get(), refusal, expected).await;
    Ok(())
}

fn judge(context: &Context, rule: Rule, exchange: &Exchange, statuses: &[u16], expected: &str) {
    match exchange.status {
        status if statuses.contains(&status) => context.pass(rule),
        _ if exchange.is_unrelated_refusal() => context.undecided(rule, exchange.describe()),
        _ => context.fail(rule, exchange.finding(format!("expected {expected}"))),
    }
}

/// Returns an id of the same form that no session has.
fn similar_id(id: &str) -> String {
    let is_uuid = id.len() == 36 && id.bytes().filter(|byte| *byte == b'-').count() == 4;
    if is_uuid {
        return "00000000-0000-4000-8000-5ba331960000".to_owned();
    }
    let shifted = |letter: char| match letter {
        '9' => '0',
        'z' => 'a',
        'Z' => 'A',
        // Stays hexadecimal.
        'f' => 'a',
        'F' => 'A',
        _ if letter.is_ascii_alphanumeric() => (letter as u8 + 1) as char,
        _ => letter,
    };
    id.chars().map(shifted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_ids_differ_in_many_bits() {
        for (one, other, is_random) in [
            ("9f1b2c3d-4e5f-4a6b-8c7d-0e1f2a3b4c5d", "1c2d3e4f-5a6b-4c7d-9e8f-a0b1c2d3e4f5", true),
            ("V1StGXR8_Z5jdHi6B-myT", "bJ3kq0dWzX_9aLmPq7RtE", true),
            ("019a3e5c9d1274a28c01f4b7d2e09a31", "019a3e5c9d1e7b0c9f22aa4c17be6d05", true),
            ("session-1", "session-2", false),
            ("00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000010", false),
            ("1763560000123", "1763560000987", false),
            ("a1b2c3d4", "e5f60718", false),
            ("same", "same", false),
        ] {
            let bits = differing_bits(one, other);
            assert_eq!(bits >= MIN_BITS, is_random, "{one} {other} {bits}");
        }
    }

    #[test]
    fn an_unknown_id_has_the_form_of_a_known_one() {
        assert_eq!(similar_id("9f1b2c3d-4e5f-4a6b-8c7d-0e1f2a3b4c5d").len(), 36);
        assert_eq!(similar_id("session-1_Zz9f"), "tfttjpo-2_Aa0a");
    }
}
