//! A stdio server with tools, a resource, a prompt, progress and a question, for any client.
//!
//! The arguments are the revisions to support (default: all). Stdout belongs to the protocol;
//! at the end it prints the client's violations to stderr.

mod example_handler;

use sparring_peer::link::LineLinkOptions;
use sparring_transport::stdio;
use sparring_wire::{Revision, Transcript};

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let revisions = std::env::args().skip(1).map(|name| name.parse::<Revision>());
    let revisions = revisions.collect::<Result<Vec<_>, _>>()?;
    let server = example_handler::server(&revisions);
    let transcript = Transcript::default();
    let session = server.session_on(stdio(LineLinkOptions::default())).record_in(&transcript);
    let cause = session.serve().await?;
    let wrong = transcript.violations();
    eprintln!("ended: {cause}; {} violations", wrong.len());
    for violation in wrong {
        eprintln!("{violation}");
    }
    Ok(())
}
