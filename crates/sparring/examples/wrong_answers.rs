//! Prints the errors of a client whose server sends invalid responses, with the
//! protocol violations in the transcript.

#![expect(clippy::print_stdout, reason = "an example prints its results")]

use std::time::Duration;

use sparring::{Client, MemoryTransport, Protocol};

/// Responds to one request with this text, in which `ID` is replaced by its id.
async fn answer_with(text: &str) -> anyhow::Result<String> {
    let (transport, link) = MemoryTransport::new();
    let client = Client::builder().protocol(Protocol::Raw).connect(link).await?;
    let request = client.request("tools/list", None).start();
    let asked = transport.wait_sent(Duration::from_secs(5)).await;
    let id = asked.as_ref().and_then(|frame| frame.id()).map(ToString::to_string);
    transport.queue_incoming(text.replace("ID", &id.unwrap_or_default()));
    match request.await {
        Ok(response) => anyhow::bail!("expected an error, got {response:?}"),
        Err(error) => {
            let violations = client.transcript().violations();
            let rules: Vec<_> = violations.iter().map(|violation| violation.rule.id()).collect();
            Ok(format!("{error}\n    violations: {}", rules.join(", ")))
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    for text in [
        r#"{"jsonrpc":"1.0","id":ID,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{},"error":{"code":1,"message":"both"}}"#,
        r#"{"jsonrpc":"2.0","id":ID}"#,
        r#"{"jsonrpc":"2.0","id":"ID","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{"tools":[{"na"#,
    ] {
        println!("{text}\n    {}\n", answer_with(text).await?);
    }
    Ok(())
}
