//! The integration tests of `sparring-wire`, in one binary.

mod frame;
mod invariants;
mod mutations;
mod official;
