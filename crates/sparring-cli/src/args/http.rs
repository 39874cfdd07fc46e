//! The flags of a target over HTTP. Their values may be secrets, so no message shows
//! them.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use sparring_transport::http::{Credentials, HttpTarget, Tls};

use super::oauth::OAuthFlags;
use super::values;
use crate::command_error::CommandError;
use crate::environment::Environment;
use crate::output::ThreadedWriter;

/// The flags of a target over HTTP.
#[derive(Args)]
#[group(skip)]
pub(super) struct HttpFlags {
    /// Send this header with every request; may be repeated
    #[arg(long = "header", value_name = "NAME: VALUE", allow_hyphen_values = true)]
    #[arg(conflicts_with_all = ["command", "unix", "server"], help_heading = "HTTP")]
    headers: Vec<String>,

    /// Send this bearer token with every request
    #[arg(long, value_name = "TOKEN", allow_hyphen_values = true)]
    #[arg(conflicts_with_all = ["command", "unix", "server", "basic"], help_heading = "HTTP")]
    bearer: Option<String>,

    /// Send this user and password with every request
    #[arg(long, value_name = "USER:PASSWORD", allow_hyphen_values = true)]
    #[arg(conflicts_with_all = ["command", "unix", "server"], help_heading = "HTTP")]
    basic: Option<String>,

    /// Also trust the certificates in this PEM file
    #[arg(long, value_name = "FILE")]
    #[arg(conflicts_with_all = ["command", "unix", "server", "insecure"], help_heading = "HTTP")]
    ca: Option<PathBuf>,

    /// Trust any certificate
    #[arg(long, conflicts_with_all = ["command", "unix", "server"], help_heading = "HTTP")]
    insecure: bool,

    /// Limit for making one connection
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = values::parse_duration)]
    #[arg(conflicts_with_all = ["command", "unix", "server"], help_heading = "HTTP")]
    connect_timeout: Duration,

    /// Longest pause within a response after its first byte [default: the timeout of its
    /// request]
    #[arg(long, value_name = "TIME", value_parser = values::parse_duration)]
    #[arg(conflicts_with_all = ["command", "unix", "server"], help_heading = "HTTP")]
    idle_timeout: Option<Duration>,

    #[command(flatten)]
    oauth: OAuthFlags,
}

impl HttpFlags {
    /// Returns the server at this URL with the settings of the flags.
    ///
    /// # Errors
    /// When a flag has an invalid value.
    pub(super) fn target(
        &self,
        url: &str,
        environment: &Environment,
        stderr: &ThreadedWriter,
    ) -> Result<HttpTarget, CommandError> {
        let mut target = HttpTarget::new(url);
        target.headers =
            self.headers.iter().map(|text| parse_header(text)).collect::<Result<_, _>>()?;
        target.credentials = match self.oauth.to_oauth(environment, stderr)? {
            Some(oauth) => Some(Credentials::OAuth(Box::new(oauth))),
            None => self.credentials()?,
        };
        let names = |(name, _): &(String, String)| name.eq_ignore_ascii_case("authorization");
        if target.credentials.is_some() && target.headers.iter().any(names) {
            return Err(usage_error(
                "the credentials are given twice: --header also sets Authorization",
            ));
        }
        let https = url.get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://"));
        if !https && (self.insecure || self.ca.is_some()) {
            return Err(usage_error("--ca and --insecure require an https URL"));
        }
        target.tls = Tls { ca: self.ca.clone(), insecure: self.insecure };
        target.proxies = environment.proxies.clone();
        target.connect_timeout = self.connect_timeout;
        target.idle_timeout = self.idle_timeout;
        Ok(target)
    }

    fn credentials(&self) -> Result<Option<Credentials>, CommandError> {
        Ok(match (&self.bearer, &self.basic) {
            (Some(token), _) if token.trim().is_empty() => {
                return Err(usage_error("--bearer: the token is empty"));
            }
            (Some(token), _) => Some(Credentials::Bearer(token.as_str().into())),
            (None, Some(pair)) if !pair.contains(':') => {
                return Err(usage_error("--basic: expected USER:PASSWORD"));
            }
            (None, Some(pair)) => Some(Credentials::Basic(pair.as_str().into())),
            (None, None) => None,
        })
    }
}

/// Parses `NAME: VALUE`. Text without a valid name before the colon may be a secret.
fn parse_header(text: &str) -> Result<(String, String), CommandError> {
    let named = text.split_once(':').map(|(name, value)| (name.trim(), value.trim()));
    match named.filter(|(name, _)| is_header_name(name)) {
        Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
        None => Err(usage_error("--header: expected 'NAME: VALUE'")),
    }
}

/// Returns true if the text is a valid header name (RFC 9110, 5.6.2).
fn is_header_name(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    !text.is_empty() && text.chars().all(allowed)
}

fn usage_error(message: &str) -> CommandError {
    CommandError::Usage(message.to_owned())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[arg(long)]
        command: bool,
        #[arg(long)]
        unix: bool,
        #[arg(long)]
        server: bool,
        #[command(flatten)]
        http: HttpFlags,
    }

    fn target(url: &str, flags: &[&str]) -> Result<HttpTarget, String> {
        let line = Line::try_parse_from([&["spar"], flags].concat()).unwrap();
        let environment = Environment::from_variables(|_| None, false);
        let stderr = ThreadedWriter::new(std::io::sink(), &sparring_transport::Secrets::default());
        line.http.target(url, &environment, &stderr).map_err(|failure| failure.to_string())
    }

    #[test]
    fn flags_become_a_target() {
        let target = target(
            "https://a/mcp",
            &["--header", "X-Key:  a: b ", "--bearer", "-token", "--insecure"],
        );
        let target = target.unwrap();
        assert_eq!(target.headers, [("X-Key".to_owned(), "a: b".to_owned())]);
        assert_eq!(target.credentials, Some(Credentials::Bearer("-token".into())));
        assert!(target.tls.insecure && target.idle_timeout.is_none());
    }

    #[test]
    fn no_message_shows_a_possible_secret() {
        for flags in [
            &["--header", "hunter2"][..],
            &["--header", "Bearer hunter2: x"],
            &["--header", ": hunter2"],
            &["--basic", "hunter2"],
            &["--bearer", " "],
            &["--bearer", "hunter2", "--header", "authorization: hunter2"],
            &["--insecure"],
            &["--ca", "x.pem"],
        ] {
            let message = target("http://a/mcp", flags).unwrap_err();
            assert!(!message.contains("hunter2"), "{message}");
        }
    }
}
