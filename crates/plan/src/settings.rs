//! The table `[run]`, and the options of the command line that take the place of its keys.

use crate::error::PlanError;
use crate::experiment::{RunSettings, VerdictSettings};
use crate::overrides::Overrides;
use crate::question::{self, QuestionPattern};
use crate::span::{At, Span};
use crate::text;
use crate::tree::{Node, Table};
use fsarena_model::verdict::{CAPS, Rule};

/// Most blocks of a RUN.
const MAX_BLOCKS: u64 = 1000;
const KEYS: [&str; 14] = [
    "blocks",
    "cap",
    "seed",
    "compare",
    "sample_period",
    "verify",
    "account",
    "rate",
    "margin",
    "budget",
    "baseline",
    "ask",
    "headline",
    "steal_limit",
];
const QUESTION: &str = "\"small-files:create\"";

/// Reads `[run]`.
///
/// # Errors
/// The first key or value that is wrong, with its place.
pub(crate) fn read(table: &Table<'_>) -> Result<RunSettings, PlanError> {
    table.only(&KEYS)?;
    let mut run = RunSettings { rule: rule(table)?, ..RunSettings::default() };
    if let Some(node) = table.get("seed") {
        run.seed = Some(node.integer(0..=i64::MAX as u64, "2003")?);
    }
    if let Some(node) = table.get("compare") {
        run.compare = text::clock(node.text("\"durable\"")?, &node.place)?;
    }
    if let Some(node) = table.get("sample_period") {
        run.sample_period_ns = text::period(node.text("\"100 ms\"")?, &node.place)?;
    }
    if let Some(node) = table.get("verify") {
        run.verify = node.flag()?;
    }
    if let Some(node) = table.get("account") {
        run.account = node.flag()?;
    }
    if let Some(node) = table.get("rate") {
        run.rate = text::rate(node.text("\"auto\"")?, &node.place)?;
    }
    verdicts(table, &mut run.verdicts)?;
    Ok(run)
}

fn rule(table: &Table<'_>) -> Result<Option<Rule>, PlanError> {
    let (blocks, cap) = (table.get("blocks"), table.get("cap"));
    if let (Some(_), Some(node)) = (&blocks, &cap) {
        let remedy = "keep `blocks` for a fixed number, or `cap` for as many as it takes";
        return Err(node.error("`run.blocks` and `run.cap` together", remedy));
    }
    if let Some(node) = blocks {
        let blocks = node.integer(1..=MAX_BLOCKS, "3")?;
        let blocks = u32::try_from(blocks).expect("the range is within u32");
        return Ok(Some(Rule::Fixed { blocks }));
    }
    let Some(node) = cap else { return Ok(None) };
    let cap = node.integer(0..=u64::from(u32::MAX), "32")?;
    capped(u32::try_from(cap).expect("the range is within u32"), &node.place).map(Some)
}

/// A rule with looks; only some caps have levels for them.
fn capped(cap: u32, place: &Span) -> Result<Rule, PlanError> {
    if CAPS.contains(&cap) {
        return Ok(Rule::Looks { cap });
    }
    let caps = CAPS.map(|cap| cap.to_string()).join(", ");
    let what = format!("at most {cap} blocks");
    Err(PlanError::new(place, what, format!("a cap is one of {caps}")))
}

fn verdicts(table: &Table<'_>, settings: &mut VerdictSettings) -> Result<(), PlanError> {
    if let Some(node) = table.get("margin") {
        settings.margin = share(&node, "\"5%\"", "margin")?;
    }
    if let Some(node) = table.get("budget") {
        settings.budget_ns = Some(text::budget(node.text("\"30 min\"")?, &node.place)?);
    }
    if let Some(node) = table.get("baseline") {
        settings.baseline = Some(At::new(node.text("\"ext4\"")?.trim().to_owned(), &node.place));
    }
    if let Some(node) = table.get("ask") {
        let read = |node: &Node<'_>| question(node);
        settings.ask = node.list(QUESTION)?.iter().map(read).collect::<Result<_, _>>()?;
    }
    if let Some(node) = table.get("headline") {
        settings.headline = Some(question(&node)?);
    }
    if let Some(node) = table.get("steal_limit") {
        settings.steal_share = match node.text("\"20%\"") {
            Ok("none") => None,
            _ => Some(share(&node, "\"20%\"", "steal limit")?),
        };
    }
    Ok(())
}

fn question(node: &Node<'_>) -> Result<At<QuestionPattern>, PlanError> {
    Ok(At::new(question::parse_pattern(node.text(QUESTION)?, &node.place)?, &node.place))
}

/// A share as text (`"5%"`) or as a number (`0.05`).
fn share(node: &Node<'_>, example: &str, kind: &str) -> Result<f64, PlanError> {
    match node.text(example) {
        Ok(written) => text::share(written, &node.place, kind),
        Err(_) => text::share_of(node.decimal(example)?, &node.place, kind),
    }
}

/// Puts the options of `overrides` over the keys.
///
/// `--runs` takes the place of a cap, and of a budget that the file has: a number that was asked
/// for is carried out. Another list of questions takes a headline of the file with it.
///
/// # Errors
/// The first option that cannot be read; the error names it.
pub(crate) fn apply(run: &mut RunSettings, overrides: &Overrides) -> Result<(), PlanError> {
    if let Some(blocks) = overrides.runs {
        if blocks == 0 || u64::from(blocks) > MAX_BLOCKS {
            let what = format!("{blocks} blocks");
            let remedy = format!("use 1 to {MAX_BLOCKS}");
            return Err(PlanError::new(&Span::Option("--runs"), what, remedy));
        }
        run.rule = Some(Rule::Fixed { blocks });
        run.verdicts.budget_ns = None;
    }
    if let Some(cap) = overrides.cap {
        let place = Span::Option("--cap");
        if overrides.runs.is_some() {
            let remedy = "keep --runs for a fixed number, or --cap for as many as it takes";
            return Err(PlanError::new(&place, "--runs and --cap together", remedy));
        }
        run.rule = Some(capped(cap, &place)?);
    }
    if let Some(seed) = overrides.seed {
        if i64::try_from(seed).is_err() {
            let remedy = format!("use up to {}, the largest number of a TOML file", i64::MAX);
            return Err(PlanError::new(&Span::Option("--seed"), format!("seed {seed}"), remedy));
        }
        run.seed = Some(seed);
    }
    run.verify |= overrides.verify;
    run.account |= overrides.account;
    if let Some(text) = &overrides.compare {
        run.compare = text::clock(text, &Span::Option("--compare"))?;
    }
    if let Some(text) = &overrides.sample_period {
        run.sample_period_ns = text::period(text, &Span::Option("--sample-period"))?;
    }
    if let Some(text) = &overrides.rate {
        run.rate = text::rate(text, &Span::Option("--rate"))?;
    }
    apply_verdicts(&mut run.verdicts, overrides)
}

fn apply_verdicts(verdicts: &mut VerdictSettings, overrides: &Overrides) -> Result<(), PlanError> {
    if let Some(text) = &overrides.margin {
        verdicts.margin = text::share(text, &Span::Option("--margin"), "margin")?;
    }
    if let Some(text) = &overrides.budget {
        verdicts.budget_ns = Some(text::budget(text, &Span::Option("--budget"))?);
    }
    if let Some(text) = &overrides.baseline {
        let place = Span::Option("--baseline");
        verdicts.baseline = Some(At::new(text.trim().to_owned(), &place));
    }
    if let Some(text) = &overrides.ask {
        let place = Span::Option("--ask");
        let read = |part| Ok(At::new(question::parse_pattern(part, &place)?, &place));
        verdicts.ask =
            text::pieces(text, &place)?.into_iter().map(read).collect::<Result<_, _>>()?;
        verdicts.headline = None;
    }
    if let Some(text) = &overrides.headline {
        let place = Span::Option("--headline");
        verdicts.headline = Some(At::new(question::parse_pattern(text, &place)?, &place));
    }
    Ok(())
}
