//! Keys and the mouse, as the browser gets them from a person.

use crate::browser::page::{Page, SETTLED};
use crate::browser::wire::Error;
use serde_json::{Value, json};

/// What has the focus, in words that tell it from others.
const FOCUSED: &str = "(() => {
    const at = document.activeElement;
    if (!at || at === document.body) return '';
    window.__stops ??= new Map();
    if (!window.__stops.has(at)) window.__stops.set(at, window.__stops.size);
    const place = at.closest('nav, table, figure, section, header, footer, main, body');
    const name = place && place !== at ? place.tagName.toLowerCase() + ' ' : '';
    return name + at.tagName.toLowerCase() + ' ' + window.__stops.get(at);
})()";

/// The next Tab goes to the first stop, wherever was clicked before.
const FROM_THE_TOP: &str = "(() => {
    window.__stops = new Map();
    const top = document.createElement('span');
    top.tabIndex = -1;
    document.body.prepend(top);
    top.focus();
    top.remove();
    scrollTo(0, 0);
})()";

impl Page<'_> {
    /// Presses Tab from the top of the page until the focus has left it, and says where it stopped.
    /// The way of at most `stops_max` is cut off.
    ///
    /// # Errors
    /// When the focus comes back to where it was without having left the page: a trap.
    pub fn tab_way(&self, stops_max: usize) -> Result<Vec<String>, Error> {
        self.evaluate(FROM_THE_TOP)?;
        let mut way: Vec<String> = Vec::new();
        while way.len() < stops_max {
            self.press("Tab")?;
            let stop = self.evaluate(FOCUSED)?.as_str().unwrap_or_default().to_owned();
            if stop.is_empty() {
                break;
            }
            if way.contains(&stop) {
                return Err(Error::Script(format!("a trap for the keyboard at `{stop}`")));
            }
            way.push(stop);
        }
        Ok(way)
    }

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
