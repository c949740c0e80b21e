//! Where the bytes went: the account of what was written, by contender, with the answer in words.

use crate::context::SectionContext;
use crate::format::{count, grouped, three};
use crate::labels::account_title;
use crate::pictures::{file_name, key, phase_id_of};
use crate::section::{Block, Owner, Section};
use crate::table::{Cell, Column, Table};
use fsarena_chart::{Axis, Head, Segment, Spot, Stack, Stacks};
use fsarena_study::account::UNATTRIBUTED_MUCH;
use fsarena_study::{AccountLine, AccountMeans, AccountPart, AccountRow, AccountView};

/// Contenders whose answers are open on a page.
const OPEN_ANSWERS: usize = 4;

const LEGEND: &str = "Account: means over trials; of a cycle those of all its cycles, disturbed \
     ones and what the unmount writes included, while tables, sweeps and verdicts are of the plain \
     cycles alone. A cycle's span begins at its start and ends at the next one's: what another \
     cycle writes meanwhile is in it too. Parts come from a trace of block requests, the total from \
     the device's own counter; what no part holds, or was seen beyond the counter, is unattributed \
     (then lines add up to more than the counter). data as asked, rounding as written, gone since \
     (taken for contents of files replaced or deleted afterwards, with their rounding): sectors not \
     yet written in the same cycle; written again: the others of these. journal, other metadata: \
     with what was written again. Rounding as allocated is what files take on the device, written \
     or not, at the end; it is no part of the sum, and nor are discards. MB = 10^6 bytes.";
const PARTS: &str = "Parts of what the device wrote, from a trace of its requests; the upright line is \
                     what the calls asked for. The tones of a bar are the parts, not the \
                     contenders.";
const ALLOCATED: &str = "Kept apart from it: what the files hold on the device at the end, written \
                         in these cycles or not. Rounding as allocated takes room; it need not be \
                         written.";

/// Its blocks; nothing where no account was asked for.
pub(crate) fn build(context: &SectionContext<'_>) -> Section {
    let views = context.run.study.accounts.iter();
    let blocks: Vec<Block> = views.flat_map(|view| phase(context, view)).collect();
    if blocks.is_empty() { Section::none() } else { Section::new(blocks).legend(LEGEND) }
}

fn phase(context: &SectionContext<'_>, view: &AccountView) -> Vec<Block> {
    let mut blocks = vec![Block::Heading(account_title(view))];
    blocks.extend(view.rows.iter().filter_map(lost).map(Block::Warning));
    blocks.extend(context.charts(|| {
        let allocated = allocated(context, view);
        let parts = (account(context, view).draw(), PARTS.to_owned());
        let allocated = allocated.map(|chart| (chart.draw(), ALLOCATED.to_owned()));
        std::iter::once(parts).chain(allocated).collect()
    }));
    if view.rows.iter().any(|row| row.means.is_some()) {
        blocks.extend([Block::Table(amounts(view)), Block::Table(multiples(view))]);
    }
    let answers = answers(view);
    let is_long = answers.len() > OPEN_ANSWERS;
    for (at, (owner, words)) in answers.into_iter().enumerate() {
        let summary = format!("{} in words", owner.label);
        let list = Block::List(Some(owner), words);
        let is_folded = is_long && at >= OPEN_ANSWERS;
        blocks.push(if is_folded { Block::Fold(summary, vec![list]) } else { list });
    }
    blocks
}

/// That accounts of a contender do not count.
fn lost(row: &AccountRow) -> Option<String> {
    let events: u64 = row.spoilt.iter().fold(0, |sum, one| sum.saturating_add(one.lost_events));
    let (what, are) = match row.spoilt.len() {
        1 => ("one account".to_owned(), "is"),
        several => (count(several, "account"), "are"),
    };
    (events > 0).then(|| {
        let (label, events) = (&row.label, grouped(events));
        format!(
            "{label}: {what} lost {events} events of the trace and {are} excluded from these \
             results."
        )
    })
}

/// Gaps in an account: what is spoilt, what was not taken.
fn gaps(row: &AccountRow) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    if !row.spoilt.is_empty() {
        let trial = |one: &fsarena_study::account::SpoiltAccount| {
            format!("trial {} ({} events lost)", one.trial, one.lost_events)
        };
        let lost: Vec<String> = row.spoilt.iter().map(trial).collect();
        let what = count(row.spoilt.len(), "account");
        notes.push(format!("SPOILT: {what} in no figure: {}", lost.join(", ")));
    }
    for one in &row.not_taken {
        notes.push(format!("no account in {}: {}", count(one.trials, "trial"), one.reason));
    }
    notes
}

/// The answer in words of each contender, then what has to be known when its account is read; those
/// of whom the same is said together.
fn answers(view: &AccountView) -> Vec<(Owner, Vec<String>)> {
    let mut all: Vec<(Owner, Vec<String>)> = Vec::new();
    for row in view.rows.iter().filter(|row| !row.words.is_empty()) {
        let further = row.notes.iter().filter(|note| !row.words.contains(note));
        let words: Vec<String> = row.words.iter().chain(further).cloned().collect();
        match all.iter_mut().find(|(_, known)| *known == words) {
            Some((owner, _)) => {
                owner.label.push_str(&format!(", {}", row.label));
                owner.contender = None;
            }
            None => all.push((Owner::contender(row.contender, row.label.as_str()), words)),
        }
    }
    all
}

/// A figure next to the parts: name, unit and value.
type Further = (&'static str, &'static str, fn(&AccountMeans) -> Option<f64>);

const FURTHER: [Further; 8] = [
    ("the device wrote", "MB", |means| Some(means.check.counter_bytes / 1e6)),
    ("seen by the trace", "MB", |means| {
        Some((means.check.counter_bytes - means.check.unseen_bytes) / 1e6)
    }),
    ("asked for", "MB", |means| Some(means.asked_bytes / 1e6)),
    ("asked, never written as data", "MB", |means| Some(means.never_written_bytes? / 1e6)),
    ("rounding as allocated", "MB", |means| Some(means.allocated.rounding_bytes / 1e6)),
    ("discarded", "MB", |means| Some(means.discarded_bytes / 1e6)),
    ("writes", "", |means| Some(means.writes)),
    ("flushes", "", |means| Some(means.flushes)),
];

fn figure(value: f64) -> (String, f64) {
    (three(value), value)
}

fn label(row: &AccountRow) -> Cell {
    Cell::contender(row.contender, row.label.as_str())
}

/// A row a contender: each part in MB with its share, and what is next to the parts.
fn amounts(view: &AccountView) -> Table {
    let mut columns = vec![Column::text("contender")];
    columns.extend(AccountPart::ALL.iter().map(|(name, _)| Column::figure(*name).unit("MB")));
    columns.extend(FURTHER.iter().map(|(name, unit, _)| Column::figure(*name).unit(*unit)));
    columns.push(Column::figure("accounts"));
    let caption = format!("{}: amounts", account_title(view));
    let mut table = Table::new(columns).caption(caption).sortable().turned();
    for row in &view.rows {
        let mut cells = vec![label(row).notes(gaps(row))];
        if let Some(means) = &row.means {
            cells.extend(means.lines.iter().map(part));
            cells.extend(FURTHER.iter().map(|(_, _, value)| Cell::maybe(value(means).map(figure))));
        }
        cells.resize(table.columns.len() - 1, Cell::none());
        cells.push(Cell::count(row.n));
        table.row(cells);
    }
    table
}

/// Bold where so much is unattributed that it stands in the way of a conclusion.
fn part(line: &AccountLine) -> Cell {
    let mb = line.bytes / 1e6;
    let Some(share) = line.share else { return Cell::maybe(Some(figure(mb))) };
    let cell = Cell::figure(format!("{} ({:.1} %)", three(mb), share * 100.0), mb);
    match line.part == AccountPart::Unattributed && share >= UNATTRIBUTED_MUCH {
        true => cell.strong(),
        false => cell,
    }
}

/// A row a contender: each part as a multiple of the bytes asked for.
fn multiples(view: &AccountView) -> Table {
    let mut columns = vec![Column::text("contender")];
    let parts = AccountPart::ALL.iter().map(|(name, _)| *name).chain(["the device wrote"]);
    columns.extend(parts.map(|name| Column::figure(name).unit("× asked")));
    let caption = format!("{}: as multiples of the bytes asked for", account_title(view));
    let mut table = Table::new(columns).caption(caption).sortable().turned();
    for row in &view.rows {
        let mut cells = vec![label(row)];
        if let Some(means) = &row.means {
            let times = |bytes: f64| {
                let times = bytes / means.asked_bytes;
                Cell::maybe(times.is_finite().then(|| figure(times)))
            };
            cells.extend(means.lines.iter().map(|line| times(line.bytes)));
            cells.push(times(means.check.counter_bytes));
        }
        cells.resize(table.columns.len(), Cell::none());
        table.row(cells);
    }
    table
}

/// Bytes of a megabyte, as everywhere in accounts.
const MB: f64 = 1e6;

/// The parts of what was written.
fn account(context: &SectionContext<'_>, view: &AccountView) -> Stacks {
    let per =
        if view.per_cycle { "written to the device a cycle" } else { "written to the device" };
    Stacks {
        head: Head {
            id: phase_id_of(context, (&view.workload, &view.phase), "account"),
            name: file_name(&[&view.workload, &view.phase, "bytes-account"]),
            title: account_title(view),
            description: describe_accounts(view),
        },
        axis: Axis::linear(format!("{per}, MB"), " MB"),
        names: AccountPart::ALL.iter().map(|(name, _)| (*name).to_owned()).collect(),
        by_name: true,
        against: "asked for".to_owned(),
        stacks: view.rows.iter().map(stack_of).collect(),
    }
}

/// What the files hold at the end: contents, and what is allocated beyond them. `None` where
/// nothing is known of it.
fn allocated(context: &SectionContext<'_>, view: &AccountView) -> Option<Stacks> {
    let stack = |row: &AccountRow| {
        let own = row.means.as_ref()?.allocated;
        let (contents, end) =
            (own.contents_bytes / MB, (own.contents_bytes + own.rounding_bytes) / MB);
        let tip = |what: &str, mb: f64| format!("{}: {what} {} MB", row.label, three(mb));
        let contents_tip = tip("contents", contents);
        let rounding_tip = tip("rounding as allocated", end - contents);
        Some(Stack {
            key: key(row.contender, row.label.as_str()),
            segments: vec![
                Segment { name: 0, from: 0.0, to: contents, tip: contents_tip },
                Segment { name: 1, from: contents, to: end, tip: rounding_tip },
            ],
            note: match own.unplaced_files {
                0.0 => String::new(),
                _ => "not all places known".to_owned(),
            },
            ..Stack::default()
        })
    };
    let stacks: Vec<Stack> = view.rows.iter().filter_map(stack).collect();
    let said: Vec<String> = stacks
        .iter()
        .flat_map(|stack| stack.segments.iter().map(|segment| segment.tip.clone()))
        .collect();
    (!stacks.is_empty()).then(|| Stacks {
        head: Head {
            id: phase_id_of(context, (&view.workload, &view.phase), "allocated"),
            name: file_name(&[&view.workload, &view.phase, "space-held"]),
            title: format!("{} / {}: space of the files at the end", view.workload, view.phase),
            description: format!("What the files hold on the device: {}.", said.join("; ")),
        },
        axis: Axis::linear("held by all files at the end, MB", " MB"),
        names: ["contents", "rounding as allocated"].map(str::to_owned).to_vec(),
        stacks,
        ..Stacks::default()
    })
}

fn stack_of(row: &AccountRow) -> Stack {
    let mut end = 0.0;
    let mut segments = Vec::new();
    let lines = row.means.iter().flat_map(|means| &means.lines).enumerate();
    for (name, line) in lines.filter(|(_, line)| line.bytes > 0.0) {
        let from = end;
        end += line.bytes / MB;
        let share = line.share.map_or_else(String::new, |share| {
            format!(", {:.1} % of what the device wrote", share * 100.0)
        });
        let tip = format!("{} {} MB{share}", line.part.name(), three(line.bytes / MB));
        segments.push(Segment { name, from, to: end, tip });
    }
    let asked = row.means.as_ref().map(|means| Spot {
        value: means.asked_bytes / MB,
        tip: format!("asked for {} MB", three(means.asked_bytes / MB)),
    });
    Stack {
        key: key(row.contender, row.label.as_str()),
        segments,
        held_against: asked,
        note: stack_note(row),
    }
}

/// What must not be overlooked, then how many times the asked bytes it is.
fn stack_note(row: &AccountRow) -> String {
    let mut said = Vec::new();
    if !row.spoilt.is_empty() {
        said.push(format!("{} SPOILT", row.spoilt.len()));
    }
    match &row.means {
        Some(means) if means.asked_bytes > 0.0 => {
            said.push(format!("{} × asked", three(means.check.counter_bytes / means.asked_bytes)));
        }
        None if row.spoilt.is_empty() => said.push("no account".to_owned()),
        _ => {}
    }
    said.join(", ")
}

fn describe_accounts(view: &AccountView) -> String {
    let of = |means: &AccountMeans| {
        let parts = means.lines.iter().filter(|line| line.bytes > 0.0);
        let words = parts.map(|line| format!("{} {} MB", line.part.name(), three(line.bytes / MB)));
        words.collect::<Vec<_>>().join(", ")
    };
    let row = |row: &AccountRow| match &row.means {
        Some(means) => format!(
            "{}: asked for {} MB, written {} MB ({})",
            row.label,
            three(means.asked_bytes / MB),
            three(means.check.counter_bytes / MB),
            of(means)
        ),
        None => format!("{}: {}", row.label, stack_note(row)),
    };
    let rows: Vec<String> = view.rows.iter().map(row).collect();
    format!("{}.", rows.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pictures::sample::{Sample, charts_of, html_of};
    use fsarena_testkit::records;

    #[test]
    fn parts_lie_end_to_end_and_sum_up_to_what_the_device_wrote() {
        let sample = Sample::periodic();
        let run = sample.run();
        let context = SectionContext::new(0, &run);
        let chart = account(&context, &sample.study.accounts[0]);
        assert_eq!((chart.names.len(), chart.stacks.len()), (7, 6));
        let segments = &chart.stacks[1].segments;
        assert!(segments.windows(2).all(|two| two[0].to == two[1].from), "{segments:?}");
        let end = segments.last().unwrap().to;
        assert!((end - 2730.0).abs() < 1.0, "{end} MB a cycle");
        let asked = chart.stacks[1].held_against.as_ref().unwrap();
        // 300 MB a cycle, and 8 MB of the second load in one of three.
        assert!((asked.value - 302.67).abs() < 0.01, "{asked:?}");
        assert_eq!(chart.stacks[1].note, "9.02 × asked");
        let allocated = allocated(&context, &sample.study.accounts[0]).unwrap();
        assert!((allocated.stacks[0].segments[1].to - 2621.44).abs() < 0.01, "{allocated:?}");
    }

    #[test]
    fn lost_events_are_loud_and_the_answer_is_in_words() {
        let sample = Sample::periodic();
        let run = sample.run();
        let context = SectionContext::new(0, &run);
        assert!(charts_of(&build(&context))[0].inline.contains("1 SPOILT, 9.02 × asked"));
        let page = html_of(&build(&context));
        for said in [
            "ext4 1024: one account lost 7 events of the trace and is excluded from these results.",
            "SPOILT: 1 account in no figure: trial ",
            "9.02",
        ] {
            assert!(page.contains(said), "no {said} in {page}");
        }
        for words in &sample.study.accounts[0].rows[1].words {
            assert!(page.contains(words.as_str()), "no {words} in {page}");
        }
    }

    #[test]
    fn without_a_sound_account_the_bar_says_why() {
        let mut sample = Sample::periodic();
        for record in &mut sample.records {
            record.phases.iter_mut().for_each(|phase| records::add_account(phase, 1));
        }
        let sample = sample.again();
        let run = sample.run();
        let context = SectionContext::new(0, &run);
        let drawn = charts_of(&build(&context));
        assert_eq!((drawn.len(), drawn[0].marks), (1, 0));
        let page = html_of(&build(&context));
        assert!(page.contains("No account is sound") && !page.contains("<table"), "{page}");
    }

    #[test]
    fn what_has_no_account_has_no_such_section() {
        let sample = Sample::with_labels(&["ext4"], vec![records::small_files()], 2);
        let run = sample.run();
        let context = SectionContext::new(0, &run);
        assert!(html_of(&build(&context)).is_empty() && charts_of(&build(&context)).is_empty());
    }
}
