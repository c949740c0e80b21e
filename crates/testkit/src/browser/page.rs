//! A page: opened under given conditions, asked, photographed, printed.

use crate::browser::chromium::Browser;
use crate::browser::wire::Error;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use std::cell::Cell;
use std::path::Path;

/// Taller pictures are cut off: no texture of the browser is larger, px.
const PICTURE_MAX_PX: f64 = 16_000.0;
/// Two frames, so that what a script or a style began is done.
pub(crate) const SETTLED: &str =
    "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))";

/// Under which conditions a page is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct View {
    /// Width of the window, px.
    pub width_px: u32,
    /// Height of the window, px.
    pub height_px: u32,
    /// `prefers-color-scheme: dark`.
    pub dark: bool,
    /// Scripts of the page run.
    pub script: bool,
}

impl View {
    /// A window of a desktop, light.
    pub const DESKTOP: Self = Self { width_px: 1280, height_px: 900, dark: false, script: true };
    /// A small telephone, light.
    pub const PHONE: Self = Self { width_px: 380, height_px: 760, dark: false, script: true };

    /// The same in the dark.
    #[must_use]
    pub fn dark(self) -> Self {
        Self { dark: true, ..self }
    }

    /// The same without scripts.
    #[must_use]
    pub fn without_script(self) -> Self {
        Self { script: false, ..self }
    }
}

/// What the browser has reported about a page.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PageMessages {
    /// Messages on the console, exceptions, and entries of the browser's log.
    pub console: Vec<String>,
    /// Addresses that were asked for, besides the file itself and what lies inside it (`data:`,
    /// `blob:`).
    pub requests: Vec<String>,
}

/// An open page.
#[derive(Debug)]
pub struct Page<'b> {
    browser: &'b Browser,
    target: String,
    session: String,
    url: String,
    /// How wide its window is. The page does not know: without a viewport of its own, a telephone
    /// shows it as if the window were wider.
    window_px: Cell<u32>,
}

impl Browser {
    /// Opens a file in a page of its own.
    ///
    /// # Errors
    /// When the file or the browser does not answer.
    pub fn open(&self, file: &Path, view: View) -> Result<Page<'_>, Error> {
        Page::open(self, file, view)
    }
}

impl<'b> Page<'b> {
    fn open(browser: &'b Browser, file: &Path, view: View) -> Result<Self, Error> {
        let blank = json!({ "url": "about:blank" });
        let target = text(&browser.call(None, "Target.createTarget", blank)?, "targetId")?;
        let flat = json!({ "targetId": target, "flatten": true });
        let session = text(&browser.call(None, "Target.attachToTarget", flat)?, "sessionId")?;
        let url = format!("file://{}", escaped(file));
        let page = Self { browser, target, session, url, window_px: Cell::new(0) };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            page.call(&format!("{domain}.enable"), json!({}))?;
        }
        page.view(view)?;
        let went = page.call("Page.navigate", json!({ "url": page.url }))?;
        if let Some(why) = went["errorText"].as_str() {
            let asked = format!("open {}", file.display());
            return Err(Error::Refused { asked, why: why.to_owned() });
        }
        browser.wait(&page.session, "Page.loadEventFired")?;
        page.settle(view)?;
        Ok(page)
    }

    /// Changes the conditions of the open page; its script stays as it was begun.
    ///
    /// # Errors
    /// When the browser does not answer.
    pub fn view(&self, view: View) -> Result<(), Error> {
        let size = json!({
            "width": view.width_px,
            "height": view.height_px,
            "deviceScaleFactor": 1,
            // A viewport that a page must fit into, as a telephone has it.
            "mobile": view.width_px < 600,
        });
        self.call("Emulation.setDeviceMetricsOverride", size)?;
        self.window_px.set(view.width_px);
        self.media("screen", view.dark)?;
        self.call("Emulation.setScriptExecutionDisabled", json!({ "value": !view.script }))?;
        Ok(())
    }

    /// Shows the page as on `screen` or in `print`.
    ///
    /// # Errors
    /// When the browser does not answer.
    pub fn media(&self, kind: &str, dark: bool) -> Result<(), Error> {
        let scheme = if dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call("Emulation.setEmulatedMedia", json!({ "media": kind, "features": features }))?;
        Ok(())
    }

    fn settle(&self, view: View) -> Result<(), Error> {
        // Without scripts no promise is ever kept.
        if view.script {
            self.evaluate(SETTLED)?;
        }
        Ok(())
    }

    /// The value of an expression in the page; of a promise, what it is kept with.
    ///
    /// # Errors
    /// When it throws.
    pub fn evaluate(&self, expression: &str) -> Result<Value, Error> {
        let params = json!({
            "expression": expression,
            "awaitPromise": true,
            "returnByValue": true,
        });
        let mut answer = self.call("Runtime.evaluate", params)?;
        let threw = &answer["exceptionDetails"];
        if !threw.is_null() {
            let thrown = threw["exception"]["description"].as_str();
            let why = thrown.or(threw["text"].as_str()).unwrap_or("without a reason");
            return Err(Error::Script(why.to_owned()));
        }
        Ok(answer["result"]["value"].take())
    }

    /// What the browser has reported since the page was opened, or since it was last asked.
    #[must_use]
    pub fn messages(&self) -> PageMessages {
        let mut messages = PageMessages::default();
        for event in self.browser.events(&self.session) {
            let params = &event["params"];
            match event["method"].as_str().unwrap_or_default() {
                "Runtime.consoleAPICalled" => messages.console.push(console(params)),
                "Runtime.exceptionThrown" => {
                    let details = &params["exceptionDetails"];
                    let thrown = details["exception"]["description"].as_str();
                    let words = thrown.or(details["text"].as_str()).unwrap_or_default();
                    messages.console.push(format!("exception: {words}"));
                }
                "Log.entryAdded" => {
                    let entry = &params["entry"];
                    let words = entry["text"].as_str().unwrap_or_default();
                    messages.console.push(format!("log: {words} {}", plain(&entry["url"])));
                }
                "Network.requestWillBeSent" => {
                    messages.requests.push(plain(&params["request"]["url"]))
                }
                "Network.webSocketCreated" => messages.requests.push(plain(&params["url"])),
                _ => {}
            }
        }
        let inside =
            |url: &String| *url == self.url || url.starts_with("data:") || url.starts_with("blob:");
        messages.requests.retain(|url| !inside(url));
        messages
    }

    /// A picture of the whole page, or of its upper part where it is very long, as PNG.
    ///
    /// # Errors
    /// When the browser does not answer.
    pub fn picture(&self) -> Result<Vec<u8>, Error> {
        let asked = "Page.getLayoutMetrics";
        let metrics = self.call(asked, json!({}))?;
        let side = |name: &str| {
            let length = metrics["cssContentSize"][name].as_f64();
            length.ok_or_else(|| Error::Answer { asked: asked.to_owned(), lacks: name.to_owned() })
        };
        let (width, height) = (side("width")?, side("height")?.min(PICTURE_MAX_PX));
        let clip = json!({ "x": 0, "y": 0, "width": width, "height": height, "scale": 1 });
        let params = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
        self.bytes("Page.captureScreenshot", params)
    }

    /// The page as it would be printed on A4, as PDF.
    ///
    /// # Errors
    /// When the browser does not answer.
    pub fn print(&self) -> Result<Vec<u8>, Error> {
        let params = json!({ "paperWidth": 8.27, "paperHeight": 11.69, "printBackground": false });
        self.bytes("Page.printToPDF", params)
    }

    fn bytes(&self, asked: &str, params: Value) -> Result<Vec<u8>, Error> {
        let answer = self.call(asked, params)?;
        let data = answer["data"].as_str().and_then(|data| BASE64_STANDARD.decode(data).ok());
        data.ok_or_else(|| Error::Answer { asked: asked.to_owned(), lacks: "data".to_owned() })
    }

    /// Width of its window, px.
    pub(crate) fn window_px(&self) -> u32 {
        self.window_px.get()
    }

    pub(crate) fn call(&self, method: &str, params: Value) -> Result<Value, Error> {
        self.browser.call(Some(&self.session), method, params)
    }
}

impl Drop for Page<'_> {
    fn drop(&mut self) {
        // A browser that has ended has no page left to close.
        let close = json!({ "targetId": self.target });
        let _ = self.browser.call(None, "Target.closeTarget", close);
    }
}

/// The words of a call such as `console.error("so", 3)`.
fn console(params: &Value) -> String {
    let kind = plain(&params["type"]);
    let args = params["args"].as_array().map(Vec::as_slice).unwrap_or_default();
    let words: Vec<String> = args
        .iter()
        .map(|arg| arg.get("value").or(arg.get("description")).map(plain).unwrap_or_default())
        .collect();
    format!("{kind}: {}", words.join(" "))
}

/// A string without its quotes, anything else as JSON.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn text(answer: &Value, name: &str) -> Result<String, Error> {
    let found = answer[name].as_str().map(str::to_owned);
    found.ok_or_else(|| Error::Answer { asked: "Target".to_owned(), lacks: name.to_owned() })
}

/// An absolute path as it stands in a URL.
fn escaped(file: &Path) -> String {
    let whole = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let mut url = String::new();
    for byte in whole.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => url.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => url.push(char::from(*byte)),
            byte => url.push_str(&format!("%{byte:02X}")),
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_as_urls() {
        assert_eq!(escaped(Path::new("/a/b-c_1.html")), "/a/b-c_1.html");
        assert_eq!(escaped(Path::new("/a b/ü#?%.html")), "/a%20b/%C3%BC%23%3F%25.html");
    }

    #[test]
    fn calls_of_the_console() {
        let params = json!({
            "type": "error",
            "args": [{ "value": "so" }, { "value": 3 }, { "description": "Error: no" }],
        });
        assert_eq!(console(&params), "error: so 3 Error: no");
    }
}
