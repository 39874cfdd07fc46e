//! Calls, reads, prompts and completions with malformed params.

use serde_json::{Map, Value, json};
use sparring_peer::client::Error;
use sparring_wire::{Revision, Rule};

use super::completion::{Completable, may_complete};
use super::definition_findings::name_of;
use super::refusals::{lacks_capability, require_refusal};
use super::{Probe, probe};
use crate::connection::{Connection, Reply};
use crate::context::{Context, ProbeResult, Stopped};
use crate::tool_policy::reason_against_call;

pub(super) const PROBES: &[Probe] = &[probe!(
    [MalformedCall, MalformedRead, UnvalidatedPrompt, UnvalidatedCompletion],
    malformed_params
)];

/// Sends everything on one connection besides the shared one, which a server may end.
async fn malformed_params(context: &Context) -> ProbeResult {
    let mut requests = MalformedParams { context, connection: None };
    if !lacks_capability(context, "tools", &[Rule::MalformedCall]) {
        requests.call_tools().await?;
    }
    if !lacks_capability(context, "resources", &[Rule::MalformedRead]) {
        requests.read_resources().await?;
    }
    if !lacks_capability(context, "prompts", &[Rule::UnvalidatedPrompt]) {
        requests.get_prompts().await?;
    }
    requests.complete().await?;
    if let Some(connection) = requests.connection {
        connection.close().await;
    }
    Ok(())
}

struct MalformedParams<'a> {
    context: &'a Context,
    connection: Option<Connection>,
}

impl MalformedParams<'_> {
    async fn connection(&mut self) -> Result<&Connection, Stopped> {
        if self.connection.is_none() {
            self.connection = Some(self.context.connect().await?);
        }
        Ok(self.connection.as_ref().expect("it was set"))
    }

    /// Sends a request; without params if they are null. The next one gets another connection if the server ended this one.
    async fn request(&mut self, method: &str, params: &Value) -> Result<Reply, Stopped> {
        let params = Some(params).filter(|it| !it.is_null()).cloned();
        let reply = self.connection().await?.request(method, params).await;
        if matches!(reply.outcome(), Err(Error::Closed { .. })) {
            self.connection = None;
        }
        Ok(reply)
    }

    /// Sends requests that must be refused: each with its params and a description.
    async fn require_refusals<const N: usize>(
        &mut self,
        rule: Rule,
        method: &str,
        requests: [(Value, &str); N],
    ) -> ProbeResult {
        for (params, request) in requests {
            let reply = self.request(method, &params).await?;
            require_refusal(self.context, rule, &reply, request);
        }
        Ok(())
    }

    async fn call_tools(&mut self) -> ProbeResult {
        let rule = Rule::MalformedCall;
        let nameless = [
            (Value::Null, "a call without params"),
            (json!({"arguments": {}}), "a call without a name"),
            (json!({"name": 42, "arguments": {}}), "a call whose name is a number"),
        ];
        for (params, request) in nameless {
            let reply = self.request("tools/call", &params).await?;
            // Since 2025-11-25 malformed requests are errors of the protocol.
            if reply.is_tool_error() && self.context.revision >= Revision::V2025_11_25 {
                let expected = format!("expected a JSON-RPC error for {request}");
                self.context.fail(rule, reply.finding(expected));
            } else {
                require_refusal(self.context, rule, &reply, request);
            }
        }
        let facts = self.context.facts();
        let allowed = facts.tools.iter();
        let allowed = allowed.filter(|it| reason_against_call(self.context, it).is_none());
        // A tool without required parameters would accept arguments that are ignored.
        let requires = |tool: &&Value| {
            let required = tool["inputSchema"]["required"].as_array();
            required.is_some_and(|names| !names.is_empty())
        };
        let Some(tool) = allowed.min_by_key(requires) else { return Ok(()) };
        let name = name_of(tool);
        let malformed = [
            (json!({"name": name, "arguments": "text"}), "a call whose arguments are a string"),
            (json!({"name": name, "arguments": ["text"]}), "a call whose arguments are an array"),
        ];
        self.require_refusals(rule, "tools/call", malformed).await
    }

    async fn read_resources(&mut self) -> ProbeResult {
        let malformed = [
            (Value::Null, "a request to read without params"),
            (json!({}), "a request to read without a URI"),
            (json!({"uri": 42}), "a request to read whose URI is a number"),
            (json!({"uri": ""}), "a request to read an empty URI"),
            (json!({"uri": "not a URI"}), "a request to read an invalid URI"),
        ];
        self.require_refusals(Rule::MalformedRead, "resources/read", malformed).await?;
        let is_legacy = !self.context.revision.is_modern();
        if is_legacy && self.context.facts().declares_member("resources", "subscribe") {
            let malformed = [(json!({"uri": "not a URI"}), "a subscription to an invalid URI")];
            self.require_refusals(Rule::MalformedRead, "resources/subscribe", malformed).await?;
        }
        Ok(())
    }

    async fn get_prompts(&mut self) -> ProbeResult {
        let rule = Rule::UnvalidatedPrompt;
        let malformed = [
            (Value::Null, "a request for a prompt without params"),
            (json!({}), "a request for a prompt without a name"),
            (json!({"name": 42}), "a request for a prompt whose name is a number"),
        ];
        self.require_refusals(rule, "prompts/get", malformed).await?;
        let facts = self.context.facts();
        let required = |prompt: &&Value| {
            let arguments = prompt["arguments"].as_array().into_iter().flatten();
            arguments.filter(|it| it["required"] == true).count()
        };
        let Some(prompt) = facts.prompts.iter().min_by_key(required) else { return Ok(()) };
        let name = name_of(prompt);
        let malformed = [
            (json!({"name": name, "arguments": "text"}), "a prompt whose arguments are a string"),
            (json!({"name": name, "arguments": ["text"]}), "a prompt whose arguments are an array"),
        ];
        self.require_refusals(rule, "prompts/get", malformed).await?;
        let has_arguments =
            |it: &&Value| it["arguments"].as_array().is_some_and(|it| !it.is_empty());
        let Some(prompt) = facts.prompts.iter().find(has_arguments) else { return Ok(()) };
        let declared = prompt["arguments"].as_array().into_iter().flatten();
        let mut arguments: Map<String, Value> = declared
            .filter_map(|it| Some((it["name"].as_str()?.to_owned(), json!("sparring"))))
            .collect();
        if let Some((_, value)) = arguments.iter_mut().next() {
            *value = json!({"sparring": "unexpected"});
        }
        let params = json!({"name": name_of(prompt), "arguments": arguments});
        let malformed = [(params, "a prompt with an object as the value of an argument")];
        self.require_refusals(rule, "prompts/get", malformed).await
    }

    async fn complete(&mut self) -> ProbeResult {
        let (context, rule) = (self.context, Rule::UnvalidatedCompletion);
        let known = Completable::all(context.facts()).into_iter().next();
        if !may_complete(context) {
            context.not_applicable(rule, "the server does not declare `completions`");
            return Ok(());
        }
        // Without the capability, only a result shows that the server completes.
        if !context.facts().declares("completions") {
            let completes = match &known {
                Some(known) => known.request(self.connection().await?).await.result().is_some(),
                None => false,
            };
            if !completes {
                context.not_applicable(rule, "the server does not complete");
                return Ok(());
            }
        }
        let unknown = json!({"type": "ref/prompt", "name": "sparring-unknown-prompt"});
        let (reference, name) = match known {
            Some(known) => (known.reference, known.argument),
            None => (unknown, "argument".to_owned()),
        };
        let argument = json!({"name": name, "value": ""});
        let other = json!({"type": "ref/sparring", "name": "unknown"});
        let malformed = [
            (json!({"argument": argument}), "a completion without a reference"),
            (json!({"ref": "text", "argument": argument}), "a completion of a string"),
            (json!({"ref": other, "argument": argument}), "a completion of an unknown type"),
            (json!({"ref": reference}), "a completion without an argument"),
            (
                json!({"ref": reference, "argument": {"name": 42, "value": ""}}),
                "a completion whose argument has a number as its name",
            ),
        ];
        self.require_refusals(rule, "completion/complete", malformed).await
    }
}
