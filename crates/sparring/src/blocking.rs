//! Runs everything from a plain `#[test]`: write [`Wait::wait`] instead of
//! `.await`. The test needs no runtime, and no `tokio` in its `Cargo.toml`.
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
//! The client and its responses are the same. The work runs on a background
//! runtime that all plain tests of a process share.

use std::sync::OnceLock;

use tokio::runtime::{Builder, Runtime};

/// A second thread keeps the runtime going while something, such as a server
/// under test, blocks the first.
const WORKER_THREADS: usize = 2;

/// Returns the runtime of this process that outlives the runtimes of tests.
/// Shared fixtures run on it, and plain tests wait on it.
pub(crate) fn background_runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(WORKER_THREADS).thread_name("sparring").enable_all();
        builder.build().unwrap_or_else(|error| panic!("cannot start the test runtime: {error}"))
    })
}

/// Waits for anything that can be awaited, including async blocks.
///
/// ```
/// let answer = sparring::blocking::wait(async { 6 * 7 });
/// assert_eq!(answer, 42);
/// ```
///
/// # Panics
/// In an async test or task. Use `.await` there.
#[track_caller]
pub fn wait<F: IntoFuture>(future: F) -> F::Output {
    assert!(
        tokio::runtime::Handle::try_current().is_err(),
        "`wait` was called in an async test: write `.await` instead"
    );
    background_runtime().block_on(async { future.await })
}

/// Waits without `.await`; see [`blocking`](self).
///
/// ```
/// use sparring::blocking::Wait as _;
///
/// assert_eq!(std::future::ready(42).wait(), 42);
/// ```
pub trait Wait: IntoFuture + Sized {
    /// Waits for the future and returns its output.
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
    /// In an async test or task. Use `.await` there.
    #[track_caller]
    fn wait(self) -> Self::Output {
        wait(self)
    }
}

impl<F: IntoFuture> Wait for F {}
