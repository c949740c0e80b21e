//! What the cache of a source on another file system is to be, so that it is alike for contenders
//! that are compared.
//!
//! A contender that cannot be made cold has the level `warm`, whatever was asked for. Its source
//! can be made cold all the same, as that of the others is. Where some of the others are warm, it
//! is compared with them, and its source is warm.

use fsarena_model::contender::{Cache, Levels};
use fsarena_model::run::RunPlan;
use fsarena_plan::warm_reason;

/// Before each phase of a contender with these levels that reads such a source.
pub(crate) fn of(plan: &RunPlan, levels: &Levels) -> Cache {
    if warm_reason(levels).is_none() {
        return levels.cache;
    }
    let all = plan.contenders.iter().map(|contender| &contender.levels);
    let others: Vec<Cache> =
        all.filter(|levels| warm_reason(levels).is_none()).map(|levels| levels.cache).collect();
    let some = |cache| others.contains(&cache);
    if others.is_empty() || some(Cache::Warm) {
        Cache::Warm
    } else if some(Cache::Cold) {
        Cache::Cold
    } else {
        Cache::ColdStart
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_testkit::records;

    /// What `tmpfs` gets beside `ext4` with these levels.
    fn beside(caches: &[Cache]) -> Cache {
        let mut contenders = vec![records::contender("tmpfs", "tmpfs", 1)];
        contenders[0].levels.cache = Cache::Warm;
        for &cache in caches {
            let mut other = records::contender("ext4", "ext4", 1);
            other.levels.cache = cache;
            contenders.push(other);
        }
        let header = records::header(contenders, vec![records::big_file()], 1);
        let caches = header.plan.contenders.iter().map(|it| of(&header.plan, &it.levels));
        let [first, others @ ..] = &caches.collect::<Vec<_>>()[..] else { panic!("none") };
        let own: Vec<Cache> =
            header.plan.contenders[1..].iter().map(|contender| contender.levels.cache).collect();
        assert_eq!(others, own, "whoever can be made cold is as it is asked to be");
        *first
    }

    #[test]
    fn who_cannot_be_made_cold_has_a_source_like_the_others() {
        assert_eq!(beside(&[]), Cache::Warm);
        assert_eq!(beside(&[Cache::Cold]), Cache::Cold);
        assert_eq!(beside(&[Cache::ColdStart]), Cache::ColdStart);
        assert_eq!(beside(&[Cache::ColdStart, Cache::Cold]), Cache::Cold);
        assert_eq!(beside(&[Cache::Cold, Cache::Warm]), Cache::Warm, "it is compared with that");
    }
}
