//! Factors of how many work at once: the ranks of a timed phase, and the hosts that they are on.
//!
//! The dataset is the same at every level, and all ranks do the work of a phase once: what is seen
//! over the levels is strong scaling.

use super::descriptor::{ActsOn, Factor, FactorInfo, Illegal, Target};
use super::level::{LevelError, UNCHANGED, count, known_count};
use crate::contender::Levels;

/// Key of the number of ranks.
pub const RANKS: &str = "ranks";
/// Key of the number of hosts.
pub const HOST_COUNT: &str = "host_count";
/// Most ranks of a phase.
pub const MAX_RANKS: u32 = 1024;

/// The ranks of every timed phase; none where the workload itself says how many.
#[must_use]
pub fn ranks(levels: &Levels) -> Option<u32> {
    known_count(levels.factors.get(RANKS)?, MAX_RANKS)
}

/// How many of the hosts work, from the first on; none: all of them.
#[must_use]
pub fn host_count(levels: &Levels) -> Option<u32> {
    known_count(levels.factors.get(HOST_COUNT)?, MAX_RANKS)
}

pub(super) struct HostCount;

impl Factor for HostCount {
    fn info(&self) -> FactorInfo {
        FactorInfo {
            flag: "host-count",
            title: "hosts",
            help: "How many of --hosts work, from the first on: 1,2,4 or 1..8; without --ranks \
                   with one rank on each",
            example: "\"4\"",
            takes_number: true,
            takes_range: true,
            ..FactorInfo::new(HOST_COUNT, ActsOn::Place)
        }
    }
    fn parse(&self, text: &str) -> Result<String, LevelError> {
        count(text, "hosts", MAX_RANKS)
    }
    fn illegal(&self, target: &Target<'_>) -> Option<Illegal> {
        let (hosts, ranks) = (host_count(target.levels)?, ranks(target.levels)?);
        (ranks < hosts).then(|| {
            Illegal::Forbidden(format!(
                "fewer ranks ({ranks}) than hosts ({hosts}): name at least one for each"
            ))
        })
    }
    fn label(&self, level: &str) -> String {
        format!("hosts={level}")
    }
    fn words(&self, level: &str) -> String {
        if level == UNCHANGED { "all".to_owned() } else { level.to_owned() }
    }
}

pub(super) struct RankCount;

impl Factor for RankCount {
    fn info(&self) -> FactorInfo {
        FactorInfo {
            help: "Worker processes of every timed phase: 4, or 1,2,4 or 1..8 (doubling) to \
                   compare them. Each has the threads that the workload names, and all together \
                   do the work once (strong scaling): N ranks with one thread touch the files \
                   that one process with N threads does. With --hosts or --rendezvous it is the \
                   number over all hosts",
            example: "\"4\"",
            takes_number: true,
            takes_range: true,
            ..FactorInfo::new(RANKS, ActsOn::Work)
        }
    }
    fn parse(&self, text: &str) -> Result<String, LevelError> {
        count(text, "ranks", MAX_RANKS)
    }
    /// Where only a number of hosts is said, each of them has a rank.
    fn resolve(&self, levels: &mut Levels) {
        if ranks(levels).is_none()
            && let Some(hosts) = host_count(levels)
        {
            self.set(levels, &hosts.to_string());
        }
    }
    fn words(&self, level: &str) -> String {
        if level == UNCHANGED { "as the workload says".to_owned() } else { level.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contender::{DeviceLevel, FsLevel};

    fn levels(hosts: &str, ranks: &str) -> Levels {
        let device = DeviceLevel::Directory { path: "/srv".into() };
        let mut levels = Levels::plain(FsLevel::plain("directory"), device);
        HostCount.set(&mut levels, &HostCount.parse(hosts).unwrap());
        RankCount.set(&mut levels, &RankCount.parse(ranks).unwrap());
        RankCount.resolve(&mut levels);
        levels
    }

    #[test]
    fn hosts_alone_have_a_rank_each_and_none_is_without() {
        let numbers = |levels: &Levels| (host_count(levels), ranks(levels));
        assert_eq!(numbers(&levels("default", "default")), (None, None));
        assert_eq!(numbers(&levels("3", "default")), (Some(3), Some(3)));
        assert_eq!(numbers(&levels("2", " 8 ")), (Some(2), Some(8)));
        let illegal = |hosts: &str, ranks: &str| {
            let levels = levels(hosts, ranks);
            HostCount.illegal(&Target { levels: &levels, reflinks: None, page_bytes: None })
        };
        assert_eq!(illegal("2", "2"), None);
        assert_eq!(illegal("default", "1"), None);
        let what = "fewer ranks (1) than hosts (2): name at least one for each";
        assert_eq!(illegal("2", "1"), Some(Illegal::Forbidden(what.to_owned())));
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in ["0", "1025", "-1", "two", ""] {
            let error = RankCount.parse(text).unwrap_err();
            assert!(matches!(error, LevelError::Refused { .. }), "{text}");
        }
        let mut unread = levels("2", "2");
        unread.factors.insert(RANKS.to_owned(), "4000000000".to_owned());
        assert_eq!(ranks(&unread), None, "from a database that others wrote");
    }
}
