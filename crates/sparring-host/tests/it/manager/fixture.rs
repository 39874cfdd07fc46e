//! Configured servers, and a connector to the links of a test.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sparring_host::config::{Origin, Reconnect, Rules, Scope, ServerConfig};
use sparring_host::manager::{Connector, Event, Events, Manager, OpenFuture, ServerState};
use sparring_mock::{MockBuilder, MockServer, Reply, ToolMock};
use sparring_peer::{Link, Protocol};
use sparring_transport::{ChildError, ChildTarget, OpenError, OpenedTarget, Target};

/// The timeout of every wait in a test.
pub(crate) const TEST_TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(TEST_TIMEOUT, future).await.expect("nothing takes that long")
}

/// Advances the paused clock by this time, from one timer to the next.
pub(crate) async fn advance_time(time: Duration) {
    let _ = tokio::time::timeout(time, std::future::pending::<()>()).await;
}

/// A server with this name and target, and default settings.
pub(crate) fn server_config(name: &str, target: impl Into<Target>) -> ServerConfig {
    ServerConfig {
        name: name.to_owned(),
        origin: Origin { file: "mcp.yaml".into(), scope: Scope::User, line: 1, column: 1 },
        target: target.into(),
        protocol: Protocol::Auto,
        enabled: true,
        auto_connect: true,
        timeout: Duration::from_secs(30),
        reconnect: Reconnect::default(),
        rules: Rules::default(),
    }
}

/// A server of a [`TestConnector`].
pub(crate) fn entry(name: &str) -> ServerConfig {
    server_config(name, Target::Child(ChildTarget::new(name)))
}

type Opener = Box<dyn FnMut() -> Box<dyn Link> + Send>;

/// The link of each server name. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct TestConnector(Arc<Mutex<HashMap<String, Opener>>>);

impl TestConnector {
    /// Sets the link of a name.
    pub(crate) fn put<L: Link>(&self, name: &str, mut open: impl FnMut() -> L + Send + 'static) {
        let opener = move || Box::new(open()) as Box<dyn Link>;
        self.0.lock().unwrap().insert(name.to_owned(), Box::new(opener));
    }

    /// Sets a mock for a name.
    pub(crate) fn mock(&self, name: &str, mock: MockBuilder) -> Arc<MockServer> {
        let mock = Arc::new(mock.build().unwrap());
        let served = Arc::clone(&mock);
        self.put(name, move || served.connect());
        mock
    }

    /// A manager of these servers.
    pub(crate) fn manager(&self, servers: impl IntoIterator<Item = ServerConfig>) -> Manager {
        Manager::builder().servers(servers).connector(self.clone()).build()
    }
}

impl Connector for TestConnector {
    fn open<'a>(&'a self, server: &'a ServerConfig) -> OpenFuture<'a> {
        let Target::Child(ChildTarget { program, .. }) = &server.target else {
            unreachable!("a connector has names only")
        };
        let link = self.0.lock().unwrap().get_mut(program).map(|open| open());
        let missing = OpenError::Child(ChildError::NotFound { program: program.clone() });
        Box::pin(async move {
            let link = link.ok_or(missing)?;
            Ok(OpenedTarget { link, stderr: None, container: None })
        })
    }
}

/// A mock with these tools, each of which returns its own name.
pub(crate) fn tools(names: &[&str]) -> MockBuilder {
    names.iter().fold(MockServer::builder(), |mock, name| {
        mock.tool(ToolMock::new(*name).reply(Reply::text(*name)))
    })
}

/// Waits for a matching event.
pub(crate) async fn event<T>(events: &mut Events, fits: impl Fn(&Event) -> Option<T>) -> T {
    within(async {
        loop {
            let event = events.next().await.expect("the manager is there");
            if let Some(found) = fits(&event) {
                return found;
            }
        }
    })
    .await
}

/// Waits until a server has the state of that name.
pub(crate) async fn wait_for_state(events: &mut Events, server: &str, name: &str) -> ServerState {
    event(events, |event| match event {
        Event::State { server: which, state } if **which == *server && state.name() == name => {
            Some(state.clone())
        }
        _ => None,
    })
    .await
}
