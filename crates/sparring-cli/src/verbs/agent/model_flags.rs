//! The flags that select the model.

use std::time::Duration;

use clap::{Args, ValueEnum};
use sparring_host::agent::{Address, Api, Endpoint, RequestPolicy};
use sparring_transport::Secrets;
use sparring_transport::http::HttpTarget;

use crate::args::parse_duration;
use crate::args::text_source::TextSource;
use crate::command_error::CommandError;
use crate::environment::Environment;
use crate::output::Printer;

/// The flags of the model.
#[derive(Args)]
#[group(skip)]
pub(super) struct ModelFlags {
    /// The LLM endpoint: the base URL of its API, or the full URL
    #[arg(long, value_name = "URL", help_heading = "Model")]
    llm: String,

    /// The API: OpenAI's chat completions or Anthropic's messages; required if the URL
    /// does not show it
    #[arg(long, value_name = "API", help_heading = "Model")]
    api: Option<ApiFlag>,

    /// The model's name
    #[arg(long, value_name = "NAME", default_value = "default", help_heading = "Model")]
    pub(super) model: String,

    /// The system prompt; @FILE
    #[arg(long, value_name = "TEXT", help_heading = "Model")]
    #[arg(value_parser = |text: &str| Ok::<_, String>(TextSource::from(text)))]
    pub(super) system: Option<TextSource>,

    /// Limit for the model's tokens in a turn
    #[arg(long, value_name = "N", help_heading = "Model")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) max_tokens: Option<u32>,

    /// Limit for a request, including its response
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = parse_duration)]
    #[arg(help_heading = "Model")]
    timeout: Duration,

    /// Print the model's text while it arrives, including text before tool calls; auto
    /// does so on a terminal
    #[arg(long, value_name = "WHEN", default_value = "auto", help_heading = "Model")]
    stream: When,
}

#[derive(Clone, Copy, ValueEnum)]
enum ApiFlag {
    Openai,
    Anthropic,
}

#[derive(Clone, Copy, ValueEnum)]
enum When {
    Auto,
    Always,
    Never,
}

impl ModelFlags {
    /// Returns true if the model's text is printed while it arrives.
    pub(super) fn streams(&self, printer: &Printer) -> bool {
        match self.stream {
            When::Auto => printer.is_terminal() && !printer.is_json(),
            When::Always => true,
            When::Never => false,
        }
    }

    /// Returns the endpoint, with its key from the environment.
    pub(super) fn endpoint(
        &self,
        environment: &Environment,
        secrets: &Secrets,
        streams: bool,
    ) -> Result<Endpoint, CommandError> {
        let api = self.api.map(|api| match api {
            ApiFlag::Openai => Api::OpenAi,
            ApiFlag::Anthropic => Api::Anthropic,
        });
        let address =
            Address::from_url(&self.llm, api).map_err(|it| CommandError::Usage(it.to_string()))?;
        let variable = address.api.key_variable();
        let key = environment.variables.get(variable).filter(|key| !key.is_empty());
        let mut target = HttpTarget::new(&address.url);
        target.proxies = environment.proxies.clone();
        target.secrets = secrets.clone();
        key.iter().for_each(|key| secrets.add(key));
        if key.is_some() && !target.is_private() {
            return Err(CommandError::Usage(format!(
                "refusing to send the key in {variable} to {} without TLS; use https, or unset \
                 the variable",
                target.redacted_url()
            )));
        }
        let policy = RequestPolicy { request: self.timeout, ..RequestPolicy::default() };
        let endpoint = Endpoint::new(&address, key.map(String::as_str), target, policy);
        Ok(endpoint.map_err(CommandError::Model)?.streaming(streams))
    }
}
