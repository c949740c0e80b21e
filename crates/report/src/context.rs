//! What sections are made from: a RUN with its views, and how much of it is to be shown.

use crate::article::OwnPhase;
use crate::section::Block;
use crate::text::{Detail, Style};
use fsarena_chart::Svg;
use fsarena_model::contender::DeviceLevel;
use fsarena_model::record::TrialRecord;
use fsarena_model::run::{RunHeader, RunSession};
use fsarena_model::work::Op;
use fsarena_reference::Article;
use fsarena_study::{CrashRunsView, Study};
use fsarena_verdict::Verdicts;

/// Name of every experiment that options of the command line alone described
/// (`fsarena_plan::from_options`): its title says what it is.
pub(crate) const AD_HOC: &str = "command-line";

/// A RUN as sections take it: what was read from the database, and what was computed from it. What
/// is not to be passed on was taken out before.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// Number in the database.
    pub id: i64,
    /// What was planned.
    pub header: &'a RunHeader,
    /// Uninterrupted pieces.
    pub sessions: &'a [RunSession],
    /// Latest record of each trial.
    pub records: &'a [TrialRecord],
    /// Views.
    pub study: &'a Study,
    /// Verdicts; none where nothing was asked.
    pub verdicts: Option<&'a Verdicts>,
    /// What its power cuts have shown; none where there are none.
    pub crash: Option<&'a CrashRunsView>,
    /// The article that its experiment repeats.
    pub article: Option<Repeats<'a>>,
}

/// An article, and what repeats it.
#[derive(Clone, Copy, Debug)]
pub struct Repeats<'a> {
    /// The article.
    pub article: &'a Article,
    /// Which phase of ours repeats which test of it.
    pub phases: &'a [OwnPhase],
    /// In what the experiment does otherwise, a line each.
    pub notes: &'a [String],
}

impl<'a> Run<'a> {
    /// The program that measured it, where that is not fsarena: it was brought in.
    pub(crate) fn measured_by(&self) -> Option<&'a str> {
        let contenders = self.header.plan.contenders.iter();
        let mut programs = contenders.map(|contender| match &contender.levels.device {
            DeviceLevel::Elsewhere { program, .. } => Some(program.as_str()),
            _ => None,
        });
        let first = programs.next()??;
        programs.all(|program| program.is_some()).then_some(first)
    }

    /// Whether it only looked on while another application was at work: there is nothing to
    /// compare, and no answer.
    pub(crate) fn is_watched(&self) -> bool {
        let mut phases = self.header.plan.workloads.iter().flat_map(|work| &work.phases);
        phases.any(|phase| phase.op == Op::Watched)
    }
}

/// A RUN, and how it is to be shown.
#[derive(Debug)]
pub(crate) struct SectionContext<'a> {
    pub(crate) run: &'a Run<'a>,
    /// What ids of this RUN begin with: unique on the page.
    pub(crate) prefix: String,
    pub(crate) detail: Detail,
    pub(crate) style: Style,
    /// Whether charts are drawn: not for text.
    pub(crate) has_charts: bool,
}

impl<'a> SectionContext<'a> {
    /// The RUN that is number `at` on a page, from 0.
    pub(crate) fn new(at: usize, run: &'a Run<'a>) -> Self {
        let (prefix, style) = (format!("r{}", at + 1), Style::default());
        Self { run, prefix, detail: Detail::Full, style, has_charts: true }
    }

    /// The RUN as text.
    pub(crate) fn as_text(run: &'a Run<'a>, detail: Detail, style: Style) -> Self {
        Self { run, prefix: String::new(), detail, style, has_charts: false }
    }

    /// Drawings with their captions, where they are wanted.
    pub(crate) fn charts(&self, draw: impl FnOnce() -> Vec<(Svg, String)>) -> Option<Block> {
        let mut all = if self.has_charts { draw() } else { Vec::new() };
        match all.len() {
            0 => None,
            1 => all.pop().map(|(svg, caption)| Block::Chart(svg, caption)),
            _ => Some(Block::Charts(all)),
        }
    }
}
