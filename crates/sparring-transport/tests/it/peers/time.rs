//! Our client against `mcp-server-time`, which uses the official Python SDK and supports all
//! revisions.

use serde_json::json;
use sparring_wire::{Json, Revision};

use super::installed;
use super::peer::Peer;
use super::peer_connection::{PeerConnection, check_negotiates};

fn target() -> Option<Peer> {
    installed::python(&["-m", "mcp_server_time", "--local-timezone", "UTC"]).map(Peer::Stdio)
}

#[tokio::test]
async fn our_client_uses_mcp_server_time_in_every_revision() {
    let Some(target) = target() else { return };
    for revision in Revision::ALL {
        let connection = PeerConnection::in_revision(&target, revision).await;
        let tools = connection.tools().await;
        assert_eq!(tools.into_iter().collect::<Vec<_>>(), ["convert_time", "get_current_time"]);
        assert!(connection.resources().await.is_empty() && connection.prompts().await.is_empty());

        // Neither zone changes its clocks.
        let noon =
            json!({"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"});
        let converted = connection.call("convert_time", noon).await;
        assert!(converted.success(), "{revision}: {}", converted.raw().text());
        let text: serde_json::Value = serde_json::from_str(&converted.content()).unwrap();
        assert_eq!(text["time_difference"], "+9.0h", "{revision}: {text}");
        if revision >= Revision::V2025_06_18 {
            let structured = converted.structured().unwrap();
            let zone = structured.get_path(&["target", "timezone"]).and_then(Json::as_str);
            assert_eq!(zone.as_deref(), Some("Asia/Tokyo"), "{revision}");
        }

        let nowhere = connection.call("get_current_time", json!({"timezone": "Moon/Base"})).await;
        assert!(nowhere.is_error() && nowhere.content().contains("Moon/Base"), "{revision}");
        assert_eq!(
            connection.call("fly", json!({})).await.error_code(),
            Some(-32602),
            "{revision}"
        );
        connection.end().await;
    }
}

#[tokio::test]
async fn our_client_finds_the_newest_revision_of_mcp_server_time() {
    let Some(target) = target() else { return };
    check_negotiates(&target, Revision::V2026_07_28).await.end().await;
}
