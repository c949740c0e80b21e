//! Which writes and flushes fail: drawn out of the log of the same work on a disk that does not.

use crate::stamp::{SECTOR, Sector, identify};
use fsarena_model::seed::Seed;
use fsarena_vdisk::{Entry, EntryKind, Fault, FaultKind, Op, SECTOR_BYTES, WriteLog};
use serde::{Deserialize, Serialize};
use std::io;
use std::ops::Range;

/// What fails.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RequestKind {
    /// A write with contents of files of the work, in a journal too.
    Data,
    /// One with nothing of them that is known by its sectors: metadata, the journal, and small
    /// files that are kept inside of metadata.
    Metadata,
    /// A flush: what the cache of the disk has stays there.
    Flush,
}

/// For how long.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lasting {
    /// The request fails, and the next write to this place, or the next flush, does not.
    Once,
    /// Every write that touches these sectors, or every flush, fails from then on.
    Always,
}

impl RequestKind {
    pub const ALL: [Self; 3] = [Self::Data, Self::Metadata, Self::Flush];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Metadata => "metadata",
            Self::Flush => "flush",
        }
    }
}

impl Lasting {
    pub const ALL: [Self; 2] = [Self::Once, Self::Always];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Always => "always",
        }
    }
}

/// A request that is to fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FailingRequest {
    pub kind: RequestKind,
    pub lasting: Lasting,
    /// When it is submitted, in the time of the guest.
    pub at_ns: u64,
    /// 0 and 0 of a flush.
    pub sector: u64,
    pub sectors: u64,
}

impl FailingRequest {
    /// For the disk.
    #[must_use]
    pub fn fault(&self) -> Fault {
        let (op, sectors) = match self.kind {
            RequestKind::Flush => (Op::Flush, None),
            RequestKind::Data | RequestKind::Metadata => {
                (Op::Write, Some(self.sector..self.sector.saturating_add(self.sectors)))
            }
        };
        Fault {
            ops: vec![op],
            sectors,
            span_ns: self.at_ns..u64::MAX,
            times: match self.lasting {
                Lasting::Once => 1,
                Lasting::Always => u64::MAX,
            },
            ..Fault::every(FaultKind::MediumError)
        }
    }
}

/// Draws so many requests out of those that were submitted in a span, each at most once with the
/// same lasting; kinds and lastings have their turns. Fewer where there are not so many.
///
/// # Errors
/// Of the log's file.
pub fn failing_requests(
    log: &WriteLog,
    span_ns: Range<u64>,
    seed: u64,
    count: usize,
) -> io::Result<Vec<FailingRequest>> {
    let mut rng = Seed::from_number(seed).child("failing-requests", 0).rng();
    let mut data = Vec::new();
    let mut metadata = Vec::new();
    let mut flushes = Vec::new();
    for entry in log.entries().iter().filter(|entry| span_ns.contains(&entry.submitted_ns)) {
        if entry.kind.is_write() {
            let own = if has_stamp(log, entry)? { &mut data } else { &mut metadata };
            own.push(entry);
        } else if entry.kind == EntryKind::Flush {
            flushes.push(entry);
        }
    }
    let mut drawn = Vec::new();
    for (kind, of) in RequestKind::ALL.into_iter().zip([data, metadata, flushes]) {
        for lasting in Lasting::ALL {
            let mut of = of.clone();
            rng.shuffle(&mut of);
            drawn.push(of.into_iter().map(move |entry: &Entry| FailingRequest {
                kind,
                lasting,
                at_ns: entry.submitted_ns,
                sector: entry.sector,
                sectors: entry.sectors,
            }));
        }
    }
    let mut all = Vec::new();
    while all.len() < count {
        let before = all.len();
        all.extend(drawn.iter_mut().filter_map(Iterator::next).take(count - before));
        if all.len() == before {
            break;
        }
    }
    Ok(all)
}

/// Whether a sector of a write is one of a file of the work.
fn has_stamp(log: &WriteLog, entry: &Entry) -> io::Result<bool> {
    let mut data = vec![0; usize::try_from(entry.sectors * SECTOR_BYTES).unwrap_or(0)];
    log.data(entry, entry.sector, &mut data)?;
    let is_stamp = |sector: &[u8]| matches!(identify(sector), Sector::Stamp { .. });
    Ok(data.chunks(SECTOR).any(is_stamp))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stamp::{Stamp, fill};
    use fsarena_vdisk::{Completion, Outcome, Request};

    /// Ten writes of data and three of others, and a flush behind each.
    fn log() -> WriteLog {
        let mut log = WriteLog::in_memory();
        for number in 0..13_u64 {
            let mut data = vec![7; 4096];
            if number < 10 {
                fill(&mut data[512..1024], Stamp { seed: 1, file: 2, version: 3 }, 0);
            }
            let at_ns = 100 + number * 10;
            let done = Completion { tag: 0, at_ns: at_ns + 5, outcome: Outcome::Done };
            log.completed(&Request::write(0, number * 8, 8), at_ns, &done, &data).unwrap();
            log.completed(&Request::flush(0), at_ns, &done, &[]).unwrap();
        }
        log
    }

    #[test]
    fn kinds_and_lastings_have_their_turns_and_no_request_is_drawn_twice() {
        let log = log();
        let drawn = failing_requests(&log, 0..1000, 5, 14).unwrap();
        assert_eq!(drawn, failing_requests(&log, 0..1000, 5, 14).unwrap());
        assert_ne!(drawn, failing_requests(&log, 0..1000, 6, 14).unwrap());
        let count = |kind, lasting| {
            let is_it = |it: &&FailingRequest| (it.kind, it.lasting) == (kind, lasting);
            drawn.iter().filter(is_it).count()
        };
        assert_eq!(count(RequestKind::Data, Lasting::Once), 3);
        assert_eq!(count(RequestKind::Data, Lasting::Always), 3);
        assert_eq!(count(RequestKind::Metadata, Lasting::Always), 2);
        assert_eq!(count(RequestKind::Flush, Lasting::Once), 2);
        assert!(drawn.iter().all(|it| match it.kind {
            RequestKind::Data => it.sector < 80 && it.sectors == 8,
            RequestKind::Metadata => it.sector >= 80 && it.sectors == 8,
            RequestKind::Flush => (it.sector, it.sectors) == (0, 0),
        }));
        let all = failing_requests(&log, 0..1000, 5, 1000).unwrap();
        assert_eq!(all.len(), 52, "each write and flush once and always");
        assert!(failing_requests(&log, 0..100, 5, 8).unwrap().is_empty());
    }

    #[test]
    fn the_fault_is_of_this_request() {
        let write = FailingRequest {
            kind: RequestKind::Data,
            lasting: Lasting::Once,
            at_ns: 130,
            sector: 24,
            sectors: 8,
        };
        let fault = write.fault();
        assert_eq!((fault.sectors, fault.span_ns.start, fault.times), (Some(24..32), 130, 1));
        let always = FailingRequest { lasting: Lasting::Always, ..write }.fault();
        assert_eq!(always.times, u64::MAX);
        assert_eq!(always.ops, [Op::Write]);
        let flush = FailingRequest { kind: RequestKind::Flush, ..write }.fault();
        assert_eq!((flush.ops, flush.sectors), (vec![Op::Flush], None));
    }
}
