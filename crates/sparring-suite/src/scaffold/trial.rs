//! One generated request with the outcome of its trial, and its test in the suite.

use serde_json::{Value, json};
use sparring_peer::client::ServerRequest;
use sparring_script::sample::samples;
use sparring_wire::{Revision, code};

use super::text::{comment, flow, string};

/// The reason to skip a tool that may have side effects.
const MAY_CHANGE: &str = "it may change something; check the arguments and remove this line";

/// The kind of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestKind {
    /// `tools/call`
    Call,
    /// `resources/read`
    Read,
    /// `prompts/get`
    Prompt,
}

/// A request that `spar init` tries, and that becomes a test.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// The kind of the request.
    pub kind: RequestKind,
    /// The name of the tool or prompt, or the URI of the resource.
    pub name: String,
    /// The arguments.
    pub arguments: Value,
    /// Other arguments to try if the server refuses the first.
    pub alternatives: Vec<Value>,
    /// The outcome.
    pub outcome: TrialOutcome,
    /// The answers to requests of the server that were needed.
    pub answers: Vec<(ServerRequest, Value)>,
}

/// The outcome of a trial.
#[derive(Debug, Clone, PartialEq)]
pub enum TrialOutcome {
    /// The request was not sent yet.
    Untried,
    /// The server returned a result.
    Answered,
    /// The tool returned `isError` with this text.
    ToolError(String),
    /// The server returned a JSON-RPC error.
    ErrorResponse {
        /// Its code.
        code: i64,
        /// Its message.
        message: String,
    },
    /// The server broke the protocol or exited, for this reason. The test fails.
    Broken(String),
    /// The test is skipped, for this reason.
    Skipped(String),
}

impl Trial {
    /// Makes a trial of a listed tool. A tool without `readOnlyHint` is skipped, unless
    /// `all` tools are called.
    pub fn from_tool(tool: &Value, all: bool) -> Trial {
        let harmless = tool["annotations"]["readOnlyHint"] == true;
        let made = samples(&tool["inputSchema"], harmless);
        let mismatch = made
            .mismatch
            .map(|why| format!("these arguments do not conform to the input schema: {why}"));
        let skip = mismatch.or_else(|| (!harmless && !all).then(|| MAY_CHANGE.to_owned()));
        let mut values = made.values.into_iter();
        Trial {
            arguments: values.next().unwrap_or_default(),
            // A tool that may change something is called once.
            alternatives: values.filter(|_| harmless).collect(),
            outcome: skip.map_or(TrialOutcome::Untried, TrialOutcome::Skipped),
            ..Trial::new(RequestKind::Call, &tool["name"])
        }
    }

    /// Makes a trial of a listed resource.
    pub fn from_resource(resource: &Value) -> Trial {
        Trial::new(RequestKind::Read, &resource["uri"])
    }

    /// Makes a trial of a listed prompt, with its required arguments.
    pub fn from_prompt(prompt: &Value) -> Trial {
        let listed = prompt["arguments"].as_array().map(Vec::as_slice).unwrap_or_default();
        let names = |all: bool| -> Vec<&Value> {
            let chosen = listed.iter().filter(|it| all || it["required"] == true);
            chosen.map(|it| &it["name"]).collect()
        };
        let sample = |names: Vec<&Value>| {
            let fields = names.iter().filter_map(|name| name.as_str());
            let fields: serde_json::Map<_, _> =
                fields.map(|name| (name.to_owned(), json!({"type": "string"}))).collect();
            samples(&json!({"required": names, "properties": fields}), true).values.swap_remove(0)
        };
        let (arguments, all) = (sample(names(false)), sample(names(true)));
        Trial {
            alternatives: Some(all).filter(|all| *all != arguments).into_iter().collect(),
            arguments,
            ..Trial::new(RequestKind::Prompt, &prompt["name"])
        }
    }

    fn new(kind: RequestKind, name: &Value) -> Trial {
        Trial {
            kind,
            name: name.as_str().unwrap_or_default().to_owned(),
            arguments: json!({}),
            alternatives: Vec::new(),
            outcome: TrialOutcome::Untried,
            answers: Vec::new(),
        }
    }

    /// Returns true if the tool was skipped because it may change something.
    pub fn may_change(&self) -> bool {
        matches!(&self.outcome, TrialOutcome::Skipped(reason) if reason == MAY_CHANGE)
    }

    /// Returns true if the test is skipped.
    pub fn is_skipped(&self) -> bool {
        matches!(self.outcome, TrialOutcome::Skipped(_))
    }

    /// The name of the test.
    pub(super) fn title(&self) -> String {
        let name = &self.name;
        let refused =
            matches!(self.outcome, TrialOutcome::ToolError(_) | TrialOutcome::ErrorResponse { .. });
        match (self.kind, refused) {
            (RequestKind::Call, false) => format!("{name} answers"),
            (RequestKind::Call, true) => format!("{name} returns an error"),
            (RequestKind::Read, false) => format!("resource {name} can be read"),
            (RequestKind::Read, true) => format!("resource {name} cannot be read"),
            (RequestKind::Prompt, false) => format!("prompt {name} answers"),
            (RequestKind::Prompt, true) => format!("prompt {name} returns an error"),
        }
    }

    /// The test under this name. `revision` is the revision of the trial.
    pub(super) fn test(&self, title: &str, revision: Option<Revision>) -> String {
        let verb = match self.kind {
            RequestKind::Call => "call",
            RequestKind::Read => "read",
            RequestKind::Prompt => "prompt",
        };
        let mut text = self.remark(revision);
        text += &format!("  - name: {}\n", string(title));
        if let TrialOutcome::Skipped(reason) = &self.outcome {
            text += &format!("    skip: {}\n", string(reason));
        }
        text += &format!("    {verb}: {}\n", string(&self.name));
        if self.arguments != json!({}) {
            text += &format!("    with: {}\n", flow(&self.arguments));
        }
        if !self.answers.is_empty() {
            text += &format!("    answer:\n{}", self.answer_keys());
        }
        match &self.outcome {
            TrialOutcome::ToolError(_) => text += "    expect: {is_error: true}\n",
            TrialOutcome::ErrorResponse { code, .. } => {
                text +=
                    &format!("    expect: {{error: {{code: {}}}}}\n", self.expected_code(*code));
            }
            _ => {}
        }
        text
    }

    /// The matcher of an error code.
    fn expected_code(&self, code: i64) -> String {
        let missing = [code::INVALID_PARAMS, code::RESOURCE_NOT_FOUND];
        match self.kind {
            // A missing resource has another code since 2026-07-28 (server/resources#error-handling).
            RequestKind::Read if missing.contains(&code) => {
                format!("{{one_of: [{}, {}]}}", missing[0], missing[1])
            }
            _ => code.to_string(),
        }
    }

    /// A comment with the refusal or the failure. Other revisions may have other refusals.
    fn remark(&self, revision: Option<Revision>) -> String {
        let spoken = revision.map(|it| format!(" in {}", it.name())).unwrap_or_default();
        let before = |what: &str| format!("{what}{spoken} when this suite was made:");
        let way_on = match self.arguments == json!({}) {
            true => "If that is wrong, correct the server and remove `expect`.",
            false => "If that is wrong, correct the arguments or the server, and remove `expect`.",
        };
        match &self.outcome {
            TrialOutcome::ToolError(message) => {
                comment(&before("The tool returned isError"), message, way_on)
            }
            TrialOutcome::ErrorResponse { code, message } => comment(
                &before("The server returned this JSON-RPC error"),
                &format!("{message} ({code})"),
                way_on,
            ),
            TrialOutcome::Broken(message) => {
                comment("This test failed when this suite was made:", message, "")
            }
            _ => String::new(),
        }
    }

    /// The keys of `answer`. Equal answers are written once; others become a list.
    fn answer_keys(&self) -> String {
        let kinds = [
            ("elicitation", ServerRequest::Elicitation),
            ("sampling", ServerRequest::Sampling),
            ("roots", ServerRequest::Roots),
        ];
        let mut text = String::new();
        for (key, kind) in kinds {
            let given: Vec<Value> = self
                .answers
                .iter()
                .filter(|(question, _)| *question == kind)
                .map(|(_, answer)| answer.clone())
                .collect();
            let Some(first) = given.first() else { continue };
            let same = given.iter().all(|answer| answer == first);
            let value = match kind {
                ServerRequest::Roots => root_uris(first),
                _ if same => first.clone(),
                _ => Value::Array(given),
            };
            text += &format!("      {key}: {}\n", flow(&value));
        }
        text
    }
}

/// The URIs in an answer to `roots/list`.
fn root_uris(answer: &Value) -> Value {
    let roots = answer["roots"].as_array().map(Vec::as_slice).unwrap_or_default();
    Value::Array(roots.iter().map(|root| root["uri"].clone()).collect())
}

/// Generates an answer to a request of the server: accepts an elicitation with a sample of
/// its form, and returns a short message or one root.
pub fn sample_answer(question: ServerRequest, params: &Value) -> Value {
    match question {
        ServerRequest::Elicitation if params["mode"] == "url" => json!({"action": "accept"}),
        ServerRequest::Elicitation => {
            let content = samples(&params["requestedSchema"], false).values.swap_remove(0);
            json!({"action": "accept", "content": content})
        }
        ServerRequest::Sampling => json!({
            "role": "assistant", "content": {"type": "text", "text": "text"}, "model": "spar",
        }),
        _ => json!({"roots": [{"uri": "file:///tmp"}]}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(outcome: TrialOutcome) -> Trial {
        let tool = json!({"name": "t", "inputSchema": {}, "annotations": {"readOnlyHint": true}});
        Trial { arguments: json!({}), outcome, ..Trial::from_tool(&tool, false) }
    }

    #[test]
    fn records_a_refusal_with_its_whole_message() {
        let refused = trial(TrialOutcome::ToolError("### Error\nno such file: a".to_owned()));
        let expected = "  # The tool returned isError in 2026-07-28 when this suite was made:
  #   ### Error
  #   no such file: a
  # If that is wrong, correct the server and remove `expect`.
  - name: t returns an error
    call: t
    expect: {is_error: true}
";
        assert_eq!(refused.test(&refused.title(), Some(Revision::V2026_07_28)), expected);
        let message = "unknown tool".to_owned();
        let refused = trial(TrialOutcome::ErrorResponse { code: -32602, message });
        let text = refused.test(&refused.title(), Some(Revision::V2026_07_28));
        assert!(text.contains("  #   unknown tool (-32602)\n"), "{text}");
        assert!(text.ends_with("    expect: {error: {code: -32602}}\n"), "{text}");
        let missing = Trial { kind: RequestKind::Read, ..refused };
        let text = missing.test("r", None);
        assert!(text.ends_with("{error: {code: {one_of: [-32602, -32002]}}}\n"), "{text}");
    }

    #[test]
    fn a_crash_becomes_a_test_without_expectations() {
        let crashed = trial(TrialOutcome::Broken("exited with status 3".to_owned()));
        let text = crashed.test(&crashed.title(), None);
        assert!(text.ends_with("  - name: t answers\n    call: t\n"), "{text}");
    }

    #[test]
    fn writes_the_answers_that_were_needed() {
        let mut asks = trial(TrialOutcome::Answered);
        let form = json!({"requestedSchema": {
            "type": "object", "required": ["n"], "properties": {"n": {"enum": ["a", "b"]}},
        }});
        let accepted = sample_answer(ServerRequest::Elicitation, &form);
        asks.answers = vec![
            (ServerRequest::Elicitation, accepted.clone()),
            (ServerRequest::Elicitation, accepted),
            (ServerRequest::Roots, sample_answer(ServerRequest::Roots, &json!({}))),
        ];
        let text = asks.test("t", None);
        let expected = "    answer:
      elicitation: {action: accept, content: {n: a}}
      roots: [\"file:///tmp\"]
";
        assert!(text.ends_with(expected), "{text}");
        asks.answers[1].1 = json!({"action": "accept", "content": {"n": "b"}});
        let text = asks.test("t", None);
        assert!(
            text.contains("      elicitation: [{action: accept, content: {n: a}}, {"),
            "{text}"
        );
    }

    #[test]
    fn prompts_have_their_required_arguments_first() {
        let prompt = json!({"name": "p", "arguments": [
            {"name": "city", "required": true}, {"name": "path"},
        ]});
        let trial = Trial::from_prompt(&prompt);
        assert_eq!(trial.arguments, json!({"city": "text"}));
        assert_eq!(trial.alternatives, [json!({"city": "text", "path": "."})]);
        assert_eq!(trial.title(), "prompt p answers");
    }
}
