//! Requests of the rmcp server to our client: as requests before 2026-07-28, as
//! `input_required` since then.
#![expect(deprecated, reason = "rmcp deprecates sampling and roots")]

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CreateMessageRequest,
    CreateMessageRequestParams, ElicitRequest, ElicitRequestParams, InputRequest, InputRequests,
    InputRequiredResult, InputResponses, ListRootsRequest, PingRequest, SamplingMessage,
    ServerRequest,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use super::their_server::{internal, is_modern};

/// A state that is hard to preserve in JSON.
pub(super) const TRICKY: &str = "st.ate/with+base64==, \"quotes\", \\back\\slashes, \n\t\u{1} controls, ü 日本 😀 \u{2028} </end>";

/// Sends one request to the client and returns its answer as text, as the
/// revision requires.
pub(super) async fn ask(
    what: &str,
    request: CallToolRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let answer = if is_modern(&context) {
        let Some(mut answers) = request.input_responses else {
            let requests = InputRequests::from([(what.to_owned(), question(what)?)]);
            return Ok(InputRequiredResult::from_input_requests(requests).into());
        };
        answers.remove(what).unwrap_or_default()
    } else {
        let peer = &context.peer;
        if what == "ping" {
            let ping = ServerRequest::PingRequest(PingRequest::default());
            peer.send_request(ping).await.map_err(internal)?;
            return Ok(CallToolResult::success(vec![ContentBlock::text("pong")]).into());
        }
        match question(what)? {
            InputRequest::Elicitation(request) => {
                let answer = peer.create_elicitation(request.params).await.map_err(internal)?;
                serde_json::to_value(answer).map_err(internal)?
            }
            InputRequest::CreateMessage(request) => {
                let answer = peer.create_message(request.params).await.map_err(internal)?;
                serde_json::to_value(answer).map_err(internal)?
            }
            _ => {
                let answer = peer.list_roots().await.map_err(internal)?;
                serde_json::to_value(answer).map_err(internal)?
            }
        }
    };
    Ok(CallToolResult::success(vec![ContentBlock::text(summary(&answer))]).into())
}

/// Four rounds: two requests at once with a tricky state, one request with
/// another state, none with a third, and then the result.
pub(super) fn interview(request: &CallToolRequestParams) -> Result<CallToolResponse, ErrorData> {
    let answers = request.input_responses.clone().unwrap_or_default();
    let next = match request.request_state.as_deref() {
        None => {
            let elicitation = question("elicitation")?;
            let requests =
                [("who".to_owned(), elicitation), ("ro\"ots".to_owned(), question("roots")?)];
            InputRequiredResult::new(Some(InputRequests::from(requests)), Some(TRICKY.to_owned()))
        }
        Some(TRICKY) => {
            let state =
                format!("{TRICKY}{}{}", summary(&answers["who"]), summary(&answers["ro\"ots"]));
            let requests = InputRequests::from([("sample".to_owned(), question("sampling")?)]);
            InputRequiredResult::new(Some(requests), Some(state))
        }
        Some(state) if answers.contains_key("sample") => {
            let rest = state.strip_prefix(TRICKY).ok_or_else(|| internal("another state"))?;
            let state = format!("end {rest}{}", summary(&answers["sample"]));
            InputRequiredResult::from_request_state(state)
        }
        Some(state) => {
            let text = state.strip_prefix("end ").ok_or_else(|| internal("another state"))?;
            return Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into());
        }
    };
    Ok(next.into())
}

/// Asks for a name, with a state.
pub(super) fn ask_name(state: &str) -> InputRequiredResult {
    let requests = question("elicitation").map(|it| InputRequests::from([("who".to_owned(), it)]));
    InputRequiredResult::new(requests.ok(), Some(state.to_owned()))
}

/// Returns the answer to [`who`].
pub(super) fn name_given(answers: &InputResponses) -> String {
    answers.get("who").map(summary).unwrap_or_default()
}

fn question(what: &str) -> Result<InputRequest, ErrorData> {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    Ok(match what {
        "elicitation" => InputRequest::Elicitation(ElicitRequest::new(
            ElicitRequestParams::FormElicitationParams {
                meta: None,
                message: "who?".to_owned(),
                requested_schema: serde_json::from_value(schema).map_err(internal)?,
            },
        )),
        "sampling" => {
            let messages = vec![SamplingMessage::user_text("capital of France?")];
            let params = CreateMessageRequestParams::new(messages, 10);
            InputRequest::CreateMessage(CreateMessageRequest::new(params))
        }
        _ => InputRequest::ListRoots(ListRootsRequest::default()),
    })
}

/// Returns the relevant part of an answer: a name, a text, or a URI.
fn summary(answer: &Value) -> String {
    let places = ["/content/name", "/content/text", "/roots/0/uri"];
    let found = places.into_iter().find_map(|place| answer.pointer(place));
    found.and_then(Value::as_str).unwrap_or_default().to_owned()
}
