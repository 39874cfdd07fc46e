//! Our client finds a common version with an rmcp server, or reports that there
//! is none.

use rmcp::model::ProtocolVersion;
use serde_json::json;
use sparring_peer::client::Error;
use sparring_peer::{Client, Protocol};
use sparring_wire::{Revision, Transcript};

use super::our_client_fixture::OurClient;
use super::their_server::RmcpServer;
use super::{assert_clean, legacy, within};

async fn found_by_auto(theirs: &[Revision]) -> Revision {
    let ours = OurClient::connect(Client::builder().protocol(Protocol::Auto), theirs).await;
    let ours = ours.unwrap_or_else(|error| panic!("{theirs:?}: {error}"));
    let revision = ours.client.revision().expect("a revision");
    within(ours.client.ping()).await.expect("an answer");
    let tools = within(ours.client.list_tools()).await.expect("tools");
    assert!(!tools.is_empty(), "{theirs:?}");
    ours.end().await;
    revision
}

#[tokio::test]
async fn our_client_detects_the_newest_revision_of_an_rmcp_server() {
    assert_eq!(found_by_auto(&Revision::ALL).await, Revision::V2026_07_28);
    let legacy: Vec<_> = legacy().collect();
    assert_eq!(found_by_auto(&legacy).await, Revision::V2025_11_25);
    for revision in Revision::ALL {
        assert_eq!(found_by_auto(&[revision]).await, revision);
    }
}

#[tokio::test]
async fn our_client_names_both_sides_when_an_rmcp_server_lacks_its_version() {
    for ours in Revision::ALL {
        for theirs in Revision::ALL.into_iter().filter(|theirs| *theirs != ours) {
            let transcript = Transcript::default();
            let client = Client::builder().revision(ours).transcript(transcript.clone());
            let outcome = OurClient::connect(client, &[theirs]).await.map(|_| ());
            let context = format!("{ours} on a server of {theirs}: {outcome:?}");
            let Err(Error::NoCommonVersion { ours: named, theirs: found }) = &outcome else {
                panic!("{context}")
            };
            assert_eq!(*named, [ours], "{context}");
            assert_eq!(*found, [theirs.name()], "{context}");
            let message = outcome.as_ref().unwrap_err().to_string();
            assert!(message.contains(ours.name()) && message.contains(theirs.name()), "{message}");
            assert_clean(&transcript, &context);
        }
    }
}

#[tokio::test]
async fn our_client_names_all_its_versions_when_an_rmcp_server_has_none_of_them() {
    let future: ProtocolVersion = serde_json::from_value(json!("2031-01-01")).unwrap();
    let outcome =
        OurClient::connect_to(Client::builder(), RmcpServer::speaking(vec![future])).await;
    let outcome = outcome.map(|_| ());
    let Err(Error::NoCommonVersion { ours, theirs }) = &outcome else { panic!("{outcome:?}") };
    assert_eq!(ours.len(), Revision::ALL.len());
    assert_eq!(*theirs, ["2031-01-01"]);
}
