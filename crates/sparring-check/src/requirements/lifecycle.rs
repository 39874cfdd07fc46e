//! Lifecycle, versions and discovery: the pages `basic/lifecycle`, `basic/versioning` and
//! `server/discover`.

use super::requirements;

requirements! {
    "basic/lifecycle#initialization", Must, LEGACY,
        "A server answers `initialize` with its version, capabilities and information.",
        [Handshake, MissingField];
    "basic/lifecycle#initialization", Must, ONLY_2025_03_26,
        "`initialize` is not a part of a batch.",
        [BatchNotAllowed];
    "basic/lifecycle#initialization", Should, LEGACY,
        "A server sends only pings and log messages before it has received `notifications/initialized`.",
        [EarlyMessage, OutOfOrder];
    "basic/lifecycle#version-negotiation", Must, LEGACY,
        "A server that supports the requested version answers with the same version.",
        [WrongVersion];
    "basic/lifecycle#version-negotiation", Must, LEGACY,
        "Otherwise it answers with another version that it supports.",
        [VersionNegotiation, WrongVersion];
    "basic/lifecycle#version-negotiation", Should, LEGACY,
        "This is its newest version.",
        [OlderVersion];
    "basic/lifecycle#operation", Must, FROM_2025_06_18_TO_2025_11_25,
        "Both sides keep to the negotiated version.",
        [NotInRevision, WrongDirection];
    "basic/lifecycle#operation", Must, FROM_2025_06_18_TO_2025_11_25,
        "Both sides use only negotiated capabilities.",
        [Undeclared];
    "basic/lifecycle#operation", Should, UNTIL_2025_03_26,
        "Both sides keep to the negotiated version, and use only negotiated capabilities.",
        [NotNegotiated, NotInRevision];
    "basic/lifecycle#error-handling", Should, LEGACY,
        "A server handles a mismatch of versions, failed negotiations, and timeouts.",
        [VersionNegotiation];
    "basic/lifecycle#timeouts", Should, LEGACY,
        "A side has a timeout for its requests, and cancels a request after it.",
        ("A check answers every question of a server at once.");
    "basic/versioning#protocol-version-negotiation", Must, MODERN,
        "A request of a version that the server does not support gets the error -32022, which lists the supported versions.",
        [UnsupportedVersion, UnsupportedVersionStatus];
    "basic/versioning#protocol-version-negotiation", Must, MODERN,
        "A server implements `server/discover`.",
        [MissingDiscover, Handshake];
    "basic/versioning#extension-negotiation", Must, MODERN,
        "The name of an extension is a key of `_meta` with a prefix.",
        [InvalidExtension];
    "basic/versioning#extension-negotiation", Must, MODERN,
        "A side without an extension of the other side uses the core protocol, or rejects the request.",
        [Undeclared, UnknownField];
    "basic/versioning#backward-compatibility-with-initialization-based-versions", Should, MODERN,
        "A server without `initialize` names its versions in the error that it answers.",
        [InitializeRefusal];
    "server/discover#discoverresult", Must, MODERN,
        "The result of `server/discover` names the supported versions and the capabilities.",
        [Handshake, MissingField, UnspokenVersion];
    "server/discover#discoverresult", Should, MODERN,
        "The result has `serverInfo` in its `_meta`.",
        [MissingServerInfo];
}
