//! The two APIs of models, and which of them a URL means.

use serde_json::Value;
use sparring_transport::http::{Credentials, HttpTarget};

use super::said::{Listening, Outcome, Said};
use super::{anthropic, openai};
use crate::llm;
use crate::registry::Registered;

/// The revision of Anthropic's API that is spoken.
const VERSION: &str = "2023-06-01";

/// An API of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// OpenAI's chat completions, which many others have too.
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
}

/// Where a model is: which API, and the URL that is posted to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// The API.
    pub api: Api,
    /// The URL.
    pub url: String,
}

/// Why a URL says nothing of the API behind it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "which API is behind {0} cannot be told from the URL: --api openai or --api anthropic says it"
)]
pub struct Unclear(String);

impl Address {
    /// The address that a base URL means, as clients of the API take it, or one
    /// that is whole. Which API it is is guessed where nobody says it.
    ///
    /// # Errors
    /// When that is not clear.
    pub fn of(url: &str, api: Option<Api>) -> Result<Address, Unclear> {
        let (base, query) = url.split_at(url.find('?').unwrap_or(url.len()));
        let base = base.trim_end_matches('/');
        let api = match api.or_else(|| guessed(base)) {
            Some(api) => api,
            None => return Err(Unclear(HttpTarget::new(base).shown_url())),
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
    /// The variable of the environment that has the key.
    pub fn key_variable(self) -> &'static str {
        match self {
            Api::OpenAi => "OPENAI_API_KEY",
            Api::Anthropic => "ANTHROPIC_API_KEY",
        }
    }

    /// Puts the key where the API looks for it, and what else it wants.
    pub(super) fn prepare(self, target: &mut HttpTarget, key: Option<&str>) {
        let mut header = |name: &str, value: &str| {
            target.headers.push((name.to_owned(), value.to_owned()));
        };
        match self {
            Api::OpenAi => {
                target.credentials = key.map(|key| Credentials::Bearer(key.to_owned()));
            }
            Api::Anthropic => {
                header("anthropic-version", VERSION);
                if let Some(key) = key {
                    header("x-api-key", key);
                }
            }
        }
    }

    pub(super) fn tools(self, tools: &[Registered]) -> Vec<Value> {
        match self {
            Api::OpenAi => llm::openai(tools),
            Api::Anthropic => llm::anthropic(tools),
        }
    }

    pub(super) fn user(self, prompt: &str) -> Value {
        match self {
            Api::OpenAi => openai::user(prompt),
            Api::Anthropic => anthropic::user(prompt),
        }
    }

    pub(super) fn body(
        self,
        model: &str,
        system: Option<&str>,
        messages: &[Value],
        tools: &[Value],
        max_tokens: Option<u32>,
    ) -> Value {
        match self {
            Api::OpenAi => openai::body(model, system, messages, tools, max_tokens),
            Api::Anthropic => anthropic::body(model, system, messages, tools, max_tokens),
        }
    }

    pub(super) fn assistant(self, said: &Said) -> Value {
        match self {
            Api::OpenAi => openai::assistant(said),
            Api::Anthropic => anthropic::assistant(said),
        }
    }

    pub(super) fn results(self, outcomes: &[Outcome]) -> Vec<Value> {
        match self {
            Api::OpenAi => openai::results(outcomes),
            Api::Anthropic => anthropic::results(outcomes),
        }
    }

    pub(super) fn read(self, answer: &Value) -> Result<Said, String> {
        match self {
            Api::OpenAi => openai::read(answer),
            Api::Anthropic => anthropic::read(answer),
        }
    }

    pub(super) fn listening(self) -> Ear {
        match self {
            Api::OpenAi => Ear::OpenAi(openai::Chunks::default()),
            Api::Anthropic => Ear::Anthropic(anthropic::Events::default()),
        }
    }
}

/// Puts a stream of either API together.
pub(super) enum Ear {
    OpenAi(openai::Chunks),
    Anthropic(anthropic::Events),
}

impl Ear {
    pub(super) fn take(&mut self, event: &Value) -> Result<String, String> {
        match self {
            Ear::OpenAi(it) => it.take(event),
            Ear::Anthropic(it) => it.take(event),
        }
    }

    pub(super) fn is_whole(&self) -> bool {
        match self {
            Ear::OpenAi(it) => it.is_whole(),
            Ear::Anthropic(it) => it.is_whole(),
        }
    }

    pub(super) fn said(self) -> Said {
        match self {
            Ear::OpenAi(it) => it.said(),
            Ear::Anthropic(it) => it.said(),
        }
    }
}

/// What the end of a path says, or the host.
fn guessed(base: &str) -> Option<Api> {
    let host = host(base).to_ascii_lowercase();
    let of = |name: &str| host.split('.').any(|part| part == name);
    match () {
        () if base.ends_with("/chat/completions") => Some(Api::OpenAi),
        () if base.ends_with("/messages") => Some(Api::Anthropic),
        () if of("anthropic") => Some(Api::Anthropic),
        () if of("openai") || base.ends_with("/v1") => Some(Api::OpenAi),
        () => None,
    }
}

fn behind_scheme(base: &str) -> &str {
    base.split_once("://").map_or(base, |(_, rest)| rest)
}

fn host(base: &str) -> &str {
    let authority = behind_scheme(base).split('/').next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    host.rsplit_once(':').map_or(host, |(host, _)| host)
}

fn path(base: &str) -> &str {
    behind_scheme(base).split_once('/').map_or("", |(_, path)| path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, api: Option<Api>, expected: Option<(Api, &str)>) {
        let found = Address::of(url, api).ok();
        let expected = expected.map(|(api, url)| Address { api, url: url.to_owned() });
        assert_eq!(found, expected, "{url}");
    }

    #[test]
    fn a_url_is_taken_as_clients_of_the_api_take_it() {
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
    fn a_url_that_says_nothing_is_told_without_what_is_secret() {
        let error = Address::of("http://me:hunter2@h:1/x", None).expect_err("unclear").to_string();
        assert!(error.contains("http://h:1/x") && !error.contains("hunter2"), "{error}");
    }
}
