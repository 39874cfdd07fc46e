//! TLS: trusted certificates, and the errors of all others.

use std::sync::{Arc, Mutex};

use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use sparring_peer::Client;
use sparring_transport::http::{HttpLink, HttpTarget};
use tokio_rustls::TlsAcceptor;

use super::scripted_server::{
    ReceivedRequest, Reply, ScriptedServer, call, connect, discovered, done, serve, within,
};

/// Starts a server with an unknown certificate; also returns the certificate.
async fn secure() -> (String, String) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://localhost:{}/mcp", listener.local_addr().unwrap().port());
    tokio::spawn(async move {
        let answer = Arc::new(|asked: &ReceivedRequest| match &*asked.what() {
            "server/discover" => Reply::json(&discovered(asked)),
            _ => Reply::json(&done(asked)),
        });
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, answer) = (acceptor.clone(), Arc::clone(&answer));
            tokio::spawn(async move {
                if let Ok(stream) = acceptor.accept(stream).await {
                    serve(stream, Arc::new(Mutex::default()), answer).await;
                }
            });
        }
    });
    (url, made.cert.pem())
}

#[tokio::test]
async fn requires_a_known_certificate_unless_insecure() {
    let (url, certificate) = secure().await;
    let mut target = HttpTarget::new(&url);
    let error =
        connect(Client::builder(), &target).await.expect_err("an unknown issuer").to_string();
    assert!(
        error.contains("TLS with https://localhost") && error.contains("certificate"),
        "{error}"
    );

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ca.pem");
    std::fs::write(&path, certificate).unwrap();
    target.tls.ca = Some(path);
    let client = connect(Client::builder(), &target).await.unwrap();
    assert_eq!(within(call(&client)).await.unwrap().content(), "done");

    let mut target = HttpTarget::new(url.replace("localhost", "127.0.0.1"));
    target.tls.insecure = true;
    let client = connect(Client::builder(), &target).await.unwrap();
    assert_eq!(within(call(&client)).await.unwrap().content(), "done");
}

#[tokio::test]
async fn reports_a_server_without_tls() {
    let server = ScriptedServer::calling(|asked| Reply::json(&done(asked))).await;
    let target = HttpTarget::new(server.url.replace("http://", "https://"));
    let error = connect(Client::builder(), &target).await.expect_err("no TLS").to_string();
    assert!(error.contains("TLS with https://127.0.0.1"), "{error}");
}

#[test]
fn reports_unusable_certificates_with_their_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ca.pem");
    let mut target = HttpTarget::new("https://localhost/mcp");
    target.tls.ca = Some(path.clone());
    let missing = HttpLink::new(&target).expect_err("no file").to_string();
    std::fs::write(&path, "nothing").unwrap();
    let empty = HttpLink::new(&target).expect_err("no certificate").to_string();
    assert!(missing.contains("ca.pem") && empty.contains("the file contains no certificate"));
}
