//! Shows a report in Chromium, driven by the DevTools protocol over a pair of pipes.

mod chromium;
mod page;

pub(crate) use page::Page;
