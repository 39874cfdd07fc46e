//! Controls a report in a browser tab.

use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::chromium::Chromium;

/// A browser tab that shows a file.
pub(crate) struct Page {
    browser: Chromium,
    session: String,
    url: String,
    folder: tempfile::TempDir,
    loaded: usize,
}

impl Page {
    /// Opens a report in a new browser. Returns `None` if no browser is installed.
    pub(crate) fn open(html: &str) -> Option<Page> {
        let mut page = Page::blank()?;
        page.load(html, "");
        page.wait_until("document.documentElement.dataset.ready === 'true'");
        Some(page)
    }

    /// Opens an empty tab of 1440 × 900 pixels with light colours.
    pub(crate) fn blank() -> Option<Page> {
        let mut browser = Chromium::start()?;
        let made = browser.ask(None, "Target.createTarget", json!({"url": "about:blank"}));
        let target = json!({"targetId": made["targetId"], "flatten": true});
        let attached = browser.ask(None, "Target.attachToTarget", target);
        let session = attached["sessionId"].as_str().unwrap().to_owned();
        let folder = tempfile::tempdir().unwrap();
        let mut page = Page { browser, session, url: String::new(), folder, loaded: 0 };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            page.ask(&format!("{domain}.enable"), json!({}));
        }
        page.size(1440, 900);
        page.prefer("light");
        Some(page)
    }

    /// Loads a report at this address within it.
    pub(crate) fn load(&mut self, html: &str, hash: &str) {
        self.loaded += 1;
        let file = self.folder.path().join(format!("report-{}.html", self.loaded));
        fs::write(&file, html).unwrap();
        self.url = format!("file://{}", file.display());
        self.browser.events.clear();
        self.ask("Page.navigate", json!({"url": format!("{}{hash}", self.url)}));
        self.browser.wait_for("Page.loadEventFired");
    }

    /// Reloads the file.
    pub(crate) fn reload(&mut self) {
        self.browser.events.retain(|event| event["method"] != "Page.loadEventFired");
        self.ask("Page.reload", json!({}));
        self.browser.wait_for("Page.loadEventFired");
        self.wait_until("document.documentElement.dataset.ready === 'true'");
    }

    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        self.browser.ask(Some(&self.session), method, params)
    }

    /// Evaluates an expression in the page.
    pub(crate) fn eval(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let mut response = self.ask("Runtime.evaluate", params);
        let exception = &response["exceptionDetails"];
        assert!(exception.is_null(), "{expression}: {exception}");
        response["result"]["value"].take()
    }

    /// Evaluates an expression in the page to a string.
    pub(crate) fn text(&mut self, expression: &str) -> String {
        match self.eval(expression) {
            Value::String(text) => text,
            other => panic!("{expression} is {other}"),
        }
    }

    /// Returns the text of the first element that matches.
    pub(crate) fn text_of(&mut self, selector: &str) -> String {
        self.texts(selector).into_iter().next().unwrap_or_else(|| panic!("no {selector}"))
    }

    /// Returns the texts of all elements that match.
    pub(crate) fn texts(&mut self, selector: &str) -> Vec<String> {
        self.each(selector, "it.textContent")
    }

    /// Evaluates an expression with `it` as each element that matches.
    pub(crate) fn each<T: DeserializeOwned>(&mut self, selector: &str, expression: &str) -> Vec<T> {
        let all = format!(
            "Array.from(document.querySelectorAll({}), (it) => {expression})",
            json!(selector)
        );
        serde_json::from_value(self.eval(&all)).unwrap_or_else(|error| panic!("{all}: {error}"))
    }

    /// Returns the number of elements that match.
    pub(crate) fn count(&mut self, selector: &str) -> usize {
        self.each::<Value>(selector, "0").len()
    }

    /// Waits until an expression in the page is true.
    pub(crate) fn wait_until(&mut self, condition: &str) {
        let waiting = format!(
            "new Promise((done, late) => {{ const end = performance.now() + 20000; \
             const look = () => ({condition}) ? done(true) : performance.now() > end \
             ? late(new Error('never: ' + {})) : setTimeout(look, 10); look(); }})",
            json!(condition)
        );
        self.eval(&waiting);
    }

    /// Presses a key.
    pub(crate) fn press(&mut self, key: &str) {
        let (code, text) = match key {
            "Enter" => (13, "\r"),
            "Escape" => (27, ""),
            "Tab" => (9, ""),
            "ArrowDown" => (40, ""),
            "ArrowUp" => (38, ""),
            "ArrowLeft" => (37, ""),
            "ArrowRight" => (39, ""),
            letter => (i32::from(letter.to_ascii_uppercase().as_bytes()[0]), letter),
        };
        let kind = if text.is_empty() { "rawKeyDown" } else { "keyDown" };
        let mut params = json!({"type": kind, "key": key, "windowsVirtualKeyCode": code});
        if !text.is_empty() {
            params["text"] = json!(text);
        }
        self.ask("Input.dispatchKeyEvent", params);
        let up = json!({"type": "keyUp", "key": key, "windowsVirtualKeyCode": code});
        self.ask("Input.dispatchKeyEvent", up);
    }

    /// Types a text key by key.
    pub(crate) fn type_text(&mut self, text: &str) {
        for letter in text.chars() {
            self.press(&letter.to_string());
        }
    }

    /// Clicks on the middle of the first element that matches.
    pub(crate) fn click(&mut self, selector: &str) {
        let place = self.eval(&format!(
            "(() => {{ const it = document.querySelector({}); \
             it.scrollIntoView({{block: 'center'}}); const box = it.getBoundingClientRect(); \
             return [box.x + box.width / 2, box.y + box.height / 2]; }})()",
            json!(selector)
        ));
        for kind in ["mousePressed", "mouseReleased"] {
            let params = json!({
                "type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1,
            });
            self.ask("Input.dispatchMouseEvent", params);
        }
    }

    pub(crate) fn size(&mut self, width: u32, height: u32) {
        let params =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.ask("Emulation.setDeviceMetricsOverride", params);
    }

    /// Sets the preferred colour scheme of the system: `light` or `dark`.
    pub(crate) fn prefer(&mut self, scheme: &str) {
        let feature = json!({"name": "prefers-color-scheme", "value": scheme});
        self.ask("Emulation.setEmulatedMedia", json!({"features": [feature]}));
    }

    /// Writes a screenshot to `target/screenshots`.
    pub(crate) fn screenshot(&mut self, name: &str) {
        let shot = self.ask("Page.captureScreenshot", json!({"format": "png"}));
        let bytes = STANDARD.decode(shot["data"].as_str().unwrap()).unwrap();
        assert!(bytes.starts_with(b"\x89PNG"), "{name}: not a picture");
        let folder = screenshots();
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{name}.png")), bytes).unwrap();
    }

    /// Returns the errors of the page, and its requests for anything but itself.
    pub(crate) fn trouble(&mut self) -> Vec<String> {
        // A response arrives after all events that preceded it.
        self.eval("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))");
        let url = self.url.clone();
        let events = self.browser.events.iter();
        events
            .filter_map(|event| describe_trouble(&event["method"], &event["params"], &url))
            .collect()
    }
}

fn describe_trouble(method: &Value, params: &Value, own: &str) -> Option<String> {
    match method.as_str()? {
        "Runtime.exceptionThrown" => Some(params["exceptionDetails"].to_string()),
        "Runtime.consoleAPICalled" | "Log.entryAdded" => Some(params.to_string()),
        "Network.requestWillBeSent" => {
            let asked = params["request"]["url"].as_str()?;
            (asked != own).then(|| format!("asked for {asked}"))
        }
        _ => None,
    }
}

/// Returns the folder for screenshots in the target folder.
fn screenshots() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let target = test.ancestors().nth(3).expect("target/PROFILE/deps/it");
    Path::new(target).join("screenshots")
}
