//! The answer: which RUN this is, who is faster in one sentence, what to mind, one matrix against
//! one baseline; and folded below it every answer in words, tiers, and what deciding would cost.
//!
//! What is said first comes from the answer (`crate::answer`), which the terminal shows too, and
//! the rest from the verdicts in the words of `crate::verdict`; where nothing was asked, medians
//! are stated and called that.

use super::matrix::{Answers, WORDS_UP_TO, matrix};
use super::question::{name, named};
use super::speed;
use crate::answer::sentences::blocks_or_crash_runs;
use crate::answer::{Answer, Caution, NotRunGroup};
use crate::context::SectionContext;
use crate::format::{count, ns, utc};
use crate::labels::{absence, row_label};
use crate::section::{Block, Section};
use crate::text::{begun, capital};
use crate::verdict::question::undecided;
use crate::verdict::rule::DISAGREES;
use crate::verdict::sentences::{answer, needed};
use crate::verdict::text::{listed, margin};
use crate::verdict::{suite_table, suite_words};
use fsarena_model::verdict::Rule;
use fsarena_study::PhaseTable;
use fsarena_verdict::{QuestionView, Verdicts};
use maud::{Markup, html};

/// Contenders that a sentence names at most.
const NAMED: usize = 8;
/// What to mind beyond this is folded.
const CAUTIONS: usize = 3;
/// How the figure of a phase that only reads is called.
const TIME: &str = "time";

/// The section of one RUN.
pub(crate) fn build(context: &SectionContext<'_>) -> Section {
    if context.run.is_watched() {
        return Section::none();
    }
    let answers = Answers::new(context);
    let first = answers.first();
    let mut all = vec![Block::Html(html! {
        (origin(first))
        (verdict(context, first))
        (to_mind(context, first))
    })];
    let matrix = matrix(context, &answers);
    let has_matrix = matrix.is_some();
    all.extend(matrix.map(|table| Block::Unfolding(Box::new(table))));
    match has_matrix {
        true => all.push(Block::Html(reading(first))),
        false => all.extend(phases_without_figures(context)),
    }
    if context.run.header.plan.is_crash_alone() {
        return Section::new(all);
    }
    let words = match context.run.verdicts {
        Some(verdicts) if !verdicts.questions.is_empty() => answered(context, verdicts),
        Some(_) => vec![Block::Missing(
            "Nothing was asked: no workload of this RUN has a timed phase that two contenders run."
                .to_owned(),
        )],
        None => unasked(context),
    };
    all.push(Block::Fold("Every answer in words".to_owned(), words));
    Section::new(all)
}

/// `quick · 4 blocks · loop image 2 GiB · Linux 6.18 in a VM · 2026-11-23 · RUN 3ebcc255`.
fn origin(answer: &Answer) -> Markup {
    let head = &answer.head;
    let mut parts = vec![head.experiment.clone(), blocks_or_crash_runs(answer)];
    parts.extend(head.measured_by.iter().map(|program| format!("measured by {program}")));
    parts.extend(head.devices.iter().cloned());
    let system = match &head.hypervisor {
        Some(_) if !head.system.is_empty() => format!("{} in a VM", head.system),
        _ => head.system.clone(),
    };
    parts.push(system);
    parts.push(utc(head.created_unix_ns));
    parts.push(format!("RUN {}", head.uid.get(..8).unwrap_or(&head.uid)));
    parts.retain(|part| !part.is_empty());
    html! { p.origin { (parts.join(" · ")) } }
}

/// One sentence or two, in plain words.
fn verdict(context: &SectionContext<'_>, answer: &Answer) -> Markup {
    let toml = context.run.header.experiment_toml.parse::<toml::Table>().ok();
    let question = toml.as_ref().and_then(|table| table.get("question")?.as_str());
    html! {
        @if let Some(question) = question { p.question { (question) } }
        @if !answer.sentences.is_empty() { p.verdict { (answer.sentences.join(" ")) } }
    }
}

/// What a reader must not overlook: disturbances, what was not run, what is cut off, and how to
/// know more.
fn to_mind(context: &SectionContext<'_>, answer: &Answer) -> Markup {
    let (shown, folded) = answer.cautions.split_at(answer.cautions.len().min(CAUTIONS));
    let open = Some(&answer.undecided.sentence).filter(|_| answer.undecided.unknown > 0);
    if answer.cautions.is_empty() && answer.not_run.is_empty() && open.is_none() {
        return html! {};
    }
    html! {
        div.mind role="note" {
            @for caution in shown { p { (mended(context, caution)) } }
            @if let Some(open) = open { p { b { "To decide more: " } (with_commands(open)) } }
            @for group in &answer.not_run { p { (not_run(group)) } }
            @if !folded.is_empty() {
                details {
                    summary { (count(folded.len(), "more to mind")) }
                    @for caution in folded { p { (mended(context, caution)) } }
                }
            }
        }
    }
}

fn mended(context: &SectionContext<'_>, caution: &Caution) -> Markup {
    let contenders = &context.run.header.plan.contenders;
    let names: Vec<&str> = contenders.iter().map(|one| one.label.as_str()).collect();
    html! {
        (begun(&caution.text, &names)) "."
        @if let Some(remedy) = &caution.remedy { " " (with_commands(&begun(remedy, &names))) "." }
    }
}

/// A sentence in which what is typed looks like it: what stands in backquotes, `fsarena doctor`,
/// `--runs 10`.
fn with_commands(text: &str) -> Markup {
    html! {
        @for (at, part) in text.split('`').enumerate() {
            @if at % 2 == 1 { code { (part) } } @else { (with_options(part)) }
        }
    }
}

fn with_options(text: &str) -> Markup {
    let is_value = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_digit()) || word.contains([':', ',', '/'])
    };
    let mut words = text.split(' ').peekable();
    let mut first = true;
    let mut all: Vec<Markup> = Vec::new();
    while let Some(word) = words.next() {
        let gap = if std::mem::take(&mut first) { "" } else { " " };
        let takes_next = match word {
            "fsarena" => true,
            option if option.starts_with("--") => words.peek().is_some_and(|next| is_value(next)),
            _ => {
                all.push(html! { (gap) (word) });
                continue;
            }
        };
        let mut typed = word.to_owned();
        if let Some(next) = words.next_if(|_| takes_next) {
            typed = format!("{typed} {next}");
        }
        let own = typed.trim_end_matches(['.', ',', ';', ')']);
        all.push(html! { (gap) code { (own) } (typed[own.len()..]) });
    }
    html! { @for one in &all { (one) } }
}

fn not_run(group: &NotRunGroup) -> Markup {
    html! {
        b { "Not run: " } (listed(&group.what)) ", " (group.reason)
        @if !group.packages.is_empty() { ": " code { "apt install " (group.packages.join(" ")) } }
        "."
    }
}

/// Where there is no matrix: every phase, and why it has no figure.
fn phases_without_figures(context: &SectionContext<'_>) -> Option<Block> {
    let views = speed::Views::new(context);
    let phases = context.run.study.tables.iter();
    let blocks: Vec<Block> = phases.flat_map(|one| speed::phase(context, one, &views)).collect();
    let title = "Each phase, and why it has no figure".to_owned();
    (!blocks.is_empty()).then_some(Block::Fold(title, blocks))
}

/// How the matrix is read, in one line.
fn reading(answer: &Answer) -> Markup {
    let is_brief = answer.columns.len() > WORDS_UP_TO + 1;
    html! {
        p.note.reading {
            (capital(&figures(answer))) ". "
            @if answer.columns.len() < 2 {
                "Medians, least and most. "
            } @else if let Some(own) = answer.margin {
                "Dot: measured ratio to the baseline; line: where the true ratio may lie; grey "
                "band: within " (margin(own)) ". "
            } @else {
                "Medians; nothing was asked, so whether a difference is real is not said. "
            }
            @if answer.is_judged && answer.columns.len() > 1 {
                span.signs[!is_brief] {
                    "▼ faster or less, ▲ slower or more, = the same, ? not known yet. "
                }
            }
            "Open a row for its trials, latency, CPU and bytes. " (with_commands(&answer.scope))
        }
    }
}

/// What the rows are of, each kind once.
fn figures(answer: &Answer) -> String {
    let mut known: Vec<&str> = Vec::new();
    for row in &answer.rows {
        if !known.contains(&row.figure.as_str()) {
            known.push(&row.figure);
        }
    }
    // What only reads leaves nothing to be made safe.
    let is_longer = known.iter().any(|one| *one != TIME && one.starts_with(TIME));
    if is_longer && known.contains(&TIME) {
        known.retain(|one| *one != TIME);
        return format!("{}; where nothing is written, {TIME}", known.join(", "));
    }
    known.join(", ")
}

fn answered(context: &SectionContext<'_>, verdicts: &Verdicts) -> Vec<Block> {
    let mut all = vec![Block::Html(sentences(verdicts)), Block::Note(what_is_meant(verdicts))];
    all.extend(context.run.measured_by().map(|program| {
        Block::Note(format!(
            "Measured by {program} and brought in: the questions were chosen after the data."
        ))
    }));
    if verdicts.agrees_with_stored_looks == Some(false) {
        all.push(Block::Warning(DISAGREES.to_owned()));
    }
    all.push(Block::Html(open(verdicts)));
    if let Some(view) = &verdicts.suite {
        all.push(Block::Heading("Over all workloads".to_owned()));
        all.extend([Block::Table(suite_table(view)), Block::Note(suite_words(view))]);
    }
    let again = verdicts.rerun.iter().map(|one| format!("block {}: {}", one.block, one.why));
    let counts = verdicts.not_rerun.iter().map(|one| {
        format!("block {}: {}; it counts, since no spare block was left", one.block, one.why)
    });
    let rerun = again.chain(counts).collect();
    all.extend(named("Blocks that were run again, or should have been:", rerun));
    all
}

/// One sentence a question, the headline first.
fn sentences(verdicts: &Verdicts) -> Markup {
    let headline = verdicts.headline.and_then(|at| verdicts.questions.get(at));
    let is_headline = |one: &QuestionView| headline.is_some_and(|first| std::ptr::eq(first, one));
    let others = verdicts.questions.iter().filter(|one| !is_headline(one));
    html! {
        ul.answers {
            @for one in headline.into_iter().chain(others) {
                li.headline[is_headline(one)] {
                    span.what { (name(one)) @if is_headline(one) { " · the headline" } }
                    (answer(verdicts, one))
                }
            }
        }
    }
}

/// What stands behind the sentences: blocks, margin, level.
fn what_is_meant(verdicts: &Verdicts) -> String {
    let counted = count(verdicts.blocks_counted as usize, "block");
    let who = compared_with(verdicts);
    let times = verdicts.questions.iter().any(|one| one.metric.is_length());
    let fast = if times { " “Times as fast” is of the inverse of times." } else { "" };
    format!(
        "{who}. In brackets: the interval that the verdict rests on. The same means: shown to be \
         within {}. Undecided means that neither is shown. From {counted} that count.{fast}",
        margin(verdicts.margin)
    )
}

/// With whom: the baseline, but where it has no figures; else the reference of each question.
fn compared_with(verdicts: &Verdicts) -> String {
    let mut references: Vec<(&str, Vec<String>)> = Vec::new();
    for question in verdicts.questions.iter().filter(|one| one.rows.len() > 1) {
        let Some(row) = verdicts.reference(question) else { continue };
        let named = name(question);
        match references.iter_mut().find(|(label, _)| *label == row.label) {
            Some((_, questions)) => questions.push(named),
            None => references.push((&row.label, vec![named])),
        }
    }
    let each =
        |(label, questions): &(&str, Vec<String>)| format!("{label} in {}", listed(questions));
    match (&verdicts.baseline, references.as_slice()) {
        (Some(baseline), [(only, _)]) if baseline == only => {
            format!("Each contender is compared with {baseline}")
        }
        (Some(baseline), []) => format!("Each contender was to be compared with {baseline}"),
        (Some(baseline), _) => {
            let others: Vec<String> =
                references.iter().filter(|(label, _)| label != baseline).map(each).collect();
            let others = others.join("; ");
            format!(
                "Each contender is compared with {baseline}, and where {baseline} has no figures \
                 with another: {others}"
            )
        }
        (None, [] | [_]) => {
            let to = references.first().map_or(String::new(), |(label, _)| {
                format!("; the ratios that stand here are to {label}")
            });
            format!("Every pair was compared{to}")
        }
        (None, _) => {
            let each: Vec<String> = references.iter().map(each).collect();
            let each = each.join("; ");
            format!("Every pair was compared; the ratios that stand here are to {each}")
        }
    }
}

/// What is undecided over all questions, and what deciding it would cost.
fn open(verdicts: &Verdicts) -> Markup {
    let pairs: usize = verdicts.questions.iter().map(|one| one.pairs.len()).sum();
    let open = || verdicts.questions.iter().flat_map(undecided);
    let n = open().count();
    if pairs == 0 {
        return html! {};
    }
    if n == 0 {
        return html! { p { "Everything that was asked is decided." } };
    }
    let forecasts = || open().filter_map(|pair| pair.forecast.as_ref());
    let least = forecasts().min_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let most = forecasts().max_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let nothing_in_sight = open().filter(|pair| pair.no_difference_in_sight).count();
    html! {
        p {
            (n) " of " (count(pairs, "pair")) @if n == 1 { " is" } @else { " are" } " undecided. "
            @match (least, most) {
                (Some(least), Some(most)) if n > 1 => {
                    "By the forecast the next one to be decided takes " (needed(least))
                    ", the last one " (needed(most)) "."
                }
                (Some(one), _) => { "By the forecast deciding it takes " (needed(one)) "." }
                (None, _) => { "There is no forecast of what deciding would take." }
            }
            @if nothing_in_sight > 0 {
                " For " (nothing_in_sight) " of them no difference is in sight."
            }
            @if matches!(verdicts.rule, Rule::Looks { .. }) && verdicts.stop.is_some() {
                " A RUN that has ended is never extended: that would be a new RUN with a larger "
                code { "--cap" } " or " code { "--budget" } "."
            }
        }
    }
}

/// A RUN that was planned without questions: medians, and that nothing more is claimed.
fn unasked(context: &SectionContext<'_>) -> Vec<Block> {
    let study = context.run.study;
    if study.tables.iter().all(|table| table.rows.is_empty()) {
        let text = "There is no answer: no trial of this RUN came to its end.";
        return vec![Block::Missing(text.to_owned())];
    }
    let warning = "this RUN was planned without questions, so there are no verdicts. What follows \
                   are medians; whether a difference between them is real is not said.";
    let medians = html! {
        ul.answers {
            @for table in &study.tables {
                li {
                    span.what { (table.phase) " of " (table.workload) ", median time to "
                        (study.compared_clock.name()) }
                    (medians(table)) "."
                }
            }
        }
    };
    vec![Block::Warning(warning.to_owned()), Block::Html(medians)]
}

/// The medians, least first.
fn medians(table: &PhaseTable) -> String {
    let mut rows: Vec<(u64, String)> = table
        .rows
        .iter()
        .filter_map(|row| Some((row.compared.as_ref()?.median_ns, row_label(table, row))))
        .collect();
    rows.sort();
    let mut items: Vec<String> = rows
        .iter()
        .take(NAMED)
        .map(|(median, who)| format!("{who} {}", ns(Some(*median))))
        .collect();
    if rows.len() > NAMED {
        items.push(format!("{} more", rows.len() - NAMED));
    }
    let absent: Vec<String> = table
        .absent
        .iter()
        .take(NAMED)
        .map(|row| format!("{} {}", row.label, absence(row.why)))
        .collect();
    match (items.is_empty(), absent.is_empty()) {
        (true, true) => "no figures".to_owned(),
        (true, false) => format!("no figures: {}", listed(&absent)),
        (false, true) => listed(&items),
        (false, false) => format!("{}; without figures: {}", listed(&items), listed(&absent)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_looks_like_it() {
        let marked = |text: &str| with_commands(text).into_string();
        assert_eq!(
            marked("about 3 min more would decide 7 of them: --runs 10."),
            "about 3 min more would decide 7 of them: <code>--runs 10</code>."
        );
        assert_eq!(
            marked("fsarena doctor says what to do"),
            "<code>fsarena doctor</code> says what to do"
        );
        let both = marked("as root, --on loop:4G makes it, or --full.");
        let commands = "<code>--on loop:4G</code> makes it, or <code>--full</code>.";
        assert_eq!(both, format!("as root, {commands}"));
        assert_eq!(marked("a <b> b"), "a &lt;b&gt; b");
        assert_eq!(marked("as `show --raw` says."), "as <code>show --raw</code> says.");
    }
}
