//! Our own stdin and stdout, for being a server.

use sparring_peer::link::LinesOptions;
use sparring_peer::{Lines, Link};

/// The link to whoever started us. Nothing else may write to stdout.
pub fn stdio(options: LinesOptions) -> impl Link {
    Lines::new(tokio::io::stdin(), tokio::io::stdout(), options)
}
