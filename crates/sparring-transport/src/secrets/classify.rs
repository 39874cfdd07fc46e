//! Decides by names and shapes which values are secrets.
//!
//! A value from the environment is a secret, except short values, numbers, paths and addresses,
//! which appear in many texts. A literal value is a secret if its name suggests it.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;
use sparring_wire::secret_names::is_secret_setting;

use super::Secrets;
use super::forms::is_trivial;

/// Shorter environment values are not secrets, unless their names suggest it.
const MIN_VARIABLE_LENGTH: usize = 8;

/// A segment of a path with letters and digits is a secret from this length on, if its URL
/// comes from the environment.
const MIN_SEGMENT_LENGTH: usize = 16;

/// Headers whose values are not secrets.
const PUBLIC_HEADERS: [&str; 9] = [
    "accept",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "connection",
    "content-type",
    "host",
    "origin",
    "user-agent",
];

impl Secrets {
    /// Adds the value of an environment variable that fills in a placeholder.
    pub fn add_variable(&self, name: &str, value: &str) {
        if value.contains("://") {
            self.add_url(value);
            path_tokens(value).for_each(|token| self.add(token));
        }
        let by_name = is_secret_setting(name);
        let by_length = value.len() >= MIN_VARIABLE_LENGTH && value.parse::<f64>().is_err();
        if (by_name || by_length) && !is_public(value) {
            self.add(value);
        }
    }

    /// Adds the literal value of an environment variable, if its name suggests a secret.
    pub fn add_setting(&self, name: &str, value: &str) {
        if value.contains("://") {
            self.add_url(value);
        }
        if is_secret_setting(name) && !is_public(value) {
            self.add(value);
        }
    }

    /// Adds the value of a header, and the parts that may appear without the rest.
    pub fn add_header(&self, name: &str, value: &str) {
        let name = name.to_ascii_lowercase();
        if PUBLIC_HEADERS.contains(&&*name) || name.starts_with("mcp-") || is_public(value) {
            return;
        }
        self.add(value);
        match value.split_once(' ') {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("basic") => {
                self.add(rest);
                let decoded =
                    STANDARD.decode(rest.trim()).ok().and_then(|it| String::from_utf8(it).ok());
                decoded.iter().for_each(|pair| self.add_user_and_password(pair));
            }
            Some((_, rest)) => self.add(rest),
            None => {}
        }
        if name == "cookie" {
            let values = value.split(';').filter_map(|pair| pair.split_once('='));
            values.for_each(|(_, value)| self.add(value.trim()));
        }
    }

    /// Adds `USER:PASSWORD`, the password alone, and both as a header has them.
    pub fn add_user_and_password(&self, pair: &str) {
        self.add(&STANDARD.encode(pair));
        match pair.split_once(':') {
            Some((_, password)) if !is_trivial(password) => self.add(password),
            _ => self.add(pair),
        }
    }

    /// Adds the user and password of a URL, and the parts of its query whose names suggest a
    /// secret.
    pub fn add_url(&self, url: &str) {
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let (before, fragment) = url.split_once('#').unwrap_or((url, ""));
        let (before, query) = before.split_once('?').unwrap_or((before, ""));
        for pair in query.split('&').chain(fragment.split('&')) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            if is_secret_setting(&decoded(name)) {
                self.add(value);
                self.add(&decoded(value));
            }
        }
        let authority = before.split_once("://").map_or(before, |(_, rest)| rest);
        let authority = authority.split('/').next().unwrap_or_default();
        let Some((user, _)) = authority.rsplit_once('@') else { return };
        let password = user.split_once(':').map_or(user, |(_, password)| password);
        self.add(password);
        match user.contains(':') {
            true => self.add_user_and_password(&decoded(user)),
            // A token can take the place of the user.
            false => self.add(&decoded(password)),
        }
    }

    /// Adds the values after flags of a command whose names suggest a secret: `--token X`,
    /// `--token=X`, `TOKEN=X`.
    pub fn add_arguments<'a>(&self, words: impl IntoIterator<Item = &'a str>) {
        let mut is_value = false;
        for word in words {
            if word.contains("://") {
                self.add_url(word);
            }
            if std::mem::take(&mut is_value) && !word.starts_with('-') && !is_public(word) {
                self.add(word);
            }
            match word.split_once('=') {
                Some((name, value)) => self.add_setting(name, value),
                None => is_value = word.starts_with('-') && is_secret_setting(word),
            }
        }
    }
}

/// Returns true if a value is a path, a list of folders or an address, and so not a secret.
fn is_public(value: &str) -> bool {
    let is_path = |path: &str| path.starts_with('/') && Path::new(path).exists();
    let host = value.rsplit_once(':').map_or(value, |(host, _)| host);
    value.split(':').any(is_path)
        || value.parse::<IpAddr>().is_ok()
        || value.parse::<SocketAddr>().is_ok()
        || host == "localhost"
        || value.contains("://")
}

/// The segments of a URL's path that look like tokens.
fn path_tokens(url: &str) -> impl Iterator<Item = &str> {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let rest = path.split_once("://").map_or("", |(_, rest)| rest);
    rest.split('/').skip(1).filter(|segment| {
        let has = |is: fn(&char) -> bool| segment.chars().any(|c| is(&c));
        segment.len() >= MIN_SEGMENT_LENGTH
            && has(char::is_ascii_digit)
            && has(char::is_ascii_alphabetic)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(register: impl FnOnce(&Secrets), text: &str, expected: &str) {
        let secrets = Secrets::default();
        register(&secrets);
        assert_eq!(secrets.mask(text), expected);
    }

    #[test]
    fn masks_variables_except_public_values() {
        for (name, value) in
            [("ANY", "correct horse"), ("MY_TOKEN", "hunter2"), ("KEY", "/no/such/file")]
        {
            check(|it| it.add_variable(name, value), &format!("<{value}>"), "<(hidden)>");
        }
        for (name, value) in [
            ("ANY", "hunter2"),
            ("TOKEN", "true"),
            ("TOKEN", "1"),
            ("TIMEOUT", "120000000"),
            ("MODE", "production"),
            ("CREDENTIALS", "/dev/null"),
            ("PATH", "/usr/bin:/bin"),
            ("HOST", "127.0.0.1:8080"),
            ("HOST", "localhost"),
            ("URL", "http://127.0.0.1:8080/mcp"),
        ] {
            let text = format!("<{value}>");
            check(|it| it.add_variable(name, value), &text, &text);
        }
        let url = "postgres://me:hunter2@host/db";
        check(|it| it.add_variable("URL", url), url, "postgres://me:(hidden)@host/db");
        let url = "https://h/api/s/a1b2c3d4e5f6a7b8/mcp";
        check(|it| it.add_variable("URL", url), url, "https://h/api/s/(hidden)/mcp");
    }

    #[test]
    fn masks_headers_except_public_ones() {
        let header = |name, value| move |it: &Secrets| it.add_header(name, value);
        check(header("X-Org", "acme-corp"), "acme-corp", "(hidden)");
        check(header("authorization", "Bearer hunter2"), "a hunter2", "a (hidden)");
        check(header("Authorization", "Basic bWU6aHVudGVyMg=="), "hunter2", "(hidden)");
        check(header("Cookie", "a=hunter2; b=1"), "hunter2", "(hidden)");
        check(header("Accept", "text/plain"), "text/plain", "text/plain");
    }

    #[test]
    fn masks_the_secrets_of_a_url() {
        let url = "http://me:p%40ss-word@h/mcp?api_key=hunter2&page=second-one";
        let expected = "http://me:(hidden)@h/mcp?api_key=(hidden)&page=second-one p@ss-word";
        let masked = expected.replace("p@ss-word", "(hidden)");
        check(|it| it.add_url(url), &format!("{url} p@ss-word"), &masked);
        check(|it| it.add_url("http://hunter2@h/"), "hunter2", "(hidden)");
    }

    #[test]
    fn masks_values_after_flags() {
        let words = ["serve", "--api-key", "hunter2", "--token=hunter3", "--mode", "careful"];
        let text = "hunter2 hunter3 careful serve";
        check(|it| it.add_arguments(words), text, "(hidden) (hidden) careful serve");
    }
}
