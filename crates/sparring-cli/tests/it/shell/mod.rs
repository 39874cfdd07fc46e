//! `spar shell`, from a script and at a terminal.

mod asked;
mod ending;
mod place;
mod scenarios;
mod screen;
mod typed;
