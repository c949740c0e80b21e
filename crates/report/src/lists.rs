//! What there is, a line each: block devices (and whether each would be touched), RUNs, those that
//! `fsarena merge` took, datasets of real work, experiments with what each would cost. Whoever asks
//! looks; here are only words.
//!
//! MB are 10^6 bytes in the tables of datasets, as these are named and described by them.

use crate::context::AD_HOC;
use crate::format::{bytes, count, grouped, ns, utc};
use crate::render::text;
use crate::table::{Column, Table};
use crate::text::{Style, bold, wrap};
use fsarena_model::job::{Compression, Contents};
use fsarena_model::run::RunState;
use serde::Serialize;

/// One block device.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceLine {
    /// `sdb`, `nvme0n1p2`.
    pub name: String,
    /// Capacity.
    pub size_bytes: u64,
    /// `disk`, `partition`, `loop`, …
    pub kind: String,
    /// What the hardware calls itself.
    pub model: Option<String>,
    /// Its serial or WWN.
    pub serial: Option<String>,
    /// What is found on it (`ext4`, `gpt`).
    pub signature: Option<String>,
    /// What uses it (`mounted at /`, `swap`).
    pub in_use: Option<String>,
    /// Whether fsarena would use it.
    pub usable: bool,
    /// What fsarena would do with it, or why not.
    pub verdict: String,
}

/// All devices as a table, in the order given. A cell without a value is a dash.
#[must_use]
pub fn devices_table(devices: &[DeviceLine], width: usize, style: Style) -> String {
    if devices.is_empty() {
        return "No block device was found.\n".to_owned();
    }
    let mut grid = Table::new([
        Column::text("device"),
        Column::figure("size"),
        Column::text("kind"),
        Column::text("model").optional(2),
        Column::text("serial").optional(3),
        Column::text("holds"),
        Column::text("in use").optional(1),
        Column::text("fsarena"),
    ]);
    let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    for device in devices {
        let verdict = &device.verdict;
        grid.row(vec![
            device.name.clone(),
            bytes(Some(device.size_bytes)),
            device.kind.clone(),
            or_dash(&device.model),
            or_dash(&device.serial),
            or_dash(&device.signature),
            or_dash(&device.in_use),
            if device.usable { verdict.clone() } else { format!("no: {verdict}") },
        ]);
    }
    text::listing(&grid, width, style)
}

/// One line of the list.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunLine {
    /// Number in the database.
    pub id: i64,
    /// Unique id.
    pub uid: String,
    /// Name of the experiment.
    pub experiment: String,
    /// One line for people.
    pub title: String,
    /// Whether the user gave it this title.
    pub has_own_title: bool,
    /// Wall clock at its start, ns since 1970.
    pub created_unix_ns: u64,
    /// How it stands.
    pub state: RunState,
    /// Why it stands so.
    pub note: Option<String>,
    /// Name of the machine; empty where it is not stored.
    pub host: String,
    /// Trials with a record.
    pub trials_done: u32,
    /// Trials in the schedule.
    pub trials_planned: u32,
    /// Crash runs with a record.
    pub crash_runs_done: u32,
}

impl RunLine {
    /// What was run: the experiment, or where it was made of options what was asked for, with the
    /// title that the user gave it.
    fn what(&self) -> String {
        match (self.experiment == AD_HOC, self.has_own_title) {
            (true, _) => self.title.clone(),
            (false, true) => format!("{}: {}", self.experiment, self.title),
            (false, false) => self.experiment.clone(),
        }
    }
}

/// All RUNs as a table, in the order given; the machine is named where there are several.
#[must_use]
pub fn runs_list(runs: &[RunLine], width: usize, style: Style) -> String {
    if runs.is_empty() {
        return "No RUN has been stored yet.\n".to_owned();
    }
    let mut columns = vec![Column::figure("RUN"), Column::text("id"), Column::text("what")];
    let hosts = runs.iter().any(|run| run.host != runs[0].host);
    if hosts {
        columns.push(Column::text("host"));
    }
    columns.extend([
        Column::text("started (UTC)"),
        Column::text("state"),
        Column::figure("trials"),
    ]);
    let mut grid = Table::new(columns);
    for run in runs {
        // Of one that has ended, the rest of the schedule was not needed.
        let trials = if run.trials_planned == 0 && run.crash_runs_done > 0 {
            count(run.crash_runs_done as usize, "crash run")
        } else if run.trials_done == run.trials_planned || run.state == RunState::Done {
            run.trials_done.to_string()
        } else {
            format!("{}/{}", run.trials_done, run.trials_planned)
        };
        let mut cells = vec![run.id.to_string(), run.uid.chars().take(8).collect(), run.what()];
        if hosts {
            cells.push(if run.host.is_empty() { "-".to_owned() } else { run.host.clone() });
        }
        cells.extend([
            utc(run.created_unix_ns).trim_end_matches(" UTC").to_owned(),
            run.state.name().to_owned(),
            trials,
        ]);
        grid.row(cells);
    }
    let mut out = text::listing(&grid, width, style);
    let notes = runs.iter().filter_map(|run| Some((run.id, run.note.as_ref()?)));
    for (number, (id, note)) in notes.enumerate() {
        out.push_str(if number == 0 { "\n" } else { "" });
        out.push_str(&wrap(&format!("RUN {id}: "), note, width));
    }
    out
}

/// A RUN of the other database.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MergedLine {
    /// As it stands there.
    #[serde(flatten)]
    pub there: RunLine,
    /// Its number here; absent where it is not here.
    pub here: Option<i64>,
    /// What became of it, in one word: `taken`, `same`, `longer-here`, `longer-there`, `differs`,
    /// `at-work`.
    pub fate: String,
    /// The same in words.
    pub text: String,
}

/// The RUNs of one other database as a table, in the order given.
#[must_use]
pub fn merged_table(lines: &[MergedLine], width: usize, style: Style) -> String {
    if lines.is_empty() {
        return "It has no RUN.\n".to_owned();
    }
    let mut grid = Table::new([
        Column::figure("RUN"),
        Column::text("id"),
        Column::text("what"),
        Column::text("host"),
        Column::text("started (UTC)"),
        Column::figure("trials"),
        Column::text("what became of it"),
    ]);
    for line in lines {
        let there = &line.there;
        grid.row(vec![
            line.here.map_or_else(|| "-".to_owned(), |here| here.to_string()),
            there.uid.chars().take(8).collect(),
            there.what(),
            if there.host.is_empty() { "-".to_owned() } else { there.host.clone() },
            utc(there.created_unix_ns).trim_end_matches(" UTC").to_owned(),
            there.trials_done.to_string(),
            line.text.clone(),
        ]);
    }
    text::listing(&grid, width, style)
}

/// A dataset that is built in.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DatasetLine {
    /// Name.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// What is in it.
    pub contents: Contents,
}

/// A class of files of a dataset.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClassLine {
    /// Name.
    pub name: String,
    /// What is in its files, in a few words.
    pub contents: String,
    /// How many there are.
    pub files: u64,
    /// Bytes of all of them.
    pub bytes: u64,
    /// Size of the smallest, bytes.
    pub smallest_bytes: u64,
    /// Size that half of them have at most, bytes.
    pub median_bytes: u64,
    /// Size of the largest, bytes.
    pub largest_bytes: u64,
}

/// What `dataset NAME` or `dataset DIR` shows.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ShownDataset {
    /// One that is described, built in or in a file.
    Described {
        /// Name.
        name: String,
        /// One line for people.
        title: String,
        /// What else there is to know of it.
        notes: Vec<String>,
        /// What it was scaled by.
        scale: f64,
        /// What is in it.
        contents: Contents,
        /// Its classes, in the order of the description.
        classes: Vec<ClassLine>,
        /// The description; null where it was not asked for.
        toml: Option<String>,
        /// Of names, sizes and contents; null where it was not asked for.
        sha256: Option<String>,
    },
    /// A directory or an archive of the user's.
    Own {
        /// Where it is.
        path: String,
        /// How it is packed; null of a directory.
        archive: Option<Compression>,
        /// What is in it.
        contents: Contents,
    },
}

/// All datasets as a table, in the order given.
#[must_use]
pub fn datasets_table(lines: &[DatasetLine], width: usize, style: Style) -> String {
    let mut grid = Table::new([
        Column::text("dataset"),
        Column::figure("files"),
        Column::figure("MB"),
        Column::text("title"),
    ]);
    for line in lines {
        grid.row(vec![
            line.name.clone(),
            grouped(line.contents.files),
            megabytes(line.contents.bytes),
            line.title.clone(),
        ]);
    }
    text::listing(&grid, width, style)
}

/// One dataset: its title, what is in it (all of it, and by class, in the order given), and notes.
#[must_use]
pub fn dataset_text(
    line: &DatasetLine,
    classes: &[ClassLine],
    notes: &[String],
    width: usize,
    style: Style,
) -> String {
    let mut text = wrap(&format!("{}: ", line.name), &line.title, width);
    text = match text.split_once('\n') {
        Some((head, rest)) => format!("{}\n{rest}\n", bold(head, style.colour)),
        None => text,
    };
    text.push_str(&contents_text(&line.contents));
    if !classes.is_empty() {
        text.push('\n');
        text.push_str(&classes_table(classes, width));
    }
    for note in notes {
        text.push('\n');
        text.push_str(&wrap("", note, width));
    }
    text
}

fn classes_table(classes: &[ClassLine], width: usize) -> String {
    let mut grid = Table::new([
        Column::text("class"),
        Column::text("contents"),
        Column::figure("files"),
        Column::figure("MB"),
        Column::figure("smallest (bytes)").narrow(),
        Column::figure("median (bytes)").narrow(),
        Column::figure("largest (bytes)").narrow(),
    ]);
    for class in classes {
        grid.row(vec![
            class.name.clone(),
            class.contents.clone(),
            grouped(class.files),
            megabytes(class.bytes),
            grouped(class.smallest_bytes),
            grouped(class.median_bytes),
            grouped(class.largest_bytes),
        ]);
    }
    text::table(&grid, width)
}

/// What a tree or an archive holds, one line a figure.
#[must_use]
pub fn contents_text(contents: &Contents) -> String {
    let mut rows = vec![
        ("files", grouped(contents.files)),
        ("directories", grouped(contents.dirs)),
        ("symbolic links", grouped(contents.symlinks)),
        ("contents", format!("{} bytes", grouped(contents.bytes))),
        ("in blocks of 4 KiB", format!("{} bytes", grouped(contents.block_bytes))),
        ("largest file", format!("{} bytes", grouped(contents.largest_bytes))),
        ("longest path", format!("{} bytes", grouped(contents.longest_path_bytes))),
    ];
    if let Some(bytes) = contents.archive_bytes {
        rows.push(("archive", format!("{} bytes", grouped(bytes))));
    }
    rows.iter().map(|(name, value)| format!("{name:<20}{value}\n")).collect()
}

/// `830.0`; as many digits as tell small ones apart.
fn megabytes(bytes: u64) -> String {
    let tenths = bytes.saturating_add(50_000) / 100_000;
    if bytes > 0 && tenths == 0 {
        return "<0.1".to_owned();
    }
    format!("{}.{}", grouped(tenths / 10), tenths % 10)
}

/// An experiment with its expected cost.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExperimentLine {
    /// Name, as in `fsarena run NAME`.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// Contenders that can be run here.
    pub contenders: usize,
    /// Contenders that the file names.
    pub named_contenders: usize,
    /// Workloads that can be run here.
    pub workloads: usize,
    /// Blocks after which all may be decided, and at most.
    pub blocks: (u32, u32),
    /// Expected length for so many blocks, ns.
    pub expected_ns: (u64, u64),
    /// Time that it gives itself, ns.
    pub budget_ns: Option<u64>,
    /// Bytes written to devices and images for so many blocks.
    pub written_bytes: (u64, u64),
    /// What the figures rest on, in a word or two.
    pub known: String,
}

/// The experiments: what each is, then what each costs.
#[must_use]
pub fn experiments_table(lines: &[ExperimentLine], width: usize, style: Style) -> String {
    let mut out = format!("{}\n", bold("Experiments (fsarena run NAME)", style.colour));
    let name = lines.iter().map(|line| line.name.len()).max().unwrap_or(0);
    for line in lines {
        out.push_str(&wrap(&format!("  {:<name$}  ", line.name), &line.title, width));
    }
    out.push_str(&format!("\n{}\n", bold("What each costs here", style.colour)));
    let mut grid = Table::new([
        Column::text("experiment"),
        Column::figure("contenders"),
        Column::figure("workloads"),
        Column::figure("blocks"),
        Column::figure("expected time"),
        Column::figure("written"),
        Column::text("known from"),
    ]);
    for line in lines {
        let contenders = match line.contenders == line.named_contenders {
            true => line.contenders.to_string(),
            false => format!("{} of {}", line.contenders, line.named_contenders),
        };
        let mut cells = vec![line.name.clone(), contenders];
        if line.contenders == 0 {
            cells.extend(["-", "-", "-", "-", "cannot be run here"].map(str::to_owned));
        } else {
            cells.extend([
                line.workloads.to_string(),
                span(line.blocks.0.to_string(), &line.blocks.1.to_string()),
                time(line),
                span(bytes(Some(line.written_bytes.0)), &bytes(Some(line.written_bytes.1))),
                line.known.clone(),
            ]);
        }
        grid.row(cells);
    }
    out.push_str(&text::table(&grid, width));
    out
}

fn time(line: &ExperimentLine) -> String {
    let (least, most) = line.expected_ns;
    match line.budget_ns.filter(|budget| *budget < most) {
        Some(budget) => format!("at most {}", ns(Some(budget))),
        None => span(ns(Some(least)), &ns(Some(most))),
    }
}

fn span(least: String, most: &str) -> String {
    if least == most { least } else { format!("{least} - {most}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::run::RunState;

    #[test]
    fn a_line_a_run() {
        let line = |here, fate: &str, text: &str| MergedLine {
            there: RunLine {
                id: 1,
                uid: "0123456789abcdef".to_owned(),
                experiment: "quick".to_owned(),
                title: "A first look".to_owned(),
                has_own_title: false,
                created_unix_ns: 1_767_225_600_000_000_000,
                state: RunState::Done,
                note: None,
                host: "far".to_owned(),
                trials_done: 7,
                trials_planned: 12,
                crash_runs_done: 0,
            },
            here,
            fate: fate.to_owned(),
            text: text.to_owned(),
        };
        let lines = [line(Some(3), "taken", "taken"), line(None, "at-work", "skipped: at work")];
        insta::assert_snapshot!(merged_table(&lines, 80, Style::default()), @r"
        RUN  id        what   host  started (UTC)     trials  what became of it
        -----------------------------------------------------------------------
          3  01234567  quick  far   2026-01-01 00:00       7  taken
          -  01234567  quick  far   2026-01-01 00:00       7  skipped: at work
        ");
        assert_eq!(merged_table(&[], 80, Style::default()), "It has no RUN.\n");
    }

    fn line(name: &str, files: u64, bytes: u64) -> DatasetLine {
        let contents = Contents {
            files,
            dirs: 12,
            bytes,
            block_bytes: bytes.next_multiple_of(4096),
            largest_bytes: bytes / files,
            longest_path_bytes: 40,
            ..Contents::default()
        };
        DatasetLine { name: name.to_owned(), title: format!("The {name} of all"), contents }
    }

    #[test]
    fn all_in_one_table() {
        let lines = [line("small-1", 1, 256), line("big-693m", 1, 693_000_000)];
        insta::assert_snapshot!(datasets_table(&lines, 80, Style::default()), @r"
        dataset   files     MB  title
        -------------------------------------------
        small-1       1   <0.1  The small-1 of all
        big-693m      1  693.0  The big-693m of all
        ");
    }

    #[test]
    fn one_with_its_notes() {
        let notes = ["The article prints twelve thousand files and 229 MB, and both cannot be \
                      true of one tree."
            .to_owned()];
        let dataset = line("portage", 120_000, 229_000_000);
        let class = |name: &str, contents: &str, files| ClassLine {
            name: name.to_owned(),
            contents: contents.to_owned(),
            files,
            bytes: 500_000 * files,
            smallest_bytes: 1000,
            median_bytes: 20_000,
            largest_bytes: 2_000_000,
        };
        let classes = [class("ebuild", "ebuild, 3 % hashes", 400), class("changelog", "text", 50)];
        let text = dataset_text(&dataset, &classes, &notes, 80, Style::default());
        insta::assert_snapshot!(text, @r"
        portage: The portage of all

        files               120,000
        directories         12
        symbolic links      0
        contents            229,000,000 bytes
        in blocks of 4 KiB  229,003,264 bytes
        largest file        1,908 bytes
        longest path        40 bytes

        class      contents            files     MB  smallest   median    largest
                                                      (bytes)  (bytes)    (bytes)
        -------------------------------------------------------------------------
        ebuild     ebuild, 3 % hashes    400  200.0     1,000   20,000  2,000,000
        changelog  text                   50   25.0     1,000   20,000  2,000,000

        The article prints twelve thousand files and 229 MB, and both cannot be true of
        one tree.
        ");
    }

    #[test]
    fn megabytes_are_of_ten_to_the_sixth() {
        for (bytes, text) in
            [(0, "0.0"), (1, "<0.1"), (49_999, "<0.1"), (50_000, "0.1"), (1_234_567_890, "1,234.6")]
        {
            assert_eq!(megabytes(bytes), text, "{bytes}");
        }
    }

    fn experiment(name: &str, title: &str) -> ExperimentLine {
        ExperimentLine {
            name: name.to_owned(),
            title: title.to_owned(),
            contenders: 6,
            named_contenders: 6,
            workloads: 4,
            blocks: (4, 32),
            expected_ns: (61_000_000_000, 7_200_000_000_000),
            budget_ns: None,
            written_bytes: (3 << 30, 40 << 30),
            known: "measured here".to_owned(),
        }
    }

    #[test]
    fn each_has_a_line_and_a_cost() {
        let fixed = ExperimentLine {
            blocks: (3, 3),
            expected_ns: (5_000_000_000, 5_000_000_000),
            written_bytes: (1 << 20, 1 << 20),
            contenders: 5,
            known: "assumed".to_owned(),
            ..experiment("fixed", "three blocks, one contender is missing")
        };
        let budget = ExperimentLine {
            budget_ns: Some(240_000_000_000),
            ..experiment("budget", "as many blocks as go into four minutes")
        };
        let none = ExperimentLine { contenders: 0, ..experiment("none", "not here") };
        let lines = [experiment("looks", "until decided"), fixed, budget, none];
        insta::assert_snapshot!(experiments_table(&lines, 100, Style::default()), @r"
    Experiments (fsarena run NAME)
      looks   until decided
      fixed   three blocks, one contender is missing
      budget  as many blocks as go into four minutes
      none    not here

    What each costs here
    experiment  contenders  workloads  blocks   expected time         written  known from
    ---------------------------------------------------------------------------------------------
    looks                6          4  4 - 32  61.0 s - 2h00m  3 GiB - 40 GiB  measured here
    fixed           5 of 6          4       3          5.00 s           1 MiB  assumed
    budget               6          4  4 - 32   at most 4m00s  3 GiB - 40 GiB  measured here
    none            0 of 6          -       -               -               -  cannot be run here
    ");
    }

    #[test]
    fn no_line_is_wider_than_asked() {
        let long = experiment("2003-linux-vs-freebsd", &"a long title of many words ".repeat(8));
        let text = experiments_table(&[long.clone(), long], 80, Style::default());
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn without_experiments_there_is_nothing_to_cost() {
        let text = experiments_table(&[], 100, Style::default());
        assert!(text.starts_with("Experiments"), "{text}");
    }

    #[test]
    fn a_dataset_of_either_kind_is_what_its_schema_says() {
        let contents = Contents::default();
        let path = "/data".to_owned();
        let own = ShownDataset::Own { path, archive: None, contents };
        let class = ClassLine {
            name: "text".to_owned(),
            contents: "words".to_owned(),
            files: 3,
            bytes: 30,
            smallest_bytes: 1,
            median_bytes: 9,
            largest_bytes: 20,
        };
        let described = ShownDataset::Described {
            name: "flac-16".to_owned(),
            title: "Music".to_owned(),
            notes: vec!["16 albums".to_owned()],
            scale: 1.0,
            contents,
            classes: vec![class],
            toml: None,
            sha256: None,
        };
        for dataset in [own, described] {
            crate::schema::assert_valid("dataset", "dataset", serde_json::json!(dataset));
        }
    }
}
