//! Checks the rules of single frames that no shape expresses: empty results of `ping`, the
//! schemas and names of tools, resources in prompts, names of extensions, the text of
//! structured content, and tool uses in sampling requests.

use std::collections::HashSet;

use super::checker::Checker;
use super::formats::meta_key_problem;
use super::json_path::JsonPath;
use super::schema_syntax::schema_problem;
use super::violation_collector::ViolationCollector;
use crate::json::{Json, JsonKind};
use crate::rule::Rule;

/// The maximum number of characters in the name of a tool.
const MAX_TOOL_NAME: usize = 128;

impl Checker {
    /// Checks the result of a method beyond its shape.
    pub(super) fn check_result_rules(
        &self,
        method: &str,
        result: Json<'_>,
        path: &JsonPath<'_>,
        out: &mut ViolationCollector<'_>,
    ) {
        match method {
            "ping" => check_empty(result, path, out),
            "tools/list" => {
                if self.revision.definition().schema_rules {
                    check_tool_schemas(result, path, out);
                }
                if Rule::InvalidToolName.applies_in(self.revision) {
                    check_tool_names(result, path, out);
                }
            }
            "tools/call" if Rule::MissingStructuredText.applies_in(self.revision) => {
                check_structured_text(result, path, out);
            }
            "prompts/get" => check_prompt_resources(result, path, out),
            "server/discover" => check_extensions(result, path, out),
            "completion/complete" => check_completion_total(result, path, out),
            _ => {}
        }
    }

    /// Checks the params of a request beyond their shape.
    pub(super) fn check_request_rules(
        &self,
        method: &str,
        params: Json<'_>,
        path: &JsonPath<'_>,
        out: &mut ViolationCollector<'_>,
    ) {
        let kinds = self.revision.definition().sampling_content_kinds;
        if method == "sampling/createMessage" && kinds.contains(&"tool_use") {
            check_tool_balance(params, path, out);
        }
    }

    /// Checks the requests inside a result that asks for input.
    pub(super) fn check_input_requests(
        &self,
        result: Json<'_>,
        path: &JsonPath<'_>,
        out: &mut ViolationCollector<'_>,
    ) {
        let requests = path.name("inputRequests");
        let found = result.get("inputRequests").unwrap_or(Json::EMPTY_OBJECT);
        for (key, request) in found.members() {
            let method = request.get("method").and_then(Json::as_str).unwrap_or_default();
            if let Some(params) = request.get("params") {
                let request = requests.key(key);
                self.check_request_rules(&method, params, &request.name("params"), out);
            }
        }
    }
}

fn check_empty(result: Json<'_>, path: &JsonPath<'_>, out: &mut ViolationCollector<'_>) {
    if let Some((key, _)) = result.members().find(|(key, _)| !key.is("_meta")) {
        out.add_in_own_section(Rule::NonEmptyPing, &path.key(key), || {
            format!("the result of ping must be empty, but has {:?}", key.name())
        });
    }
}

fn check_tool_schemas(result: Json<'_>, path: &JsonPath<'_>, out: &mut ViolationCollector<'_>) {
    let tools = path.name("tools");
    let found = result.get("tools").unwrap_or(Json::EMPTY_OBJECT);
    for (index, tool) in found.items().enumerate() {
        for name in ["inputSchema", "outputSchema"] {
            // The shape reports schemas of another type.
            let schema = tool.get(name).filter(|it| it.is_object());
            let Some((inside, message)) = schema.and_then(schema_problem) else { continue };
            let path = format!("{}{inside}", tools.index(index).name(name));
            out.add_in_own_section(Rule::InvalidJsonSchema, &JsonPath::new(&path), || {
                let tool = tool.get("name").and_then(Json::as_str).unwrap_or_default();
                format!("the schema of tool {tool:?} is not valid: {message}")
            });
        }
    }
}

/// Checks the names of tools (2025-11-25 and later, server/tools#tool-names).
fn check_tool_names(result: Json<'_>, path: &JsonPath<'_>, out: &mut ViolationCollector<'_>) {
    let tools = path.name("tools");
    let found = result.get("tools").unwrap_or(Json::EMPTY_OBJECT);
    let is_allowed = |it: u8| it.is_ascii_alphanumeric() || b"_-.".contains(&it);
    let mut names = HashSet::new();
    for (index, tool) in found.items().enumerate() {
        let Some(name) = tool.get("name").and_then(Json::as_str) else { continue };
        let tool = tools.index(index);
        let here = tool.name("name");
        let length = name.chars().count();
        if !(1..=MAX_TOOL_NAME).contains(&length) {
            out.add_in_own_section(Rule::InvalidToolName, &here, || {
                format!("expected 1 to {MAX_TOOL_NAME} characters, found {length}")
            });
        } else if !name.bytes().all(is_allowed) {
            out.add_in_own_section(Rule::InvalidToolName, &here, || {
                format!("expected only ASCII letters, digits and _-., found {name:?}")
            });
        }
        if let Some(name) = names.replace(name) {
            out.add_in_own_section(Rule::DuplicateToolName, &here, || {
                format!("another tool has the name {name:?}")
            });
        }
    }
}

/// Reports structured content without any text (2025-06-18 and later,
/// server/tools#structured-content). The text itself is not compared, since a server can
/// serialize in its own way.
fn check_structured_text(result: Json<'_>, path: &JsonPath<'_>, out: &mut ViolationCollector<'_>) {
    let is_text =
        |block: Json<'_>| block.get("type").and_then(Json::as_str).as_deref() == Some("text");
    let content = result.get("content").unwrap_or(Json::EMPTY_OBJECT);
    if result.get("structuredContent").is_some() && !content.items().any(is_text) {
        out.add_in_own_section(Rule::MissingStructuredText, &path.name("content"), || {
            "the result has structuredContent, but no text block with its JSON".to_owned()
        });
    }
}

/// Reports embedded resources of a prompt without a MIME type, or an empty one (all revisions,
/// server/prompts#embedded-resources). The schema has it as optional.
fn check_prompt_resources(result: Json<'_>, path: &JsonPath<'_>, out: &mut ViolationCollector<'_>) {
    let messages = path.name("messages");
    let found = result.get("messages").unwrap_or(Json::EMPTY_OBJECT);
    for (index, message) in found.items().enumerate() {
        let is_embedded = message.get_path(&["content", "type"]).and_then(Json::as_str).as_deref()
            == Some("resource");
        let Some(resource) = message.get_path(&["content", "resource"]).filter(|_| is_embedded)
        else {
            continue;
        };
        let media_type = resource.get("mimeType");
        let is_empty = media_type.and_then(Json::as_str).is_some_and(|it| it.trim().is_empty());
        if resource.is_object() && (media_type.is_none() || is_empty) {
            let path = messages.index(index);
            let (content, resource) = (path.name("content"), "resource");
            let here = content.name(resource);
            out.add_in_own_section(Rule::MissingResourceMediaType, &here, || {
                "an embedded resource of a prompt must have a mimeType".to_owned()
            });
        }
    }
}

/// Reports a `total` and `hasMore` that contradict the values (all revisions,
/// server/utilities/completion#completion-results).
fn check_completion_total(result: Json<'_>, path: &JsonPath<'_>, out: &mut ViolationCollector<'_>) {
    let Some(completion) = result.get("completion") else { return };
    let values = completion.get("values").filter(|it| it.kind() == JsonKind::Array);
    let Some(values) = values.map(|it| it.items().count() as i64) else { return };
    let total = completion.get("total").and_then(Json::as_i64);
    let has_more = completion.get("hasMore").and_then(Json::as_bool);
    let message = match (total, has_more) {
        (Some(total), _) if total < values => {
            format!("the total {total} is less than the number of values, {values}")
        }
        (Some(total), Some(false)) if total > values => {
            format!("hasMore is false, but only {values} of {total} values are there")
        }
        (Some(total), Some(true)) if total == values => {
            format!("hasMore is true, but all {total} values are there")
        }
        _ => return,
    };
    out.add_in_own_section(Rule::CompletionTotal, &path.name("completion"), || message);
}

fn check_extensions(result: Json<'_>, path: &JsonPath<'_>, out: &mut ViolationCollector<'_>) {
    let (capabilities, name) = (path.name("capabilities"), "extensions");
    let found = result.get_path(&["capabilities", name]).unwrap_or(Json::EMPTY_OBJECT);
    for (key, _) in found.members() {
        if let Some(problem) = meta_key_problem(&key.name(), true) {
            let extensions = capabilities.name(name);
            out.add_in_own_section(Rule::InvalidExtension, &extensions.key(key), || problem);
        }
    }
}

/// Checks that the uses of tools in one message are followed by a message with exactly
/// their results.
fn check_tool_balance(params: Json<'_>, path: &JsonPath<'_>, out: &mut ViolationCollector<'_>) {
    let messages = path.name("messages");
    let found = params.get("messages").unwrap_or(Json::EMPTY_OBJECT);
    let mut open: HashSet<String> = HashSet::new();
    let mut last = None;
    for (index, message) in found.items().enumerate() {
        let here = messages.index(index);
        let mut report = |message: String| {
            out.add_in_own_section(Rule::UnbalancedTools, &here.name("content"), || message);
        };
        let blocks = content_blocks(message);
        let results = ids(&blocks, "tool_result", "toolUseId");
        if !results.is_empty() && results.len() < blocks.len() {
            report("tool results and other content must not be in one message".to_owned());
        } else if !open.is_empty() && results != open {
            report(
                "this message must hold exactly the results of the tool uses before it".to_owned(),
            );
        } else if open.is_empty() && !results.is_empty() {
            report("no tool use precedes these tool results".to_owned());
        }
        open = ids(&blocks, "tool_use", "id");
        last = Some(index);
    }
    if let Some(index) = last.filter(|_| !open.is_empty()) {
        let here = messages.index(index);
        out.add_in_own_section(Rule::UnbalancedTools, &here.name("content"), || {
            "no message with the results follows these tool uses".to_owned()
        });
    }
}

/// Returns the content of a message, which is one block or a list of blocks.
fn content_blocks(message: Json<'_>) -> Vec<Json<'_>> {
    match message.get("content") {
        Some(block) if block.is_object() => vec![block],
        Some(blocks) => blocks.items().collect(),
        None => Vec::new(),
    }
}

fn ids(blocks: &[Json<'_>], kind: &str, field: &str) -> HashSet<String> {
    let of_kind =
        blocks.iter().filter(|it| it.get("type").and_then(Json::as_str).as_deref() == Some(kind));
    of_kind.filter_map(|it| Some(it.get(field)?.as_str()?.into_owned())).collect()
}
