//! The command that runs just one test.

use sparring_suite::Planned;

pub(super) fn command(planned: Planned<'_>) -> String {
    let name = format!("^{}$", sparring_script::escape_pattern(&planned.test.name));
    let mut words = vec!["spar", "test", planned.suite.name(), "--filter", &name];
    if let Some(revision) = planned.variant.protocol {
        words.extend(["--protocol", revision.name()]);
    }
    if let Some(transport) = planned.variant.transport {
        words.extend(["--transport", transport.name()]);
    }
    // Only a text with a NUL cannot be quoted, and a YAML text has none.
    shlex::try_join(words.iter().copied()).unwrap_or_else(|_| words.join(" "))
}
