//! Tests of the reports, with browsers and parsers as their readers.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod browser;
mod html;
mod peers;
mod sample;
mod texts;
