//! What was done in crash runs, all rows, what has to be known with them, and how they are read: as
//! text and on pages.

use crate::render::text;
use crate::section::Block;
use crate::table::Table;
use crate::text::{MIN_WIDTH, Style, wrap};

/// The tables of a campaign.
pub(crate) struct CampaignTables {
    /// What was done: how each line begins, and its words.
    pub(crate) above: Vec<(String, String)>,
    pub(crate) grid: Table,
    /// What has to be known with its rows, likewise.
    pub(crate) notes: Vec<(String, String)>,
    /// How its columns are read.
    pub(crate) read: &'static str,
    /// What few runs mean.
    pub(crate) few_runs: Option<&'static str>,
}

impl CampaignTables {
    pub(crate) fn text(&self, width: usize, style: Style) -> String {
        let width = width.max(MIN_WIDTH);
        let lines = |lines: &[(String, String)]| -> String {
            lines.iter().map(|(lead, words)| wrap(lead, words, width)).collect()
        };
        let mut out = lines(&self.above);
        out.push('\n');
        out.push_str(&text::listing(&self.grid, width, style));
        out.push_str(&lines(&self.notes));
        out.push('\n');
        out.push_str(&wrap("", self.read, width));
        out.extend(self.few_runs.map(|few| wrap("mind: ", few, width)));
        out
    }

    pub(crate) fn blocks(self) -> Vec<Block> {
        let joined = |(lead, words): (String, String)| format!("{}{words}", lead.trim_start());
        let above: Vec<String> = self.above.into_iter().map(joined).collect();
        let notes: Vec<String> = self.notes.into_iter().map(joined).collect();
        let mut blocks: Vec<Block> = above.into_iter().map(Block::Text).collect();
        blocks.extend([Block::Table(self.grid.sortable()), Block::List(None, notes)]);
        blocks.extend(self.few_runs.map(|few| Block::Note(format!("Mind: {few}."))));
        blocks.push(Block::Note(self.read.to_owned()));
        blocks
    }
}
