//! Requests with their checks: sends all requests in the order in which they were
//! added, and checks their results in that order.
//!
//! Every request needs a check. A list of requests that never runs fails the test.

use std::panic::Location;
use std::pin::Pin;
use std::task::Poll;

use serde_json::Value;
use sparring_wire::RawJson;

use super::Call;
use super::connection::Client;
use crate::{Error, Prompts, ResourceTemplates, Resources, Response, Tools};

/// A check that holds its response.
type Check<'c> = Box<dyn FnOnce() + Send + 'c>;

/// A request that is sent when it is first polled.
type BoxedRequest<'c> = Pin<Box<dyn Future<Output = Result<Check<'c>, Error>> + Send + 'c>>;

/// Requests to send, with the checks of their results.
///
/// ```
/// # use sparring::{Client, MockServer};
/// # use serde_json::json;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let mock = MockServer::from_yaml(
/// #     "tools: [{name: greet, input: {name: string}, text: \"hello ${args.name}\"}]",
/// #     ".",
/// # )?;
/// # let client = Client::in_memory(mock).await?;
/// client
///     .when()
///     .list_tools(|tools| {
///         tools.assert_count(1);
///     })
///     .call_tool("greet", json!({"name": "Ada"}), |response| {
///         response.assert_text("hello Ada");
///     })
///     .then_assert_results()
///     .await;
/// # Ok(())
/// # }
/// ```
///
/// A request without its check does not compile:
///
/// ```compile_fail,E0061
/// # async fn check(client: sparring::Client) {
/// client.when().call_tool("greet", serde_json::json!({})).then_assert_results().await;
/// # }
/// ```
///
/// Requests that never run do not compile where warnings are errors:
///
/// ```compile_fail
/// #![deny(unused_must_use)]
/// # async fn check(client: sparring::Client) {
/// client.when().call_tool("greet", serde_json::json!({}), |response| {
///     response.assert_success();
/// });
/// # }
/// ```
///
/// # Panics
/// When it is dropped before it ran. The message names the line of `when`.
#[must_use = "the requests are sent by `.then_assert_results().await`"]
pub struct When<'c> {
    client: &'c Client,
    requests: Vec<BoxedRequest<'c>>,
    at: &'static Location<'static>,
    has_run: bool,
}

impl Client {
    /// Starts a list of requests with their checks.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer};
    /// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// let when = client.when().list_tools(|tools| {
    ///     tools.assert_has("greet");
    /// });
    /// when.then_assert_results().wait();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn when(&self) -> When<'_> {
        When { client: self, requests: Vec::new(), at: Location::caller(), has_run: false }
    }
}

impl<'c> When<'c> {
    /// Lists all tools, and checks them.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer};
    /// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// let when = client.when().list_tools(|tools| {
    ///     tools.assert_names(["greet"]);
    /// });
    /// when.then_assert_results().wait();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn list_tools(self, check: impl FnOnce(&Tools) + Send + 'c) -> Self {
        let listed = self.client.list_tools();
        self.push(listed, check)
    }

    /// Lists all resources, and checks them.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer};
    /// # let mock = MockServer::from_yaml("resources: [{uri: 'memo:1', text: milk}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// let when = client.when().list_resources(|resources| {
    ///     resources.assert_has("memo:1");
    /// });
    /// when.then_assert_results().wait();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn list_resources(self, check: impl FnOnce(&Resources) + Send + 'c) -> Self {
        let listed = self.client.list_resources();
        self.push(listed, check)
    }

    /// Lists all resource templates, and checks them.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer};
    /// # let mock = MockServer::from_yaml(
    /// #     "templates: [{uri_template: 'memo:{id}', text: \"${args.id}\"}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// let when = client.when().list_resource_templates(|templates| {
    ///     templates.assert_has("memo:{id}");
    /// });
    /// when.then_assert_results().wait();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn list_resource_templates(
        self,
        check: impl FnOnce(&ResourceTemplates) + Send + 'c,
    ) -> Self {
        let listed = self.client.list_resource_templates();
        self.push(listed, check)
    }

    /// Lists all prompts, and checks them.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer};
    /// # let mock = MockServer::from_yaml("prompts: [{name: hello, text: Say hello.}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// let when = client.when().list_prompts(|prompts| {
    ///     prompts.assert_names(["hello"]);
    /// });
    /// when.then_assert_results().wait();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn list_prompts(self, check: impl FnOnce(&Prompts) + Send + 'c) -> Self {
        let listed = self.client.list_prompts();
        self.push(listed, check)
    }

    /// Calls a tool, and checks the response.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: greet, input: {name: string}, text: \"hello ${args.name}\"}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// let when = client.when().call_tool("greet", json!({"name": "Ada"}), |response| {
    ///     response.assert_text("hello Ada");
    /// });
    /// when.then_assert_results().wait();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn call_tool(
        self,
        name: &str,
        arguments: impl Into<RawJson>,
        check: impl FnOnce(&Response) + Send + 'c,
    ) -> Self {
        let call = self.client.call_tool(name, arguments);
        self.call(call, check)
    }

    /// Reads a resource, and checks the response.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer};
    /// # let mock = MockServer::from_yaml("resources: [{uri: 'memo:1', text: milk}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// let when = client.when().read_resource("memo:1", |response| {
    ///     response.assert_text("milk");
    /// });
    /// when.then_assert_results().wait();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn read_resource(self, uri: &str, check: impl FnOnce(&Response) + Send + 'c) -> Self {
        let call = self.client.read_resource(uri);
        self.call(call, check)
    }

    /// Gets a prompt, and checks the response.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml("prompts: [{name: hello, text: Say hello.}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// let when = client.when().get_prompt("hello", json!({}), |response| {
    ///     response.assert_text("Say hello.");
    /// });
    /// when.then_assert_results().wait();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn get_prompt(
        self,
        name: &str,
        arguments: Value,
        check: impl FnOnce(&Response) + Send + 'c,
    ) -> Self {
        let call = self.client.get_prompt(name, arguments);
        self.call(call, check)
    }

    /// Makes any request, and checks the response.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer};
    /// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// let when = client.when().request("no/such", None, |response| {
    ///     response.assert_error_code(-32601);
    /// });
    /// when.then_assert_results().wait();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn request(
        self,
        method: &str,
        params: Option<RawJson>,
        check: impl FnOnce(&Response) + Send + 'c,
    ) -> Self {
        let call = self.client.request(method, params);
        self.call(call, check)
    }

    /// Sends a prepared call, for example one with its own timeout or `on_progress`, and
    /// checks the response.
    ///
    /// ```
    /// # use sparring::{Client, MockServer};
    /// # use serde_json::json;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: copy, text: done, during: [{progress: 1}, {progress: 2}]}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).await?;
    /// let copy = client.call_tool("copy", json!({})).on_progress(|_| ());
    /// client
    ///     .when()
    ///     .call(copy, |response| {
    ///         response.progress().assert_count(2).assert_in_order();
    ///     })
    ///     .then_assert_results()
    ///     .await;
    /// # Ok(())
    /// # }
    /// ```
    pub fn call(self, call: Call, check: impl FnOnce(&Response) + Send + 'c) -> Self {
        self.push(async { call.await }, check)
    }

    /// Checks that the server responds.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer};
    /// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.when().ping().then_assert_results().wait();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn ping(self) -> Self {
        let pinged = self.client.ping();
        self.push(pinged, |()| ())
    }

    /// Sends a notification.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer, Step};
    /// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// let method = "notifications/acme/ready";
    /// client.when().notify(method, None).ping().then_assert_results().wait();
    /// client.snapshot().assert_order([Step::sent(method)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn notify(self, method: &str, params: Option<RawJson>) -> Self {
        let (client, method) = (self.client, method.to_owned());
        let sent = async move {
            client.notify(&method, params.as_ref());
            Ok(())
        };
        self.push(sent, |()| ())
    }

    /// Sends all requests without waiting in between, waits for the responses, and
    /// checks them in the order in which they were added.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// let mut greeted = false;
    /// let when = client.when().call_tool("greet", json!({}), |it| greeted = it.text() == "hello");
    /// when.then_assert_results().wait();
    /// assert!(greeted);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// When a check fails, at its line; when a request fails, with the line that added
    /// it; and when there are no requests.
    pub async fn then_assert_results(mut self) {
        self.has_run = true;
        let mut requests = std::mem::take(&mut self.requests);
        assert!(!requests.is_empty(), "`when` has no requests at {}", self.at);
        let mut first_polls = Vec::new();
        for request in &mut requests {
            // The first poll sends the request.
            first_polls
                .push(std::future::poll_fn(|cx| Poll::Ready(request.as_mut().poll(cx))).await);
        }
        let mut results = Vec::new();
        for (first_poll, request) in first_polls.into_iter().zip(requests) {
            results.push(match first_poll {
                Poll::Ready(result) => result,
                Poll::Pending => request.await,
            });
        }
        for result in results {
            match result {
                Ok(check) => check(),
                Err(error) => panic!("{error}"),
            }
        }
    }

    fn push<T: Send + 'c>(
        mut self,
        request: impl Future<Output = Result<T, Error>> + Send + 'c,
        check: impl FnOnce(&T) + Send + 'c,
    ) -> Self {
        self.requests.push(Box::pin(async move {
            let response = request.await?;
            Ok(Box::new(move || check(&response)) as Check<'c>)
        }));
        self
    }
}

impl Drop for When<'_> {
    fn drop(&mut self) {
        if !self.has_run && !std::thread::panicking() {
            let count = self.requests.len();
            panic!(
                "`when` at {} never ran its {count} requests: add `.then_assert_results().await`",
                self.at
            );
        }
    }
}
