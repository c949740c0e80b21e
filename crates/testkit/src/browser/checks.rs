//! What no page may have, whatever it shows: each fault in one line, so that a test lists them all.

use crate::browser::page::Page;
use crate::browser::wire::Error;
use std::cmp::Ordering;

impl Page<'_> {
    /// Faults of the page as it stands: those of [`Page::faults_at_once`], and what axe-core calls
    /// serious, which takes seconds where there are thousands of marks.
    ///
    /// # Errors
    /// When the browser does not answer.
    pub fn faults(&self) -> Result<Vec<String>, Error> {
        // Before axe-core, so that nothing of what it says or does is attributed to the page.
        let mut faults = self.faults_at_once()?;
        for found in self.axe()?.iter().filter(|found| found.is_serious()) {
            let places = found.places.join("; ");
            faults
                .push(format!("axe: {} ({}): {}: {places}", found.rule, found.impact, found.help));
        }
        Ok(faults)
    }

    /// Something said on the console, something fetched, wider than its window, a chart that has
    /// not the marks it tells of or no words. Folded parts are unfolded.
    ///
    /// # Errors
    /// When the browser does not answer.
    pub fn faults_at_once(&self) -> Result<Vec<String>, Error> {
        self.unfold()?;
        let mut faults = self.too_wide()?;
        faults.extend(self.chart_faults()?);
        let messages = self.messages();
        faults.extend(messages.console.iter().map(|words| format!("console: {words}")));
        faults.extend(messages.requests.iter().map(|url| format!("fetched: {url}")));
        Ok(faults)
    }

    /// Where the page is wider than its window.
    ///
    /// # Errors
    /// When the browser does not answer.
    pub fn too_wide(&self) -> Result<Vec<String>, Error> {
        let (width_px, out) = self.width_px()?;
        let window_px = self.window_px();
        let says = format!("wide: {width_px} px in {window_px} px: {}", out.join(", "));
        Ok((width_px > window_px).then_some(says).into_iter().collect())
    }

    fn chart_faults(&self) -> Result<Vec<String>, Error> {
        let mut faults = Vec::new();
        for chart in self.charts()? {
            let id = &chart.id;
            match chart.told {
                Some(told) if told == chart.marks => {}
                told => faults.push(format!("chart {id}: {} marks, told {told:?}", chart.marks)),
            }
            let nothing = [("title", &chart.title), ("description", &chart.description)];
            for (what, _) in nothing.iter().filter(|(_, words)| words.trim().is_empty()) {
                faults.push(format!("chart {id}: no {what}"));
            }
            if !chart.is_named {
                faults.push(format!("chart {id}: has no role and name for a screen reader"));
            }
        }
        Ok(faults)
    }

    /// Faults of a table that claims to be sortable: each heading is clicked twice.
    ///
    /// # Errors
    /// When a heading cannot be clicked.
    pub fn sorting_faults(&self, table: &str) -> Result<Vec<String>, Error> {
        let count = format!("document.querySelector('{table}').tHead.rows[0].cells.length");
        let columns = self.evaluate(&count)?.as_u64().unwrap_or_default();
        let mut faults = Vec::new();
        for column in (0..columns).filter_map(|column| usize::try_from(column).ok()) {
            let head = format!("{table} > thead > tr > th:nth-child({})", column + 1);
            let mut before = self.column(table, column)?;
            before.sort_unstable();
            for (asked, way) in [("ascending", Ordering::Less), ("descending", Ordering::Greater)] {
                self.click(&format!("{head} button"))?;
                let says = format!(
                    "[...document.querySelectorAll('{table} > thead > tr > th')]
                        .map(head => head.getAttribute('aria-sort') ?? 'none').join()"
                );
                let states = self.evaluate(&says)?;
                let states: Vec<&str> = states.as_str().unwrap_or_default().split(',').collect();
                let sorted = states.iter().filter(|state| **state != "none").count();
                if states.get(column) != Some(&asked) || sorted != 1 {
                    faults.push(format!("{head}: aria-sort is {states:?}, not {asked}"));
                }
                let mut cells = self.column(table, column)?;
                if let Some((first, second)) = out_of_order(&cells, way) {
                    faults.push(format!("{head}: `{second}` stands behind `{first}`, {asked}"));
                }
                cells.sort_unstable();
                if cells != before {
                    faults.push(format!("{head}: cells were lost or doubled"));
                }
            }
        }
        Ok(faults)
    }
}

/// The first two neighbours in the wrong order. Cells without a figure are last in both ways where
/// others have one; a column of words is compared by the numbers in them, as people do.
fn out_of_order(cells: &[String], way: Ordering) -> Option<(&String, &String)> {
    let figures: Vec<Option<f64>> =
        cells.iter().map(|cell| cell.replace(',', "").parse().ok()).collect();
    let is_figures = figures.iter().any(Option::is_some);
    let wrong = |at: usize| match (figures[at], figures[at + 1]) {
        (Some(first), Some(second)) => first.partial_cmp(&second) == Some(way.reverse()),
        (None, Some(_)) => true,
        (Some(_), None) => false,
        (None, None) if is_figures || cells[at] == "–" || cells[at + 1] == "–" => {
            cells[at] == "–" && cells[at + 1] != "–"
        }
        (None, None) => natural(&cells[at], &cells[at + 1]) == way.reverse(),
    };
    (0..cells.len().saturating_sub(1)).find(|&at| wrong(at)).map(|at| (&cells[at], &cells[at + 1]))
}

/// As people sort words: `block 9` before `block 10`, signs before figures before letters, whose
/// case does not count. Signs are not told apart.
fn natural(a: &str, b: &str) -> Ordering {
    pieces(a).cmp(&pieces(b))
}

/// What is compared of a text, one after the other: the kind of a piece, its number, its letter.
fn pieces(text: &str) -> Vec<(u8, u64, char)> {
    let mut pieces: Vec<(u8, u64, char)> = Vec::new();
    for letter in text.to_lowercase().chars() {
        match (letter.to_digit(10).map(u64::from), pieces.last_mut()) {
            (Some(digit), Some((2, number, _))) => {
                *number = number.saturating_mul(10).saturating_add(digit);
            }
            (Some(digit), _) => pieces.push((2, digit, ' ')),
            (None, _) if letter.is_whitespace() => pieces.push((0, 0, ' ')),
            (None, _) if !letter.is_alphanumeric() => pieces.push((1, 0, ' ')),
            (None, _) => pieces.push((3, 0, letter)),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong<'a>(cells: &[&'a str], way: Ordering) -> Option<(String, String)> {
        let cells: Vec<String> = cells.iter().map(|cell: &&'a str| (*cell).to_owned()).collect();
        out_of_order(&cells, way).map(|(a, b)| (a.clone(), b.clone()))
    }

    #[test]
    fn figures_are_compared_as_figures() {
        assert_eq!(wrong(&["2", "10", "1e3", "–", "–"], Ordering::Less), None);
        assert_eq!(wrong(&["10", "2", "–"], Ordering::Greater), None);
        assert!(wrong(&["10", "2"], Ordering::Less).is_some());
        assert!(wrong(&["–", "2"], Ordering::Less).is_some());
        assert!(wrong(&["2", "10"], Ordering::Greater).is_some());
    }

    #[test]
    fn words_are_compared_with_the_numbers_in_them() {
        assert_eq!(wrong(&["block 2", "block 10", "Ext4", "xfs"], Ordering::Less), None);
        assert_eq!(wrong(&["xfs", "ext4", "–"], Ordering::Greater), None);
        assert_eq!(wrong(&["<script>", "4 KiB", "16 KiB", "a label"], Ordering::Less), None);
        assert!(wrong(&["block 10", "block 2"], Ordering::Less).is_some());
        assert!(wrong(&["ext4", "xfs"], Ordering::Greater).is_some());
    }
}
