//! Tests servers in real containers with podman. `cargo xtask containers` starts them
//! and passes the podman command. Without it these tests are skipped.

mod faults;
mod hidden_processes;
mod podman;
mod readiness;
mod shutdown;
mod suites;
mod verbs;
