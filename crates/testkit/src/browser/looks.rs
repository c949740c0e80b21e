//! What a person sees: width, charts and their marks, folded parts, tables and their order.

use crate::browser::page::Page;
use crate::browser::wire::Error;
use serde_json::Value;

/// A chart as it stands in the page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chart {
    pub id: String,
    /// Elements with the class `mark`.
    pub marks: usize,
    /// How many it says it has (`data-marks`).
    pub told: Option<usize>,
    pub title: String,
    pub description: String,
    /// It takes part in the page as a picture, or as a group of marks, that has a name.
    pub is_named: bool,
}

/// A part that a reader may fold away.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Folded {
    pub summary: String,
    /// Whether what it holds is shown as the page stands.
    pub shown: bool,
}

const CHARTS: &str = "[...document.querySelectorAll('svg.chart')].map(chart => [
    chart.id || (chart.closest('figure')?.id ?? '').replace(/^fig-/, ''),
    chart.querySelectorAll('.mark').length,
    chart.dataset.marks === undefined ? null : Number(chart.dataset.marks),
    chart.querySelector('title')?.textContent ?? '',
    chart.querySelector('desc')?.textContent ?? '',
    ['img', 'group'].includes(chart.getAttribute('role')) &&
        (chart.getAttribute('aria-labelledby') ?? '').split(' ').filter(id => id)
            .some(id => document.getElementById(id)?.textContent.trim()),
])";

/// Elements that reach out of the window and are not inside something that scrolls by itself.
const WIDE: &str = "(() => {
    const width = document.documentElement.clientWidth;
    const scrolls = at => { for (; at && at !== document.body; at = at.parentElement) {
        if (['auto', 'scroll', 'hidden', 'clip'].includes(getComputedStyle(at).overflowX)
            || at instanceof SVGElement) return true;
    } return false; };
    const name = at => at.tagName.toLowerCase() + (at.id ? '#' + at.id : '')
        + (typeof at.className === 'string' && at.className ? '.' + at.className : '');
    return [document.scrollingElement.scrollWidth, [...document.body.querySelectorAll('*')]
        .filter(at => at.getBoundingClientRect().right > width + 0.5
            && !scrolls(at.parentElement)).slice(0, 5).map(name)];
})()";

const FOLDED: &str = "[...document.querySelectorAll('details')].map(fold => {
    const walker = document.createTreeWalker(fold, NodeFilter.SHOW_TEXT);
    let shown = true;
    for (let node; (node = walker.nextNode());) {
        if (!node.data.trim() || node.parentElement.closest('summary,script,style,template,desc,title'))
            continue;
        const range = document.createRange();
        range.selectNodeContents(node);
        shown &&= node.parentElement.checkVisibility() && range.getClientRects().length > 0;
        if (!shown) break;
    }
    return [fold.querySelector('summary')?.textContent.trim() ?? '', shown];
})";

impl Page<'_> {
    /// Every chart, in the order of the page.
    ///
    /// # Errors
    /// When the browser does not answer.
    pub fn charts(&self) -> Result<Vec<Chart>, Error> {
        let found = self.evaluate(CHARTS)?;
        let count = |value: &Value| value.as_u64().and_then(|count| usize::try_from(count).ok());
        let chart = |found: &Value| Chart {
            id: text(&found[0]),
            marks: count(&found[1]).unwrap_or_default(),
            told: count(&found[2]),
            title: text(&found[3]),
            description: text(&found[4]),
            is_named: found[5] == true,
        };
        Ok(list(&found).map(chart).collect())
    }

    /// How wide the page is, px, and the first elements that reach out of the window.
    ///
    /// # Errors
    /// When the browser does not answer.
    pub fn width_px(&self) -> Result<(u32, Vec<String>), Error> {
        let found = self.evaluate(WIDE)?;
        let width_px = found[0].as_u64().and_then(|width| u32::try_from(width).ok());
        Ok((width_px.unwrap_or(u32::MAX), list(&found[1]).map(text).collect()))
    }

    /// Every part that can be folded, outer ones before inner ones.
    ///
    /// # Errors
    /// When the browser does not answer.
    pub fn folded(&self) -> Result<Vec<Folded>, Error> {
        let found = self.evaluate(FOLDED)?;
        let fold = |found: &Value| Folded { summary: text(&found[0]), shown: found[1] == true };
        Ok(list(&found).map(fold).collect())
    }

    /// Unfolds everything, so that it can be looked into.
    ///
    /// # Errors
    /// When the browser does not answer.
    pub fn unfold(&self) -> Result<(), Error> {
        self.evaluate(
            "document.querySelectorAll('details').forEach(fold => { fold.open = true; })",
        )?;
        Ok(())
    }

    /// The text of a page, shown or folded, without its scripts and styles.
    ///
    /// # Errors
    /// When the browser does not answer.
    pub fn text(&self) -> Result<String, Error> {
        let found = self.evaluate(
            "[...document.body.querySelectorAll('*')].filter(at => !at.closest('script,style'))
                .flatMap(at => [...at.childNodes].filter(node => node.nodeType === 3)
                    .map(node => node.data.trim()).filter(words => words)).join('\\n')",
        )?;
        Ok(text(&found))
    }

    /// One column of a table, in the order shown: of each cell its `data-value`, or else its text.
    ///
    /// # Errors
    /// When the browser does not answer.
    pub fn column(&self, table: &str, column: usize) -> Result<Vec<String>, Error> {
        let found = self.evaluate(&format!(
            "[...document.querySelector({}).tBodies].flatMap(body => [...body.rows])
                .map(row => row.cells[{column}])
                .map(cell => cell?.dataset.value ?? cell?.textContent.trim() ?? '')",
            Value::from(table)
        ))?;
        Ok(list(&found).map(text).collect())
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
