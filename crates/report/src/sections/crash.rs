//! Crash safety and speed: what a power cut leaves of work, in a chart and a table with the rate
//! of the RUN's main phase. The classes of promise have columns of their own and are never added.

use crate::campaign::campaign_tables;
use crate::context::{Run, SectionContext};
use crate::crash::{READ, few_runs, grid, notes, seconds, share};
use crate::format::{Scale, count};
use crate::pictures::{ends, file_name, key};
use crate::section::{Block, Section};
use crate::table::{Cell, Column, Table};
use fsarena_chart::{Axis, Head, Scatter, ScatterPoint};
use fsarena_model::contender::DeviceLevel;
use fsarena_study::{CrashFigures, CrashRunsView, CrashShare, PhaseRow, PhaseTable};
use std::collections::BTreeSet;

pub(super) const TITLE: &str = "Crash safety and speed";

/// Values further apart than this are on a logarithmic axis.
const FAR: f64 = 8.0;

const LEGEND: &str = "Rate: of the phase in the heading of its column, as in the other tables; median \
     over trials. Other columns are of crash runs on the same modelled disk, whose work is not that \
     of the trials; that of a workload of the experiment is spread evenly over the time. What fsync promises (synced work lost), what replaces files, stale bytes \
     and the state of the file system are different promises: they are not added.";

/// Its blocks; nothing where no power was cut.
pub(crate) fn build(context: &SectionContext<'_>) -> Section {
    let Some(view) = context.run.crash else { return Section::none() };
    if let Some(tables) = campaign_tables(context.run, None) {
        return Section::new(tables.blocks());
    }
    let main = MainPhase::new(context.run);
    let mut blocks = Vec::new();
    if !view.rows.is_empty() {
        blocks.push(Block::Text(head(context.run, view)));
    }
    let charts = || {
        let states = view.states.iter().filter(|state| !state.starts_with("lying"));
        let chart = |state: &String| scatter(context, (view, state), main.as_ref()?);
        states.filter_map(chart).collect()
    };
    blocks.extend(context.charts(charts));
    for state in &view.states {
        let table = beside(context.run, (view, state), main.as_ref());
        blocks.extend((!table.is_empty()).then_some(Block::Table(table)));
    }
    blocks.extend(not_judged(view));
    if !view.rows.is_empty() {
        let rows = view.rows.iter().map(|one| &one.row);
        let all: Vec<String> =
            rows.clone().flat_map(notes).map(|(lead, words)| format!("{lead}{words}")).collect();
        let caption = "Every contender, crash workload and crash state";
        let mut inside = vec![Block::Table(grid(rows).caption(caption))];
        inside.push(Block::List(None, all));
        inside.extend(few_runs(view.runs).map(|few| Block::Note(format!("Mind: {few}."))));
        inside.push(Block::Note(READ.to_owned()));
        blocks.push(Block::Fold(caption.to_owned(), inside));
    }
    Section::new(blocks).legend(LEGEND)
}

/// `Linux 6.12.117 in guests; 10 runs of 120 s, 20 power cuts each (dropall).`
fn head(run: &Run<'_>, view: &CrashRunsView) -> String {
    let contenders = view.rows.iter().map(|row| &run.header.plan.contenders[row.contender]);
    let kernels: BTreeSet<&str> = contenders
        .filter_map(|contender| match &contender.levels.device {
            DeviceLevel::Virtual { kernel, .. } => Some(kernel.as_str()),
            _ => None,
        })
        .collect();
    let place = match kernels.is_empty() {
        true => "Under the kernel of this machine".to_owned(),
        false => format!("Linux {} in guests", kernels.into_iter().collect::<Vec<_>>().join(", ")),
    };
    let done = match view.crash_runs_done == view.crash_runs_planned {
        true => String::new(),
        false => format!(
            " {} of {} are done.",
            view.crash_runs_done,
            count(view.crash_runs_planned, "crash run")
        ),
    };
    format!(
        "{place}: {} of {} s of each of {}, {} each ({}).{done}",
        count(view.runs as usize, "run"),
        view.seconds,
        view.workloads.join(", "),
        count(view.points as usize, "power cut"),
        view.states.join(", "),
    )
}

/// What has no figures, and why.
fn not_judged(view: &CrashRunsView) -> Vec<Block> {
    let failed = view.failed.iter().chain(&view.unfit);
    let failed = failed
        .map(|row| format!("{}, {}: no record: {}", row.label, row.workload, row.error))
        .map(Block::Warning);
    let not_run = view.not_run.iter();
    let not_run =
        not_run.map(|row| format!("Power cuts of {}: not run: {}", row.label, row.reason));
    let mind = view.workload_notes.iter().map(|note| Block::Note(format!("Mind: {note}.")));
    failed.chain(not_run.map(Block::Missing)).chain(mind).collect()
}

/// The phase whose rate stands for speed: that of the headline, else the first.
struct MainPhase<'a> {
    table: &'a PhaseTable,
    scale: Scale,
}

impl<'a> MainPhase<'a> {
    fn new(run: &Run<'a>) -> Option<Self> {
        let tables = &run.study.tables;
        let asked = run.verdicts.and_then(|all| all.questions.get(all.headline?));
        let is_asked = |table: &&PhaseTable| {
            asked.is_some_and(|one| table.workload == one.workload && table.phase == one.phase)
        };
        let table = tables.iter().find(is_asked).or_else(|| tables.first())?;
        Some(Self { table, scale: Scale::for_table(table, run.study.rate_style) })
    }

    fn row(&self, contender: usize) -> Option<&'a PhaseRow> {
        self.table.rows.iter().find(|row| row.contender == contender)
    }

    /// `small-files create, files/s`.
    fn title(&self) -> String {
        format!("{} {}, {}", self.table.workload, self.table.phase, self.scale.name())
    }

    fn cell(&self, contender: usize) -> Cell {
        let rate = self.row(contender).and_then(|row| self.scale.spread(row));
        Cell::maybe(rate.map(|rate| (crate::format::digits(rate.median), rate.median)))
    }
}

/// The rows of one contender in one state.
struct OfContender<'a> {
    contender: usize,
    label: &'a str,
    all: Vec<&'a CrashFigures>,
}

impl<'a> OfContender<'a> {
    fn new(view: &'a CrashRunsView, state: &str) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        for row in view.rows.iter().filter(|one| one.row.state == state) {
            match groups.iter_mut().find(|group| group.contender == row.contender) {
                Some(group) => group.all.push(row),
                None => groups.push(Self {
                    contender: row.contender,
                    label: &row.row.contender,
                    all: vec![row],
                }),
            }
        }
        groups
    }

    /// With a workload that syncs nothing.
    fn unsynced(&self) -> Option<&'a CrashFigures> {
        self.all.iter().find(|one| one.row.sync_p50_ns.is_none()).copied()
    }

    /// With the first workload that syncs.
    fn synced(&self) -> Option<&'a CrashFigures> {
        self.all.iter().find(|one| one.row.sync_p50_ns.is_some()).copied()
    }

    /// Crash points of all workloads together: of the same promise.
    fn sum(&self, of: impl Fn(&CrashFigures) -> Option<CrashShare>) -> Cell {
        let all: Option<Vec<CrashShare>> = self.all.iter().map(|one| of(one)).collect();
        let Some(all) = all else { return Cell::none() };
        let (hits, of) = all.iter().fold((0, 0), |sum, it| (sum.0 + it.hits, sum.1 + it.of));
        Cell::figure(format!("{hits}/{of}"), hits as f64)
    }
}

/// A row a contender: its speed, and what a power cut leaves.
fn beside(
    run: &Run<'_>,
    (view, state): (&CrashRunsView, &str),
    main: Option<&MainPhase<'_>>,
) -> Table {
    let mut columns = vec![Column::text("contender")];
    columns.extend(main.map(|main| Column::figure(main.title()).narrow()));
    columns.extend([
        Column::figure("sync p50").narrow().optional(2),
        Column::figure("sync p99").narrow().optional(3),
        Column::figure("loss p50").narrow(),
        Column::figure("loss max").narrow(),
        Column::figure("synced work lost").narrow(),
        Column::figure("replaced damaged").narrow(),
        Column::figure("stale bytes").narrow(),
        Column::figure("mounted").narrow().optional(4),
        Column::figure("repair").narrow().optional(1),
        Column::figure("recovery").narrow().optional(5),
    ]);
    let words = match state.strip_prefix("lying=") {
        Some(seconds) => format!(
            "{TITLE}, on a disk that lies: what it reported as flushed in its last {seconds} s is \
             lost ({state})"
        ),
        None => format!("{TITLE} ({state})"),
    };
    let mut table = Table::new(columns).titled(words).sortable();
    for group in OfContender::new(view, state) {
        let (unsynced, synced) = (group.unsynced(), group.synced());
        let label = run.header.plan.contenders[group.contender].label.as_str();
        let mut cells = vec![Cell::contender(group.contender, label)];
        cells.extend(main.map(|main| main.cell(group.contender)));
        let text = |value: f64| (seconds(value), value);
        let loss = |of: fn(&CrashFigures) -> f64| Cell::maybe(unsynced.map(of).map(text));
        let checks = |row: Option<&CrashFigures>, of: fn(&CrashFigures) -> CrashShare| {
            let both = |row| (share(&of(row)), of(row).hits as f64);
            Cell::maybe(row.map(both))
        };
        cells.extend([
            Cell::ns(synced.and_then(|one| one.row.sync_p50_ns)),
            Cell::ns(synced.and_then(|one| one.row.sync_p99_ns)),
            loss(|one| one.row.loss_window_p50_ns),
            loss(|one| one.row.loss_window_max_ns as f64),
            checks(synced, |one| one.row.acknowledged_lost),
            checks(unsynced, |one| one.row.replaced_damaged),
            Cell::bytes(unsynced.map(|one| one.row.stale_bytes)),
            match group.all.iter().any(|one| one.row.mounted_as_before.is_none()) {
                true => Cell::text("repaired first"),
                false => group.sum(|one| one.row.mounted_as_before),
            },
            group.sum(|one| one.row.needs_repair),
            Cell::ns(unsynced.and_then(|one| one.row.recovery_p50_ns).map(|ns| ns as u64)),
        ]);
        table.row(cells);
    }
    table.without_empty_columns()
}

/// Speed along, loss window up, a point a contender; `None` without two values of any.
fn scatter(
    context: &SectionContext<'_>,
    (view, state): (&CrashRunsView, &str),
    main: &MainPhase<'_>,
) -> Option<(fsarena_chart::Svg, String)> {
    let groups = OfContender::new(view, state);
    let point = |group: &OfContender<'_>| {
        let rate = main.row(group.contender).and_then(|row| main.scale.spread(row))?;
        let row = group.unsynced()?;
        let window = &row.figures.loss_window;
        let in_s = |ns: f64| ns / 1e9;
        let max = seconds(row.row.loss_window_max_ns as f64);
        Some(ScatterPoint {
            key: key(group.contender, group.label),
            along: rate.median,
            upright: in_s(window.p50_ns.value),
            along_interval: (rate.n > 1).then_some((rate.min, rate.max)),
            upright_interval: window
                .p50_ns
                .low
                .zip(window.p50_ns.high)
                .map(|(low, high)| (in_s(low), in_s(high))),
            tip: format!(
                "{} {}, may lose {} (median), {max} at most",
                crate::format::digits(rate.median),
                main.scale.name(),
                seconds(window.p50_ns.value),
            ),
        })
    };
    let points: Vec<ScatterPoint> = groups.iter().filter_map(point).collect();
    let rates = points.iter().map(|it| it.along).filter(|rate| *rate > 0.0);
    let (least, most) =
        rates.fold((f64::INFINITY, 0.0_f64), |(a, b), rate| (a.min(rate), b.max(rate)));
    if points.is_empty() || !least.is_finite() {
        return None;
    }
    let losses = points.iter();
    let losses =
        losses.map(|it| (it.key.label.as_str(), it.upright, format!("{:.1} s", it.upright)));
    let speeds = points.iter().map(|it| {
        let words = format!("{} {}", crate::format::digits(it.along), main.scale.name());
        (it.key.label.as_str(), it.along, words)
    });
    let (losses, speeds) = (ends(losses), ends(speeds));
    let chart = Scatter {
        head: Head {
            id: format!("{}-crash-{}", context.prefix, state.replace('=', "-")),
            name: file_name(&["speed-and-loss", state]),
            title: "Speed and loss window".to_owned(),
            description: format!("Loss window (median): {losses}. Speed: {speeds}."),
        },
        along: Axis {
            title: format!("{} (more is better)", main.title()),
            log: most > FAR * least,
            unit: String::new(),
        },
        upright: Axis::linear("loss window of unsynced work, s (less is better)", " s"),
        points,
    };
    let caption = "Right is faster, low loses less: median rate of the RUN's main phase with the \
                   range of its trials, and median loss window of unsynced work over power cuts \
                   with its 95 % interval."
        .to_owned();
    Some((chart.draw(), caption))
}

#[cfg(test)]
mod tests;
