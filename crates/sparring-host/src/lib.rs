//! Hosts many servers: configuration, connections, tools and permissions.
//!
//! [`config`] reads the configuration, [`manager`] owns the connections,
//! [`names`] assigns unique names to tools, [`registry`] finds and calls tools,
//! [`permissions`] decides about calls, [`llm`] declares tools to a model,
//! [`agent`] runs a model with tools, and [`gateway`] serves all servers as
//! one. [`artifacts`] saves results of tools, [`session`] saves and restores the
//! connected servers and the allowed tools, and [`file_watcher`] watches files for changes.
//! Nothing here prints or reads the environment, and nothing depends on suites.

pub mod agent;
pub mod artifacts;
pub mod config;
mod events;
pub mod file_watcher;
pub mod gateway;
mod instructions;
pub mod llm;
pub mod manager;
pub mod names;
pub mod permissions;
pub mod registry;
pub mod session;
mod text;

pub use text::{escape_control, is_invisible};
