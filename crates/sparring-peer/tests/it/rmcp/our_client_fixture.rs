//! This project's client on an rmcp server, from the first frame to the last.

use std::future::IntoFuture;

use rmcp::ServiceExt;
use serde_json::Value;
use sparring_peer::client::Error;
use sparring_peer::{Client, ClientBuilder, LineLink};
use sparring_wire::Revision;
use tokio::task::JoinHandle;

use super::their_server::RmcpServer;
use super::{assert_clean, version, within};

/// Our client, connected to an rmcp server.
pub(super) struct OurClient {
    pub(super) client: Client,
    pub(super) library: RmcpServer,
    server: JoinHandle<()>,
}

impl OurClient {
    pub(super) async fn in_revision(revision: Revision) -> Self {
        Self::connect(Client::builder().revision(revision), &Revision::ALL)
            .await
            .expect("a connection")
    }

    /// Connects to a server with only these revisions.
    pub(super) async fn connect(client: ClientBuilder, theirs: &[Revision]) -> Result<Self, Error> {
        Self::connect_to(
            client,
            RmcpServer::speaking(theirs.iter().copied().map(version).collect()),
        )
        .await
    }

    pub(super) async fn connect_to(
        client: ClientBuilder,
        library: RmcpServer,
    ) -> Result<Self, Error> {
        let (here, there) = tokio::io::duplex(64 * 1024);
        let serving = library.clone();
        let server = tokio::spawn(async move {
            // A server that is refused or left at once never starts to serve.
            if let Ok(running) = serving.serve(there).await {
                running.waiting().await.expect("rmcp ends in good order");
            }
        });
        let client = within(client.connect(LineLink::from_stream(here))).await?;
        Ok(OurClient { client, library, server })
    }

    /// Calls a tool and returns the text of its result.
    pub(super) async fn call(&self, tool: &str, arguments: Value) -> String {
        let response = within(self.client.call_tool(tool, arguments).into_future()).await;
        let response = response.unwrap_or_else(|error| panic!("{tool}: {error}"));
        assert!(response.success(), "{tool}: {}", response.raw().text());
        response.content()
    }

    /// Ends both sides normally, and checks that nothing on the wire was wrong.
    pub(super) async fn end(self) {
        within(self.client.close()).await;
        within(self.server).await.expect("rmcp's server ends");
        let revision = self.client.revision().map_or("none", Revision::name);
        assert_clean(self.client.transcript(), revision);
    }
}
