//! The table `[run]`, and the options of the command line that take the place of its keys.

use crate::JsonSchema;
use crate::error::{At, PlanError, Span};
use crate::experiment::{RunSettings, VerdictSettings};
use crate::overrides::Overrides;
use crate::question::{self, QuestionPattern};
use crate::text;
use crate::values::{Blocks, Budget, Get as _, List, Period, Read, Share, Within, Word, texts};
use crate::words::word;
use fsarena_model::clock::Clock;
use fsarena_model::run::RateStyle;
use fsarena_model::verdict::{CAPS, Rule};
use serde::Deserialize;

/// `[run]`: how it is run.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Keys {
    /// A fixed number of blocks, in place of `cap`; "4..12" for as many as fit into the budget,
    /// by the time that blocks take.
    #[schemars(example = 3)]
    blocks: Option<Blocks>,
    /// Maximum number of blocks; decided on the way: 8, 12, 16, 24, 32, 48, 64 or 96.
    #[schemars(example = 32)]
    cap: Option<At<Within<0, { u32::MAX as u64 }>>>,
    /// Fixes the order of trials, of random reads and the contents.
    #[schemars(example = 2003)]
    seed: Option<Within<0, { i64::MAX as u64 }>>,
    /// Factor on the number of files in sets and the size of big files; `--scale` replaces it.
    #[schemars(example = 0.25)]
    scale: Option<At<f64>>,
    /// The clock that is compared.
    #[schemars(example = &"durable")]
    compare: Option<Word<Clock>>,
    /// Period of the time series; 0 ms for none.
    #[schemars(example = &"100 ms")]
    sample_period: Option<Read<Period>>,
    /// Read all contents again and compare, before a deletion or at the end.
    verify: Option<bool>,
    /// Trace the block requests of each timed phase, to account for every written byte.
    account: Option<bool>,
    /// How rates are shown.
    #[schemars(example = &"auto")]
    rate: Option<Word<RateStyle>>,
    /// What still counts as the same, above 0 and up to 100 %.
    #[schemars(example = &"5%")]
    margin: Option<At<Share>>,
    /// No block is begun that is not expected to end within it.
    #[schemars(example = &"30 min")]
    budget: Option<Read<Budget>>,
    /// The contender that all others are compared with: its label, or as written in `fs`.
    #[schemars(example = &"ext4")]
    baseline: Option<At<String>>,
    /// What is to be decided: WORKLOAD:PHASE, perhaps with :cpu, :written, :p99 or :time:CLOCK.
    #[schemars(example = &"small-files:create")]
    ask: Option<List<At<Read<Question>>>>,
    /// The question whose answer comes first.
    #[schemars(example = &"small-files:create")]
    headline: Option<At<Read<Question>>>,
    /// A block is run again where a hypervisor took more of the machine's time; none for never.
    #[schemars(example = &"20%")]
    steal_limit: Option<At<Share>>,
    /// A block is run again where other programs had so much more of the machine's time beside one
    /// contender than beside another; none for never.
    #[schemars(example = &"20%")]
    foreign_limit: Option<At<Share>>,
}

texts! {
    /// What is asked.
    Question: QuestionPattern = question::parse_pattern;
}

/// The settings that the keys of `[run]` make.
///
/// # Errors
/// The first value that is wrong, with its place.
pub(crate) fn settings(keys: Keys) -> Result<RunSettings, PlanError> {
    let plain = RunSettings::default();
    let at = |one: At<Read<Question>>| At::new(one.value.0, &one.place);
    let mut verdicts = VerdictSettings {
        budget_ns: keys.budget.map(|budget| budget.0),
        baseline: keys.baseline.map(|at| At::new(at.value.trim().to_owned(), &at.place)),
        ask: keys.ask.into_iter().flat_map(|asked| asked.0).map(at).collect(),
        headline: keys.headline.map(at),
        ..plain.verdicts
    };
    if let Some(margin) = &keys.margin {
        verdicts.margin = share(margin, "margin")?;
    }
    let limit = |limit: &At<Share>, kind: &str| match &limit.value {
        Share::Text(text) if text == "none" => Ok(None),
        _ => share(limit, kind).map(Some),
    };
    if let Some(written) = &keys.steal_limit {
        verdicts.steal_share = limit(written, "steal limit")?;
    }
    if let Some(written) = &keys.foreign_limit {
        verdicts.foreign_share = limit(written, "foreign limit")?;
    }
    let rule = match (keys.blocks, keys.cap) {
        (Some(_), Some(cap)) => {
            let remedy = "keep `blocks` for a fixed number, or `cap` for as many as it takes";
            return Err(PlanError::new(&cap.place, "`run.blocks` and `run.cap` together", remedy));
        }
        (Some(blocks), None) => Some(blocks.0),
        (None, Some(cap)) => Some(capped(cap.value.get(), &cap.place)?),
        (None, None) => None,
    };
    let scale = keys.scale.map(|scale| text::scale(scale.value, &scale.place)).transpose()?;
    Ok(RunSettings {
        rule,
        seed: keys.seed.map(|seed| seed.0),
        scale: scale.unwrap_or(plain.scale),
        compare: keys.compare.map_or(plain.compare, |clock| clock.0),
        sample_period_ns: keys.sample_period.map_or(plain.sample_period_ns, |period| period.0),
        verify: keys.verify.unwrap_or(plain.verify),
        account: keys.account.unwrap_or(plain.account),
        rate: keys.rate.map_or(plain.rate, |rate| rate.0),
        verdicts,
    })
}

/// A share of `kind` as text (`"5%"`) or as a number (`0.05`).
fn share(written: &At<Share>, kind: &str) -> Result<f64, PlanError> {
    match &written.value {
        Share::Text(text) => text::share(text, &written.place, kind),
        Share::Number(number) => text::share_of(*number, &written.place, kind),
    }
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

/// Puts the options of `overrides` over the keys.
///
/// `--runs` takes the place of a cap, and a number also of a budget that the file has: what was
/// asked for is carried out. Another list of questions takes a headline of the file with it.
///
/// # Errors
/// The first option that cannot be read; the error names it.
pub(crate) fn apply(run: &mut RunSettings, overrides: &Overrides) -> Result<(), PlanError> {
    if let Some(text) = &overrides.runs {
        let rule = text::blocks(text, &Span::Option("--runs"))?;
        if matches!(rule, Rule::Fixed { .. }) {
            run.verdicts.budget_ns = None;
        }
        run.rule = Some(rule);
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
        run.compare = word(text, &Span::Option("--compare"))?;
    }
    if let Some(text) = &overrides.sample_period {
        run.sample_period_ns = text::period(text, &Span::Option("--sample-period"))?;
    }
    if let Some(text) = &overrides.rate {
        run.rate = word(text, &Span::Option("--rate"))?;
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
