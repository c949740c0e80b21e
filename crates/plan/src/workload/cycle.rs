//! The keys of a `cycle` phase: a periodic application, and a second load during it.

use crate::JsonSchema;
use crate::error::{At, PlanError};
use crate::tree::{Node, Table};
use crate::values::{Duration, Get, List, Read, Size, Within, Word};
use crate::words::words;
use fsarena_model::cycle::{Cycle, Disturb, Load, Overrun, Shares};
use fsarena_model::units::{Bytes, Nanos};
#[cfg(feature = "schema")]
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// Where nothing else is said, as the application of 2007 did it.
const PERIOD_NS: u64 = 300_000_000_000;
const CYCLES: u32 = 3;
const UPDATES: u64 = 40_000;
const SHARES: Shares =
    Shares { in_place: 25, truncate: 25, replace: 25, recreate: 15, temporary: 10 };
/// A second load: as the script of 2007, and a file that the caches of a disk do not hold.
const DISTURB_FILES: u64 = 1000;
const DISTURB_FILE_BYTES: u64 = 4096;
const DISTURB_BYTES: u64 = 64 << 20;
const DISTURB_BS_BYTES: u64 = 1 << 20;

/// Each cycle writes a version of its own, of which there are as many as a u16 counts.
const MAX_CYCLES: u64 = 1000;
const MAX_WEIGHT: u64 = 1_000_000;
const MAX_FILES: u64 = 10_000_000;
const MAX_BYTES: u64 = 1 << 40;
const MAX_CALL_BYTES: u64 = 1 << 30;

/// Cycles as they are without a word about them, over so many files.
pub(super) fn plain(files: u64) -> Cycle {
    Cycle {
        cycles: CYCLES,
        period_ns: PERIOD_NS,
        overrun: Overrun::default(),
        updates: UPDATES.min(files),
        shares: SHARES,
        disturb: None,
    }
}

/// Keys of a cycle phase in addition to `name`, `op` and `bs`.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Keys {
    /// From the start of a cycle to that of the next, 10 ms to 24 h.
    #[schemars(example = &"300 s")]
    period: Option<At<Read<Duration>>>,
    /// How many.
    #[schemars(example = 3)]
    cycles: Option<Within<1, MAX_CYCLES>>,
    /// Files of a cycle.
    #[schemars(example = 40_000)]
    updates: Option<At<Within<1, { MAX_FILES * 10 }>>>,
    /// What happens where work outlasts the period.
    #[schemars(example = &"overlap")]
    overrun: Option<Word<Overrun>>,
    /// What is done, by weight.
    #[schemars(example = serde_json::json!({ "in-place": 50, "replace": 50 }))]
    shares: Option<At<ShareKeys>>,
    /// A second load during the cycles.
    #[schemars(schema_with = "disturb_schema")]
    #[serde(rename = "disturb")]
    _disturb: Option<IgnoredAny>,
}

type Weight = Within<0, MAX_WEIGHT>;
type Numbers = List<At<Within<1, MAX_CYCLES>>>;

/// Ways of updating a file, with their weights.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct ShareKeys {
    in_place: Weight,
    truncate: Weight,
    replace: Weight,
    recreate: Weight,
    temporary: Weight,
}

#[derive(Deserialize)]
struct LoadKey {
    load: Word<LoadKind>,
}

/// Files are made in each disturbed cycle.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CreateKeys {
    #[serde(rename = "load")]
    #[schemars(example = &"create")]
    _load: Word<LoadKind>,
    #[schemars(example = 1000)]
    files: Option<Within<1, MAX_FILES>>,
    /// Of each file.
    #[schemars(example = &"4 KiB")]
    size: Option<At<Size>>,
    /// Files a second; 0 is as fast as it goes.
    #[schemars(example = 100)]
    rate: Option<Within<0, MAX_FILES>>,
    /// The disturbed cycles, counted from 1.
    #[schemars(example = serde_json::json!([2]))]
    #[serde(default)]
    cycles: Numbers,
}

/// One file is written or read from its start on, again and again.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct StreamKeys {
    load: Word<LoadKind>,
    #[schemars(example = &"64 MiB")]
    size: Option<At<Size>>,
    /// One call.
    #[schemars(example = &"1 MiB")]
    bs: Option<At<Size>>,
    /// Bytes a second; 0 is as fast as it goes.
    #[schemars(example = &"10 MiB")]
    rate: Option<At<Size>>,
    /// The disturbed cycles, counted from 1.
    #[schemars(example = serde_json::json!([2]))]
    #[serde(default)]
    cycles: Numbers,
}

#[cfg(feature = "schema")]
fn disturb_schema(generator: &mut SchemaGenerator) -> Schema {
    let create = generator.subschema_for::<CreateKeys>();
    let stream = generator.subschema_for::<StreamKeys>();
    json_schema!({ "anyOf": [create, stream] })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LoadKind {
    Create,
    Write,
    Read,
}

words! {
    LoadKind: "load" =
        [("create", LoadKind::Create), ("write", LoadKind::Write), ("read", LoadKind::Read)];
}

/// The cycles that these keys make, over so many files.
pub(super) fn cycle(table: &Table<'_>, files: u64) -> Result<Cycle, PlanError> {
    let keys: Keys = table.read()?;
    let mut cycle = plain(files);
    if let Some(At { value: Read(period), place }) = keys.period {
        if !(Cycle::PERIOD_MIN_NS..=Cycle::PERIOD_MAX_NS).contains(&period) {
            let what = format!("a period of {}", Nanos(period));
            return Err(PlanError::new(&place, what, "use 10 ms to 24 h"));
        }
        cycle.period_ns = period;
    }
    if let Some(cycles) = keys.cycles {
        cycle.cycles = cycles.get();
    }
    if let Some(At { value: Within(updates), place }) = keys.updates {
        if updates > files {
            let what = format!("a cycle of {updates} updates over {files} files");
            let remedy = "use as many files, or fewer updates: each is of one";
            return Err(PlanError::new(&place, what, remedy));
        }
        cycle.updates = updates;
    }
    cycle.overrun = keys.overrun.map_or(cycle.overrun, |overrun| overrun.0);
    if let Some(At { value: keys, place }) = keys.shares {
        cycle.shares = Shares {
            in_place: keys.in_place.get(),
            truncate: keys.truncate.get(),
            replace: keys.replace.get(),
            recreate: keys.recreate.get(),
            temporary: keys.temporary.get(),
        };
        if cycle.shares.weights() == [0; 5] {
            let remedy = "give at least one a weight: in-place = 1";
            return Err(PlanError::new(&place, "shares of nothing", remedy));
        }
    }
    let load = table.get("disturb").map(|node| disturb(&node, cycle.cycles));
    cycle.disturb = load.transpose()?;
    Ok(cycle)
}

fn disturb(node: &Node<'_>, cycles: u32) -> Result<Disturb, PlanError> {
    let (load, disturbed) = match node.read::<LoadKey>()?.load.0 {
        LoadKind::Create => {
            let keys: CreateKeys = node.read()?;
            let files = keys.files.map_or(DISTURB_FILES, |files| files.0);
            let size_bytes = size(keys.size.as_ref(), "size", 0, DISTURB_FILE_BYTES)?;
            let rate = keys.rate.map_or(0, |rate| rate.0);
            (Load::Create { files, size_bytes, rate }, keys.cycles)
        }
        LoadKind::Write | LoadKind::Read => stream(node.read()?)?,
    };
    Ok(Disturb { load, cycles: numbers(disturbed, cycles)? })
}

fn stream(keys: StreamKeys) -> Result<(Load, Numbers), PlanError> {
    let size_bytes = size(keys.size.as_ref(), "size", 1, DISTURB_BYTES)?;
    let bs_bytes = size(keys.bs.as_ref(), "bs", 1, DISTURB_BS_BYTES.min(size_bytes))?;
    if let Some(bs) = &keys.bs
        && bs_bytes > size_bytes.min(MAX_CALL_BYTES)
    {
        let what = format!("calls of {} in a file of {}", Bytes(bs_bytes), Bytes(size_bytes));
        return Err(PlanError::new(&bs.place, what, "use a smaller bs: up to the size and 1 GiB"));
    }
    let rate_bytes = size(keys.rate.as_ref(), "rate", 0, 0)?;
    let load = match keys.load.0 {
        LoadKind::Read => Load::Read { size_bytes, bs_bytes, rate_bytes },
        _ => Load::Write { size_bytes, bs_bytes, rate_bytes },
    };
    Ok((load, keys.cycles))
}

/// A number of bytes from `least` up.
fn size(written: Option<&At<Size>>, key: &str, least: u64, absent: u64) -> Result<u64, PlanError> {
    let Some(At { value: Size(size), place }) = written else { return Ok(absent) };
    if (least..=MAX_BYTES).contains(size) {
        return Ok(*size);
    }
    let what = format!("`{key}` of {}", Bytes(*size));
    Err(PlanError::new(place, what, format!("use {least} B to {}", Bytes(MAX_BYTES))))
}

/// Numbers of cycles, in order.
fn numbers(written: Numbers, cycles: u32) -> Result<Vec<u32>, PlanError> {
    let mut numbers: Vec<u32> = Vec::new();
    for At { value, place } in written.0 {
        let number = value.get();
        if number > cycles {
            let what = format!("`workload.phases.disturb.cycles` is {number}");
            let remedy = format!("it has to be from 1 to {cycles}");
            return Err(PlanError::new(&place, what, remedy));
        }
        if numbers.contains(&number) {
            return Err(PlanError::new(
                &place,
                format!("cycle {number} twice"),
                "keep one of them",
            ));
        }
        numbers.push(number);
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// The cycles at a scale, over a dataset that has `files` then: fewer files in a shorter period,
/// and a second load with fewer or a smaller one. Sizes of files, rates and the number of cycles
/// stay; a period stays within its limits ([`Cycle::period_limit`]).
pub(super) fn scaled(cycle: &Cycle, scale: f64, files: u64) -> Cycle {
    let mut changed = cycle.clone();
    changed.updates = times(cycle.updates, scale).clamp(1, files.max(1));
    changed.period_ns =
        times(cycle.period_ns, scale).clamp(Cycle::PERIOD_MIN_NS, Cycle::PERIOD_MAX_NS);
    let Some(disturb) = &mut changed.disturb else { return changed };
    disturb.load = match disturb.load {
        Load::Create { files, size_bytes, rate } => {
            Load::Create { files: times(files, scale).max(1), size_bytes, rate }
        }
        Load::Write { size_bytes, bs_bytes, rate_bytes } => {
            Load::Write { size_bytes: times(size_bytes, scale).max(bs_bytes), bs_bytes, rate_bytes }
        }
        Load::Read { size_bytes, bs_bytes, rate_bytes } => {
            Load::Read { size_bytes: times(size_bytes, scale).max(bs_bytes), bs_bytes, rate_bytes }
        }
    };
    changed
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped by callers")]
pub(super) fn times(value: u64, scale: f64) -> u64 {
    (value as f64 * scale).round() as u64
}
