//! The read cache of a disk: segments of sectors that were read, and the one that the head goes on
//! filling while there is nothing else to do.

use super::geometry::Geometry;
use crate::request::SECTOR_BYTES;
use crate::sheet::RotatingSheet;
use std::ops::Range;

/// What was read.
#[derive(Clone, Copy, Debug)]
struct Segment {
    from: u64,
    to: u64,
    /// Number of the last use.
    used: u64,
}

/// The head reads on from `from` since `since_ns`, up to `to`.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadAhead {
    since_ns: u64,
    from: u64,
    from_stream_ns: u64,
    to: u64,
}

/// What the cache has of a read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Found {
    Nothing,
    /// All of it.
    All,
    /// Its beginning; the head reads the rest now and has it at this time.
    Until(u64),
}

#[derive(Clone, Debug)]
pub(super) struct ReadCache {
    segments: Vec<Segment>,
    /// Sectors of a segment, and how many segments there are.
    sectors: u64,
    most: usize,
    uses: u64,
    ahead: Option<ReadAhead>,
}

impl ReadCache {
    pub(super) fn new(sheet: &RotatingSheet) -> Self {
        let sectors = sheet.read_segment_bytes / SECTOR_BYTES;
        let most = if sectors == 0 { 0 } else { usize::try_from(sheet.read_segments).unwrap_or(0) };
        Self { segments: Vec::with_capacity(most), sectors, most, uses: 0, ahead: None }
    }

    /// What it has of a read at a time; `is_idle`: the head is where it last read.
    pub(super) fn find(
        &mut self,
        now_ns: u64,
        geometry: &Geometry,
        sectors: Range<u64>,
        is_idle: bool,
    ) -> Found {
        if is_idle && let Some(ahead) = self.ahead {
            let reached = ahead.reached(now_ns, geometry);
            let begin = self.segments.last().map_or(ahead.from, |segment| segment.from);
            let goes_on = reached < ahead.to;
            if (begin..=reached).contains(&sectors.start) {
                if sectors.end <= reached {
                    if goes_on {
                        self.extend_to(sectors.end, geometry);
                    }
                    return Found::All;
                }
                if goes_on {
                    let left_ns = geometry.end_ns(sectors.end - 1) - ahead.from_stream_ns;
                    return Found::Until((ahead.since_ns + left_ns).max(now_ns));
                }
            }
        }
        self.uses += 1;
        let uses = self.uses;
        let holds =
            |segment: &&mut Segment| segment.from <= sectors.start && sectors.end <= segment.to;
        match self.segments.iter_mut().find(holds) {
            Some(segment) => {
                segment.used = uses;
                Found::All
            }
            None => Found::Nothing,
        }
    }

    /// What was handed out makes room: the head may read on.
    fn extend_to(&mut self, end: u64, geometry: &Geometry) {
        let to = (end + self.sectors).min(geometry.sectors());
        if let Some(ahead) = &mut self.ahead {
            ahead.to = ahead.to.max(to);
        }
    }

    /// The head has read these sectors at a time, and reads on from there.
    pub(super) fn filled(&mut self, now_ns: u64, geometry: &Geometry, sectors: Range<u64>) {
        let (from, to) = (sectors.start, sectors.end);
        self.ahead = None;
        if self.most == 0 {
            return;
        }
        self.uses += 1;
        let touching = self.segments.iter().position(|one| one.from <= from && from <= one.to);
        let mut segment = match touching {
            Some(at) => self.segments.remove(at),
            None => {
                if self.segments.len() == self.most {
                    let oldest = (0..self.most).min_by_key(|at| self.segments[*at].used);
                    self.segments.remove(oldest.unwrap_or(0));
                }
                Segment { from, to, used: 0 }
            }
        };
        segment.used = self.uses;
        segment.to = segment.to.max(to);
        segment.from = segment.from.max(segment.to.saturating_sub(self.sectors));
        // The segment that is being filled is the last.
        self.segments.push(segment);
        if to < geometry.sectors() {
            self.ahead = Some(ReadAhead {
                since_ns: now_ns,
                from: to,
                from_stream_ns: geometry.end_ns(to - 1),
                to: (to + self.sectors).min(geometry.sectors()),
            });
        }
    }

    /// Ends reading ahead; gives the sector in front of which the head is.
    pub(super) fn stop(&mut self, now_ns: u64, geometry: &Geometry) -> Option<u64> {
        let ahead = self.ahead.take()?;
        let reached = ahead.reached(now_ns, geometry);
        if let Some(segment) = self.segments.last_mut() {
            segment.to = segment.to.max(reached);
            segment.from = segment.from.max(segment.to.saturating_sub(self.sectors));
        }
        Some(reached)
    }

    /// Forgets what is written to.
    pub(super) fn written(&mut self, now_ns: u64, geometry: &Geometry, sectors: Range<u64>) {
        let (from, to) = (sectors.start, sectors.end);
        if let Some(ahead) = self.ahead
            && from < ahead.to
            && ahead.from < to
        {
            self.stop(now_ns, geometry);
        }
        let was = self.segments.len();
        self.segments.retain(|segment| to <= segment.from || segment.to <= from);
        if self.segments.len() < was {
            self.ahead = None;
        }
    }
}

impl ReadAhead {
    /// The first sector that is not read at a time.
    fn reached(&self, now_ns: u64, geometry: &Geometry) -> u64 {
        let stream_ns = self.from_stream_ns + now_ns.saturating_sub(self.since_ns);
        geometry.sector_at(stream_ns).clamp(self.from, self.to)
    }
}
