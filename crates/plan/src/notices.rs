//! What is to be said of a workload beside its results.

use fsarena_fio::JobFile;
use fsarena_model::record::Notice;
use fsarena_model::work::{Backend, Workload};

/// What is to be said of every trial of a workload.
#[must_use]
pub fn notices(workload: &Workload) -> Vec<Notice> {
    let mut notices = Vec::new();
    if workload.phases.iter().any(|phase| phase.io.backend == Backend::Null) {
        notices.push(Notice {
            code: "null-backend".to_owned(),
            text: format!(
                "workload {:?} makes no call: its figures are those of the harness, not of any \
                 file system",
                workload.name
            ),
            remedy: Some("use backend = \"sync\" to measure file systems".to_owned()),
            measure: None,
        });
    }
    let jobs = workload.fio.as_deref().map(|text| JobFile::parse(text, &workload.name));
    if let Some(Ok(jobs)) = jobs {
        notices.extend(jobs.notices());
    }
    notices
}
