//! Responses with checks. [`Response`](crate::Response) is at the crate root.

pub(crate) mod checked_response;
mod checks;
mod progress;

pub use progress::ProgressReports;
