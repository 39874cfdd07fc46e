//! The reports on runs that have everything in them.

mod browser;
mod html;
mod sample;
