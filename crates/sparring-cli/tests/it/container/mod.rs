//! The program on servers in real containers, by podman: `cargo xtask containers`
//! starts them and says how podman is run. Without that they are skipped.

mod ends;
mod faults;
mod pen;
mod readiness;
mod suites;
mod unseen;
mod verbs;
