//! Why a client has nothing to check: with the line of the test that asked, and
//! the scene. It is shown the same by `unwrap`, `expect` and `?`.

use std::fmt;
use std::panic::Location;

use sparring_transport::OpenError;

use crate::client;
use crate::scene::Scene;

/// A target that could not be reached, or a request without an answer that
/// could be used.
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
/// assert!(shown.contains("target: mock "), "the scene is below: {shown}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Error(Box<Inner>);

struct Inner {
    reason: Reason,
    at: &'static Location<'static>,
    scene: Option<Scene>,
}

/// What kept an answer from coming.
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
    /// The target could not be reached at all.
    Open(OpenError),
    /// The connection failed, or a request.
    Client(client::Error),
    /// What was waited for did not come.
    Missed(String),
    /// What tests share could not be started.
    Fixture(String),
}

impl Error {
    pub(crate) fn open(error: impl Into<OpenError>, at: &'static Location<'static>) -> Self {
        Error(Box::new(Inner { reason: Reason::Open(error.into()), at, scene: None }))
    }

    pub(crate) fn client(
        error: client::Error,
        at: &'static Location<'static>,
        scene: &Scene,
    ) -> Self {
        Error::of(Reason::Client(error), at, scene)
    }

    pub(crate) fn missed(what: String, at: &'static Location<'static>, scene: &Scene) -> Self {
        Error::of(Reason::Missed(what), at, scene)
    }

    fn of(reason: Reason, at: &'static Location<'static>, scene: &Scene) -> Self {
        Error(Box::new(Inner { reason, at, scene: Some(scene.clone()) }))
    }

    pub(crate) fn fixture(why: String, at: &'static Location<'static>) -> Self {
        Error(Box::new(Inner { reason: Reason::Fixture(why), at, scene: None }))
    }

    /// What it was.
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

    /// The line of the test that asked in vain.
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
            Reason::Missed(what) => f.write_str(what)?,
            Reason::Fixture(why) => write!(f, "a shared fixture could not be started: {why}")?,
        }
        write!(f, "\nat {}", self.0.at)?;
        match &self.0.scene {
            Some(scene) => write!(f, "\n{scene}"),
            None => Ok(()),
        }
    }
}

/// As it is displayed: `unwrap` shows this one.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}
