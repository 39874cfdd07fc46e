//! Uses every prompt, resource and template, so that the results of the server are judged.
//!
//! Completion gives the values for the arguments of prompts and the variables of templates.
//! Tools have a probe of their own.

use std::collections::HashMap;
use std::time::Instant;

use serde_json::{Map, Value, json};
use sparring_script::sample::samples;
use sparring_wire::{Rule, code};

use super::completion::{self, Completable};
use super::definition_findings::name_of;
use super::{Probe, probe, uri_template};
use crate::connection::Reply;
use crate::context::{Context, ProbeResult};
use crate::verdict::Finding;

/// The number of prompts, of resources, of templates and of completions that are requested.
const MAX_ITEMS: usize = 20;

/// The value of a variable that the server does not complete.
const ANY_VARIABLE: &str = "1";

pub(super) const PROBES: &[Probe] = &[probe!(
    [
        ItemNotImplemented,
        UnreadableResource,
        BinaryText,
        TemplateMediaType,
        CompletionNotImplemented,
    ],
    use_everything
)];

/// The values that the server completes, by the reference and the name of the argument.
type CompletedValues = HashMap<(String, String), String>;

async fn use_everything(context: &Context) -> ProbeResult {
    let usage = Usage { context, started: Instant::now(), values: complete(context).await };
    usage.get_prompts().await;
    usage.read_resources().await;
    usage.read_templates().await;
    context.not_applicable(Rule::ItemNotImplemented, "the server lists nothing to use");
    context.not_applicable(Rule::UnreadableResource, "the server lists no resources");
    context.not_applicable(Rule::BinaryText, "no resource with a text could be read");
    let reason = "no resource of a template with a MIME type could be read";
    context.not_applicable(Rule::TemplateMediaType, reason);
    Ok(())
}

/// Completes every argument and variable.
async fn complete(context: &Context) -> CompletedValues {
    let mut values = CompletedValues::new();
    if !completion::may_complete(context) {
        let reason = "the server does not declare `completions`";
        context.not_applicable(Rule::CompletionNotImplemented, reason);
        return values;
    }
    let all = Completable::all(context.facts());
    if all.is_empty() {
        completion::request_unknown(context).await;
    }
    for completable in all.into_iter().take(MAX_ITEMS) {
        let reply = completable.request(context.main()).await;
        let is_implemented = completion::check_implemented(context, &reply);
        if !is_implemented && reply.error_code() == Some(code::METHOD_NOT_FOUND) {
            break;
        }
        let result = reply.result().unwrap_or_default();
        if let Some(value) = result["completion"]["values"][0].as_str() {
            let key = (completable.reference.to_string(), completable.argument);
            values.insert(key, value.to_owned());
        }
    }
    values
}

struct Usage<'a> {
    context: &'a Context,
    started: Instant,
    values: CompletedValues,
}

impl Usage<'_> {
    /// Returns true if slow answers have taken most of the time of a probe.
    fn is_late(&self) -> bool {
        self.started.elapsed() > self.context.options.rule_timeout * 3
    }

    /// Returns the value that the server completes.
    fn completed(&self, reference: &Value, argument: &str) -> Option<String> {
        self.values.get(&(reference.to_string(), argument.to_owned())).cloned()
    }

    /// Returns a value for the argument of a prompt.
    fn argument(&self, reference: &Value, name: &str) -> String {
        let generated = || {
            let schema = json!({"required": [name], "properties": {name: {"type": "string"}}});
            let values = samples(&schema, true).values;
            values[0][name].as_str().unwrap_or_default().to_owned()
        };
        let is_uri = name.to_lowercase().ends_with("uri");
        let listed = || self.context.facts().resources.first()?["uri"].as_str().map(str::to_owned);
        let otherwise = || listed().filter(|_| is_uri).unwrap_or_else(generated);
        self.completed(reference, name).unwrap_or_else(otherwise)
    }

    async fn get_prompts(&self) {
        for prompt in self.context.facts().prompts.iter().take(MAX_ITEMS) {
            let reference = json!({"type": "ref/prompt", "name": name_of(prompt)});
            let arguments = prompt["arguments"].as_array().map(Vec::as_slice).unwrap_or_default();
            let values = |only_required: bool| -> Map<String, Value> {
                let chosen = arguments.iter().filter(|it| !only_required || it["required"] == true);
                let values = chosen
                    .filter_map(|it| it["name"].as_str())
                    .map(|name| (name.to_owned(), self.argument(&reference, name).into()));
                values.collect()
            };
            let all = values(false);
            let required = values(true);
            let mut reply = self.get_prompt(name_of(prompt), &all).await;
            if reply.error().is_some() && required.len() < all.len() {
                reply = self.get_prompt(name_of(prompt), &required).await;
            }
            let finding = "expected the server to return a prompt that it lists";
            if !self.is_implemented(&reply, name_of(prompt), finding) || self.is_late() {
                return;
            }
        }
    }

    async fn get_prompt(&self, name: &str, arguments: &Map<String, Value>) -> Reply {
        let mut params = json!({"name": name});
        if !arguments.is_empty() {
            params["arguments"] = Value::Object(arguments.clone());
        }
        self.context.request("prompts/get", Some(params)).await
    }

    async fn read_resources(&self) {
        let resources = self.context.facts().resources.iter();
        for uri in resources.filter_map(|it| it["uri"].as_str()).take(MAX_ITEMS) {
            let reply = self.context.request("resources/read", Some(json!({"uri": uri}))).await;
            let expected = "expected the server to read a resource that it lists";
            if !self.is_implemented(&reply, uri, expected) {
                return;
            }
            self.check_text(uri, &reply);
            // Clients can load such a resource themselves.
            let is_of_web = uri.starts_with("https://") || uri.starts_with("http://");
            if is_not_found(&reply) && !is_of_web {
                let finding = reply.finding("expected the contents of a listed resource");
                self.context.fail(Rule::UnreadableResource, finding.about(uri));
            } else if reply.is_answered() {
                self.context.pass(Rule::UnreadableResource);
            }
            if self.is_late() {
                return;
            }
        }
    }

    async fn read_templates(&self) {
        for template in self.context.facts().templates.iter().take(MAX_ITEMS) {
            let Some(uri_template) = template["uriTemplate"].as_str() else { continue };
            let reference = json!({"type": "ref/resource", "uri": uri_template});
            let uri = uri_template::expand(uri_template, |variable| {
                self.completed(&reference, variable).unwrap_or_else(|| ANY_VARIABLE.to_owned())
            });
            let reply = self.context.request("resources/read", Some(json!({"uri": uri}))).await;
            let expected = "expected the server to read a resource of a template that it lists";
            if !self.is_implemented(&reply, uri_template, expected) {
                return;
            }
            self.check_text(&uri, &reply);
            self.check_media_type(template, &uri, &reply);
            if self.is_late() {
                return;
            }
        }
    }

    /// Checks that the contents have the MIME type of the template, which is for all of its
    /// resources.
    fn check_media_type(&self, template: &Value, uri: &str, reply: &Reply) {
        let Some(expected) = template["mimeType"].as_str() else { return };
        let result = reply.result().unwrap_or_default();
        let contents = result["contents"].as_array().map(Vec::as_slice).unwrap_or_default();
        let essence = |it: &str| it.split(';').next().unwrap_or_default().trim().to_lowercase();
        for part in contents.iter().filter(|it| contents.len() == 1 || it["uri"] == uri) {
            match part["mimeType"].as_str().filter(|found| essence(found) != essence(expected)) {
                Some(found) => {
                    let message = format!(
                        "expected the MIME type {expected:?} of the template; the resource has {found:?}"
                    );
                    let finding = Finding::new(message).with_frames(reply.frames());
                    let subject = template["uriTemplate"].as_str().unwrap_or_default();
                    self.context.fail(Rule::TemplateMediaType, finding.about(subject));
                }
                None => self.context.pass(Rule::TemplateMediaType),
            }
        }
    }

    /// Checks that contents with a text are text.
    fn check_text(&self, uri: &str, reply: &Reply) {
        let result = reply.result().unwrap_or_default();
        for part in result["contents"].as_array().into_iter().flatten() {
            let Some(text) = part["text"].as_str() else { continue };
            let media_type = part["mimeType"].as_str().unwrap_or_default();
            let found = match text.contains('\0') {
                true => "a null character".to_owned(),
                false if is_binary(media_type) => format!("the MIME type {media_type:?}"),
                false => {
                    self.context.pass(Rule::BinaryText);
                    continue;
                }
            };
            let expected = "expected a `blob` for a resource that is not text";
            let message = format!("{expected}; the server sent a `text` with {found}");
            let finding = Finding::new(message).with_frames(reply.frames());
            self.context.fail(Rule::BinaryText, finding.about(uri));
        }
    }

    /// Returns false if the server lacks the method, which a listed item needs.
    fn is_implemented(&self, reply: &Reply, item: &str, expected: &str) -> bool {
        if reply.error_code() == Some(code::METHOD_NOT_FOUND) {
            let finding = reply.finding(expected).about(item);
            self.context.fail(Rule::ItemNotImplemented, finding);
            return false;
        }
        if reply.is_answered() {
            self.context.pass(Rule::ItemNotImplemented);
        }
        true
    }
}

/// Returns true if no resource of this MIME type is text.
fn is_binary(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or_default().trim().to_lowercase();
    let is_media = ["image/", "audio/", "video/"].iter().any(|it| essence.starts_with(it));
    // Some formats of images and playlists are text.
    is_media && !["xml", "mpegurl", "svg"].iter().any(|it| essence.contains(it))
}

/// Returns true if the server does not know the resource. Some servers use codes of their own.
fn is_not_found(reply: &Reply) -> bool {
    reply.error().is_some_and(|error| {
        let message = error.message.to_lowercase();
        matches!(error.code, code::RESOURCE_NOT_FOUND | code::INVALID_PARAMS)
            || message.contains("not found")
            || message.contains("unknown resource")
    })
}
