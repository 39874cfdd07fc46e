//! The flags that say which servers there are, and what may be called.

use std::path::PathBuf;

use clap::Args;

/// Which servers there are, and what may be called.
#[derive(Args, Debug, Clone)]
#[group(skip)]
pub(crate) struct Servers {
    /// Use only this configured server; may be repeated. That is your consent to
    /// its entry, this time
    #[arg(long = "server", value_name = "NAME", help_heading = "Servers")]
    pub(super) named: Vec<String>,

    /// Use the servers of this file and of no other: an mcpServers map in JSON,
    /// or YAML with servers. That is your consent to all of it, this time
    #[arg(long, value_name = "FILE", help_heading = "Servers")]
    pub(super) config: Option<PathBuf>,

    /// Call these tools without asking, as mcp__SERVER, mcp__SERVER__* or
    /// mcp__SERVER__get_*; may be repeated
    #[arg(long, value_name = "PATTERN", help_heading = "Permissions")]
    pub(super) allow: Vec<String>,

    /// Never call these tools, whatever else is said; may be repeated
    #[arg(long, value_name = "PATTERN", help_heading = "Permissions")]
    pub(super) deny: Vec<String>,

    /// Add a line to this file for every decision about a call
    #[arg(long, value_name = "FILE", help_heading = "Permissions")]
    pub(super) audit: Option<PathBuf>,
}
