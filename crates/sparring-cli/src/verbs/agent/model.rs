//! Which model is asked, and how.

use std::time::Duration;

use clap::{Args, ValueEnum};
use sparring_host::agent::{Address, Api, Endpoint, Patience};
use sparring_transport::http::HttpTarget;

use crate::args::given::Given;
use crate::args::time;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::output::Printer;

/// Which model is asked, and how.
#[derive(Args)]
#[group(skip)]
pub(super) struct Model {
    /// The LLM endpoint: the base URL that clients of its API take, or the whole
    #[arg(long, value_name = "URL", help_heading = "Model")]
    llm: String,

    /// The API that it has: OpenAI's chat completions or Anthropic's messages;
    /// needed where the URL does not say it
    #[arg(long, value_name = "API", help_heading = "Model")]
    api: Option<ApiFlag>,

    /// The model's name
    #[arg(long, value_name = "NAME", default_value = "default", help_heading = "Model")]
    pub(super) model: String,

    /// What the model is told before the prompt; @FILE
    #[arg(long, value_name = "TEXT", help_heading = "Model")]
    #[arg(value_parser = |text: &str| Ok::<_, String>(Given::from(text)))]
    pub(super) system: Option<Given>,

    /// How much the model may say in a turn
    #[arg(long, value_name = "N", help_heading = "Model")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) max_tokens: Option<u32>,

    /// How long a request may take, its answer included
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = time)]
    #[arg(help_heading = "Model")]
    timeout: Duration,

    /// Whether all that the model says is printed as it comes, what it says
    /// before it calls tools too; auto does so on a terminal
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

impl Model {
    /// Whether what the model says is printed as it comes.
    pub(super) fn streams(&self, printer: &Printer) -> bool {
        match self.stream {
            When::Auto => printer.is_terminal() && !printer.json(),
            When::Always => true,
            When::Never => false,
        }
    }

    /// The endpoint, with the key that the environment has for it.
    pub(super) fn endpoint(
        &self,
        environment: &Environment,
        streams: bool,
    ) -> Result<Endpoint, Failure> {
        let api = self.api.map(|api| match api {
            ApiFlag::Openai => Api::OpenAi,
            ApiFlag::Anthropic => Api::Anthropic,
        });
        let address = Address::of(&self.llm, api).map_err(|it| Failure::Usage(it.to_string()))?;
        let variable = address.api.key_variable();
        let key = environment.variables.get(variable).filter(|key| !key.is_empty());
        let mut target = HttpTarget::new(&address.url);
        target.proxies = environment.proxies.clone();
        if key.is_some() && !target.is_private() {
            return Err(Failure::Usage(format!(
                "the key in {variable} could be read by others on the way to {}: take https, or \
                 unset it",
                target.shown_url()
            )));
        }
        let patience = Patience { request: self.timeout, ..Patience::default() };
        let endpoint = Endpoint::new(&address, key.map(String::as_str), target, patience);
        Ok(endpoint.map_err(Failure::Model)?.streaming(streams))
    }
}
