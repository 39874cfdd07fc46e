//! Protocol revision 2026-07-28: metadata on each request instead of a handshake, input by
//! retry instead of server requests, subscriptions and caching hints.

use super::{
    ErrorCodeDefinition, NotificationDefinition, RequestDefinition, ReservedPrefixes,
    RevisionDefinition,
};
use crate::error::code;

/// The definition of this revision.
pub(super) static RULES: RevisionDefinition = RevisionDefinition {
    name: "2026-07-28",
    modern: true,
    batches: false,
    error_without_id: true,
    primed_streams: false,
    resource_not_found: code::INVALID_PARAMS,
    meta_key_rules: true,
    reserved_prefixes: ReservedPrefixes::SecondLabel,
    schema_rules: true,
    tools_refuse_arguments: true,
    reserved_codes: Some((-32099, -32020)),
    client_requests: CLIENT_REQUESTS,
    server_requests: SERVER_REQUESTS,
    client_notifications: CLIENT_NOTIFICATIONS,
    server_notifications: SERVER_NOTIFICATIONS,
    client_capabilities: &["elicitation", "experimental", "extensions", "roots", "sampling"],
    server_capabilities: &[
        "completions",
        "experimental",
        "extensions",
        "logging",
        "prompts",
        "resources",
        "tools",
    ],
    content_kinds: &["text", "image", "audio", "resource_link", "resource"],
    sampling_content_kinds: &["text", "image", "audio", "tool_use", "tool_result"],
    result_types: &["complete", "input_required"],
    extension_methods: &["tasks/", "notifications/tasks"],
    errors: ERRORS,
    messages: "basic#messages",
    shapes: SHAPES,
};

const CLIENT_REQUESTS: &[RequestDefinition] = requests! {
    "server/discover" (RequestParams) -> DiscoverResult at "server/discover#request" [cacheable()];
    "resources/list" (PaginatedRequestParams) -> ListResourcesResult at "server/resources#listing-resources" [needs("resources") cacheable()];
    "resources/templates/list" (PaginatedRequestParams) -> ListResourceTemplatesResult at "server/resources#resource-templates" [needs("resources") cacheable()];
    "resources/read" (ReadResourceRequestParams) -> ReadResourceResult at "server/resources#reading-resources" [needs("resources") may_require_input() cacheable()];
    "subscriptions/listen" (SubscriptionsListenRequestParams) -> SubscriptionsListenResult at "basic/patterns/subscriptions#opening-a-stream";
    "prompts/list" (PaginatedRequestParams) -> ListPromptsResult at "server/prompts#listing-prompts" [needs("prompts") cacheable()];
    "prompts/get" (GetPromptRequestParams) -> GetPromptResult at "server/prompts#getting-a-prompt" [needs("prompts") may_require_input()];
    "tools/list" (PaginatedRequestParams) -> ListToolsResult at "server/tools#listing-tools" [needs("tools") cacheable()];
    "tools/call" (CallToolRequestParams) -> CallToolResult at "server/tools#calling-tools" [needs("tools") may_require_input()];
    "completion/complete" (CompleteRequestParams) -> CompleteResult at "server/utilities/completion#requesting-completions" [needs("completions")];
};

const SERVER_REQUESTS: &[RequestDefinition] = requests! {};

const CLIENT_NOTIFICATIONS: &[NotificationDefinition] = notifications! {
    "notifications/cancelled" (CancelledNotificationParams) at "basic/patterns/cancellation#cancellation-flow";
};

const SERVER_NOTIFICATIONS: &[NotificationDefinition] = notifications! {
    "notifications/cancelled" (CancelledNotificationParams) at "basic/patterns/cancellation#cancellation-flow";
    "notifications/progress" (ProgressNotificationParams) at "basic/patterns/progress#progress-flow";
    "notifications/resources/list_changed" (NotificationParams) at "server/resources#list-changed-notification" [params_optional() needs("resources.listChanged")];
    "notifications/subscriptions/acknowledged" (SubscriptionsAcknowledgedNotificationParams) at "basic/patterns/subscriptions#acknowledgment";
    "notifications/resources/updated" (ResourceUpdatedNotificationParams) at "server/resources#subscriptions" [needs("resources.subscribe")];
    "notifications/prompts/list_changed" (NotificationParams) at "server/prompts#list-changed-notification" [params_optional() needs("prompts.listChanged")];
    "notifications/tools/list_changed" (NotificationParams) at "server/tools#list-changed-notification" [params_optional() needs("tools.listChanged")];
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
    ErrorCodeDefinition::standard(code::HEADER_MISMATCH, "HTTP headers and body differ"),
    ErrorCodeDefinition::standard(
        code::MISSING_REQUIRED_CLIENT_CAPABILITY,
        "missing client capability",
    )
    .shaped("MissingRequiredClientCapabilityErrorObject"),
    ErrorCodeDefinition::standard(
        code::UNSUPPORTED_PROTOCOL_VERSION,
        "unsupported protocol version",
    )
    .shaped("UnsupportedProtocolVersionErrorObject"),
    ErrorCodeDefinition::forbidden(code::RESOURCE_NOT_FOUND, "no such resource, up to 2025-11-25"),
    ErrorCodeDefinition::forbidden(
        code::URL_ELICITATION_REQUIRED,
        "the user must visit a URL first, in 2025-11-25",
    ),
];

/// Every type of the revision, in the notation of `check::shape_parser`.
const SHAPES: &str = r#"
Annotations = { audience?: Role[], lastModified?: lastmodified, priority?: number(0..1) }
AudioContent = { type: "audio", annotations?: Annotations, data: base64, mimeType: mediatype, _meta?: MetaObject }
BaseMetadata = { name: string, title?: string }
BlobResourceContents = { blob: base64, mimeType?: resourcemediatype, uri: uri, _meta?: MetaObject }
BooleanSchema = { type: "boolean", default?: boolean, description?: string, title?: string }
CacheableResult = { cacheScope: "private" | "public", resultType: string, ttlMs: integer(0..), _meta?: ResultMetaObject }
CallToolRequest = { jsonrpc: "2.0", id: RequestId, method: "tools/call", params: CallToolRequestParams }
CallToolRequestParams = { arguments?: object, inputResponses?: InputResponses, name: string, requestState?: string, _meta: RequestMetaObject }
CallToolResult = { content: ContentBlock[], isError?: boolean, resultType: string, structuredContent?: unknown, _meta?: ResultMetaObject }
CallToolResultResponse = { jsonrpc: "2.0", id: RequestId, result: InputRequiredResult | CallToolResult }
CancelledNotification = { jsonrpc: "2.0", method: "notifications/cancelled", params: CancelledNotificationParams }
CancelledNotificationParams = { reason?: string, requestId: RequestId, _meta?: NotificationMetaObject }
ClientCapabilities = { elicitation?: { form?: JSONObject, url?: JSONObject }, experimental?: map<JSONObject>, extensions?: map<JSONObject>, roots?: object, sampling?: { context?: JSONObject, tools?: JSONObject } }
ClientNotification = { jsonrpc: "2.0", method: "notifications/cancelled", params: CancelledNotificationParams }
ClientRequest = DiscoverRequest | ListResourcesRequest | ListResourceTemplatesRequest | ReadResourceRequest | SubscriptionsListenRequest | ListPromptsRequest | GetPromptRequest | ListToolsRequest | CallToolRequest | CompleteRequest
ClientResult = Result
CompleteRequest = { jsonrpc: "2.0", id: RequestId, method: "completion/complete", params: CompleteRequestParams }
CompleteRequestParams = { argument: { name: string, value: string }, context?: { arguments?: map<string> }, ref: PromptReference | ResourceTemplateReference, _meta: RequestMetaObject }
CompleteResult = { completion: { hasMore?: boolean, total?: integer, values: string[](..100) }, resultType: string, _meta?: ResultMetaObject }
CompleteResultResponse = { jsonrpc: "2.0", id: RequestId, result: CompleteResult }
ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource
CreateMessageRequest = { method: "sampling/createMessage", params: CreateMessageRequestParams }
CreateMessageRequestParams = { includeContext?: "allServers" | "none" | "thisServer", maxTokens: integer, messages: SamplingMessage[], metadata?: JSONObject, modelPreferences?: ModelPreferences, stopSequences?: string[], systemPrompt?: string, temperature?: number, toolChoice?: ToolChoice, tools?: Tool[] }
CreateMessageResult = { content: TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent | SamplingMessageContentBlock[], model: string, role: Role, stopReason?: string, _meta?: MetaObject }
Cursor = string
DiscoverRequest = { jsonrpc: "2.0", id: RequestId, method: "server/discover", params: RequestParams }
DiscoverResult = { cacheScope: "private" | "public", capabilities: ServerCapabilities, instructions?: string, resultType: string, supportedVersions: string[], ttlMs: integer(0..), _meta?: ResultMetaObject }
DiscoverResultResponse = { jsonrpc: "2.0", id: RequestId, result: DiscoverResult }
ElicitRequest = { method: "elicitation/create", params: ElicitRequestParams }
ElicitRequestFormParams = { message: string, mode?: "form", requestedSchema: { type: "object", $schema?: string, properties: map<PrimitiveSchemaDefinition>, required?: string[] } }
ElicitRequestParams = ElicitRequestFormParams | ElicitRequestURLParams
ElicitRequestURLParams = { message: string, mode: "url", url: url }
ElicitResult = { action: "accept" | "cancel" | "decline", content?: map<string[] | string | number | boolean> }
EmbeddedResource = { type: "resource", annotations?: Annotations, resource: TextResourceContents | BlobResourceContents, _meta?: MetaObject }
EmptyResult = Result
EnumSchema = UntitledSingleSelectEnumSchema | TitledSingleSelectEnumSchema | UntitledMultiSelectEnumSchema | TitledMultiSelectEnumSchema | LegacyTitledEnumSchema
Error = { code: integer, data?: unknown, message: string }
GetPromptRequest = { jsonrpc: "2.0", id: RequestId, method: "prompts/get", params: GetPromptRequestParams }
GetPromptRequestParams = { arguments?: map<string>, inputResponses?: InputResponses, name: string, requestState?: string, _meta: RequestMetaObject }
GetPromptResult = { description?: string, messages: PromptMessage[], resultType: string, _meta?: ResultMetaObject }
GetPromptResultResponse = { jsonrpc: "2.0", id: RequestId, result: InputRequiredResult | GetPromptResult }
HeaderMismatchError = { jsonrpc: "2.0", id?: RequestId, error: HeaderMismatchErrorObject }
HeaderMismatchErrorObject = Error & { code: -32020 }
Icon = { mimeType?: string, sizes?: iconsize[], src: iconuri, theme?: "dark" | "light" }
Icons = { icons?: Icon[] }
ImageContent = { type: "image", annotations?: Annotations, data: base64, mimeType: mediatype, _meta?: MetaObject }
Implementation = { description?: string, icons?: Icon[], name: string, title?: string, version: string, websiteUrl?: string }
InputRequest = CreateMessageRequest | ListRootsRequest | ElicitRequest
InputRequests = map<InputRequest>
InputRequiredResult = { inputRequests?: InputRequests, requestState?: string, resultType: string, _meta?: ResultMetaObject }
InputResponse = CreateMessageResult | ListRootsResult | ElicitResult
InputResponseRequestParams = { inputResponses?: InputResponses, requestState?: string, _meta: RequestMetaObject }
InputResponses = map<InputResponse>
InternalError = { code: -32603, data?: unknown, message: string }
InvalidParamsError = { code: -32602, data?: unknown, message: string }
InvalidRequestError = { code: -32600, data?: unknown, message: string }
JSONArray = unknown[]
JSONObject = object
JSONRPCErrorResponse = { jsonrpc: "2.0", id?: RequestId, error: Error }
JSONRPCMessage = JSONRPCRequest | JSONRPCNotification | JSONRPCResultResponse | JSONRPCErrorResponse
JSONRPCNotification = { jsonrpc: "2.0", method: string, params?: object }
JSONRPCRequest = { jsonrpc: "2.0", id: RequestId, method: string, params?: object }
JSONRPCResponse = JSONRPCResultResponse | JSONRPCErrorResponse
JSONRPCResultResponse = { jsonrpc: "2.0", id: RequestId, result: Result }
JSONValue = unknown
LegacyTitledEnumSchema = { type: "string", default?: string, description?: string, enum: string[], enumNames?: string[], title?: string }
ListPromptsRequest = { jsonrpc: "2.0", id: RequestId, method: "prompts/list", params: PaginatedRequestParams }
ListPromptsResult = { cacheScope: "private" | "public", nextCursor?: string, prompts: Prompt[], resultType: string, ttlMs: integer(0..), _meta?: ResultMetaObject }
ListPromptsResultResponse = { jsonrpc: "2.0", id: RequestId, result: ListPromptsResult }
ListResourceTemplatesRequest = { jsonrpc: "2.0", id: RequestId, method: "resources/templates/list", params: PaginatedRequestParams }
ListResourceTemplatesResult = { cacheScope: "private" | "public", nextCursor?: string, resourceTemplates: ResourceTemplate[], resultType: string, ttlMs: integer(0..), _meta?: ResultMetaObject }
ListResourceTemplatesResultResponse = { jsonrpc: "2.0", id: RequestId, result: ListResourceTemplatesResult }
ListResourcesRequest = { jsonrpc: "2.0", id: RequestId, method: "resources/list", params: PaginatedRequestParams }
ListResourcesResult = { cacheScope: "private" | "public", nextCursor?: string, resources: Resource[], resultType: string, ttlMs: integer(0..), _meta?: ResultMetaObject }
ListResourcesResultResponse = { jsonrpc: "2.0", id: RequestId, result: ListResourcesResult }
ListRootsRequest = { method: "roots/list", params?: ListRootsRequestParams }
ListRootsRequestParams = { _meta?: MetaObject }
ListRootsResult = { roots: Root[] }
ListToolsRequest = { jsonrpc: "2.0", id: RequestId, method: "tools/list", params: PaginatedRequestParams }
ListToolsResult = { cacheScope: "private" | "public", nextCursor?: string, resultType: string, tools: Tool[], ttlMs: integer(0..), _meta?: ResultMetaObject }
ListToolsResultResponse = { jsonrpc: "2.0", id: RequestId, result: ListToolsResult }
LoggingLevel = "alert" | "critical" | "debug" | "emergency" | "error" | "info" | "notice" | "warning"
LoggingMessageNotification = { jsonrpc: "2.0", method: "notifications/message", params: LoggingMessageNotificationParams }
LoggingMessageNotificationParams = { data: unknown, level: LoggingLevel, logger?: string, _meta?: NotificationMetaObject }
MetaObject = object
MethodNotFoundError = { code: -32601, data?: unknown, message: string }
MissingRequiredClientCapabilityError = { jsonrpc: "2.0", id?: RequestId, error: MissingRequiredClientCapabilityErrorObject }
MissingRequiredClientCapabilityErrorObject = Error & { code: -32021, data: { requiredCapabilities: ClientCapabilities } }
ModelHint = { name?: string }
ModelPreferences = { costPriority?: number(0..1), hints?: ModelHint[], intelligencePriority?: number(0..1), speedPriority?: number(0..1) }
MultiSelectEnumSchema = UntitledMultiSelectEnumSchema | TitledMultiSelectEnumSchema
Notification = { method: string, params?: object }
NotificationMetaObject = { "io.modelcontextprotocol/subscriptionId"?: RequestId }
NotificationParams = { _meta?: NotificationMetaObject }
NumberSchema = { type: "integer" | "number", default?: number, description?: string, maximum?: number, minimum?: number, title?: string }
PaginatedRequest = { jsonrpc: "2.0", id: RequestId, method: string, params: PaginatedRequestParams }
PaginatedRequestParams = { cursor?: string, _meta: RequestMetaObject }
PaginatedResult = { nextCursor?: string, resultType: string, _meta?: ResultMetaObject }
ParseError = { code: -32700, data?: unknown, message: string }
PrimitiveSchemaDefinition = StringSchema | NumberSchema | BooleanSchema | UntitledSingleSelectEnumSchema | TitledSingleSelectEnumSchema | UntitledMultiSelectEnumSchema | TitledMultiSelectEnumSchema | LegacyTitledEnumSchema
ProgressNotification = { jsonrpc: "2.0", method: "notifications/progress", params: ProgressNotificationParams }
ProgressNotificationParams = { message?: string, progress: number, progressToken: ProgressToken, total?: number, _meta?: NotificationMetaObject }
ProgressToken = string | integer
Prompt = { arguments?: PromptArgument[], description?: string, icons?: Icon[], name: string, title?: string, _meta?: MetaObject }
PromptArgument = { description?: string, name: string, required?: boolean, title?: string }
PromptListChangedNotification = { jsonrpc: "2.0", method: "notifications/prompts/list_changed", params?: NotificationParams }
PromptMessage = { content: ContentBlock, role: Role }
PromptReference = { type: "ref/prompt", name: string, title?: string }
ReadResourceRequest = { jsonrpc: "2.0", id: RequestId, method: "resources/read", params: ReadResourceRequestParams }
ReadResourceRequestParams = { inputResponses?: InputResponses, requestState?: string, uri: string, _meta: RequestMetaObject }
ReadResourceResult = { cacheScope: "private" | "public", contents: (TextResourceContents | BlobResourceContents)[], resultType: string, ttlMs: integer(0..), _meta?: ResultMetaObject }
ReadResourceResultResponse = { jsonrpc: "2.0", id: RequestId, result: InputRequiredResult | ReadResourceResult }
Request = { method: string, params?: object }
RequestId = string | integer
RequestMetaObject = { "io.modelcontextprotocol/clientCapabilities": ClientCapabilities, "io.modelcontextprotocol/clientInfo"?: Implementation, "io.modelcontextprotocol/logLevel"?: LoggingLevel, "io.modelcontextprotocol/protocolVersion": string, progressToken?: ProgressToken }
RequestParams = { _meta: RequestMetaObject }
Resource = { annotations?: Annotations, description?: string, icons?: Icon[], mimeType?: resourcemediatype, name: string, size?: integer, title?: string, uri: uri, _meta?: MetaObject }
ResourceContents = { mimeType?: resourcemediatype, uri: uri, _meta?: MetaObject }
ResourceLink = { type: "resource_link", annotations?: Annotations, description?: string, icons?: Icon[], mimeType?: resourcemediatype, name: string, size?: integer, title?: string, uri: uri, _meta?: MetaObject }
ResourceListChangedNotification = { jsonrpc: "2.0", method: "notifications/resources/list_changed", params?: NotificationParams }
ResourceRequestParams = { uri: string, _meta: RequestMetaObject }
ResourceTemplate = { annotations?: Annotations, description?: string, icons?: Icon[], mimeType?: resourcemediatype, name: string, title?: string, uriTemplate: uritemplate, _meta?: MetaObject }
ResourceTemplateReference = { type: "ref/resource", uri: string }
ResourceUpdatedNotification = { jsonrpc: "2.0", method: "notifications/resources/updated", params: ResourceUpdatedNotificationParams }
ResourceUpdatedNotificationParams = { uri: uri, _meta?: NotificationMetaObject }
Result = { resultType: string, _meta?: ResultMetaObject }
ResultMetaObject = { "io.modelcontextprotocol/serverInfo"?: Implementation }
ResultType = string
Role = "assistant" | "user"
Root = { name?: string, uri: string, _meta?: MetaObject }
SamplingMessage = { content: TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent | SamplingMessageContentBlock[], role: Role, _meta?: MetaObject }
SamplingMessageContentBlock = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent
ServerCapabilities = { completions?: JSONObject, experimental?: map<JSONObject>, extensions?: map<JSONObject>, logging?: JSONObject, prompts?: { listChanged?: boolean }, resources?: { listChanged?: boolean, subscribe?: boolean }, tools?: { listChanged?: boolean } }
ServerNotification = CancelledNotification | ProgressNotification | ResourceListChangedNotification | SubscriptionsAcknowledgedNotification | ResourceUpdatedNotification | PromptListChangedNotification | ToolListChangedNotification | LoggingMessageNotification
ServerResult = Result | InputRequiredResult | DiscoverResult | ListResourcesResult | ListResourceTemplatesResult | ReadResourceResult | SubscriptionsListenResult | ListPromptsResult | GetPromptResult | ListToolsResult | CallToolResult | CompleteResult
SingleSelectEnumSchema = UntitledSingleSelectEnumSchema | TitledSingleSelectEnumSchema
StringSchema = { type: "string", default?: string, description?: string, format?: "date" | "date-time" | "email" | "uri", maxLength?: integer, minLength?: integer, title?: string }
SubscriptionFilter = { promptsListChanged?: boolean, resourceSubscriptions?: string[], resourcesListChanged?: boolean, toolsListChanged?: boolean }
SubscriptionsAcknowledgedNotification = { jsonrpc: "2.0", method: "notifications/subscriptions/acknowledged", params: SubscriptionsAcknowledgedNotificationParams }
SubscriptionsAcknowledgedNotificationParams = { notifications: SubscriptionFilter, _meta?: NotificationMetaObject }
SubscriptionsListenRequest = { jsonrpc: "2.0", id: RequestId, method: "subscriptions/listen", params: SubscriptionsListenRequestParams }
SubscriptionsListenRequestParams = { notifications: SubscriptionFilter, _meta: RequestMetaObject }
SubscriptionsListenResult = { resultType: string, _meta: SubscriptionsListenResultMetaObject }
SubscriptionsListenResultMetaObject = { "io.modelcontextprotocol/serverInfo"?: Implementation, "io.modelcontextprotocol/subscriptionId": RequestId }
SubscriptionsListenResultResponse = { jsonrpc: "2.0", id: RequestId, result: SubscriptionsListenResult }
TextContent = { type: "text", annotations?: Annotations, text: string, _meta?: MetaObject }
TextResourceContents = { mimeType?: resourcemediatype, text: string, uri: uri, _meta?: MetaObject }
TitledMultiSelectEnumSchema = { type: "array", default?: string[], description?: string, items: { anyOf: { const: string, title: string }[] }, maxItems?: integer, minItems?: integer, title?: string }
TitledSingleSelectEnumSchema = { type: "string", default?: string, description?: string, oneOf: { const: string, title: string }[], title?: string }
Tool = { annotations?: ToolAnnotations, description?: string, icons?: Icon[], inputSchema: { type: "object", $schema?: string }, name: string, outputSchema?: { $schema?: string }, title?: string, _meta?: MetaObject }
ToolAnnotations = { destructiveHint?: boolean, idempotentHint?: boolean, openWorldHint?: boolean, readOnlyHint?: boolean, title?: string }
ToolChoice = { mode?: "auto" | "none" | "required" }
ToolListChangedNotification = { jsonrpc: "2.0", method: "notifications/tools/list_changed", params?: NotificationParams }
ToolResultContent = { type: "tool_result", content: ContentBlock[], isError?: boolean, structuredContent?: unknown, toolUseId: string, _meta?: MetaObject }
ToolUseContent = { id: string, type: "tool_use", input: object, name: string, _meta?: MetaObject }
UnsupportedProtocolVersionError = { jsonrpc: "2.0", id?: RequestId, error: UnsupportedProtocolVersionErrorObject }
UnsupportedProtocolVersionErrorObject = Error & { code: -32022, data: { requested: string, supported: string[] } }
UntitledMultiSelectEnumSchema = { type: "array", default?: string[], description?: string, items: { type: "string", enum: string[] }, maxItems?: integer, minItems?: integer, title?: string }
UntitledSingleSelectEnumSchema = { type: "string", default?: string, description?: string, enum: string[], title?: string }
"#;
