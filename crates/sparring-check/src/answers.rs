//! The answers of a client to what a server asks: forms are filled in, and the model answers
//! with a text, or first uses a tool if the server offers one.

use serde_json::{Value, json};
use sparring_script::sample::samples;

/// The URI of the only root. The folder does not exist, so that no server writes into files of
/// the user.
pub(crate) const ROOT: &str = "file:///nonexistent/sparring-check";

/// Answers a request of a server, or one that an `input_required` result contains.
pub(crate) fn answer(method: &str, params: &Value) -> Value {
    match method {
        "elicitation/create" => elicited(params),
        "sampling/createMessage" => sampled(params),
        _ => json!({"roots": [{"uri": ROOT}]}),
    }
}

/// Accepts an elicitation, with content that conforms to the requested schema.
pub(crate) fn elicited(params: &Value) -> Value {
    if params["mode"] == "url" {
        return json!({"action": "accept"});
    }
    let schema = &params["requestedSchema"];
    let content = match schema.is_object() {
        true => samples(schema, false).values.swap_remove(0),
        false => json!({}),
    };
    json!({"action": "accept", "content": content})
}

/// Answers a sampling request with a text. The first answer to a request with tools uses the
/// first of them.
pub(crate) fn sampled(params: &Value) -> Value {
    let tool = &params["tools"][0];
    let messages = params["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_new = messages.len() <= 1 && params["toolChoice"]["mode"] != "none";
    let (content, reason) = match tool["name"].as_str().filter(|_| is_new) {
        Some(name) => {
            let schema = &tool["inputSchema"];
            let input = match schema.is_object() {
                true => samples(schema, true).values.swap_remove(0),
                false => json!({}),
            };
            let used = json!({
                "type": "tool_use", "id": "sparring-use-1", "name": name, "input": input,
            });
            (used, "toolUse")
        }
        None => (json!({"type": "text", "text": "A sampled message."}), "endTurn"),
    };
    json!({"role": "assistant", "content": content, "model": "sparring", "stopReason": reason})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fills_in_the_required_fields_of_a_form() {
        let schema = json!({
            "type": "object",
            "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 3}},
            "required": ["name", "age"],
        });
        let answer = elicited(&json!({"message": "Who?", "requestedSchema": schema}));
        assert_eq!(answer["action"], "accept");
        assert!(answer["content"]["name"].is_string(), "{answer}");
        assert!(answer["content"]["age"].as_i64() >= Some(3), "{answer}");
    }

    #[test]
    fn uses_an_offered_tool_once() {
        let tools = json!([{"name": "add", "inputSchema": {"type": "object"}}]);
        let first = json!({"role": "user", "content": {"type": "text", "text": "?"}});
        let params = json!({"messages": [first], "tools": tools});
        assert_eq!(sampled(&params)["stopReason"], "toolUse");
        let params = json!({"messages": [first, first, first], "tools": tools});
        assert_eq!(sampled(&params)["stopReason"], "endTurn");
        assert_eq!(sampled(&json!({"messages": [first]}))["stopReason"], "endTurn");
    }
}
