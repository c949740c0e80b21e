//! The keys of a `cycle` phase: a periodic application, and a second load during it.

use crate::error::PlanError;
use crate::text;
use crate::tree::{Node, Table};
use fsarena_model::cycle::{Cycle, Disturb, Load, Overrun, Shares, UpdateKind};
use fsarena_model::units::{Bytes, Nanos};

/// Keys of a cycle phase in addition to `name`, `op` and `bs`.
pub(super) const KEYS: [&str; 6] = ["period", "cycles", "updates", "overrun", "shares", "disturb"];

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

/// Reads the keys from a table that may hold others.
pub(super) fn read(table: &Table<'_>, files: u64) -> Result<Cycle, PlanError> {
    let mut cycle = plain(files);
    if let Some(node) = table.get("period") {
        cycle.period_ns = period(&node)?;
    }
    if let Some(node) = table.get("cycles") {
        cycle.cycles = small(node.integer(1..=MAX_CYCLES, "3")?);
    }
    if let Some(node) = table.get("updates") {
        cycle.updates = node.integer(1..=MAX_FILES * 10, "40_000")?;
        if cycle.updates > files {
            let what = format!("a cycle of {} updates over {files} files", cycle.updates);
            return Err(node.error(what, "use as many files, or fewer updates: each is of one"));
        }
    }
    if let Some(node) = table.get("overrun") {
        let written = node.text("\"overlap\"")?;
        cycle.overrun = text::word(written, &node.place, "kind of overrun", &Overrun::ALL)?;
    }
    if let Some(node) = table.get("shares") {
        cycle.shares = shares(&node)?;
    }
    if let Some(node) = table.get("disturb") {
        cycle.disturb = Some(disturb(&node, cycle.cycles)?);
    }
    Ok(cycle)
}

fn small(number: u64) -> u32 {
    u32::try_from(number).expect("the limits are within u32")
}

fn period(node: &Node<'_>) -> Result<u64, PlanError> {
    let period = text::nanos(node.text("\"300 s\"")?, &node.place)?;
    if (Cycle::PERIOD_MIN_NS..=Cycle::PERIOD_MAX_NS).contains(&period) {
        return Ok(period);
    }
    let what = format!("a period of {}", Nanos(period));
    Err(node.error(what, "use 10 ms to 24 h"))
}

fn shares(node: &Node<'_>) -> Result<Shares, PlanError> {
    let table = node.table("{ in-place = 50, replace = 50 }")?;
    let names = UpdateKind::ALL.map(|kind| kind.0);
    table.only(&names)?;
    let weight = |name: &str| -> Result<u32, PlanError> {
        let Some(node) = table.get(name) else { return Ok(0) };
        Ok(small(node.integer(0..=MAX_WEIGHT, "25")?))
    };
    let [in_place, truncate, replace, recreate, temporary] = names;
    let shares = Shares {
        in_place: weight(in_place)?,
        truncate: weight(truncate)?,
        replace: weight(replace)?,
        recreate: weight(recreate)?,
        temporary: weight(temporary)?,
    };
    if shares.weights() == [0; 5] {
        return Err(node.error("shares of nothing", "give at least one a weight: in-place = 1"));
    }
    Ok(shares)
}

fn disturb(node: &Node<'_>, cycles: u32) -> Result<Disturb, PlanError> {
    let table = node.table("{ load = \"create\", files = 1000 }")?;
    let kind = table.need("load", "load = \"create\", \"write\" or \"read\"")?;
    let loads = [("create", true), ("write", false), ("read", false)];
    let written = kind.text("\"create\"")?;
    let creates = text::word(written, &kind.place, "load", &loads)?;
    let load = if creates {
        table.only(&["load", "files", "size", "rate", "cycles"])?;
        create(&table)?
    } else {
        table.only(&["load", "size", "bs", "rate", "cycles"])?;
        stream(&table, written == "write")?
    };
    let disturbed = table.get("cycles").map_or(Ok(Vec::new()), |node| numbers(&node, cycles))?;
    Ok(Disturb { load, cycles: disturbed })
}

fn create(table: &Table<'_>) -> Result<Load, PlanError> {
    let files = table.get("files");
    let files = files.map_or(Ok(DISTURB_FILES), |n| n.integer(1..=MAX_FILES, "1000"))?;
    let size_bytes = size(table, "size", 0, DISTURB_FILE_BYTES)?;
    let rate = table.get("rate").map_or(Ok(0), |node| node.integer(0..=MAX_FILES, "100"))?;
    Ok(Load::Create { files, size_bytes, rate })
}

fn stream(table: &Table<'_>, writes: bool) -> Result<Load, PlanError> {
    let size_bytes = size(table, "size", 1, DISTURB_BYTES)?;
    let bs_bytes = size(table, "bs", 1, DISTURB_BS_BYTES.min(size_bytes))?;
    if let Some(node) = table.get("bs")
        && bs_bytes > size_bytes.min(MAX_CALL_BYTES)
    {
        let what = format!("calls of {} in a file of {}", Bytes(bs_bytes), Bytes(size_bytes));
        return Err(node.error(what, "use a smaller bs: up to the size and 1 GiB"));
    }
    let rate_bytes = size(table, "rate", 0, 0)?;
    Ok(if writes {
        Load::Write { size_bytes, bs_bytes, rate_bytes }
    } else {
        Load::Read { size_bytes, bs_bytes, rate_bytes }
    })
}

/// A number of bytes from `least` up.
fn size(table: &Table<'_>, key: &str, least: u64, absent: u64) -> Result<u64, PlanError> {
    let Some(node) = table.get(key) else { return Ok(absent) };
    let size = text::bytes(&node.scalar("\"4 KiB\"")?, &node.place)?;
    if (least..=MAX_BYTES).contains(&size) {
        return Ok(size);
    }
    let what = format!("`{key}` of {}", Bytes(size));
    Err(node.error(what, format!("use {least} B to {}", Bytes(MAX_BYTES))))
}

/// Numbers of cycles, in order.
fn numbers(node: &Node<'_>, cycles: u32) -> Result<Vec<u32>, PlanError> {
    let mut numbers = Vec::new();
    for element in node.list("[2]")? {
        let number = small(element.integer(1..=u64::from(cycles), "2")?);
        if numbers.contains(&number) {
            return Err(element.error(format!("cycle {number} twice"), "keep one of them"));
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
fn times(value: u64, scale: f64) -> u64 {
    (value as f64 * scale).round() as u64
}
