//! No line of any table is wider than asked.

use crate::golden::article::of_2003;
use crate::golden::{devices, engine, plain, sample};
use fsarena_model::device::Conditioning;
use fsarena_model::job::JobKind;
use fsarena_model::run::RunState;
use fsarena_report::{
    OwnPhase, OwnRun, PlanCost, article, devices_table, ledger_tables, phase_tables, plan_table,
    raw_values,
};
use fsarena_study::study;
use fsarena_testkit::records::{self, SECOND_NS};
use proptest::prelude::*;
use unicode_width::UnicodeWidthStr as _;

pub(crate) fn fits(text: &str, width: usize) -> Result<(), TestCaseError> {
    for line in text.lines() {
        prop_assert!(line.width() <= width, "{} > {width}: {line:?}", line.width());
        prop_assert!(!line.chars().any(char::is_control), "{line:?}");
    }
    Ok(())
}

/// The tables of the whole engine and of devices.
fn fits_engine(label: &str, reason: &str, factor: u64, width: usize) -> Result<(), TestCaseError> {
    for workload in [records::metadata(), records::database(), records::fio_job()] {
        let (mut header, mut records) = engine::sample(workload);
        header.plan.contenders[0].label = label.to_owned();
        for record in &mut records {
            record.device.insert("scheduler".to_owned(), reason.to_owned());
            let phase = &mut record.phases[0];
            phase.clocks.durable_ns = Some(factor * SECOND_NS);
            phase.asked_bytes = factor;
            if let Some(program) = &mut phase.program {
                program.version = reason.to_owned();
            }
        }
        records[1].conditioning = Some(Conditioning::NotDone { reason: reason.to_owned() });
        let study = study(&header, RunState::Done, &[], &records);
        fits(&phase_tables(&study, width, plain()), width)?;
        fits(&ledger_tables(&study, width, plain()), width)?;
        fits(&raw_values(&header, &records, width, plain()), width)?;
        fits(&plan_table(&header.plan, &PlanCost::default(), width, plain()), width)?;
    }
    let mut lines = devices::lines();
    lines[0].model = Some(label.to_owned());
    lines[0].name = label.to_owned();
    lines[1].signature = Some(label.to_owned());
    lines[1].verdict = reason.to_owned();
    fits(&devices_table(&lines, width, plain()), width)
}

/// The tables of real work.
fn fits_real_work(
    label: &str,
    reason: &str,
    factor: u64,
    width: usize,
) -> Result<(), TestCaseError> {
    for workload in [records::real_work(), records::own_work()] {
        let contenders = vec![records::contender(label, "ext4", 1)];
        let mut header = records::header(contenders, vec![workload], 1);
        let source = header.plan.workloads[0].source.as_mut().unwrap();
        source.name = reason.to_owned();
        (source.contents.files, source.contents.bytes) = (factor, factor);
        for phase in &mut header.plan.workloads[0].phases {
            if let Some(JobKind::Command(command)) = phase.job.as_mut().map(|job| &mut job.kind) {
                command.run = reason.to_owned();
            }
        }
        let mut record = records::record(&header, 0);
        for phase in &mut record.phases {
            phase.clocks.durable_ns = Some(factor * SECOND_NS);
            phase.worker.user_ns = factor;
            phase.ops = factor;
            if let Some(tool) = phase.program.as_mut().and_then(|p| p.tools.first_mut()) {
                tool.version = reason.to_owned();
            }
        }
        let records = [record];
        let study = study(&header, RunState::Done, &[], &records);
        fits(&phase_tables(&study, width, plain()), width)?;
        fits(&ledger_tables(&study, width, plain()), width)?;
        fits(&raw_values(&header, &records, width, plain()), width)?;
        fits(&plan_table(&header.plan, &PlanCost::default(), width, plain()), width)?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever stands in labels, reasons and errors, and however large the figures are.
    #[test]
    fn nothing_is_wider_than_asked(
        label in ".{0,60}",
        reason in ".{0,200}",
        factor in 1u64..u64::MAX / SECOND_NS / 100,
        width in 80usize..180,
    ) {
        let (mut header, mut records) = sample();
        header.title.clone_from(&reason);
        header.experiment.clone_from(&label);
        header.plan.contenders[0].label.clone_from(&label);
        header.plan.workloads[0].name.clone_from(&label);
        header.plan.not_run[0].reason.clone_from(&reason);
        for record in &mut records {
            record.key.workload.clone_from(&label);
            let phase = &mut record.phases[0];
            phase.clocks.durable_ns = Some(factor * SECOND_NS);
            phase.clocks.returned_ns = factor;
            phase.cache.why.clone_from(&reason);
        }
        let study = study(&header, RunState::Interrupted, &[], &records);
        fits(&phase_tables(&study, width, plain()), width)?;
        fits(&ledger_tables(&study, width, plain()), width)?;
        fits(&raw_values(&header, &records, width, plain()), width)?;
        fits(&plan_table(&header.plan, &PlanCost::default(), width, plain()), width)?;
        fits_engine(&label, &reason, factor, width)?;
        fits_real_work(&label, &reason, factor, width)?;
        let mut known = of_2003(&["write 5000 files of 256 B"]);
        known.tables[0].columns[0].clone_from(&reason);
        known.tables[0].rows[0].head.clone_from(&label);
        let title = "write 5000 files of 256 B".to_owned();
        let phases = [OwnPhase { title, workload: label, phase: "create".to_owned() }];
        let run = OwnRun { header: &header, records: &records, study: &study, notes: &[] };
        fits(&article(&known, &phases, &[run], width, plain()), width)?;
    }
}
