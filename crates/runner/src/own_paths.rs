//! Which paths a RUN may use: what is refused before anything is opened or made.
//!
//! Looks and changes nothing.

use crate::request::RunError;
use fsarena_devices::Refusal;
use fsarena_devices::inventory::Roots;
use fsarena_devices::vet::{self, VettedDevice, WipeConsent};
use fsarena_model::contender::DeviceLevel;
use fsarena_model::run::{NotRun, RunPlan};
use std::path::{Path, PathBuf};

/// Where a RUN writes next to its targets; none of it may lie on a device under test.
#[derive(Clone, Copy, Debug)]
pub struct OwnPaths<'a> {
    pub database: &'a Path,
    /// Directory for journals and mount points.
    pub state_dir: &'a Path,
    /// Directory for images.
    pub image_dir: &'a Path,
    /// Directory of kept images of aged devices, where there is one.
    pub age_image_dir: Option<&'a Path>,
}

impl OwnPaths<'_> {
    /// Vets a block device of the user's.
    ///
    /// # Errors
    /// Says what is wrong and what to do; where consent is all that is missing, the exact option.
    pub fn vet_block(
        &self,
        path: &Path,
        consents: &[WipeConsent],
    ) -> Result<VettedDevice, Refusal> {
        // What is not there yet is followed from its nearest directory that is.
        let whole = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let [database, state_dir, image_dir] =
            [self.database, self.state_dir, self.image_dir].map(whole);
        let age_image_dir = self.age_image_dir.map(whole);
        let mut protected = vec![
            ("the database", &*database),
            ("the journal", &*state_dir),
            ("the directory of images", &*image_dir),
        ];
        protected.extend(age_image_dir.as_deref().map(|dir| ("the images of ages", dir)));
        vet::vet_block(path, consents, &protected, &Roots::default())
    }
}

/// What can be refused before anything is opened: a plan of which nothing can be run here, and a
/// database in a directory under test, which is written between trials and would be part of the
/// work.
///
/// # Errors
/// [`RunError::Nothing`], [`RunError::Imported`], [`RunError::DatabaseUnderTest`].
pub fn check(plan: &RunPlan, database: &Path) -> Result<(), RunError> {
    let has_crash_runs = plan.is_crash_alone() && !plan.crash_slots().is_empty();
    if plan.schedule.is_empty() && !has_crash_runs {
        return Err(RunError::Nothing { reasons: reasons(plan) });
    }
    let database = resolved(database);
    for contender in &plan.contenders {
        if let DeviceLevel::Elsewhere { program, .. } = &contender.levels.device {
            let (label, program) = (contender.label.clone(), program.clone());
            return Err(RunError::Imported { label, program });
        }
        if let DeviceLevel::Directory { path } = &contender.levels.device
            && database.starts_with(resolved(path))
        {
            return Err(RunError::DatabaseUnderTest { database, target: path.clone() });
        }
    }
    Ok(())
}

/// Why nothing of a plan is run: each reason once, with those that it is about.
fn reasons(plan: &RunPlan) -> String {
    let mut of_reason: Vec<(&str, Vec<&str>)> = Vec::new();
    for NotRun { contender, reason, .. } in &plan.not_run {
        let label = plan.contenders[*contender].label.as_str();
        match of_reason.iter_mut().find(|(known, _)| known == reason) {
            Some((_, labels)) if labels.contains(&label) => {}
            Some((_, labels)) => labels.push(label),
            None => of_reason.push((reason, vec![label])),
        }
    }
    let crash = plan.crash.iter().filter(|crash| crash.is_alone);
    let notes: Vec<String> = crash
        .flat_map(|crash| {
            let not_run = crash.not_run.iter();
            let not_run = not_run
                .map(|row| format!("{}: {}", plan.contenders[row.contender].label, row.reason));
            not_run.chain(crash.workload_notes.iter().cloned())
        })
        .collect();
    let words = of_reason.iter().map(|(why, labels)| format!("{}: {why}", labels.join(", ")));
    words.chain(notes).collect::<Vec<_>>().join("; ")
}

/// Absolute, and without symbolic links in the part that exists.
pub(crate) fn resolved(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let existing = path.ancestors().find_map(|dir| Some((dir, dir.canonicalize().ok()?)));
    match existing {
        Some((dir, real)) => match path.strip_prefix(dir) {
            Ok(rest) if !rest.as_os_str().is_empty() => real.join(rest),
            _ => real,
        },
        None => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_testkit::records;

    #[test]
    fn what_another_program_measured_is_not_run() {
        let mut contender = records::contender("cp", "ext4", 1);
        let header = records::header(vec![contender.clone()], vec![records::small_files()], 1);
        check(&header.plan, Path::new("/x.db")).unwrap();
        let (program, what) = ("hyperfine".to_owned(), "cp".to_owned());
        contender.levels.device = DeviceLevel::Elsewhere { program, what };
        let header = records::header(vec![contender], vec![records::small_files()], 1);
        let refused = check(&header.plan, Path::new("/x.db")).unwrap_err();
        assert!(matches!(refused, RunError::Imported { .. }), "{refused}");
        assert!(refused.to_string().contains("measured by hyperfine"), "{refused}");
    }
}
