//! Protocol revision 2025-11-25: adds tasks, URL elicitation, icons and tools in sampling.
//! It is the last revision with a handshake.

use super::{
    ErrorCodeDefinition, NotificationDefinition, RequestDefinition, ReservedPrefixes,
    RevisionDefinition,
};
use crate::error::code;

/// The definition of this revision.
pub(super) static RULES: RevisionDefinition = RevisionDefinition {
    name: "2025-11-25",
    modern: false,
    batches: false,
    error_without_id: true,
    primed_streams: true,
    resource_not_found: code::RESOURCE_NOT_FOUND,
    meta_key_rules: true,
    reserved_prefixes: ReservedPrefixes::SecondLabel,
    schema_rules: true,
    tools_refuse_arguments: true,
    reserved_codes: None,
    client_requests: CLIENT_REQUESTS,
    server_requests: SERVER_REQUESTS,
    client_notifications: CLIENT_NOTIFICATIONS,
    server_notifications: SERVER_NOTIFICATIONS,
    client_capabilities: &["elicitation", "experimental", "roots", "sampling", "tasks"],
    server_capabilities: &[
        "completions",
        "experimental",
        "logging",
        "prompts",
        "resources",
        "tasks",
        "tools",
    ],
    content_kinds: &["text", "image", "audio", "resource_link", "resource"],
    sampling_content_kinds: &["text", "image", "audio", "tool_use", "tool_result"],
    result_types: &[],
    extension_methods: &[],
    errors: ERRORS,
    messages: "basic#messages",
    shapes: SHAPES,
};

const CLIENT_REQUESTS: &[RequestDefinition] = requests! {
    "initialize" (InitializeRequestParams) -> InitializeResult at "basic/lifecycle#initialization";
    "ping" (RequestParams) -> EmptyResult at "basic/utilities/ping#message-format" [params_optional()];
    "resources/list" (PaginatedRequestParams) -> ListResourcesResult at "server/resources#listing-resources" [params_optional() needs("resources")];
    "resources/templates/list" (PaginatedRequestParams) -> ListResourceTemplatesResult at "server/resources#resource-templates" [params_optional() needs("resources")];
    "resources/read" (ReadResourceRequestParams) -> ReadResourceResult at "server/resources#reading-resources" [needs("resources")];
    "resources/subscribe" (SubscribeRequestParams) -> EmptyResult at "server/resources#subscriptions" [needs("resources.subscribe")];
    "resources/unsubscribe" (UnsubscribeRequestParams) -> EmptyResult at "server/resources#subscriptions" [needs("resources.subscribe")];
    "prompts/list" (PaginatedRequestParams) -> ListPromptsResult at "server/prompts#listing-prompts" [params_optional() needs("prompts")];
    "prompts/get" (GetPromptRequestParams) -> GetPromptResult at "server/prompts#getting-a-prompt" [needs("prompts")];
    "tools/list" (PaginatedRequestParams) -> ListToolsResult at "server/tools#listing-tools" [params_optional() needs("tools")];
    "tools/call" (CallToolRequestParams) -> CallToolResult at "server/tools#calling-tools" [needs("tools") may_become_task()];
    "tasks/get" (GetTaskRequestParams) -> GetTaskResult at "basic/utilities/tasks#getting-tasks" [needs("tasks")];
    "tasks/result" (GetTaskPayloadRequestParams) -> GetTaskPayloadResult at "basic/utilities/tasks#retrieving-task-results" [needs("tasks")];
    "tasks/cancel" (CancelTaskRequestParams) -> CancelTaskResult at "basic/utilities/tasks#cancelling-tasks" [needs("tasks.cancel")];
    "tasks/list" (PaginatedRequestParams) -> ListTasksResult at "basic/utilities/tasks#listing-tasks" [params_optional() needs("tasks.list")];
    "logging/setLevel" (SetLevelRequestParams) -> EmptyResult at "server/utilities/logging#setting-log-level" [needs("logging")];
    "completion/complete" (CompleteRequestParams) -> CompleteResult at "server/utilities/completion#requesting-completions" [needs("completions")];
};

const SERVER_REQUESTS: &[RequestDefinition] = requests! {
    "ping" (RequestParams) -> EmptyResult at "basic/utilities/ping#message-format" [params_optional()];
    "tasks/get" (GetTaskRequestParams) -> GetTaskResult at "basic/utilities/tasks#getting-tasks" [needs("tasks")];
    "tasks/result" (GetTaskPayloadRequestParams) -> GetTaskPayloadResult at "basic/utilities/tasks#retrieving-task-results" [needs("tasks")];
    "tasks/cancel" (CancelTaskRequestParams) -> CancelTaskResult at "basic/utilities/tasks#cancelling-tasks" [needs("tasks.cancel")];
    "tasks/list" (PaginatedRequestParams) -> ListTasksResult at "basic/utilities/tasks#listing-tasks" [params_optional() needs("tasks.list")];
    "sampling/createMessage" (CreateMessageRequestParams) -> CreateMessageResult at "client/sampling#creating-messages" [needs("sampling") may_become_task()];
    "roots/list" (RequestParams) -> ListRootsResult at "client/roots#listing-roots" [params_optional() needs("roots")];
    "elicitation/create" (ElicitRequestParams) -> ElicitResult at "client/elicitation#elicitation-requests" [needs("elicitation") may_become_task()];
};

const CLIENT_NOTIFICATIONS: &[NotificationDefinition] = notifications! {
    "notifications/cancelled" (CancelledNotificationParams) at "basic/utilities/cancellation#cancellation-flow";
    "notifications/initialized" (NotificationParams) at "basic/lifecycle#initialization" [params_optional()];
    "notifications/progress" (ProgressNotificationParams) at "basic/utilities/progress#progress-flow";
    "notifications/tasks/status" (TaskStatusNotificationParams) at "basic/utilities/tasks#task-status-notification";
    "notifications/roots/list_changed" (NotificationParams) at "client/roots#root-list-changes" [params_optional() needs("roots.listChanged")];
};

const SERVER_NOTIFICATIONS: &[NotificationDefinition] = notifications! {
    "notifications/cancelled" (CancelledNotificationParams) at "basic/utilities/cancellation#cancellation-flow";
    "notifications/progress" (ProgressNotificationParams) at "basic/utilities/progress#progress-flow";
    "notifications/resources/list_changed" (NotificationParams) at "server/resources#list-changed-notification" [params_optional() needs("resources.listChanged")];
    "notifications/resources/updated" (ResourceUpdatedNotificationParams) at "server/resources#subscriptions" [needs("resources.subscribe")];
    "notifications/prompts/list_changed" (NotificationParams) at "server/prompts#list-changed-notification" [params_optional() needs("prompts.listChanged")];
    "notifications/tools/list_changed" (NotificationParams) at "server/tools#list-changed-notification" [params_optional() needs("tools.listChanged")];
    "notifications/tasks/status" (TaskStatusNotificationParams) at "basic/utilities/tasks#task-status-notification";
    "notifications/message" (LoggingMessageNotificationParams) at "server/utilities/logging#log-message-notifications" [needs("logging")];
    "notifications/elicitation/complete" (ElicitationCompleteNotificationParams) at "client/elicitation#completion-notifications-for-url-mode-elicitation";
};

const ERRORS: &[ErrorCodeDefinition] = &[
    ErrorCodeDefinition::standard(code::PARSE_ERROR, "the message is not JSON"),
    ErrorCodeDefinition::standard(
        code::INVALID_REQUEST,
        "not a valid request, or at the wrong time",
    ),
    ErrorCodeDefinition::standard(code::METHOD_NOT_FOUND, "no such method"),
    ErrorCodeDefinition::standard(code::INVALID_PARAMS, "invalid params"),
    ErrorCodeDefinition::standard(code::INTERNAL_ERROR, "the receiver failed"),
    ErrorCodeDefinition::standard(code::RESOURCE_NOT_FOUND, "no such resource"),
    ErrorCodeDefinition::standard(
        code::URL_ELICITATION_REQUIRED,
        "the user must visit a URL first",
    )
    .shaped("URLElicitationRequiredErrorObject"),
];

/// Every type of the revision, in the notation of `check::shape_parser`.
const SHAPES: &str = r#"
Annotations = { audience?: Role[], lastModified?: lastmodified, priority?: number(0..1) }
AudioContent = { type: "audio", annotations?: Annotations, data: base64, mimeType: mediatype, _meta?: object }
BaseMetadata = { name: string, title?: string }
BlobResourceContents = { blob: base64, mimeType?: resourcemediatype, uri: uri, _meta?: object }
BooleanSchema = { type: "boolean", default?: boolean, description?: string, title?: string }
CallToolRequest = { jsonrpc: "2.0", id: RequestId, method: "tools/call", params: CallToolRequestParams }
CallToolRequestParams = { arguments?: object, name: string, task?: TaskMetadata, _meta?: { progressToken?: ProgressToken } }
CallToolResult = { content: ContentBlock[], isError?: boolean, structuredContent?: object, _meta?: object }
CancelTaskRequest = { jsonrpc: "2.0", id: RequestId, method: "tasks/cancel", params: CancelTaskRequestParams }
CancelTaskRequestParams = { taskId: string, _meta?: { progressToken?: ProgressToken } }
CancelTaskResult = Result & Task
CancelledNotification = { jsonrpc: "2.0", method: "notifications/cancelled", params: CancelledNotificationParams }
CancelledNotificationParams = { reason?: string, requestId?: RequestId, _meta?: object }
ClientCapabilities = { elicitation?: { form?: object, url?: object }, experimental?: map<object>, roots?: { listChanged?: boolean }, sampling?: { context?: object, tools?: object }, tasks?: { cancel?: object, list?: object, requests?: { elicitation?: { create?: object }, sampling?: { createMessage?: object } } } }
ClientNotification = CancelledNotification | InitializedNotification | ProgressNotification | TaskStatusNotification | RootsListChangedNotification
ClientRequest = InitializeRequest | PingRequest | ListResourcesRequest | ListResourceTemplatesRequest | ReadResourceRequest | SubscribeRequest | UnsubscribeRequest | ListPromptsRequest | GetPromptRequest | ListToolsRequest | CallToolRequest | GetTaskRequest | GetTaskPayloadRequest | CancelTaskRequest | ListTasksRequest | SetLevelRequest | CompleteRequest
ClientResult = Result | GetTaskResult | GetTaskPayloadResult | CancelTaskResult | ListTasksResult | CreateMessageResult | ListRootsResult | ElicitResult
CompleteRequest = { jsonrpc: "2.0", id: RequestId, method: "completion/complete", params: CompleteRequestParams }
CompleteRequestParams = { argument: { name: string, value: string }, context?: { arguments?: map<string> }, ref: PromptReference | ResourceTemplateReference, _meta?: { progressToken?: ProgressToken } }
CompleteResult = { completion: { hasMore?: boolean, total?: integer, values: string[](..100) }, _meta?: object }
ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource
CreateMessageRequest = { jsonrpc: "2.0", id: RequestId, method: "sampling/createMessage", params: CreateMessageRequestParams }
CreateMessageRequestParams = { includeContext?: "allServers" | "none" | "thisServer", maxTokens: integer, messages: SamplingMessage[], metadata?: object, modelPreferences?: ModelPreferences, stopSequences?: string[], systemPrompt?: string, task?: TaskMetadata, temperature?: number, toolChoice?: ToolChoice, tools?: Tool[], _meta?: { progressToken?: ProgressToken } }
CreateMessageResult = { content: TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent | SamplingMessageContentBlock[], model: string, role: Role, stopReason?: string, _meta?: object }
CreateTaskResult = { task: Task, _meta?: object }
Cursor = string
ElicitRequest = { jsonrpc: "2.0", id: RequestId, method: "elicitation/create", params: ElicitRequestParams }
ElicitRequestFormParams = { message: string, mode?: "form", requestedSchema: { type: "object", $schema?: string, properties: map<PrimitiveSchemaDefinition>, required?: string[] }, task?: TaskMetadata, _meta?: { progressToken?: ProgressToken } }
ElicitRequestParams = ElicitRequestURLParams | ElicitRequestFormParams
ElicitRequestURLParams = { elicitationId: string, message: string, mode: "url", task?: TaskMetadata, url: url, _meta?: { progressToken?: ProgressToken } }
ElicitResult = { action: "accept" | "cancel" | "decline", content?: map<string[] | string | number | boolean>, _meta?: object }
ElicitationCompleteNotification = { jsonrpc: "2.0", method: "notifications/elicitation/complete", params: ElicitationCompleteNotificationParams }
ElicitationCompleteNotificationParams = { elicitationId: string, _meta?: object }
EmbeddedResource = { type: "resource", annotations?: Annotations, resource: TextResourceContents | BlobResourceContents, _meta?: object }
EmptyResult = Result
EnumSchema = UntitledSingleSelectEnumSchema | TitledSingleSelectEnumSchema | UntitledMultiSelectEnumSchema | TitledMultiSelectEnumSchema | LegacyTitledEnumSchema
Error = { code: integer, data?: unknown, message: string }
GetPromptRequest = { jsonrpc: "2.0", id: RequestId, method: "prompts/get", params: GetPromptRequestParams }
GetPromptRequestParams = { arguments?: map<string>, name: string, _meta?: { progressToken?: ProgressToken } }
GetPromptResult = { description?: string, messages: PromptMessage[], _meta?: object }
GetTaskPayloadRequest = { jsonrpc: "2.0", id: RequestId, method: "tasks/result", params: GetTaskPayloadRequestParams }
GetTaskPayloadRequestParams = { taskId: string, _meta?: { progressToken?: ProgressToken } }
GetTaskPayloadResult = { _meta?: object }
GetTaskRequest = { jsonrpc: "2.0", id: RequestId, method: "tasks/get", params: GetTaskRequestParams }
GetTaskRequestParams = { taskId: string, _meta?: { progressToken?: ProgressToken } }
GetTaskResult = Result & Task
Icon = { mimeType?: string, sizes?: iconsize[], src: iconuri, theme?: "dark" | "light" }
Icons = { icons?: Icon[] }
ImageContent = { type: "image", annotations?: Annotations, data: base64, mimeType: mediatype, _meta?: object }
Implementation = { description?: string, icons?: Icon[], name: string, title?: string, version: string, websiteUrl?: string }
InitializeRequest = { jsonrpc: "2.0", id: RequestId, method: "initialize", params: InitializeRequestParams }
InitializeRequestParams = { capabilities: ClientCapabilities, clientInfo: Implementation, protocolVersion: string, _meta?: { progressToken?: ProgressToken } }
InitializeResult = { capabilities: ServerCapabilities, instructions?: string, protocolVersion: string, serverInfo: Implementation, _meta?: object }
InitializedNotification = { jsonrpc: "2.0", method: "notifications/initialized", params?: NotificationParams }
JSONRPCErrorResponse = { jsonrpc: "2.0", id?: RequestId, error: Error }
JSONRPCMessage = JSONRPCRequest | JSONRPCNotification | JSONRPCResultResponse | JSONRPCErrorResponse
JSONRPCNotification = { jsonrpc: "2.0", method: string, params?: object }
JSONRPCRequest = { jsonrpc: "2.0", id: RequestId, method: string, params?: object }
JSONRPCResponse = JSONRPCResultResponse | JSONRPCErrorResponse
JSONRPCResultResponse = { jsonrpc: "2.0", id: RequestId, result: Result }
LegacyTitledEnumSchema = { type: "string", default?: string, description?: string, enum: string[], enumNames?: string[], title?: string }
ListPromptsRequest = { jsonrpc: "2.0", id: RequestId, method: "prompts/list", params?: PaginatedRequestParams }
ListPromptsResult = { nextCursor?: string, prompts: Prompt[], _meta?: object }
ListResourceTemplatesRequest = { jsonrpc: "2.0", id: RequestId, method: "resources/templates/list", params?: PaginatedRequestParams }
ListResourceTemplatesResult = { nextCursor?: string, resourceTemplates: ResourceTemplate[], _meta?: object }
ListResourcesRequest = { jsonrpc: "2.0", id: RequestId, method: "resources/list", params?: PaginatedRequestParams }
ListResourcesResult = { nextCursor?: string, resources: Resource[], _meta?: object }
ListRootsRequest = { jsonrpc: "2.0", id: RequestId, method: "roots/list", params?: RequestParams }
ListRootsResult = { roots: Root[], _meta?: object }
ListTasksRequest = { jsonrpc: "2.0", id: RequestId, method: "tasks/list", params?: PaginatedRequestParams }
ListTasksResult = { nextCursor?: string, tasks: Task[], _meta?: object }
ListToolsRequest = { jsonrpc: "2.0", id: RequestId, method: "tools/list", params?: PaginatedRequestParams }
ListToolsResult = { nextCursor?: string, tools: Tool[], _meta?: object }
LoggingLevel = "alert" | "critical" | "debug" | "emergency" | "error" | "info" | "notice" | "warning"
LoggingMessageNotification = { jsonrpc: "2.0", method: "notifications/message", params: LoggingMessageNotificationParams }
LoggingMessageNotificationParams = { data: unknown, level: LoggingLevel, logger?: string, _meta?: object }
ModelHint = { name?: string }
ModelPreferences = { costPriority?: number(0..1), hints?: ModelHint[], intelligencePriority?: number(0..1), speedPriority?: number(0..1) }
MultiSelectEnumSchema = UntitledMultiSelectEnumSchema | TitledMultiSelectEnumSchema
Notification = { method: string, params?: object }
NotificationParams = { _meta?: object }
NumberSchema = { type: "integer" | "number", default?: number, description?: string, maximum?: number, minimum?: number, title?: string }
PaginatedRequest = { jsonrpc: "2.0", id: RequestId, method: string, params?: PaginatedRequestParams }
PaginatedRequestParams = { cursor?: string, _meta?: { progressToken?: ProgressToken } }
PaginatedResult = { nextCursor?: string, _meta?: object }
PingRequest = { jsonrpc: "2.0", id: RequestId, method: "ping", params?: RequestParams }
PrimitiveSchemaDefinition = StringSchema | NumberSchema | BooleanSchema | UntitledSingleSelectEnumSchema | TitledSingleSelectEnumSchema | UntitledMultiSelectEnumSchema | TitledMultiSelectEnumSchema | LegacyTitledEnumSchema
ProgressNotification = { jsonrpc: "2.0", method: "notifications/progress", params: ProgressNotificationParams }
ProgressNotificationParams = { message?: string, progress: number, progressToken: ProgressToken, total?: number, _meta?: object }
ProgressToken = string | integer
Prompt = { arguments?: PromptArgument[], description?: string, icons?: Icon[], name: string, title?: string, _meta?: object }
PromptArgument = { description?: string, name: string, required?: boolean, title?: string }
PromptListChangedNotification = { jsonrpc: "2.0", method: "notifications/prompts/list_changed", params?: NotificationParams }
PromptMessage = { content: ContentBlock, role: Role }
PromptReference = { type: "ref/prompt", name: string, title?: string }
ReadResourceRequest = { jsonrpc: "2.0", id: RequestId, method: "resources/read", params: ReadResourceRequestParams }
ReadResourceRequestParams = { uri: string, _meta?: { progressToken?: ProgressToken } }
ReadResourceResult = { contents: (TextResourceContents | BlobResourceContents)[], _meta?: object }
RelatedTaskMetadata = { taskId: string }
Request = { method: string, params?: object }
RequestId = string | integer
RequestParams = { _meta?: { progressToken?: ProgressToken } }
Resource = { annotations?: Annotations, description?: string, icons?: Icon[], mimeType?: resourcemediatype, name: string, size?: integer, title?: string, uri: uri, _meta?: object }
ResourceContents = { mimeType?: resourcemediatype, uri: uri, _meta?: object }
ResourceLink = { type: "resource_link", annotations?: Annotations, description?: string, icons?: Icon[], mimeType?: resourcemediatype, name: string, size?: integer, title?: string, uri: uri, _meta?: object }
ResourceListChangedNotification = { jsonrpc: "2.0", method: "notifications/resources/list_changed", params?: NotificationParams }
ResourceRequestParams = { uri: string, _meta?: { progressToken?: ProgressToken } }
ResourceTemplate = { annotations?: Annotations, description?: string, icons?: Icon[], mimeType?: resourcemediatype, name: string, title?: string, uriTemplate: uritemplate, _meta?: object }
ResourceTemplateReference = { type: "ref/resource", uri: string }
ResourceUpdatedNotification = { jsonrpc: "2.0", method: "notifications/resources/updated", params: ResourceUpdatedNotificationParams }
ResourceUpdatedNotificationParams = { uri: uri, _meta?: object }
Result = { _meta?: object }
Role = "assistant" | "user"
Root = { name?: string, uri: string, _meta?: object }
RootsListChangedNotification = { jsonrpc: "2.0", method: "notifications/roots/list_changed", params?: NotificationParams }
SamplingMessage = { content: TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent | SamplingMessageContentBlock[], role: Role, _meta?: object }
SamplingMessageContentBlock = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent
ServerCapabilities = { completions?: object, experimental?: map<object>, logging?: object, prompts?: { listChanged?: boolean }, resources?: { listChanged?: boolean, subscribe?: boolean }, tasks?: { cancel?: object, list?: object, requests?: { tools?: { call?: object } } }, tools?: { listChanged?: boolean } }
ServerNotification = CancelledNotification | ProgressNotification | ResourceListChangedNotification | ResourceUpdatedNotification | PromptListChangedNotification | ToolListChangedNotification | TaskStatusNotification | LoggingMessageNotification | ElicitationCompleteNotification
ServerRequest = PingRequest | GetTaskRequest | GetTaskPayloadRequest | CancelTaskRequest | ListTasksRequest | CreateMessageRequest | ListRootsRequest | ElicitRequest
ServerResult = Result | InitializeResult | ListResourcesResult | ListResourceTemplatesResult | ReadResourceResult | ListPromptsResult | GetPromptResult | ListToolsResult | CallToolResult | GetTaskResult | GetTaskPayloadResult | CancelTaskResult | ListTasksResult | CompleteResult
SetLevelRequest = { jsonrpc: "2.0", id: RequestId, method: "logging/setLevel", params: SetLevelRequestParams }
SetLevelRequestParams = { level: LoggingLevel, _meta?: { progressToken?: ProgressToken } }
SingleSelectEnumSchema = UntitledSingleSelectEnumSchema | TitledSingleSelectEnumSchema
StringSchema = { type: "string", default?: string, description?: string, format?: "date" | "date-time" | "email" | "uri", maxLength?: integer, minLength?: integer, title?: string }
SubscribeRequest = { jsonrpc: "2.0", id: RequestId, method: "resources/subscribe", params: SubscribeRequestParams }
SubscribeRequestParams = { uri: string, _meta?: { progressToken?: ProgressToken } }
Task = { createdAt: timestamp, lastUpdatedAt: timestamp, pollInterval?: integer, status: TaskStatus, statusMessage?: string, taskId: string, ttl: integer | null }
TaskAugmentedRequestParams = { task?: TaskMetadata, _meta?: { progressToken?: ProgressToken } }
TaskMetadata = { ttl?: integer }
TaskStatus = "cancelled" | "completed" | "failed" | "input_required" | "working"
TaskStatusNotification = { jsonrpc: "2.0", method: "notifications/tasks/status", params: TaskStatusNotificationParams }
TaskStatusNotificationParams = NotificationParams & Task
TextContent = { type: "text", annotations?: Annotations, text: string, _meta?: object }
TextResourceContents = { mimeType?: resourcemediatype, text: string, uri: uri, _meta?: object }
TitledMultiSelectEnumSchema = { type: "array", default?: string[], description?: string, items: { anyOf: { const: string, title: string }[] }, maxItems?: integer, minItems?: integer, title?: string }
TitledSingleSelectEnumSchema = { type: "string", default?: string, description?: string, oneOf: { const: string, title: string }[], title?: string }
Tool = { annotations?: ToolAnnotations, description?: string, execution?: ToolExecution, icons?: Icon[], inputSchema: { type: "object", $schema?: string, properties?: map<object>, required?: string[] }, name: string, outputSchema?: { type: "object", $schema?: string, properties?: map<object>, required?: string[] }, title?: string, _meta?: object }
ToolAnnotations = { destructiveHint?: boolean, idempotentHint?: boolean, openWorldHint?: boolean, readOnlyHint?: boolean, title?: string }
ToolChoice = { mode?: "auto" | "none" | "required" }
ToolExecution = { taskSupport?: "forbidden" | "optional" | "required" }
ToolListChangedNotification = { jsonrpc: "2.0", method: "notifications/tools/list_changed", params?: NotificationParams }
ToolResultContent = { type: "tool_result", content: ContentBlock[], isError?: boolean, structuredContent?: object, toolUseId: string, _meta?: object }
ToolUseContent = { id: string, type: "tool_use", input: object, name: string, _meta?: object }
URLElicitationRequiredError = { jsonrpc: "2.0", id?: RequestId, error: URLElicitationRequiredErrorObject }
URLElicitationRequiredErrorObject = Error & { code: -32042, data: { elicitations: ElicitRequestURLParams[] } }
UnsubscribeRequest = { jsonrpc: "2.0", id: RequestId, method: "resources/unsubscribe", params: UnsubscribeRequestParams }
UnsubscribeRequestParams = { uri: string, _meta?: { progressToken?: ProgressToken } }
UntitledMultiSelectEnumSchema = { type: "array", default?: string[], description?: string, items: { type: "string", enum: string[] }, maxItems?: integer, minItems?: integer, title?: string }
UntitledSingleSelectEnumSchema = { type: "string", default?: string, description?: string, enum: string[], title?: string }
"#;
