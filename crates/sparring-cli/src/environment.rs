//! The values from the environment: proxies, under the usual names, and the paths of the
//! user's files.

use std::collections::BTreeMap;
use std::path::PathBuf;

use sparring_transport::http::Proxies;

/// The settings that the program reads from its environment.
pub(crate) struct Environment {
    /// The proxies to use.
    pub(crate) proxies: Proxies,
    /// The file for tokens, if HOME or XDG_CONFIG_HOME is set.
    pub(crate) credentials_file: Option<PathBuf>,
    /// The file for the tests that failed, if HOME or XDG_STATE_HOME is set.
    pub(crate) failed_tests_file: Option<PathBuf>,
    /// True if stderr is a terminal.
    pub(crate) has_terminal: bool,
    /// The user's config file, if HOME or XDG_CONFIG_HOME is set.
    pub(crate) user_config_file: Option<PathBuf>,
    /// The file of trusted config files, if HOME or XDG_STATE_HOME is set.
    pub(crate) trust_file: Option<PathBuf>,
    /// The folder of stored permissions, if HOME or XDG_STATE_HOME is set.
    pub(crate) grants_folder: Option<PathBuf>,
    /// The file of the shell's history, if HOME or XDG_STATE_HOME is set.
    pub(crate) history_file: Option<PathBuf>,
    /// The user's home folder.
    pub(crate) home: Option<PathBuf>,
    /// The current directory.
    pub(crate) current_dir: PathBuf,
    /// All variables that are UTF-8.
    pub(crate) variables: BTreeMap<String, String>,
    /// True if a user can be asked: stdin and stderr are terminals.
    pub(crate) can_ask: bool,
}

impl Environment {
    /// Reads the environment with `variable`, which returns the value of a variable.
    pub(crate) fn from_variables(
        variable: impl Fn(&str) -> Option<String>,
        has_terminal: bool,
    ) -> Self {
        let folder = |name: &str| variable(name).filter(|path| path.starts_with('/'));
        let config = folder("XDG_CONFIG_HOME").map(PathBuf::from);
        let config = config.or_else(|| Some(PathBuf::from(folder("HOME")?).join(".config")));
        let credentials = config.as_ref().map(|config| config.join("sparring/credentials.json"));
        let state = folder("XDG_STATE_HOME").map(PathBuf::from);
        let state = state.or_else(|| Some(PathBuf::from(folder("HOME")?).join(".local/state")));
        let failed = state.as_ref().map(|state| state.join("sparring/failed.json"));
        Environment {
            proxies: proxies(&variable),
            credentials_file: credentials,
            failed_tests_file: failed,
            has_terminal,
            user_config_file: config.map(|config| config.join("sparring/mcp.yaml")),
            trust_file: state.as_ref().map(|state| state.join("sparring/trust.json")),
            history_file: state.as_ref().map(|state| state.join("sparring/history")),
            grants_folder: state.map(|state| state.join("sparring")),
            home: folder("HOME").map(PathBuf::from),
            current_dir: PathBuf::from("."),
            variables: BTreeMap::new(),
            can_ask: false,
        }
    }
}

/// Reads the proxies. Names in lower case take precedence over those in upper case.
/// `HTTP_PROXY` is ignored when a web server starts the program, since the header `Proxy`
/// of any client sets that variable there.
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
        no_proxy: either("no_proxy").unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads `NAME=value NAME=value`.
    fn read(environment: &str) -> Environment {
        let pairs = || environment.split(' ').filter_map(|pair| pair.split_once('='));
        let variable = |name: &str| {
            pairs().find(|(known, _)| *known == name).map(|(_, value)| value.to_owned())
        };
        Environment::from_variables(variable, false)
    }

    /// Checks the proxies as `http https except`.
    fn check(environment: &str, expected: [&str; 3]) {
        let found = read(environment).proxies;
        assert_eq!([&*found.http, &*found.https, &*found.no_proxy], expected, "{environment}");
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
    fn tokens_are_stored_in_the_config_folder() {
        for (environment, expected) in [
            ("HOME=/h", Some("/h/.config/sparring/credentials.json")),
            ("HOME=/h XDG_CONFIG_HOME=/x", Some("/x/sparring/credentials.json")),
            ("HOME=/h XDG_CONFIG_HOME=x", Some("/h/.config/sparring/credentials.json")),
            ("XDG_CONFIG_HOME=", None),
        ] {
            assert_eq!(
                read(environment).credentials_file,
                expected.map(PathBuf::from),
                "{environment}"
            );
        }
    }

    #[test]
    fn failed_tests_are_stored_in_the_state_folder() {
        for (environment, expected) in [
            ("HOME=/h", Some("/h/.local/state/sparring/failed.json")),
            ("HOME=/h XDG_STATE_HOME=/x", Some("/x/sparring/failed.json")),
            ("", None),
        ] {
            assert_eq!(
                read(environment).failed_tests_file,
                expected.map(PathBuf::from),
                "{environment}"
            );
        }
    }

    #[test]
    fn config_trust_and_history_are_stored_in_their_folders() {
        let read = read("HOME=/h XDG_STATE_HOME=/x");
        assert_eq!(read.user_config_file, Some(PathBuf::from("/h/.config/sparring/mcp.yaml")));
        assert_eq!(read.trust_file, Some(PathBuf::from("/x/sparring/trust.json")));
        assert_eq!(read.history_file, Some(PathBuf::from("/x/sparring/history")));
    }

    #[test]
    fn ignores_a_proxy_that_a_web_request_may_have_set() {
        check("REQUEST_METHOD=GET HTTP_PROXY=a", ["", "", ""]);
        check("REQUEST_METHOD=GET http_proxy=a HTTPS_PROXY=b", ["a", "b", ""]);
    }
}
