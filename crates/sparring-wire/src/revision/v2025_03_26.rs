//! Protocol revision 2025-03-26: adds audio, tool annotations, the capability
//! `completions`, and batches, which only this revision has.

use super::{
    ErrorCodeDefinition, NotificationDefinition, RequestDefinition, ReservedPrefixes,
    RevisionDefinition,
};
use crate::error::code;

/// The definition of this revision.
pub(super) static RULES: RevisionDefinition = RevisionDefinition {
    name: "2025-03-26",
    modern: false,
    batches: true,
    error_without_id: false,
    primed_streams: false,
    resource_not_found: code::RESOURCE_NOT_FOUND,
    meta_key_rules: false,
    reserved_prefixes: ReservedPrefixes::None,
    schema_rules: false,
    tools_refuse_arguments: false,
    reserved_codes: None,
    client_requests: CLIENT_REQUESTS,
    server_requests: SERVER_REQUESTS,
    client_notifications: CLIENT_NOTIFICATIONS,
    server_notifications: SERVER_NOTIFICATIONS,
    client_capabilities: &["experimental", "roots", "sampling"],
    server_capabilities: &[
        "completions",
        "experimental",
        "logging",
        "prompts",
        "resources",
        "tools",
    ],
    content_kinds: &["text", "image", "audio", "resource"],
    sampling_content_kinds: &["text", "image", "audio"],
    result_types: &[],
    extension_methods: &[],
    errors: ERRORS,
    messages: "basic#messages",
    shapes: SHAPES,
};

const CLIENT_REQUESTS: &[RequestDefinition] = requests! {
    "initialize" (InitializeRequestParams) -> InitializeResult at "basic/lifecycle#initialization";
    "ping" (PingRequestParams) -> EmptyResult at "basic/utilities/ping#message-format" [params_optional()];
    "resources/list" (ListResourcesRequestParams) -> ListResourcesResult at "server/resources#listing-resources" [params_optional() needs("resources")];
    "resources/templates/list" (ListResourceTemplatesRequestParams) -> ListResourceTemplatesResult at "server/resources#resource-templates" [params_optional() needs("resources")];
    "resources/read" (ReadResourceRequestParams) -> ReadResourceResult at "server/resources#reading-resources" [needs("resources")];
    "resources/subscribe" (SubscribeRequestParams) -> EmptyResult at "server/resources#subscriptions" [needs("resources.subscribe")];
    "resources/unsubscribe" (UnsubscribeRequestParams) -> EmptyResult at "server/resources#subscriptions" [needs("resources.subscribe")];
    "prompts/list" (ListPromptsRequestParams) -> ListPromptsResult at "server/prompts#listing-prompts" [params_optional() needs("prompts")];
    "prompts/get" (GetPromptRequestParams) -> GetPromptResult at "server/prompts#getting-a-prompt" [needs("prompts")];
    "tools/list" (ListToolsRequestParams) -> ListToolsResult at "server/tools#listing-tools" [params_optional() needs("tools")];
    "tools/call" (CallToolRequestParams) -> CallToolResult at "server/tools#calling-tools" [needs("tools")];
    "logging/setLevel" (SetLevelRequestParams) -> EmptyResult at "server/utilities/logging#setting-log-level" [needs("logging")];
    "completion/complete" (CompleteRequestParams) -> CompleteResult at "server/utilities/completion#requesting-completions" [needs("completions")];
};

const SERVER_REQUESTS: &[RequestDefinition] = requests! {
    "ping" (PingRequestParams) -> EmptyResult at "basic/utilities/ping#message-format" [params_optional()];
    "sampling/createMessage" (CreateMessageRequestParams) -> CreateMessageResult at "client/sampling#creating-messages" [needs("sampling")];
    "roots/list" (ListRootsRequestParams) -> ListRootsResult at "client/roots#listing-roots" [params_optional() needs("roots")];
};

const CLIENT_NOTIFICATIONS: &[NotificationDefinition] = notifications! {
    "notifications/cancelled" (CancelledNotificationParams) at "basic/utilities/cancellation#cancellation-flow";
    "notifications/initialized" (InitializedNotificationParams) at "basic/lifecycle#initialization" [params_optional()];
    "notifications/progress" (ProgressNotificationParams) at "basic/utilities/progress#progress-flow";
    "notifications/roots/list_changed" (RootsListChangedNotificationParams) at "client/roots#root-list-changes" [params_optional() needs("roots.listChanged")];
};

const SERVER_NOTIFICATIONS: &[NotificationDefinition] = notifications! {
    "notifications/cancelled" (CancelledNotificationParams) at "basic/utilities/cancellation#cancellation-flow";
    "notifications/progress" (ProgressNotificationParams) at "basic/utilities/progress#progress-flow";
    "notifications/resources/list_changed" (ResourceListChangedNotificationParams) at "server/resources#list-changed-notification" [params_optional() needs("resources.listChanged")];
    "notifications/resources/updated" (ResourceUpdatedNotificationParams) at "server/resources#subscriptions" [needs("resources.subscribe")];
    "notifications/prompts/list_changed" (PromptListChangedNotificationParams) at "server/prompts#list-changed-notification" [params_optional() needs("prompts.listChanged")];
    "notifications/tools/list_changed" (ToolListChangedNotificationParams) at "server/tools#list-changed-notification" [params_optional() needs("tools.listChanged")];
    "notifications/message" (LoggingMessageNotificationParams) at "server/utilities/logging#log-message-notifications" [needs("logging")];
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
];

/// Every type of the revision, in the notation of `check::shape_parser`.
const SHAPES: &str = r#"
Annotations = { audience?: Role[], priority?: number(0..1) }
AudioContent = { type: "audio", annotations?: Annotations, data: base64, mimeType: mediatype }
BlobResourceContents = { blob: base64, mimeType?: resourcemediatype, uri: uri }
CallToolRequest = { method: "tools/call", params: CallToolRequestParams }
CallToolRequestParams = { arguments?: object, name: string, _meta?: { progressToken?: ProgressToken } }
CallToolResult = { content: (TextContent | ImageContent | AudioContent | EmbeddedResource)[], isError?: boolean, _meta?: object }
CancelledNotification = { method: "notifications/cancelled", params: CancelledNotificationParams }
CancelledNotificationParams = { reason?: string, requestId: RequestId, _meta?: object }
ClientCapabilities = { experimental?: map<object>, roots?: { listChanged?: boolean }, sampling?: object }
ClientNotification = CancelledNotification | InitializedNotification | ProgressNotification | RootsListChangedNotification
ClientRequest = InitializeRequest | PingRequest | ListResourcesRequest | ListResourceTemplatesRequest | ReadResourceRequest | SubscribeRequest | UnsubscribeRequest | ListPromptsRequest | GetPromptRequest | ListToolsRequest | CallToolRequest | SetLevelRequest | CompleteRequest
ClientResult = Result | CreateMessageResult | ListRootsResult
CompleteRequest = { method: "completion/complete", params: CompleteRequestParams }
CompleteRequestParams = { argument: { name: string, value: string }, ref: PromptReference | ResourceReference, _meta?: { progressToken?: ProgressToken } }
CompleteResult = { completion: { hasMore?: boolean, total?: integer, values: string[](..100) }, _meta?: object }
CreateMessageRequest = { method: "sampling/createMessage", params: CreateMessageRequestParams }
CreateMessageRequestParams = { includeContext?: "allServers" | "none" | "thisServer", maxTokens: integer, messages: SamplingMessage[], metadata?: object, modelPreferences?: ModelPreferences, stopSequences?: string[], systemPrompt?: string, temperature?: number, _meta?: { progressToken?: ProgressToken } }
CreateMessageResult = { content: TextContent | ImageContent | AudioContent, model: string, role: Role, stopReason?: string, _meta?: object }
Cursor = string
EmbeddedResource = { type: "resource", annotations?: Annotations, resource: TextResourceContents | BlobResourceContents }
EmptyResult = Result
GetPromptRequest = { method: "prompts/get", params: GetPromptRequestParams }
GetPromptRequestParams = { arguments?: map<string>, name: string, _meta?: { progressToken?: ProgressToken } }
GetPromptResult = { description?: string, messages: PromptMessage[], _meta?: object }
ImageContent = { type: "image", annotations?: Annotations, data: base64, mimeType: mediatype }
Implementation = { name: string, version: string }
InitializeRequest = { method: "initialize", params: InitializeRequestParams }
InitializeRequestParams = { capabilities: ClientCapabilities, clientInfo: Implementation, protocolVersion: string, _meta?: { progressToken?: ProgressToken } }
InitializeResult = { capabilities: ServerCapabilities, instructions?: string, protocolVersion: string, serverInfo: Implementation, _meta?: object }
InitializedNotification = { method: "notifications/initialized", params?: InitializedNotificationParams }
InitializedNotificationParams = { _meta?: object }
JSONRPCBatchRequest = (JSONRPCRequest | JSONRPCNotification)[]
JSONRPCBatchResponse = (JSONRPCResponse | JSONRPCError)[]
JSONRPCError = { jsonrpc: "2.0", id: RequestId, error: { code: integer, data?: unknown, message: string } }
JSONRPCMessage = JSONRPCRequest | JSONRPCNotification | JSONRPCBatchRequest | JSONRPCResponse | JSONRPCError | JSONRPCBatchResponse
JSONRPCNotification = { jsonrpc: "2.0", method: string, params?: { _meta?: object } }
JSONRPCRequest = { jsonrpc: "2.0", id: RequestId, method: string, params?: { _meta?: { progressToken?: ProgressToken } } }
JSONRPCResponse = { jsonrpc: "2.0", id: RequestId, result: Result }
ListPromptsRequest = { method: "prompts/list", params?: ListPromptsRequestParams }
ListPromptsRequestParams = { cursor?: string, _meta?: { progressToken?: ProgressToken } }
ListPromptsResult = { nextCursor?: string, prompts: Prompt[], _meta?: object }
ListResourceTemplatesRequest = { method: "resources/templates/list", params?: ListResourceTemplatesRequestParams }
ListResourceTemplatesRequestParams = { cursor?: string, _meta?: { progressToken?: ProgressToken } }
ListResourceTemplatesResult = { nextCursor?: string, resourceTemplates: ResourceTemplate[], _meta?: object }
ListResourcesRequest = { method: "resources/list", params?: ListResourcesRequestParams }
ListResourcesRequestParams = { cursor?: string, _meta?: { progressToken?: ProgressToken } }
ListResourcesResult = { nextCursor?: string, resources: Resource[], _meta?: object }
ListRootsRequest = { method: "roots/list", params?: ListRootsRequestParams }
ListRootsRequestParams = { _meta?: { progressToken?: ProgressToken } }
ListRootsResult = { roots: Root[], _meta?: object }
ListToolsRequest = { method: "tools/list", params?: ListToolsRequestParams }
ListToolsRequestParams = { cursor?: string, _meta?: { progressToken?: ProgressToken } }
ListToolsResult = { nextCursor?: string, tools: Tool[], _meta?: object }
LoggingLevel = "alert" | "critical" | "debug" | "emergency" | "error" | "info" | "notice" | "warning"
LoggingMessageNotification = { method: "notifications/message", params: LoggingMessageNotificationParams }
LoggingMessageNotificationParams = { data: unknown, level: LoggingLevel, logger?: string, _meta?: object }
ModelHint = { name?: string }
ModelPreferences = { costPriority?: number(0..1), hints?: ModelHint[], intelligencePriority?: number(0..1), speedPriority?: number(0..1) }
Notification = { method: string, params?: { _meta?: object } }
PaginatedRequest = { method: string, params?: { cursor?: string } }
PaginatedResult = { nextCursor?: string, _meta?: object }
PingRequest = { method: "ping", params?: PingRequestParams }
PingRequestParams = { _meta?: { progressToken?: ProgressToken } }
ProgressNotification = { method: "notifications/progress", params: ProgressNotificationParams }
ProgressNotificationParams = { message?: string, progress: number, progressToken: ProgressToken, total?: number, _meta?: object }
ProgressToken = string | integer
Prompt = { arguments?: PromptArgument[], description?: string, name: string }
PromptArgument = { description?: string, name: string, required?: boolean }
PromptListChangedNotification = { method: "notifications/prompts/list_changed", params?: PromptListChangedNotificationParams }
PromptListChangedNotificationParams = { _meta?: object }
PromptMessage = { content: TextContent | ImageContent | AudioContent | EmbeddedResource, role: Role }
PromptReference = { type: "ref/prompt", name: string }
ReadResourceRequest = { method: "resources/read", params: ReadResourceRequestParams }
ReadResourceRequestParams = { uri: string, _meta?: { progressToken?: ProgressToken } }
ReadResourceResult = { contents: (TextResourceContents | BlobResourceContents)[], _meta?: object }
Request = { method: string, params?: { _meta?: { progressToken?: ProgressToken } } }
RequestId = string | integer
Resource = { annotations?: Annotations, description?: string, mimeType?: resourcemediatype, name: string, size?: integer, uri: uri }
ResourceContents = { mimeType?: resourcemediatype, uri: uri }
ResourceListChangedNotification = { method: "notifications/resources/list_changed", params?: ResourceListChangedNotificationParams }
ResourceListChangedNotificationParams = { _meta?: object }
ResourceReference = { type: "ref/resource", uri: string }
ResourceTemplate = { annotations?: Annotations, description?: string, mimeType?: resourcemediatype, name: string, uriTemplate: uritemplate }
ResourceUpdatedNotification = { method: "notifications/resources/updated", params: ResourceUpdatedNotificationParams }
ResourceUpdatedNotificationParams = { uri: uri, _meta?: object }
Result = { _meta?: object }
Role = "assistant" | "user"
Root = { name?: string, uri: string }
RootsListChangedNotification = { method: "notifications/roots/list_changed", params?: RootsListChangedNotificationParams }
RootsListChangedNotificationParams = { _meta?: object }
SamplingMessage = { content: TextContent | ImageContent | AudioContent, role: Role }
ServerCapabilities = { completions?: object, experimental?: map<object>, logging?: object, prompts?: { listChanged?: boolean }, resources?: { listChanged?: boolean, subscribe?: boolean }, tools?: { listChanged?: boolean } }
ServerNotification = CancelledNotification | ProgressNotification | ResourceListChangedNotification | ResourceUpdatedNotification | PromptListChangedNotification | ToolListChangedNotification | LoggingMessageNotification
ServerRequest = PingRequest | CreateMessageRequest | ListRootsRequest
ServerResult = Result | InitializeResult | ListResourcesResult | ListResourceTemplatesResult | ReadResourceResult | ListPromptsResult | GetPromptResult | ListToolsResult | CallToolResult | CompleteResult
SetLevelRequest = { method: "logging/setLevel", params: SetLevelRequestParams }
SetLevelRequestParams = { level: LoggingLevel, _meta?: { progressToken?: ProgressToken } }
SubscribeRequest = { method: "resources/subscribe", params: SubscribeRequestParams }
SubscribeRequestParams = { uri: string, _meta?: { progressToken?: ProgressToken } }
TextContent = { type: "text", annotations?: Annotations, text: string }
TextResourceContents = { mimeType?: resourcemediatype, text: string, uri: uri }
Tool = { annotations?: ToolAnnotations, description?: string, inputSchema: { type: "object", properties?: map<object>, required?: string[] }, name: string }
ToolAnnotations = { destructiveHint?: boolean, idempotentHint?: boolean, openWorldHint?: boolean, readOnlyHint?: boolean, title?: string }
ToolListChangedNotification = { method: "notifications/tools/list_changed", params?: ToolListChangedNotificationParams }
ToolListChangedNotificationParams = { _meta?: object }
UnsubscribeRequest = { method: "resources/unsubscribe", params: UnsubscribeRequestParams }
UnsubscribeRequestParams = { uri: string, _meta?: { progressToken?: ProgressToken } }
"#;
