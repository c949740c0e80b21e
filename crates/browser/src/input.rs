//! Keys and the mouse, as the browser gets them from a person.

use crate::page::SETTLED;
use crate::{Error, Page};
use serde_json::{Value, json};

impl Page<'_> {
    /// Presses and lets go of a key: `Tab`, `Shift+Tab`, `Enter`, `Escape`, ` `, `ArrowDown`.
    ///
    /// # Errors
    /// When the browser does not answer.
    pub fn press(&self, key: &str) -> Result<(), Error> {
        let (modifiers, key) = key.strip_prefix("Shift+").map_or((0, key), |key| (8, key));
        let (code, number, text) = match key {
            "Tab" => ("Tab", 9, ""),
            "Enter" => ("Enter", 13, "\r"),
            "Escape" => ("Escape", 27, ""),
            " " => ("Space", 32, " "),
            "ArrowDown" => ("ArrowDown", 40, ""),
            other => return Err(Error::Script(format!("no key is called `{other}` here"))),
        };
        let event = |kind: &str, text: &str| {
            json!({
                "type": kind,
                "key": key,
                "code": code,
                "windowsVirtualKeyCode": number,
                "modifiers": modifiers,
                "text": text,
            })
        };
        let down = if text.is_empty() { "rawKeyDown" } else { "keyDown" };
        self.call("Input.dispatchKeyEvent", event(down, text))?;
        self.call("Input.dispatchKeyEvent", event("keyUp", ""))?;
        Ok(())
    }

    /// Moves the mouse onto the middle of the first element that the selector finds.
    ///
    /// # Errors
    /// When there is none, or it has no place on the page.
    pub fn hover(&self, selector: &str) -> Result<(), Error> {
        let (x, y) = self.middle(selector)?;
        self.mouse("mouseMoved", x, y)
    }

    /// Clicks on it.
    ///
    /// # Errors
    /// When there is none, or it has no place on the page.
    pub fn click(&self, selector: &str) -> Result<(), Error> {
        let (x, y) = self.middle(selector)?;
        self.mouse("mouseMoved", x, y)?;
        self.mouse("mousePressed", x, y)?;
        self.mouse("mouseReleased", x, y)
    }

    fn mouse(&self, kind: &str, x: f64, y: f64) -> Result<(), Error> {
        let pressed = kind != "mouseMoved";
        let params = json!({
            "type": kind,
            "x": x,
            "y": y,
            "button": if pressed { "left" } else { "none" },
            "clickCount": u8::from(pressed),
        });
        self.call("Input.dispatchMouseEvent", params)?;
        Ok(())
    }

    /// Where its middle is in the window, px, after it was scrolled into view.
    fn middle(&self, selector: &str) -> Result<(f64, f64), Error> {
        let found = self.evaluate(&format!(
            "(async () => {{
                const found = document.querySelector({});
                if (!found) return null;
                found.scrollIntoView({{ block: 'center', inline: 'center', behavior: 'instant' }});
                // What the page does when it was scrolled is done before the mouse comes.
                await {SETTLED};
                const box = found.getBoundingClientRect();
                return box.width || box.height
                    ? [box.x + box.width / 2, box.y + box.height / 2] : null;
            }})()",
            Value::from(selector)
        ))?;
        let at = |index: usize| found[index].as_f64();
        at(0).zip(at(1)).ok_or_else(|| Error::Script(format!("`{selector}` is not to be seen")))
    }
}
