//! Fresh and aged: the state that file systems were brought into before the work, and how many
//! times as long each phase takes there.

use crate::context::SectionContext;
use crate::format::{grouped, three};
use crate::pictures::file_name;
use crate::section::{Block, Owner, Section};
use crate::table::{Cell, Column, Table};
use crate::text::capital;
use fsarena_chart::{Head, Key, Ratio, Ratios, Spot, Svg};
use fsarena_model::verdict::Verdict;
use fsarena_study::{AgeRow, AgeingRatio, AgeingView, SpreadF};

const LEGEND: &str = "Age: before the work a file system is filled to a share of the device's \
     bytes (with of=room, of what statfs gives as available) and churned: files are deleted, made, \
     written over and appended to, by the same operations on every file system of one age and size \
     of device (with of=room, of one room), and where extents= ends them, by as many of one \
     sequence as that took; what they make of it is a property of theirs. Extents per file are \
     counted by FIEMAP, neighbours on the device as one. Used: by statfs, with metadata and what \
     is set aside. Aged ÷ fresh is a ratio of times by the blocks that have both, with its \
     interval; SLOWER is said where the interval is above 1, SAME where two one-sided tests within \
     the margin show it; all ages of one file system are one family. These were not asked before \
     block 1: what the RUN asked is answered by its verdicts.";
const LEGEND_OF_IMAGES: &str = " From images: trials that took the state from a kept image of the \
     device; their times are not in \"time\".";

/// Its blocks: the ages, and where the same contenders were fresh too, the ratios of all phases as
/// a table, as charts and in words; nothing where nothing was aged.
pub(crate) fn build(context: &SectionContext<'_>) -> Section {
    let study = context.run.study;
    if study.ages.is_empty() {
        return Section::none();
    }
    let mut blocks = vec![Block::Table(ages(&study.ages))];
    let views = &study.ageing;
    let drawn = |(at, view): (usize, &AgeingView)| (chart(context, at, view), caption(view));
    blocks.extend(context.charts(|| views.iter().enumerate().map(drawn).collect()));
    if !views.is_empty() {
        blocks.push(Block::Table(ratios(views)));
    }
    blocks.extend(views.iter().map(|view| {
        let owner = format!("{} / {}", view.workload, view.phase);
        Block::List(Some(Owner::named(owner)), view.words.clone())
    }));
    let of_images = if uses_images(&study.ages) { LEGEND_OF_IMAGES } else { "" };
    Section::new(blocks).legend(format!("{LEGEND}{of_images}"))
}

/// Whether a state was taken from a kept image.
fn uses_images(rows: &[AgeRow]) -> bool {
    rows.iter().any(|row| row.restored > 0)
}

/// A row a contender that was aged.
fn ages(rows: &[AgeRow]) -> Table {
    let uses_images = uses_images(rows);
    let mut columns = vec![
        Column::text("contender"),
        Column::figure("filled"),
        Column::figure("churned"),
        Column::figure("operations").optional(3),
        Column::figure("files"),
        Column::figure("used, %"),
        Column::figure("extents per file"),
        Column::figure("p99").optional(2),
        Column::figure("per MiB").optional(1),
        Column::figure("time").optional(4),
        Column::code("same by").optional(5),
        Column::figure("n").optional(6),
    ];
    if uses_images {
        columns.push(Column::figure("from images").optional(1));
    }
    let mut table = Table::new(columns).caption("Ages before the work, medians").sortable();
    let whole = |value: Option<u64>| Cell::maybe(value.map(|own| (grouped(own), own as f64)));
    let spread = |value: Option<SpreadF>| {
        Cell::maybe(value.map(|spread| (three(spread.median), spread.median)))
    };
    for row in rows {
        let mut cells = vec![
            Cell::contender(row.contender, row.label.as_str()),
            Cell::bytes(Some(row.fill_bytes)),
            Cell::bytes(row.churned_bytes),
            whole(row.operations),
            whole(row.files),
            spread(row.used_percent),
            spread(row.extents_per_file),
            whole(row.extents_p99),
            spread(row.extents_per_mib),
            Cell::ns(row.elapsed.map(|own| own.median_ns)),
            Cell::exact(same_by(row)),
            Cell::count(row.n),
        ];
        cells.extend(uses_images.then(|| Cell::count(row.restored)));
        table.row(cells);
    }
    table
}

/// The first digits of what is equal where the operations were.
fn same_by(row: &AgeRow) -> String {
    let short = |digest: &String| digest.chars().take(8).collect::<String>();
    row.operations_sha256.iter().map(short).collect::<Vec<_>>().join(" ")
}

/// A row an aged contender and phase.
fn ratios(views: &[AgeingView]) -> Table {
    let mut table = Table::new([
        Column::text("phase"),
        Column::text("contender"),
        Column::figure("fresh"),
        Column::figure("aged"),
        Column::figure("aged ÷ fresh"),
        Column::figure("interval"),
        Column::text("shown"),
        Column::figure("n").optional(1),
    ])
    .caption("Times on aged file systems ÷ times on fresh ones")
    .sortable();
    for view in views {
        for one in &view.ratios {
            let interval = one.ratio_low.zip(one.ratio_high);
            table.row([
                Cell::text(format!("{} / {}", view.workload, view.phase)),
                Cell::contender(one.contender, one.label.as_str()),
                Cell::ns(one.fresh_ns.map(|ns| ns.round() as u64)),
                Cell::ns(one.aged_ns.map(|ns| ns.round() as u64)),
                Cell::maybe(one.ratio.map(|ratio| (three(ratio), ratio))),
                Cell::maybe(
                    interval.map(|(low, high)| (format!("{} - {}", three(low), three(high)), low)),
                ),
                Cell::text(one.verdict.map_or("-", Verdict::word)),
                Cell::count(one.n),
            ]);
        }
    }
    table
}

fn caption(view: &AgeingView) -> String {
    let words: Vec<String> = view.words.iter().map(|one| format!("{}.", capital(one))).collect();
    words.join(" ")
}

/// The ratios of a phase; `number` is its place among those of the RUN, from 0.
fn chart(context: &SectionContext<'_>, number: usize, view: &AgeingView) -> Svg {
    let values: Vec<String> = view.ratios.iter().map(tip).collect();
    let chart = Ratios {
        head: Head {
            id: format!("{}-ageing-{}", context.prefix, number + 1),
            name: file_name(&[&view.workload, &view.phase, "ageing"]),
            title: format!("{} {}: aged ÷ fresh", view.workload, view.phase),
            description: format!("Time when aged ÷ time when fresh. {}.", values.join("; ")),
        },
        title: format!("{}: time when aged ÷ time when fresh (less is better)", view.phase),
        margin: view.margin,
        rows: view.ratios.iter().map(ratio).collect(),
    };
    chart.draw()
}

fn ratio(one: &AgeingRatio) -> Ratio {
    Ratio {
        key: Key { label: one.label.clone(), hue: one.contender },
        ratio: one.ratio.map(|value| Spot { value, tip: tip(one) }),
        interval: one.ratio_low.zip(one.ratio_high),
        word: one.verdict.map_or("not compared", Verdict::word).to_owned(),
    }
}

/// `ext4 aged 80%: 1.40 [1.31, 1.50], SLOWER`.
fn tip(one: &AgeingRatio) -> String {
    let mut tip = match one.ratio {
        Some(ratio) => format!("{}: {}", one.label, three(ratio)),
        None => format!("{}: no ratio", one.label),
    };
    if let Some((low, high)) = one.ratio_low.zip(one.ratio_high) {
        tip.push_str(&format!(" [{}, {}]", three(low), three(high)));
    }
    if let Some(verdict) = one.verdict {
        tip.push_str(&format!(", {}", verdict.word()));
    }
    tip
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pictures::sample::{Sample, charts_of, html_of};
    use fsarena_testkit::records::{self, aged, in_ages};

    #[test]
    fn a_phase_has_a_chart_of_ratios_with_a_mark_an_aged_contender() {
        let contenders = in_ages(&["ext4", "xfs"], &["fresh", "50%", "80%"]);
        let longer = [1.0, 1.2, 1.4, 1.0, 1.0, 1.1];
        let (header, trials) = aged(contenders, 6, |contender, _| 1.0 / longer[contender]);
        let sample = Sample::new(header, trials);
        let run = sample.run();
        let context = SectionContext::new(0, &run);
        let section = build(&context);
        let drawn = charts_of(&section);
        assert_eq!(drawn.len(), sample.study.ageing.len());
        assert!(drawn.len() > 1 && drawn.iter().all(|chart| chart.marks == 4), "{drawn:?}");
        assert_eq!((drawn[0].id.as_str(), drawn[1].id.as_str()), ("r1-ageing-1", "r1-ageing-2"));
        let page = html_of(&section);
        assert!(page.contains("Ages before the work") && page.contains("aged 80% as fresh"));
        let words = tip(&sample.study.ageing[0].ratios[1]);
        assert!(words.starts_with("ext4 aged 80%: 1.4") && words.ends_with("], SLOWER"), "{words}");
    }

    #[test]
    fn a_run_of_fresh_file_systems_has_no_such_section() {
        let sample = Sample::with_labels(&["ext4", "xfs"], vec![records::small_files()], 2);
        let run = sample.run();
        assert!(html_of(&build(&SectionContext::new(0, &run))).is_empty());
    }
}
