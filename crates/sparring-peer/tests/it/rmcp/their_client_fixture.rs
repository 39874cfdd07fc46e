//! rmcp's client on this project's server, from the first frame to the last.
#![expect(deprecated, reason = "rmcp deprecates what only older revisions have")]

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig,
    CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams, ElicitResult,
    ElicitationAction, Implementation, ListRootsResult, LoggingMessageNotificationParam,
    ProgressNotificationParam, ProtocolVersion, ResourceUpdatedNotificationParam, Root,
    SamplingMessage,
};
use rmcp::service::{
    ClientInitializeError, NotificationContext, RequestContext, RunningService, ServiceError,
};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient};
use serde_json::{Value, json};
use sparring_peer::link::Recorder;
use sparring_peer::server::ServerTask;
use sparring_peer::{Cause, LineLink, Link, Server};
use sparring_wire::{Revision, Side, Transcript};

use super::our_server::OurServer;
use super::{EventLog, assert_clean, version, within};

/// An rmcp client that answers everything, and logs the messages that it
/// receives.
#[derive(Clone)]
pub(super) struct LoggingClient {
    version: ProtocolVersion,
    pub(super) log: EventLog,
}

impl ClientHandler for LoggingClient {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder()
            .enable_roots()
            .enable_sampling()
            .enable_elicitation()
            .build();
        ClientConfig::new(capabilities, Implementation::new("logging_client", "3.8"))
            .with_protocol_version(self.version.clone())
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let text = format!("{} of Paris", params.messages.len());
        Ok(CreateMessageResult::new(SamplingMessage::assistant_text(text), "m".to_owned()))
    }

    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        Ok(ListRootsResult::new(vec![Root::new("file:///home")]))
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(json!({"name": "Ferris"})))
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let (progress, total) = (params.progress, params.total.unwrap_or_default());
        let message = params.message.unwrap_or_default();
        self.log.note(format!("{progress} of {total}: {message}"));
    }

    async fn on_logging_message(
        &self,
        params: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.log.note(format!("logged {:?} {}", params.level, params.data));
    }

    async fn on_resource_updated(
        &self,
        params: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.log.note(format!("updated {}", params.uri));
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.log.note("tools changed");
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.log.note("prompts changed");
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.log.note("resources changed");
    }
}

/// rmcp's client, connected to this project's server.
pub(super) struct RmcpClient {
    pub(super) client: RunningService<RoleClient, LoggingClient>,
    pub(super) server: Server<OurServer>,
    pub(super) running: ServerTask,
    /// The server's transcript.
    pub(super) transcript: Transcript,
    /// The client's log.
    pub(super) log: EventLog,
}

impl RmcpClient {
    pub(super) async fn in_revision(revision: Revision) -> Self {
        let lifecycle = match revision.is_modern() {
            false => ClientLifecycleMode::Initialize,
            true => ClientLifecycleMode::Discover { preferred_versions: vec![version(revision)] },
        };
        Self::connect(lifecycle, revision, &Revision::ALL).await
    }

    /// `asked` is the version that the handshake requests.
    pub(super) async fn connect(
        lifecycle: ClientLifecycleMode,
        asked: Revision,
        ours: &[Revision],
    ) -> Self {
        let context = format!("{lifecycle:?}, asking for {asked}, of {ours:?}");
        let peer = Self::attempt(lifecycle, asked, ours, Transcript::default()).await;
        peer.unwrap_or_else(|error| panic!("{context}: {error}"))
    }

    /// Connects, and may fail.
    pub(super) async fn attempt(
        lifecycle: ClientLifecycleMode,
        asked: Revision,
        ours: &[Revision],
        transcript: Transcript,
    ) -> Result<Self, ClientInitializeError> {
        let (here, there) = tokio::io::duplex(64 * 1024);
        let server = Server::with_revisions(OurServer::default(), ours);
        let mut link = LineLink::from_stream(there);
        link.set_recorder(Recorder::new(&transcript, Side::Server));
        let running = server.spawn(link);
        let logging_client = LoggingClient { version: version(asked), log: EventLog::default() };
        let log = logging_client.log.clone();
        let client = within(logging_client.serve_with_lifecycle(here, lifecycle)).await?;
        Ok(RmcpClient { client, server, running, transcript, log })
    }

    /// Returns the version that rmcp reports.
    pub(super) fn version(&self) -> String {
        let info = self.client.peer_info().expect("the server's info");
        info.protocol_version.as_str().to_owned()
    }

    pub(super) async fn call(
        &self,
        tool: &'static str,
        arguments: Value,
    ) -> Result<CallToolResult, ServiceError> {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let params = CallToolRequestParams::new(tool).with_arguments(arguments);
        within(self.client.call_tool(params)).await
    }

    /// Returns the number of frames with a method that our server has sent.
    pub(super) fn sent_count(&self, method: &str) -> usize {
        let entries = self.transcript.entries().into_iter();
        let sent =
            entries.filter(|it| it.from == Side::Server && it.frame.method() == Some(method));
        sent.count()
    }

    /// Ends both sides normally, and checks that nothing on the wire was wrong.
    pub(super) async fn end(mut self) {
        let version = self.version();
        within(self.client.cancel()).await.expect("rmcp's client ends");
        assert_eq!(within(self.running.wait()).await, Cause::EndOfInput, "{version}");
        assert_clean(&self.transcript, &version);
    }
}

/// Returns the text of a tool's result.
pub(super) fn text_of(result: &CallToolResult) -> &str {
    let first = result.content.first().and_then(|content| content.as_text());
    first.map_or("", |text| &*text.text)
}

/// Returns the code of the server's error.
pub(super) fn code_of<T: std::fmt::Debug>(outcome: Result<T, ServiceError>) -> i32 {
    match outcome {
        Err(ServiceError::McpError(error)) => error.code.0,
        other => panic!("expected an error of the server's, found {other:?}"),
    }
}
