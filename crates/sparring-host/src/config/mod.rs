//! Reads the configuration: finds the files, parses their servers with
//! positions, and checks which files the user trusts.
//!
//! [`Config::read`] reads all files. A problem of one server does not affect
//! the others. Nothing is started here, and nothing is read from the
//! environment: the caller passes the [`ConfigContext`].

mod auth;
mod config_context;
mod configuration;
mod edit;
mod entry;
mod env_file;
mod expand;
mod grammar;
mod import;
mod locations;
mod merge;
mod read;
mod redact;
mod server_config;
mod trust;
mod trust_preview;

pub use config_context::{ConfigContext, InputPrompt, InputQuestion};
pub use configuration::{
    Config, ConfiguredServer, EntryState, FileProblem, FileRules, LookupError, UntrustedServer,
    UnusedEntry, UnusedReason,
};
pub use edit::{Change, EditError, Edited, edit};
pub use grammar::{reference, schema};
pub use import::{ImportedEntry, ImportedFile, import_file};
pub use locations::{ConfigLocation, ConfigLocations, Format};
pub use read::File;
pub use server_config::{Origin, Reconnect, Rules, Scope, ServerConfig};
pub use trust::{Trust, TrustError};
pub use trust_preview::{PreviewedServer, TrustPreview};
