//! What RUNs of several contenders, played on a tape, said: tables for each number of contenders
//! and each way of asking, and what they mean.

use crate::format::{count, grouped};
use crate::render::text;
use crate::table::{Column, Table};
use crate::text::Style;
use crate::text::{bold, wrap};
use fsarena_honesty::families::{
    AskedPairs, FamiliesReplayed, FamilyFigures, FamilyRule, FamilyTapeFacts, NOISES, Odd,
    SESSION_BLOCKS, Scenario, TapePhase, Truth,
};
use fsarena_model::units::three_digits;

/// Injected factors that power is shown of.
const SHOWN: [f64; 3] = [1.05, 1.10, 1.30];
/// The factor that costs are shown of.
const COST: f64 = 1.10;

/// All tapes, each with its facts, its tables and what follows from them; then what each rule is.
#[must_use]
pub fn family_tables(tapes: &[FamiliesReplayed], width: usize, style: Style) -> String {
    let mut out = String::new();
    for tape in tapes {
        out.push_str(&head(&tape.tape, width, style));
        for (contenders, pairs) in asked(tape) {
            for truth in [Truth::Exchangeable, Truth::Tape, Truth::Session, Truth::Reaction] {
                let title = format!(
                    "{}: false families, % ({})",
                    title(contenders, pairs),
                    truth_name(truth)
                );
                out.push_str(&titled(&title, width, style));
                out.push_str(&false_families(tape, (contenders, pairs), truth, width));
            }
            let title = format!("{}: pairs found, %, and what it takes", title(contenders, pairs));
            out.push_str(&titled(&title, width, style));
            out.push_str(&found(tape, contenders, pairs, width));
        }
        out.push('\n');
        out.push_str(&wrap("", &words(tape), width));
        out.push('\n');
    }
    if let Some(first) = tapes.first() {
        out.push_str(&legend(first, width, style));
    }
    out
}

/// The title of a table, with an empty line before it.
pub(super) fn titled(title: &str, width: usize, style: Style) -> String {
    format!("\n{}\n", bold(wrap("", title, width).trim_end(), style.colour))
}

/// The tape in a few figures.
pub(super) fn head(tape: &FamilyTapeFacts, width: usize, style: Style) -> String {
    let heading =
        format!("{}: {} ({})", tape.source, tape.contenders.join(", "), tape.clock.name());
    let mut out = bold(wrap("", &heading, width).trim_end(), style.colour);
    out.push('\n');
    let phases: Vec<String> = tape.phases.iter().map(|phase| phase.name()).collect();
    let mut facts = format!(
        "{} of {} contenders in {:.0} min, {} s each; {}: {}",
        count(tape.blocks, "complete block"),
        tape.contenders.len(),
        tape.span_s / 60.0,
        three_digits(tape.block_s),
        count(phases.len(), "phase"),
        phases.join(", "),
    );
    for (blocks, why) in [
        (tape.left.incomplete, "incomplete"),
        (tape.left.bad_contents, "with wrong contents"),
        (tape.left.other_conditions, "in another state of caches or memory"),
    ] {
        if blocks > 0 {
            facts.push_str(&format!("; left out: {} {why}", count(blocks, "block")));
        }
    }
    for phase in &tape.phases_left_out {
        facts.push_str(&format!("; left out: {phase}"));
    }
    out.push_str(&wrap("  ", &facts, width));
    out
}

/// A phase by its own name where the tape is of one workload.
pub(super) fn phase_name(tape: &FamilyTapeFacts, phase: &TapePhase) -> String {
    let is_alone = tape.phases.iter().all(|other| other.workload == phase.workload);
    if is_alone { phase.phase.clone() } else { phase.name() }
}

/// Numbers of contenders and ways of asking, each once, in the order played.
fn asked(tape: &FamiliesReplayed) -> Vec<(usize, AskedPairs)> {
    let mut all: Vec<_> =
        tape.scenarios.iter().map(|row| (row.scenario.contenders, row.scenario.pairs)).collect();
    all.dedup();
    all
}

fn title(contenders: usize, pairs: AskedPairs) -> String {
    let pairs = match pairs {
        AskedPairs::Baseline => "each against a baseline",
        AskedPairs::All => "all pairs",
    };
    format!("{contenders} contenders, {pairs}")
}

fn truth_name(truth: Truth) -> &'static str {
    match truth {
        Truth::Exchangeable => "exchangeable",
        Truth::Tape => "own noise, equal over the tape",
        Truth::Session => "own noise, equal over the session",
        Truth::Reaction => "one reacts ×n to the machine's drift",
    }
}

fn is_asked(scenario: &Scenario, contenders: usize, pairs: AskedPairs) -> bool {
    scenario.contenders == contenders && scenario.pairs == pairs
}

/// The scenarios of one way of asking whose noise is shown: equal, then another and the baseline
/// with each of [`NOISES`].
fn noises(pairs: AskedPairs) -> Vec<(Odd, f64)> {
    let mut all = vec![(Odd::None, 1.0)];
    all.extend(NOISES.map(|noise| (Odd::Another, noise)));
    if pairs == AskedPairs::Baseline {
        all.extend(NOISES.map(|noise| (Odd::Baseline, noise)));
    }
    all
}

fn noise_name(odd: Odd, noise: f64) -> String {
    match odd {
        Odd::None => "equal".to_owned(),
        Odd::Another => format!("×{noise}"),
        Odd::Baseline => format!("base ×{noise}"),
    }
}

fn false_families(
    tape: &FamiliesReplayed,
    (contenders, pairs): (usize, AskedPairs),
    truth: Truth,
    width: usize,
) -> String {
    let mut noises = noises(pairs);
    let is_gate = truth == Truth::Exchangeable;
    let mut columns = vec![Column::text("rule")];
    if truth == Truth::Reaction {
        noises.remove(0);
    } else {
        columns.extend([Column::figure("equal"), Column::figure("95 %").optional(1)]);
    }
    let others = noises.iter().filter(|(odd, _)| *odd != Odd::None);
    columns.extend(others.map(|&(odd, noise)| Column::figure(noise_name(odd, noise)).narrow()));
    columns.push(Column::text("worst phase"));
    if is_gate {
        columns.push(Column::figure("SAME at margin").narrow());
    }
    let mut grid = Table::new(columns);
    for rule in &tape.rules {
        let at = |odd: Odd, noise: f64, factor: f64| {
            tape.figures(&rule.key, |scenario| {
                is_asked(scenario, contenders, pairs)
                    && (scenario.truth, scenario.odd, scenario.noise) == (truth, odd, noise)
                    && (scenario.factor - factor).abs() < 1e-9
            })
        };
        let rows: Vec<_> =
            noises.iter().map(|&(odd, noise)| (odd, noise, at(odd, noise, 1.0))).collect();
        let mut cells = vec![rule.name.clone()];
        for (odd, _, figures) in &rows {
            cells.push(figures.map_or_else(dash, |f| percent(f.false_families.share())));
            if *odd == Odd::None {
                let range = |f: &FamilyFigures| {
                    let rate = &f.false_families;
                    format!("{}–{}", percent(rate.low), percent(rate.high))
                };
                cells.push(figures.map_or_else(dash, range));
            }
        }
        cells.push(worst(tape, &rows));
        if is_gate {
            let sames = noises.iter().filter_map(|&(odd, noise)| at(odd, noise, 1.0 + tape.margin));
            let most = sames.map(|figures| figures.false_sames.share()).max_by(f64::total_cmp);
            cells.push(most.map_or_else(dash, percent));
        }
        grid.row(cells);
    }
    text::table(&grid, width)
}

/// The phase and noise with the most false families: `7.2 read ×0.2`.
fn worst(tape: &FamiliesReplayed, rows: &[(Odd, f64, Option<&FamilyFigures>)]) -> String {
    let all = rows.iter().filter_map(|(odd, noise, figures)| {
        let (phase, worst) = figures.as_ref()?.worst_phase()?;
        Some((worst.false_families.share(), phase, noise_name(*odd, *noise)))
    });
    let most = all.max_by(|a, b| a.0.total_cmp(&b.0));
    most.map_or_else(dash, |(share, phase, noise)| {
        let name = phase_name(&tape.tape, &tape.tape.phases[phase]);
        format!("{} {name} {noise}", percent(share))
    })
}

fn found(tape: &FamiliesReplayed, contenders: usize, pairs: AskedPairs, width: usize) -> String {
    let mut columns = vec![Column::text("rule")];
    columns.extend(SHOWN.map(|factor| Column::figure(format!("+{} %", whole(factor - 1.0)))));
    columns.extend([
        Column::figure("least at +10 %").narrow(),
        Column::text("by phase"),
        Column::figure("blocks"),
        Column::figure("p90"),
        Column::figure("time s").narrow(),
        Column::figure("p90 s").narrow(),
    ]);
    let mut grid = Table::new(columns);
    for rule in &tape.rules {
        let at = |factor: f64| {
            tape.figures(&rule.key, |scenario| {
                is_asked(scenario, contenders, pairs)
                    && scenario.odd == Odd::None
                    && scenario.truth == Truth::Exchangeable
                    && (scenario.factor - factor).abs() < 1e-9
            })
        };
        let mut cells = vec![rule.name.clone()];
        cells.extend(SHOWN.map(|factor| {
            let found = at(factor).and_then(|figures| figures.found);
            found.map_or_else(dash, |found| format!("{:.0}", 100.0 * found.share()))
        }));
        let cost = at(COST);
        let phases = cost.into_iter().flat_map(|figures| figures.phases.iter().enumerate());
        let shares = phases.filter_map(|(at, phase)| Some((phase.found?.share(), at)));
        let least = shares.min_by(|a, b| a.0.total_cmp(&b.0));
        cells.push(least.map_or_else(dash, |(share, _)| format!("{:.0}", 100.0 * share)));
        let name = |(_, at): (f64, usize)| phase_name(&tape.tape, &tape.tape.phases[at]);
        cells.push(least.map_or_else(dash, name));
        cells.extend([
            cost.map_or_else(dash, |figures| format!("{:.0}", figures.blocks_median)),
            cost.map_or_else(dash, |figures| format!("{:.0}", figures.blocks_p90)),
            cost.map_or_else(dash, |figures| three_digits(figures.seconds_median)),
            cost.map_or_else(dash, |figures| three_digits(figures.seconds_p90)),
        ]);
        grid.row(cells);
    }
    text::table(&grid, width)
}

/// What the tape says of the promise.
fn words(tape: &FamiliesReplayed) -> String {
    let one = |(scenario, figures): &(&Scenario, &FamilyFigures)| {
        let rule = tape.rules.iter().find(|rule| rule.key == figures.rule);
        format!(
            "{}, {} of {} families ({}, {}, {})",
            rule.map_or("", |rule| rule.name.as_str()),
            grouped(figures.false_families.count as u64),
            grouped(figures.false_families.of as u64),
            title(scenario.contenders, scenario.pairs),
            noise_name(scenario.odd, scenario.noise),
            truth_name(scenario.truth),
        )
    };
    let broken: Vec<String> = tape.broken().map(|found| one(&found)).collect();
    let mut text = match broken.as_slice() {
        [] => {
            "The rules that are shipped keep their 5 % where contenders are exchangeable but for \
               the size of their noise."
                .to_owned()
        }
        broken => format!("MORE false families than 5 % allows: {}.", broken.join("; ")),
    };
    let share = |figures: &FamilyFigures| figures.false_families.share();
    for truth in [Truth::Exchangeable, Truth::Tape, Truth::Session, Truth::Reaction] {
        let own: Vec<_> = tape.shipped(|scenario| scenario.truth == truth).collect();
        let sum = |of: fn(&FamilyFigures) -> usize| own.iter().map(|one| of(one.1)).sum::<usize>();
        let wrong = sum(|figures| figures.false_families.count);
        let all = sum(|figures| figures.false_families.of).max(1);
        if let Some(worst) = own.iter().max_by(|a, b| share(a.1).total_cmp(&share(b.1))) {
            text.push_str(&format!(
                " {}: {} % in all, the most {} % ({}).",
                truth_name(truth),
                percent(wrong as f64 / all as f64),
                percent(share(worst.1)),
                one(worst),
            ));
        }
    }
    text
}

fn legend(tape: &FamiliesReplayed, width: usize, style: Style) -> String {
    let mut out = bold("The rules", style.colour);
    out.push('\n');
    for FamilyRule { name, legend, .. } in &tape.rules {
        out.push_str(&wrap("- ", &format!("{name}: {legend}."), width));
    }
    let margin = whole(tape.margin);
    let notes = [
        format!(
            "Every rule plays {} RUNs in each scenario, on consecutive blocks from the same {} \
             starting blocks, with contenders drawn at random; no play goes past the end of the \
             tape. The judge that carries real RUNs out decides, with a margin of {margin} %.",
            grouped(u64::from(tape.replays)),
            tape.starts
        ),
        format!(
            "A value is a contender's level, what all contenders of the block have in common (the \
             machine's drift), and the rest, its own noise. Levels are made equal. ×n: the noise of \
             one contender (base: of the baseline) is multiplied by n, as logarithms. \
             exchangeable: in each block the noises are dealt out to the contenders at random, so \
             that nothing but chance makes one faster; this is what a rule has to keep. own noise: \
             each keeps its noise and its slow drift against the others; equal are the medians over \
             the tape, or over the {SESSION_BLOCKS} blocks around the play (a session). One reacts \
             ×n: its drift is multiplied too, and no longer cancels. What these say beyond \
             exchangeable is that a verdict holds for its session."
        ),
        format!(
            "A family is one phase of one RUN; it is false with one false FASTER, SLOWER or SAME. \
             equal: noise as it was recorded, with its exact 95 % interval for this very tape, \
             phases of one RUN taken for independent. worst phase: the largest share of one phase \
             in any of these columns. SAME at margin: families with a false SAME where rivals take \
             {margin} % longer, the most of all these noises."
        ),
        "+n %: every rival takes n % longer than the baseline, or one contender than all others; \
         the share of these pairs that is found, over all phases, and in the phase where it is \
         least. blocks and time of the machine (median, and what 90 % need at most): of whole RUNs \
         at +10 %."
            .to_owned(),
    ];
    for note in notes {
        out.push_str(&wrap("", &note, width));
    }
    out
}

pub(super) fn dash() -> String {
    "-".to_owned()
}

/// `4.5`.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

/// `5`, `2.5`.
pub(super) fn whole(share: f64) -> String {
    let text = percent(share);
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

#[cfg(test)]
mod tests;
