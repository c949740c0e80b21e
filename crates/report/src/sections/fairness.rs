//! Section 4, the fairness ledger: contenders as they really were, differences, host, devices,
//! tools, cold proof, disturbances, findings.

mod tables;

use crate::context::SectionContext;
use crate::format::{count, grouped};
use crate::render::html as parts;
use crate::section::{Block, Section};
use crate::table::{Cell, Column, Table};
use fsarena_model::host::{Finding, Weight};
use fsarena_model::run::RunPlan;
use fsarena_study::{AsMade, Difference, Fact, Fairness};
use maud::{Markup, html};

/// The section of one RUN.
pub(crate) fn build(context: &SectionContext<'_>) -> Section {
    let run = context.run;
    let view = fsarena_study::fairness(run.header, run.sessions, run.records);
    let body = html! {
        @let labels = labels(&run.header.plan);
        @if !context.is_watched() {
            (differences(&view, &labels))
            (contenders(&view, &labels))
        }
        (parts::heading("Host"))
        @if view.host.is_empty() {
            (parts::missing("Nothing is stored of the host."))
        } @else {
            (facts(&view.host))
        }
        (devices(&view))
        (tables::prepared(run.study))
        (parts::heading("Programs"))
        @if view.tools.is_empty() {
            (parts::missing("No version of a program is stored."))
        } @else {
            (facts(&view.tools))
        }
        @if !context.is_watched() { (tables::caches(&view, &run.header.plan)) }
        (tables::disturbances(&view, run.study))
        (sampler(context))
        (findings(&run.header.findings))
    };
    Section::new(vec![Block::Page(body, Vec::new())])
}

fn facts(facts: &[Fact]) -> Markup {
    let pairs: Vec<(&str, &str)> =
        facts.iter().map(|fact| (fact.name.as_str(), fact.value.as_str())).collect();
    parts::facts(&pairs)
}

/// The contenders of the plan: differences are told of these, made or not.
fn labels(plan: &RunPlan) -> Vec<&str> {
    plan.contenders.iter().map(|contender| contender.label.as_str()).collect()
}

/// Every difference; first, and loudly, those that are not under test.
fn differences(view: &Fairness, labels: &[&str]) -> Markup {
    let sorted = by_loudness(&view.differences);
    let loud = sorted.iter().filter(|one| !one.under_test).count();
    let mut columns = vec![Column::text("difference"), Column::text("under test")];
    columns.extend(labels.iter().map(|&label| Column::text(label)));
    let mut table = Table::new(columns).caption("In what the contenders differ");
    for one in &sorted {
        let is_asked = one.under_test;
        let mark = if is_asked { Cell::text("yes") } else { Cell::text("NO").strong() };
        let mut cells = vec![Cell::text(&one.what), mark];
        cells.extend((0..labels.len()).map(|at| {
            one.values.get(at).and_then(Option::as_ref).map_or_else(Cell::none, Cell::text)
        }));
        table.row(cells);
    }
    html! {
        (parts::heading("Differences between contenders"))
        @if labels.len() < 2 {
            (parts::missing("One contender alone: there is nothing that it could differ from."))
        } @else if table.is_empty() {
            (parts::note("None was found in what is recorded."))
        } @else {
            @if loud > 0 {
                (parts::warning(&format!(
                    "the contenders differ in {} that the experiment does not test; any of them \
                     may be what the figures show.",
                    count(loud, "thing")
                )))
            } @else {
                (parts::note("All differences are under test, or follow from what is."))
            }
            (table)
        }
    }
}

/// Those not under test first, each kind in its order.
fn by_loudness(differences: &[Difference]) -> Vec<&Difference> {
    let mut sorted: Vec<&Difference> = differences.iter().collect();
    sorted.sort_by_key(|one| one.under_test);
    sorted
}

fn contenders(view: &Fairness, labels: &[&str]) -> Markup {
    let is_made = |at: usize| view.contenders.iter().any(|own| own.contender == at);
    let never: Vec<String> = (0..labels.len())
        .filter(|&at| !is_made(at))
        .map(|at| format!("{}: never made or mounted by fsarena", labels[at]))
        .collect();
    html! {
        (parts::heading("Contenders as they were made"))
        @if view.contenders.is_empty() {
            (parts::missing("None was made or mounted by fsarena."))
        } @else {
            @for own in &view.contenders { (contender(own)) }
            (parts::list(&never))
        }
    }
}

/// One contender; folded, since there may be many.
fn contender(own: &AsMade) -> Markup {
    let known = |text: &Option<String>| text.clone().unwrap_or_else(|| "not recorded".to_owned());
    let asked = if own.mount_asked.is_empty() { "defaults" } else { &own.mount_asked };
    let made = if own.mkfs.is_empty() { "not made: mounted as it is" } else { &own.mkfs };
    let named: Vec<(&str, Markup)> = vec![
        ("made by", html! { code { (made) } }),
        ("version", html! { (known(&own.tool)) }),
        ("mount options asked for", html! { code { (asked) } }),
        ("mount options in force", html! { code { (known(&own.mounted)) } }),
        ("served by", html! { (known(&own.served_by)) }),
        ("identity", html! { code { (own.id) } }),
    ];
    html! {
        details.made {
            summary { (parts::swatch(own.contender, &own.label)) }
            @if !own.varied.is_empty() {
                @let how = own.varied.join("; ");
                (parts::warning(&format!("not all its trials were alike: {how}.")))
            }
            (parts::facts(&named))
            @if !own.features.is_empty() { (facts(&own.features)) }
        }
    }
}

fn devices(view: &Fairness) -> Markup {
    html! {
        (parts::heading("Devices"))
        @if view.devices.is_empty() {
            (parts::missing("Nothing is stored of a device: none was used, or no trial began."))
        }
        @for device in &view.devices {
            p { (device.title) }
            (facts(&device.facts))
        }
    }
}

fn sampler(context: &SectionContext<'_>) -> Markup {
    let said = match context.run.study.sampler {
        None if context.measured_by().is_some() => "Not known.".to_owned(),
        None => "No time series was taken: sampling cost nothing.".to_owned(),
        Some(total) => {
            let missed = match total.missed_deadlines {
                0 => String::new(),
                missed => format!(" ({} more were due but late)", grouped(missed)),
            };
            let share = total.share * 100.0;
            let samples = grouped(total.samples);
            format!("Sampling took {samples} samples{missed} and {share:.2} % of one CPU core.")
        }
    };
    html! { (parts::heading("Cost of measuring")) p { (said) } }
}

/// What the doctor found before the RUN, the gravest first.
fn findings(findings: &[Finding]) -> Markup {
    let heavy = findings.iter().filter(|one| one.weight >= Weight::Warning).count();
    let columns = vec![
        Column::text("weight"),
        Column::text("where"),
        Column::text("reading"),
        Column::text("why it matters, and what to do"),
        Column::code("command"),
    ];
    let mut table = Table::new(columns).caption("The machine before the RUN, by fsarena doctor");
    for one in by_weight(findings) {
        let word = Cell::text(one.weight.word());
        let weight = if one.weight >= Weight::Warning { word.strong() } else { word };
        let advice = [Some(one.why.as_str()), one.remedy.as_deref()];
        let advice: Vec<&str> = advice.into_iter().flatten().filter(|s| !s.is_empty()).collect();
        table.row(vec![
            weight,
            Cell::text(&one.place),
            Cell::text(&one.reading),
            if advice.is_empty() { Cell::none() } else { Cell::text(advice.join(" ")) },
            one.command.as_ref().map_or_else(Cell::none, Cell::text),
        ]);
    }
    html! {
        (parts::heading("What the doctor found before the RUN"))
        @if table.is_empty() {
            (parts::missing("Not asked: the RUN has no findings of the doctor."))
        } @else {
            @if heavy > 0 {
                @let findings = count(heavy, "finding");
                (parts::warning(&format!("{findings} that change or spoil figures.")))
            }
            (table)
        }
    }
}

/// The gravest first, each weight in its order.
fn by_weight(findings: &[Finding]) -> Vec<&Finding> {
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.sort_by_key(|one| std::cmp::Reverse(one.weight));
    sorted
}

#[cfg(test)]
mod tests;
