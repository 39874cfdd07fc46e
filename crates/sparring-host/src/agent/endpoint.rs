//! Asks a model: a request, its answer at once or in a stream, and again where
//! the endpoint has no time now.

use std::time::Duration;

use serde_json::Value;
use sparring_transport::http::{HttpTarget, JsonAnswer, JsonClient, JsonError};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use super::api::{Address, Api};
use super::error::AgentError;
use super::event::Event;
use super::said::Said;
use crate::text::{cut, visible};

/// The most that is shown of what an endpoint says of an error.
const LONGEST_MESSAGE: usize = 500;

/// The most bytes that a model may say in a turn.
const LONGEST_TURN: usize = 8 * 1024 * 1024;

/// How long a request may take, and how often one is made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// How long a request may take, its answer included.
    pub request: Duration,
    /// How often the same is asked again where the endpoint has no time.
    pub retries: u32,
    /// The longest time that is waited before that.
    pub longest_wait: Duration,
}

/// An LLM endpoint.
#[derive(Debug)]
pub struct Endpoint {
    pub(super) api: Api,
    client: JsonClient,
    patience: Patience,
    stream: bool,
}

/// Five minutes, and three times within a minute each.
impl Default for Patience {
    fn default() -> Self {
        let (request, longest_wait) = (Duration::from_secs(300), Duration::from_secs(60));
        Patience { request, retries: 3, longest_wait }
    }
}

impl Endpoint {
    /// One at this address. `target` says whom to trust, and which proxies to go
    /// through; its URL is not looked at.
    ///
    /// # Errors
    /// When it cannot even be tried.
    pub fn new(
        address: &Address,
        key: Option<&str>,
        target: HttpTarget,
        patience: Patience,
    ) -> Result<Endpoint, AgentError> {
        let mut target = HttpTarget { url: address.url.clone(), ..target };
        address.api.prepare(&mut target, key);
        target.max_message = LONGEST_TURN;
        let client = JsonClient::new(&target)?;
        Ok(Endpoint { api: address.api, client, patience, stream: false })
    }

    /// Has answers come piece by piece.
    #[must_use]
    pub fn streaming(self, stream: bool) -> Endpoint {
        Endpoint { stream, ..self }
    }

    /// Asks for a turn.
    pub(super) async fn ask(
        &self,
        mut body: Value,
        events: &mpsc::Sender<Event>,
    ) -> Result<Said, AgentError> {
        if self.stream {
            body["stream"] = true.into();
        }
        let body = body.to_string();
        let mut tries = 1;
        loop {
            let within = self.patience.request;
            let asked = timeout(within, self.ask_once(body.clone(), tries, events)).await;
            let again = match asked {
                Err(_) => {
                    return Err(AgentError::Late { url: self.client.url(), after: within });
                }
                Ok(Ok(said)) => return Ok(said),
                Ok(Err(Trouble::Final(error))) => return Err(error),
                Ok(Err(Trouble::Busy { error, after })) => {
                    let after = after.unwrap_or_else(|| backoff(tries));
                    let hopeless = tries > self.patience.retries;
                    if hopeless || after > self.patience.longest_wait {
                        return Err(error);
                    }
                    (error, after)
                }
            };
            if let (AgentError::Refused { status, .. }, after) = again {
                let _ = events.send(Event::Retry { status, after }).await;
                sleep(after).await;
            }
            tries += 1;
        }
    }

    async fn ask_once(
        &self,
        body: String,
        tries: u32,
        events: &mpsc::Sender<Event>,
    ) -> Result<Said, Trouble> {
        let answer = self.client.post(body).await.map_err(|error| self.broken(error))?;
        if !(200..300).contains(&answer.status()) {
            return Err(self.refused(answer, tries).await);
        }
        if answer.is_stream() {
            return self.listen(answer, events).await;
        }
        let body = answer.body().await.map_err(|error| self.broken(error))?;
        let answer: Value = serde_json::from_slice(&body)
            .map_err(|error| self.unusable(format!("it is not JSON: {error}")))?;
        self.api.read(&answer).map_err(|why| self.unusable(why))
    }

    async fn listen(
        &self,
        mut answer: JsonAnswer,
        events: &mpsc::Sender<Event>,
    ) -> Result<Said, Trouble> {
        let mut ear = self.api.listening();
        let mut bytes = 0;
        while let Some(event) = answer.event().await.map_err(|error| self.broken(error))? {
            let Some(data) = event.data else { continue };
            if data == b"[DONE]" {
                break;
            }
            bytes += data.len();
            if bytes > 8 * LONGEST_TURN {
                return Err(self.unusable("the stream does not end".to_owned()));
            }
            let data: Value = serde_json::from_slice(&data)
                .map_err(|error| self.unusable(format!("an event is not JSON: {error}")))?;
            let more = ear.take(&data).map_err(|why| self.unusable(why))?;
            if !more.is_empty() {
                let _ = events.send(Event::Delta(more)).await;
            }
        }
        match ear.is_whole() {
            true => Ok(ear.said()),
            false => Err(self.unusable("the stream ended before the answer did".to_owned())),
        }
    }

    /// What an endpoint says of an error, and whether asking again may help.
    async fn refused(&self, answer: JsonAnswer, tries: u32) -> Trouble {
        let status = answer.status();
        let again = match answer.header("x-should-retry") {
            Some("false") => false,
            Some("true") => true,
            _ => matches!(status, 408 | 409 | 429 | 500..=599),
        };
        let after = wait(&answer);
        let body = answer.body().await.unwrap_or_default();
        let message = match serde_json::from_slice::<Value>(&body) {
            Ok(body) => {
                let said = body["error"]["message"].as_str().or(body["error"].as_str());
                said.or(body["message"].as_str()).unwrap_or_default().to_owned()
            }
            Err(_) => String::from_utf8_lossy(&body).trim().to_owned(),
        };
        let message = self.shown(&message);
        let error = AgentError::Refused { url: self.client.url(), status, message, tries };
        if again { Trouble::Busy { error, after } } else { Trouble::Final(error) }
    }

    fn broken(&self, error: JsonError) -> Trouble {
        let url = self.client.url();
        Trouble::Final(match error {
            JsonError::Unreachable(why) => AgentError::Unreachable { why },
            error => AgentError::Unusable { url, why: error.to_string() },
        })
    }

    fn unusable(&self, why: String) -> Trouble {
        let why = self.shown(&why);
        Trouble::Final(AgentError::Unusable { url: self.client.url(), why })
    }

    /// What the endpoint says, in one line, harmless and without the key.
    fn shown(&self, text: &str) -> String {
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        cut(&visible(&self.client.masked(&line)), LONGEST_MESSAGE)
    }
}

/// Why there is no answer now.
enum Trouble {
    Final(AgentError),
    /// Asking again may help, after as long as the endpoint says.
    Busy {
        error: AgentError,
        after: Option<Duration>,
    },
}

/// How long the endpoint wants us to wait.
fn wait(answer: &JsonAnswer) -> Option<Duration> {
    let number = |name: &str| answer.header(name)?.trim().parse::<f64>().ok();
    let seconds = match number("retry-after-ms") {
        Some(milliseconds) => milliseconds / 1000.0,
        None => number("retry-after")?,
    };
    Duration::try_from_secs_f64(seconds).ok()
}

/// Half a second, and twice as long each time, with some chance in it so that
/// many do not come back at once.
fn backoff(tries: u32) -> Duration {
    let whole = Duration::from_millis(500) * 2u32.saturating_pow(tries.min(6) - 1);
    whole.mul_f64(0.75 + fastrand::f64() / 4.0)
}
