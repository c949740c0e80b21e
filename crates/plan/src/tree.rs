//! A TOML document as serde reads it: every value knows its place, and every mistake is one clear
//! error there.
//!
//! [`Node`] is a deserializer over the spanned document of `toml`. Whatever a type refuses becomes
//! a [`PlanError`] at the innermost value that it was read from; examples for its remedy are those
//! of the JSON Schema. Nothing here knows what an experiment is.

use crate::error::{At, PlanError, Span};
use serde::Deserialize;
use serde::de::value::{CowStrDeserializer, MapAccessDeserializer};
use serde::de::{
    self, DeserializeSeed, Deserializer, Expected, MapAccess, SeqAccess, Unexpected, Visitor,
};
use serde::forward_to_deserialize_any as forward;
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The text being read and its name.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) file: &'a str,
    pub(crate) text: &'a str,
    /// What is known of the value at a path.
    pub(crate) hint: fn(&str) -> Hint,
}

/// What is known of a value: for remedies.
#[derive(Default)]
pub(crate) struct Hint {
    /// As it is written in a file.
    pub(crate) example: Option<String>,
    /// In a few words.
    pub(crate) meaning: Option<String>,
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
        let (place, path) = (self.place(0..0), String::new());
        Table { source: *self, table: document.get_ref(), path, place }
    }

    /// What to add where a key is missing.
    fn addition(&self, path: &str, key: &str) -> String {
        match path {
            "schema" => "schema = 1 as the first line".to_owned(),
            "factors" => "a table [factors] with fs and device".to_owned(),
            "workload" => "[[workload]] with use = \"small-files\"".to_owned(),
            _ => match (self.hint)(path) {
                Hint { example: Some(example), .. } => format!("{key} = {example}"),
                Hint { meaning: Some(meaning), .. } => format!("{key}, {meaning}"),
                Hint { .. } => key.to_owned(),
            },
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
#[derive(Clone)]
pub(crate) struct Table<'t> {
    source: Source<'t>,
    table: &'t DeTable<'t>,
    path: String,
    pub(crate) place: Span,
}

impl<'t> Table<'t> {
    /// Reads a `T` from its keys.
    pub(crate) fn read<T: Deserialize<'t>>(&self) -> Result<T, PlanError> {
        T::deserialize(self.access()).map_err(|mistake| self.explain(mistake))
    }

    fn access(&self) -> MapAccessDeserializer<Entries<'t>> {
        let borrowed = |(key, node): (Key<'t>, _)| (Cow::Borrowed(key.value), node);
        Entries::new(self.entries().into_iter().map(borrowed).collect())
    }

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

    /// The error about a key that is not there.
    pub(crate) fn missing(&self, key: &str, example: &str) -> PlanError {
        let at = if self.path.is_empty() { String::new() } else { format!(" in [{}]", self.path) };
        PlanError::new(&self.place, format!("`{key}` is missing{at}"), format!("add {example}"))
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

    pub(crate) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// A copy of its values in which those of some keys are numbers, which lie where the numbers of
    /// bytes say; [`Table::over`] reads it.
    pub(crate) fn with_numbers<'u>(&self, numbers: &'u [(&str, WrittenNumber)]) -> DeTable<'u>
    where
        't: 'u,
    {
        let mut changed: DeTable<'u> = self.table.clone();
        for (key, number) in numbers {
            let digits = DeValue::parse(&number.digits).map(Spanned::into_inner);
            let Ok(digits) = digits else { continue };
            if let Some(value) = changed.get_mut(*key) {
                *value = Spanned::new(number.bytes.clone(), digits);
            }
        }
        changed
    }

    /// The same table with other values.
    pub(crate) fn over<'u>(&self, table: &'u DeTable<'u>) -> Table<'u>
    where
        't: 'u,
    {
        Table { source: self.source, table, path: self.path.clone(), place: self.place.clone() }
    }

    /// Values of a key that is a list or a range, each as it is written; absent of a key that has
    /// one value or none.
    pub(crate) fn several(&self, key: &str) -> Option<Vec<(Node<'t>, Range<usize>)>> {
        let value = self.table.get(key)?;
        let one = |value: &'t Spanned<DeValue<'t>>| (self.node(key, value), value.span());
        match value.get_ref() {
            DeValue::Array(all) if !all.is_empty() => Some(all.iter().map(one).collect()),
            DeValue::String(text) if text.contains("..") => Some(vec![one(value)]),
            _ => None,
        }
    }

    fn node(&self, key: &str, value: &'t Spanned<DeValue<'t>>) -> Node<'t> {
        let (value, place) = (value.get_ref(), self.source.place(value.span()));
        Node { source: self.source, value, place, path: joined(&self.path, key) }
    }

    fn explain(&self, mistake: Mistake) -> PlanError {
        match mistake {
            Mistake::UnknownKey(name, known) => {
                let key = self.entries().into_iter().find(|(key, _)| key.value == name);
                key.map_or_else(
                    || PlanError::unknown(&self.place, "key", &name, known),
                    |(key, _)| self.unknown(&key, known),
                )
            }
            Mistake::Missing(key) => {
                self.missing(key, &self.source.addition(&joined(&self.path, key), key))
            }
            other => other.at(&self.place, (&self.path, "a table"), self.source.hint),
        }
    }
}

fn joined(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// A number in the place of what is written.
pub(crate) struct WrittenNumber {
    pub(crate) digits: String,
    /// Where in the text that is.
    pub(crate) bytes: Range<usize>,
}

/// A key and its place.
pub(crate) struct Key<'t> {
    pub(crate) value: &'t str,
    pub(crate) place: Span,
}

/// A value of a document.
#[derive(Clone)]
pub(crate) struct Node<'t> {
    source: Source<'t>,
    value: &'t DeValue<'t>,
    path: String,
    pub(crate) place: Span,
}

impl<'t> Node<'t> {
    /// Reads a `T` from it.
    pub(crate) fn read<T: Deserialize<'t>>(&self) -> Result<T, PlanError> {
        T::deserialize(self.clone()).map_err(|mistake| self.explain(mistake))
    }

    pub(crate) fn error(&self, what: impl Into<String>, remedy: impl Into<String>) -> PlanError {
        PlanError::new(&self.place, what, remedy)
    }

    fn explain(&self, mistake: Mistake) -> PlanError {
        if let (Some(table), Mistake::UnknownKey(..) | Mistake::Missing(_)) =
            (self.as_table(), &mistake)
        {
            return table.explain(mistake);
        }
        let found = match self.value {
            DeValue::String(_) => "text",
            DeValue::Integer(_) => "a number",
            DeValue::Float(_) => "a number with decimals",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        mistake.at(&self.place, (&self.path, found), self.source.hint)
    }

    /// The same where it is a table.
    pub(crate) fn as_table(&self) -> Option<Table<'t>> {
        let table = self.value.as_table()?;
        let (place, path) = (self.place.clone(), self.path.clone());
        Some(Table { source: self.source, table, path, place })
    }

    /// The same as a table, which it has to be.
    pub(crate) fn table(&self) -> Result<Table<'t>, PlanError> {
        self.as_table().ok_or_else(|| self.explain(Mistake::Type("a table".to_owned())))
    }

    /// The elements of a list, or the value itself as the only one; a list is never empty.
    pub(crate) fn list(&self) -> Result<Vec<Node<'t>>, PlanError> {
        match self.value.as_array() {
            None => Ok(vec![self.clone()]),
            Some(array) if array.is_empty() => Err(self.explain(Mistake::Empty)),
            Some(_) => Ok(self.elements()),
        }
    }

    fn elements(&self) -> Vec<Node<'t>> {
        let array = self.value.as_array().into_iter().flat_map(|array| array.iter());
        let element = |value: &'t Spanned<DeValue<'t>>| {
            let place = self.source.place(value.span());
            Node { value: value.get_ref(), place, ..self.clone() }
        };
        array.map(element).collect()
    }
}

/// What is wrong with a value, as the type that reads it says it.
#[derive(Debug)]
pub(crate) enum Mistake {
    /// With its place already.
    Whole(PlanError),
    /// Of the wrong type; what it has to be.
    Type(String),
    /// A number out of range, and the range.
    Range(String, String),
    /// A list without elements.
    Empty,
    UnknownKey(String, &'static [&'static str]),
    Missing(&'static str),
    /// No mistake: the keys that [`keys`] asks for.
    Keys(&'static [&'static str]),
    /// What is wrong and what to do, as [`refusal`] joins them.
    Refused(String),
}

/// Between the two parts of a refusal: in no text that TOML lets through unescaped.
const SEPARATOR: char = '\u{1f}';

/// The error of a type's own rule.
pub(crate) fn refusal<E: de::Error>(error: &PlanError) -> E {
    E::custom(format!("{}{SEPARATOR}{}", error.what, error.remedy))
}

impl Mistake {
    fn at(self, place: &Span, (path, found): (&str, &str), hint: fn(&str) -> Hint) -> PlanError {
        let example = || hint(path).example.unwrap_or_else(|| "another value".to_owned());
        let (what, remedy) = match self {
            Self::Whole(error) => return error,
            Self::Type(wanted) => {
                let wanted = match wanted.as_str() {
                    "a string" => "text",
                    "a boolean" => "true or false",
                    "f64" => "a number",
                    other if other.starts_with("struct ") => "a table",
                    other => other,
                };
                let what = format!("`{path}` is {found}, but has to be {wanted}");
                (what, format!("write it like {}", example()))
            }
            Self::Range(number, range) => {
                (format!("`{path}` is {number}"), format!("it has to be {range}"))
            }
            Self::Empty => {
                let example = example();
                let remedy = format!("give it a value, such as {example}");
                (format!("`{path}` is an empty list"), remedy)
            }
            Self::UnknownKey(key, known) => return PlanError::unknown(place, "key", &key, known),
            Self::Missing(key) => (format!("`{key}` is missing"), format!("add {key}")),
            Self::Keys(keys) => return PlanError::unknown(place, "value", path, keys),
            Self::Refused(text) => {
                let (what, remedy) = text.split_once(SEPARATOR).unwrap_or((&text, "change it"));
                (what.to_owned(), remedy.to_owned())
            }
        };
        PlanError::new(place, what, remedy)
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl std::error::Error for Mistake {}

impl de::Error for Mistake {
    fn custom<T: fmt::Display>(text: T) -> Self {
        Self::Refused(text.to_string())
    }

    fn invalid_type(_: Unexpected<'_>, wanted: &dyn Expected) -> Self {
        Self::Type(wanted.to_string())
    }

    fn invalid_value(found: Unexpected<'_>, wanted: &dyn Expected) -> Self {
        let number = match found {
            Unexpected::Signed(number) => number.to_string(),
            Unexpected::Unsigned(number) => number.to_string(),
            other => other.to_string(),
        };
        Self::Range(number, wanted.to_string())
    }

    fn unknown_field(key: &str, known: &'static [&'static str]) -> Self {
        Self::UnknownKey(key.to_owned(), known)
    }

    fn missing_field(key: &'static str) -> Self {
        Self::Missing(key)
    }
}

/// A table as a map: a mistake in a value is placed at that value.
struct Entries<'t> {
    rest: std::vec::IntoIter<(Cow<'t, str>, Node<'t>)>,
    value: Option<Node<'t>>,
}

impl<'t> Entries<'t> {
    fn new(entries: Vec<(Cow<'t, str>, Node<'t>)>) -> MapAccessDeserializer<Self> {
        MapAccessDeserializer::new(Self { rest: entries.into_iter(), value: None })
    }
}

impl<'t> MapAccess<'t> for Entries<'t> {
    type Error = Mistake;

    fn next_key_seed<K: DeserializeSeed<'t>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Mistake> {
        let Some((key, value)) = self.rest.next() else { return Ok(None) };
        self.value = Some(value);
        seed.deserialize(CowStrDeserializer::new(key)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'t>>(&mut self, seed: V) -> Result<V::Value, Mistake> {
        self.value.take().expect("a key comes before its value").seed(seed)
    }
}

/// A list; a mistake in an element is placed at that element.
struct Elements<'t>(std::vec::IntoIter<Node<'t>>);

impl<'t> SeqAccess<'t> for Elements<'t> {
    type Error = Mistake;

    fn next_element_seed<T: DeserializeSeed<'t>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Mistake> {
        self.0.next().map(|node| node.seed(seed)).transpose()
    }
}

impl<'t> Node<'t> {
    fn seed<S: DeserializeSeed<'t>>(self, seed: S) -> Result<S::Value, Mistake> {
        seed.deserialize(self.clone()).map_err(|mistake| Mistake::Whole(self.explain(mistake)))
    }
}

impl<'de> Deserializer<'de> for Node<'de> {
    type Error = Mistake;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match self.value {
            DeValue::String(text) => visitor.visit_str(text),
            DeValue::Boolean(flag) => visitor.visit_bool(*flag),
            DeValue::Integer(written) => {
                let digits = written.as_str().replace('_', "");
                let number = i128::from_str_radix(&digits, written.radix()).unwrap_or(i128::MAX);
                match i64::try_from(number) {
                    Ok(number) => visitor.visit_i64(number),
                    Err(_) => visitor.visit_i128(number),
                }
            }
            DeValue::Float(written) => {
                let number = written.as_str().replace('_', "").parse();
                visitor.visit_f64(number.map_err(|_| Mistake::Type("a number".to_owned()))?)
            }
            DeValue::Array(_) => visitor.visit_seq(Elements(self.elements().into_iter())),
            DeValue::Table(_) => {
                self.table().map_err(Mistake::Whole)?.access().deserialize_any(visitor)
            }
            DeValue::Datetime(_) => {
                Err(de::Error::invalid_type(Unexpected::Other("a date"), &visitor))
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        visitor.visit_some(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        match (name, &self.place) {
            (AT, Span::File { file, line, column }) => {
                let place = format!("{line}:{column}:{file}");
                Entries::new(vec![(place.into(), self)]).deserialize_any(visitor)
            }
            _ => self.deserialize_any(visitor),
        }
    }

    /// A list of one length only.
    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        match self.value.as_array() {
            Some(array) if array.len() == length => self.deserialize_any(visitor),
            _ => Err(de::Error::invalid_type(Unexpected::Seq, &visitor)),
        }
    }

    /// What may be written in two ways: which of them it is, the kind of value says.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        let shape = match self.value {
            DeValue::Array(_) => "Many",
            DeValue::Table(_) => "Table",
            _ => "Plain",
        };
        if self.value.as_array().is_some_and(|array| array.is_empty()) {
            return Err(Mistake::Empty);
        }
        let variant = if variants.contains(&shape) { shape } else { "Plain" };
        visitor.visit_enum(Entries::new(vec![(variant.into(), self)]))
    }

    forward! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct newtype_struct seq tuple map identifier ignored_any
    }
}

/// Name by which [`At`] asks for a map of one entry: the place of a value, and the value.
const AT: &str = "$At";

impl<'de, T: Deserialize<'de>> Deserialize<'de> for At<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct(AT, &["place", "value"], AtVisitor(PhantomData))
    }
}

struct AtVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for AtVisitor<T> {
    type Value = At<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value in a file")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<At<T>, A::Error> {
        let absent = || de::Error::custom("a value without a place");
        let (place, value): (String, T) = map.next_entry()?.ok_or_else(absent)?;
        let mut parts = place.splitn(3, ':');
        let mut number = || parts.next().and_then(|part| part.parse().ok()).unwrap_or_default();
        let (line, column) = (number(), number());
        let file = parts.next().unwrap_or_default().to_owned();
        Ok(At { value, place: Span::File { file, line, column } })
    }
}

/// The keys of a type, as serde knows them.
pub(crate) fn keys<T: for<'de> Deserialize<'de>>() -> &'static [&'static str] {
    match T::deserialize(KeysOf) {
        Err(Mistake::Keys(keys)) => keys,
        _ => &[],
    }
}

/// Reads nothing, and says which keys were asked for.
struct KeysOf;

impl<'de> Deserializer<'de> for KeysOf {
    type Error = Mistake;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Mistake> {
        Err(Mistake::Keys(&[]))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        keys: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Mistake> {
        Err(Mistake::Keys(keys))
    }

    forward! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}
