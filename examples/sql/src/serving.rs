//! Serving in the foreground or in the background, chosen by an environment variable.

use std::ffi::OsStr;

use sparring::server::ServerTask;
use sparring::{Handler, Link, Server};

/// The variable that chooses the mode.
pub const BACKGROUND_VARIABLE: &str = "SQL_SERVER_BACKGROUND";

/// The mode in which a link is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ServingMode {
    /// The caller waits until the end of input.
    #[default]
    Foreground,
    /// The caller goes on at once, and stops the server when it likes.
    Background,
}

impl ServingMode {
    /// Reads the value of the variable: `1` is the background; `0`, an empty value and no value
    /// are the foreground.
    ///
    /// # Errors
    /// When the value is another one.
    pub fn from_variable(value: Option<&OsStr>) -> Result<Self, String> {
        match value.map(OsStr::to_string_lossy).as_deref() {
            None | Some("" | "0") => Ok(ServingMode::Foreground),
            Some("1") => Ok(ServingMode::Background),
            Some(other) => Err(format!("{BACKGROUND_VARIABLE}: expected 0 or 1, found `{other}`")),
        }
    }

    /// Serves a link. In the foreground it returns `None` after the end of input. In the
    /// background it returns at once; dropping the task stops the server.
    pub async fn serve<H: Handler>(
        self,
        server: &Server<H>,
        link: impl Link,
    ) -> Option<ServerTask> {
        match self {
            ServingMode::Foreground => {
                server.serve(link).await;
                None
            }
            ServingMode::Background => Some(server.spawn(link)),
        }
    }
}
