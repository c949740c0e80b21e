//! What `fsarena selftest honesty --power` found: what a quick RUN finds and which phase bounds it,
//! how long each rule takes, and what the noise is made of.

use super::families::{dash, head, percent, phase_name, titled, whole};
use crate::format::grouped;
use crate::render::text;
use crate::table::{Column, Table};
use crate::text::Style;
use crate::text::wrap;
use fsarena_honesty::families::{
    Covariate, EFFECTS, FamilyFigures, LAGS, POWER, PhaseFigures, Power, TO_BE_FOUND, Truth,
};
use fsarena_model::units::three_digits;

/// All tapes, each with what is found on it.
#[must_use]
pub fn power_tables(tapes: &[Power], width: usize, style: Style) -> String {
    let mut out = String::new();
    for tape in tapes {
        out.push_str(&head(&tape.tape, width, style));
        let mut section = |title: &str, table: String, words: &str| {
            out.push_str(&titled(title, width, style));
            out.push_str(&table);
            out.push_str(&wrap("", words, width));
        };
        section(&quick_title(tape), quick(tape, width), &quick_words(tape));
        let of_pairs = |phase: &PhaseFigures| phase.found.map(|found| found.share());
        let shares = by_rule(tape, width, |phase| {
            of_pairs(phase).map_or_else(dash, |share| format!("{:.0}", 100.0 * share))
        });
        section("Pairs found at +10 %, % of replays, by rule", shares, "");
        let seconds = by_rule(tape, width, |phase| three_digits(phase.seconds_median));
        section("Machine seconds to verdict at +10 %, by rule", seconds, SECONDS);
        section("What the noise is made of", noise(tape, width), NOISE);
        section("What covariates explain of it", covariates(tape, width), COVARIATES);
        out.push('\n');
    }
    out
}

fn quick_title(tape: &Power) -> String {
    let fitting = tape
        .budget_s
        .map_or_else(String::new, |budget_s| format!(" (as many as fit into {budget_s} s)"));
    format!(
        "The rule of quick: {} contenders, each against a baseline, {} s a block, one look after {} \
         blocks{fitting}",
        tape.contenders,
        three_digits(tape.block_s),
        tape.blocks,
    )
}

fn quick(tape: &Power, width: usize) -> String {
    let mut columns = vec![
        Column::text("phase"),
        Column::figure("ratio spreads %").narrow(),
        Column::figure("blocks for 80 %").narrow(),
    ];
    columns.extend(EFFECTS.map(|factor| Column::figure(format!("+{} %", whole(factor - 1.0)))));
    columns.extend([Column::figure("false families %").narrow(), Column::figure("95 %")]);
    let mut grid = Table::new(columns);
    let range = |low: f64, high: f64| format!("{}–{}", percent(low), percent(high));
    for phase in &tape.phases {
        let mut cells = vec![
            phase_name(&tape.tape, &phase.phase),
            percent(phase.sd_log_ratio),
            phase.needed_blocks.map_or_else(dash, |blocks| grouped(u64::from(blocks))),
        ];
        cells.extend(phase.found.iter().map(|found| format!("{:.0}", 100.0 * found.share())));
        let wrong = &phase.false_families;
        cells.extend([percent(wrong.share()), range(wrong.low, wrong.high)]);
        grid.row(cells);
    }
    let mut all = vec!["all phases".to_owned(), dash(), dash()];
    all.extend(EFFECTS.map(|factor| {
        let found = quick_figures(tape, factor).and_then(|figures| figures.found);
        found.map_or_else(dash, |found| format!("{:.0}", 100.0 * found.share()))
    }));
    let wrong = &tape.false_families;
    all.extend([percent(wrong.share()), range(wrong.low, wrong.high)]);
    grid.row(all);
    text::table(&grid, width)
}

/// What the rule of quick said with this effect.
fn quick_figures(tape: &Power, factor: f64) -> Option<&FamilyFigures> {
    let is_meant = |scenario: &fsarena_honesty::families::Scenario| {
        scenario.truth == Truth::Exchangeable && scenario.factor == factor
    };
    let row = tape.scenarios.iter().find(|row| is_meant(&row.scenario))?;
    row.rules.iter().find(|figures| figures.rule == tape.rule)
}

fn quick_words(tape: &Power) -> String {
    let share = tape.found.share();
    let kept = if share >= POWER { "" } else { ", less than the 80 % that it should be" };
    let mut text = format!(
        "+10 % is found in {:.0} % of pairs over all phases{kept}; false families: {} %. ",
        100.0 * share,
        percent(tape.false_families.share()),
    );
    if let Some(phase) = tape.bounding_phase() {
        let at = EFFECTS.iter().position(|factor| *factor == TO_BE_FOUND);
        let found = at.and_then(|at| phase.found.get(at)).map_or(0.0, |found| found.share());
        let needed = match phase.needed_blocks {
            Some(blocks) => format!("{} blocks", grouped(u64::from(blocks))),
            None => "more blocks than can be run".to_owned(),
        };
        text.push_str(&format!(
            "{} bounds it, where {:.0} % are found: within {} blocks its ratios spread by {} \
             % (standard deviation), and 80 % would need {needed}. ",
            phase_name(&tape.tape, &phase.phase),
            100.0 * found,
            tape.blocks,
            percent(phase.sd_log_ratio),
        ));
    }
    text.push_str(&format!(
        "{} replays; blocks for 80 % by Student's t at half the level, the first step of Holm's \
         procedure with two pairs.",
        grouped(u64::from(tape.replays))
    ));
    text
}

/// A row a phase and a column a rule, with every rival 10 % slower than the baseline.
fn by_rule(tape: &Power, width: usize, cell: impl Fn(&PhaseFigures) -> String) -> String {
    let is_meant = |factor: f64| (factor - TO_BE_FOUND).abs() < 1e-9;
    let Some(row) = tape.scenarios.iter().find(|row| is_meant(row.scenario.factor)) else {
        return String::new();
    };
    let mut columns = vec![Column::text("phase")];
    // `budget-10` breaks where it is `budget 10`.
    let name = |key: &str| key.replace('-', " ");
    columns.extend(tape.rules.iter().map(|rule| Column::figure(name(&rule.key)).narrow()));
    let mut grid = Table::new(columns);
    for (at, phase) in tape.tape.phases.iter().enumerate() {
        let mut cells = vec![phase_name(&tape.tape, phase)];
        cells.extend(row.rules.iter().map(|figures| cell(&figures.phases[at])));
        grid.row(cells);
    }
    text::table(&grid, width)
}

const SECONDS: &str = "Whole trials with everything around their phases, median; until nothing of \
    the phase is open, or else to the end of the RUN.";

fn noise(tape: &Power, width: usize) -> String {
    let mut columns = vec![
        Column::text("phase"),
        Column::figure("value spreads %").narrow(),
        Column::figure("most ÷ least").narrow(),
        Column::figure("ratio spreads %").narrow(),
    ];
    columns.extend(LAGS.map(|lag| Column::figure(format!("lag {lag}")).narrow()));
    columns.extend([
        Column::figure("common to block %").narrow(),
        Column::figure("far ÷ near").narrow(),
        Column::figure("carry-over %").narrow(),
        Column::figure("largest %").narrow(),
    ]);
    let mut grid = Table::new(columns);
    let two = |value: Option<f64>| value.map_or_else(dash, |value| format!("{value:.2}"));
    for phase in &tape.noise {
        let mut cells = vec![
            phase_name(&tape.tape, &phase.phase),
            percent(phase.sd),
            format!("{:.1}", phase.sd_ratio),
            percent(phase.sd_log_ratio),
        ];
        cells.extend(phase.autocorrelation.map(two));
        cells.extend([
            percent(phase.common_to_block),
            two(phase.far_to_near),
            phase.carry_over.map_or_else(dash, percent),
            phase.carry_over_largest.map_or_else(dash, percent),
        ]);
        grid.row(cells);
    }
    text::table(&grid, width)
}

const NOISE: &str = "Standard deviations over the whole tape, of values and of ratios in one block; \
    most ÷ least: of the contenders. lag n: autocorrelation of the ratios of blocks n apart. common \
    to block: the share of the variance that cancels in ratios. far ÷ near: mean square difference \
    of two contenders' values 7 to 9 trials apart ÷ 1 to 3 apart. carry-over: the share of the \
    variance that the contender right before explains; largest: what one makes of another.";

fn covariates(tape: &Power, width: usize) -> String {
    let is_known = |one: &Covariate| {
        let mut phases = tape.covariates.iter();
        phases.any(|phase| phase.covariates.iter().any(|own| own.covariate == *one))
    };
    let known: Vec<Covariate> = Covariate::ALL.into_iter().filter(is_known).collect();
    if known.is_empty() {
        return "The records have none that differ from trial to trial.\n".to_owned();
    }
    let mut columns = vec![Column::text("phase"), Column::figure("ratio spreads %").narrow()];
    columns.extend(known.iter().filter(|one| one.is_from_outside()).map(column));
    columns.extend([
        Column::figure("all these %").narrow(),
        Column::figure("ratio then spreads %").narrow(),
    ]);
    columns.extend(known.iter().filter(|one| !one.is_from_outside()).map(column));
    let mut grid = Table::new(columns);
    for phase in &tape.covariates {
        let explained = |one: &Covariate| {
            let own = phase.covariates.iter().find(|own| own.covariate == *one);
            own.map_or_else(dash, |own| percent(own.adjusted.explained))
        };
        let mut cells = vec![phase_name(&tape.tape, &phase.phase), percent(phase.sd)];
        cells.extend(known.iter().filter(|one| one.is_from_outside()).map(explained));
        let all = phase.from_outside;
        cells.push(all.map_or_else(dash, |all| percent(all.explained)));
        cells.push(all.map_or_else(dash, |all| percent(all.sd)));
        cells.extend(known.iter().filter(|one| !one.is_from_outside()).map(explained));
        grid.row(cells);
    }
    text::table(&grid, width)
}

fn column(one: &Covariate) -> Column {
    Column::figure(format!("{} %", one.name())).narrow()
}

const COVARIATES: &str = "The share of the variance of log ratios that a fit on the difference of \
    the covariate explains, each block predicted without itself; below 0 it does harm. The \
    contender has no part in those up to 'all these', by which ratios could be adjusted; in the \
    others it has, and they only describe.";

#[cfg(test)]
mod tests;
