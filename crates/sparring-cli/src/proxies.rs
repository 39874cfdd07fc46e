//! The proxies that the environment names, in the way of other programs.

use sparring_transport::http::Proxies;

/// Reads them by `variable`, which gives what a variable of the environment is.
///
/// Names in lower case go before those in upper case. `HTTP_PROXY` is not
/// believed where a web server starts the program: there, anybody's header
/// `Proxy` becomes that variable.
pub(crate) fn read(variable: impl Fn(&str) -> Option<String>) -> Proxies {
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

    /// What comes of `NAME=value NAME=value`, as `http https except`.
    fn check(environment: &str, expected: [&str; 3]) {
        let pairs = || environment.split(' ').filter_map(|pair| pair.split_once('='));
        let found = read(|name| {
            pairs().find(|(known, _)| *known == name).map(|(_, value)| value.to_owned())
        });
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
    fn a_header_of_a_web_request_is_no_proxy() {
        check("REQUEST_METHOD=GET HTTP_PROXY=a", ["", "", ""]);
        check("REQUEST_METHOD=GET http_proxy=a HTTPS_PROXY=b", ["a", "b", ""]);
    }
}
