//! The way of the Tab key through a page.

use crate::{Error, Page};

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
}
