//! The specification of one trial, as its executor gets it.

use crate::request::Request;
use crate::resources::RunResources;
use fsarena_model::capacity::Predicted;
use fsarena_model::contender::{Cache, Levels};
use fsarena_model::factor;
use fsarena_model::record::Notice;
use fsarena_model::run::{RunPlan, Slot};
use fsarena_model::spec::{RankHost, TargetSpec, TrialKey, TrialPrograms, TrialSpec, Under};

/// What is expected of a file system right after its mount.
fn predicted(levels: &Levels) -> Option<Predicted> {
    // Of a fresh one.
    if factor::age(levels).is_some() {
        return None;
    }
    let driver = fsarena_filesystems::driver(&levels.fs).ok()?;
    Some(driver.capacity_on(&levels.fs, &levels.device.sizes_bytes())?.predicted)
}

pub(crate) fn trial_spec(
    request: &Request<'_>,
    resources: &RunResources<'_>,
    sequence: usize,
    notices: &[Notice],
) -> TrialSpec {
    let plan = &request.header.plan;
    let slot = &plan.schedule[sequence];
    let contender = plan.contenders[slot.contender].clone();
    let workload = fsarena_plan::at_levels(&plan.workloads[slot.workload], &contender.levels);
    let steps = fsarena_plan::steps(&workload, &contender.levels, plan.verify);
    let staged =
        workload.source.as_ref().and_then(|source| resources.staged_sources.path_of(source));
    let source_cache = workload.source.as_ref().map(|_| source_cache(plan, &contender.levels));
    let predicted = predicted(&contender.levels);
    let mut target = resources.trial_target(&contender.levels);
    if let TargetSpec::Block { under, .. } = &mut target.target
        && let Under::Guest { kernel, kernel_file, twice, .. } = under
    {
        let place = request.header.place.as_ref();
        let mut files = place.into_iter().flat_map(|place| &place.kernel_files);
        *kernel_file = files.find(|file| file.level == *kernel).cloned();
        let is_of_contender = |earlier: &Slot| earlier.contender == slot.contender;
        *twice = !plan.schedule[..sequence].iter().any(is_of_contender);
    }
    target.notices.extend_from_slice(notices);
    target.facts.extend(crate::resources::sysctl_facts(&contender.levels));
    TrialSpec {
        schema: fsarena_model::SPEC_SCHEMA,
        key: TrialKey::new(request.header, u32::try_from(sequence).unwrap_or(u32::MAX)),
        target: target.target,
        device: target.facts,
        notices: target.notices,
        workload,
        staged,
        source_cache,
        programs: programs(request, &contender.levels),
        steps,
        seed: fsarena_plan::trial_seed(plan, slot),
        age_image_dir: request.header.place.as_ref().and_then(|it| it.age_image_dir.clone()),
        name: resources.name.clone(),
        scratch_dir: resources.scratch_dir.clone(),
        sample_period_ns: plan.sample_period_ns,
        account: plan.account,
        predicted,
        drain: fsarena_executor::fault::drain(),
        realtime_offset_ns: Some(request.clock.offset_ns()),
        user: request.header.place.as_ref().and_then(|place| place.user),
        hosts: hosts_of(request, &contender.levels, slot),
        trust: fsarena_process::trust::accepted(),
        cpus: request.header.place.as_ref().map(|place| place.cpus.clone()).unwrap_or_default(),
        keep: request.keep && sequence + 1 == plan.schedule.len(),
        contender,
    }
}

/// The programs of a trial on this kernel: where some trials of the RUN have those of i386, the
/// width of all is proved.
fn programs(request: &Request<'_>, levels: &Levels) -> Option<TrialPrograms> {
    let usr = request.i386_usr.filter(|_| !levels.device.is_virtual())?;
    let usr = factor::has_i386_programs(levels).then(|| usr.to_owned());
    Some(TrialPrograms { elf_bits: if usr.is_some() { 32 } else { 64 }, usr })
}

/// The hosts of a trial: as many as its contender has, from the first on. How long each is waited
/// for follows from what is expected of the trial.
fn hosts_of(request: &Request<'_>, levels: &Levels, slot: &Slot) -> Vec<RankHost> {
    let count = factor::host_count(levels).map_or(usize::MAX, |count| count as usize);
    let expected_ns = request.expected_ns.get(&(slot.contender, slot.workload)).copied();
    let work_limit_ns = fsarena_executor::work_limit_ns(expected_ns.unwrap_or(0));
    let own = |host: &RankHost| RankHost { work_limit_ns, ..host.clone() };
    request.hosts.iter().take(count).map(own).collect()
}

/// What the cache of a source on another file system is to be before each phase, so that it is
/// alike for contenders that are compared.
///
/// A contender that cannot be made cold has the level `warm`, whatever was asked for. Its source
/// can be made cold all the same, as that of the others is. Where some of the others are warm, it
/// is compared with them, and its source is warm.
fn source_cache(plan: &RunPlan, levels: &Levels) -> Cache {
    if levels.warm_reason().is_none() {
        return levels.cache;
    }
    let all = plan.contenders.iter().map(|contender| &contender.levels);
    let others: Vec<Cache> =
        all.filter(|levels| levels.warm_reason().is_none()).map(|levels| levels.cache).collect();
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

    /// What `tmpfs` gets next to `ext4` with these levels.
    fn next_to(caches: &[Cache]) -> Cache {
        let mut contenders = vec![records::contender("tmpfs", "tmpfs", 1)];
        contenders[0].levels.cache = Cache::Warm;
        for &cache in caches {
            let mut other = records::contender("ext4", "ext4", 1);
            other.levels.cache = cache;
            contenders.push(other);
        }
        let header = records::header(contenders, vec![records::big_file()], 1);
        let caches = header.plan.contenders.iter().map(|it| source_cache(&header.plan, &it.levels));
        let [first, others @ ..] = &caches.collect::<Vec<_>>()[..] else { panic!("none") };
        let own: Vec<Cache> =
            header.plan.contenders[1..].iter().map(|contender| contender.levels.cache).collect();
        assert_eq!(others, own, "whoever can be made cold is as it is asked to be");
        *first
    }

    #[test]
    fn who_cannot_be_made_cold_has_a_source_like_the_others() {
        assert_eq!(next_to(&[]), Cache::Warm);
        assert_eq!(next_to(&[Cache::Cold]), Cache::Cold);
        assert_eq!(next_to(&[Cache::ColdStart]), Cache::ColdStart);
        assert_eq!(next_to(&[Cache::ColdStart, Cache::Cold]), Cache::Cold);
        assert_eq!(next_to(&[Cache::Cold, Cache::Warm]), Cache::Warm, "it is compared with that");
    }
}
