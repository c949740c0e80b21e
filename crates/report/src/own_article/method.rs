//! The machine and how the RUN was done.

use super::phrases::{Method, Phrases};
use crate::context::SectionContext;
use crate::section::{Block, Section};
use crate::verdict::text::percent;
use fsarena_model::contender::DeviceLevel;
use fsarena_model::run::RunState;

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
    blocks.push(Block::Text(phrases.method(&method).join(" ")));
    Section::new(blocks)
}
