//! The requests of a client. Requests for one thing return a response with checks,
//! even if it is an error response. Lists, and requests without a result, return an
//! error that names the line of the test.

use std::panic::Location;

use serde_json::{Value, json};
use sparring_peer::client::Error;
use sparring_wire::types::LogLevel;
use sparring_wire::{RawJson, Rule};

use super::call::CallKind;
use super::connection::Client;
use super::{Call, Subscription, SubscriptionFilter};
use crate::{Prompts, ResourceTemplates, Resources, Tools};

impl Client {
    /// Makes any request; awaiting it sends it.
    ///
    /// ```
    /// # use sparring::{Client, MockServer};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
    /// # let client = Client::in_memory(mock).await?;
    /// client.request("no/such", None).await?.assert_error_code(-32601);
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn request(&self, method: &str, params: Option<RawJson>) -> Call {
        let kind = match method {
            "tools/list" => CallKind::ListTools,
            _ => CallKind::Other,
        };
        Call::new(self.peer.request(method.to_owned(), params), method, &self.context).of_kind(kind)
    }

    /// Makes a request of exactly these bytes; awaiting it sends them.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer, Revision};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
    /// let client = Client::builder().revision(Revision::V2025_11_25).in_memory(mock).wait()?;
    /// let odd = r#"{ "jsonrpc":"2.0", "id":"mine", "method":"ping", "extra":1.0 }"#;
    /// client.request_bytes(odd).wait()?.assert_result(json!({}));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn request_bytes(&self, bytes: impl Into<Vec<u8>>) -> Call {
        Call::new(self.peer.request_bytes(bytes), "request from bytes", &self.context)
    }

    /// Calls a tool; awaiting it sends the request.
    ///
    /// ```
    /// # use sparring::{Client, MockServer};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
    /// # let client = Client::in_memory(mock).await?;
    /// client.call_tool("now", serde_json::json!({})).await?.assert_text("noon");
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn call_tool(&self, name: &str, arguments: impl Into<RawJson>) -> Call {
        let label = format!("tools/call {name}");
        let revisions = Rule::OutputSchema.entry().revisions;
        let revision = self.peer.revision().filter(|it| revisions.contains(it));
        let kind = revision.map(|it| CallKind::Tool(name.to_owned(), it)).unwrap_or_default();
        Call::new(self.peer.call_tool(name, arguments), label, &self.context).of_kind(kind)
    }

    /// Reads a resource; awaiting it sends the request.
    ///
    /// ```
    /// # use sparring::{Client, MockServer};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let mock = MockServer::from_yaml("resources: [{uri: 'memo:1', text: milk}]", ".")?;
    /// # let client = Client::in_memory(mock).await?;
    /// client.read_resource("memo:1").await?.assert_text("milk");
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn read_resource(&self, uri: &str) -> Call {
        let request = self.peer.request("resources/read", Some(json!({"uri": uri}).into()));
        Call::new(request, format!("resources/read {uri}"), &self.context)
    }

    /// Gets a prompt; awaiting it sends the request.
    ///
    /// ```
    /// # use sparring::{Client, MockServer};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let mock = MockServer::from_yaml("prompts: [{name: hello, text: Say hello.}]", ".")?;
    /// # let client = Client::in_memory(mock).await?;
    /// client.get_prompt("hello", serde_json::json!({})).await?.assert_text("Say hello.");
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn get_prompt(&self, name: &str, arguments: Value) -> Call {
        let params = json!({"name": name, "arguments": arguments});
        let request = self.peer.request("prompts/get", Some(params.into()));
        Call::new(request, format!("prompts/get {name}"), &self.context)
    }

    /// Requests completions of an argument. `reference` names a prompt or a resource
    /// template: `{"type": "ref/prompt", "name": …}`.
    ///
    /// ```
    /// # use serde_json::json;
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer};
    /// # let mock = MockServer::from_yaml(
    /// #     "prompts: [{name: greet, arguments: [{name: who}], text: hello}]\n\
    /// #      completions: [{prompt: greet, argument: who, values: [Ada, Alan, Bob]}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// let prompt = json!({"type": "ref/prompt", "name": "greet"});
    /// client.complete(prompt, "who", "A").wait()?.assert_completions(["Ada", "Alan"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn complete(&self, reference: Value, name: &str, value: &str) -> Call {
        let argument = json!({"name": name, "value": value});
        let params = json!({"ref": reference, "argument": argument});
        let request = self.peer.request("completion/complete", Some(params.into()));
        Call::new(request, format!("completion/complete {name}"), &self.context)
    }

    /// Lists the tools of all pages; none if the server does not declare tools.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer};
    /// # let mock = MockServer::from_yaml(
    /// #     "page_size: 1\ntools: [{name: greet, text: hello}, {name: part, text: bye}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.list_tools().wait()?.assert_names(["greet", "part"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When a page cannot be listed.
    #[track_caller]
    pub fn list_tools(&self) -> impl Future<Output = Result<Tools, crate::Error>> + Send {
        let listed = self.with_location(self.peer.list_tools());
        async move {
            let listed = listed.await?;
            for tool in listed.iter() {
                self.context.output_schemas().learn(&tool.name, tool.output_schema.clone());
            }
            Ok(Tools::new(listed, self.context.clone()))
        }
    }

    /// Lists the resources of all pages; none if the server does not declare
    /// resources.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer};
    /// # let mock = MockServer::from_yaml("resources: [{uri: 'memo:1', text: milk}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.list_resources().wait()?.assert_has("memo:1");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When a page cannot be listed.
    #[track_caller]
    pub fn list_resources(&self) -> impl Future<Output = Result<Resources, crate::Error>> + Send {
        let listed = self.with_location(self.peer.list_resources());
        async move { Ok(Resources::new(listed.await?, self.context.clone())) }
    }

    /// Lists the resource templates of all pages; none if the server does not declare
    /// resources.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer};
    /// # let mock = MockServer::from_yaml(
    /// #     "templates: [{uri_template: 'memo:{id}', text: \"${args.id}\"}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.list_resource_templates().wait()?.assert_has("memo:{id}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When a page cannot be listed.
    #[track_caller]
    pub fn list_resource_templates(
        &self,
    ) -> impl Future<Output = Result<ResourceTemplates, crate::Error>> + Send {
        let listed = self.with_location(self.peer.list_resource_templates());
        async move { Ok(ResourceTemplates::new(listed.await?, self.context.clone())) }
    }

    /// Lists the prompts of all pages; none if the server does not declare prompts.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer};
    /// # let mock = MockServer::from_yaml("prompts: [{name: hello, text: Say hello.}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.list_prompts().wait()?.assert_names(["hello"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When a page cannot be listed.
    #[track_caller]
    pub fn list_prompts(&self) -> impl Future<Output = Result<Prompts, crate::Error>> + Send {
        let listed = self.with_location(self.peer.list_prompts());
        async move { Ok(Prompts::new(listed.await?, self.context.clone())) }
    }

    /// Checks that the server responds: by `ping`, or by `server/discover` in revisions
    /// without `ping`.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer};
    /// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.ping().wait()?;
    /// client.close().wait();
    /// assert!(client.ping().wait().is_err(), "the connection is closed");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the server does not respond, or responds with an error.
    #[track_caller]
    pub fn ping(&self) -> impl Future<Output = Result<(), crate::Error>> + Send {
        self.with_location(self.peer.ping())
    }

    /// Sets the minimum level of the log messages that the server sends.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::types::LogLevel;
    /// # use sparring::{Client, MockServer};
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: work, text: done, during: \
    /// #      [{log: {level: info, data: begun}}, {log: {level: error, data: broken}}]}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.set_log_level(LogLevel::Warning).wait()?;
    /// client.call_tool("work", serde_json::json!({})).wait()?.assert_success();
    /// let logged = client.wait_for_notifications(1).method("notifications/message").wait()?;
    /// assert_eq!(logged.len(), 1, "the server does not send the message of level info");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the server does not respond, or responds with an error.
    #[track_caller]
    pub fn set_log_level(
        &self,
        level: LogLevel,
    ) -> impl Future<Output = Result<(), crate::Error>> + Send {
        self.with_location(self.peer.set_log_level(level))
    }

    /// Subscribes to changes of one resource.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer};
    /// # use serde_json::json;
    /// # use std::time::Duration;
    /// # let mock = MockServer::from_yaml("resources: [{uri: 'memo:1', text: milk}]", ".")?;
    /// # let client = Client::in_memory(&mock).wait()?;
    /// let mut changes = client.subscribe("memo:1").wait()?;
    /// mock.notify("notifications/resources/updated", Some(json!({"uri": "memo:1"}).into()));
    /// let change = changes.next(Duration::from_secs(5)).wait()?;
    /// assert_eq!(change.method(), Some("notifications/resources/updated"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the server does not respond, or responds with an error.
    #[track_caller]
    pub fn subscribe(
        &self,
        uri: &str,
    ) -> impl Future<Output = Result<Subscription, crate::Error>> + Send {
        self.listen(SubscriptionFilter {
            uris: vec![uri.to_owned()],
            ..SubscriptionFilter::default()
        })
    }

    /// Subscribes to all changes that match the filter, by the methods of the
    /// connection's revision.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use sparring::{Client, MockServer, client::SubscriptionFilter};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: grow, text: ok, after: [{show: {tool: more}}]}, {name: more, hidden: true, text: ok}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).await?;
    /// let filter = SubscriptionFilter { tools_list_changed: true, ..SubscriptionFilter::default() };
    /// let mut changes = client.listen(filter).await?;
    /// client.call_tool("grow", serde_json::json!({})).await?.assert_success();
    /// let change = changes.next(Duration::from_secs(5)).await?;
    /// assert_eq!(change.method(), Some("notifications/tools/list_changed"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the server does not respond, or responds with an error.
    #[track_caller]
    pub fn listen(
        &self,
        filter: SubscriptionFilter,
    ) -> impl Future<Output = Result<Subscription, crate::Error>> + Send {
        let opened = self.with_location(self.peer.listen(filter));
        async move { Ok(Subscription::new(opened.await?, self.context.clone())) }
    }

    /// Opens a new session after the server has ended this one. The new client
    /// records into the same transcript; this client stays closed.
    ///
    /// ```
    /// # use serde_json::json;
    /// # use sparring::{Client, HttpTarget, MockServer, Revision};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: expire, text: the end, fault: {expire_session: true}}]",
    /// #     ".",
    /// # )?;
    /// # let (_serving, urls) = mock.listen_locally().await?;
    /// # let old = Client::builder().revision(Revision::V2025_11_25);
    /// let client = old.connect(HttpTarget::new(urls.mcp)).await?;
    /// client.call_tool("expire", json!({})).await?.assert_text("the end");
    /// assert!(client.ping().await.is_err(), "the session is lost");
    /// let again = client.reopen().await?;
    /// again.ping().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the session was not lost, or the handshake fails.
    #[track_caller]
    pub fn reopen(&self) -> impl Future<Output = Result<Client, crate::Error>> + Send {
        let reopened = self.with_location(self.peer.reopen());
        async move { Ok(Client { peer: reopened.await?, ..self.clone() }) }
    }

    /// Adds the line of the caller to the error of a request.
    #[track_caller]
    fn with_location<T>(
        &self,
        work: impl Future<Output = Result<T, Error>> + Send,
    ) -> impl Future<Output = Result<T, crate::Error>> + Send {
        let at = Location::caller();
        async move { work.await.map_err(|error| crate::Error::client(error, at, &self.context)) }
    }
}
