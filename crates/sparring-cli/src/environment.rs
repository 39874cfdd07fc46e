//! What the environment says: proxies, in the way of other programs, and where
//! the user's own files are.

use std::collections::BTreeMap;
use std::path::PathBuf;

use sparring_transport::http::Proxies;

/// What the environment says.
pub(crate) struct Environment {
    /// Which proxies to go through.
    pub(crate) proxies: Proxies,
    /// Where tokens are kept, if there is a place for that.
    pub(crate) credentials: Option<PathBuf>,
    /// Where it is kept which tests failed, if there is a place for that.
    pub(crate) failed: Option<PathBuf>,
    /// Whether somebody sits before it and reads what goes to stderr.
    pub(crate) attended: bool,
    /// The user's own config file, if there is a place for it.
    pub(crate) config: Option<PathBuf>,
    /// Where it is kept which config files the user trusts, if there is a place.
    pub(crate) trust: Option<PathBuf>,
    /// Where it is kept which tools were granted, if there is a place.
    pub(crate) grants: Option<PathBuf>,
    /// Where it is kept what was typed in the shell, if there is a place.
    pub(crate) history: Option<PathBuf>,
    /// The user's home.
    pub(crate) home: Option<PathBuf>,
    /// Where the program stands.
    pub(crate) here: PathBuf,
    /// All variables that are texts.
    pub(crate) variables: BTreeMap<String, String>,
    /// Whether somebody can be asked.
    pub(crate) answers: bool,
}

impl Environment {
    /// Reads it by `variable`, which gives what a variable of it is.
    pub(crate) fn read(variable: impl Fn(&str) -> Option<String>, attended: bool) -> Self {
        let folder = |name: &str| variable(name).filter(|path| path.starts_with('/'));
        let config = folder("XDG_CONFIG_HOME").map(PathBuf::from);
        let config = config.or_else(|| Some(PathBuf::from(folder("HOME")?).join(".config")));
        let credentials = config.as_ref().map(|config| config.join("sparring/credentials.json"));
        let state = folder("XDG_STATE_HOME").map(PathBuf::from);
        let state = state.or_else(|| Some(PathBuf::from(folder("HOME")?).join(".local/state")));
        let failed = state.as_ref().map(|state| state.join("sparring/failed.json"));
        Environment {
            proxies: proxies(&variable),
            credentials,
            failed,
            attended,
            config: config.map(|config| config.join("sparring/mcp.yaml")),
            trust: state.as_ref().map(|state| state.join("sparring/trust.json")),
            history: state.as_ref().map(|state| state.join("sparring/history")),
            grants: state.map(|state| state.join("sparring")),
            home: folder("HOME").map(PathBuf::from),
            here: PathBuf::from("."),
            variables: BTreeMap::new(),
            answers: false,
        }
    }
}

/// Names in lower case go before those in upper case. `HTTP_PROXY` is not
/// believed where a web server starts the program: there, anybody's header
/// `Proxy` becomes that variable.
fn proxies(variable: impl Fn(&str) -> Option<String>) -> Proxies {
    let given = |name: &str| variable(name).filter(|value| !value.is_empty());
    let either = |lower: &str| given(lower).or_else(|| given(&lower.to_ascii_uppercase()));
    let all = either("all_proxy").unwrap_or_default();
    let http = match variable("REQUEST_METHOD") {
        Some(_) => given("http_proxy"),
        None => either("http_proxy"),
    };
    Proxies {
        http: http.unwrap_or_else(|| all.clone()),
        https: either("https_proxy").unwrap_or(all),
        except: either("no_proxy").unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes of `NAME=value NAME=value`.
    fn read(environment: &str) -> Environment {
        let pairs = || environment.split(' ').filter_map(|pair| pair.split_once('='));
        let variable = |name: &str| {
            pairs().find(|(known, _)| *known == name).map(|(_, value)| value.to_owned())
        };
        Environment::read(variable, false)
    }

    /// The proxies that come of it, as `http https except`.
    fn check(environment: &str, expected: [&str; 3]) {
        let found = read(environment).proxies;
        assert_eq!([&*found.http, &*found.https, &*found.except], expected, "{environment}");
    }

    #[test]
    fn the_usual_variables_name_the_proxies() {
        check("", ["", "", ""]);
        check("HTTP_PROXY=a HTTPS_PROXY=b NO_PROXY=c", ["a", "b", "c"]);
        check("HTTP_PROXY=a http_proxy=b", ["b", "", ""]);
        check("http_proxy= HTTP_PROXY=a", ["a", "", ""]);
        check("ALL_PROXY=a https_proxy=b", ["a", "b", ""]);
    }

    #[test]
    fn tokens_are_kept_where_the_user_has_settings() {
        for (environment, expected) in [
            ("HOME=/h", Some("/h/.config/sparring/credentials.json")),
            ("HOME=/h XDG_CONFIG_HOME=/x", Some("/x/sparring/credentials.json")),
            ("HOME=/h XDG_CONFIG_HOME=x", Some("/h/.config/sparring/credentials.json")),
            ("XDG_CONFIG_HOME=", None),
        ] {
            assert_eq!(read(environment).credentials, expected.map(PathBuf::from), "{environment}");
        }
    }

    #[test]
    fn what_failed_is_kept_where_programs_keep_their_state() {
        for (environment, expected) in [
            ("HOME=/h", Some("/h/.local/state/sparring/failed.json")),
            ("HOME=/h XDG_STATE_HOME=/x", Some("/x/sparring/failed.json")),
            ("", None),
        ] {
            assert_eq!(read(environment).failed, expected.map(PathBuf::from), "{environment}");
        }
    }

    #[test]
    fn servers_and_trust_are_kept_where_programs_keep_such_things() {
        let read = read("HOME=/h XDG_STATE_HOME=/x");
        assert_eq!(read.config, Some(PathBuf::from("/h/.config/sparring/mcp.yaml")));
        assert_eq!(read.trust, Some(PathBuf::from("/x/sparring/trust.json")));
        assert_eq!(read.history, Some(PathBuf::from("/x/sparring/history")));
    }

    #[test]
    fn a_header_of_a_web_request_is_no_proxy() {
        check("REQUEST_METHOD=GET HTTP_PROXY=a", ["", "", ""]);
        check("REQUEST_METHOD=GET http_proxy=a HTTPS_PROXY=b", ["a", "b", ""]);
    }
}
