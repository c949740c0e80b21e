//! What is said once at the head of a workload's tables: the tree or archive that real work is done
//! with, where it is, whether copies may share blocks, and caches that are cold only at first.

use fsarena_model::contender::{Cache, Contender};
use fsarena_model::job::{Compression, Contents, JobKind, Reflink, Source, SourcePlace};
use fsarena_model::run::RunPlan;
use fsarena_model::work::Workload;
use indexmap::IndexSet;
use serde::Serialize;

/// A workload of the plan.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct WorkloadView {
    pub name: String,
    /// Its title.
    pub title: String,
    /// What real work is done with; absent where it is none.
    pub source: Option<SourceView>,
    /// Levels of `reflink` among its contenders, each once; empty where nothing is copied.
    pub reflinks: Vec<Reflink>,
    /// Whether contenders start cold, and are warm after the first timed phase of a trial, as
    /// asked.
    pub cold_start: bool,
}

/// The tree or archive that real work is done with.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, crate::JsonSchema)]
pub struct SourceView {
    /// Name of the dataset, or of the user's path.
    pub name: String,
    /// Where it is while the work is done.
    pub place: SourcePlace,
    /// How it is compressed, where it is an archive; absent: it is a tree.
    pub archive: Option<Compression>,
    /// What is in it, unpacked.
    pub contents: Contents,
}

impl From<&Source> for SourceView {
    fn from(source: &Source) -> Self {
        Self {
            name: source.name.clone(),
            place: source.place,
            archive: source.archive,
            contents: source.contents,
        }
    }
}

/// One view a workload, in the order of the plan.
pub(crate) fn views(plan: &RunPlan) -> Vec<WorkloadView> {
    plan.workloads.iter().enumerate().map(|(at, workload)| view(plan, at, workload)).collect()
}

fn view(plan: &RunPlan, at: usize, workload: &Workload) -> WorkloadView {
    let runs = |contender: usize| {
        plan.schedule.iter().any(|slot| (slot.contender, slot.workload) == (contender, at))
    };
    let own: Vec<&Contender> =
        plan.contenders.iter().enumerate().filter(|&(c, _)| runs(c)).map(|(_, own)| own).collect();
    let copies = workload.phases.iter().filter_map(|phase| phase.job.as_ref());
    let copies = copies.into_iter().any(|job| job.kind == JobKind::Copy);
    let levels = own.iter().filter(|_| copies).map(|contender| contender.levels.reflink);
    let reflinks: IndexSet<Reflink> = levels.collect();
    WorkloadView {
        name: workload.name.clone(),
        title: workload.title.clone(),
        source: workload.source.as_ref().map(SourceView::from),
        reflinks: reflinks.into_iter().collect(),
        cold_start: own.iter().any(|contender| contender.levels.cache == Cache::ColdStart),
    }
}
