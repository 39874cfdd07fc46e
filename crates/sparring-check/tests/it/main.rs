//! Checks of servers in memory and over HTTP.

mod arguments;
mod clean;
mod pairs;
mod requirements_page;
mod support;
