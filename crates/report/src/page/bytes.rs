//! Where the bytes went: the account of what was written, by contender, with the answer in words.

use crate::accounts::{LEGEND as ACCOUNT_LEGEND, account_notes, account_title};
use crate::format::{count, grouped};
use crate::page::context::SectionContext;
use crate::page::parts::{self, Cell, Column, Table};
use crate::page::pictures::{self, three};
use fsarena_chart::Svg;
use fsarena_study::account::UNATTRIBUTED_MUCH;
use fsarena_study::{AccountLine, AccountMeans, AccountPart, AccountRow, AccountView};
use maud::{Markup, html};

/// Contenders whose answers stand open.
const OPEN_ANSWERS: usize = 4;

/// The section of one RUN; empty where no account was asked for.
pub(crate) fn section(context: &SectionContext<'_>) -> Markup {
    let views = &context.run.study.accounts;
    if views.is_empty() {
        return html! {};
    }
    let body = html! {
        (parts::note(ACCOUNT_LEGEND))
        @for view in views { (phase(context, view)) }
    };
    parts::section(context, "bytes", "Where the bytes went", &body)
}

/// Its charts, in their order on the page.
pub(crate) fn charts(context: &SectionContext<'_>) -> Vec<Svg> {
    let drawn = |view| drawn(context, view).into_iter().map(|(chart, _)| chart);
    context.run.study.accounts.iter().flat_map(drawn).collect()
}

const PARTS: &str = "Parts of what the device wrote, from a trace of its requests; the upright line \
                     is what the calls asked for. The tones of a bar are the parts, not the \
                     contenders.";
const ALLOCATED: &str = "Kept apart from it: what the files hold on the device at the end, written \
                         in these cycles or not. Rounding as allocated takes room; it need not be \
                         written.";

fn drawn(context: &SectionContext<'_>, view: &AccountView) -> Vec<(Svg, &'static str)> {
    let allocated = pictures::allocated(context, view);
    let parts = (pictures::account(context, view).draw(), PARTS);
    std::iter::once(parts).chain(allocated.map(|chart| (chart.draw(), ALLOCATED))).collect()
}

fn phase(context: &SectionContext<'_>, view: &AccountView) -> Markup {
    let has_figures = view.rows.iter().any(|row| row.means.is_some());
    html! {
        (parts::heading(&account_title(view)))
        @for row in &view.rows { (spoilt(row)) }
        div.pair {
            @for (chart, caption) in drawn(context, view) { (parts::figure(&chart, caption)) }
        }
        @if has_figures { (amounts(view)) (shares(view)) }
        @for (at, row) in view.rows.iter().enumerate() { (answer(row, at < OPEN_ANSWERS)) }
    }
}

/// That trials of a contender have no account, or none that counts.
fn spoilt(row: &AccountRow) -> Markup {
    let lost: u64 = row.spoilt.iter().map(|one| one.lost_events).sum();
    html! {
        @if lost > 0 {
            @let (what, are) = match row.spoilt.len() {
                1 => ("one account".to_owned(), "is"),
                several => (count(several, "account"), "are"),
            };
            (parts::warning(&format!(
                "{}: {what} lost {} events of the trace and {are} excluded from these results.",
                row.label,
                grouped(lost),
            )))
        }
    }
}

/// The answer in words, and what has to be known with it.
fn answer(row: &AccountRow, is_open: bool) -> Markup {
    // What is spoilt is said above, and in the words.
    let mut notes = account_notes(row);
    notes.retain(|note| !note.starts_with("SPOILT"));
    let own = row.notes.iter().filter(|note| !row.words.contains(note));
    notes.splice(0..0, own.cloned());
    let body = html! { (parts::list(&row.words)) (parts::list(&notes)) };
    html! {
        @if is_open {
            h5 { (parts::swatch(row.contender, &row.label)) }
            (body)
        } @else {
            (parts::fold(&format!("{} in words", row.label), &body))
        }
    }
}

/// What stands beside the parts: name, unit and value.
type Further = (&'static str, &'static str, fn(&AccountMeans) -> Option<f64>);

const FURTHER: [Further; 7] = [
    ("the device wrote", "MB", |means| Some(means.check.counter_bytes / 1e6)),
    ("asked for", "MB", |means| Some(means.asked_bytes / 1e6)),
    ("asked, never written as data", "MB", |means| Some(means.never_written_bytes? / 1e6)),
    ("rounding as allocated", "MB", |means| Some(means.allocated.rounding_bytes / 1e6)),
    ("discarded", "MB", |means| Some(means.discarded_bytes / 1e6)),
    ("writes", "", |means| Some(means.writes)),
    ("flushes", "", |means| Some(means.flushes)),
];

/// A row a contender, in MB.
fn amounts(view: &AccountView) -> Table {
    let part = |(name, _): &(&str, AccountPart)| Column::figure(*name, "MB");
    let mut columns = vec![Column::text("contender")];
    columns.extend(AccountPart::ALL.iter().map(part));
    columns.extend(FURTHER.iter().map(|(name, unit, _)| Column::figure(*name, *unit)));
    columns.push(Column::text("accounts"));
    let caption = format!("{}: amounts", account_title(view));
    let mut table = Table::new(caption, columns).sortable();
    for row in &view.rows {
        let Some(means) = &row.means else { continue };
        let figure = |value: f64| (three(value), value);
        let mut cells = vec![Cell::markup(parts::swatch(row.contender, &row.label))];
        cells.extend(means.lines.iter().map(|line| Cell::maybe(Some(figure(line.bytes / 1e6)))));
        cells.extend(FURTHER.iter().map(|(_, _, of)| Cell::maybe(of(means).map(figure))));
        cells.push(accounts(row));
        table.row(cells);
    }
    table
}

/// How many accounts are behind the figures, and how many are not.
fn accounts(row: &AccountRow) -> Cell {
    match row.spoilt.len() {
        0 => Cell::text(row.n.to_string()),
        spoilt => Cell::markup(html! { (row.n) ", " strong { (spoilt) " SPOILT" } }),
    }
}

/// The same as shares of what the device wrote, and as multiples of what was asked for.
fn shares(view: &AccountView) -> Table {
    let mut columns = vec![Column::text("contender")];
    for (name, _) in AccountPart::ALL {
        columns.push(Column::figure(name, "%"));
    }
    columns.push(Column::figure("the device wrote", "× asked"));
    let caption = format!("{}: shares of what the device wrote", account_title(view));
    let mut table = Table::new(caption, columns).sortable();
    for row in &view.rows {
        let Some(means) = &row.means else { continue };
        let mut cells = vec![Cell::markup(parts::swatch(row.contender, &row.label))];
        cells.extend(means.lines.iter().map(share));
        let times = means.check.counter_bytes / means.asked_bytes;
        let is_known = times.is_finite() && means.asked_bytes > 0.0;
        cells.push(Cell::maybe(is_known.then(|| (three(times), times))));
        table.row(cells);
    }
    table
}

/// Bold where so much is unattributed that it stands in the way of a conclusion.
fn share(line: &AccountLine) -> Cell {
    let Some(share) = line.share else { return Cell::none() };
    let (text, value) = (format!("{:.1}", share * 100.0), share * 100.0);
    match line.part == AccountPart::Unattributed && share >= UNATTRIBUTED_MUCH {
        true => Cell::strong(text, value),
        false => Cell::figure(text, value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::pictures::sample::Sample;
    use fsarena_testkit::records;

    #[test]
    fn parts_lie_end_to_end_and_sum_up_to_what_the_device_wrote() {
        let sample = Sample::periodic();
        let run = sample.run();
        let context = SectionContext::new(0, &run);
        let chart = pictures::account(&context, &sample.study.accounts[0]);
        assert_eq!((chart.names.len(), chart.stacks.len()), (7, 6));
        let segments = &chart.stacks[1].segments;
        assert!(segments.windows(2).all(|two| two[0].to == two[1].from), "{segments:?}");
        let end = segments.last().unwrap().to;
        assert!((end - 2730.0).abs() < 1.0, "{end} MB a cycle");
        let asked = chart.stacks[1].held_against.as_ref().unwrap();
        // 300 MB a cycle, and 8 MB of the second load in one of three.
        assert!((asked.value - 302.67).abs() < 0.01, "{asked:?}");
        assert_eq!(chart.stacks[1].note, "9.02 × asked");
        let allocated = pictures::allocated(&context, &sample.study.accounts[0]).unwrap();
        assert!((allocated.stacks[0].segments[1].to - 2621.44).abs() < 0.01, "{allocated:?}");
    }

    #[test]
    fn lost_events_are_loud_and_the_answer_is_in_words() {
        let sample = Sample::periodic();
        let run = sample.run();
        let context = SectionContext::new(0, &run);
        assert!(charts(&context)[0].inline.contains("1 SPOILT, 9.02 × asked"));
        let page = section(&context).into_string();
        for said in [
            "ext4 1024: one account lost 7 events of the trace and is excluded from these results.",
            "3, <strong>1 SPOILT</strong>",
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
        let drawn = charts(&context);
        assert_eq!((drawn.len(), drawn[0].marks), (1, 0));
        let page = section(&context).into_string();
        assert!(page.contains("No account is sound") && !page.contains("<table"), "{page}");
    }

    #[test]
    fn what_has_no_account_has_no_such_section() {
        let sample = Sample::with_labels(&["ext4"], vec![records::small_files()], 2);
        let run = sample.run();
        let context = SectionContext::new(0, &run);
        assert!(section(&context).into_string().is_empty() && charts(&context).is_empty());
    }
}
