//! The error of a client: its reason, the line of the test, and the failure context.
//! `unwrap`, `expect` and `?` print all of it.

use std::fmt;
use std::panic::Location;

use sparring_transport::OpenError;

use crate::client;
use crate::failure_context::FailureContext;

/// The client could not connect, or a request got no usable response.
///
/// ```
/// # use sparring::blocking::Wait as _;
/// # use sparring::{Client, MockServer};
/// # use serde_json::json;
/// # use std::time::Duration;
/// # let mock = MockServer::from_yaml("tools: [{name: stuck, fault: {silent: true}}]", ".")?;
/// # let client = Client::in_memory(mock).wait()?;
/// let stuck = client.call_tool("stuck", json!({})).timeout(Duration::from_millis(50));
/// let error: sparring::Error = stuck.wait().expect_err("it never answers");
/// let shown = error.to_string();
/// assert!(shown.starts_with("no answer to tools/call within 50ms\nat "), "{shown}");
/// assert!(shown.contains("target: mock "), "the failure context follows: {shown}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Error(Box<Inner>);

struct Inner {
    reason: Reason,
    at: &'static Location<'static>,
    context: Option<FailureContext>,
}

/// The reason of an [`Error`].
///
/// ```
/// # use sparring::blocking::Wait as _;
/// # use sparring::{ChildTarget, Client, Reason};
/// let error = Client::connect(ChildTarget::new("no-such-program")).wait().unwrap_err();
/// assert!(matches!(error.reason(), Reason::Open(_)), "{error}");
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Reason {
    /// The target could not be started or reached.
    Open(OpenError),
    /// The connection or a request failed.
    Client(client::Error),
    /// The expected messages were not received.
    NotReceived(String),
    /// A shared fixture could not be started.
    Fixture(String),
    /// The server could not be checked.
    NotChecked(String),
}

impl Error {
    pub(crate) fn open(error: impl Into<OpenError>, at: &'static Location<'static>) -> Self {
        Error(Box::new(Inner { reason: Reason::Open(error.into()), at, context: None }))
    }

    pub(crate) fn client(
        error: client::Error,
        at: &'static Location<'static>,
        context: &FailureContext,
    ) -> Self {
        Error::with_context(Reason::Client(error), at, context)
    }

    pub(crate) fn not_received(
        message: String,
        at: &'static Location<'static>,
        context: &FailureContext,
    ) -> Self {
        Error::with_context(Reason::NotReceived(message), at, context)
    }

    fn with_context(
        reason: Reason,
        at: &'static Location<'static>,
        context: &FailureContext,
    ) -> Self {
        Error(Box::new(Inner { reason, at, context: Some(context.clone()) }))
    }

    pub(crate) fn fixture(why: String, at: &'static Location<'static>) -> Self {
        Error(Box::new(Inner { reason: Reason::Fixture(why), at, context: None }))
    }

    #[cfg(feature = "check")]
    pub(crate) fn not_checked(why: String, at: &'static Location<'static>) -> Self {
        Error(Box::new(Inner { reason: Reason::NotChecked(why), at, context: None }))
    }

    /// Returns the reason.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer, Reason, client};
    /// # use serde_json::json;
    /// # use std::time::Duration;
    /// # let mock = MockServer::from_yaml("tools: [{name: stuck, fault: {silent: true}}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// let stuck = client.call_tool("stuck", json!({})).timeout(Duration::from_millis(50));
    /// let error = stuck.wait().expect_err("it never answers");
    /// assert!(matches!(error.reason(), Reason::Client(client::Error::Timeout { .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reason(&self) -> &Reason {
        &self.0.reason
    }

    /// Returns the line of the test that made the request.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer};
    /// # use serde_json::json;
    /// # use std::time::Duration;
    /// # let mock = MockServer::from_yaml("tools: [{name: stuck, fault: {silent: true}}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// let stuck = client.call_tool("stuck", json!({})).timeout(Duration::from_millis(50));
    /// let line = line!() - 1;
    /// let error = stuck.wait().expect_err("it never answers");
    /// assert_eq!(error.location().line(), line);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn location(&self) -> &'static Location<'static> {
        self.0.at
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.reason {
            Reason::Open(error) => write!(f, "{error}")?,
            Reason::Client(error) => write!(f, "{error}")?,
            Reason::NotReceived(message) => f.write_str(message)?,
            Reason::Fixture(why) => write!(f, "cannot start a shared fixture: {why}")?,
            Reason::NotChecked(why) => write!(f, "the server was not checked: {why}")?,
        }
        write!(f, "\nat {}", self.0.at)?;
        match &self.0.context {
            Some(context) => write!(f, "\n{context}"),
            None => Ok(()),
        }
    }
}

/// The same as `Display`, because `unwrap` prints this.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}
