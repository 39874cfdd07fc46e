//! The checks of an answer. Each fails at the line of the test that made it, and
//! says what was expected, what came, and where it took place.

use serde_json::Value;
use sparring_wire::json::{completion as completion_of, tree};

use super::Response;
use crate::Content;
use crate::diff::{self, Extent};

impl Response {
    /// Checks that there is a result, and that the tool did not say it failed.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("now", json!({})).wait()?.assert_success();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// When there is an error instead; the message shows it, and the scene.
    #[track_caller]
    pub fn assert_success(&self) -> &Self {
        if !self.success() {
            self.fail(format_args!("expected success\nfound: {}", self.came()));
        }
        self
    }

    /// Checks that it succeeded and that its whole [`text`](Response::text) is
    /// this, to the letter.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("now", json!({})).wait()?.assert_text("noon");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// When it is another; the message shows how they differ.
    #[track_caller]
    pub fn assert_text(&self, expected: &str) -> &Self {
        self.expect_success(format_args!("the text {expected:?}"));
        let text = self.text();
        if text != expected {
            self.fail(format_args!("another text\n{}", diff::texts(expected, &text)));
        }
        self
    }

    /// Checks that it succeeded and what its [`text`](Response::text) is like.
    ///
    /// ```
    /// # use sparring::{Client, Content, MockServer};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: 'it is Noon'}]", ".")?;
    /// # let client = Client::in_memory(mock).await?;
    /// let response = client.call_tool("now", serde_json::json!({})).await?;
    /// response.assert_content("noon").assert_content(Content::regex(r"^it is \w+$"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    /// When it does not fit; the message says which part, and how the text begins.
    #[track_caller]
    pub fn assert_content(&self, expected: impl Into<Content>) -> &Self {
        let expected = expected.into();
        self.expect_success(&expected);
        if let Err(mismatch) = expected.matches(&self.text()) {
            self.fail(mismatch);
        }
        self
    }

    /// Checks that the tool itself says that it failed (`isError`), and what it
    /// says is like.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: now, text: Connection refused, is_error: true}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("now", json!({})).wait()?.assert_tool_error("connection refused");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// When the tool succeeded, when there is a JSON-RPC error instead, and when
    /// the text does not fit.
    #[track_caller]
    pub fn assert_tool_error(&self, expected: impl Into<Content>) -> &Self {
        let expected = expected.into();
        if !self.is_error() {
            let came = self.came();
            self.fail(format_args!("expected a failure of the tool: {expected}\nfound: {came}"));
        }
        if let Err(mismatch) = expected.matches(&self.text()) {
            self.fail(format_args!("the tool failed, but otherwise\n{mismatch}"));
        }
        self
    }

    /// Checks that there is a JSON-RPC error of this code.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("never", json!({})).wait()?.assert_error_code(-32602);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// When there is a result, also one in which a tool says that it failed, and
    /// when the code is another.
    #[track_caller]
    pub fn assert_error_code(&self, code: i64) -> &Self {
        if self.error_code() != Some(code) {
            self.fail(format_args!("expected the error {code}\nfound: {}", self.came()));
        }
        self
    }

    /// Checks that there is a JSON-RPC error of this code, and what its message
    /// is like.
    ///
    /// ```
    /// # use sparring::{Client, MockServer};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
    /// # let client = Client::in_memory(mock).await?;
    /// let response = client.call_tool("never", serde_json::json!({})).await?;
    /// response.assert_error(-32602, "never");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    /// When there is none, its code is another, or its message does not fit.
    #[track_caller]
    pub fn assert_error(&self, code: i64, message: impl Into<Content>) -> &Self {
        self.assert_error_code(code);
        let said = self.error_message().unwrap_or_default();
        if let Err(mismatch) = message.into().matches(&said) {
            self.fail(format_args!("the error {code} says something else\n{mismatch}"));
        }
        self
    }

    /// Checks that it succeeded and that its structured content is this.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: now, structured: {h: 12, m: 30}}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("now", json!({})).wait()?.assert_structured(json!({"m": 30, "h": 12}));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// When it is not; the message says at which paths they differ.
    #[track_caller]
    pub fn assert_structured(&self, expected: Value) -> &Self {
        self.expect_json(
            "structured content",
            &expected,
            Self::tree(self.structured()),
            Extent::Whole,
        )
    }

    /// Checks that it succeeded and that its structured content has this, in
    /// objects whatever else they have.
    ///
    /// ```
    /// # use sparring::{Client, MockServer};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let mock = MockServer::from_yaml("tools: [{name: now, structured: {h: 12, m: 30}}]", ".")?;
    /// # let client = Client::in_memory(mock).await?;
    /// let response = client.call_tool("now", serde_json::json!({})).await?;
    /// response.assert_structured_has(serde_json::json!({"h": 12}));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    /// When it does not; the message says at which paths they differ.
    #[track_caller]
    pub fn assert_structured_has(&self, expected: Value) -> &Self {
        self.expect_json(
            "structured content",
            &expected,
            Self::tree(self.structured()),
            Extent::Subset,
        )
    }

    /// Checks that it succeeded and that its [`text`](Response::text) is JSON
    /// that says this, however it is spelled.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: now, json: {h: 12, m: 30}}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("now", json!({})).wait()?.assert_json(json!({"m": 30, "h": 12}));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// When it does not; the message says at which paths they differ.
    #[track_caller]
    pub fn assert_json(&self, expected: Value) -> &Self {
        self.expect_text_as_json(&expected, Extent::Whole)
    }

    /// Checks that it succeeded and that its [`text`](Response::text) is JSON
    /// that has this, in objects whatever else they have.
    ///
    /// ```
    /// # use sparring::{Client, MockServer};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let mock = MockServer::from_yaml("tools: [{name: now, json: {h: 12, m: 30}}]", ".")?;
    /// # let client = Client::in_memory(mock).await?;
    /// let response = client.call_tool("now", serde_json::json!({})).await?;
    /// response.assert_json_has(serde_json::json!({"h": 12}));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    /// When it does not; the message says at which paths they differ.
    #[track_caller]
    pub fn assert_json_has(&self, expected: Value) -> &Self {
        self.expect_text_as_json(&expected, Extent::Subset)
    }

    /// Checks that the whole result is this.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer, Revision};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
    /// let client = Client::builder().revision(Revision::V2025_11_25).in_memory(mock).wait()?;
    /// let response = client.call_tool("now", json!({})).wait()?;
    /// response.assert_result(json!({"content": [{"type": "text", "text": "noon"}]}));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// When it is not; the message says at which paths they differ.
    #[track_caller]
    pub fn assert_result(&self, expected: Value) -> &Self {
        self.expect_result(&expected, Extent::Whole)
    }

    /// Checks that the result has this, in objects whatever else they have.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// let response = client.call_tool("now", json!({})).wait()?;
    /// response.assert_result_has(json!({"content": [{"text": "noon"}]}));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// When it does not; the message says at which paths they differ.
    #[track_caller]
    pub fn assert_result_has(&self, expected: Value) -> &Self {
        self.expect_result(&expected, Extent::Subset)
    }

    /// Checks the result by a matcher in the words of suites and mocks: a map is
    /// a subset, `{"gt": 10}` a number above ten.
    ///
    /// ```
    /// # use sparring::{Client, MockServer};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let mock = MockServer::from_yaml("tools: [{name: now, structured: {h: 12}}]", ".")?;
    /// # let client = Client::in_memory(mock).await?;
    /// let response = client.call_tool("now", serde_json::json!({})).await?;
    /// response.assert_matches(serde_json::json!({"structuredContent": {"h": {"gt": 11}}}));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    /// When it does not fit, and when a matcher in it is wrong.
    #[cfg(feature = "mock")]
    #[track_caller]
    pub fn assert_matches(&self, expected: Value) -> &Self {
        let matcher = match sparring_script::Matcher::of(&expected) {
            Ok(matcher) => matcher,
            Err(problems) => panic!("{problems}"),
        };
        let result = Self::tree(self.result());
        if result.is_none() {
            self.fail(format_args!("expected a result\nfound: {}", self.came()));
        }
        let mismatches = matcher.check(result.as_ref());
        if !mismatches.is_empty() {
            let told: Vec<String> = mismatches.iter().map(|it| format!("  {it}")).collect();
            self.fail(format_args!("the result does not fit\n{}", told.join("\n")));
        }
        self
    }

    /// Checks the values that were offered as completions, in their order.
    ///
    /// ```
    /// # use sparring::{Client, MockServer};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let mock = MockServer::from_yaml(
    /// #     "{prompts: [{name: trip, arguments: [{name: city}], text: go}], \
    /// #      completions: [{prompt: trip, argument: city, values: [Oslo, Paris]}]}",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).await?;
    /// let trip = serde_json::json!({"type": "ref/prompt", "name": "trip"});
    /// client.complete(trip, "city", "O").await?.assert_completions(["Oslo"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    /// When they are others, or none.
    #[track_caller]
    pub fn assert_completions<'a>(&self, expected: impl IntoIterator<Item = &'a str>) -> &Self {
        let expected: Vec<&str> = expected.into_iter().collect();
        let completion = self.result().and_then(|result| result.get("completion"));
        let Some(completion) = completion.and_then(completion_of) else {
            let came = self.came();
            self.fail(format_args!("expected completions: {expected:?}\nfound: {came}"));
        };
        if completion.values != expected {
            let found = completion.values;
            self.fail(format_args!("expected completions: {expected:?}\nfound: {found:?}"));
        }
        self
    }

    #[track_caller]
    fn expect_success(&self, expected: impl std::fmt::Display) {
        if !self.success() {
            self.fail(format_args!("expected {expected}\nfound: {}", self.came()));
        }
    }

    #[track_caller]
    fn expect_json(
        &self,
        what: &str,
        expected: &Value,
        found: Option<Value>,
        extent: Extent,
    ) -> &Self {
        let wanted = diff::short(expected);
        self.expect_success(format_args!("{what} {wanted}"));
        let Some(found) = found else {
            let came = self.came();
            self.fail(format_args!("expected {what} {wanted}\nfound: {came}"));
        };
        if let Some(told) = diff::values(expected, &found, extent) {
            self.fail(format_args!("{what} differs\n{told}\nfound: {}", diff::short(&found)));
        }
        self
    }

    #[track_caller]
    fn expect_text_as_json(&self, expected: &Value, extent: Extent) -> &Self {
        let found = tree(self.text().as_bytes()).ok();
        self.expect_json("the text as JSON", expected, found, extent)
    }

    #[track_caller]
    fn expect_result(&self, expected: &Value, extent: Extent) -> &Self {
        let Some(found) = Self::tree(self.result()) else {
            let (wanted, came) = (diff::short(expected), self.came());
            self.fail(format_args!("expected the result {wanted}\nfound: {came}"));
        };
        if let Some(told) = diff::values(expected, &found, extent) {
            self.fail(format_args!("the result differs\n{told}\nfound: {}", diff::short(&found)));
        }
        self
    }
}
