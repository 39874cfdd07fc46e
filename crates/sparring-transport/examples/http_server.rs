//! An HTTP server with tools, a resource, a prompt, progress and a question, for any client.
//!
//! The first argument is the address, such as `127.0.0.1:3001`. The other arguments are the
//! revisions to support (default: all). Streamable HTTP is at `/mcp` and HTTP+SSE at `/sse`. It
//! stops in an orderly way at the end of its stdin.

mod example_handler;

use std::time::Duration;

use anyhow::Context as _;
use sparring_transport::http::{HttpOptions, HttpServer};
use sparring_wire::Revision;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpListener;

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "whoever starts it wants to know where it is")]
async fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    let address = args.next().unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let revisions = args.map(|name| name.parse::<Revision>()).collect::<Result<Vec<_>, _>>()?;
    let listener = TcpListener::bind(&address).await.with_context(|| address.clone())?;
    let server = HttpServer::new(example_handler::server(&revisions), HttpOptions::default());
    let serving = server.serve(listener);
    let address = serving.address().context("a port has an address")?;
    println!("http://{address}/mcp");
    tokio::io::stdin().read_to_end(&mut Vec::new()).await?;
    serving.stop(Duration::from_secs(5)).await;
    Ok(())
}
