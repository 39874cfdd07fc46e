//! The transport stdio, and what all transports have in common.

use super::requirements;

requirements! {
    "basic/transports#messages", Must, ALL,
        "Messages are encoded as UTF-8.",
        [InvalidUtf8];
    "basic/transports/stdio#messages", Must, ALL,
        "Messages are lines, and have no line breaks inside.",
        [NotJson];
    "basic/transports/stdio#messages", Must, ALL,
        "A server writes nothing to stdout but messages.",
        [NotJson, NotAnObject];
    "basic/transports/stdio#receiving-messages", Must, MODERN,
        "A server writes no requests to stdout.",
        [WrongDirection];
    "basic/transports/stdio#cancellation", Should, MODERN,
        "A server stops the work on a cancelled request soon.",
        ("The work of a server cannot be seen.");
    "basic/transports/stdio#cancellation", Must, MODERN,
        "A server sends no more messages for a cancelled request.",
        [MessageAfterCancellation];
    "basic/transports/stdio#shutdown", Should, MODERN,
        "A server exits soon after the end of its input.",
        [IgnoredEndOfInput];
    "basic/transports#custom-transports", Must, ALL,
        "A custom transport keeps the format of messages and the lifecycle.",
        [NotJson, WrongDirection];
}
