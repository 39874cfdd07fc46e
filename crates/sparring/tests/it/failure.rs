//! Failures that are wanted: what they say, and at which line.

use std::any::Any;
use std::cell::RefCell;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Once;
use std::task::Poll;

use sparring::{Client, ClientBuilder, MockServer, Revision};

thread_local! {
    /// Where this thread failed last; only where it is watched.
    static FAILED_AT: RefCell<Option<Option<String>>> = const { RefCell::new(None) };
}

/// A failure.
#[derive(Debug)]
pub(crate) struct Failure {
    /// What it says, the scene left out.
    pub(crate) message: String,
    /// What it says of the scene.
    pub(crate) scene: String,
    /// As `tests/it/response.rs:12`.
    pub(crate) at: String,
}

/// Runs what must fail.
#[track_caller]
pub(crate) fn failure<R>(check: impl FnOnce() -> R) -> Failure {
    watch();
    FAILED_AT.set(Some(None));
    let outcome = catch_unwind(AssertUnwindSafe(check));
    let at = FAILED_AT.take().flatten().unwrap_or_default();
    let Err(payload) = outcome else { panic!("it was to fail") };
    Failure::read(payload, at)
}

/// Awaits what must fail.
pub(crate) async fn failure_of(work: impl Future<Output = ()>) -> Failure {
    watch();
    let mut work = pin!(work);
    poll_fn(|cx| {
        FAILED_AT.set(Some(None));
        let outcome = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx)));
        let at = FAILED_AT.take().flatten().unwrap_or_default();
        match outcome {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(())) => panic!("it was to fail"),
            Err(payload) => Poll::Ready(Failure::read(payload, at)),
        }
    })
    .await
}

/// Has every failure of a thread that is watched noted instead of printed.
fn watch() {
    static WATCH: Once = Once::new();
    WATCH.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let at = info.location().map(|at| format!("{}:{}", at.file(), at.line()));
            let watched = FAILED_AT.with_borrow_mut(|failed| failed.as_mut().map(|it| *it = at));
            if watched.is_none() {
                before(info);
            }
        }));
    });
}

impl Failure {
    fn read(payload: Box<dyn Any + Send>, at: String) -> Failure {
        let whole = match payload.downcast::<String>() {
            Ok(message) => *message,
            Err(payload) => payload.downcast::<&str>().unwrap().to_string(),
        };
        let (message, scene) = whole.split_once("\n\ntarget: ").unwrap_or((&whole, ""));
        let at = at.trim_start_matches("crates/sparring/").to_owned();
        Failure { message: message.to_owned(), scene: scene.to_owned(), at }
    }
}

/// Runs what must fail on the line of the caller, and gives what it says.
#[track_caller]
pub(crate) fn failure_here<R>(check: impl FnOnce() -> R) -> String {
    let here = std::panic::Location::caller();
    let failure = failure(check);
    let here = format!("{}:{}", here.file(), here.line());
    assert_eq!(failure.at, here.trim_start_matches("crates/sparring/"));
    assert!(failure.scene.contains("traffic:\n"), "no scene: {failure:?}");
    failure.message
}

/// A client of a mock, in a revision whose frames are short.
pub(crate) async fn client(script: &str) -> Client {
    built(Client::builder(), script).await
}

/// The same, of a client that differs.
pub(crate) async fn built(builder: ClientBuilder, script: &str) -> Client {
    let mock = MockServer::from_yaml(script, ".").unwrap();
    builder.revision(Revision::V2025_11_25).in_memory(mock).await.unwrap()
}

/// What a future panics with.
pub(crate) async fn message_of<T>(future: impl Future<Output = T>) -> String {
    use futures_util::FutureExt as _;

    let caught = AssertUnwindSafe(future).catch_unwind().await;
    let Err(payload) = caught else { panic!("it was to fail") };
    match payload.downcast::<String>() {
        Ok(message) => *message,
        Err(payload) => payload.downcast::<&str>().unwrap().to_string(),
    }
}
