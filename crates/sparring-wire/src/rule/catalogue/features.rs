//! Tools, resources, prompts and completion.

macro_rules! feature_rules {
    ($next:ident, $($rest:tt)*) => {
        $next! {
            $($rest)*

            // Lists of tools, resources and prompts.
            ListFails = "lists/error", Check, Must, ALL, "server/tools#capabilities",
                "A server that declares tools, resources or prompts must answer the request for their list with a result.",
                "Answer the request with the list, which can be empty, or do not declare the capability.";
            ItemNotImplemented = "lists/unusable-item", Check, Must, ALL, "server/tools#calling-tools",
                "A server that lists a tool, a resource or a prompt must implement the method that uses it.",
                "Implement `tools/call`, `resources/read` and `prompts/get` for the items that you list.";
            VaryingList = "lists/varies", Check, Must, MODERN, "server/tools#capabilities",
                "The list of tools, resources or prompts must not depend on the connection or on other requests.",
                "Return the same list on every connection.";
            EndlessList = "pagination/endless", Check, Must, ALL, "server/utilities/pagination#response-format",
                "A list must end: no page must have the cursor of an earlier page.",
                "Leave out `nextCursor` on the last page, and return the results after the cursor.";
            RepeatedItem = "pagination/repeated-item", Check, Should, ALL, "server/utilities/pagination#request-format",
                "A page should only have results after its cursor, none of an earlier page.",
                "Start each page after the last result of the page before.";
            UnstableCursor = "pagination/unstable-cursor", Check, Should, ALL, "server/utilities/pagination#implementation-guidelines",
                "A cursor should be stable: it should give the same page again.",
                "Encode the position in the cursor, and keep cursors valid.";
            InvalidCursor = "pagination/invalid-cursor", Check, Should, ALL, "server/utilities/pagination#error-handling",
                "A request with an invalid cursor should get the error -32602.",
                "Refuse cursors that you did not send with the error -32602 (invalid params).";

            // Tools.
            UnlistedTool = "tools/unlisted", Traffic, Must, ALL, NONE,
                "A called tool must be in the result of `tools/list`.",
                "List every tool that can be called.";
            OutputSchema = "tools/output-schema", Traffic, Must, SINCE_2025_06_18, "server/tools#output-schema",
                "The structured content of a result must conform to the tool's output schema.",
                "Return what the output schema declares, or correct the schema.";

            InvalidToolName = "tools/name", Traffic, Should, SINCE_2025_11_25, "server/tools#tool-names",
                "The name of a tool should have 1 to 128 ASCII letters, digits and `_-.`.",
                "Rename the tool with ASCII letters, digits and `_-.`.";
            DuplicateToolName = "tools/duplicate-name", Traffic, Should, SINCE_2025_11_25, "server/tools#tool-names",
                "The name of a tool should be unique within its server.",
                "Give each tool its own name.";
            MissingStructuredText = "tools/structured-text", Traffic, Should, SINCE_2025_06_18, "server/tools#structured-content",
                "A result with structured content should also have a text block with its JSON.",
                "Add a text block with the JSON of the structured content.";
            UndeclaredResources = "tools/embedded-resource", Traffic, Should, SINCE_2025_06_18, "server/tools#embedded-resources",
                "A server whose tools return embedded resources should declare the capability `resources`.",
                "Declare the capability `resources`.";
            ToolOrder = "tools/order", Check, Should, MODERN, "server/tools#capabilities",
                "The tools should be in the same order in every list.",
                "Sort the tools, or keep them in the order of their definition.";
            UnknownToolAccepted = "tools/unknown-tool", Check, Must, ALL, "server/tools#error-handling",
                "A call of an unknown tool must not succeed.",
                "Answer with the error -32602 (invalid params).";
            UnknownToolResult = "tools/unknown-tool-result", Check, Should, ALL, "server/tools#error-handling",
                "A call of an unknown tool should get a JSON-RPC error, not a result.",
                "Answer with the error -32602 (invalid params), and keep `isError` for errors of a tool.";
            MalformedCall = "tools/malformed-call", Check, Must, ALL, "server/tools#error-handling",
                "A call whose params are malformed must get an error.",
                "Validate `name` and `arguments`, and answer with the error -32602 (invalid params).";
            ToolErrorResponse = "tools/error-response", Check, Should, ALL, "server/tools#error-handling",
                "An error of a tool should be a result with `isError`, not a JSON-RPC error.",
                "Catch errors in the tool, and return them as a result with `isError`.";
            UnknownToolCode = "tools/unknown-tool-code", Check, Should, MODERN, "schema#invalidparamserror",
                "A call of an unknown tool should get the error -32602.",
                "Answer with the error -32602 (invalid params).";
            CaseInsensitiveToolName = "tools/name-case", Check, Should, SINCE_2025_11_25, "server/tools#tool-names",
                "The names of tools should be case-sensitive.",
                "Compare the name of a call with the names of the tools exactly.";
            SensitiveHeader = "tools/sensitive-header", Check, Should, MODERN, "server/tools#x-mcp-header",
                "A sensitive parameter should not be mirrored into a header.",
                "Remove `x-mcp-header` from parameters with passwords, keys or tokens.";

            // Content, and the metadata of items.
            InvalidLastModified = "content/last-modified", Traffic, Should, SINCE_2025_06_18, "server/resources#annotations",
                "The annotation `lastModified` should be an ISO 8601 timestamp.",
                "Write a timestamp such as `2025-01-12T15:00:58Z`.";
            InvalidIconSource = "content/icon-source", Traffic, Should, SINCE_2025_11_25, "basic#icons",
                "The source of an icon should be an HTTP or HTTPS URL, or a `data:` URI.",
                "Serve the icon over HTTPS, or write its data into the URI.";
            InvalidIconSize = "content/icon-size", Traffic, Should, SINCE_2025_11_25, "basic#icons",
                "The size of an icon should be `any` or a width and a height such as `48x48`.",
                "Write each size as width, `x` and height.";

            // Resources.
            ResourceNotFound = "resources/not-found", Check, Must, MODERN, "server/resources#error-handling",
                "A request to read an unknown resource must get the error -32602.",
                "Answer with the error -32602 (invalid params).";
            EmptyContents = "resources/empty-contents", Check, Must, MODERN, "server/resources#error-handling",
                "A server must not return empty contents for an unknown resource.",
                "Answer with the error -32602 (invalid params).";
            ResourceNotFoundCode = "resources/not-found-code", Check, Should, LEGACY, "server/resources#error-handling",
                "A request to read an unknown resource should get the error -32002.",
                "Answer with the error -32002 (resource not found).";
            MalformedRead = "resources/malformed-read", Check, Must, ALL, "server/resources#security-considerations",
                "A request to read or to subscribe without a valid URI must get an error.",
                "Validate the URI, and answer with the error -32602 (invalid params).";
            PathTraversal = "resources/path-traversal", Check, Must, ALL, "server/resources#security-considerations",
                "A server must not serve a `file://` URI that leaves its folder through `..`.",
                "Resolve the path, and refuse it if it is outside of the folders that you serve.";
            UnreadableResource = "resources/unreadable", Check, Lint, ALL, NONE,
                "A listed resource should be found when it is read.",
                "List only resources that can be read.";
            BinaryText = "resources/binary-text", Check, Must, ALL, "schema#textresourcecontents",
                "A resource must only have `text` if it can be represented as text.",
                "Send images, audio, video and other binary data as a base64 `blob`.";
            TemplateMediaType = "resources/template-media-type", Check, Should, ALL, "schema#resourcetemplate",
                "The MIME type of a template should be that of all its resources.",
                "Correct the MIME type of the template, or leave it out.";


            // Prompts.
            MissingResourceMediaType = "prompts/resource-media-type", Traffic, Must, ALL, "server/prompts#embedded-resources",
                "A resource in a message of a prompt must have a MIME type.",
                "Add the right `mimeType` to the resource.";
            UnvalidatedPrompt = "prompts/unvalidated", Check, Must, ALL, "server/prompts#security",
                "A request for an unknown prompt, or with malformed params or arguments, must not succeed.",
                "Validate `name` and `arguments`, and answer with the error -32602 (invalid params).";
            UnknownPrompt = "prompts/unknown-prompt", Check, Should, ALL, "server/prompts#error-handling",
                "A request for an unknown prompt should get the error -32602.",
                "Answer with the error -32602 (invalid params).";
            MissingPromptArgument = "prompts/missing-argument", Check, Should, ALL, "server/prompts#error-handling",
                "A request for a prompt without a required argument should get the error -32602.",
                "Validate the arguments, and answer with the error -32602 (invalid params).";

            // Completion.
            CompletionNotImplemented = "completion/not-implemented", Check, Must, SINCE_2025_03_26, "server/utilities/completion#capabilities",
                "A server that declares completions must implement `completion/complete`.",
                "Implement the method, or do not declare the capability.";
            CompletionUnsupported = "completion/undeclared-code", Check, Should, SINCE_2025_03_26, "server/utilities/completion#error-handling",
                "A server without completions should answer `completion/complete` with the error -32601.",
                "Answer with the error -32601 (method not found).";
            CompletionTotal = "completion/total", Traffic, Must, ALL, "server/utilities/completion#completion-results",
                "`total` and `hasMore` of a completion must not contradict the number of its values.",
                "Count all matches in `total`, and set `hasMore` if there are more than you send.";
            UnvalidatedCompletion = "completion/unvalidated", Check, Must, ALL, "server/utilities/completion#security",
                "A malformed request for completions must not succeed.",
                "Validate `ref` and `argument`, and answer with the error -32602 (invalid params).";
            CompletionErrorCode = "completion/error-code", Check, Should, SINCE_2025_03_26, "server/utilities/completion#error-handling",
                "A completion for an unknown prompt or without an argument should get the error -32602.",
                "Answer with the error -32602 (invalid params).";
        }
    };
}
