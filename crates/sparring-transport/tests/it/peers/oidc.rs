//! A real OpenID provider issues the tokens: to a user who logs in at its pages, and to its own
//! clients.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;
use sparring_peer::Client;
use sparring_transport::http::{
    BrowserOpener, ClientAuth, Credentials, HttpLink, HttpTarget, OAuth,
};
use sparring_wire::Revision;

use super::example_server::ExampleServer;
use super::installed;
use super::peer::Peer;
use super::peer_connection::within;

/// The provider and the server that uses it.
struct ProtectedServer {
    server: ExampleServer,
    peer: Peer,
    key: rcgen::KeyPair,
}

impl ProtectedServer {
    /// Returns `None` if the provider is not installed.
    async fn new() -> Option<ProtectedServer> {
        let server = ExampleServer::with_revisions(&Revision::ALL).await;
        let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap();
        let (_, point) = key.public_key_raw().split_first().expect("an uncompressed point");
        let (x, y) = point.split_at(32);
        let encoded = |part| URL_SAFE_NO_PAD.encode(part);
        let jwk = json!({"kty": "EC", "crv": "P-256", "x": encoded(x), "y": encoded(y)});
        let target =
            installed::node22_with("oidc-provider", &installed::script("servers/oidc.mjs"))?;
        let peer = Peer::http(target.args(["{port}", &server.url(""), &jwk.to_string()])).await;
        Some(ProtectedServer { server, peer, key })
    }

    fn target(&self, oauth: OAuth) -> HttpTarget {
        let Peer::Http { target, .. } = &self.peer else { unreachable!("it is behind a port") };
        let credentials = Some(Credentials::OAuth(Box::new(oauth)));
        HttpTarget { credentials, ..target.clone() }
    }

    /// Calls a tool this many times.
    async fn call(&self, oauth: OAuth, revision: Revision, times: usize) -> Client {
        let link = HttpLink::new(&self.target(oauth)).unwrap();
        let client = within(Client::builder().revision(revision).connect(link)).await.unwrap();
        for _ in 0..times {
            let call = client.call_tool("add", json!({"a": 2, "b": 3})).into_future();
            let response = within(call).await.unwrap();
            assert_eq!(
                response.result().unwrap().get_path(&["content"]).unwrap().items().count(),
                1
            );
        }
        client
    }
}

/// Opens the page and follows all redirects with its cookies.
fn browser() -> BrowserOpener {
    BrowserOpener::new(|url| {
        let browser = reqwest::Client::builder().cookie_store(true).build().unwrap();
        tokio::spawn(browser.get(url).send());
    })
}

/// Returns the number of the client's requests to the token endpoint.
fn tokens(client: &Client) -> usize {
    let exchanges = client.transcript().exchanges();
    exchanges.iter().filter(|exchange| exchange.url.ends_with("/token")).count()
}

#[tokio::test]
async fn a_user_logs_in_at_an_openid_provider() {
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let Some(protected) = ProtectedServer::new().await else { return };
        let client = protected.call(OAuth::authorization_code(browser()), revision, 2).await;
        assert_eq!(tokens(&client), 1);
        within(client.close()).await;
        protected.server.close().await;
    }
}

#[tokio::test]
async fn an_openid_provider_renews_its_tokens() {
    let Some(protected) = ProtectedServer::new().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("credentials.json");
    let first = OAuth { store_path: Some(path.clone()), ..OAuth::authorization_code(browser()) };
    within(protected.call(first, Revision::LATEST, 1).await.close()).await;
    for _ in 0..2 {
        // The token expires early, and no user can log in any more.
        let kept = std::fs::read_to_string(&path).unwrap();
        let (before, rest) = kept.split_once("\"renew_at\": ").unwrap();
        let (_, after) = rest.split_once(',').unwrap();
        std::fs::write(&path, format!("{before}\"renew_at\": 0,{after}")).unwrap();
        let absent_user = BrowserOpener::new(|_| panic!("no login expected"));
        let oauth =
            OAuth { store_path: Some(path.clone()), ..OAuth::authorization_code(absent_user) };
        let client = protected.call(oauth, Revision::LATEST, 1).await;
        assert_eq!(tokens(&client), 1);
    }
}

#[tokio::test]
async fn clients_of_an_openid_provider_ask_for_themselves() {
    let Some(protected) = ProtectedServer::new().await else { return };
    let secret = ClientAuth::Secret("hunter-machine".into());
    let key = ClientAuth::Key(protected.key.serialize_pem());
    for (id, proof) in [("machine", secret), ("signer", key)] {
        let oauth = OAuth::client_credentials(id, proof);
        let client = protected.call(oauth, Revision::LATEST, 2).await;
        assert_eq!(tokens(&client), 1, "{id}");
    }
    let wrong = ClientAuth::Secret("hunter-wrong".into());
    let target = protected.target(OAuth::client_credentials("machine", wrong));
    let error = Client::builder().connect(HttpLink::new(&target).unwrap()).await;
    let error = error.expect_err("the secret is wrong").to_string();
    assert!(
        error.contains("/token refused to issue a token to the client: invalid_client"),
        "{error}"
    );
    assert!(!error.contains("hunter"), "{error}");
}
