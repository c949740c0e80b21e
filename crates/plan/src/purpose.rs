//! Purposes: what a file system shall be good for, as the phases of built-in workloads that decide
//! it, one file each (`experiments/purposes`). `fsarena advise` asks them as an ordinary
//! experiment, which is made here. Whether they agree is for the reports; nothing is weighed, and
//! no sum is made of them.

use crate::JsonSchema;
use crate::embedded::{self, Builtin};
use crate::error::{At, PlanError, Span};
use crate::experiment::Experiment;
use crate::parse::parse;
use crate::tree::{Hint, Source};
use crate::values::List;
use crate::workload;
use fsarena_model::phase::Workload;
use serde::Deserialize;
use std::fmt::Write as _;

/// Name of the experiment that asks purposes.
pub const ADVISE: &str = "advise";

/// What a file system shall be good for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Purpose {
    /// As in `--for mail`.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// What decides: the phases of one workload or of several.
    pub decides: Vec<Decides>,
}

/// A workload of a purpose.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decides {
    /// Name of a built-in one.
    pub workload: String,
    /// Its timed phases that decide.
    pub phases: Vec<String>,
    /// Why these.
    pub why: String,
}

impl Purpose {
    /// Workload and phase of all that decides, in the order of the file.
    pub fn questions(&self) -> impl Iterator<Item = (&str, &str)> {
        self.decides
            .iter()
            .flat_map(|one| one.phases.iter().map(|phase| (one.workload.as_str(), phase.as_str())))
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Keys {
    name: String,
    title: String,
    decides: List<DecidesKeys>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DecidesKeys {
    workload: At<String>,
    /// `*`: all that are timed.
    phases: List<At<String>>,
    why: String,
}

/// Every purpose, as they are registered.
///
/// # Panics
/// Never: a test reads every file.
#[must_use]
pub fn all() -> Vec<Purpose> {
    let read = |builtin| read(builtin).expect("every built-in purpose is read by a test");
    embedded::PURPOSES.iter().map(read).collect()
}

/// The purposes of a comma list such as `mail,backup`, each once.
///
/// # Errors
/// A name that there is not, with the nearest of those that there are.
pub fn named(list: &str) -> Result<Vec<Purpose>, PlanError> {
    let (all, place) = (all(), Span::Option("--for"));
    let names: Vec<&str> = all.iter().map(|purpose| purpose.name.as_str()).collect();
    let mut found: Vec<Purpose> = Vec::new();
    for name in list.split(',').map(str::trim) {
        let Some(at) = names.iter().position(|known| *known == name) else {
            let mut error = PlanError::unknown(&place, "purpose", name, &names);
            if !error.remedy.starts_with("known") {
                let _ = write!(error.remedy, " known: {}", names.join(", "));
            }
            return Err(error);
        };
        if !found.contains(&all[at]) {
            found.push(all[at].clone());
        }
    }
    Ok(found)
}

/// The experiment that asks these purposes: their workloads, each once, and what decides.
///
/// # Panics
/// Never: a test makes it of every purpose.
#[must_use]
pub fn experiment_of(purposes: &[Purpose]) -> Experiment {
    parse(&text_of(purposes), ADVISE).expect("a test makes an experiment of every purpose")
}

/// Its text: what the RUN stores.
fn text_of(purposes: &[Purpose]) -> String {
    let names: Vec<&str> = purposes.iter().map(|purpose| purpose.name.as_str()).collect();
    let (mut workloads, mut questions): (Vec<&str>, Vec<String>) = (Vec::new(), Vec::new());
    for (workload, phase) in purposes.iter().flat_map(Purpose::questions) {
        if !workloads.contains(&workload) {
            workloads.push(workload);
        }
        let question = format!("\"{workload}:{phase}\"");
        if !questions.contains(&question) {
            questions.push(question);
        }
    }
    let mut text = format!(
        "# The workloads of a purpose, and the phases that decide it (`fsarena advise`).\n\
         schema = 1\nname = \"{ADVISE}\"\ntitle = \"advice for {}\"\n\n\
         [run]\nblocks = \"4..32\"\nscale = 0.25\nbudget = \"30 min\"\nask = [{}]\n\n\
         [factors]\nfs = [\"ext4\", \"xfs\", \"btrfs\"]\ndevice = \"loop:2G\"\ncache = \"cold\"\n\n\
         [stand_in]\nxfs = \"ext3\"\nbtrfs = \"ext2\"\n",
        names.join(", "),
        questions.join(", "),
    );
    for workload in workloads {
        let _ = write!(text, "\n[[workload]]\nuse = \"{workload}\"\n");
    }
    text
}

fn read(builtin: &Builtin) -> Result<Purpose, PlanError> {
    let source = Source { file: builtin.name, text: builtin.text, hint: |_| Hint::default() };
    let document = source.parse()?;
    let keys: Keys = source.root(&document).read()?;
    let decides = keys.decides.0.into_iter().map(decides).collect::<Result<_, _>>()?;
    Ok(Purpose { name: keys.name, title: keys.title, decides })
}

fn decides(keys: DecidesKeys) -> Result<Decides, PlanError> {
    let work: Workload = workload::named(&keys.workload.value, &keys.workload.place)?;
    let timed: Vec<&str> =
        work.phases.iter().filter(|phase| phase.timed).map(|phase| phase.name.as_str()).collect();
    let mut phases = Vec::new();
    for phase in keys.phases.0 {
        match phase.value.as_str() {
            "*" => phases.extend(timed.iter().map(|&name| name.to_owned())),
            name if timed.contains(&name) => phases.push(phase.value),
            name => return Err(PlanError::unknown(&phase.place, "timed phase", name, &timed)),
        }
    }
    Ok(Decides { workload: work.name, phases, why: keys.why })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_purpose_is_an_experiment_of_its_workloads() {
        for builtin in embedded::PURPOSES {
            let purpose = read(builtin).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(purpose.name, builtin.name);
            assert!(
                purpose.decides.iter().all(|one| !one.why.is_empty() && !one.phases.is_empty())
            );
            let experiment = experiment_of(std::slice::from_ref(&purpose));
            let made: Vec<&str> =
                experiment.workloads.iter().map(|work| work.value.name.as_str()).collect();
            let mut named: Vec<&str> =
                purpose.decides.iter().map(|one| one.workload.as_str()).collect();
            named.dedup();
            assert_eq!(made, named, "{}", purpose.name);
            let asked = experiment.run.verdicts.ask.len();
            assert_eq!(asked, purpose.questions().count(), "{}", purpose.name);
        }
    }

    #[test]
    fn what_two_purposes_share_is_asked_once() {
        let both = named("build,desktop,build").unwrap();
        assert_eq!(
            both.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(),
            ["build", "desktop"]
        );
        let experiment = experiment_of(&both);
        let works: Vec<&str> =
            experiment.workloads.iter().map(|work| work.value.name.as_str()).collect();
        assert_eq!(works.iter().collect::<BTreeSet<_>>().len(), works.len(), "{works:?}");
        assert_eq!(experiment.title, "advice for build, desktop");
        assert_eq!(experiment.run.verdicts.baseline, None, "every pair is compared");
    }

    #[test]
    fn an_unknown_purpose_is_refused_with_the_nearest() {
        let refused = |list: &str| named(list).unwrap_err().to_string();
        assert!(refused("mial").contains("did you mean \"mail\"?"), "{}", refused("mial"));
        assert!(refused("mail,games").contains("known: mail, vm,"), "{}", refused("mail,games"));
        assert!(refused("").contains("unknown purpose"), "{}", refused(""));
    }
}
