//! Our server over HTTP, with the handler of the examples, for clients of others.

use std::time::Duration;

use sparring_transport::http::{HttpOptions, HttpServer, Serving};
use sparring_wire::{Revision, Transcript};
use tokio::net::TcpListener;

use self::handler::Desk;
use super::visit::within;

#[path = "../../../examples/desk/mod.rs"]
mod handler;

/// The server at work on a port of its own.
pub(crate) struct OpenDesk {
    http: HttpServer<Desk>,
    serving: Serving,
    transcript: Transcript,
}

impl OpenDesk {
    /// Opens it for these revisions.
    pub(crate) async fn speaking(revisions: &[Revision]) -> OpenDesk {
        let transcript = Transcript::default();
        let options =
            HttpOptions { transcript: Some(transcript.clone()), ..HttpOptions::default() };
        let http = HttpServer::new(handler::server(revisions), options);
        let serving = http.serve(TcpListener::bind("127.0.0.1:0").await.unwrap());
        OpenDesk { http, serving, transcript }
    }

    /// Where it is: Streamable HTTP at `/mcp`, HTTP+SSE at `/sse`.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.serving.address().unwrap())
    }

    /// Closes it: no client did anything wrong or left a session behind.
    pub(crate) async fn close(self) {
        let wrong: Vec<_> = self.transcript.violations().iter().map(ToString::to_string).collect();
        assert_eq!(wrong, [""; 0]);
        within(self.serving.stop(Duration::from_secs(5))).await;
        assert_eq!(self.http.sessions(), 0);
    }
}
