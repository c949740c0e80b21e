//! Section 4, the fairness ledger: contenders as they really were, differences, host, devices,
//! tools, cold proof, disturbances, findings.

use crate::context::SectionContext;
use crate::format::{cache, count};
use crate::render::html as parts;
use crate::section::{Block, Section};
use crate::table::{Cell, Column, Table};
use crate::{ledger, notes};
use fsarena_model::host::{Finding, Weight};
use fsarena_model::run::RunPlan;
use fsarena_study::{AsMade, Difference, Disturbance, Fact, Fairness, Study};
use maud::{Markup, html};

/// More rows than this are folded.
const FOLDED_ROWS: usize = 40;

/// The section of one RUN.
pub(crate) fn build(context: &SectionContext<'_>) -> Section {
    let run = context.run;
    let view = fsarena_study::fairness(run.header, run.sessions, run.records);
    // The contenders of the plan: differences are told of these, made or not.
    let plan = &run.header.plan;
    let labels: Vec<&str> = plan.contenders.iter().map(|one| one.label.as_str()).collect();
    let heading = |title: &str| Block::Heading(title.to_owned());
    let mut blocks = Vec::new();
    if !context.run.is_watched() {
        blocks.push(heading("Differences between contenders"));
        blocks.extend(differences(&view, &labels));
        blocks.push(heading("Contenders as they were made"));
        blocks.extend(contenders(&view, &labels));
    }
    blocks.push(heading("Host"));
    blocks.push(facts(&view.host, "Nothing is stored of the host."));
    blocks.push(heading("Devices"));
    let none = "Nothing is stored of a device: none was used, or no trial began.";
    blocks.extend(view.devices.is_empty().then(|| missing(none)));
    for device in &view.devices {
        blocks.push(Block::Text(device.title.clone()));
        blocks.push(Block::Html(parts::facts(&pairs(&device.facts))));
    }
    blocks.push(Block::Table(ledger::conditioning(run.study)));
    blocks.push(Block::Table(ledger::queues(run.study)));
    blocks.push(heading("Programs"));
    blocks.push(facts(&view.tools, "No version of a program is stored."));
    if !context.run.is_watched() {
        blocks.push(heading("Caches, and the proof"));
        blocks.push(caches(&view, plan));
    }
    blocks.push(heading("Disturbances"));
    blocks.extend(disturbances(&view, run.study));
    blocks.push(heading("Cost of measuring"));
    blocks.push(Block::Text(notes::sampling(run.study).unwrap_or_else(|| {
        let is_known = context.run.measured_by().is_none();
        let none = "No time series was taken: sampling cost nothing.";
        if is_known { none } else { "Not known." }.to_owned()
    })));
    blocks.push(heading("What the doctor found before the RUN"));
    blocks.extend(findings(&run.header.findings));
    Section::new(blocks)
}

fn missing(text: &str) -> Block {
    Block::Missing(text.to_owned())
}

/// Facts, or that there are `none`.
fn facts(facts: &[Fact], none: &str) -> Block {
    match facts.is_empty() {
        true => missing(none),
        false => Block::Html(parts::facts(&pairs(facts))),
    }
}

fn pairs(facts: &[Fact]) -> Vec<(&str, &str)> {
    facts.iter().map(|fact| (fact.name.as_str(), fact.value.as_str())).collect()
}

/// Every difference; first, and loudly, those that are not under test.
fn differences(view: &Fairness, labels: &[&str]) -> Vec<Block> {
    let sorted = by_loudness(&view.differences);
    let loud = sorted.iter().filter(|one| !one.under_test).count();
    let mut columns = vec![Column::text("difference"), Column::text("under test")];
    columns.extend(labels.iter().map(|&label| Column::text(label)));
    let mut table = Table::new(columns).caption("In what the contenders differ");
    for one in sorted {
        let mark = if one.under_test { Cell::text("yes") } else { Cell::text("NO").strong() };
        let value = |at| one.values.get(at).and_then(Option::as_ref);
        let values = (0..labels.len()).map(|at| Cell::known(value(at)));
        table.row([Cell::text(&one.what), mark].into_iter().chain(values));
    }
    if labels.len() < 2 {
        return vec![missing("One contender alone: there is nothing that it could differ from.")];
    }
    if table.is_empty() {
        return vec![Block::Note("None was found in what is recorded.".to_owned())];
    }
    let said = match loud {
        0 => Block::Note("All differences are under test, or follow from what is.".to_owned()),
        _ => Block::Warning(format!(
            "the contenders differ in {} that the experiment does not test; any of them may be \
             what the figures show.",
            count(loud, "thing")
        )),
    };
    vec![said, Block::Table(table)]
}

/// Those not under test first, each kind in its order.
fn by_loudness(differences: &[Difference]) -> Vec<&Difference> {
    let mut sorted: Vec<&Difference> = differences.iter().collect();
    sorted.sort_by_key(|one| one.under_test);
    sorted
}

fn contenders(view: &Fairness, labels: &[&str]) -> Vec<Block> {
    if view.contenders.is_empty() {
        return vec![missing("None was made or mounted by fsarena.")];
    }
    let is_made = |at: usize| view.contenders.iter().any(|own| own.contender == at);
    let never = (0..labels.len()).filter(|&at| !is_made(at));
    let never = never.map(|at| format!("{}: never made or mounted by fsarena", labels[at]));
    let made = view.contenders.iter().map(|own| Block::Html(contender(own)));
    made.chain([Block::List(None, never.collect())]).collect()
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
            @if !own.features.is_empty() { (parts::facts(&pairs(&own.features))) }
        }
    }
}

/// How the caches were, and by what proof.
fn caches(view: &Fairness, plan: &RunPlan) -> Block {
    let columns = vec![
        Column::text("contender"),
        Column::text("workload"),
        Column::text("phase"),
        Column::text("caches"),
        Column::figure("trials"),
        Column::figure("read by the mount"),
        Column::figure("had to be read"),
        Column::figure("delivered"),
        Column::text("why it is called that"),
    ];
    let mut table = Table::new(columns).caption("State of the caches, medians of bytes").sortable();
    for proof in &view.caches {
        let hue = plan.contenders.iter().position(|own| own.label == proof.label);
        table.row(vec![
            Cell::contender(hue.unwrap_or(0), &proof.label),
            Cell::text(&proof.workload),
            Cell::text(&proof.phase),
            Cell::text(cache(proof.state)),
            Cell::count(proof.trials),
            Cell::bytes(proof.mount_read_bytes),
            Cell::bytes(proof.needed_read_bytes),
            Cell::bytes(proof.delivered_read_bytes),
            Cell::text(&proof.why),
        ]);
    }
    match view.caches.len() {
        0 => missing("No phase was begun."),
        n if n > FOLDED_ROWS => Block::Fold(count(n, "row"), vec![Block::Table(table)]),
        _ => Block::Table(table),
    }
}

/// What disturbed the trials, those with a remedy first; and what the watchers saw.
fn disturbances(view: &Fairness, study: &Study) -> Vec<Block> {
    let columns = vec![
        Column::text("what"),
        Column::text("what to do about it"),
        Column::figure("trials"),
        Column::text("contenders"),
    ];
    let mut table =
        Table::new(columns).caption("What disturbed the trials, or is to be known with them");
    let mut sorted: Vec<&Disturbance> = view.disturbances.iter().collect();
    sorted.sort_by_key(|one| (one.remedy.is_none(), std::cmp::Reverse(one.trials)));
    for one in sorted {
        table.row(vec![
            Cell::text(&one.text),
            Cell::known(one.remedy.as_ref()),
            Cell::count(one.trials),
            Cell::text(one.labels.join(", ")),
        ]);
    }
    let watched: Vec<String> = study.findings.iter().map(|found| found.text.clone()).collect();
    if table.is_empty() && watched.is_empty() {
        return vec![Block::Note("None was seen.".to_owned())];
    }
    vec![Block::Table(table), Block::List(None, watched)]
}

/// What the doctor found before the RUN, the gravest first.
fn findings(findings: &[Finding]) -> Vec<Block> {
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
            Cell::known((!advice.is_empty()).then(|| advice.join(" ")).as_ref()),
            Cell::known(one.command.as_ref()),
        ]);
    }
    if table.is_empty() {
        return vec![missing("Not asked: the RUN has no findings of the doctor.")];
    }
    let warning = (heavy > 0).then(|| {
        Block::Warning(format!("{} that change or spoil figures.", count(heavy, "finding")))
    });
    warning.into_iter().chain([Block::Table(table)]).collect()
}

/// The gravest first, each weight in its order.
fn by_weight(findings: &[Finding]) -> Vec<&Finding> {
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.sort_by_key(|one| std::cmp::Reverse(one.weight));
    sorted
}

#[cfg(test)]
mod tests;
