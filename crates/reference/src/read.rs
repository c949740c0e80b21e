//! Reading the embedded files: comments, one header that must be as expected, rows.

use csv::{ReaderBuilder, StringRecord, Trim};

/// Data that cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct BadReference {
    /// Line, from 1.
    pub line: u64,
    /// What is wrong.
    pub what: String,
}

/// A row with its place.
pub(crate) struct Row {
    line: u64,
    fields: StringRecord,
}

impl Row {
    /// A field as text.
    pub(crate) fn text(&self, at: usize) -> String {
        self.fields.get(at).unwrap_or_default().to_owned()
    }

    /// A field as a number, not negative.
    pub(crate) fn number(&self, at: usize) -> Result<f64, BadReference> {
        let text = self.fields.get(at).unwrap_or_default();
        let number = text.parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0);
        let bad = || BadReference { line: self.line, what: format!("{text:?} is not a number") };
        number.ok_or_else(bad)
    }

    /// A field as a number, or blank.
    pub(crate) fn maybe(&self, at: usize) -> Result<Option<f64>, BadReference> {
        match self.fields.get(at) {
            None | Some("") => Ok(None),
            Some(_) => self.number(at).map(Some),
        }
    }

    /// Numbers from one field to before another.
    pub(crate) fn numbers(&self, from: usize, to: usize) -> Result<Vec<f64>, BadReference> {
        (from..to).map(|at| self.number(at)).collect()
    }
}

/// The comment lines and the rows below a header that is as expected.
pub(crate) fn read(text: &str, header: &str) -> Result<(Vec<String>, Vec<Row>), BadReference> {
    let comments = text.lines().filter_map(|line| line.strip_prefix('#'));
    let comments = comments.map(|line| line.trim().to_owned()).collect();
    let mut reader = ReaderBuilder::new()
        .comment(Some(b'#'))
        .has_headers(false)
        .trim(Trim::All)
        .from_reader(text.as_bytes());
    let mut rows: Vec<Row> = Vec::new();
    for record in reader.records() {
        let fields = record.map_err(|error| unreadable(text, &error))?;
        let line = line(text, fields.position());
        rows.push(Row { line, fields });
    }
    let expected: Vec<&str> = header.split(',').collect();
    let found = rows.first().is_some_and(|row| row.fields.iter().eq(expected));
    if !found {
        let line = rows.first().map_or(1, |row| row.line);
        return Err(BadReference { line, what: format!("expected the header {header:?}") });
    }
    rows.remove(0);
    Ok((comments, rows))
}

/// The rows, where there are as many as are known.
pub(crate) fn exactly<T, const N: usize>(rows: Vec<T>) -> Result<[T; N], BadReference> {
    let found = rows.len();
    let bad = |_| BadReference { line: 0, what: format!("{found} rows instead of {N}") };
    rows.try_into().map_err(bad)
}

/// Line of a record: the reader says where it began to look, which is before comments.
fn line(text: &str, position: Option<&csv::Position>) -> u64 {
    let from = position.map_or(1, csv::Position::line);
    let before = usize::try_from(from.saturating_sub(1)).unwrap_or(0);
    let passed_over = |line: &&str| line.starts_with('#') || line.is_empty();
    from + text.lines().skip(before).take_while(passed_over).count() as u64
}

fn unreadable(text: &str, error: &csv::Error) -> BadReference {
    let line = line(text, error.position());
    let what = match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{len} fields instead of {expected_len}")
        }
        _ => error.to_string(),
    };
    BadReference { line, what }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "name,value";

    #[test]
    fn comments_and_rows() {
        let (comments, rows) = read("# a\n#b \nname,value\nx, 1.5\ny,\n", HEADER).unwrap();
        assert_eq!(comments, ["a", "b"]);
        assert_eq!((rows[0].text(0), rows[0].number(1)), ("x".to_owned(), Ok(1.5)));
        assert_eq!((rows[1].text(0), rows[1].maybe(1)), ("y".to_owned(), Ok(None)));
    }

    #[test]
    fn as_many_rows_as_are_known() {
        assert_eq!(exactly::<_, 2>(vec!["a", "b"]), Ok(["a", "b"]));
        let error = exactly::<_, 3>(vec!["a"]).unwrap_err();
        assert_eq!(error.to_string(), "line 0: 1 rows instead of 3");
    }

    #[test]
    fn bad_data_names_the_line() {
        let error = |text: &str| match read(text, HEADER) {
            Ok((_, rows)) => rows[0].number(1).unwrap_err().to_string(),
            Err(error) => error.to_string(),
        };
        assert_eq!(error("# c\nname\n"), "line 2: expected the header \"name,value\"");
        assert_eq!(error(""), "line 1: expected the header \"name,value\"");
        assert_eq!(error("name,value\na,b,c\n"), "line 2: 3 fields instead of 2");
        assert_eq!(error("name,value\na,x\n"), "line 2: \"x\" is not a number");
        assert_eq!(error("name,value\na,-1\n"), "line 2: \"-1\" is not a number");
        assert_eq!(error("name,value\na,inf\n"), "line 2: \"inf\" is not a number");
    }
}
