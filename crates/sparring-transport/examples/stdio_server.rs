//! A server over stdin and stdout with some of everything, for any client to
//! start: tools, a resource, a prompt, progress, a question back.
//!
//! It speaks all revisions, or only those given as arguments. Stdout belongs to
//! the protocol; stderr says in the end what the client did wrong.

mod desk;

use sparring_peer::link::LinesOptions;
use sparring_transport::stdio;
use sparring_wire::{Revision, Transcript};

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let revisions = std::env::args().skip(1).map(|name| name.parse::<Revision>());
    let revisions = revisions.collect::<Result<Vec<_>, _>>()?;
    let server = desk::server(&revisions);
    let transcript = Transcript::default();
    let session = server.on(stdio(LinesOptions::default())).recorded_in(&transcript);
    let cause = session.serve().await?;
    let wrong = transcript.violations();
    eprintln!("ended: {cause}; {} violations", wrong.len());
    for violation in wrong {
        eprintln!("{violation}");
    }
    Ok(())
}
