//! Ratios between machines of ours, as the article of 2008 has them: 64 bits over 32 on one
//! processor (its table 3), and Intel over AMD under one architecture (its table 4). Table 3 comes
//! of one machine too, where programs of both widths were measured in one RUN.
//!
//! Which machines may be set in such a ratio is decided here, from what each says of itself;
//! computed is nothing but the ratio of two medians.

use super::model::OwnPhase;
use super::ours::{By, Ours, Side};
use crate::labels::contenders;
use crate::table::{Cell, Column, Table};
use fsarena_model::contender::Contender;
use fsarena_model::factor::{PROGRAMS, has_i386_programs};
use fsarena_model::host::Host;
use fsarena_study::median_task_clock_ns;

/// What two machines differ in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// 64 bits and 32 bits, on the same processor.
    Bits,
    /// Intel and AMD, under the same architecture.
    Vendor,
}

impl Kind {
    const ALL: [Self; 2] = [Self::Bits, Self::Vendor];

    fn title(self) -> &'static str {
        match self {
            Self::Bits => "64-bit / 32-bit, as table 3",
            Self::Vendor => "Intel / AMD, as table 4",
        }
    }

    /// Whether the first machine stands above the line and the second below it.
    fn is_pair(self, above: &Host, below: &Host) -> bool {
        match self {
            Self::Bits => {
                let are_known = above.cpu_model.is_some() && bits(below) == Some(32);
                above.cpu_model == below.cpu_model && are_known && bits(above) == Some(64)
            }
            Self::Vendor => {
                let is_same = above.architecture == below.architecture;
                is_same && is_of(above, "Intel") && is_of(below, "AMD")
            }
        }
    }
}

/// Width of a machine's words, where its architecture is one that is known.
fn bits(host: &Host) -> Option<u8> {
    match host.architecture.as_str() {
        "x86_64" | "amd64" | "aarch64" | "ppc64" | "ppc64le" | "riscv64" | "s390x"
        | "loongarch64" | "mips64" | "sparc64" => Some(64),
        "i386" | "i486" | "i586" | "i686" | "x86" | "arm" | "armv6l" | "armv7l" | "ppc"
        | "mips" | "riscv32" => Some(32),
        _ => None,
    }
}

fn is_of(host: &Host, vendor: &str) -> bool {
    host.cpu_model.as_ref().is_some_and(|model| model.contains(vendor))
}

/// Both tables by each clock, where machines are side by side; none without rows.
pub(super) fn tables(ours: &Ours<'_>) -> Vec<Table> {
    let clocks = ours.clocks().filter(|_| ours.has_machines());
    let all = clocks.flat_map(|by| Kind::ALL.map(|kind| ratios(ours, kind, by)));
    all.filter(|table| !table.is_empty()).collect()
}

/// A row for each such pair of machines and each contender that both have; without rows where there
/// is no such pair.
fn ratios(ours: &Ours<'_>, kind: Kind, by: By) -> Table {
    let heads = ours.tests.iter().map(|(test, _)| Column::figure(test.head()).narrow());
    let columns: Vec<Column> = std::iter::once(Column::text("")).chain(heads).collect();
    let clock = ours.clock(by);
    let title = format!("{}: ratios of medians by {clock}", kind.title());
    let mut table = Table::new(columns).titled(title).in_groups(1);
    for (at, above) in ours.runs.iter().enumerate() {
        for (below_at, below) in ours.runs.iter().enumerate() {
            if !kind.is_pair(&above.header.host, &below.header.host) {
                continue;
            }
            let both = contenders(above.study);
            let known = contenders(below.study);
            for (_, label) in both.iter().filter(|(_, one)| known.iter().any(|(_, k)| k == one)) {
                let head = format!("{label}, ({}) / ({})", at + 1, below_at + 1);
                let cells = ours.tests.iter().map(|test| {
                    let sides = (Side { run: above, label }, Side { run: below, label });
                    ours.ratio(test, sides, by).unwrap_or_else(Cell::none)
                });
                table.row(std::iter::once(Cell::text(head)).chain(cells));
            }
        }
    }
    table
}

/// A ratio within a factor of 1.05 of 1 is none.
const ALIKE: f64 = 0.05;
/// What such a ratio is of.
const WIDTHS: &str = "32-bit programs under a 64-bit kernel, of the same versions; the article had \
                      a 32-bit kernel under its 32-bit programs, and seconds by the wall clock.";

/// Table 3 of a RUN with programs of both widths: the task clock of those of 64 bits over that of
/// the same ones of 32, and below it the ratios of the article; nothing of other RUNs.
pub(super) fn widths(ours: &Ours<'_>) -> Option<Table> {
    let heads = ours.tests.iter().map(|(test, _)| Column::figure(test.head()).narrow());
    let columns: Vec<Column> = std::iter::once(Column::text("")).chain(heads).collect();
    let title = "64-bit / 32-bit programs, as table 3: ratios of medians of the task clock";
    let mut table = Table::new(columns).titled(title.to_owned()).in_groups(1);
    let mut measured: Vec<(String, Vec<Option<f64>>)> = Vec::new();
    for (at, run) in ours.runs.iter().enumerate() {
        let contenders = &run.header.plan.contenders;
        let pairs = contenders.iter().filter(|one| has_i386_programs(&one.levels));
        for narrow in pairs {
            let mut levels = narrow.levels.clone();
            levels.factors.remove(PROGRAMS);
            let Some(wide) = contenders.iter().find(|one| one.levels == levels) else { continue };
            let ratio = |phase: &OwnPhase| {
                let clock_ns = |of: &Contender| {
                    median_task_clock_ns(run.records, of, (&phase.workload, &phase.phase))
                };
                let narrow_ns = clock_ns(narrow).filter(|ns| *ns > 0.0)?;
                Some(clock_ns(wide)? / narrow_ns)
            };
            let ratios: Vec<Option<f64>> =
                ours.tests.iter().map(|(_, phase)| ratio((*phase)?)).collect();
            let head = format!("this machine, {}{}", wide.levels.fs.name, ours.tag(at));
            let cells = ratios.iter().map(|ratio| ratio_cell(*ratio));
            let noted = Cell::text(head.as_str()).notes(vec![WIDTHS.to_owned()]);
            table.row(std::iter::once(noted).chain(cells));
            measured.push((head, ratios));
        }
    }
    if table.is_empty() {
        return None;
    }
    let printed = ours.printed("Table 3");
    for (cpu, ratios) in &printed {
        let cells = ratios.iter().map(|ratio| ratio_cell(*ratio));
        table.row(std::iter::once(Cell::text(format!("2008, {cpu}"))).chain(cells));
    }
    for (head, ratios) in measured {
        let cells = ratios.iter().enumerate().map(|(at, own)| {
            let alike = |ratios: &[Option<f64>]| {
                own.zip(ratios.get(at).copied().flatten()).map(|(own, then)| is_alike(own, then))
            };
            agreement(printed.iter().map(|(cpu, ratios)| (cpu.as_str(), alike(ratios))))
        });
        let head = format!("{head}: as in 2008 within \u{b1}5 % of 1 on");
        table.row(std::iter::once(Cell::text(head)).chain(cells));
    }
    Some(table)
}

fn ratio_cell(ratio: Option<f64>) -> Cell {
    Cell::maybe(ratio.map(|ratio| (format!("{ratio:.2}"), ratio)))
}

/// Whether two ratios say the same: less, as much, more.
fn is_alike(one: f64, other: f64) -> bool {
    let side = |ratio: f64| match ratio {
        _ if ratio > 1.0 + ALIKE => 1,
        _ if ratio < 1.0 / (1.0 + ALIKE) => -1,
        _ => 0,
    };
    side(one) == side(other)
}

/// The processors of the article whose ratio says the same as ours.
fn agreement<'c>(all: impl Iterator<Item = (&'c str, Option<bool>)>) -> Cell {
    let known: Vec<(&str, bool)> = all.filter_map(|(cpu, is)| Some((cpu, is?))).collect();
    let alike: Vec<&str> = known.iter().filter(|(_, is)| *is).map(|(cpu, _)| *cpu).collect();
    match (known.is_empty(), alike.is_empty()) {
        (true, _) => Cell::none(),
        (false, true) => Cell::text("none"),
        (false, false) => Cell::text(alike.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::article::OwnRun;
    use crate::pictures::sample::Sample;
    use fsarena_model::record::TaskCpu;
    use fsarena_testkit::records;

    fn sample(cpu: &str, architecture: &str, returned_ns: u64) -> Sample {
        let mut sample = Sample::with_labels(&["tmpfs", "ext3"], vec![records::small_files()], 1);
        sample.header.host.cpu_model = Some(cpu.to_owned());
        sample.header.host.architecture = architecture.to_owned();
        for record in &mut sample.records {
            record.phases.iter_mut().for_each(|phase| phase.clocks.returned_ns = returned_ns);
        }
        sample.again()
    }

    fn tables(samples: &[Sample], kind: Kind) -> Table {
        let article = fsarena_reference::study(2008).unwrap();
        let phases = [OwnPhase {
            title: "untar".to_owned(),
            workload: "small-files".to_owned(),
            phase: "create".to_owned(),
        }];
        let runs: Vec<OwnRun<'_>> = samples
            .iter()
            .map(Sample::run)
            .map(|run| OwnRun {
                header: run.header,
                records: run.records,
                study: run.study,
                notes: &[],
            })
            .collect();
        let fsarena_reference::Shape::Machines { tests } = &article.shape else { panic!("2008") };
        ratios(&Ours::new(&article, tests, &phases, &runs), kind, By::Returned)
    }

    #[test]
    fn bits_and_vendors_have_tables_of_their_own() {
        let machines = [
            sample("AMD Athlon", "i686", 400_000_000),
            sample("AMD Athlon", "x86_64", 300_000_000),
            sample("Intel Core 2", "x86_64", 150_000_000),
        ];
        let rows = |kind| {
            let table = tables(&machines, kind);
            table.rows.iter().map(|row| (row[0].text.clone(), row[1].text.clone())).collect()
        };
        let of_bits: Vec<(String, String)> = rows(Kind::Bits);
        let pair = |head: &str, ratio: &str| (head.to_owned(), ratio.to_owned());
        assert_eq!(of_bits, [pair("tmpfs, (2) / (1)", "0.75"), pair("ext3, (2) / (1)", "0.75")]);
        let of_vendors: Vec<(String, String)> = rows(Kind::Vendor);
        let expected = [pair("tmpfs, (3) / (2)", "0.50"), pair("ext3, (3) / (2)", "0.50")];
        assert_eq!(of_vendors, expected, "not over (1), which has 32 bits");
    }

    #[test]
    fn programs_of_both_widths_have_table_3_of_one_machine() {
        let mut sample = sample("AMD Athlon", "x86_64", 400_000_000);
        let article = fsarena_reference::study(2008).unwrap();
        let fsarena_reference::Shape::Machines { tests } = &article.shape else { panic!("2008") };
        let phases = [OwnPhase {
            title: "tar+bzip2".to_owned(),
            workload: "small-files".to_owned(),
            phase: "create".to_owned(),
        }];
        let table = |sample: &Sample| {
            let run = sample.run();
            let (header, records, study) = (run.header, run.records, run.study);
            let runs = [OwnRun { header, records, study, notes: &[] }];
            widths(&Ours::new(&article, tests, &phases, &runs))
        };
        assert!(table(&sample).is_none(), "two file systems, and no width");
        let wide = sample.header.plan.contenders[0].levels.clone();
        let narrow = &mut sample.header.plan.contenders[1];
        narrow.levels = wide;
        narrow.levels.factors.insert(PROGRAMS.to_owned(), "i386".to_owned());
        let ids = [0, 1].map(|at: usize| sample.header.plan.contenders[at].id());
        let slots = sample.header.plan.schedule.clone();
        for (record, slot) in sample.records.iter_mut().zip(slots) {
            record.key.contender = ids[slot.contender].clone();
            let worker_ns = if slot.contender == 0 { 82_000_000 } else { 100_000_000 };
            let task_cpu = Some(TaskCpu { worker_ns, kernel_threads_ns: None });
            record.phases.iter_mut().for_each(|phase| phase.task_cpu = task_cpu);
        }
        let table = table(&sample).unwrap();
        let at = tests.iter().position(|test| test.name == "tar+bzip2").unwrap() + 1;
        let column: Vec<&str> = table.rows.iter().map(|row| row[at].text.as_str()).collect();
        assert_eq!(column, ["0.82", "0.83", "0.77", "AMD, Intel"]);
        assert!(is_alike(0.9, 0.5) && !is_alike(0.97, 0.5) && is_alike(1.04, 0.96));
    }

    #[test]
    fn one_machine_has_no_such_table() {
        let alone = [sample("AMD Athlon", "x86_64", 1)];
        assert!(Kind::ALL.iter().all(|kind| tables(&alone, *kind).is_empty()));
    }
}
