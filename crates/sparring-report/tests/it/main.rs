//! The reports on runs that have everything in them, as their readers see them.

#![expect(clippy::unwrap_used, reason = "a test that unwraps fails where it stands")]

mod browser;
mod html;
mod peers;
mod sample;
mod texts;
