//! Published measurements that experiments can be set beside.
//!
//! The files lie in `reference/` and are part of the program: comment lines with the circumstances,
//! a header, one value a line. Numbers are as published; nothing is computed here.

use crate::experiment::ArticleRow;

/// A published study.
#[derive(Clone, PartialEq, Debug)]
pub struct Reference {
    /// Year of publication.
    pub year: u16,
    /// What it is, in one line.
    pub title: String,
    /// The comment lines of the data: circumstances and units.
    pub comments: Vec<String>,
    /// Every published value, in the order of the data.
    pub rows: Vec<ReferenceRow>,
    /// Name of the experiment that repeats it.
    pub experiment: &'static str,
    /// The rows of the article's table, in its order, with the phases that measure the same.
    pub article_rows: Vec<ArticleRow>,
}

/// One published value.
#[derive(Clone, PartialEq, Debug)]
pub struct ReferenceRow {
    /// Title of the article's row.
    pub phase: String,
    /// `KB/s` (1024 bytes) or `files/s`.
    pub unit: String,
    /// File system.
    pub filesystem: String,
    /// Operating system.
    pub os: String,
    /// The value, in `unit`.
    pub value: f64,
    /// CPU load of the whole machine, percent.
    pub cpu_percent: f64,
}

impl Reference {
    /// Columns of the article's table: file system and operating system, in its order.
    #[must_use]
    pub fn columns(&self) -> Vec<(&str, &str)> {
        let mut columns = Vec::new();
        for row in &self.rows {
            let column = (row.filesystem.as_str(), row.os.as_str());
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        columns
    }

    /// The value of a row of the article for a file system under an operating system.
    #[must_use]
    pub fn value(&self, phase: &str, filesystem: &str, os: &str) -> Option<&ReferenceRow> {
        self.rows
            .iter()
            .find(|row| row.phase == phase && row.filesystem == filesystem && row.os == os)
    }
}

struct Known {
    year: u16,
    title: &'static str,
    data: &'static str,
    experiment: &'static str,
}

const KNOWN: &[Known] = &[Known {
    year: 2003,
    title: "Comparison of popular file systems under Linux and FreeBSD (2003)",
    data: include_str!("../../../reference/2003-linux-vs-freebsd.csv"),
    experiment: "2003-linux-vs-freebsd",
}];

/// Years of the studies that are known.
#[must_use]
pub fn years() -> Vec<u16> {
    KNOWN.iter().map(|known| known.year).collect()
}

/// The study of a year.
///
/// # Panics
/// Never: a test reads every file.
#[must_use]
pub fn study(year: u16) -> Option<Reference> {
    let known = KNOWN.iter().find(|known| known.year == year)?;
    let (comments, rows) = read(known.data).expect("every file of data is read by a test");
    let experiment = crate::builtin::experiment(known.experiment).expect("a test reads it");
    Some(Reference {
        year,
        title: known.title.to_owned(),
        comments,
        rows,
        experiment: known.experiment,
        article_rows: experiment.rows,
    })
}

/// A line of reference data that cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct BadReference {
    /// Line, from 1.
    pub line: usize,
    /// What is wrong.
    pub what: String,
}

const HEADER: &str = "phase,unit,filesystem,os,value,cpu_percent";

/// Reads comments and rows. The fields of our files hold no commas and no quotes; both are refused.
fn read(text: &str) -> Result<(Vec<String>, Vec<ReferenceRow>), BadReference> {
    let (mut comments, mut rows, mut header) = (Vec::new(), Vec::new(), false);
    for (line, content) in (1..).zip(text.lines()) {
        let bad = |what: String| BadReference { line, what };
        if let Some(comment) = content.strip_prefix('#') {
            comments.push(comment.trim().to_owned());
        } else if content.trim().is_empty() {
        } else if !header {
            if content != HEADER {
                return Err(bad(format!("expected the header {HEADER:?}")));
            }
            header = true;
        } else {
            let fields: Vec<&str> = content.split(',').map(str::trim).collect();
            let [phase, unit, filesystem, os, value, cpu] = fields.as_slice() else {
                return Err(bad(format!("{} fields instead of 6", fields.len())));
            };
            if content.contains('"') {
                return Err(bad("a quote; fields are written plainly".to_owned()));
            }
            let number = |text: &str| {
                let number = text.parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0);
                number.ok_or_else(|| bad(format!("{text:?} is not a number")))
            };
            rows.push(ReferenceRow {
                phase: (*phase).to_owned(),
                unit: (*unit).to_owned(),
                filesystem: (*filesystem).to_owned(),
                os: (*os).to_owned(),
                value: number(value)?,
                cpu_percent: number(cpu)?,
            });
        }
    }
    Ok((comments, rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_article_of_2003_is_whole() {
        let study = study(2003).unwrap();
        assert_eq!((study.rows.len(), study.columns().len()), (56, 8));
        assert_eq!(study.columns()[0], ("ext3", "Linux"));
        assert_eq!(study.comments.len(), 3);
        assert_eq!(study.article_rows.len(), 7);
        for row in &study.article_rows {
            for (filesystem, os) in study.columns() {
                let value = study.value(&row.title, filesystem, os).unwrap();
                assert_eq!(value.unit, row.unit, "{}", row.title);
            }
        }
        let ext3 = study.value("write 5000 files of 256 B", "ext3", "Linux").unwrap();
        assert_eq!((ext3.value, ext3.cpu_percent), (127.03, 95.83));
        assert_eq!(years(), [2003]);
        assert!(super::study(2004).is_none());
    }

    #[test]
    fn bad_data_names_the_line() {
        let error = |text: &str| read(text).unwrap_err().to_string();
        assert_eq!(error("# c\nphase"), format!("line 2: expected the header {HEADER:?}"));
        assert_eq!(error(&format!("{HEADER}\na,b,c\n")), "line 2: 3 fields instead of 6");
        assert_eq!(error(&format!("{HEADER}\na,b,c,d,x,1\n")), "line 2: \"x\" is not a number");
    }
}
