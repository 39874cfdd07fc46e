//! Decides which values of a suite are secrets, and masks members of JSON text whose
//! names suggest a secret.
//!
//! A value is masked in all output from the moment a template renders it. Requests and
//! checks always use the real value.

mod members;
mod values;

pub(crate) use members::mask_members;
pub(crate) use values::{register_env, register_header, register_token};
