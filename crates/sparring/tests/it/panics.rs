//! Tests that fail, looked at by tests that pass.

/// What a future panics with.
pub(crate) async fn message_of<T>(future: impl Future<Output = T>) -> String {
    use futures_util::FutureExt as _;

    let caught = std::panic::AssertUnwindSafe(future).catch_unwind().await;
    let panic = caught.err().expect("it panics");
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => panic.downcast_ref::<&str>().expect("a panic with words").to_string(),
    }
}
