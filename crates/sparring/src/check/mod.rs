//! Checks a server against all rules of the specification, as `spar check` does.
//!
//! ```
//! # use sparring::server::{Context, HandlerResult};
//! # use sparring::types::{CallToolResult, ServerCapabilities};
//! # use sparring::{Handler, Json};
//! # struct Greeter;
//! # impl Handler for Greeter {
//! #     fn capabilities(&self) -> ServerCapabilities {
//! #         ServerCapabilities::none().tools()
//! #     }
//! #     async fn call_tool(&self, _: &str, _: Json<'_>, _: &Context) -> HandlerResult {
//! #         Ok(CallToolResult::text("hello").into())
//! #     }
//! # }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), sparring::Error> {
//! let verdicts = sparring::check(Greeter).only("wire/").await?;
//! verdicts.assert_clean();
//! # Ok(())
//! # }
//! ```

mod checkable;
pub(crate) mod runner;
mod verdicts;

pub use checkable::{Checkable, CheckedTarget};
pub use runner::Check;
pub use sparring_check::{Facts, Finding, Outcome, Problem, ShownFrame, Status, Verdict};
pub use verdicts::Verdicts;
