//! Checks of servers in memory and over HTTP.

#![expect(clippy::unwrap_used, reason = "a test that unwraps fails where it stands")]

mod clean;
mod pairs;
mod requirements_page;
mod support;
