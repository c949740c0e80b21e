//! Sorts every written byte of a trace by what lay there.

use crate::request::{Kind, Request};
use crate::sectors::{Seen, Set, Stretch, shared};
use fsarena_model::account::{Account, Chunk, FileExtent, FsLayout, Map, Part, Span};

/// Sectors of the block layer, whatever those of the device are.
const SECTOR_BYTES: u64 = 512;

/// What a session has seen.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trace {
    /// In order of time.
    pub requests: Vec<Request>,
    /// Events that the kernel had no room for, or this program no use.
    pub lost_events: u64,
    /// What has to be known about them, in words.
    pub notes: Vec<String>,
    /// Processor time of the thread that read them, ns.
    pub reader_cpu_ns: u64,
}

/// Where a span begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cut {
    /// Number of the cycle.
    pub cycle: u32,
    /// When it begins, `CLOCK_MONOTONIC`.
    pub monotonic_ns: u64,
}

/// Sorts the written bytes of a trace. Pure; any input is taken.
///
/// A written byte is, by the first that holds:
/// 1. [`Part::Journal`] in a range of the journal,
/// 2. [`Part::Metadata`] in a range of fixed metadata,
/// 3. in an extent of a file, [`Part::Data`] below its end and [`Part::Rounding`] beyond: by the
///    first map that was begun at or after the request, else the last one before,
/// 4. [`Part::Metadata`] where its request bears the flag,
/// 5. [`Part::Gone`] where the file system flags all metadata, a map was made after it, and no file
///    of that map has contents of which the kernel does not tell the place,
/// 6. [`Part::Unknown`].
///
/// An extent goes before the flag, because contents may bear it: with `data=journal`, ext4 writes
/// them to their place as dirty metadata, and a request that the kernel put together from several
/// has the flag of the first.
///
/// A byte is `first` where its sector of 512 bytes had not been written before in the span. A span
/// begins with its cut, and ends with the next; what was written before the first cut is a span of
/// cycle 0, which is there only if it has something.
#[must_use]
pub fn account(
    trace: &Trace,
    layout: &FsLayout,
    maps: &[Map],
    cuts: &[Cut],
    total_bytes: u64,
) -> Account {
    let mut requests: Vec<&Request> = trace.requests.iter().collect();
    requests.sort_by_key(|request| request.monotonic_ns);
    let mut cuts: Vec<Cut> = cuts.to_vec();
    cuts.sort_by_key(|cut| cut.monotonic_ns);
    let mut sorter = Sorter::new(layout, maps);
    let mut spans = vec![Span::default()];
    let mut cuts = cuts.into_iter().peekable();
    for request in requests {
        while let Some(cut) = cuts.next_if(|cut| cut.monotonic_ns <= request.monotonic_ns) {
            spans.push(Span { cycle: cut.cycle, ..Span::default() });
            sorter.seen = Seen::default();
        }
        let span = spans.last_mut().expect("one at the start");
        match request.kind {
            Kind::Write if request.length_bytes > 0 => {
                span.writes += 1;
                sorter.sort(request, span);
            }
            Kind::Flush => span.flushes += 1,
            Kind::Discard => {
                span.discarded_bytes = span.discarded_bytes.saturating_add(request.length_bytes);
            }
            Kind::Read | Kind::Write | Kind::Other => {}
        }
    }
    spans.extend(cuts.map(|cut| Span { cycle: cut.cycle, ..Span::default() }));
    if spans.len() > 1 && spans[0] == Span::default() {
        spans.remove(0);
    }
    described(trace, layout, maps, Account { total_bytes, spans, ..Account::default() })
}

/// Puts in what does not come from the requests.
fn described(trace: &Trace, layout: &FsLayout, maps: &[Map], account: Account) -> Account {
    let last = maps.iter().max_by_key(|map| map.monotonic_ns);
    let mut notes = trace.notes.clone();
    notes.extend(layout.notes.iter().cloned());
    match last {
        None => notes.push(
            "The files were not looked at: contents are not told from what no file holds any more."
                .to_owned(),
        ),
        Some(map) if map.unplaced_files > map.inline_files => notes.push(format!(
            "Of {} files the kernel does not tell the place: what was written to them is unknown.",
            map.unplaced_files - map.inline_files
        )),
        Some(_) => {}
    }
    let said = |range| format!("{range} ({})", layout.reported_by);
    Account {
        lost_events: trace.lost_events,
        reader_cpu_ns: trace.reader_cpu_ns,
        contents_bytes: last.map_or(0, |map| map.contents_bytes),
        allocated_bytes: last.map_or(0, |map| map.allocated_bytes),
        files: last.map_or(0, |map| map.files),
        unplaced_files: last.map_or(0, |map| map.unplaced_files),
        journal: layout.journal.iter().map(said).collect(),
        notes,
        ..account
    }
}

/// Sorts requests that come in order of time.
struct Sorter<'a> {
    layout: &'a FsLayout,
    journal: Set,
    metadata: Set,
    chunks: Vec<&'a Chunk>,
    /// In order of time.
    maps: Vec<&'a Map>,
    /// Index of the map in use.
    current: usize,
    files: FileSets,
    seen: Seen,
    fresh: Vec<Stretch>,
    inside: Vec<Stretch>,
    left: Vec<Stretch>,
    rest: Vec<Stretch>,
}

/// A map, made ready.
#[derive(Default)]
struct FileSets {
    data: Set,
    rounding: Set,
}

impl<'a> Sorter<'a> {
    fn new(layout: &'a FsLayout, maps: &'a [Map]) -> Self {
        let mut maps: Vec<&Map> = maps.iter().collect();
        maps.sort_by_key(|map| map.monotonic_ns);
        let mut chunks: Vec<&Chunk> = layout.chunks.iter().collect();
        chunks.sort_by_key(|chunk| chunk.logical_bytes);
        let mut sorter = Self {
            layout,
            journal: Set::from_ranges(&layout.journal),
            metadata: Set::from_ranges(&layout.metadata),
            chunks,
            maps,
            current: 0,
            files: FileSets::default(),
            seen: Seen::default(),
            fresh: Vec::new(),
            inside: Vec::new(),
            left: Vec::new(),
            rest: Vec::new(),
        };
        sorter.read_map();
        sorter
    }

    fn read_map(&mut self) {
        let Some(map) = self.maps.get(self.current) else { return };
        let (mut data, mut rounding) = (Vec::new(), Vec::new());
        for extent in &map.extents {
            placed(extent, &self.chunks, &mut |piece: &FileExtent| {
                let end = piece.start_bytes.saturating_add(piece.length_bytes);
                let contents = piece.size_bytes.saturating_sub(piece.logical_bytes);
                let edge = piece.start_bytes.saturating_add(contents).min(end);
                data.push((piece.start_bytes, edge));
                rounding.push((edge, end));
            });
        }
        self.files = FileSets { data: Set::new(data), rounding: Set::new(rounding) };
    }

    /// Selects the map of that time.
    fn select_map(&mut self, monotonic_ns: u64) {
        let before = self.current;
        while self.current + 1 < self.maps.len()
            && self.maps[self.current].monotonic_ns < monotonic_ns
        {
            self.current += 1;
        }
        if self.current != before {
            self.read_map();
        }
    }

    /// What a byte is that is in no fixed range and no file.
    fn otherwise(&self, request: &Request) -> Part {
        let is_told = self.maps.get(self.current).is_some_and(|map| {
            map.monotonic_ns >= request.monotonic_ns && map.unplaced_files <= map.inline_files
        });
        match (request.is_metadata, self.layout.flags_metadata && is_told) {
            (true, _) => Part::Metadata,
            (false, true) => Part::Gone,
            (false, false) => Part::Unknown,
        }
    }

    fn sort(&mut self, request: &Request, span: &mut Span) {
        self.select_map(request.monotonic_ns);
        let start = request.start_bytes;
        let end = start.saturating_add(request.length_bytes);
        self.seen.add((start / SECTOR_BYTES, end.div_ceil(SECTOR_BYTES)), &mut self.fresh);
        for (from, to) in &mut self.fresh {
            (*from, *to) = (from.saturating_mul(SECTOR_BYTES), to.saturating_mul(SECTOR_BYTES));
        }
        let otherwise = self.otherwise(request);
        self.left.clear();
        self.left.push((start, end));
        for (part, set) in [
            (Part::Journal, &self.journal),
            (Part::Metadata, &self.metadata),
            (Part::Data, &self.files.data),
            (Part::Rounding, &self.files.rounding),
        ] {
            self.inside.clear();
            self.rest.clear();
            for piece in &self.left {
                set.split(*piece, &mut self.inside, &mut self.rest);
            }
            std::mem::swap(&mut self.left, &mut self.rest);
            book(span, part, &self.inside, &self.fresh);
        }
        book(span, otherwise, &self.left, &self.fresh);
    }
}

/// Adds pieces to a part, told apart by what of them is fresh.
fn book(span: &mut Span, part: Part, pieces: &[Stretch], fresh: &[Stretch]) {
    for piece in pieces {
        let first_bytes = shared(*piece, fresh);
        let written = span.parts.entry(part).or_default();
        written.first_bytes = written.first_bytes.saturating_add(first_bytes);
        let again_bytes = piece.1 - piece.0 - first_bytes;
        written.again_bytes = written.again_bytes.saturating_add(again_bytes);
    }
}

/// Gives the extent as it is on the device: as it is where there are no chunks, else in pieces,
/// each copy on its own.
fn placed(extent: &FileExtent, chunks: &[&Chunk], give: &mut dyn FnMut(&FileExtent)) {
    if chunks.is_empty() {
        return give(extent);
    }
    let end = extent.start_bytes.saturating_add(extent.length_bytes);
    let after = chunks.partition_point(|chunk| chunk.logical_bytes <= extent.start_bytes);
    let near = chunks[after.saturating_sub(1)..].iter();
    for chunk in near.take_while(|chunk| chunk.logical_bytes < end) {
        let from = extent.start_bytes.max(chunk.logical_bytes);
        let to = end.min(chunk.logical_bytes.saturating_add(chunk.length_bytes));
        if from >= to {
            continue;
        }
        for copy in &chunk.copies_bytes {
            give(&FileExtent {
                start_bytes: copy.saturating_add(from - chunk.logical_bytes),
                length_bytes: to - from,
                logical_bytes: extent.logical_bytes.saturating_add(from - extent.start_bytes),
                size_bytes: extent.size_bytes,
            });
        }
    }
}

#[cfg(test)]
mod tests;
