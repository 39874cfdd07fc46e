//! Servers as short shell scripts: real children that do exactly one thing.

use std::future::Future;
use std::time::Duration;

use sparring_peer::Client;
use sparring_peer::client::Error;
use sparring_transport::{ChildLink, ChildTarget, Stderr};
use sparring_wire::Revision;

/// The longest wait in a test.
pub(crate) const TEST_TIMEOUT: Duration = Duration::from_secs(20);

pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(TEST_TIMEOUT, future).await.expect("nothing takes that long")
}

/// Answers the handshake; the client's next request has the id 2.
pub(crate) const HANDSHAKE: &str = r#"read hello
echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}}'
read initialized
"#;

/// Waits for the request after the handshake.
pub(crate) const READ_REQUEST: &str = "read asked\n";

/// Runs until its stdin ends.
pub(crate) const READ_UNTIL_END: &str = "while read line; do :; done\n";

pub(crate) fn shell(script: &str) -> ChildTarget {
    ChildTarget::new("sh").args(["-c", script])
}

/// Starts a script and connects to it.
pub(crate) async fn connect(script: &str) -> (Result<Client, Error>, Stderr, u32) {
    let link = ChildLink::spawn(&shell(script)).unwrap();
    let (stderr, id) = (link.stderr(), link.id());
    let builder =
        Client::builder().revision(Revision::V2025_11_25).timeout(Duration::from_secs(10));
    (within(builder.connect(link)).await, stderr, id)
}

/// Starts a script that answers the handshake, calls a tool, and returns the result.
pub(crate) async fn call(after: &str) -> (Result<sparring_peer::Response, Error>, Client) {
    let (client, _, _) = connect(&format!("{HANDSHAKE}{READ_REQUEST}{after}")).await;
    let client = client.unwrap();
    let call = client.call_tool("x", serde_json::json!({})).timeout(Duration::from_secs(5));
    (within(call.into_future()).await, client)
}

/// Returns true if a process or one of its group still runs.
pub(crate) fn is_alive(id: u32) -> bool {
    let id = rustix::process::Pid::from_raw(i32::try_from(id).unwrap()).unwrap();
    rustix::process::test_kill_process_group(id).is_ok()
}

/// Waits until a process group is gone.
pub(crate) async fn wait_until_ended(id: u32) {
    within(async {
        while is_alive(id) {
            tokio::task::yield_now().await;
        }
    })
    .await;
}
