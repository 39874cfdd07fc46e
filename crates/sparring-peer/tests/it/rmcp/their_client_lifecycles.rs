//! rmcp's client connects to our server with each of its lifecycles.

use rmcp::ClientLifecycleMode::{Auto, Discover, Initialize};
use rmcp::service::ClientInitializeError;
use serde_json::json;
use sparring_wire::{Revision, Transcript};

use super::their_client_fixture::{RmcpClient, text_of};
use super::{assert_clean, legacy, version};

/// Checks that the connection works, and has the expected revision.
async fn check(peer: RmcpClient, expected: Revision) {
    let info = peer.client.peer_info().expect("the server's info");
    assert_eq!(peer.version(), expected.name());
    let named = info.server_info.as_ref().map(|info| (&*info.name, &*info.version));
    assert_eq!(named, Some(("handler", "1.0")), "{expected}");
    assert_eq!(info.instructions.as_deref(), Some("pay at once"), "{expected}");
    let resources = info.capabilities.resources.clone().expect("resources");
    assert_eq!(resources.subscribe, Some(true), "{expected}");
    assert!(info.capabilities.tools.is_some(), "{expected}");
    assert!(info.capabilities.completions.is_some(), "{expected}");
    let echoed = peer.call("echo", json!({"message": "hello"})).await.expect("an echo");
    assert_eq!(text_of(&echoed), "hello", "{expected}");
    peer.end().await;
}

#[tokio::test]
async fn rmcp_completes_the_handshake_with_our_server_in_every_version() {
    for revision in legacy() {
        check(RmcpClient::connect(Initialize, revision, &Revision::ALL).await, revision).await;
    }
    // No handshake leads to 2026-07-28, so the server offers its newest legacy
    // revision.
    let peer = RmcpClient::connect(Initialize, Revision::V2026_07_28, &Revision::ALL).await;
    check(peer, Revision::V2025_11_25).await;
}

#[tokio::test]
async fn our_server_offers_rmcp_its_newest_version_instead_of_an_unknown_one() {
    let ours = [Revision::V2025_03_26, Revision::V2025_06_18];
    for asked in [Revision::V2024_11_05, Revision::V2025_11_25] {
        let peer = RmcpClient::connect(Initialize, asked, &ours).await;
        check(peer, Revision::V2025_06_18).await;
    }
}

#[tokio::test]
async fn rmcp_discovers_our_server() {
    let modern = vec![version(Revision::V2026_07_28)];
    for ours in [&Revision::ALL[..], &[Revision::V2026_07_28]] {
        let lifecycle = Discover { preferred_versions: modern.clone() };
        let peer = RmcpClient::connect(lifecycle, Revision::LATEST, ours).await;
        check(peer, Revision::V2026_07_28).await;
    }
}

#[tokio::test]
async fn rmcp_detects_the_revision_of_our_server() {
    let auto = |legacy| Auto {
        preferred_versions: vec![version(Revision::V2026_07_28)],
        legacy_version: Some(version(legacy)),
    };
    let peer =
        RmcpClient::connect(auto(Revision::V2025_11_25), Revision::LATEST, &Revision::ALL).await;
    check(peer, Revision::V2026_07_28).await;
    for revision in legacy() {
        let peer = RmcpClient::connect(auto(revision), Revision::LATEST, &[revision]).await;
        check(peer, revision).await;
    }
}

#[tokio::test]
async fn rmcp_gets_our_versions_when_it_has_none_of_them() {
    // No handshake leads to this server's revision.
    let transcript = Transcript::default();
    let ours = [Revision::V2026_07_28];
    let outcome = RmcpClient::attempt(Initialize, Revision::V2025_11_25, &ours, transcript.clone());
    let outcome = outcome.await.map(|_| ());
    let Err(ClientInitializeError::JsonRpcError(error)) = outcome else { panic!("{outcome:?}") };
    assert_eq!(error.code.0, -32022);
    assert_eq!(error.data.unwrap()["supported"], json!(["2026-07-28"]));
    assert_clean(&transcript, "a handshake that leads nowhere");

    // rmcp would discover in an older version, which has no discovery.
    let older = Discover { preferred_versions: vec![version(Revision::V2025_11_25)] };
    let transcript = Transcript::default();
    let outcome = RmcpClient::attempt(older, Revision::LATEST, &Revision::ALL, transcript.clone());
    let outcome = outcome.await.map(|_| ());
    let Err(ClientInitializeError::NoCompatibleProtocolVersion { server_supported, .. }) = outcome
    else {
        panic!("{outcome:?}")
    };
    let others: Vec<_> = Revision::ALL
        .into_iter()
        .rev()
        .filter(|it| *it != Revision::V2025_11_25)
        .map(version)
        .collect();
    assert_eq!(server_supported, others);
    assert_clean(&transcript, "a discovery in an older version");
}
