//! 2008: an archive unpacked and packed, music encoded, in memory and on ext3, with 32 and 64 bits,
//! on AMD and Intel; every single run is published.

mod data;
mod findings;

use crate::article::{Contents, Shape};
use crate::read::BadReference;
use crate::table::{Cell, Table};
use data::{CPUS, DISTRIBUTIONS, Data, FILE_SYSTEMS, Pair, Series, TESTS};

pub(crate) fn contents() -> Result<Contents, BadReference> {
    let (comments, data) = Data::read()?;
    let (tables, findings) = (tables(&data), findings::findings(&data));
    Ok(Contents { comments, tables, findings, shape: Shape::Machines { tests: TESTS.to_vec() } })
}

/// The tables, in the article's order.
fn tables(data: &Data) -> Vec<Table> {
    vec![five(data), means(data), spreads(data), bits(data), vendors(data), places(data), raw(data)]
}

/// Table 1: five repeats, from which three were chosen.
fn five(data: &Data) -> Table {
    let mut columns: Vec<String> = (1..=5).map(|run| format!("run {run}")).collect();
    columns.extend(["mean".to_owned(), "median (min-max)".to_owned()]);
    let title = "Table 1: five repeats (AMD, Zenwalk, tmpfs), seconds; printed mean → true mean";
    let mut table = Table::new(title, "s", columns);
    for (test, runs, printed_s) in &data.five {
        let mut cells: Vec<Cell> =
            runs.0.iter().map(|s| Cell::printed(*s, format!("{s:.0}"))).collect();
        cells.push(Cell::both(*printed_s, runs.mean(), 1));
        cells.push(Cell::within(runs.interval(), 0));
        table.row(test, cells);
    }
    table
}

/// `AMD Zenwalk tmpfs` and so on, in the order of the columns.
fn combinations() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    CPUS.into_iter().flat_map(|cpu| {
        DISTRIBUTIONS.into_iter().flat_map(move |distribution| {
            FILE_SYSTEMS.into_iter().map(move |fs| (cpu, distribution, fs))
        })
    })
}

fn headings() -> Vec<String> {
    combinations().map(|(cpu, distribution, fs)| format!("{cpu} {distribution} {fs}")).collect()
}

fn each(data: &Data, test: &str, cell: impl Fn(&Series) -> Cell) -> Vec<Cell> {
    combinations()
        .map(|(cpu, distribution, fs)| data.find(test, cpu, distribution, fs))
        .map(|series| series.map(&cell).unwrap_or_default())
        .collect()
}

/// Table 2: all combinations.
fn means(data: &Data) -> Table {
    let title = "Table 2: seconds; printed mean → true mean of the three runs";
    let mut table = Table::new(title, "s", headings());
    for test in TESTS {
        let cell = |series: &Series| Cell::both(series.printed_mean_s, series.runs.mean(), 1);
        table.row(test.name, each(data, test.name, cell));
    }
    let (disagree, all) = (table.disagreements(), data.series.len());
    let of_two = data.series.iter().filter(|s| s.is_of_first_and_last()).count();
    table.note(format!(
        "{disagree} of {all} printed means are not means of all three runs; {of_two} of {all} are \
         (first + last) / 2."
    ))
}

fn spreads(data: &Data) -> Table {
    let title = "Re-computed: median (min-max) of the three runs, seconds";
    let mut table = Table::new(title, "s", headings());
    for test in TESTS {
        let cell = |series: &Series| Cell::within(series.runs.interval(), 0);
        table.row(test.name, each(data, test.name, cell));
    }
    table.note("A clock of whole seconds makes at most 1 s of difference between equal lengths.")
}

fn ratio(
    data: &Data,
    comparison: &str,
    context: &str,
    test: usize,
    pair: Option<Pair<'_>>,
) -> Cell {
    match (data.printed_ratio(comparison, context, test), pair) {
        (Some(printed), Some(pair)) => Cell::both(printed, pair.recomputed(), 2),
        _ => Cell::default(),
    }
}

/// Table 3: 64 bits over 32 bits.
fn bits(data: &Data) -> Table {
    let title = "Table 3: 64-bit / 32-bit on tmpfs; printed → from true means";
    let mut table = Table::new(title, "", CPUS.map(str::to_owned).to_vec());
    for (at, test) in TESTS.iter().enumerate() {
        let cell = |cpu: &str| ratio(data, "bits", cpu, at, data.bits(test.name, cpu, "tmpfs"));
        table.row(test.name, CPUS.map(cell).to_vec());
    }
    table
}

/// Table 4: Intel over AMD.
fn vendors(data: &Data) -> Table {
    let title = "Table 4: Intel / AMD on tmpfs; printed → from true means";
    let mut table = Table::new(title, "", DISTRIBUTIONS.map(str::to_owned).to_vec());
    for (at, test) in TESTS.iter().enumerate() {
        let cell = |name: &str| ratio(data, "vendor", name, at, data.vendor(test.name, name));
        let cells = DISTRIBUTIONS.map(cell).to_vec();
        if cells.iter().any(|cell| cell.printed.is_some()) {
            table.row(test.name, cells);
        }
    }
    table.note("Its title speaks of a 32-bit system alone; it gives 64 bits too.")
}

/// Table 5: memory over disk.
fn places(data: &Data) -> Table {
    let columns: Vec<(&str, &str)> = CPUS
        .into_iter()
        .flat_map(|cpu| DISTRIBUTIONS.into_iter().map(move |distribution| (cpu, distribution)))
        .collect();
    let heads: Vec<String> = columns.iter().map(|(cpu, d)| format!("{cpu} {d}")).collect();
    let mut table =
        Table::new("Table 5: tmpfs / ext3; printed → from true means", "", heads.clone());
    for (at, test) in TESTS.iter().enumerate() {
        let cell = |((cpu, d), context): (&(&str, &str), &String)| {
            ratio(data, "place", context, at, data.place(test.name, cpu, d))
        };
        table.row(test.name, columns.iter().zip(&heads).map(cell).collect());
    }
    table
}

/// The appendix: every run.
fn raw(data: &Data) -> Table {
    let mut table = Table::new("Appendix: every run, seconds", "s", headings());
    for test in TESTS {
        let runs = data.series.iter().map(|s| s.runs.0.len()).max().unwrap_or(0);
        for run in 0..runs {
            let cell = |series: &Series| match series.runs.0.get(run) {
                Some(s) => Cell::printed(*s, format!("{s:.0}")),
                None => Cell::default(),
            };
            table.row(format!("{}, run {}", test.name, run + 1), each(data, test.name, cell));
        }
        let mean = |s: &Series| Cell::printed(s.printed_mean_s, format!("{:.1}", s.printed_mean_s));
        table.row(format!("{}, printed mean", test.name), each(data, test.name, mean));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables() -> Vec<Table> {
        super::tables(&Data::read().unwrap().1)
    }

    fn texts<'a>(table: &'a Table, head: &str) -> Vec<&'a str> {
        let row = table.rows.iter().find(|row| row.head == head).unwrap();
        row.cells.iter().map(|cell| cell.text.as_str()).collect()
    }

    #[test]
    fn means_that_disagree_show_both() {
        let table = &tables()[1];
        assert_eq!(table.disagreements(), 27);
        assert_eq!(
            texts(table, "untar"),
            [
                "15.0 → 14.7",
                "27.0 → 26.7",
                "11.5 → 11.3",
                "29.5 → 29.7",
                "10.0",
                "28.5 → 27.7",
                "19.5 → 19.3",
                "24.0 → 25.7"
            ]
        );
        assert_eq!(texts(table, "wav2ogg")[..4], [""; 4]);
        assert!(table.notes[0].starts_with("27 of 36 "));
    }

    #[test]
    fn ratios_that_disagree_show_both() {
        let tables = tables();
        assert_eq!(texts(&tables[3], "untar"), ["0.77", "1.95 → 1.93"]);
        assert_eq!(texts(&tables[3], "tar+gzip"), ["1.06 → 1.15", "0.88 → 0.84"]);
        assert_eq!(texts(&tables[4], "untar"), ["0.67 → 0.68", "1.70 → 1.71"]);
        assert_eq!(
            texts(&tables[5], "wav2flac"),
            ["0.97", "0.98 → 0.97", "0.96 → 0.98", "1.03 → 0.99"]
        );
        assert_eq!(texts(&tables[5], "tar+gzip")[1], "1.00 → 1.07");
        assert_eq!(tables[4].rows.len(), 4, "wav2ogg was not measured on AMD");
    }

    #[test]
    fn repeats_and_their_spread() {
        let tables = tables();
        let untar = ["15", "14", "15", "15", "14", "14.5 → 14.6", "15 (14-15)"];
        assert_eq!(texts(&tables[0], "untar"), untar);
        assert_eq!(texts(&tables[2], "untar")[5..], ["27 (26-30)", "19 (19-20)", "25 (23-29)"]);
    }

    #[test]
    fn the_appendix_has_every_run() {
        let appendix = tables().pop().unwrap();
        assert_eq!(appendix.rows.len(), 5 * 4);
        let runs = appendix.rows.iter().filter(|row| row.head.contains("run"));
        let cells = runs.flat_map(|row| &row.cells).filter(|cell| cell.printed.is_some()).count();
        assert_eq!(cells, 36 * 3);
        assert_eq!(texts(&appendix, "untar, run 2")[4..], ["10", "26", "19", "29"]);
    }
}
