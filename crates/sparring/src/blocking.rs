//! Everything from a plain `#[test]`: [`Wait::wait`] stands wherever `.await`
//! would, and no runtime is needed in the test or in its `Cargo.toml`.
//!
//! ```
//! use sparring::blocking::Wait as _;
//! use sparring::{Client, MockServer};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
//! let client = Client::in_memory(mock).wait()?;
//! client.list_tools().wait()?.find_tool("greet");
//! let response = client.call_tool("greet", serde_json::json!({})).wait()?;
//! response.assert_success();
//! client.close().wait();
//! # Ok(())
//! # }
//! ```
//!
//! It is the same client with the same answers. What goes on meanwhile does so on
//! a runtime in the background, which all plain tests of a process share.

use crate::background::background;

/// Waits for anything that can be awaited, whole async blocks included.
///
/// ```
/// let answer = sparring::blocking::wait(async { 6 * 7 });
/// assert_eq!(answer, 42);
/// ```
///
/// # Panics
/// In an async test or task, where there is `.await`.
#[track_caller]
pub fn wait<F: IntoFuture>(future: F) -> F::Output {
    assert!(
        tokio::runtime::Handle::try_current().is_err(),
        "`wait` is for plain tests, and this is an async one: write `.await` instead"
    );
    background().block_on(async { future.await })
}

/// Waiting without `.await`; see [`blocking`](self).
///
/// ```
/// use sparring::blocking::Wait as _;
///
/// assert_eq!(std::future::ready(42).wait(), 42);
/// ```
pub trait Wait: IntoFuture + Sized {
    /// Waits until it is done, and gives what it gives.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer};
    /// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
    /// let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("greet", serde_json::json!({})).wait()?.assert_text("hello");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// In an async test or task, where there is `.await`.
    #[track_caller]
    fn wait(self) -> Self::Output {
        wait(self)
    }
}

impl<F: IntoFuture> Wait for F {}
