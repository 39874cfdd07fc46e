//! Authorization code flow: builds the login URL and checks the redirect of the browser (OAuth
//! 2.1, 4.1; PKCE; RFC 9207).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use tokio::time::timeout;

use super::auth_server_client::AuthServerClient;
use super::client::Client;
use super::error::AuthError;
use super::metadata::Provider;
use super::redirect_listener::RedirectListener;
use super::scopes::Scopes;
use super::token::{self, TokenGrant, TokenOutcome};
use super::{Grant, OAuth};

/// Returns a random, unguessable text.
pub(super) fn random_token() -> String {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).expect("the system gives random bytes");
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Checks that a user can log in; returns the URL.
pub(super) fn check_login(provider: &Provider) -> Result<&str, AuthError> {
    token::check_grant(provider, Grant::Code)?;
    let metadata = &provider.metadata;
    let missing = |what| AuthError::NotOffered { issuer: provider.issuer().to_owned(), what };
    let s256 = metadata.code_challenge_methods_supported.iter().any(|method| method == "S256");
    if !s256 && provider.guessed.is_none() {
        return Err(missing("PKCE with S256 (code_challenge_methods_supported)"));
    }
    metadata.authorization_endpoint.as_deref().ok_or_else(|| missing("an authorization_endpoint"))
}

/// Asks the user to log in and exchanges the code for a token.
pub(super) async fn log_in(
    web: &AuthServerClient<'_>,
    oauth: &OAuth,
    provider: &Provider,
    client: &Client,
    redirect: RedirectListener,
    scopes: &Scopes,
) -> Result<TokenOutcome, AuthError> {
    let login = LoginAttempt::new();
    let page = check_login(provider)?;
    // Only a valid URL may be passed to a browser or a terminal.
    web.endpoint(page)?;
    if !page.bytes().all(|byte| byte.is_ascii_graphic()) {
        let why = "its authorization_endpoint is not a URL".to_owned();
        return Err(AuthError::InvalidResponse { url: provider.issuer().to_owned(), why });
    }
    let url = login.url(page, provider, client, &redirect.url, scopes);
    let came_to = redirect.url.clone();
    oauth.browser.visit(&url);
    let came = redirect.serve(|query| login.code_from_query(provider, query));
    let code = timeout(oauth.login_timeout, came).await;
    let code = code.map_err(|_| AuthError::LoginTimeout(oauth.login_timeout))??;
    web.secrets.add_temporary(&code);
    web.secrets.add_temporary(&login.verifier);
    let by = TokenGrant::Code { code: &code, verifier: &login.verifier, redirect: &came_to };
    token::request_tokens(web, provider, client, by, scopes).await
}

/// The secrets of one login.
struct LoginAttempt {
    state: String,
    verifier: String,
}

impl LoginAttempt {
    fn new() -> LoginAttempt {
        LoginAttempt { state: random_token(), verifier: random_token() }
    }

    /// Builds the login URL.
    fn url(
        &self,
        endpoint: &str,
        provider: &Provider,
        client: &Client,
        redirect: &str,
        scopes: &Scopes,
    ) -> String {
        let challenge = URL_SAFE_NO_PAD.encode(digest(&SHA256, self.verifier.as_bytes()));
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair("response_type", "code").append_pair("client_id", &client.id);
        query.append_pair("redirect_uri", redirect).append_pair("state", &self.state);
        query.append_pair("code_challenge", &challenge);
        query.append_pair("code_challenge_method", "S256");
        query.append_pair("resource", &provider.resource);
        if !scopes.is_empty() {
            query.append_pair("scope", &scopes.to_string());
        }
        // Without it some servers issue no refresh token (OpenID Connect Core, 11).
        if scopes.contains("offline_access") {
            query.append_pair("prompt", "consent");
        }
        let (endpoint, query) = (endpoint.split('#').next().unwrap_or_default(), query.finish());
        let between = if endpoint.contains('?') { '&' } else { '?' };
        format!("{endpoint}{between}{query}")
    }

    /// Returns the code from the redirect's query, after checking the other parameters.
    fn code_from_query(&self, provider: &Provider, query: &str) -> Result<String, AuthError> {
        let pairs: Vec<_> = form_urlencoded::parse(query.as_bytes()).collect();
        let field = |name: &str| {
            pairs.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone().into_owned())
        };
        if field("state").as_deref() != Some(&self.state) {
            return Err(AuthError::WrongState);
        }
        let expected = provider.issuer();
        match field("iss") {
            Some(found) if found != expected => {
                return Err(AuthError::WrongIssuerParameter {
                    found,
                    expected: expected.to_owned(),
                });
            }
            None if provider.metadata.authorization_response_iss_parameter_supported => {
                return Err(AuthError::MissingIssuerParameter(expected.to_owned()));
            }
            _ => {}
        }
        let failed = |why: String| AuthError::LoginFailed { issuer: expected.to_owned(), why };
        if let Some(error) = field("error") {
            let more = field("error_description").map(|more| format!(": {more}"));
            return Err(failed(format!("{error}{}", more.unwrap_or_default())));
        }
        let code = field("code").filter(|code| !code.is_empty());
        code.ok_or_else(|| failed("the redirect has no code".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::ClientAuth;
    use super::super::client::TokenAuthMethod;
    use super::super::metadata::ServerMetadata;
    use super::*;

    fn provider(promises_iss: bool) -> Provider {
        let metadata = ServerMetadata {
            issuer: "https://as".to_owned(),
            authorization_response_iss_parameter_supported: promises_iss,
            ..ServerMetadata::default()
        };
        let resource = "https://rs/mcp".to_owned();
        Provider { resource, scopes: Vec::new(), metadata, guessed: None }
    }

    fn login() -> LoginAttempt {
        // The example of RFC 7636, appendix B.
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk".to_owned();
        LoginAttempt { state: "xyz".to_owned(), verifier }
    }

    #[test]
    fn the_login_url_has_every_parameter_once() {
        let client = Client {
            id: "me".to_owned(),
            client_auth: ClientAuth::None,
            method: TokenAuthMethod::None,
            redirect: None,
        };
        let scopes = Scopes::parse("a offline_access");
        let url =
            login().url("https://as/go?x=1#y", &provider(false), &client, "http://l/", &scopes);
        assert_eq!(
            url,
            "https://as/go?x=1&response_type=code&client_id=me&redirect_uri=http%3A%2F%2Fl%2F\
             &state=xyz&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM\
             &code_challenge_method=S256&resource=https%3A%2F%2Frs%2Fmcp\
             &scope=a+offline_access&prompt=consent"
        );
    }

    #[test]
    fn checks_the_query_of_the_redirect() {
        let code_of = |query: &str, promises_iss: bool| {
            login()
                .code_from_query(&provider(promises_iss), query)
                .map_err(|error| error.to_string())
        };
        assert_eq!(code_of("code=c&state=xyz", false), Ok("c".to_owned()));
        assert_eq!(code_of("code=c&state=xyz&iss=https%3A%2F%2Fas", true), Ok("c".to_owned()));
        for (query, promises_iss, expected) in [
            ("code=c&state=other", false, "state mismatch"),
            ("code=c", false, "state mismatch"),
            ("code=c&state=xyz&iss=https%3A%2F%2Fas%2F", false, "names https://as/ instead"),
            ("error=x&state=xyz&iss=https%3A%2F%2Fevil", false, "names https://evil instead"),
            ("code=c&state=xyz", true, "lacks the parameter iss"),
            ("error=access_denied&error_description=no&state=xyz", false, "access_denied: no"),
            ("state=xyz", false, "has no code"),
        ] {
            let error = code_of(query, promises_iss).expect_err(query);
            assert!(error.contains(expected), "{query}: {error}");
        }
    }
}
