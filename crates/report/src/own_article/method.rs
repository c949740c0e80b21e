//! The machine and how the RUN was done.

use super::phrases::Phrases;
use crate::context::SectionContext;
use crate::section::{Block, Section};
use crate::verdict::text::percent;
use fsarena_model::contender::{AskedBy, Contender, DeviceLevel};
use fsarena_model::run::RunState;

/// How a RUN was done.
struct Method<'a> {
    /// What measured it, where that is not fsarena.
    program: Option<&'a str>,
    trials_done: usize,
    trials_planned: usize,
    /// Blocks that count; absent where nothing was asked.
    blocks: Option<u32>,
    /// As in `5 %`; absent where nothing was asked.
    margin: Option<String>,
    /// Whether it is of a guest kernel, in virtual time.
    is_virtual: bool,
    scale: f64,
    /// Whether it went to its own end: then what was not needed was not left out.
    is_whole: bool,
    /// Whether each file system was made anew: not in directories.
    is_made_anew: bool,
}

pub(super) fn section(context: &SectionContext<'_>, phrases: &dyn Phrases) -> Section {
    let run = context.run;
    let study = run.study;
    let contenders = &run.header.plan.contenders;
    let is_virtual = |device: &DeviceLevel| matches!(device, DeviceLevel::Virtual { .. });
    let is_directory = |device: &DeviceLevel| matches!(device, DeviceLevel::Directory { .. });
    let method = Method {
        program: run.measured_by(),
        trials_done: study.trials_recorded,
        trials_planned: study.trials_planned,
        blocks: run.verdicts.map(|verdicts| verdicts.blocks_counted),
        margin: run.verdicts.map(|verdicts| percent(verdicts.margin)),
        is_virtual: !contenders.is_empty()
            && contenders.iter().all(|one| is_virtual(&one.levels.device)),
        scale: study.scale,
        is_whole: study.state == RunState::Done,
        is_made_anew: !contenders.iter().any(|one| is_directory(&one.levels.device)),
    };
    let mut blocks = vec![Block::Text(phrases.machine(&study.machine, &study.devices))];
    let never_cold = contenders.iter().filter(|one| is_never_cold(one));
    let never_cold: Vec<String> = never_cold.map(|one| one.label.clone()).collect();
    let mut said = sentences(&method, phrases);
    said.extend((!never_cold.is_empty()).then(|| phrases.never_cold(&never_cold.join(", "))));
    blocks.push(Block::Text(said.join(" ")));
    Section::new(blocks)
}

/// Whether cold caches were asked for in vain, and not only as a default of what is in memory.
fn is_never_cold(contender: &Contender) -> bool {
    let asked = contender.asked_cache();
    asked.is_some_and(|(_, asked)| asked.by == AskedBy::User || !contender.levels.is_in_memory())
}

fn sentences(method: &Method<'_>, phrases: &dyn Phrases) -> Vec<String> {
    let at_most = (!method.is_whole).then_some(method.trials_planned);
    let trials = phrases.trials(method.trials_done, at_most);
    let Some(blocks) = method.blocks else { return vec![phrases.not_asked_before(&trials)] };
    let mut said = Vec::new();
    match method.program {
        Some(program) => said.push(phrases.brought_in(program)),
        None => {
            said.push(phrases.blocks().to_owned());
            said.extend(method.is_made_anew.then(|| phrases.made_anew().to_owned()));
        }
    }
    said.push(phrases.counted(&trials, blocks as usize));
    said.extend(method.is_virtual.then(|| phrases.virtual_time().to_owned()));
    if (method.scale - 1.0).abs() > 1e-12 {
        said.push(phrases.scaled(method.scale));
    }
    if let (Some(margin), None) = (&method.margin, method.program) {
        said.push(phrases.rule(margin));
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::own_article::phrases::english::English;

    fn method(is_whole: bool, is_made_anew: bool, program: Option<&str>) -> String {
        let margin = Some("5 %".to_owned());
        let (trials_done, trials_planned, blocks) = (8, 64, Some(4));
        let scale = 1.0;
        let is_virtual = false;
        let method = Method {
            program,
            trials_done,
            trials_planned,
            blocks,
            margin,
            is_virtual,
            scale,
            is_whole,
            is_made_anew,
        };
        sentences(&method, &English).join(" ")
    }

    #[test]
    fn a_run_that_was_decided_early_is_whole() {
        let text = method(true, true, None);
        assert!(text.contains("8 trials; 4 blocks count"), "{text}");
        assert!(text.contains("a file system that is made anew"), "{text}");
        let text = method(false, false, None);
        assert!(text.contains("8 trials of 64 at most: the RUN is not whole"), "{text}");
        assert!(!text.contains("made anew"), "{text}");
        let text = method(true, true, Some("fio"));
        assert!(!text.contains("before the first block"), "nothing was asked before: {text}");
    }
}
