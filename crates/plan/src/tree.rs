//! A TOML document with the place of every value, and typed reading with one clear error each.
//!
//! The document is walked by hand and not through serde: an error has to name the value as written,
//! its line and column, and a remedy. Nothing here knows what an experiment is.

use crate::error::PlanError;
use crate::span::Span;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The text being read and its name.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) file: &'a str,
    pub(crate) text: &'a str,
}

impl<'a> Source<'a> {
    /// Reads the text as TOML.
    pub(crate) fn parse(&self) -> Result<Spanned<DeTable<'a>>, PlanError> {
        DeTable::parse(self.text).map_err(|error| {
            let place = self.place(error.span().unwrap_or(0..0));
            let what = error.message().lines().collect::<Vec<_>>().join(", ");
            PlanError::new(
                &place,
                format!("not TOML: {what}"),
                "see https://toml.io for the syntax",
            )
        })
    }

    /// The root of a document.
    pub(crate) fn root<'t>(&self, document: &'t Spanned<DeTable<'a>>) -> Table<'t>
    where
        'a: 't,
    {
        Table {
            source: *self,
            table: document.get_ref(),
            path: String::new(),
            place: self.place(0..0),
        }
    }

    fn place(&self, span: Range<usize>) -> Span {
        let mut start = span.start.min(self.text.len());
        while !self.text.is_char_boundary(start) {
            start -= 1;
        }
        let before = &self.text[..start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Span::File {
            file: self.file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

/// A table of a document.
pub(crate) struct Table<'t> {
    source: Source<'t>,
    table: &'t DeTable<'t>,
    path: String,
    pub(crate) place: Span,
}

impl<'t> Table<'t> {
    /// Refuses keys that are not among `known`; the first in the text is named.
    pub(crate) fn only(&self, known: &[&str]) -> Result<(), PlanError> {
        match self.entries().into_iter().find(|(key, _)| !known.contains(&key.value)) {
            Some((key, _)) => Err(self.unknown(&key, known)),
            None => Ok(()),
        }
    }

    /// The error about a key that is not among `known`.
    pub(crate) fn unknown(&self, key: &Key<'_>, known: &[&str]) -> PlanError {
        let kind = if self.path.is_empty() {
            "key".to_owned()
        } else {
            format!("key in [{}]:", self.path)
        };
        PlanError::unknown(&key.place, &kind, key.value, known)
    }

    /// Keys and values in the order of the text.
    pub(crate) fn entries(&self) -> Vec<(Key<'t>, Node<'t>)> {
        let mut entries: Vec<_> = self.table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        entries
            .into_iter()
            .map(|(key, value)| {
                let place = self.source.place(key.span());
                (Key { value: key.get_ref(), place }, self.node(key.get_ref(), value))
            })
            .collect()
    }

    pub(crate) fn get(&self, key: &str) -> Option<Node<'t>> {
        self.table.get(key).map(|value| self.node(key, value))
    }

    pub(crate) fn need(&self, key: &str, example: &str) -> Result<Node<'t>, PlanError> {
        self.get(key).ok_or_else(|| {
            let at =
                if self.path.is_empty() { String::new() } else { format!(" in [{}]", self.path) };
            PlanError::new(&self.place, format!("`{key}` is missing{at}"), format!("add {example}"))
        })
    }

    fn node(&self, key: &str, value: &'t Spanned<DeValue<'t>>) -> Node<'t> {
        let path =
            if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) };
        Node {
            source: self.source,
            value: value.get_ref(),
            place: self.source.place(value.span()),
            path,
        }
    }
}

/// A key and its place.
pub(crate) struct Key<'t> {
    pub(crate) value: &'t str,
    pub(crate) place: Span,
}

/// A value of a document.
pub(crate) struct Node<'t> {
    source: Source<'t>,
    value: &'t DeValue<'t>,
    path: String,
    pub(crate) place: Span,
}

impl<'t> Node<'t> {
    pub(crate) fn error(&self, what: impl Into<String>, remedy: impl Into<String>) -> PlanError {
        PlanError::new(&self.place, what, remedy)
    }

    fn wrong_type(&self, wanted: &str, example: &str) -> PlanError {
        let found = match self.value {
            DeValue::String(_) => "text",
            DeValue::Integer(_) => "a number",
            DeValue::Float(_) => "a number with decimals",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        let what = format!("`{}` is {found}, but has to be {wanted}", self.path);
        self.error(what, format!("write it like {example}"))
    }

    pub(crate) fn is_table(&self) -> bool {
        self.value.is_table()
    }

    pub(crate) fn text(&self, example: &str) -> Result<&'t str, PlanError> {
        self.value.as_str().ok_or_else(|| self.wrong_type("text", example))
    }

    pub(crate) fn flag(&self) -> Result<bool, PlanError> {
        self.value.as_bool().ok_or_else(|| self.wrong_type("true or false", "true"))
    }

    /// Text, or a number or `true` as the text it is written as.
    pub(crate) fn scalar(&self, example: &str) -> Result<String, PlanError> {
        match self.value {
            DeValue::String(text) => Ok(text.to_string()),
            DeValue::Integer(_) => {
                self.integer(0..=i64::MAX as u64, example).map(|n| n.to_string())
            }
            DeValue::Boolean(flag) => Ok(flag.to_string()),
            _ => Err(self.wrong_type("text or a whole number", example)),
        }
    }

    /// A whole number within `range`.
    pub(crate) fn integer(
        &self,
        range: std::ops::RangeInclusive<u64>,
        example: &str,
    ) -> Result<u64, PlanError> {
        let Some(written) = self.value.as_integer() else {
            return Err(self.wrong_type("a whole number", example));
        };
        let digits = written.as_str().replace('_', "");
        i64::from_str_radix(&digits, written.radix())
            .ok()
            .and_then(|n| u64::try_from(n).ok())
            .filter(|n| range.contains(n))
            .ok_or_else(|| {
                self.error(
                    format!("`{}` is {digits}", self.path),
                    format!("it has to be from {} to {}", range.start(), range.end()),
                )
            })
    }

    /// A number, with decimals or without.
    pub(crate) fn decimal(&self, example: &str) -> Result<f64, PlanError> {
        let written = match self.value {
            DeValue::Float(written) => written.as_str(),
            DeValue::Integer(written) if written.radix() == 10 => written.as_str(),
            _ => return Err(self.wrong_type("a number", example)),
        };
        let number = written.replace('_', "").parse::<f64>();
        number.map_err(|_| self.wrong_type("a number", example))
    }

    /// The elements of a list, or the value itself as the only one; a list is never empty.
    pub(crate) fn list(&self, example: &str) -> Result<Vec<Node<'t>>, PlanError> {
        let Some(array) = self.value.as_array() else {
            return Ok(vec![Node { path: self.path.clone(), place: self.place.clone(), ..*self }]);
        };
        if array.is_empty() {
            let what = format!("`{}` is an empty list", self.path);
            return Err(self.error(what, format!("give it a value, such as {example}")));
        }
        Ok(array
            .iter()
            .map(|value| Node {
                source: self.source,
                value: value.get_ref(),
                path: self.path.clone(),
                place: self.source.place(value.span()),
            })
            .collect())
    }

    pub(crate) fn table(&self, example: &str) -> Result<Table<'t>, PlanError> {
        let table = self.value.as_table().ok_or_else(|| self.wrong_type("a table", example))?;
        let place = self.place.clone();
        Ok(Table { source: self.source, table, path: self.path.clone(), place })
    }
}
