//! Reading a description, with the checks that its types cannot make: every description that passes
//! can be resolved and made. Nothing is drawn or resolved here.

use super::{Class, Description, Dirs, Names, SCHEMA, Size, Spread};
use crate::CorpusError;
use crate::name::Template;
use fsarena_model::dataset::{Distribution, MAX_DEPTH};
use toml::de::{DeTable, DeValue};

/// Most directories and files of a dataset: they are resolved in memory.
const MOST: u64 = 50_000_000;
/// Largest file, bytes: what every file system that can be compared holds.
const LARGEST_BYTES: u64 = 1 << 43;
const LARGEST_SCALE: f64 = 1000.0;

/// A value that is not right.
struct Fault {
    place: KeyPath,
    what: String,
    remedy: String,
}

/// Where a value is in a description.
struct KeyPath {
    /// The array of tables and the number in it; absent: the top.
    table: Option<(&'static str, usize)>,
    key: &'static str,
}

impl KeyPath {
    /// Its line in the text of the description, from 1; that of its table, where it is not there.
    fn line(&self, text: &str) -> usize {
        let Ok(document) = DeTable::parse(text) else { return 1 };
        let root = document.get_ref();
        let (table, start) = match self.table {
            None => (Some(root), 0),
            Some((array, number)) => match root.get(array).map(|value| value.get_ref()) {
                Some(DeValue::Array(tables)) => match tables.get(number) {
                    Some(table) => (table.get_ref().as_table(), table.span().start),
                    None => (None, 0),
                },
                _ => (None, 0),
            },
        };
        let value = table.and_then(|table| table.get(self.key));
        line_of(text, value.map_or(start, |value| value.span().start))
    }
}

/// The line of the byte at `at`, from 1.
fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

type Checked = Result<(), Fault>;

fn fault(
    table: Option<(&'static str, usize)>,
    key: &'static str,
    what: impl Into<String>,
    remedy: impl Into<String>,
) -> Checked {
    Err(Fault { place: KeyPath { table, key }, what: what.into(), remedy: remedy.into() })
}

impl Description {
    /// Reads a description; `file` is its name in errors.
    ///
    /// # Errors
    /// What is not TOML, an unknown or missing key, and everything that could not be made, with the
    /// line and what to do.
    pub fn parse(text: &str, file: &str) -> Result<Self, CorpusError> {
        let read: Result<Self, toml::de::Error> = toml::from_str(text);
        let fault = |line, what, remedy: &str| CorpusError::Description {
            file: file.to_owned(),
            line,
            what,
            remedy: remedy.to_owned(),
        };
        let description = read.map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let what = error.message().lines().collect::<Vec<_>>().join(", ");
            fault(line_of(text, at), what, "datasets/README.md has the format")
        })?;
        match description.check() {
            Ok(()) => Ok(description),
            Err(found) => Err(fault(found.place.line(text), found.what, &found.remedy)),
        }
    }

    /// Whether it can be made.
    fn check(&self) -> Result<(), Fault> {
        self.check_top()?;
        let mut groups: Vec<Group> = Vec::new();
        for (number, dirs) in self.dirs.iter().enumerate() {
            let group = dirs.check(number, &groups)?;
            groups.push(group);
        }
        let mut entries: u64 = groups.iter().map(|group| group.count).sum();
        for (number, class) in self.classes.iter().enumerate() {
            entries = entries.saturating_add(class.check(number, &groups)?);
        }
        self.check_what_is_compiled()?;
        let scaled = entries as f64 * self.scale;
        if entries > MOST || scaled > MOST as f64 {
            let what = format!("{scaled:.0} directories and files are more than {MOST}");
            return fault(None, "scale", what, "make fewer, or a smaller `scale`");
        }
        Ok(())
    }

    /// Names of what is compiled come into the recipes of its Makefile: a description must not be
    /// a way to write commands.
    fn check_what_is_compiled(&self) -> Checked {
        if !self.classes.iter().any(|class| class.contents.is_compiled()) {
            return Ok(());
        }
        let dirs = self.dirs.iter().enumerate().map(|(at, one)| (("dirs", at), &one.names));
        let classes = self.classes.iter().enumerate().map(|(at, one)| (("class", at), &one.names));
        for (table, names) in dirs.chain(classes) {
            let is_plain = |text: &String| Template::parse(text).is_ok_and(|it| it.is_plain());
            if let Some(odd) = names.templates().iter().find(|text| !is_plain(text)) {
                let what = format!("{odd:?} is in a tree that is compiled");
                let remedy = "use letters, digits, . _ - + and placeholders such as {n}";
                return fault(Some(table), "names", what, remedy);
            }
        }
        Ok(())
    }

    fn check_top(&self) -> Checked {
        if self.schema != SCHEMA {
            let what = format!("schema {} is not known", self.schema);
            return fault(None, "schema", what, format!("write `schema = {SCHEMA}`"));
        }
        if !is_name(&self.name) {
            let remedy = "use small letters, digits and `-`, up to 64: `name = \"my-tree\"`";
            return fault(None, "name", format!("{:?} is no name", self.name), remedy);
        }
        if self.title.trim().is_empty() || self.title.contains('\n') {
            return fault(None, "title", "the title is empty or has lines", "write one line");
        }
        let is_line = |text: &String| !text.trim().is_empty() && !text.contains(['\n', '\r']);
        if !self.notes.iter().all(is_line) {
            let remedy = "write a string a line; `\\` at the end of a line joins it to the next";
            return fault(None, "notes", "a note is empty or has lines", remedy);
        }
        if i64::try_from(self.seed).is_err() {
            let what = format!("the seed {} is too large", self.seed);
            return fault(None, "seed", what, format!("use one up to {}", i64::MAX));
        }
        if !(self.scale > 0.0 && self.scale <= LARGEST_SCALE) {
            let what = format!("the scale {} cannot be", self.scale);
            return fault(None, "scale", what, format!("use more than 0, up to {LARGEST_SCALE}"));
        }
        let ratio = fsarena_model::job::Compression::ALL.map(|kind| self.archive_ratio(kind));
        if let Some(wrong) = ratio.iter().find(|ratio| !(**ratio > 0.0 && **ratio < 1e6)) {
            let what = format!("{wrong} is no size of an archive");
            let remedy = "state archive bytes divided by bytes of the files, such as 0.3";
            return fault(None, "archive_ratio", what, remedy);
        }
        if self.classes.is_empty() {
            let remedy = "add a `[[class]]` of files";
            return fault(None, "class", "there is nothing in this dataset", remedy);
        }
        Ok(())
    }
}

/// A group of directories that was checked.
struct Group {
    name: String,
    count: u64,
    depth: u32,
}

/// The directories that something lies in: number and depth; `None` is not there.
fn within(name: Option<&str>, groups: &[Group]) -> Option<(u64, u32)> {
    match name {
        None => Some((1, 0)),
        Some(name) => groups.iter().find(|group| group.name == name).map(|g| (g.count, g.depth)),
    }
}

impl Dirs {
    fn check(&self, number: usize, groups: &[Group]) -> Result<Group, Fault> {
        let table = Some(("dirs", number));
        let refuse = |key, what: String, remedy: &str| {
            fault(table, key, what, remedy).map(|()| unreachable!("a fault is an error"))
        };
        if !is_name(&self.name) || groups.iter().any(|group| group.name == self.name) {
            let what = format!("{:?} is no name, or one that is taken", self.name);
            return refuse("name", what, "use small letters, digits and `-`, once each");
        }
        let Some((parents, depth)) = within(self.within.as_deref(), groups) else {
            let what = format!("there is no group {:?} before this one", self.within);
            return refuse("in", what, "name a [[dirs]] that stands above, or leave `in` out");
        };
        if depth >= MAX_DEPTH {
            return refuse("in", format!("more than {MAX_DEPTH} levels"), "make fewer levels");
        }
        let count = match (self.count, self.each) {
            (Some(count), None) => count,
            (None, Some(each)) => each.saturating_mul(parents),
            _ => {
                let what = "either `count` or `each` has to be there".to_owned();
                return refuse("name", what, "give one: in all, or in each directory of `in`");
            }
        };
        if count == 0 || count > MOST {
            let what = format!("{count} directories cannot be");
            return refuse(self.count.map_or("each", |_| "count"), what, "use 1 to 50 million");
        }
        check_names(table, &self.names, self.spread, count, parents)?;
        Ok(Group { name: self.name.clone(), count, depth: depth + 1 })
    }
}

impl Class {
    /// Checks; the number of files, as far as it is known before sizes are drawn.
    fn check(&self, number: usize, groups: &[Group]) -> Result<u64, Fault> {
        let table = Some(("class", number));
        let refuse = |key, what: String, remedy: &str| {
            fault(table, key, what, remedy).map(|()| unreachable!("a fault is an error"))
        };
        if !is_name(&self.name) {
            let what = format!("{:?} is no name", self.name);
            return refuse("name", what, "use small letters, digits and `-`");
        }
        let Some((parents, _)) = within(self.within.as_deref(), groups) else {
            let what = format!("there is no group of directories {:?}", self.within);
            return refuse("in", what, "name a [[dirs]], or leave `in` out for the root");
        };
        check_size(table, &self.size_bytes)?;
        let (min, max) = self.size_bytes.range();
        let count = match (self.count, self.each, self.total_bytes) {
            (Some(count), None, _) => count,
            (None, Some(each), _) => each.saturating_mul(parents),
            (None, None, Some(total)) if max > 0 => {
                total.div_ceil(self.size_bytes.average().max(1))
            }
            _ => {
                let what = "how many files there are is not said, or said twice".to_owned();
                return refuse("name", what, "give `count`, or `each`, or `total_bytes` alone");
            }
        };
        if count == 0 || count > MOST {
            return refuse("count", format!("{count} files cannot be"), "use 1 to 50 million");
        }
        if let (Some(total), Some(_)) = (self.total_bytes, self.count.or(self.each)) {
            let (least, most) = (count.saturating_mul(min), count.saturating_mul(max));
            if !(least..=most).contains(&total) {
                let what = format!("{count} such files have {least} to {most} bytes, not {total}");
                return refuse("total_bytes", what, "change `total_bytes`, or count and sizes");
            }
        }
        if self.twins_percent > 100 {
            let what = format!("{} % of the files cannot be twins", self.twins_percent);
            return refuse("twins_percent", what, "use 0 to 100");
        }
        if self.count.is_some() || self.each.is_some() {
            check_names(table, &self.names, self.spread, count, parents)?;
        } else {
            check_templates(table, &self.names)?;
        }
        Ok(count)
    }
}

fn check_size(table: Option<(&'static str, usize)>, size: &Size) -> Checked {
    let (min, max) = size.range();
    let wrong = match size {
        Size::Fixed(_) => None,
        Size::Listed(sizes) => sizes.is_empty().then(|| "the list of sizes is empty".to_owned()),
        Size::Drawn(Distribution::Uniform { .. }) => None,
        Size::Drawn(Distribution::Lognormal { median, sigma, .. }) => {
            let curve = *median > 0 && (0.0..=10.0).contains(sigma);
            (!curve).then(|| "a median of 1 or more and a sigma of 0 to 10 are needed".to_owned())
        }
        Size::Drawn(Distribution::Weighted { values }) => {
            let some = values.iter().any(|value| value.1 > 0);
            (!some).then(|| "no value has a weight".to_owned())
        }
    };
    let wrong = wrong.or_else(|| (min > max).then(|| format!("min {min} is above max {max}")));
    let wrong = wrong.or_else(|| {
        let too_large = max > LARGEST_BYTES;
        too_large.then(|| format!("{max} bytes are more than {LARGEST_BYTES}"))
    });
    match wrong {
        Some(what) => fault(table, "size_bytes", what, "correct `size_bytes`"),
        None => Ok(()),
    }
}

fn check_templates(table: Option<(&'static str, usize)>, names: &Names) -> Result<bool, Fault> {
    let mut varies = false;
    if names.templates().is_empty() {
        fault(table, "names", "the list of names is empty", "give a template")?;
    }
    for template in names.templates() {
        match Template::parse(template) {
            Ok(template) => varies |= template.varies(),
            Err(what) => {
                let remedy = "use text, {n}, {n:5}, {aa}, {word}, {version} and {dir}";
                fault(table, "names", what, remedy)?;
            }
        }
    }
    Ok(varies)
}

fn check_names(
    table: Option<(&'static str, usize)>,
    names: &Names,
    spread: Spread,
    count: u64,
    parents: u64,
) -> Checked {
    if check_templates(table, names)? {
        return Ok(());
    }
    let most = parents.saturating_mul(names.templates().len() as u64);
    if count > most || (spread == Spread::Uneven && count > 1) {
        let what = format!("{count} of them in {parents} directories cannot all have such names");
        return fault(table, "names", what, "use {n} or {word} in `names`, and an even spread");
    }
    Ok(())
}

/// Small letters, digits and `-`, of which it does not begin.
fn is_name(name: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=64).contains(&name.len()) && name.bytes().all(known) && !name.starts_with('-')
}
