//! The features of clients, as far as a server uses them: elicitation, sampling and roots.

use super::requirements;

requirements! {
    "client/elicitation#user-interaction-model", Must, SINCE_2025_06_18,
        "A form does not ask for passwords, keys or other secrets.",
        [SensitiveElicitation];
    "client/elicitation#user-interaction-model", Must, SINCE_2025_11_25,
        "A server asks for secrets with a URL.",
        [SensitiveElicitation];
    "client/elicitation#capabilities", Must, SINCE_2025_06_18,
        "A server uses only the modes of elicitation that the client has declared.",
        [Undeclared];
    "client/elicitation#elicitation-requests", Must, SINCE_2025_11_25,
        "An elicitation has a message, and a form also a schema.",
        [MissingField, WrongType, WrongValue];
    "client/elicitation#requested-schema", Must, SINCE_2025_06_18,
        "The schema of a form is a flat object of primitive properties.",
        [ComplexElicitation];
    "client/elicitation#url-mode-elicitation-requests", Must, SINCE_2025_11_25,
        "The URL of an elicitation is a valid URL.",
        [InvalidUri];
    "client/elicitation#completion-notifications-for-url-mode-elicitation", Must, ONLY_2025_11_25,
        "The notification of a complete elicitation has the id of an elicitation that this client was asked for.",
        [UnknownElicitation];
    "client/elicitation#url-elicitation-required-error", Must, ONLY_2025_11_25,
        "The error -32042 names the required elicitations, which are all of the mode `url`.",
        [NoRequiredElicitation, MissingField, WrongValue];
    "client/elicitation#statefulness", Must, SINCE_2025_11_25,
        "The state of an elicitation belongs to a user, and is protected.",
        ("A check is one user only.");
    "client/elicitation#url-mode-elicitation-for-oauth-flows", Must, SINCE_2025_11_25,
        "A server does not use elicitation to authorize its own users, and keeps the credentials of third parties.",
        ("The purpose of a page and the credentials of third parties cannot be seen.");
    "client/elicitation#error-handling", Must, SINCE_2025_06_18,
        "A server handles a user who declines or cancels, and a client that fails to ask.",
        [UnhandledRefusal];
    "client/elicitation#safe-url-handling", Must, SINCE_2025_11_25,
        "The URL of an elicitation has no credentials and no personal data, and is not authenticated before.",
        [SensitiveUrl];
    "client/elicitation#safe-url-handling", Should, SINCE_2025_11_25,
        "A form has no URLs to click.",
        [ClickableUrl];
    "client/elicitation#safe-url-handling", Should, SINCE_2025_11_25,
        "The URL of an elicitation uses HTTPS.",
        [InsecureUrl];
    "client/elicitation#identifying-the-user", Must, SINCE_2025_11_25,
        "A server does not trust the identity that a client claims.",
        ("A check is one user only.");
    "client/elicitation#form-mode-security", Should, SINCE_2025_06_18,
        "A server validates the answers of a form.",
        ("A client that sends invalid answers would break the protocol itself.");
    "client/elicitation#phishing", Must, SINCE_2025_11_25,
        "A server verifies that the user who opens a URL is the user who was asked.",
        ("A check opens no pages.");

    "client/sampling#tools-in-sampling", Must, SINCE_2025_11_25,
        "A sampling request has tools only if the client has declared them.",
        [Undeclared];
    "client/sampling#capabilities", Should, SINCE_2025_11_25,
        "A sampling request includes context only if the client has declared it.",
        [UndeclaredContext];
    "client/sampling#tool-result-messages", Must, SINCE_2025_11_25,
        "A message with tool results has nothing else, and follows exactly the uses of these tools.",
        [UnbalancedTools];
    "client/sampling#messages", Must, MODERN,
        "A message of a sampling request has the role `user` or `assistant`, and content.",
        [MissingField, WrongValue];
    "client/sampling#security-considerations", Should, ALL,
        "A server validates the content of messages, and limits loops of tools.",
        ("The work of a server cannot be seen.");

    "client/roots#security-considerations", Should, ALL,
        "A server respects the roots, and handles roots that are not available.",
        ("The files that a server uses cannot be seen.");
    "client/roots#implementation-guidelines", Should, LEGACY,
        "A server handles changes of the roots.",
        [UnhandledRootsChange];
    "client/roots#implementation-guidelines", Should, ALL,
        "A server checks that the client has roots before it asks for them.",
        [Undeclared];
}
