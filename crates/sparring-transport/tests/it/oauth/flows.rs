//! Flows that obtain a token.

use serde_json::json;
use sparring_peer::{Client, Protocol};
use sparring_transport::http::{ClientAuth, HttpLink, HttpTransport, OAuth};
use sparring_wire::Revision;

use super::scripted_servers::{Behavior, ScriptedServers};
use super::{connect, connect_as, echo, must_echo, oauth, oauth_stored_in, refused, target};

#[tokio::test]
async fn one_login_serves_all_requests() {
    for revision in Revision::ALL {
        let servers = ScriptedServers::new(Behavior::default()).await;
        let builder = Client::builder().revision(revision);
        let client = connect_as(&servers, oauth(), builder).await.unwrap();
        must_echo(&client).await;
        must_echo(&client).await;
        let event_names = ["401", "resource", "metadata", "register", "authorize", "token"];
        assert_eq!(servers.event_names(), event_names, "{revision}");
        let asked = &servers.event_params("authorize")[0];
        assert_eq!(asked["resource"], servers.url(), "{revision}");
        assert_eq!(asked.get("scope"), None, "{revision}");
        let registration_fields = &servers.event_params("register")[0];
        assert_eq!(registration_fields["application_type"], "\"native\"");
        assert_eq!(
            registration_fields["redirect_uris"],
            format!("[\"{}\"]", asked["redirect_uri"])
        );
        client.close().await;
    }
}

#[tokio::test]
async fn a_login_works_over_http_sse() {
    let servers = ScriptedServers::new(Behavior::default()).await;
    let mut target = target(&servers, oauth());
    target.transport = HttpTransport::Sse;
    target.url = target.url.replace("/mcp", "/sse");
    servers.change(|behavior| {
        let sse = format!("{}/sse", servers.origin());
        behavior.resource = Some(json!({"resource": sse}));
    });
    let client = Client::builder().connect(HttpLink::new(&target).unwrap()).await.unwrap();
    must_echo(&client).await;
    assert_eq!(servers.event_params("authorize").len(), 1);
    // The same for the URL that messages are posted to.
    for (renewals, logins) in [(false, 1), (true, 2)] {
        servers.revoke(renewals);
        must_echo(&client).await;
        assert_eq!(servers.event_params("authorize").len(), logins);
    }
    client.close().await;
}

#[tokio::test]
async fn a_session_continues_after_another_login() {
    let servers = ScriptedServers::new(Behavior::default()).await;
    let builder = Client::builder().revision(Revision::V2025_11_25);
    let client = connect_as(&servers, oauth(), builder).await.unwrap();
    servers.revoke(true);
    must_echo(&client).await;
    assert_eq!(servers.event_params("authorize").len(), 2);
    let exchanges = client.transcript().exchanges();
    let calls = exchanges.iter().filter(|exchange| exchange.method == "POST");
    let sessions: std::collections::BTreeSet<_> =
        calls.filter_map(|exchange| exchange.request_headers.get("mcp-session-id")).collect();
    assert_eq!(sessions.len(), 1, "{sessions:?}");
}

#[tokio::test]
async fn concurrent_requests_obtain_one_token() {
    let servers = ScriptedServers::new(Behavior::default()).await;
    let client = connect(&servers, oauth()).await.unwrap();
    servers.revoke(false);
    let calls: Vec<_> = (0..50).map(|_| must_echo(&client)).collect();
    futures_util::future::join_all(calls).await;
    let renewals = servers.event_params("token");
    assert_eq!(renewals.len(), 2, "one login, and one renewal: {renewals:?}");
    assert_eq!(renewals[1]["grant_type"], "refresh_token");
}

#[tokio::test]
async fn a_client_asks_for_itself() {
    for (methods, by_header) in [("client_secret_basic", true), ("client_secret_post", false)] {
        let metadata = json!({"token_endpoint_auth_methods_supported": [methods]});
        let servers =
            ScriptedServers::new(Behavior { metadata, scope: Some("a b"), ..Behavior::default() })
                .await;
        let secret = ClientAuth::Secret("hunter:2".into());
        let client = connect(&servers, OAuth::client_credentials("me", secret)).await.unwrap();
        must_echo(&client).await;
        assert_eq!(servers.event_names(), ["401", "resource", "metadata", "token"]);
        let asked = &servers.event_params("token")[0];
        assert_eq!(asked["grant_type"], "client_credentials");
        assert_eq!((&*asked["scope"], &*asked["resource"]), ("a b", &*servers.url()));
        // `me:hunter%3A2`, encoded as in RFC 6749, 2.3.1.
        let header = asked.get("authorization").map(String::as_str);
        assert_eq!(header, by_header.then_some("Basic bWU6aHVudGVyJTNBMg=="));
        let body = asked.get("client_secret").map(String::as_str);
        assert_eq!(body, (!by_header).then_some("hunter:2"));
    }
}

#[tokio::test]
async fn a_client_authenticates_with_a_key() {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use ring::signature::{ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519};
    use ring::signature::{UnparsedPublicKey, VerificationAlgorithm};

    let algorithms: [(&str, &rcgen::SignatureAlgorithm, &dyn VerificationAlgorithm); 3] = [
        ("ES256", &rcgen::PKCS_ECDSA_P256_SHA256, &ECDSA_P256_SHA256_FIXED),
        ("ES384", &rcgen::PKCS_ECDSA_P384_SHA384, &ECDSA_P384_SHA384_FIXED),
        ("EdDSA", &rcgen::PKCS_ED25519, &ED25519),
    ];
    for (name, algorithm, verification) in algorithms {
        let servers = ScriptedServers::new(Behavior::default()).await;
        let key = rcgen::KeyPair::generate_for(algorithm).unwrap();
        let proof = ClientAuth::Key(key.serialize_pem());
        let client = connect(&servers, OAuth::client_credentials("me", proof)).await.unwrap();
        must_echo(&client).await;
        let asked = &servers.event_params("token")[0];
        assert!(!asked.contains_key("client_secret") && !asked.contains_key("authorization"));
        let (signed, signature) = asked["client_assertion"].rsplit_once('.').unwrap();
        let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
        let public = UnparsedPublicKey::new(verification, key.public_key_raw());
        public.verify(signed.as_bytes(), &signature).unwrap();
        let parts: Vec<serde_json::Value> = signed
            .split('.')
            .map(|part| serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap())
            .collect();
        assert_eq!(parts[0]["alg"], name);
        assert_eq!(parts[1]["aud"], format!("{}/as", servers.origin()));
        assert_eq!((&parts[1]["iss"], &parts[1]["sub"]), (&json!("me"), &json!("me")));
    }
}

#[tokio::test]
async fn a_configured_client_does_not_register() {
    let document = "https://example.com/client.json";
    for (client_id, documents, expected) in
        [(Some("me"), true, Some("me")), (None, true, Some(document)), (None, false, None)]
    {
        let metadata = json!({"client_id_metadata_document_supported": documents});
        let servers = ScriptedServers::new(Behavior { metadata, ..Behavior::default() }).await;
        let (client_id, document) = (client_id.map(str::to_owned), Some(document.to_owned()));
        let client =
            connect(&servers, OAuth { client_id, client_metadata_url: document, ..oauth() })
                .await
                .unwrap();
        must_echo(&client).await;
        assert_eq!(servers.event_params("register").len(), usize::from(expected.is_none()));
        let expected = expected.unwrap_or("client-1");
        assert_eq!(servers.event_params("authorize")[0]["client_id"], expected);
    }
}

#[tokio::test]
async fn a_registration_can_return_a_secret() {
    let registration_fields = json!({
        "client_secret": "hunter2", "token_endpoint_auth_method": "client_secret_post"
    });
    let servers =
        ScriptedServers::new(Behavior { registration_fields, ..Behavior::default() }).await;
    let client = connect(&servers, oauth()).await.unwrap();
    must_echo(&client).await;
    assert_eq!(servers.event_params("token")[0]["client_secret"], "hunter2");
}

#[tokio::test]
async fn a_login_works_without_resource_metadata() {
    // Up to 2025-03-26 the authorization server was at the same origin.
    for publishes_metadata in [true, false] {
        let behavior = Behavior {
            challenge_has_metadata_url: false,
            resource: None,
            issuer: "",
            publishes_metadata,
            ..Behavior::default()
        };
        let servers = ScriptedServers::new(behavior).await;
        // This authorization server does not send the parameter `iss`.
        let redirect_query = json!({"iss": null});
        servers.change(|behavior| {
            behavior.redirect_query = redirect_query;
            behavior.metadata = json!({"authorization_response_iss_parameter_supported": false});
        });
        let builder = Client::builder().revision(Revision::V2025_03_26);
        let client = connect_as(&servers, oauth(), builder).await.unwrap();
        must_echo(&client).await;
        assert_eq!(servers.event_params("metadata").len(), usize::from(publishes_metadata));
        assert_eq!(servers.event_params("token").len(), 1);
    }
}

#[tokio::test]
async fn a_login_works_without_a_metadata_url_in_the_challenge() {
    let servers =
        ScriptedServers::new(Behavior { challenge_has_metadata_url: false, ..Behavior::default() })
            .await;
    must_echo(&connect(&servers, oauth()).await.unwrap()).await;
    assert_eq!(servers.event_names()[..3], ["401", "resource", "metadata"]);
}

#[tokio::test]
async fn a_new_issuer_gets_a_new_client() {
    let folder = tempfile::tempdir().unwrap();
    let servers = ScriptedServers::new(Behavior::default()).await;
    let client = connect(&servers, oauth_stored_in(folder.path())).await.unwrap();
    must_echo(&client).await;
    servers.change(|behavior| behavior.issuer = "/other");
    must_echo(&client).await;
    let ids: Vec<_> = servers
        .event_params("authorize")
        .into_iter()
        .map(|params| params["client_id"].clone())
        .collect();
    assert_eq!(ids, ["client-1", "client-2"], "each issuer knows its own");
    // The refresh token was not sent to the new issuer either.
    let grants: Vec<_> = servers
        .event_params("token")
        .into_iter()
        .map(|params| params["grant_type"].clone())
        .collect();
    assert_eq!(grants, ["authorization_code", "authorization_code"]);
    // The stored tokens are those of the new issuer.
    let again = connect(&servers, oauth_stored_in(folder.path())).await.unwrap();
    must_echo(&again).await;
    assert_eq!(servers.event_params("authorize").len(), 2);
}

#[tokio::test]
async fn a_configured_client_belongs_to_one_issuer() {
    let servers = ScriptedServers::new(Behavior::default()).await;
    let named = |issuer: Option<String>| OAuth {
        issuer,
        ..OAuth::client_credentials("me", ClientAuth::Secret("hunter2".into()))
    };
    let client = connect(&servers, named(None)).await.unwrap();
    must_echo(&client).await;
    servers.change(|behavior| behavior.issuer = "/other");
    let error = echo(&client).await.expect_err("the secret is not for that one").to_string();
    let [one, other] = ["/as", "/other"].map(|path| format!("{}{path}", servers.origin()));
    let expected =
        format!("wrong issuer: the client me belongs to {one}, but the server names {other}");
    assert!(error.contains(&expected), "{error}");
    let error = refused(&servers, named(Some(one))).await;
    assert!(error.contains(&expected), "{error}");
    assert_eq!(servers.event_params("token").len(), 1, "no other server receives the secret");
    must_echo(&connect(&servers, named(Some(other))).await.unwrap()).await;
}

#[tokio::test]
async fn closing_a_client_does_not_wait_for_a_login() {
    let servers = ScriptedServers::new(Behavior::default()).await;
    let (sender, visited) = tokio::sync::oneshot::channel();
    let sender = std::sync::Mutex::new(Some(sender));
    let absent_user = sparring_transport::http::BrowserOpener::new(move |_| {
        sender.lock().unwrap().take().unwrap().send(()).unwrap();
    });
    let link = HttpLink::new(&target(&servers, OAuth { browser: absent_user, ..oauth() })).unwrap();
    let client = Client::builder().start(link);
    visited.await.unwrap();
    let closing = client.close();
    tokio::time::timeout(std::time::Duration::from_secs(10), closing).await.expect("at once");
}

#[tokio::test]
async fn the_transcript_has_every_exchange_and_no_secret() {
    let registration_fields = json!({
        "client_secret": "hunter2", "token_endpoint_auth_method": "client_secret_post"
    });
    let servers =
        ScriptedServers::new(Behavior { registration_fields, ..Behavior::default() }).await;
    let target = target(&servers, oauth());
    let link = HttpLink::new(&target).unwrap();
    let mut shown = format!("{target:?} {link:?}");
    let client = Client::builder().protocol(Protocol::Auto).connect(link).await.unwrap();
    servers.revoke(false);
    must_echo(&client).await;
    let exchanges = client.transcript().exchanges();
    let path = |url: &str| url.replace(servers.origin(), "");
    let event_names: Vec<_> = exchanges
        .iter()
        .map(|exchange| {
            format!("{} {} {:?}", exchange.method, path(&exchange.url), exchange.status)
        })
        .collect();
    assert_eq!(
        event_names[..6],
        [
            "POST /mcp Some(401)",
            "GET /.well-known/oauth-protected-resource/mcp Some(200)",
            "GET /.well-known/oauth-authorization-server/as Some(200)",
            "POST /as/register Some(201)",
            "POST /as/token Some(200)",
            "POST /mcp Some(200)",
        ]
    );
    assert!(
        event_names.iter().filter(|line| line.contains("/as/token")).count() == 2,
        "{event_names:?}"
    );
    shown.push_str(&format!("{exchanges:?}"));
    assert!(!shown.contains("hunter"), "{shown}");
}

#[tokio::test]
async fn the_browser_opens_only_http_urls() {
    // The authorization server names a program instead of a page.
    let metadata = json!({"authorization_endpoint": "calculator://run/1"});
    let servers = ScriptedServers::new(Behavior { metadata, ..Behavior::default() }).await;
    let visited = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let flag = std::sync::Arc::clone(&visited);
    let visitor = sparring_transport::http::BrowserOpener::new(move |_| {
        flag.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    let error = refused(&servers, OAuth { browser: visitor, ..oauth() }).await;
    assert!(error.contains("unknown scheme calculator"), "{error}");
    assert!(!visited.load(std::sync::atomic::Ordering::Relaxed));
}
