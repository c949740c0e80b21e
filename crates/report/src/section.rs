//! A section as it is made once, for `show`, Markdown and the page: blocks in their order.
//!
//! Knows nothing of how it is shown (`render/`).

use crate::table::Table;
use fsarena_chart::Svg;
use maud::Markup;

/// A section of a RUN; without blocks it has nothing to show and is left out everywhere.
#[derive(Clone, Debug, Default)]
pub(crate) struct Section {
    /// How its tables are read; once for all of them.
    pub(crate) legend: String,
    pub(crate) blocks: Vec<Block>,
}

impl Section {
    /// Without anything to show.
    pub(crate) fn none() -> Self {
        Self::default()
    }

    /// Of blocks alone.
    pub(crate) fn new(blocks: Vec<Block>) -> Self {
        Self { legend: String::new(), blocks }
    }

    /// With how its tables are read.
    pub(crate) fn legend(self, legend: impl Into<String>) -> Self {
        Self { legend: legend.into(), ..self }
    }

    /// Its tables, in their order.
    pub(crate) fn tables(&self) -> Vec<&Table> {
        self.blocks.iter().flat_map(Block::tables).collect()
    }

    /// Its charts, in their order.
    pub(crate) fn charts(&self) -> Vec<&Svg> {
        self.blocks.iter().flat_map(Block::charts).collect()
    }
}

/// A part of a section.
#[derive(Clone, Debug)]
pub(crate) enum Block {
    /// A heading below the section's.
    Heading(String),
    Table(Table),
    /// A drawing and its caption; pages alone have it.
    Chart(Svg, String),
    /// Drawings next to each other where there is room.
    Charts(Vec<(Svg, String)>),
    /// A paragraph.
    Text(String),
    /// What has to be known with the figures.
    Note(String),
    /// What a reader must not overlook.
    Warning(String),
    /// Why there is nothing.
    Missing(String),
    /// Sentences, without or with whose they are; nothing without items.
    List(Option<Owner>, Vec<String>),
    /// Names and values; pages alone have it.
    Facts(Vec<(String, String)>),
    /// What is closed on a page until asked for, under a summary; text has all of it.
    Fold(String, Vec<Block>),
    /// A table whose rows unfold; pages alone have it.
    Unfolding(Box<Unfolding>),
    /// What pages alone have.
    Html(Markup),
}

impl Block {
    fn tables(&self) -> Vec<&Table> {
        match self {
            Self::Table(table) => vec![table],
            Self::Fold(_, blocks) => blocks.iter().flat_map(Self::tables).collect(),
            _ => Vec::new(),
        }
    }

    fn charts(&self) -> Vec<&Svg> {
        match self {
            Self::Chart(svg, _) => vec![svg],
            Self::Charts(all) => all.iter().map(|(svg, _)| svg).collect(),
            Self::Fold(_, blocks) => blocks.iter().flat_map(Self::charts).collect(),
            Self::Unfolding(table) => table.charts(),
            _ => Vec::new(),
        }
    }
}

/// A table whose rows unfold into blocks.
#[derive(Clone, Debug)]
pub(crate) struct Unfolding {
    pub(crate) caption: String,
    /// The row of headings.
    pub(crate) head: Markup,
    /// How many columns it has.
    pub(crate) columns: usize,
    pub(crate) groups: Vec<UnfoldingGroup>,
}

/// Rows under a heading that unfolds too.
#[derive(Clone, Debug)]
pub(crate) struct UnfoldingGroup {
    /// Its heading goes over all columns.
    pub(crate) head: UnfoldingRow,
    pub(crate) rows: Vec<UnfoldingRow>,
}

#[derive(Clone, Debug)]
pub(crate) struct UnfoldingRow {
    pub(crate) name: Markup,
    /// Its cells but the first.
    pub(crate) cells: Markup,
    /// What it unfolds into; a row without any does not.
    pub(crate) details: Vec<Block>,
}

impl Unfolding {
    fn charts(&self) -> Vec<&Svg> {
        let rows =
            self.groups.iter().flat_map(|group| std::iter::once(&group.head).chain(&group.rows));
        rows.flat_map(|row| &row.details).flat_map(Block::charts).collect()
    }
}

/// Whose sentences a list has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Owner {
    pub(crate) label: String,
    /// Index into the plan's contenders, where it is one.
    pub(crate) contender: Option<usize>,
}

impl Owner {
    /// Anything but a contender.
    pub(crate) fn named(label: impl Into<String>) -> Self {
        Self { label: label.into(), contender: None }
    }

    /// A contender.
    pub(crate) fn contender(contender: usize, label: impl Into<String>) -> Self {
        Self { label: label.into(), contender: Some(contender) }
    }
}
