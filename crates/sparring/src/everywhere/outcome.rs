//! How the body of a test ends: in peace, by an error, or by a panic.

use std::any::Any;
use std::fmt::Debug;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

/// What the body of a test may give, as a `#[test]` may: nothing, or a result.
///
/// ```
/// use sparring::everywhere::Outcome;
///
/// assert_eq!(().into_failure(), Ok(()));
/// assert_eq!(Err::<(), _>(404).into_failure(), Err("404".to_owned()));
/// ```
#[diagnostic::on_unimplemented(
    message = "the body of a test cannot give `{Self}`",
    label = "neither `()` nor a `Result<(), _>`"
)]
pub trait Outcome {
    /// What went wrong, in words.
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

/// The outcome of a future that may panic.
pub(super) async fn caught<T: Outcome>(future: impl Future<Output = T>) -> Result<(), String> {
    let mut future = pin!(future);
    let ended = poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(outcome)) => Poll::Ready(Ok(outcome)),
        Err(panic) => Poll::Ready(Err(words(&*panic))),
    });
    ended.await?.into_failure()
}

/// What a panic says.
pub(crate) fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic without words").to_owned()
}
