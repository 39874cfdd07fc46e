//! Checks of servers in memory and over HTTP.

mod clean;
mod pairs;
mod requirements_page;
mod support;
