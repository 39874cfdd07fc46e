//! Our HTTP server with the examples' handler, for clients of other projects.

use std::time::Duration;

use sparring_transport::http::{HttpOptions, HttpServer, HttpServerHandle};
use sparring_wire::{Revision, Transcript};
use tokio::net::TcpListener;

use self::handler::ExampleHandler;
use super::peer_connection::within;

#[path = "../../../examples/example_handler/mod.rs"]
mod handler;

/// The server on its own port.
pub(crate) struct ExampleServer {
    http: HttpServer<ExampleHandler>,
    serving: HttpServerHandle,
    transcript: Transcript,
}

impl ExampleServer {
    /// Starts it with these revisions.
    pub(crate) async fn with_revisions(revisions: &[Revision]) -> ExampleServer {
        let transcript = Transcript::default();
        let options =
            HttpOptions { transcript: Some(transcript.clone()), ..HttpOptions::default() };
        let http = HttpServer::new(handler::server(revisions), options);
        let serving = http.serve(TcpListener::bind("127.0.0.1:0").await.unwrap());
        ExampleServer { http, serving, transcript }
    }

    /// Returns its URL: Streamable HTTP at `/mcp`, HTTP+SSE at `/sse`.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.serving.address().unwrap())
    }

    /// Stops it; checks that no client violated a rule or left a session behind.
    pub(crate) async fn close(self) {
        let wrong: Vec<_> = self.transcript.violations().iter().map(ToString::to_string).collect();
        assert_eq!(wrong, [""; 0]);
        within(self.serving.stop(Duration::from_secs(5))).await;
        assert_eq!(self.http.session_count(), 0);
    }
}
