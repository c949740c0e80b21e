//! Footnotes on rows and cells, explained below the table: under which conditions a
//! figure was not measured as asked. What a row says in two kinds of table is worded here once.

use crate::format::{cache, count};
use crate::text::wrap;
use fsarena_model::record::CacheState;
use fsarena_model::units::Bytes;
use fsarena_study::{MemoryView, PhaseRow};

/// Notes under a table, each text once, with its mark.
#[derive(Default)]
pub(crate) struct Footnotes(Vec<String>);

impl Footnotes {
    /// `text` with a mark for each of these notes behind it.
    pub(crate) fn annotate(&mut self, mut text: String, notes: Vec<String>) -> String {
        for note in notes {
            text.push(' ');
            text.push_str(&self.mark(note));
        }
        text
    }

    /// The mark of this note.
    fn mark(&mut self, note: String) -> String {
        let at = self.0.iter().position(|known| *known == note).unwrap_or_else(|| {
            self.0.push(note);
            self.0.len() - 1
        });
        name(at)
    }

    /// The notes with their footnotes, in lines of at most `width` columns.
    pub(crate) fn render(&self, width: usize) -> String {
        let line = |(at, text): (usize, &String)| wrap(&format!("{} ", name(at)), text, width);
        self.0.iter().enumerate().map(line).collect()
    }

    /// The notes with their footnotes, each as it is.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.iter().enumerate().map(|(at, text)| format!("{} {text}", name(at))).collect()
    }
}

/// `[a]` to `[z]`, then numbers.
fn name(at: usize) -> String {
    match u8::try_from(at) {
        Ok(letter @ 0..26) => format!("[{}]", char::from(b'a' + letter)),
        _ => format!("[{}]", at + 1),
    }
}

/// Why a row is not cold, where cold was asked for or cannot be had.
pub(crate) fn not_cold(row: &PhaseRow) -> Option<String> {
    match (&row.not_cold_because, row.cache) {
        (Some(why), CacheState::WarmByNature) => Some(format!("warm by nature: {why}")),
        (Some(why), state) => Some(format!("{}, though cold was asked for: {why}", cache(state))),
        (None, CacheState::WarmByNature) => Some("warm by nature".to_owned()),
        (None, _) => None,
    }
}

/// Why a row has not the memory limit that was asked for.
pub(crate) fn not_limited(row: &PhaseRow) -> Option<String> {
    match &row.memory {
        MemoryView::NotLimited { limit_bytes, reason } => {
            Some(format!("memory not limited to {}: {reason}", Bytes(*limit_bytes)))
        }
        MemoryView::Whole | MemoryView::Limited { .. } => None,
    }
}

/// How many trials were left out for what they did to the contents.
pub(crate) fn wrong_contents(trials: usize) -> Option<String> {
    let trials = (trials > 0).then(|| count(trials, "trial"))?;
    Some(format!("WRONG CONTENTS after {trials}: in no figure"))
}
