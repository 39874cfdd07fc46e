//! A login by a person: where the browser is sent, and what it must bring back
//! (OAuth 2.1, 4.1; PKCE; RFC 9207).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use tokio::time::timeout;

use super::client::Client;
use super::denied::Denied;
use super::metadata::Provider;
use super::redirect::Redirect;
use super::scopes::Scopes;
use super::token::{self, By, Outcome};
use super::web::Web;
use super::{Grant, OAuth};

/// Something that nobody can guess.
pub(super) fn random() -> String {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).expect("the system gives random bytes");
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Whether somebody can log in there at all; where.
pub(super) fn check(provider: &Provider) -> Result<&str, Denied> {
    token::check_grant(provider, Grant::Code)?;
    let metadata = &provider.metadata;
    let missing = |what| Denied::NotOffered { issuer: provider.issuer().to_owned(), what };
    let s256 = metadata.code_challenge_methods_supported.iter().any(|method| method == "S256");
    if !s256 && provider.guessed.is_none() {
        return Err(missing("PKCE with S256 (code_challenge_methods_supported)"));
    }
    metadata.authorization_endpoint.as_deref().ok_or_else(|| missing("an authorization_endpoint"))
}

/// Has somebody log in, and takes the token for it.
pub(super) async fn log_in(
    web: &Web<'_>,
    oauth: &OAuth,
    provider: &Provider,
    client: &Client,
    redirect: Redirect,
    scopes: &Scopes,
) -> Result<Outcome, Denied> {
    let login = Login::new();
    let page = check(provider)?;
    // Nothing else may be given to a browser, or to a terminal.
    web.endpoint(page)?;
    if !page.bytes().all(|byte| byte.is_ascii_graphic()) {
        let why = "its authorization_endpoint is no URL".to_owned();
        return Err(Denied::Unusable { url: provider.issuer().to_owned(), why });
    }
    let url = login.url(page, provider, client, &redirect.url, scopes);
    let came_to = redirect.url.clone();
    oauth.visitor.visit(&url);
    let came = redirect.serve(|query| login.code(provider, query));
    let code = timeout(oauth.patience, came).await;
    let code = code.map_err(|_| Denied::NobodyCame(oauth.patience))??;
    web.secrets.add_passing(&code);
    web.secrets.add_passing(&login.verifier);
    let by = By::Code { code: &code, verifier: &login.verifier, redirect: &came_to };
    token::ask(web, provider, client, by, scopes).await
}

/// What only this login knows.
struct Login {
    state: String,
    verifier: String,
}

impl Login {
    fn new() -> Login {
        Login { state: random(), verifier: random() }
    }

    /// Where to log in.
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
        // Without it some give no token for renewing (OpenID Connect Core, 11).
        if scopes.has("offline_access") {
            query.append_pair("prompt", "consent");
        }
        let (endpoint, query) = (endpoint.split('#').next().unwrap_or_default(), query.finish());
        let between = if endpoint.contains('?') { '&' } else { '?' };
        format!("{endpoint}{between}{query}")
    }

    /// The code that the browser brings, if all the rest of it is right.
    fn code(&self, provider: &Provider, query: &str) -> Result<String, Denied> {
        let pairs: Vec<_> = form_urlencoded::parse(query.as_bytes()).collect();
        let field = |name: &str| {
            pairs.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone().into_owned())
        };
        if field("state").as_deref() != Some(&self.state) {
            return Err(Denied::WrongState);
        }
        let expected = provider.issuer();
        match field("iss") {
            Some(said) if said != expected => {
                return Err(Denied::WrongSender { said, expected: expected.to_owned() });
            }
            None if provider.metadata.authorization_response_iss_parameter_supported => {
                return Err(Denied::NoSender(expected.to_owned()));
            }
            _ => {}
        }
        let failed = |why: String| Denied::LoginFailed { issuer: expected.to_owned(), why };
        if let Some(error) = field("error") {
            let more = field("error_description").map(|more| format!(": {more}"));
            return Err(failed(format!("{error}{}", more.unwrap_or_default())));
        }
        let code = field("code").filter(|code| !code.is_empty());
        code.ok_or_else(|| failed("the browser came back without a code".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Proof;
    use super::super::client::Method;
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

    fn login() -> Login {
        // The example of RFC 7636, appendix B.
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk".to_owned();
        Login { state: "xyz".to_owned(), verifier }
    }

    #[test]
    fn the_page_to_log_in_at_says_everything_once() {
        let client = Client {
            id: "me".to_owned(),
            proof: Proof::None,
            method: Method::None,
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
    fn what_the_browser_brings_is_checked() {
        let told = |query: &str, promises_iss: bool| {
            login().code(&provider(promises_iss), query).map_err(|denied| denied.to_string())
        };
        assert_eq!(told("code=c&state=xyz", false), Ok("c".to_owned()));
        assert_eq!(told("code=c&state=xyz&iss=https%3A%2F%2Fas", true), Ok("c".to_owned()));
        for (query, promises_iss, expected) in [
            ("code=c&state=other", false, "state mismatch"),
            ("code=c", false, "state mismatch"),
            ("code=c&state=xyz&iss=https%3A%2F%2Fas%2F", false, "comes from https://as/,"),
            ("error=x&state=xyz&iss=https%3A%2F%2Fevil", false, "comes from https://evil,"),
            ("code=c&state=xyz", true, "without the name of its issuer"),
            ("error=access_denied&error_description=no&state=xyz", false, "access_denied: no"),
            ("state=xyz", false, "without a code"),
        ] {
            let error = told(query, promises_iss).expect_err(query);
            assert!(error.contains(expected), "{query}: {error}");
        }
    }
}
