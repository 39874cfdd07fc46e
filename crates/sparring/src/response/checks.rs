//! The checks of a response. A failure names the line of the test, the expected and
//! the found value, and the failure context.

use serde_json::Value;
use sparring_wire::json::{parse_completion, parse_value};

use crate::diff::{self, Comparison};
use crate::{Content, Response};

impl Response {
    /// Checks that the response is a result without `isError`. The result of a tool that
    /// the test has listed must conform to the tool's output schema, unless
    /// [`ignore_output_schemas`](crate::ClientBuilder::ignore_output_schemas) is
    /// set.
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
    /// When it is an error.
    #[track_caller]
    pub fn assert_success(&self) -> &Self {
        if !self.success() {
            self.fail(format_args!("expected success\nfound: {}", self.describe()));
        }
        self.expect_output_schema();
        self
    }

    /// Checks that the response is a success and its [`text`](Response::text) equals
    /// this one.
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
    /// When it differs. The message has the difference.
    #[track_caller]
    pub fn assert_text(&self, expected: &str) -> &Self {
        self.expect_success(format_args!("text {expected:?}"));
        let text = self.text();
        if text != expected {
            self.fail(format_args!("another text\n{}", diff::render_text_diff(expected, &text)));
        }
        self
    }

    /// Checks that the response is a success and its [`text`](Response::text) matches.
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
    /// When it does not match. The message names the failed conditions.
    #[track_caller]
    pub fn assert_content(&self, expected: impl Into<Content>) -> &Self {
        let expected = expected.into();
        self.expect_success(&expected);
        if let Err(mismatch) = expected.matches(&self.text()) {
            self.fail(mismatch);
        }
        self
    }

    /// Checks that the tool returned `isError`, and that its text matches.
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
    /// When the tool succeeded, when the response is a JSON-RPC error, and when the
    /// text does not match.
    #[track_caller]
    pub fn assert_tool_error(&self, expected: impl Into<Content>) -> &Self {
        let expected = expected.into();
        if !self.is_error() {
            let found = self.describe();
            self.fail(format_args!("expected a tool error: {expected}\nfound: {found}"));
        }
        if let Err(mismatch) = expected.matches(&self.text()) {
            self.fail(format_args!("the tool error differs\n{mismatch}"));
        }
        self
    }

    /// Checks that the response is a JSON-RPC error with this code.
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
    /// When the response is a result, even one with `isError`, and when the code
    /// differs.
    #[track_caller]
    pub fn assert_error_code(&self, code: i64) -> &Self {
        if self.error_code() != Some(code) {
            self.fail(format_args!("expected error {code}\nfound: {}", self.describe()));
        }
        self
    }

    /// Checks that the response is a JSON-RPC error with this code, and that its
    /// message matches.
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
    /// When the response is a result, or the code or the message differs.
    #[track_caller]
    pub fn assert_error(&self, code: i64, message: impl Into<Content>) -> &Self {
        self.assert_error_code(code);
        let found = self.error_message().unwrap_or_default();
        if let Err(mismatch) = message.into().matches(&found) {
            self.fail(format_args!("the message of error {code} differs\n{mismatch}"));
        }
        self
    }

    /// Checks that the response is a success and its structured content equals this.
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
    /// When it differs. The message lists the paths.
    #[track_caller]
    pub fn assert_structured(&self, expected: Value) -> &Self {
        self.expect_json(
            "structured content",
            &expected,
            Self::to_value(self.structured()),
            Comparison::Exact,
        )
    }

    /// Checks that the response is a success and its structured content contains this;
    /// objects may have more members.
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
    /// When it differs. The message lists the paths.
    #[track_caller]
    pub fn assert_structured_has(&self, expected: Value) -> &Self {
        self.expect_json(
            "structured content",
            &expected,
            Self::to_value(self.structured()),
            Comparison::Subset,
        )
    }

    /// Checks that the response is a success and its [`text`](Response::text) is JSON
    /// that equals this value.
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
    /// When it differs. The message lists the paths.
    #[track_caller]
    pub fn assert_json(&self, expected: Value) -> &Self {
        self.expect_text_as_json(&expected, Comparison::Exact)
    }

    /// Checks that the response is a success and its [`text`](Response::text) is JSON
    /// that contains this value; objects may have more members.
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
    /// When it differs. The message lists the paths.
    #[track_caller]
    pub fn assert_json_has(&self, expected: Value) -> &Self {
        self.expect_text_as_json(&expected, Comparison::Subset)
    }

    /// Checks that the whole result equals this.
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
    /// When it differs. The message lists the paths.
    #[track_caller]
    pub fn assert_result(&self, expected: Value) -> &Self {
        self.expect_result(&expected, Comparison::Exact)
    }

    /// Checks that the result contains this; objects may have more members.
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
    /// When it differs. The message lists the paths.
    #[track_caller]
    pub fn assert_result_has(&self, expected: Value) -> &Self {
        self.expect_result(&expected, Comparison::Subset)
    }

    /// Checks the result with a matcher of suites and mocks: a map matches a subset,
    /// `{"gt": 10}` a number above ten.
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
    /// When it does not match, and when the matcher is invalid.
    #[cfg(feature = "mock")]
    #[track_caller]
    pub fn assert_matches(&self, expected: Value) -> &Self {
        let matcher = match sparring_script::Matcher::from_json(&expected) {
            Ok(matcher) => matcher,
            Err(problems) => panic!("{problems}"),
        };
        let result = Self::to_value(self.result());
        if result.is_none() {
            self.fail(format_args!("expected a result\nfound: {}", self.describe()));
        }
        let mismatches = matcher.check(result.as_ref());
        if !mismatches.is_empty() {
            let lines: Vec<String> = mismatches.iter().map(|it| format!("  {it}")).collect();
            self.fail(format_args!("the result does not match\n{}", lines.join("\n")));
        }
        self
    }

    /// Checks the completion values, in their order.
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
    /// When they differ, or the response has none.
    #[track_caller]
    pub fn assert_completions<'a>(&self, expected: impl IntoIterator<Item = &'a str>) -> &Self {
        let expected: Vec<&str> = expected.into_iter().collect();
        let completion = self.result().and_then(|result| result.get("completion"));
        let Some(completion) = completion.and_then(parse_completion) else {
            let found = self.describe();
            self.fail(format_args!("expected completions: {expected:?}\nfound: {found}"));
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
            self.fail(format_args!("expected {expected}\nfound: {}", self.describe()));
        }
        self.expect_output_schema();
    }

    /// Fails if the result does not conform to the output schema of its tool.
    #[track_caller]
    fn expect_output_schema(&self) {
        let lines: String = self.violations.iter().map(|it| format!("\n  {it}")).collect();
        if !lines.is_empty() {
            self.fail(format_args!(
                "the result does not conform to the output schema of its tool{lines}"
            ));
        }
    }

    #[track_caller]
    fn expect_json(
        &self,
        what: &str,
        expected: &Value,
        found: Option<Value>,
        comparison: Comparison,
    ) -> &Self {
        let rendered = diff::render_short(expected);
        self.expect_success(format_args!("{what} {rendered}"));
        let Some(found) = found else {
            let found = self.describe();
            self.fail(format_args!("expected {what} {rendered}\nfound: {found}"));
        };
        if let Some(differences) = diff::render_json_diff(expected, &found, comparison) {
            self.fail(format_args!(
                "{what} differs\n{differences}\nfound: {}",
                diff::render_short(&found)
            ));
        }
        self
    }

    #[track_caller]
    fn expect_text_as_json(&self, expected: &Value, comparison: Comparison) -> &Self {
        let found = parse_value(self.text().as_bytes()).ok();
        self.expect_json("the text as JSON", expected, found, comparison)
    }

    #[track_caller]
    fn expect_result(&self, expected: &Value, comparison: Comparison) -> &Self {
        let Some(found) = Self::to_value(self.result()) else {
            let (expected, found) = (diff::render_short(expected), self.describe());
            self.fail(format_args!("expected result {expected}\nfound: {found}"));
        };
        if let Some(differences) = diff::render_json_diff(expected, &found, comparison) {
            self.fail(format_args!(
                "the result differs\n{differences}\nfound: {}",
                diff::render_short(&found)
            ));
        }
        self
    }
}
