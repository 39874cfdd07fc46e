//! Requests and their checks written together: all are sent, in the order they
//! are written, and their results are checked in that order.
//!
//! A request cannot be written without its check, and what is written and not
//! run fails the test.

use std::panic::Location;
use std::pin::Pin;
use std::task::Poll;

use serde_json::Value;
use sparring_wire::RawJson;

use super::{Call, Client};
use crate::listed::{Prompts, ResourceTemplates, Resources, Tools};
use crate::{Error, Response};

/// A check whose answer has come.
type Check<'c> = Box<dyn FnOnce() + Send + 'c>;

/// A request, which is sent when it is first polled.
type Asked<'c> = Pin<Box<dyn Future<Output = Result<Check<'c>, Error>> + Send + 'c>>;

/// Requests to be made and how their results shall be.
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
/// Nor does, where warnings are errors, what is written and never run:
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
/// When it is dropped without being run; the message says where it was written.
#[must_use = "nothing is asked and nothing checked until `.then_assert_results().await`"]
pub struct When<'c> {
    client: &'c Client,
    asked: Vec<Asked<'c>>,
    at: &'static Location<'static>,
    ran: bool,
}

impl Client {
    /// Begins a list of requests with their checks.
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
        When { client: self, asked: Vec::new(), at: Location::caller(), ran: false }
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
        self.and(listed, check)
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
        self.and(listed, check)
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
        self.and(listed, check)
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
        self.and(listed, check)
    }

    /// Calls a tool, and checks its answer.
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

    /// Reads a resource, and checks the answer.
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

    /// Gets a prompt, and checks the answer.
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

    /// Makes any request, and checks the answer.
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

    /// Makes a request that was prepared, with a time of its own or a listener
    /// for progress, and checks the answer.
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
        self.and(async { call.await }, check)
    }

    /// Asks whether the server is there; an answer is all that is checked.
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
        self.and(pinged, |()| ())
    }

    /// Sends a notification, which has no answer.
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
        self.and(sent, |()| ())
    }

    /// Sends all requests, one after the other, without waiting for answers;
    /// waits for the answers; and checks them in the order they were written.
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
    /// When a check fails, at its line; when a request has no answer, with the
    /// line where it was written; and when nothing was to be asked.
    pub async fn then_assert_results(mut self) {
        self.ran = true;
        let mut asked = std::mem::take(&mut self.asked);
        assert!(!asked.is_empty(), "nothing was to be asked and checked at {}", self.at);
        let mut answered = Vec::new();
        for request in &mut asked {
            // Polled once in the order of writing, which sends it.
            answered.push(std::future::poll_fn(|cx| Poll::Ready(request.as_mut().poll(cx))).await);
        }
        let mut results = Vec::new();
        for (answered, request) in answered.into_iter().zip(asked) {
            results.push(match answered {
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

    fn and<T: Send + 'c>(
        mut self,
        asked: impl Future<Output = Result<T, Error>> + Send + 'c,
        check: impl FnOnce(&T) + Send + 'c,
    ) -> Self {
        self.asked.push(Box::pin(async move {
            let answer = asked.await?;
            Ok(Box::new(move || check(&answer)) as Check<'c>)
        }));
        self
    }
}

impl Drop for When<'_> {
    fn drop(&mut self) {
        if !self.ran && !std::thread::panicking() {
            let count = self.asked.len();
            panic!(
                "{count} checks were written at {} and never run: `.then_assert_results().await` is \
                 missing",
                self.at
            );
        }
    }
}
