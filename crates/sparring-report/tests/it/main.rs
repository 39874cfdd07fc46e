//! The reports on runs that have everything in them, as their readers see them.

mod browser;
mod html;
mod peers;
mod sample;
mod texts;
