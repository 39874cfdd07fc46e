//! A real OpenID provider gives the tokens: somebody logs in at its pages, and
//! clients of its own ask for themselves.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;
use sparring_peer::Client;
use sparring_transport::http::{Credentials, HttpLink, HttpTarget, OAuth, Proof, Visitor};
use sparring_wire::Revision;

use super::desk::OpenDesk;
use super::peer::Peer;
use super::place;
use super::visit::within;

/// The provider, and the server that it is for.
struct Gated {
    desk: OpenDesk,
    peer: Peer,
    key: rcgen::KeyPair,
}

impl Gated {
    /// Nothing if the provider is not installed.
    async fn new() -> Option<Gated> {
        let desk = OpenDesk::speaking(&Revision::ALL).await;
        let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap();
        let (_, point) = key.public_key_raw().split_first().expect("an uncompressed point");
        let (x, y) = point.split_at(32);
        let encoded = |part| URL_SAFE_NO_PAD.encode(part);
        let jwk = json!({"kty": "EC", "crv": "P-256", "x": encoded(x), "y": encoded(y)});
        let target = place::node22_with("oidc-provider", &place::script("servers/oidc.mjs"))?;
        let peer = Peer::http(target.args(["{port}", &desk.url(""), &jwk.to_string()])).await;
        Some(Gated { desk, peer, key })
    }

    fn target(&self, oauth: OAuth) -> HttpTarget {
        let Peer::Http { target, .. } = &self.peer else { unreachable!("it is behind a port") };
        let credentials = Some(Credentials::OAuth(Box::new(oauth)));
        HttpTarget { credentials, ..target.clone() }
    }

    /// Calls a tool, as often as that.
    async fn call(&self, oauth: OAuth, revision: Revision, times: usize) -> Client {
        let link = HttpLink::new(&self.target(oauth)).unwrap();
        let client = within(Client::builder().revision(revision).connect(link)).await.unwrap();
        for _ in 0..times {
            let call = client.call_tool("add", json!({"a": 2, "b": 3})).into_future();
            let response = within(call).await.unwrap();
            assert_eq!(response.result().unwrap().at(&["content"]).unwrap().items().count(), 1);
        }
        client
    }
}

/// Opens the page and goes wherever it leads, with the cookies that it gives.
fn browser() -> Visitor {
    Visitor::new(|url| {
        let browser = reqwest::Client::builder().cookie_store(true).build().unwrap();
        tokio::spawn(browser.get(url).send());
    })
}

/// How often the client was at the token endpoint.
fn tokens(client: &Client) -> usize {
    let exchanges = client.transcript().exchanges();
    exchanges.iter().filter(|exchange| exchange.url.ends_with("/token")).count()
}

#[tokio::test]
async fn somebody_logs_in_at_an_openid_provider() {
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let Some(gated) = Gated::new().await else { return };
        let client = gated.call(OAuth::code(browser()), revision, 2).await;
        assert_eq!(tokens(&client), 1);
        within(client.close()).await;
        gated.desk.close().await;
    }
}

#[tokio::test]
async fn an_openid_provider_renews_its_tokens() {
    let Some(gated) = Gated::new().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("credentials.json");
    let first = OAuth { store: Some(path.clone()), ..OAuth::code(browser()) };
    within(gated.call(first, Revision::LATEST, 1).await.close()).await;
    for _ in 0..2 {
        // Its time comes early, and nobody can log in any more.
        let kept = std::fs::read_to_string(&path).unwrap();
        let (before, rest) = kept.split_once("\"renew_at\": ").unwrap();
        let (_, after) = rest.split_once(',').unwrap();
        std::fs::write(&path, format!("{before}\"renew_at\": 0,{after}")).unwrap();
        let nobody = Visitor::new(|_| panic!("nobody is asked"));
        let oauth = OAuth { store: Some(path.clone()), ..OAuth::code(nobody) };
        let client = gated.call(oauth, Revision::LATEST, 1).await;
        assert_eq!(tokens(&client), 1);
    }
}

#[tokio::test]
async fn clients_of_an_openid_provider_ask_for_themselves() {
    let Some(gated) = Gated::new().await else { return };
    let secret = Proof::Secret("hunter-machine".to_owned());
    let key = Proof::Key(gated.key.serialize_pem());
    for (id, proof) in [("machine", secret), ("signer", key)] {
        let oauth = OAuth::client_credentials(id, proof);
        let client = gated.call(oauth, Revision::LATEST, 2).await;
        assert_eq!(tokens(&client), 1, "{id}");
    }
    let wrong = Proof::Secret("hunter-wrong".to_owned());
    let target = gated.target(OAuth::client_credentials("machine", wrong));
    let error = Client::builder().connect(HttpLink::new(&target).unwrap()).await;
    let error = error.expect_err("the secret is wrong").to_string();
    assert!(
        error.contains("/token refused to give a token to the client: invalid_client"),
        "{error}"
    );
    assert!(!error.contains("hunter"), "{error}");
}
