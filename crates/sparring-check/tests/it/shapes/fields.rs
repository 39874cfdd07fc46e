//! The fields of the answers of a server, and the ways to break them.
//!
//! A line of a table is the path of a field, its type with `!` if it is required, and the
//! first and the last revision that have it. A type such as `a|b` is a choice of texts.

use std::fmt;

use serde_json::{Value, json};
use sparring_wire::Revision;

/// One way to break one field.
#[derive(Clone)]
pub(super) struct Break {
    field: String,
    /// The wrong value, or `None` if the field is missing.
    value: Option<Value>,
}

impl fmt::Display for Break {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Some(value) => write!(f, "{}={value}", self.field),
            None => write!(f, "-{}", self.field),
        }
    }
}

impl Break {
    /// Breaks the field in this value.
    pub(super) fn apply(&self, value: &mut Value) {
        let mut names: Vec<&str> = self.field.split('/').collect();
        let last = names.pop().unwrap();
        let parent = names.into_iter().fold(value, |parent, name| step(parent, name));
        match &self.value {
            Some(value) => *step(parent, last) = value.clone(),
            None => drop(parent.as_object_mut().unwrap().remove(last)),
        }
    }

    /// Returns the path of the field as findings write it.
    pub(super) fn path(&self, base: &str) -> String {
        self.field.split('/').fold(base.to_owned(), |path, name| match name {
            _ if name.bytes().all(|it| it.is_ascii_digit()) => format!("{path}[{name}]"),
            _ if name.contains('.') => format!("{path}[\"{}\"]", name.replace('~', "/")),
            _ => format!("{path}.{name}"),
        })
    }
}

/// Returns a part of a value; creates it if it is missing.
fn step<'a>(parent: &'a mut Value, name: &str) -> &'a mut Value {
    match (name.parse::<usize>(), parent.is_array()) {
        (Ok(index), true) => &mut parent[index],
        (Ok(0), false) => {
            *parent = json!([{}]);
            &mut parent[0]
        }
        _ => {
            if !parent.is_object() {
                *parent = json!({});
            }
            &mut parent[name.replace('~', "/")]
        }
    }
}

/// Returns all ways to break the fields of a table in this revision.
pub(super) fn breaks_of(table: &str, revision: Revision) -> Vec<Break> {
    let lines = table.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.flat_map(|line| breaks_of_field(line, revision)).collect()
}

fn breaks_of_field(line: &str, revision: Revision) -> Vec<Break> {
    let mut columns = line.split_whitespace();
    let field = columns.next().unwrap();
    let kind = columns.next().unwrap();
    let since = columns.next().unwrap_or(Revision::ALL[0].name());
    let until = columns.next().unwrap_or(Revision::LATEST.name());
    if !(since..=until).contains(&revision.name()) {
        return Vec::new();
    }
    let (kind, required) = match kind.strip_suffix('!') {
        Some(kind) => (kind, true),
        None => (kind, false),
    };
    let wrong = match kind {
        "string" => vec![json!(7), json!(["text"])],
        "boolean" => vec![json!("true"), json!(1)],
        "integer" => vec![json!("1"), json!(1.5)],
        "count" => vec![json!("1"), json!(1.5), json!(-1)],
        "number" => vec![json!("1")],
        "share" => vec![json!("1"), json!(1.5), json!(-0.1)],
        "object" => vec![json!("text"), json!([]), json!(true)],
        "array" => vec![json!("text"), json!({})],
        "id" => vec![json!({}), json!(true)],
        "any" => Vec::new(),
        _ => vec![json!("sparring-wrong"), json!(7)],
    };
    let null = (kind != "any").then(|| Some(Value::Null));
    let values = wrong.into_iter().map(Some).chain(null).chain(required.then_some(None));
    values.map(|value| Break { field: field.to_owned(), value }).collect()
}

pub(super) const INITIALIZE: &str = "
    protocolVersion string!
    capabilities object!
    capabilities/tools object
    capabilities/tools/listChanged boolean
    capabilities/prompts object
    capabilities/prompts/listChanged boolean
    capabilities/resources object
    capabilities/resources/listChanged boolean
    capabilities/resources/subscribe boolean
    capabilities/logging object
    capabilities/completions object 2025-03-26
    capabilities/experimental object
    capabilities/experimental/sparring object
    capabilities/tasks object 2025-11-25
    capabilities/tasks/requests object 2025-11-25
    capabilities/tasks/cancel object 2025-11-25
    serverInfo object!
    serverInfo/name string!
    serverInfo/version string!
    serverInfo/title string 2025-06-18
    serverInfo/description string 2025-11-25
    serverInfo/websiteUrl string 2025-11-25
    serverInfo/icons array 2025-11-25
    serverInfo/icons/0/src string! 2025-11-25
    serverInfo/icons/0/theme light|dark 2025-11-25
    instructions string
    _meta object
";

pub(super) const DISCOVER: &str = "
    supportedVersions array!
    supportedVersions/0 string
    capabilities object!
    capabilities/tools object
    capabilities/tools/listChanged boolean
    capabilities/prompts/listChanged boolean
    capabilities/resources object
    capabilities/resources/subscribe boolean
    capabilities/logging object
    capabilities/completions object
    capabilities/experimental object
    capabilities/extensions object
    capabilities/extensions/com.example~one object
    instructions string
    resultType string!
    ttlMs count!
    cacheScope public|private!
    _meta object
    _meta/io.modelcontextprotocol~serverInfo object
    _meta/io.modelcontextprotocol~serverInfo/name string!
    _meta/io.modelcontextprotocol~serverInfo/version string!
";

/// The fields of results outside their lists.
pub(super) const RESULTS: &[(&str, &str)] = &[
    (
        "tools/list",
        "
        tools array!
        nextCursor string
        resultType string! 2026-07-28
        ttlMs count! 2026-07-28
        cacheScope public|private! 2026-07-28
        _meta object
    ",
    ),
    (
        "resources/list",
        "
        resources array!
        nextCursor string
        resultType string! 2026-07-28
        ttlMs count! 2026-07-28
        cacheScope public|private! 2026-07-28
        _meta object
    ",
    ),
    (
        "resources/templates/list",
        "
        resourceTemplates array!
        nextCursor string
        resultType string! 2026-07-28
        ttlMs count! 2026-07-28
        cacheScope public|private! 2026-07-28
        _meta object
    ",
    ),
    (
        "prompts/list",
        "
        prompts array!
        nextCursor string
        resultType string! 2026-07-28
        ttlMs count! 2026-07-28
        cacheScope public|private! 2026-07-28
        _meta object
    ",
    ),
    (
        "tools/call",
        "
        content array!
        isError boolean
        structuredContent object 2025-06-18 2025-11-25
        resultType string! 2026-07-28
        _meta object
    ",
    ),
    (
        "resources/read",
        "
        contents array!
        resultType string! 2026-07-28
        ttlMs count! 2026-07-28
        cacheScope public|private! 2026-07-28
        _meta object
    ",
    ),
    (
        "prompts/get",
        "
        messages array!
        description string
        resultType string! 2026-07-28
        _meta object
    ",
    ),
    (
        "completion/complete",
        "
        completion object!
        completion/values array!
        completion/values/0 string
        completion/total integer
        completion/hasMore boolean
        resultType string! 2026-07-28
        _meta object
    ",
    ),
];

pub(super) const TOOL: &str = "
    name string!
    title string 2025-06-18
    description string
    inputSchema object!
    inputSchema/type text!
    inputSchema/properties object 2024-11-05 2025-11-25
    inputSchema/properties/text object 2024-11-05 2025-11-25
    inputSchema/required array 2024-11-05 2025-11-25
    inputSchema/required/0 string 2024-11-05 2025-11-25
    outputSchema object 2025-06-18
    outputSchema/type text! 2025-06-18 2025-11-25
    annotations object 2025-03-26
    annotations/title string 2025-03-26
    annotations/readOnlyHint boolean 2025-03-26
    annotations/destructiveHint boolean 2025-03-26
    annotations/idempotentHint boolean 2025-03-26
    annotations/openWorldHint boolean 2025-03-26
    icons array 2025-11-25
    icons/0 object 2025-11-25
    icons/0/src string! 2025-11-25
    icons/0/mimeType string 2025-11-25
    icons/0/sizes array 2025-11-25
    icons/0/sizes/0 string 2025-11-25
    icons/0/theme light|dark 2025-11-25
    execution object 2025-11-25 2025-11-25
    execution/taskSupport forbidden|optional|required 2025-11-25 2025-11-25
    _meta object 2025-06-18
";

pub(super) const RESOURCE: &str = "
    uri string!
    name string!
    title string 2025-06-18
    description string
    mimeType string
    size integer
    annotations object
    annotations/audience array
    annotations/audience/0 user|assistant
    annotations/priority share
    annotations/lastModified string 2025-06-18
    icons array 2025-11-25
    icons/0/src string! 2025-11-25
    _meta object 2025-06-18
";

pub(super) const TEMPLATE: &str = "
    uriTemplate string!
    name string!
    title string 2025-06-18
    description string
    mimeType string
    annotations object
    annotations/audience array
    annotations/priority share
    icons array 2025-11-25
    _meta object 2025-06-18
";

pub(super) const PROMPT: &str = "
    name string!
    title string 2025-06-18
    description string
    arguments array
    arguments/0 object
    arguments/0/name string!
    arguments/0/title string 2025-06-18
    arguments/0/description string
    arguments/0/required boolean
    icons array 2025-11-25
    icons/0/src string! 2025-11-25
    _meta object 2025-06-18
";

/// The fields of content blocks of every kind: the name of the sample, then the table.
pub(super) const BLOCKS: &[(&str, &str)] = &[
    (
        "text",
        "
        type string!
        text string!
        annotations object
        annotations/audience array
        annotations/audience/0 user|assistant
        annotations/priority share
        annotations/lastModified string 2025-06-18
        _meta object 2025-06-18
    ",
    ),
    (
        "image",
        "
        type string!
        data string!
        mimeType string!
        annotations object
        _meta object 2025-06-18
    ",
    ),
    (
        "audio",
        "
        type string! 2025-03-26
        data string! 2025-03-26
        mimeType string! 2025-03-26
        annotations object 2025-03-26
        _meta object 2025-06-18
    ",
    ),
    (
        "resource_link",
        "
        type string! 2025-06-18
        uri string! 2025-06-18
        name string! 2025-06-18
        title string 2025-06-18
        description string 2025-06-18
        mimeType string 2025-06-18
        size integer 2025-06-18
        annotations object 2025-06-18
        icons array 2025-11-25
        _meta object 2025-06-18
    ",
    ),
    (
        "resource",
        "
        type string!
        resource object!
        resource/uri string!
        resource/text string!
        resource/mimeType string
        resource/_meta object 2025-06-18
        annotations object
        annotations/priority share
        _meta object 2025-06-18
    ",
    ),
    (
        "blob",
        "
        resource/uri string!
        resource/blob string
        resource/mimeType string
        resource/_meta object 2025-06-18
    ",
    ),
];

pub(super) const TEXT_CONTENTS: &str = "
    uri string!
    text string!
    mimeType string
    _meta object 2025-06-18
";

pub(super) const BLOB_CONTENTS: &str = "
    uri string!
    blob string
    mimeType string
    _meta object 2025-06-18
";

pub(super) const MESSAGE: &str = "
    role user|assistant!
    content object!
";

/// The fields of the params of notifications.
pub(super) const NOTIFICATIONS: &[(&str, &str)] = &[
    (
        "notifications/message",
        "
        level debug|info|notice|warning|error|critical|alert|emergency!
        data any!
        logger string
        _meta object
    ",
    ),
    (
        "notifications/progress",
        "
        progressToken id!
        progress number!
        total number
        message string 2025-03-26
        _meta object
    ",
    ),
    (
        "notifications/cancelled",
        "
        requestId id! 2024-11-05 2025-06-18
        requestId id 2025-11-25
        reason string
        _meta object
    ",
    ),
    (
        "notifications/resources/updated",
        "
        uri string!
        _meta object
    ",
    ),
    (
        "notifications/tools/list_changed",
        "
        _meta object
    ",
    ),
    (
        "notifications/prompts/list_changed",
        "
        _meta object
    ",
    ),
    (
        "notifications/resources/list_changed",
        "
        _meta object
    ",
    ),
    (
        "notifications/tasks/status",
        "
        taskId string! 2025-11-25 2025-11-25
        status working|input_required|completed|failed|cancelled! 2025-11-25 2025-11-25
        statusMessage string 2025-11-25 2025-11-25
        createdAt string! 2025-11-25 2025-11-25
        lastUpdatedAt string! 2025-11-25 2025-11-25
        pollInterval integer 2025-11-25 2025-11-25
    ",
    ),
    (
        "notifications/elicitation/complete",
        "
        elicitationId string! 2025-11-25 2025-11-25
    ",
    ),
    (
        "notifications/subscriptions/acknowledged",
        "
        notifications object! 2026-07-28
        notifications/toolsListChanged boolean 2026-07-28
        notifications/resourceSubscriptions array 2026-07-28
        notifications/resourceSubscriptions/0 string 2026-07-28
    ",
    ),
];

/// The fields of the params of the questions of a server.
pub(super) const QUESTIONS: &[(&str, &str)] = &[
    (
        "sampling/createMessage",
        "
        messages array!
        messages/0/role user|assistant!
        messages/0/content/type string!
        messages/0/content/text string!
        maxTokens integer!
        systemPrompt string
        temperature number
        stopSequences array
        stopSequences/0 string
        includeContext none|thisServer|allServers
        modelPreferences object
        modelPreferences/hints array
        modelPreferences/costPriority share
        metadata object
        tools array 2025-11-25
        tools/0/name string! 2025-11-25
        toolChoice object 2025-11-25
        toolChoice/mode auto|required|none 2025-11-25
    ",
    ),
    (
        "elicitation/create",
        "
        message string! 2025-06-18
        requestedSchema object! 2025-06-18
        requestedSchema/type text! 2025-06-18
        requestedSchema/properties object! 2025-06-18
        requestedSchema/required array 2025-06-18
        requestedSchema/properties/name/type text! 2025-06-18
        requestedSchema/properties/name/title string 2025-06-18
        requestedSchema/properties/name/minLength integer 2025-06-18
    ",
    ),
];
