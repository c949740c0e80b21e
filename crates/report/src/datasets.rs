//! Datasets of real work, as `fsarena dataset` shows them. MB are 10^6 bytes here, as datasets are
//! named and described by them.

use crate::format::grouped;
use crate::render::text;
use crate::table::{Column, Table};
use crate::text::Style;
use crate::text::{bold, wrap};
use fsarena_model::job::Contents;
use serde::Serialize;

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
    let text = text::table(&grid, width);
    match text.split_once('\n') {
        Some((head, rest)) => format!("{}\n{rest}", bold(head, style.colour)),
        None => text,
    }
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

/// How many there are, in one line: `105,000 files in 4,100 directories`.
#[must_use]
pub fn files_text(contents: &Contents) -> String {
    crate::io_summary::files_of(contents)
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
