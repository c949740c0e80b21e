//! The phases of a workload of experiments as a plan: what they change in files, evenly over the
//! time, by one thread.
//!
//! Files that the first phase finds, and what phases before the first timed one do, are there and
//! synced before the work begins. Files lie as those of the dataset do, in directories of one level
//! that are there before; names are the lab's. What only reads is left out,
//! and so is what the oracle does not follow.

use crate::history::{Contents, MOST_BYTES};
use crate::op::{Action, Sync};
use crate::stamp::SECTOR;
use crate::workload::{
    BEGIN_NS, Extent, PHASE_DIRECTORIES_MOST, PHASE_FILES_MOST, PREFILL_DIRECTORY, Plan, Planned,
    beside, directory_of, other_name, phase_directory, phase_file, prefill,
};
use fsarena_model::cycle::{Cycle, UpdateKind};
use fsarena_model::seed::{Seed, SeededRng};
use fsarena_model::work::{Backend, Dataset, Fsync, Op, Order, Phase, Workload};
use std::collections::{BTreeMap, BTreeSet};

/// Ops that one file may have: the oracle keeps what it held after each.
const OPS_MOST: u64 = 4096;
/// Ops on a file times its sectors: the oracle may look at each sector after each op.
const LOOKS_MOST: u64 = 1 << 28;
/// Bytes that are written: the write log is held in memory.
const WRITTEN_MOST: u64 = 2 << 30;

/// Why there is no plan.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PhasesError {
    #[error(
        "{workload}, {phase}: its contents are those of {what}, which the oracle does not know; \
         look at it as an application (--application)"
    )]
    OtherContents { workload: String, phase: String, what: &'static str },
    #[error("{workload}: no phase changes a file in a way that is followed after a power cut")]
    NothingChanges { workload: String },
    #[error(
        "{workload}: {found} {what}, and crash runs follow {most} at most; make it smaller \
         (--scale)"
    )]
    TooMany { workload: String, what: &'static str, found: u64, most: u64 },
    #[error(
        "{workload}, {phase}: calls of {bytes} bytes; crash runs follow whole sectors of 512 bytes"
    )]
    WithinSectors { workload: String, phase: String, bytes: u64 },
    #[error(
        "{workload}, {phase}: bytes are appended within a sector of zeros, which crash runs do not \
         follow; take sizes of whole sectors of 512 bytes"
    )]
    AppendsToZeros { workload: String, phase: String },
}

/// The plan of a workload's phases, and what of it is not as in a trial, in words.
///
/// # Errors
/// A workload whose contents nobody knows, or with more than the oracle can follow.
pub fn plan(
    workload: &Workload,
    seed: u64,
    extent: Extent,
) -> Result<(Plan, Vec<String>), PhasesError> {
    let mut planner = Planner::new(workload, seed)?;
    let (mut left_out, mut is_simpler, mut cycles) = (Vec::new(), Vec::new(), Vec::new());
    planner.lay_out(&workload.phases);
    let begin = workload.phases.iter().position(|phase| phase.timed).unwrap_or(0);
    let mut prepared = Vec::new();
    for (number, phase) in workload.phases.iter().enumerate() {
        if number == begin {
            prepared = planner.take_prepared();
        }
        match planner.phase(phase)? {
            Taken::Reads => continue,
            Taken::LeftOut => left_out.push(phase.name.as_str()),
            Taken::Changes if phase.op == Op::Cycle => cycles.push(phase.name.as_str()),
            Taken::Changes if is_as_planned(phase) => {}
            Taken::Changes => is_simpler.push(phase.name.as_str()),
        }
    }
    planner.check_sizes()?;
    let Planner { name, files, actions, .. } = planner;
    if actions.is_empty() {
        return Err(PhasesError::NothingChanges { workload: name });
    }
    let mut planned = Vec::with_capacity(prepared.len() + actions.len());
    prefill(extent.prefill_bytes, &mut planned);
    planned.extend(prepared.into_iter().map(|action| Planned { at_ns: 0, action }));
    let count = actions.len() as u128;
    planned.extend((0..).zip(actions).map(|(number, action)| {
        let share_ns = u128::from(extent.duration_ns) * number / count;
        Planned { at_ns: BEGIN_NS + u64::try_from(share_ns).unwrap_or(u64::MAX), action }
    }));
    let used: BTreeSet<u32> = files.iter().map(|file| file.directory).collect();
    let directories = [PREFILL_DIRECTORY.to_owned(), phase_directory(0)].into_iter();
    let directories = directories.chain(used.into_iter().filter(|at| *at > 0).map(phase_directory));
    let plan = Plan {
        seed,
        actions: planned,
        begin_ns: BEGIN_NS,
        directories: directories.collect(),
        ends_on_time: true,
    };
    let told = |phases: &[&str], what: &str| {
        (!phases.is_empty()).then(|| format!("{}: {what}", phases.join(", ")))
    };
    let notes = [
        told(&left_out, "left out, as crash runs do not follow what it does"),
        told(&is_simpler, "by one thread with blocking calls through the page cache"),
        told(&cycles, "evenly over the time, without period and second load"),
    ];
    Ok((plan, notes.into_iter().flatten().collect()))
}

/// Whether its calls are made as the phase says.
fn is_as_planned(phase: &Phase) -> bool {
    let io = &phase.io;
    io.backend == Backend::Sync && !io.direct && io.threads == 1 && io.iodepth == 1
}

/// What became of a phase.
enum Taken {
    /// It changes nothing.
    Reads,
    LeftOut,
    Changes,
}

/// A file as the phases so far have left it.
struct PlannedFile {
    /// With the name that it has.
    number: u32,
    directory: u32,
    created_bytes: u64,
    /// `None`: it is not there.
    contents: Option<Contents>,
    version: u32,
    ops: u64,
}

impl PlannedFile {
    fn bytes(&self) -> u64 {
        self.contents.as_ref().map_or(0, Contents::size)
    }

    fn next_version(&mut self) -> u32 {
        self.version += 1;
        self.version
    }

    /// A new file of so many bytes.
    fn create(&mut self, bytes: u64, sync: Sync) -> Action {
        let version = self.next_version();
        self.put(Contents::default(), (0, bytes), Some(version));
        Action::Create { file: self.number, bytes, version, sync }
    }

    fn put(&mut self, mut contents: Contents, (from, end): (u64, u64), version: Option<u32>) {
        contents.write(from, end, version);
        self.contents = Some(contents);
    }

    fn overwrite(&mut self, offset: u64, bytes: u64, version: u32, sync: Sync) -> Option<Action> {
        let contents = self.contents.take()?;
        self.put(contents, (offset, offset + bytes), Some(version));
        Some(Action::Overwrite { file: self.number, offset, bytes, version, sync })
    }

    /// Bytes behind the end; `None` where that lies within a sector of zeros.
    fn append(&mut self, bytes: u64, sync: Sync) -> Option<Action> {
        let from = self.bytes();
        let known = self.contents.as_ref()?.sector(from / SECTOR as u64).version;
        let version = if from.is_multiple_of(SECTOR as u64) { self.next_version() } else { known? };
        self.go_on(bytes, version, sync)
    }

    /// Bytes of a version behind the end.
    fn go_on(&mut self, bytes: u64, version: u32, sync: Sync) -> Option<Action> {
        let contents = self.contents.take()?;
        let from = contents.size();
        self.put(contents, (from, from + bytes), Some(version));
        Some(Action::Append { file: self.number, bytes, version, sync })
    }

    fn truncate(&mut self, bytes: u64, sync: Sync) -> Option<Action> {
        let contents = self.contents.as_mut().filter(|contents| contents.size() > bytes)?;
        contents.truncate(bytes);
        Some(Action::Truncate { file: self.number, bytes, sync })
    }
}

struct Planner {
    name: String,
    seed: Seed,
    files: Vec<PlannedFile>,
    /// Versions of the temporary files of cycles.
    temporary: BTreeMap<u32, u32>,
    actions: Vec<Action>,
    /// By what is not among the actions any more.
    written_bytes: u64,
}

impl Planner {
    fn new(workload: &Workload, seed: u64) -> Result<Self, PhasesError> {
        let dataset = &workload.dataset;
        let name = workload.name.clone();
        let most = |what, found, most: u32| match found > u64::from(most) {
            true => {
                Err(PhasesError::TooMany { workload: name.clone(), what, found, most: most.into() })
            }
            false => Ok(()),
        };
        most("directories", dataset.dirs, PHASE_DIRECTORIES_MOST)?;
        let starts = starts_of_directories(dataset);
        let in_each = starts.windows(2).map(|pair| pair[1] - pair[0]);
        most("files in a directory", in_each.max().unwrap_or(0), PHASE_FILES_MOST)?;
        let seed = Seed::from_number(seed).child(&name, 0);
        let sizes = dataset.draw_sizes();
        let first = u32::from(dataset.dirs > 0);
        let of_directory = |(directory, pair): (u32, &[u64])| {
            (pair[0]..pair[1])
                .map(move |file| (directory, file, file - pair[0]))
                .collect::<Vec<_>>()
        };
        let places = (first..).zip(starts.windows(2)).flat_map(of_directory);
        let files = places.map(|(directory, file, within)| PlannedFile {
            number: phase_file(directory, within as u32),
            directory,
            created_bytes: sizes.value_at(file),
            contents: None,
            version: 0,
            ops: 0,
        });
        let files = files.collect();
        Ok(Self {
            name,
            seed,
            files,
            temporary: BTreeMap::new(),
            actions: Vec::new(),
            written_bytes: 0,
        })
    }

    /// The files, where the first phase needs them.
    fn lay_out(&mut self, phases: &[Phase]) {
        if phases.first().is_some_and(|phase| phase.op.needs_files()) {
            for file in &mut self.files {
                self.actions.push(file.create(file.created_bytes, Sync::None));
                file.ops += 1;
            }
        }
    }

    /// What has to be done before the work, and is durable then.
    fn take_prepared(&mut self) -> Vec<Action> {
        let mut prepared = std::mem::take(&mut self.actions);
        if let Some(last) = prepared.pop() {
            prepared.push(last.with_sync(Sync::FileSystem));
        }
        self.written_bytes = prepared.iter().map(Action::written_bytes).sum();
        prepared
    }

    /// Adds what a phase does.
    fn phase(&mut self, phase: &Phase) -> Result<Taken, PhasesError> {
        let from = self.actions.len();
        let mut rng = self.seed.child(&phase.name, 1).rng();
        let each = sync_of(phase.io.fsync);
        match phase.op {
            Op::Create => self.each_file(phase, &mut rng, |file| {
                Ok(Some(file.create(file.created_bytes, each)))
            })?,
            Op::Overwrite => self.each_file(phase, &mut rng, |file| {
                let version = file.next_version();
                let bytes = file.bytes();
                Ok(file.overwrite(0, bytes, version, each).filter(|_| bytes > 0))
            })?,
            Op::Append => self.append(phase, &mut rng, each)?,
            Op::Truncate => {
                self.each_file(phase, &mut rng, |file| Ok(file.truncate(phase.bs_bytes, each)))?
            }
            Op::Fallocate => self.each_file(phase, &mut rng, |file| {
                if file.created_bytes == 0 {
                    return Ok(Some(file.create(0, each)));
                }
                let bytes = file.created_bytes;
                file.put(Contents::default(), (0, bytes), None);
                Ok(Some(Action::Preallocate { file: file.number, bytes, sync: each }))
            })?,
            Op::Rename => self.each_file(phase, &mut rng, |file| {
                let action = Action::Rename { file: file.number, sync: Sync::None };
                file.number = other_name(file.number);
                Ok(Some(action))
            })?,
            Op::Delete => self.each_file(phase, &mut rng, |file| {
                file.contents = None;
                Ok(Some(Action::Delete { file: file.number, sync: Sync::None }))
            })?,
            Op::BigWrite | Op::BigOverwrite => self.calls(phase, &mut rng)?,
            Op::RandWrite | Op::RandRw => self.blocks(phase, &mut rng)?,
            Op::Cycle => self.cycles(phase, &mut rng, each),
            Op::Fio => return Err(self.other_contents(phase, "fio")),
            Op::Job => return Err(self.other_contents(phase, "the work that it does")),
            Op::Watched => return Err(self.other_contents(phase, "another application")),
            Op::Link | Op::Symlink | Op::Setxattr | Op::Mkdir | Op::Rmdir | Op::RandTrim => {
                return Ok(Taken::LeftOut);
            }
            Op::Read
            | Op::Stat
            | Op::Getxattr
            | Op::List
            | Op::Find
            | Op::BigRead
            | Op::RandRead => {
                return Ok(Taken::Reads);
            }
        }
        self.sync_once(phase.io.fsync, from);
        Ok(Taken::Changes)
    }

    fn other_contents(&self, phase: &Phase, what: &'static str) -> PhasesError {
        PhasesError::OtherContents { workload: self.name.clone(), phase: phase.name.clone(), what }
    }

    /// Places of the files in the order of a phase.
    fn order(&self, order: Order, rng: &mut SeededRng) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.files.len()).collect();
        if order == Order::Random {
            rng.shuffle(&mut places);
        }
        places
    }

    fn each_file(
        &mut self,
        phase: &Phase,
        rng: &mut SeededRng,
        mut act: impl FnMut(&mut PlannedFile) -> Result<Option<Action>, PhasesError>,
    ) -> Result<(), PhasesError> {
        for place in self.order(phase.order, rng) {
            let file = &mut self.files[place];
            let Some(action) = act(file)? else { continue };
            file.ops += 1;
            self.actions.push(action);
        }
        Ok(())
    }

    fn append(
        &mut self,
        phase: &Phase,
        rng: &mut SeededRng,
        sync: Sync,
    ) -> Result<(), PhasesError> {
        let (workload, name) = (self.name.clone(), phase.name.clone());
        self.each_file(phase, rng, |file| match file.append(phase.bs_bytes, sync) {
            Some(action) => Ok(Some(action)),
            None => {
                Err(PhasesError::AppendsToZeros { workload: workload.clone(), phase: name.clone() })
            }
        })
    }

    /// Each file in calls from its start to its end.
    fn calls(&mut self, phase: &Phase, rng: &mut SeededRng) -> Result<(), PhasesError> {
        let call_bytes = self.whole_sectors(phase)?;
        for place in self.order(phase.order, rng) {
            let file = &mut self.files[place];
            let is_new = phase.op == Op::BigWrite;
            let all_bytes = if is_new { file.created_bytes } else { file.bytes() };
            let mut from = 0;
            let version = file.version + 1;
            loop {
                let bytes = call_bytes.min(all_bytes - from);
                let is_last = from + bytes == all_bytes;
                let sync = sync_of_call(phase.io.fsync, is_last);
                let action = match is_new {
                    true if from == 0 => Some(file.create(bytes, sync)),
                    true => file.go_on(bytes, version, sync),
                    false if bytes > 0 => file.overwrite(from, bytes, version, sync),
                    false => None,
                };
                file.ops += u64::from(action.is_some());
                self.actions.extend(action);
                from += bytes;
                if is_last {
                    break;
                }
            }
            file.version = version;
        }
        Ok(())
    }

    /// Whole blocks in random order, each once or as many as the phase says.
    fn blocks(&mut self, phase: &Phase, rng: &mut SeededRng) -> Result<(), PhasesError> {
        let block_bytes = self.whole_sectors(phase)?;
        let of_file = |(place, file): (usize, &PlannedFile)| {
            (0..file.bytes() / block_bytes).map(move |block| (place, block))
        };
        let mut blocks: Vec<(usize, u64)> =
            self.files.iter().enumerate().flat_map(of_file).collect();
        rng.shuffle(&mut blocks);
        let count = phase.io.ops.unwrap_or(blocks.len() as u64);
        let reads = match phase.op {
            Op::RandRw => u64::from(phase.io.rwmixread_percent),
            _ => 0,
        };
        // Of each file the last one among the actions.
        let mut last_of_file: BTreeMap<usize, usize> = BTreeMap::new();
        for (_, (place, block)) in (0..count).zip(blocks.iter().cycle()) {
            if rng.below(100) < reads {
                continue;
            }
            let file = &mut self.files[*place];
            let version = file.next_version();
            file.ops += 1;
            if file.ops <= OPS_MOST {
                let sync = sync_of_call(phase.io.fsync, false);
                let action = file.overwrite(block * block_bytes, block_bytes, version, sync);
                if let Some(action) = action {
                    last_of_file.insert(*place, self.actions.len());
                    self.actions.push(action);
                }
            }
        }
        for at in last_of_file.into_values() {
            let sync = sync_of_call(phase.io.fsync, true);
            self.actions[at] = self.actions[at].clone().with_sync(sync);
        }
        Ok(())
    }

    fn whole_sectors(&self, phase: &Phase) -> Result<u64, PhasesError> {
        let bytes = phase.bs_bytes;
        match bytes > 0 && bytes.is_multiple_of(SECTOR as u64) {
            true => Ok(bytes),
            false => Err(PhasesError::WithinSectors {
                workload: self.name.clone(),
                phase: phase.name.clone(),
                bytes,
            }),
        }
    }

    /// Cycles over the files that are there, without their period and without the second load.
    fn cycles(&mut self, phase: &Phase, rng: &mut SeededRng, sync: Sync) {
        let Some(cycle) = &phase.cycle else { return };
        for _ in 0..cycle.cycles {
            let mut taken = self.order(Order::Random, rng);
            taken.truncate(usize::try_from(cycle.updates).unwrap_or(usize::MAX));
            if phase.order == Order::Sequential {
                taken.sort_unstable();
            }
            let mut temporary = Vec::new();
            for place in taken {
                let file = &mut self.files[place];
                if file.contents.is_none() {
                    continue;
                }
                let Some(kind) = kind(cycle, rng) else { continue };
                if kind == UpdateKind::Temporary {
                    let number = beside(file.number);
                    let version = self.temporary.entry(number).or_default();
                    *version += 1;
                    let (version, bytes) = (*version, file.bytes());
                    self.actions.push(Action::Create { file: number, bytes, version, sync });
                    temporary.push(number);
                } else {
                    let actions = update(file, kind, sync);
                    file.ops += actions.len() as u64;
                    self.actions.extend(actions);
                }
            }
            let deleted = temporary.into_iter();
            let deletes = deleted.map(|file| Action::Delete { file, sync: Sync::None });
            self.actions.extend(deletes);
        }
    }

    /// Syncs that a phase makes once, or once a directory.
    fn sync_once(&mut self, fsync: Fsync, from: usize) {
        let actions = &mut self.actions[from..];
        match fsync {
            Fsync::End => {
                if let Some(last) = actions.last_mut() {
                    *last = last.clone().with_sync(Sync::FileSystem);
                }
            }
            Fsync::Dir => {
                let mut seen = BTreeSet::new();
                for action in actions.iter_mut().rev() {
                    if seen.insert(directory_of(action.file())) {
                        *action = action.clone().with_sync(Sync::Directory);
                    }
                }
            }
            Fsync::None | Fsync::Op | Fsync::File | Fsync::Dsync => {}
        }
    }

    fn check_sizes(&self) -> Result<(), PhasesError> {
        let check = |what, found: Option<u64>, most| match found {
            Some(found) if found > most => {
                Err(PhasesError::TooMany { workload: self.name.clone(), what, found, most })
            }
            _ => Ok(()),
        };
        let bytes = |file: &PlannedFile| file.bytes().max(file.created_bytes);
        let files = || self.files.iter();
        let written: u64 = self.actions.iter().map(Action::written_bytes).sum();
        check("bytes written", Some(written + self.written_bytes), WRITTEN_MOST)?;
        check("bytes in a file", files().map(bytes).max(), MOST_BYTES)?;
        check("ops on a file", files().map(|file| file.ops).max(), OPS_MOST)?;
        let looks = |file: &PlannedFile| file.ops * bytes(file).div_ceil(SECTOR as u64);
        check("sectors of a file times ops on it", files().map(looks).max(), LOOKS_MOST)
    }
}

/// The sync of every op; what is done once is added later.
fn sync_of(fsync: Fsync) -> Sync {
    match fsync {
        Fsync::Op | Fsync::File => Sync::File,
        // O_DSYNC is fdatasync after each write.
        Fsync::Dsync => Sync::Data,
        Fsync::None | Fsync::Dir | Fsync::End => Sync::None,
    }
}

/// The sync of a call of several on a file; `is_last`: of them.
fn sync_of_call(fsync: Fsync, is_last: bool) -> Sync {
    if fsync == Fsync::File && !is_last { Sync::None } else { sync_of(fsync) }
}

/// Number of the first file of each leaf directory, and behind them that of all files.
fn starts_of_directories(dataset: &Dataset) -> Vec<u64> {
    dataset.dir_starts().unwrap_or_else(|| {
        let each = dataset.files_per_dir().max(1);
        let starts = (0..dataset.dirs.max(1)).map(|directory| directory.saturating_mul(each));
        starts.map(|start| start.min(dataset.files)).chain([dataset.files]).collect()
    })
}

/// What is done with a file in a cycle.
fn kind(cycle: &Cycle, rng: &mut SeededRng) -> Option<UpdateKind> {
    let weights = cycle.shares.weights();
    let sum: u64 = weights.iter().map(|weight| u64::from(*weight)).sum();
    let mut left = (sum > 0).then(|| rng.below(sum))?;
    UpdateKind::ALL.into_iter().zip(weights).find_map(|(kind, weight)| {
        let is_here = left < u64::from(weight);
        left = left.saturating_sub(weight.into());
        is_here.then_some(kind)
    })
}

/// The actions of one update; the file keeps its size.
fn update(file: &mut PlannedFile, kind: UpdateKind, sync: Sync) -> Vec<Action> {
    let bytes = file.bytes();
    match kind {
        UpdateKind::InPlace => {
            let version = file.next_version();
            file.overwrite(0, bytes, version, sync).filter(|_| bytes > 0).into_iter().collect()
        }
        UpdateKind::Truncate => {
            let cut = file.truncate(0, Sync::None);
            cut.into_iter().chain(file.append(bytes, sync)).collect()
        }
        UpdateKind::Replace => {
            let version = file.next_version();
            file.put(Contents::default(), (0, bytes), Some(version));
            vec![Action::Replace { target: file.number, bytes, version, sync }]
        }
        UpdateKind::Recreate => {
            let delete = Action::Delete { file: file.number, sync: Sync::None };
            vec![delete, file.create(bytes, sync)]
        }
        UpdateKind::Temporary => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
