//! Tests of the HTML report in a browser.

mod big;
mod check;
mod filters;
mod hostile;
mod keys;
mod looks;
mod timeline;
mod transcript;
