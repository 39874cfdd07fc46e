//! A mock over HTTP in a separate process: started again if it has exited, and reset before each
//! test by its control endpoint.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, HOST};
use http::{Request, Uri};
use sparring_transport::http::send_once;
use sparring_transport::{HttpProcess, HttpProcessError, HttpProcessTarget, Secret};
use tokio::sync::Mutex;
use tokio::time::timeout;

/// The maximum time until a mock is ready.
pub(super) const READY_TIMEOUT: Duration = Duration::from_secs(30);

/// The maximum time of a reset.
const RESET_TIMEOUT: Duration = Duration::from_secs(5);

/// The maximum wait for an exit after a failed reset.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);

/// The longest answer to a reset.
const MAX_ANSWER: usize = 64 * 1024;

/// A mock in a separate process. Dropping it kills the process.
pub(in crate::run) struct MockProcess {
    target: HttpProcessTarget,
    process: Mutex<HttpProcess>,
    /// The token of the control endpoints.
    token: Option<Secret>,
}

impl MockProcess {
    /// Starts the mock and waits until it is ready.
    ///
    /// # Errors
    /// When it does not become ready.
    pub(super) async fn start(
        target: HttpProcessTarget,
        token: Option<Secret>,
    ) -> Result<MockProcess, HttpProcessError> {
        let process = Mutex::new(HttpProcess::start(&target).await?);
        Ok(MockProcess { target, process, token })
    }

    /// Resets the mock. Starts it again if it has exited.
    ///
    /// # Errors
    /// When the mock refuses the reset, or does not start again.
    pub(super) async fn reset(&self) -> Result<(), String> {
        let mut process = self.process.lock().await;
        if !process.has_exited().await {
            let why = match timeout(RESET_TIMEOUT, self.post_reset()).await {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(why)) => why,
                Err(_) => format!("no answer within {RESET_TIMEOUT:?}"),
            };
            // A failed request may be the first sign of an exit.
            if timeout(EXIT_TIMEOUT, process.exited()).await.is_err() {
                return Err(why);
            }
        }
        *process = HttpProcess::start(&self.target).await.map_err(|error| error.to_string())?;
        Ok(())
    }

    async fn post_reset(&self) -> Result<(), String> {
        let url: Uri = self.target.http.url.parse().map_err(|it| format!("{it}"))?;
        let host = url.authority().map(ToString::to_string).unwrap_or_default();
        let mut request = Request::post("/_spar/reset").header(HOST, host);
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, format!("Bearer {}", token.reveal()));
        }
        let request = request.body(Bytes::new()).map_err(|error| error.to_string())?;
        let response = send_once(&url, None, request, MAX_ANSWER).await?;
        match response.status() {
            status if status.is_success() => Ok(()),
            status => Err(format!("POST /_spar/reset: {status}")),
        }
    }
}

impl fmt::Debug for MockProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MockProcess").field(&self.target.http).finish()
    }
}
