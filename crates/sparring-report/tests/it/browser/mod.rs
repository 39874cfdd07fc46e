//! A real Chromium that shows a report, driven by the DevTools protocol over a
//! pair of pipes.

mod chromium;
mod page;

pub(crate) use page::Page;
