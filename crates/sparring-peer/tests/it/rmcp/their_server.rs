//! An rmcp server with all features, for our client.
#![expect(deprecated, reason = "rmcp deprecates what only older revisions have")]

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelledNotificationParam,
    CompleteRequestParams, CompleteResult, CompletionInfo, ContentBlock, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, LoggingLevel,
    LoggingMessageNotificationParam, PaginatedRequestParams, ProgressNotificationParam, Prompt,
    PromptArgument, PromptMessage, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
    ResourceUpdatedNotificationParam, Role, ServerCapabilities, ServerConfig,
    SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value, json};
use tokio::sync::{Barrier, watch};

use super::{EventLog, their_server_requests};

const NOT_POISONED: &str = "no handler panics";

/// The number of calls of the tool `meet` that must be in flight before any is
/// answered.
pub(super) const MEET_CALLS: usize = 64;

pub(super) const TOOLS: [&str; 9] =
    ["echo", "fail", "count", "log", "wait", "meet", "ask", "interview", "change"];

/// An rmcp server. Cheap to clone; all clones are the same server.
#[derive(Clone)]
pub(super) struct RmcpServer(Arc<RmcpServerState>);

pub(super) struct RmcpServerState {
    versions: Vec<ProtocolVersion>,
    level: Mutex<Option<LoggingLevel>>,
    subscribed: Mutex<HashSet<String>>,
    /// All changes, for subscriptions to send.
    changes: watch::Sender<Vec<String>>,
    meeting: Barrier,
    pub(super) log: EventLog,
}

impl std::ops::Deref for RmcpServer {
    type Target = RmcpServerState;

    fn deref(&self) -> &RmcpServerState {
        &self.0
    }
}

impl RmcpServer {
    pub(super) fn speaking(versions: Vec<ProtocolVersion>) -> Self {
        RmcpServer(Arc::new(RmcpServerState {
            versions,
            level: Mutex::default(),
            subscribed: Mutex::default(),
            changes: watch::Sender::default(),
            meeting: Barrier::new(MEET_CALLS),
            log: EventLog::default(),
        }))
    }

    async fn count(&self, context: &RequestContext<RoleServer>) -> Result<(), ErrorData> {
        let token = context.meta.get_progress_token();
        let token = token.ok_or_else(|| ErrorData::invalid_params("no progress token", None))?;
        for step in 1..=3 {
            let progress = ProgressNotificationParam::new(token.clone(), f64::from(step));
            let progress = progress.with_total(3.0).with_message(format!("step {step}"));
            context.peer.notify_progress(progress).await.map_err(internal)?;
        }
        Ok(())
    }

    /// rmcp lets the handler decide which levels to send.
    async fn log(&self, context: &RequestContext<RoleServer>) -> Result<(), ErrorData> {
        let least = match is_modern(context) {
            true => context.meta.log_level(),
            false => *self.level.lock().expect(NOT_POISONED),
        };
        for level in [LoggingLevel::Debug, LoggingLevel::Info, LoggingLevel::Error] {
            if least.is_some_and(|least| level as u8 >= least as u8) {
                let message =
                    LoggingMessageNotificationParam::new(level, json!({"n": level as u8}));
                let message = message.with_logger("library");
                context.peer.notify_logging_message(message).await.map_err(internal)?;
            }
        }
        Ok(())
    }

    async fn wait(&self, context: &RequestContext<RoleServer>) {
        self.log.note("wait began");
        context.ct.cancelled().await;
        self.log.note("wait was cancelled");
    }

    async fn change(
        &self,
        what: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if is_modern(context) {
            self.changes.send_modify(|changes| changes.push(what.to_owned()));
            return Ok(());
        }
        let subscribed = self.subscribed.lock().expect(NOT_POISONED).contains(what);
        let peer = &context.peer;
        match what {
            "tools" => peer.notify_tool_list_changed().await,
            "prompts" => peer.notify_prompt_list_changed().await,
            "resources" => peer.notify_resource_list_changed().await,
            uri if subscribed => {
                peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await
            }
            _ => Ok(()),
        }
        .map_err(internal)
    }
}

pub(super) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| !version.has_initialize())
}

pub(super) fn internal(error: impl ToString) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

impl ServerHandler for RmcpServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_logging()
            .enable_completions()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        // rmcp's answer to a handshake for a version that the server lacks.
        let newest = self.versions.iter().max_by_key(|version| version.as_str().to_owned());
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("library", "3.8"))
            .with_instructions("read slowly")
            .with_protocol_version(newest.expect("a version").clone())
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Owned(self.versions.clone())
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let (names, next_cursor) = two_of(&TOOLS, page)?;
        let schema = Map::from_iter([("type".to_owned(), "object".into())]);
        let tools = names.iter().map(|name| Tool::new(*name, "a tool", schema.clone())).collect();
        Ok(ListToolsResult { next_cursor, ..ListToolsResult::with_all_items(tools) })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let given = request.arguments.clone().unwrap_or_default();
        let given =
            |name: &str| given.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let text = match &*request.name {
            "echo" => given("message"),
            "fail" => return Ok(CallToolResult::error(vec![ContentBlock::text("no luck")]).into()),
            "count" => self.count(&context).await.map(|()| "counted".to_owned())?,
            "log" => self.log(&context).await.map(|()| "logged".to_owned())?,
            "wait" => {
                self.wait(&context).await;
                "too late".to_owned()
            }
            "meet" => {
                self.meeting.wait().await;
                given("message")
            }
            "ask" => return their_server_requests::ask(&given("what"), request, context).await,
            "interview" => return their_server_requests::interview(&request),
            "change" => {
                self.change(&given("what"), &context).await?;
                String::new()
            }
            name => {
                let message = format!("no tool {name:?}");
                return Err(ErrorData::invalid_params(message, None));
            }
        };
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let (names, next_cursor) = two_of(&["a", "b", "c"], page)?;
        let resource = |name: &&str| Resource::new(format!("lib://{name}"), *name).with_size(5);
        let resources = names.iter().map(resource).collect();
        Ok(ListResourcesResult { next_cursor, ..ListResourcesResult::with_all_items(resources) })
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let templates = vec![ResourceTemplate::new("lib://{shelf}", "shelf")];
        Ok(ListResourceTemplatesResult::with_all_items(templates))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.as_str();
        let contents = match uri {
            "lib://a" => ResourceContents::text("a text", uri),
            "lib://b" => ResourceContents::blob("AAEC", uri),
            "lib://ask" => {
                match request.input_responses.as_ref().map(their_server_requests::name_given) {
                    None => return Ok(their_server_requests::ask_name("a state").into()),
                    Some(name) => ResourceContents::text(name, uri),
                }
            }
            _ => return Err(ErrorData::resource_not_found("no such resource", None)),
        };
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let arguments = vec![PromptArgument::new("tone").with_required(true)];
        let prompts = vec![Prompt::new("greet", Some("says hello"), Some(arguments))];
        Ok(ListPromptsResult::with_all_items(prompts))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let text = match &*request.name {
            "greet" => {
                let arguments = request.arguments.unwrap_or_default();
                format!("hello in a {} tone", arguments["tone"].as_str().unwrap_or("flat"))
            }
            "ask" => {
                match request.input_responses.as_ref().map(their_server_requests::name_given) {
                    None => return Ok(their_server_requests::ask_name("a state").into()),
                    Some(name) => name,
                }
            }
            name => return Err(ErrorData::invalid_params(format!("no prompt {name:?}"), None)),
        };
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let known = ["red", "rose", "green"].into_iter();
        let fitting = known.filter(|known| known.starts_with(&request.argument.value));
        let values = fitting.map(str::to_owned).collect();
        Ok(CompleteResult::new(CompletionInfo::with_all_values(values).map_err(internal)?))
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        *self.level.lock().expect(NOT_POISONED) = Some(request.level);
        Ok(())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscribed.lock().expect(NOT_POISONED).insert(request.uri);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscribed.lock().expect(NOT_POISONED).remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        wanted: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        // Prompts are left out, so that the server does not grant every filter
        // completely.
        let mut granted = wanted.clone();
        granted.prompts_list_changed = None;
        Some(granted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.changes.subscribe();
        let mut sent = 0;
        loop {
            let fresh = changes.borrow_and_update()[sent..].to_vec();
            sent += fresh.len();
            for what in fresh {
                // rmcp refuses changes that the client has not asked for.
                let _ = match &*what {
                    "end" => return Ok(()),
                    "cancel" => return cancel(&context).await,
                    "tools" => context.sink().notify_tool_list_changed().await,
                    "prompts" => context.sink().notify_prompt_list_changed().await,
                    "resources" => context.sink().notify_resource_list_changed().await,
                    uri => context.sink().notify_resource_updated(uri).await,
                };
            }
            tokio::select! {
                _ = changes.changed() => {}
                () = context.cancelled() => {
                    self.log.note("a subscription was cancelled");
                    return Ok(());
                }
            }
        }
    }

    async fn on_cancelled(
        &self,
        cancelled: CancelledNotificationParam,
        _: NotificationContext<RoleServer>,
    ) {
        self.log.note(format!("cancelled: {}", cancelled.reason.unwrap_or_default()));
    }
}

/// Ends a subscription abnormally: with a cancellation and without a response.
async fn cancel(context: &SubscriptionContext) -> Result<(), ErrorData> {
    let id = Some(context.sink().id().clone());
    let cancelled = CancelledNotificationParam::new(id, Some("out of memory".to_owned()));
    context.request_context().peer.notify_cancelled(cancelled).await.map_err(internal)?;
    std::future::pending().await
}

/// A page of two items, and the cursor of the next.
fn two_of<'a>(
    all: &'a [&'a str],
    page: Option<PaginatedRequestParams>,
) -> Result<(&'a [&'a str], Option<String>), ErrorData> {
    let start: usize = match page.and_then(|page| page.cursor) {
        None => 0,
        Some(cursor) => cursor.parse().map_err(internal)?,
    };
    let end = all.len().min(start + 2);
    Ok((&all[start..end], (end < all.len()).then(|| end.to_string())))
}
