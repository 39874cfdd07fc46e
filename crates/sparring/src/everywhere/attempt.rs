//! Runs the test in one combination with its own server and client, and catches
//! its error or panic.

use std::any::Any;
use std::fmt::Debug;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use super::runner::{Combination, Everywhere};
use crate::Client;

impl Everywhere {
    pub(super) async fn attempt<B, T>(
        &self,
        combination: Combination,
        body: &B,
        at: &'static Location<'static>,
    ) -> Result<(), String>
    where
        B: AsyncFn(Client) -> T,
        T: Outcome,
    {
        let opened = self.open(combination.transport).await?;
        let builder = self.client.clone().revision(combination.revision);
        let client = builder.connect_opened(opened, at).await.map_err(|error| error.to_string())?;
        let outcome = catch_failure(body(client.clone())).await;
        client.close().await;
        outcome
    }
}

/// The return type of a test body: `()` or a `Result`, as for a `#[test]`.
///
/// ```
/// use sparring::everywhere::Outcome;
///
/// assert_eq!(().into_failure(), Ok(()));
/// assert_eq!(Err::<(), _>(404).into_failure(), Err("404".to_owned()));
/// ```
#[diagnostic::on_unimplemented(
    message = "a test body cannot return `{Self}`",
    label = "neither `()` nor a `Result<(), _>`"
)]
pub trait Outcome {
    /// Describes the failure.
    ///
    /// # Errors
    /// When the test did not pass.
    fn into_failure(self) -> Result<(), String>;
}

impl Outcome for () {
    fn into_failure(self) -> Result<(), String> {
        Ok(())
    }
}

impl<E: Debug> Outcome for Result<(), E> {
    fn into_failure(self) -> Result<(), String> {
        self.map_err(|error| format!("{error:?}"))
    }
}

/// Awaits a test body, and turns its error or panic into a message.
async fn catch_failure<T: Outcome>(future: impl Future<Output = T>) -> Result<(), String> {
    let mut future = pin!(future);
    let ended = poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(outcome)) => Poll::Ready(Ok(outcome)),
        Err(panic) => Poll::Ready(Err(panic_message(&*panic))),
    });
    ended.await?.into_failure()
}

/// Returns the message of a panic.
pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic without a message").to_owned()
}
