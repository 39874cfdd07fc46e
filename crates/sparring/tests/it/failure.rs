//! Catches expected failures with their message and line.

use std::any::Any;
use std::cell::RefCell;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Once;
use std::task::Poll;

use sparring::{Client, ClientBuilder, MockServer, Revision};

thread_local! {
    /// The location of the last failure of this thread; `Some` while it is caught.
    static FAILED_AT: RefCell<Option<Option<String>>> = const { RefCell::new(None) };
}

/// A failure.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The message without the failure context.
    pub(crate) message: String,
    /// The failure context.
    pub(crate) context: String,
    /// The line, such as `tests/it/response.rs:12`.
    pub(crate) at: String,
}

/// Runs a check that must fail.
#[track_caller]
pub(crate) fn failure<R>(check: impl FnOnce() -> R) -> Failure {
    install_hook();
    FAILED_AT.set(Some(None));
    let outcome = catch_unwind(AssertUnwindSafe(check));
    let at = FAILED_AT.take().flatten().unwrap_or_default();
    let Err(payload) = outcome else { panic!("expected a failure") };
    Failure::from_panic(payload, at)
}

/// Awaits a future that must fail.
pub(crate) async fn failure_of(work: impl Future<Output = ()>) -> Failure {
    install_hook();
    let mut work = pin!(work);
    poll_fn(|cx| {
        FAILED_AT.set(Some(None));
        let outcome = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx)));
        let at = FAILED_AT.take().flatten().unwrap_or_default();
        match outcome {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(())) => panic!("expected a failure"),
            Err(payload) => Poll::Ready(Failure::from_panic(payload, at)),
        }
    })
    .await
}

/// Records the panics of a thread that catches failures, instead of printing them.
fn install_hook() {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let at = info.location().map(|at| format!("{}:{}", at.file(), at.line()));
            let caught = FAILED_AT.with_borrow_mut(|failed| failed.as_mut().map(|it| *it = at));
            if caught.is_none() {
                before(info);
            }
        }));
    });
}

impl Failure {
    fn from_panic(payload: Box<dyn Any + Send>, at: String) -> Failure {
        let whole = match payload.downcast::<String>() {
            Ok(message) => *message,
            Err(payload) => payload.downcast::<&str>().unwrap().to_string(),
        };
        let (message, context) = whole.split_once("\n\ntarget: ").unwrap_or((&whole, ""));
        let at = at.trim_start_matches("crates/sparring/").to_owned();
        Failure { message: message.to_owned(), context: context.to_owned(), at }
    }
}

/// Runs a check that must fail at the line of the caller, and returns its message.
#[track_caller]
pub(crate) fn failure_here<R>(check: impl FnOnce() -> R) -> String {
    let here = std::panic::Location::caller();
    let failure = failure(check);
    let here = format!("{}:{}", here.file(), here.line());
    assert_eq!(failure.at, here.trim_start_matches("crates/sparring/"));
    assert!(failure.context.contains("traffic:\n"), "no failure context: {failure:?}");
    failure.message
}

/// Connects a client to a mock, in a revision with short frames.
pub(crate) async fn client(script: &str) -> Client {
    client_with(Client::builder(), script).await
}

/// Connects the client of a builder to a mock.
pub(crate) async fn client_with(builder: ClientBuilder, script: &str) -> Client {
    let mock = MockServer::from_yaml(script, ".").unwrap();
    builder.revision(Revision::V2025_11_25).in_memory(mock).await.unwrap()
}

/// Returns the panic message of a future.
pub(crate) async fn message_of<T>(future: impl Future<Output = T>) -> String {
    use futures_util::FutureExt as _;

    let caught = AssertUnwindSafe(future).catch_unwind().await;
    let Err(payload) = caught else { panic!("expected a failure") };
    match payload.downcast::<String>() {
        Ok(message) => *message,
        Err(payload) => payload.downcast::<&str>().unwrap().to_string(),
    }
}
