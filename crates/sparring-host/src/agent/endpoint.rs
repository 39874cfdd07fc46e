//! Sends requests to a model endpoint, reads the response whole or as a stream,
//! and retries when the endpoint is busy.

use std::time::Duration;

use serde_json::Value;
use sparring_transport::http::{HttpError, HttpTarget, JsonClient, JsonError, JsonResponse};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use super::api::{Address, Api};
use super::event::Event;
use super::model_turn::ModelTurn;
use crate::text::{escape_control, truncate};

/// The maximum number of characters of an endpoint's error message.
const MAX_MESSAGE_CHARS: usize = 500;

/// The maximum number of bytes of a model's turn.
const MAX_TURN_BYTES: usize = 8 * 1024 * 1024;

/// The maximum number of bytes of a stream; events are longer than their text.
const MAX_STREAM_BYTES: usize = 8 * MAX_TURN_BYTES;

/// The timeout of a request, and the policy of retries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestPolicy {
    /// The timeout of a request, including its response.
    pub request: Duration,
    /// The number of retries when the endpoint is busy.
    pub retries: u32,
    /// The maximum delay before a retry.
    pub longest_wait: Duration,
}

/// An LLM endpoint.
#[derive(Debug)]
pub struct Endpoint {
    pub(super) api: Api,
    client: JsonClient,
    policy: RequestPolicy,
    stream: bool,
}

/// Why a model endpoint gave no usable response.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The endpoint's URL is invalid.
    #[error(transparent)]
    Target(#[from] HttpError),
    /// The endpoint cannot be reached.
    #[error("{why}")]
    Unreachable {
        /// The reason, with the address.
        why: String,
    },
    /// The endpoint did not respond in time.
    #[error("{url} did not respond within {after:?}")]
    Timeout {
        /// The endpoint.
        url: String,
        /// The timeout.
        after: Duration,
    },
    /// The response does not follow the API.
    #[error("{url} sent an invalid response: {why}")]
    InvalidResponse {
        /// The endpoint.
        url: String,
        /// The reason.
        why: String,
    },
    /// The endpoint responded with an error.
    #[error("{url} responded with status {status}{}{}", message_suffix(message), tries_suffix(*tries))]
    Refused {
        /// The endpoint.
        url: String,
        /// The HTTP status.
        status: u16,
        /// The endpoint's message.
        message: String,
        /// The number of tries.
        tries: u32,
    },
}

/// Five minutes, and three retries with a delay of at most a minute.
impl Default for RequestPolicy {
    fn default() -> Self {
        let (request, longest_wait) = (Duration::from_secs(300), Duration::from_secs(60));
        RequestPolicy { request, retries: 3, longest_wait }
    }
}

impl Endpoint {
    /// Creates an endpoint. `target` contains certificates and proxies; its URL
    /// is ignored.
    ///
    /// # Errors
    /// If the target is invalid.
    pub fn new(
        address: &Address,
        key: Option<&str>,
        target: HttpTarget,
        policy: RequestPolicy,
    ) -> Result<Endpoint, AgentError> {
        let mut target = HttpTarget { url: address.url.clone(), ..target };
        address.api.add_headers(&mut target, key);
        target.max_message = MAX_TURN_BYTES;
        let client = JsonClient::new(&target)?;
        Ok(Endpoint { api: address.api, client, policy, stream: false })
    }

    /// Requests streamed responses.
    #[must_use]
    pub fn streaming(self, stream: bool) -> Endpoint {
        Endpoint { stream, ..self }
    }

    /// Requests one turn.
    pub(super) async fn request_turn(
        &self,
        mut body: Value,
        events: &mpsc::Sender<Event>,
    ) -> Result<ModelTurn, AgentError> {
        if self.stream {
            body["stream"] = true.into();
        }
        self.request_whole_turn(body, events).await
    }

    /// Requests one turn with exactly this body, in which only secrets are masked: results and
    /// descriptions of servers may repeat them.
    pub(super) async fn request_whole_turn(
        &self,
        body: Value,
        events: &mpsc::Sender<Event>,
    ) -> Result<ModelTurn, AgentError> {
        let body = self.client.mask(&body.to_string());
        let mut tries = 1;
        loop {
            let within = self.policy.request;
            let asked = timeout(within, self.try_request(body.clone(), tries, events)).await;
            let again = match asked {
                Err(_) => {
                    return Err(AgentError::Timeout { url: self.client.url(), after: within });
                }
                Ok(Ok(turn)) => return Ok(turn),
                Ok(Err(RequestFailure::Final(error))) => return Err(error),
                Ok(Err(RequestFailure::Retryable { error, after })) => {
                    let after = after.unwrap_or_else(|| backoff(tries));
                    let give_up = tries > self.policy.retries;
                    if give_up || after > self.policy.longest_wait {
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

    async fn try_request(
        &self,
        body: String,
        tries: u32,
        events: &mpsc::Sender<Event>,
    ) -> Result<ModelTurn, RequestFailure> {
        let answer = self.client.post(body).await.map_err(|error| self.transport_failure(error))?;
        if !(200..300).contains(&answer.status()) {
            return Err(self.error_response(answer, tries).await);
        }
        if answer.is_stream() {
            return self.read_stream(answer, events).await;
        }
        let body = answer.body().await.map_err(|error| self.transport_failure(error))?;
        let answer: Value = serde_json::from_slice(&body)
            .map_err(|error| self.invalid_response(format!("the response is not JSON: {error}")))?;
        self.api.parse_response(&answer).map_err(|why| self.invalid_response(why))
    }

    async fn read_stream(
        &self,
        mut answer: JsonResponse,
        events: &mpsc::Sender<Event>,
    ) -> Result<ModelTurn, RequestFailure> {
        let mut assembler = self.api.assembler();
        let mut bytes = 0;
        while let Some(event) =
            answer.next_event().await.map_err(|error| self.transport_failure(error))?
        {
            let Some(data) = event.data else { continue };
            if data == b"[DONE]" {
                break;
            }
            bytes += data.len();
            if bytes > MAX_STREAM_BYTES {
                return Err(self.invalid_response(format!(
                    "the stream has more than {MAX_STREAM_BYTES} bytes"
                )));
            }
            let data: Value = serde_json::from_slice(&data)
                .map_err(|error| self.invalid_response(format!("an event is not JSON: {error}")))?;
            let more = assembler.push(&data).map_err(|why| self.invalid_response(why))?;
            if !more.is_empty() {
                let _ = events.send(Event::Delta(more)).await;
            }
        }
        match assembler.is_complete() {
            true => Ok(assembler.finish()),
            false => Err(self.invalid_response("the stream ended within the response".to_owned())),
        }
    }

    /// Reads an error response, and decides about a retry.
    async fn error_response(&self, answer: JsonResponse, tries: u32) -> RequestFailure {
        let status = answer.status();
        let again = match answer.header("x-should-retry") {
            Some("false") => false,
            Some("true") => true,
            _ => matches!(status, 408 | 409 | 429 | 500..=599),
        };
        let after = retry_after(&answer);
        let body = answer.body().await.unwrap_or_default();
        let message = match serde_json::from_slice::<Value>(&body) {
            Ok(body) => {
                let turn = body["error"]["message"].as_str().or(body["error"].as_str());
                turn.or(body["message"].as_str()).unwrap_or_default().to_owned()
            }
            Err(_) => String::from_utf8_lossy(&body).trim().to_owned(),
        };
        let message = self.sanitize(&message);
        let error = AgentError::Refused { url: self.client.url(), status, message, tries };
        if again {
            RequestFailure::Retryable { error, after }
        } else {
            RequestFailure::Final(error)
        }
    }

    fn transport_failure(&self, error: JsonError) -> RequestFailure {
        let url = self.client.url();
        RequestFailure::Final(match error {
            JsonError::Unreachable(why) => AgentError::Unreachable { why },
            error => AgentError::InvalidResponse { url, why: error.to_string() },
        })
    }

    fn invalid_response(&self, why: String) -> RequestFailure {
        let why = self.sanitize(&why);
        RequestFailure::Final(AgentError::InvalidResponse { url: self.client.url(), why })
    }

    /// The endpoint's text in one line, escaped and without the key.
    fn sanitize(&self, text: &str) -> String {
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        truncate(&escape_control(&self.client.mask(&line)), MAX_MESSAGE_CHARS)
    }
}

/// Why a request failed.
enum RequestFailure {
    Final(AgentError),
    /// A retry may help, after the delay that the endpoint requests.
    Retryable {
        error: AgentError,
        after: Option<Duration>,
    },
}

/// The delay that the endpoint requests.
fn retry_after(answer: &JsonResponse) -> Option<Duration> {
    let number = |name: &str| answer.header(name)?.trim().parse::<f64>().ok();
    let seconds = match number("retry-after-ms") {
        Some(milliseconds) => milliseconds / 1000.0,
        None => number("retry-after")?,
    };
    Duration::try_from_secs_f64(seconds).ok()
}

/// Half a second, doubled with each try, with a random part so that clients do
/// not retry at the same time.
fn backoff(tries: u32) -> Duration {
    let whole = Duration::from_millis(500) * 2u32.saturating_pow(tries.min(6) - 1);
    whole.mul_f64(0.75 + fastrand::f64() / 4.0)
}

fn message_suffix(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(": {message}") }
}

fn tries_suffix(tries: u32) -> String {
    if tries > 1 { format!(" (tried {tries} times)") } else { String::new() }
}
