//! Progress, cancellation, ping, subscriptions, input of the client, and tasks.

use super::requirements;

requirements! {
    "basic/patterns/progress#progress-flow", Must, ALL,
        "The progress increases with each notification.",
        [InvalidProgress];
    "basic/patterns/progress#behavior-requirements", Must, ALL,
        "A progress notification names the token of a request that is still pending.",
        [InvalidProgress];
    "basic/patterns/progress#implementation-notes", Must, ALL,
        "Progress notifications end with the response.",
        [InvalidProgress];
    "basic/patterns/progress#progress-flow", Should, SINCE_2025_03_26,
        "`message` tells people about the progress.",
        ("Only a person can judge the text.");
    "basic/patterns/progress#implementation-notes", Should, ALL,
        "A server limits the rate of its notifications.",
        ("The specification names no rate.");
    "basic/utilities/progress#behavior-requirements", Must, ONLY_2025_11_25,
        "The progress of a task names the token of the request that created it, until the task is final.",
        [InvalidProgress];

    "basic/patterns/cancellation#behavior-requirements", Must, ALL,
        "A cancellation names a pending request that was sent in the same direction.",
        [UnknownCancellation, FinishedCancellation];
    "basic/patterns/cancellation#behavior-requirements", Must, MODERN,
        "A server cancels only subscriptions.",
        [UnknownCancellation];
    "basic/patterns/cancellation#behavior-requirements", Should, ALL,
        "A server does not respond to a cancelled request.",
        [AnsweredCancellation];
    "basic/patterns/cancellation#behavior-requirements", Should, ALL,
        "A server stops the work on a cancelled request and frees its resources.",
        ("The work of a server cannot be seen.");
    "basic/patterns/cancellation#transport-specific-cancellation", Must, MODERN,
        "A server treats the end of a connection as the cancellation of its request.",
        ("The work of a server cannot be seen.");
    "basic/patterns/cancellation#timing-considerations", Must, ALL,
        "A server handles a cancellation that arrives after the response.",
        [LateCancellation];
    "basic/patterns/cancellation#error-handling", Should, ALL,
        "Malformed cancellations and those of unknown requests are ignored.",
        [InvalidCancellation];
    "basic/utilities/cancellation#behavior-requirements", Must, ONLY_2025_11_25,
        "A task is cancelled with `tasks/cancel`, not with a notification.",
        ("A server has no request of a client that it could run as a task in a check.");

    "basic/utilities/ping#behavior-requirements", Must, LEGACY,
        "`ping` gets an empty response promptly.",
        [NonEmptyPing, SlowPing, NotImplemented];

    "basic/patterns#message-patterns", Must, MODERN,
        "A server sends no requests.",
        [WrongDirection];
    "basic/patterns/subscriptions#acknowledgment", Must, MODERN,
        "The first message of a subscription is its acknowledgment.",
        [MissingAcknowledgment, InvalidSubscription];
    "basic/patterns/subscriptions#acknowledgment", Must, MODERN,
        "A subscription has only notifications that it requested and that the server acknowledged.",
        [InvalidSubscription, WrongAcknowledgment];
    "basic/patterns/subscriptions#acknowledgment", Should, MODERN,
        "The acknowledgment names what the server will send.",
        [UndeclaredSubscription, IncompleteAcknowledgment];
    "basic/patterns/subscriptions#opening-a-stream", Should, MODERN,
        "A subscription stays open.",
        [ClosedSubscription];
    "basic/patterns/subscriptions#graceful-closure", Should, MODERN,
        "A server that shuts down answers its subscriptions.",
        ("A server may end with its input before a response. A response is checked by `subscriptions/invalid`.");

    "basic/patterns/mrtr#server-requirements-basic-workflow", Must, MODERN,
        "The keys of `inputRequests` are unique.",
        [DuplicateInput];
    "basic/patterns/mrtr#server-requirements-basic-workflow", Must, MODERN,
        "An input request is an elicitation, a sampling request, or a request for the roots.",
        [MissingField, WrongType, WrongValue];
    "basic/patterns/mrtr#server-requirements-basic-workflow", Must, MODERN,
        "A result that requires input has input requests or a `requestState`.",
        [EmptyInput];
    "basic/patterns/mrtr#server-requirements-basic-workflow", Must, MODERN,
        "A server requests only input that the client has declared.",
        [Undeclared];
    "basic/patterns/mrtr#supported-requests", Must, MODERN,
        "Only calls of tools, prompts and reads of resources get a result that requires input.",
        [WrongResultType];
    "basic/patterns/mrtr#server-requirements-basic-workflow", Must, MODERN,
        "A server protects the integrity of a `requestState` that matters, and rejects one that fails verification.",
        [ForgedState];
    "basic/patterns/mrtr#server-requirements-basic-workflow", Should, MODERN,
        "A `requestState` has a time to live, and names its user and its request.",
        ("The content of a `requestState` is opaque.");
    "basic/patterns/mrtr#server-requirements-basic-workflow", Must, MODERN,
        "What may happen only once is enforced by the server.",
        ("Which operations may happen only once cannot be seen.");
    "basic/patterns/mrtr#error-handling", Should, MODERN,
        "A malformed `inputResponses` gets an error.",
        [MalformedInput];
    "basic/patterns/mrtr#error-handling", Should, MODERN,
        "Input that was not requested is ignored.",
        [UnexpectedInput];
    "basic/patterns/mrtr#error-handling", Should, MODERN,
        "A server asks again for input that is missing.",
        [MissingInput];

    "basic/utilities/tasks#task-support-and-handling", Must, ONLY_2025_11_25,
        "A server without tasks ignores `task` in a request.",
        [TaskNotIgnored];
    "basic/utilities/tasks#capabilities", Must, ONLY_2025_11_25,
        "A server with tasks declares the capability `tasks`.",
        [Undeclared];
    "basic/utilities/tasks#tool-level-negotiation", Should, ONLY_2025_11_25,
        "A call as a task of a tool without task support gets the error -32601.",
        [TaskForbidden];
    "basic/utilities/tasks#tool-level-negotiation", Must, ONLY_2025_11_25,
        "A call without a task of a tool that requires one gets the error -32601.",
        [TaskRequired];
    "basic/utilities/tasks#task-id-requirements", Must, ONLY_2025_11_25,
        "The id of a task is a unique string of the server.",
        [DuplicateTask, WrongType];
    "basic/utilities/tasks#task-status-lifecycle", Must, ONLY_2025_11_25,
        "A task begins as `working`, changes only as the specification allows, and keeps a final status.",
        [WrongTaskStatus];
    "basic/utilities/tasks#input-required-status", Must, ONLY_2025_11_25,
        "A question about a task names the task in its metadata.",
        [MissingRelatedTask];
    "basic/utilities/tasks#ttl-and-resource-management", Must, ONLY_2025_11_25,
        "A task has the time of its creation and its `ttl`.",
        [MissingField, WrongType, InvalidTimestamp];
    "basic/utilities/tasks#result-retrieval", Must, ONLY_2025_11_25,
        "A server that accepts a call as a task answers with the new task.",
        [TaskNotCreated];
    "basic/utilities/tasks#result-retrieval", Must, ONLY_2025_11_25,
        "`tasks/result` waits until the task is final, and returns the result or the error of its request.",
        [TaskResult];
    "basic/utilities/tasks#related-task-metadata", Must, ONLY_2025_11_25,
        "The result of `tasks/result` names its task in its metadata.",
        [MissingRelatedTask];
    "basic/utilities/tasks#associating-task-related-messages", Should, ONLY_2025_11_25,
        "The results of the other requests about tasks, and status notifications, name no related task.",
        [SuperfluousRelatedTask];
    "basic/utilities/tasks#task-listing", Must, ONLY_2025_11_25,
        "A task that `tasks/get` finds is in the list of tasks.",
        [UnlistedTask];
    "basic/utilities/tasks#task-listing", Must, ONLY_2025_11_25,
        "A page of the list has a cursor if there are more tasks.",
        [UnlistedTask];
    "basic/utilities/tasks#task-cancellation", Must, ONLY_2025_11_25,
        "The cancellation of a final task gets the error -32602.",
        [FinalTaskCancelled];
    "basic/utilities/tasks#task-cancellation", Must, ONLY_2025_11_25,
        "A cancelled task has the status `cancelled` in the response, and keeps it.",
        [WrongTaskStatus];
    "basic/utilities/tasks#protocol-errors", Must, ONLY_2025_11_25,
        "A request about an unknown task, or with an invalid cursor, gets the error -32602.",
        [UnknownTask, InvalidTaskCursor];
    "basic/utilities/tasks#task-execution-errors", Should, ONLY_2025_11_25,
        "A failed task has a status message.",
        [MissingStatusMessage];
    "basic/utilities/tasks#task-isolation-and-access-control", Must, ONLY_2025_11_25,
        "A task belongs to the credentials that created it.",
        ("A check has the credentials of one user only.");
    "basic/utilities/tasks#task-isolation-and-access-control", Must, ONLY_2025_11_25,
        "Without credentials the ids of tasks cannot be guessed.",
        [GuessableTask];
    "basic/utilities/tasks#resource-management", Should, ONLY_2025_11_25,
        "A server limits the number, the duration and the storage of tasks.",
        ("The specification names no limits.");
}
