//! Progress, subscriptions, logging, questions of the server and tasks: the areas `progress` to `tasks`.

macro_rules! utility_rules {
    ($next:ident, $($rest:tt)*) => {
        $next! {
            $($rest)*

            InvalidProgress = "progress/invalid", Traffic, Must, ALL, "basic/patterns/progress#progress-flow",
                "Progress must increase and must name the unique token of a pending request.",
                "Send progress only with the token of a running request, and with growing values.";
            InvalidSubscription = "subscriptions/invalid", Traffic, Must, MODERN, "basic/patterns/subscriptions#acknowledgment",
                "A subscription must only bring notifications that it requested, after its acknowledgment.",
                "Send the acknowledgment first, and after it only what was subscribed.";
            RefusedSubscription = "subscriptions/refused", Check, Must, LEGACY, "server/resources#subscriptions",
                "A server that declares `resources.subscribe` must accept subscriptions to a listed resource, and their end.",
                "Implement `resources/subscribe` and `resources/unsubscribe`, or do not declare `subscribe`.";
            UnrequestedUpdate = "subscriptions/unrequested-update", Traffic, Should, LEGACY, "server/resources#subscriptions",
                "A server should announce changes only of resources that the client has subscribed to.",
                "Send `notifications/resources/updated` only for subscribed resources.";
            MissingAcknowledgment = "subscriptions/not-acknowledged", Check, Must, MODERN, "basic/patterns/subscriptions#acknowledgment",
                "A subscription must begin with its acknowledgment.",
                "Send `notifications/subscriptions/acknowledged` before anything else of the subscription.";
            WrongAcknowledgment = "subscriptions/wrong-acknowledgment", Traffic, Must, MODERN, "basic/patterns/subscriptions#acknowledgment",
                "The acknowledgment of a subscription must only name what was requested.",
                "Return the subset of the requested filter that you support.";
            UndeclaredSubscription = "subscriptions/undeclared-kind", Traffic, Should, MODERN, "basic/patterns/subscriptions#acknowledgment",
                "The acknowledgment of a subscription should omit what the server does not declare.",
                "Declare `listChanged` or `subscribe`, or leave the kind out of the acknowledgment.";
            IncompleteAcknowledgment = "subscriptions/declared-kind-omitted", Check, Should, MODERN, "basic/patterns/subscriptions#acknowledgment",
                "The acknowledgment of a subscription should name each requested kind that the server declares.",
                "Support the kinds of notifications that your capabilities declare.";
            ClosedSubscription = "subscriptions/closed", Check, Should, MODERN, "basic/patterns/subscriptions#opening-a-stream",
                "A subscription should stay open until the client cancels it or the server shuts down.",
                "Respond to `subscriptions/listen` only at the end of the subscription.";
            MissingListChanged = "notifications/missing-list-changed", Check, Should, ALL, "server/tools#list-changed-notification",
                "A server that declares `listChanged` should announce a changed list.",
                "Send the notification `list_changed` whenever the list changes.";
            NonEmptyPing = "ping/not-empty", Traffic, Must, LEGACY, "basic/utilities/ping#behavior-requirements",
                "The result of `ping` must be empty.",
                "Answer `ping` with `{}`.";
            SlowPing = "ping/slow", Check, Must, LEGACY, "basic/utilities/ping#behavior-requirements",
                "A server must answer `ping` promptly.",
                "Answer pings at once, also while other requests run.";
            UnknownCancellation = "cancellation/unknown-request", Traffic, Must, ALL, "basic/patterns/cancellation#behavior-requirements",
                "A cancellation must name a request that was sent in the same direction, or a subscription since 2026-07-28.",
                "Cancel only requests that you have sent and that are pending.";
            MessageAfterCancellation = "cancellation/late-message", Traffic, Must, MODERN, "basic/transports/stdio#cancellation",
                "A server must not send messages for a request after it has received the cancellation.",
                "Stop all messages for a request when its cancellation arrives.";
            FinishedCancellation = "cancellation/finished-request", Traffic, Must, ALL, "basic/patterns/cancellation#behavior-requirements",
                "A cancellation must not name a request whose response its sender has received.",
                "Cancel a request only while it is pending.";
            LateCancellation = "cancellation/race", Check, Must, ALL, "basic/patterns/cancellation#timing-considerations",
                "A server must handle the cancellation of a request that it has already answered.",
                "Ignore cancellations of requests that are finished.";
            InvalidCancellation = "cancellation/not-ignored", Check, Should, ALL, "basic/patterns/cancellation#error-handling",
                "A server should ignore malformed cancellations and those of unknown requests.",
                "Ignore cancellations that name no pending request.";
            AnsweredCancellation = "cancellation/answered", Check, Should, ALL, "basic/patterns/cancellation#behavior-requirements",
                "A server should not respond to a request after its cancellation.",
                "Stop the work of a cancelled request, and send no response for it.";
            LogBelowLevel = "logging/below-level", Traffic, Must, MODERN, "server/utilities/logging#per-request-log-level",
                "A log message must not be below the level that the request names.",
                "Compare the level of each log message with the level in the request.";
            LogBelowSetLevel = "logging/below-set-level", Traffic, Should, LEGACY, "server/utilities/logging#setting-log-level",
                "A log message should not be below the level that the client set with `logging/setLevel`.",
                "Compare the level of each log message with the level that the client has set.";
            RefusedLogLevel = "logging/level-refused", Check, Must, LEGACY, "server/utilities/logging#setting-log-level",
                "A server that declares `logging` must accept every level of the specification.",
                "Accept the eight levels from `debug` to `emergency`.";
            InvalidLogLevel = "logging/invalid-level", Check, Should, ALL, "server/utilities/logging#error-handling",
                "A request with an invalid log level should get the error -32602.",
                "Refuse unknown levels with the error -32602 (invalid params).";
            SensitiveLog = "logging/sensitive", Traffic, Must, ALL, "server/utilities/logging#security",
                "A log message must not contain credentials or stack traces.",
                "Remove secrets and internal details from log messages.";
            CacheScopeChanged = "caching/scope-changed", Traffic, Must, MODERN, "server/utilities/caching#interaction-with-pagination",
                "All pages of a list must have the same `cacheScope`.",
                "Send the same `cacheScope` on every page.";
            InterimCacheHints = "caching/interim-hints", Traffic, Must, MODERN, "server/utilities/caching#cacheable-results",
                "A result that requires input must not have caching hints.",
                "Leave out `ttlMs` and `cacheScope` unless the result is complete.";
            UnknownElicitation = "elicitation/unknown-id", Traffic, Must, ONLY_2025_11_25, "client/elicitation#completion-notifications-for-url-mode-elicitation",
                "The notification of a complete elicitation must have the id of an elicitation that the server requested.",
                "Send the notification only with the id of an elicitation that you requested.";
            ComplexElicitation = "elicitation/schema", Traffic, Must, SINCE_2025_06_18, "client/elicitation#requested-schema",
                "The schema of an elicitation must be a flat object of primitive properties.",
                "Ask for strings, numbers, booleans and enums at the top level only.";
            SensitiveElicitation = "elicitation/sensitive", Traffic, Must, SINCE_2025_06_18, "client/elicitation#form-mode-security",
                "An elicitation with a form must not ask for passwords, keys or other secrets.",
                "Use an elicitation with a URL for secrets.";
            SensitiveUrl = "elicitation/url-secrets", Traffic, Must, SINCE_2025_11_25, "client/elicitation#safe-url-handling",
                "The URL of an elicitation must not contain credentials or personal data.",
                "Send an opaque id in the URL, and identify the user on your page.";
            InsecureUrl = "elicitation/insecure-url", Traffic, Should, SINCE_2025_11_25, "client/elicitation#safe-url-handling",
                "The URL of an elicitation should use HTTPS, except on the own machine.",
                "Serve the page over HTTPS.";
            ClickableUrl = "elicitation/clickable-url", Traffic, Should, SINCE_2025_11_25, "client/elicitation#safe-url-handling",
                "An elicitation with a form should not contain URLs.",
                "Use an elicitation with a URL, or describe the page in words.";
            NoRequiredElicitation = "elicitation/none-required", Traffic, Must, ONLY_2025_11_25, "client/elicitation#url-elicitation-required-error",
                "The error -32042 must name at least one elicitation.",
                "List the elicitations that the client must complete, or use another error.";
            UnhandledRefusal = "elicitation/refused", Check, Must, SINCE_2025_06_18, "client/elicitation#error-handling",
                "A server must handle a user who declines or cancels an elicitation, and a client that fails to ask.",
                "Answer the request with a result or an error if the user does not answer.";
            UnbalancedTools = "sampling/unbalanced-tools", Traffic, Must, SINCE_2025_11_25, "client/sampling#tool-use-and-result-balance",
                "In a sampling request, the next message after tool uses must hold exactly their results.",
                "Follow each tool use with its result in the next message.";
            UndeclaredContext = "sampling/undeclared-context", Traffic, Should, SINCE_2025_11_25, "client/sampling#capabilities",
                "A sampling request should not include context unless the client declares `sampling.context`.",
                "Leave out `includeContext`.";
            UnhandledRootsChange = "roots/change-not-handled", Check, Should, LEGACY, "client/roots#implementation-guidelines",
                "A server should handle changes of the list of roots.",
                "Ignore the notification, or ask for the roots again.";

            // Input that a modern server requires.
            DuplicateInput = "input/duplicate-key", Traffic, Must, MODERN, "basic/patterns/mrtr#server-requirements-basic-workflow",
                "The keys of `inputRequests` must be unique.",
                "Give each requested input its own key.";
            EmptyInput = "input/empty", Traffic, Must, MODERN, "basic/patterns/mrtr#server-requirements-basic-workflow",
                "A result that requires input must have an input request or a `requestState`.",
                "Name the input that you need, or return a complete result.";
            ForgedState = "input/forged-state", Check, Must, MODERN, "basic/patterns/mrtr#server-requirements-basic-workflow",
                "A server must reject a `requestState` that fails verification.",
                "Verify a signature of the state before you use it.";
            MissingInput = "input/missing-response", Check, Should, MODERN, "basic/patterns/mrtr#error-handling",
                "A server should ask again for input that a retry lacks, and not answer with an error.",
                "Return `input_required` again with the missing requests.";
            UnexpectedInput = "input/unexpected-response", Check, Should, MODERN, "basic/patterns/mrtr#error-handling",
                "A server should ignore input responses that it did not request.",
                "Read only the responses that you need.";
            MalformedInput = "input/malformed-response", Check, Should, MODERN, "basic/patterns/mrtr#error-handling",
                "A retry whose `inputResponses` is malformed should get an error.",
                "Validate the responses, and answer with the error -32602.";

            // Tasks.
            WrongTaskStatus = "tasks/wrong-status", Traffic, Must, ONLY_2025_11_25, "basic/utilities/tasks#task-status-lifecycle",
                "A task must begin as `working`, must be `cancelled` after its cancellation, and must keep a final status.",
                "Begin with `working`, and never change a final status.";
            DuplicateTask = "tasks/duplicate-id", Traffic, Must, ONLY_2025_11_25, "basic/utilities/tasks#task-id-requirements",
                "A new task must have a new id.",
                "Make a random id for each task.";
            MissingRelatedTask = "tasks/related-task", Traffic, Must, ONLY_2025_11_25, "basic/utilities/tasks#related-task-metadata",
                "The result of `tasks/result` must name its task in `_meta`.",
                "Add `io.modelcontextprotocol/related-task` to `_meta` of the result.";
            TaskRequired = "tasks/required", Traffic, Must, ONLY_2025_11_25, "basic/utilities/tasks#tool-level-negotiation",
                "A tool that requires tasks must not be run without one.",
                "Refuse a call without a task with the error -32601.";
            TaskNotCreated = "tasks/not-created", Check, Must, ONLY_2025_11_25, "basic/utilities/tasks#result-retrieval",
                "A server that accepts a call as a task must answer with the new task.",
                "Answer with a `CreateTaskResult`, and keep the result for `tasks/result`.";
            TaskNotIgnored = "tasks/not-ignored", Check, Must, ONLY_2025_11_25, "basic/utilities/tasks#task-support-and-handling",
                "A server without tasks must process a call with `task` like any other.",
                "Ignore `task` in the params unless you declare tasks.";
            TaskForbidden = "tasks/forbidden", Check, Should, ONLY_2025_11_25, "basic/utilities/tasks#tool-level-negotiation",
                "A call as a task of a tool without task support should get the error -32601.",
                "Refuse the call with the error -32601 (method not found).";
            UnknownTask = "tasks/unknown-id", Check, Must, ONLY_2025_11_25, "basic/utilities/tasks#protocol-errors",
                "A request about an unknown task must get the error -32602.",
                "Answer with the error -32602 (invalid params).";
            InvalidTaskCursor = "tasks/invalid-cursor", Check, Must, ONLY_2025_11_25, "basic/utilities/tasks#protocol-errors",
                "A request for the list of tasks with an invalid cursor must get the error -32602.",
                "Answer with the error -32602 (invalid params).";
            FinalTaskCancelled = "tasks/final-cancelled", Check, Must, ONLY_2025_11_25, "basic/utilities/tasks#task-cancellation",
                "The cancellation of a final task must get the error -32602.",
                "Refuse to cancel a task that is completed, failed or cancelled.";
            TaskResult = "tasks/result", Check, Must, ONLY_2025_11_25, "basic/utilities/tasks#result-retrieval",
                "The result of a task must be that of its request, and must come when the task is final.",
                "Let `tasks/result` wait for the end of the task, and return the result of the tool.";
            UnlistedTask = "tasks/unlisted", Check, Must, ONLY_2025_11_25, "basic/utilities/tasks#task-listing",
                "A task that `tasks/get` finds must be in the list of tasks.",
                "List every task of the client.";
            GuessableTask = "tasks/guessable-id", Check, Must, ONLY_2025_11_25, "basic/utilities/tasks#task-isolation-and-access-control",
                "Without authorization, the id of a task must have enough entropy to prevent guessing.",
                "Make a random id, such as a UUID of version 4, for each task.";
            SuperfluousRelatedTask = "tasks/superfluous-related-task", Traffic, Should, ONLY_2025_11_25, "basic/utilities/tasks#associating-task-related-messages",
                "A result of `tasks/get`, `tasks/list` or `tasks/cancel`, and a status notification, should not name a related task in its metadata.",
                "Add the metadata only to other messages of the task.";
            MissingStatusMessage = "tasks/status-message", Traffic, Should, ONLY_2025_11_25, "basic/utilities/tasks#task-execution-errors",
                "A failed task should have a `statusMessage`.",
                "Describe the failure in `statusMessage`.";
        }
    };
}
