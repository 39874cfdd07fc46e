//! The supported model APIs, and the detection of the API by a URL.

use serde_json::Value;
use sparring_transport::http::{Credentials, HttpTarget};

use super::model_turn::{ModelTurn, ToolResult};
use super::{anthropic, openai};
use crate::llm;
use crate::registry::RegisteredTool;

/// The version of Anthropic's API.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// A model API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// OpenAI's chat completions, which many other servers implement too.
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
}

/// The API and URL of a model endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// The API.
    pub api: Api,
    /// The URL for requests.
    pub url: String,
}

/// The URL does not show which API the endpoint has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot guess the API of {0} from its URL: use --api openai or --api anthropic")]
pub struct UnknownApi(String);

impl Address {
    /// Completes a base URL, as clients of the API do, or takes a complete one.
    /// Guesses the API from the URL if it is not given.
    ///
    /// # Errors
    /// If the API cannot be guessed.
    pub fn from_url(url: &str, api: Option<Api>) -> Result<Address, UnknownApi> {
        let (base, query) = url.split_at(url.find('?').unwrap_or(url.len()));
        let base = base.trim_end_matches('/');
        let api = match api.or_else(|| guess_api(base)) {
            Some(api) => api,
            None => return Err(UnknownApi(HttpTarget::new(base).redacted_url())),
        };
        let more = match api {
            Api::OpenAi if base.ends_with("/chat/completions") => "",
            Api::OpenAi if path(base).is_empty() => "/v1/chat/completions",
            Api::OpenAi => "/chat/completions",
            Api::Anthropic if base.ends_with("/messages") => "",
            Api::Anthropic if base.ends_with("/v1") => "/messages",
            Api::Anthropic => "/v1/messages",
        };
        Ok(Address { api, url: format!("{base}{more}{query}") })
    }
}

impl Api {
    /// The environment variable that contains the key.
    pub fn key_variable(self) -> &'static str {
        match self {
            Api::OpenAi => "OPENAI_API_KEY",
            Api::Anthropic => "ANTHROPIC_API_KEY",
        }
    }

    /// Adds the key and the other headers that the API requires.
    pub(super) fn add_headers(self, target: &mut HttpTarget, key: Option<&str>) {
        let mut header = |name: &str, value: &str| {
            target.headers.push((name.to_owned(), value.to_owned()));
        };
        match self {
            Api::OpenAi => {
                target.credentials = key.map(|key| Credentials::Bearer(key.into()));
            }
            Api::Anthropic => {
                header("anthropic-version", ANTHROPIC_VERSION);
                if let Some(key) = key {
                    header("x-api-key", key);
                }
            }
        }
    }

    pub(super) fn declare_tools(self, tools: &[RegisteredTool]) -> Vec<Value> {
        match self {
            Api::OpenAi => llm::openai_tools(tools),
            Api::Anthropic => llm::anthropic_tools(tools),
        }
    }

    pub(super) fn user_message(self, prompt: &str) -> Value {
        match self {
            Api::OpenAi => openai::user_message(prompt),
            Api::Anthropic => anthropic::user_message(prompt),
        }
    }

    pub(super) fn request_body(
        self,
        model: &str,
        system: Option<&str>,
        messages: &[Value],
        tools: &[Value],
        max_tokens: Option<u32>,
    ) -> Value {
        match self {
            Api::OpenAi => openai::request_body(model, system, messages, tools, max_tokens),
            Api::Anthropic => anthropic::request_body(model, system, messages, tools, max_tokens),
        }
    }

    pub(super) fn assistant_message(self, turn: &ModelTurn) -> Value {
        match self {
            Api::OpenAi => openai::assistant_message(turn),
            Api::Anthropic => anthropic::assistant_message(turn),
        }
    }

    pub(super) fn result_messages(self, outcomes: &[ToolResult]) -> Vec<Value> {
        match self {
            Api::OpenAi => openai::result_messages(outcomes),
            Api::Anthropic => anthropic::result_messages(outcomes),
        }
    }

    pub(super) fn parse_response(self, answer: &Value) -> Result<ModelTurn, String> {
        match self {
            Api::OpenAi => openai::parse_response(answer),
            Api::Anthropic => anthropic::parse_response(answer),
        }
    }

    pub(super) fn assembler(self) -> TurnAssembler {
        match self {
            Api::OpenAi => TurnAssembler::OpenAi(openai::ChunkAssembler::default()),
            Api::Anthropic => TurnAssembler::Anthropic(anthropic::EventAssembler::default()),
        }
    }
}

/// Assembles a turn from a stream of either API.
pub(super) enum TurnAssembler {
    OpenAi(openai::ChunkAssembler),
    Anthropic(anthropic::EventAssembler),
}

impl TurnAssembler {
    pub(super) fn push(&mut self, event: &Value) -> Result<String, String> {
        match self {
            TurnAssembler::OpenAi(it) => it.push(event),
            TurnAssembler::Anthropic(it) => it.push(event),
        }
    }

    pub(super) fn is_complete(&self) -> bool {
        match self {
            TurnAssembler::OpenAi(it) => it.is_complete(),
            TurnAssembler::Anthropic(it) => it.is_complete(),
        }
    }

    pub(super) fn finish(self) -> ModelTurn {
        match self {
            TurnAssembler::OpenAi(it) => it.finish(),
            TurnAssembler::Anthropic(it) => it.finish(),
        }
    }
}

/// Guesses the API from the end of the path or from the host.
fn guess_api(base: &str) -> Option<Api> {
    let host = host(base).to_ascii_lowercase();
    let has_label = |name: &str| host.split('.').any(|part| part == name);
    match () {
        () if base.ends_with("/chat/completions") => Some(Api::OpenAi),
        () if base.ends_with("/messages") => Some(Api::Anthropic),
        () if has_label("anthropic") => Some(Api::Anthropic),
        () if has_label("openai") || base.ends_with("/v1") => Some(Api::OpenAi),
        () => None,
    }
}

fn after_scheme(base: &str) -> &str {
    base.split_once("://").map_or(base, |(_, rest)| rest)
}

fn host(base: &str) -> &str {
    let authority = after_scheme(base).split('/').next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    host.rsplit_once(':').map_or(host, |(host, _)| host)
}

fn path(base: &str) -> &str {
    after_scheme(base).split_once('/').map_or("", |(_, path)| path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, api: Option<Api>, expected: Option<(Api, &str)>) {
        let found = Address::from_url(url, api).ok();
        let expected = expected.map(|(api, url)| Address { api, url: url.to_owned() });
        assert_eq!(found, expected, "{url}");
    }

    #[test]
    fn a_base_url_is_completed_as_clients_of_the_api_do() {
        use Api::{Anthropic, OpenAi};
        for (url, api, expected) in [
            ("https://api.openai.com/v1", OpenAi, "https://api.openai.com/v1/chat/completions"),
            ("http://h:1/v1/", OpenAi, "http://h:1/v1/chat/completions"),
            ("http://h/x/chat/completions?v=2", OpenAi, "http://h/x/chat/completions?v=2"),
            ("https://api.anthropic.com", Anthropic, "https://api.anthropic.com/v1/messages"),
            ("https://api.anthropic.com/v1", Anthropic, "https://api.anthropic.com/v1/messages"),
            ("http://h/v1/messages", Anthropic, "http://h/v1/messages"),
        ] {
            check(url, None, Some((api, expected)));
        }
        check("http://h:1", None, None);
        check("http://h:1", Some(OpenAi), Some((OpenAi, "http://h:1/v1/chat/completions")));
        check("http://h:1/v1", Some(Anthropic), Some((Anthropic, "http://h:1/v1/messages")));
        check(
            "https://x.openai.azure.com/o?v=1",
            None,
            Some((OpenAi, "https://x.openai.azure.com/o/chat/completions?v=1")),
        );
    }

    #[test]
    fn the_error_of_an_unclear_url_contains_no_secret() {
        let error =
            Address::from_url("http://me:hunter2@h:1/x", None).expect_err("unclear").to_string();
        assert!(error.contains("http://h:1/x") && !error.contains("hunter2"), "{error}");
    }
}
