//! Detection of a child's era, with servers that answer only after they have received
//! `server/discover` and `initialize`, as a server does that needs long to start.

use std::path::Path;
use std::time::Duration;

use sparring_peer::Client;
use sparring_transport::{ChildLink, ChildTarget};
use sparring_wire::Revision;

use crate::script::{READ_UNTIL_END, wait_until_ended, within};

/// The response to `server/discover` with the id `$1`.
const DISCOVERED: &str = r#"discovered() {
echo '{"jsonrpc":"2.0","id":'$1',"result":{"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"sh","version":"1"}}}}'
}
"#;

const INITIALIZED: &str = r#"echo '{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}}'
"#;

/// Connects to a script whose variable `$started` names a file that the first process creates.
async fn connect(script: &str, started: &Path) -> (Client, u32) {
    let script = format!("{DISCOVERED}{script}");
    let target =
        ChildTarget::new("sh").args(["-c", &script]).env("started", started.display().to_string());
    let link = ChildLink::spawn(&target).unwrap();
    let id = link.id();
    // The handshake follows the probe after half of the timeout.
    let builder = Client::builder().timeout(Duration::from_millis(800));
    (within(builder.connect(link)).await.unwrap(), id)
}

/// A script of a dual-era server. The first process answers the probe only after the handshake
/// has arrived, in this order.
fn dual_era(first_answers: &str) -> String {
    format!(
        "if [ -e \"$started\" ]; then read probe; discovered 3\n{READ_UNTIL_END}exit 0; fi\n\
         : > \"$started\"; read probe; read handshake\n{first_answers}{READ_UNTIL_END}"
    )
}

#[tokio::test]
async fn a_server_of_both_eras_that_starts_slowly_gets_the_modern_era_in_a_fresh_process() {
    for first_answers in [
        format!("discovered 1\n{INITIALIZED}"),
        format!("{INITIALIZED}discovered 1\n"),
        "discovered 1\n".to_owned(),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (client, first) =
            connect(&dual_era(&first_answers), &folder.path().join("started")).await;
        assert_eq!(client.revision(), Some(Revision::V2026_07_28), "{first_answers}");
        wait_until_ended(first).await;
        assert!(client.is_connected());
        assert_eq!(client.transcript().violations(), [], "{first_answers}");
        within(client.close()).await;
    }
}

#[tokio::test]
async fn a_legacy_server_that_never_answers_the_probe_keeps_its_process() {
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        "[ -e \"$started\" ] && exit 1; : > \"$started\"; read probe; read handshake\n\
         {INITIALIZED}{READ_UNTIL_END}"
    );
    let (client, _) = connect(&script, &folder.path().join("started")).await;
    assert_eq!(client.revision(), Some(Revision::V2025_11_25));
    within(client.close()).await;
}
