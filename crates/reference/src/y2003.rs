//! 2003: small and big files on file systems of Linux and FreeBSD, rates with CPU load.

use crate::article::{Contents, RateRow, Shape};
use crate::read::{BadReference, read};

const DATA: &str = include_str!("../../../reference/2003-linux-vs-freebsd.csv");
const HEADER: &str = "phase,unit,filesystem,os,value,cpu_percent";

/// The study. Its raw runs were not published: there is nothing to re-compute.
pub(crate) fn contents() -> Result<Contents, BadReference> {
    let (comments, lines) = read(DATA, HEADER)?;
    let row = |line: &crate::read::Row| {
        Ok(RateRow {
            phase: line.text(0),
            unit: line.text(1),
            filesystem: line.text(2),
            os: line.text(3),
            value: line.number(4)?,
            cpu_percent: line.number(5)?,
        })
    };
    let rows = lines.iter().map(row).collect::<Result<_, _>>()?;
    let shape = Shape::Rates { rows };
    Ok(Contents { comments, tables: Vec::new(), findings: Vec::new(), shape })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_article_is_whole() {
        let contents = contents().unwrap();
        assert_eq!(contents.comments.len(), 3);
        let Shape::Rates { rows } = contents.shape else { panic!("another shape") };
        assert_eq!(rows.len(), 56);
        let phases: BTreeSet<_> = rows.iter().map(|row| (&row.phase, &row.unit)).collect();
        let columns: BTreeSet<_> = rows.iter().map(|row| (&row.filesystem, &row.os)).collect();
        assert_eq!((phases.len(), columns.len()), (7, 8));
        assert_eq!((rows[0].filesystem.as_str(), rows[0].value), ("ext3", 127.03));
        assert_eq!(rows[0].cpu_percent, 95.83);
    }
}
