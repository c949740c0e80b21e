//! Levels as text: the same in a file and on the command line.
//!
//! Each reader takes the place of the text for its error and knows nothing else of where it came
//! from.

use crate::error::{At, PlanError, Span};
use fsarena_model::contender::{DeviceLevel, SEVERAL_LEAST, SEVERAL_MOST};
use fsarena_model::factor::{Factor, LevelError};
use fsarena_model::memory_device::MemoryDevice;
use fsarena_model::units::{BadQuantity, Bytes, Nanos, parse_share};
use fsarena_model::verdict::Rule;
use std::path::{Path, PathBuf};

/// Longest path that the kernel takes, with the zero at its end (limits.h).
pub(crate) const PATH_MAX: u64 = 4096;
/// Smallest device.
pub(crate) const MIN_DEVICE_BYTES: u64 = 1 << 20;
/// Largest device.
pub(crate) const MAX_DEVICE_BYTES: u64 = 1 << 50;
/// Most blocks of a RUN.
pub(crate) const MAX_BLOCKS: u64 = 1000;
/// Shortest period of the sampler.
const MIN_PERIOD_NS: u64 = 10_000_000;
/// Longest period of the sampler.
const MAX_PERIOD_NS: u64 = 3_600_000_000_000;

/// A number of bytes.
pub(crate) fn bytes(text: &str, place: &Span) -> Result<u64, PlanError> {
    text.parse::<Bytes>().map(|b| b.0).map_err(|error| quantity(&error, place))
}

/// A duration.
pub(crate) fn nanos(text: &str, place: &Span) -> Result<u64, PlanError> {
    text.parse::<Nanos>().map(|n| n.0).map_err(|error| quantity(&error, place))
}

fn quantity(error: &BadQuantity, place: &Span) -> PlanError {
    let (what, remedy) = error.what_and_remedy();
    PlanError::new(place, what, remedy)
}

/// The canonical text of a level of a factor.
pub(crate) fn level(factor: &dyn Factor, text: &str, place: &Span) -> Result<String, PlanError> {
    factor.parse(text).map_err(|error| match error {
        LevelError::Unknown { kind, known } => PlanError::unknown(place, kind, text, &known),
        LevelError::Refused { what, remedy } => PlanError::new(place, what, remedy),
    })
}

/// A share of `kind` as text: `5%` or `0.05`; above 0, up to 100 %.
pub(crate) fn share(text: &str, place: &Span, kind: &str) -> Result<f64, PlanError> {
    let bad = |_| {
        let what = format!("{text:?} cannot be a {kind}");
        PlanError::new(place, what, "write it like 5% or 0.05, above 0 and up to 100%")
    };
    share_of(parse_share(text).map_err(bad)?, place, kind)
}

/// The same of a number: 0.05 is 5 %.
pub(crate) fn share_of(share: f64, place: &Span, kind: &str) -> Result<f64, PlanError> {
    if share > 0.0 && share <= 1.0 {
        return Ok(share);
    }
    let what = format!("a {kind} of {}", share_text(share));
    Err(PlanError::new(place, what, "write it like 5% or 0.05, above 0 and up to 100%"))
}

/// The text of a share, as [`share`] reads it, without loss.
pub(crate) fn share_text(share: f64) -> String {
    let digits = |places: usize| format!("{:.places$}%", share * 100.0);
    let exact = |text: &String| parse_share(text).is_ok_and(|read| read == share);
    (0..4).map(digits).find(exact).unwrap_or_else(|| format!("{share:?}"))
}

/// A factor on sizes and numbers.
pub(crate) fn scale(scale: f64, place: &Span) -> Result<f64, PlanError> {
    if scale > 0.0 && scale <= 100.0 {
        return Ok(scale);
    }
    Err(PlanError::new(place, format!("a scale of {scale}"), "use a number above 0, up to 100"))
}

/// A number of blocks (`5`), or the fewest and the most of as many as fit into the budget
/// (`4..12`).
pub(crate) fn blocks(text: &str, place: &Span) -> Result<Rule, PlanError> {
    let refuse = |what: String| {
        let remedy = format!(
            "use a number from 1 to {MAX_BLOCKS}, or 4..12 for as many as fit into the budget"
        );
        PlanError::new(place, what, remedy)
    };
    let number = |text: &str| text.trim().parse::<u32>().ok();
    let is_legal = |blocks: u32| (1..=MAX_BLOCKS).contains(&u64::from(blocks));
    let Some((least, most)) = text.split_once("..") else {
        let blocks = number(text).ok_or_else(|| refuse(format!("{text:?} is no number of blocks")));
        return match blocks? {
            blocks if is_legal(blocks) => Ok(Rule::Fixed { blocks }),
            blocks => Err(refuse(format!("{blocks} blocks"))),
        };
    };
    match (number(least), number(most)) {
        (Some(least), Some(most)) if least < most && is_legal(least) && is_legal(most) => {
            Ok(Rule::Fit { least, most })
        }
        (Some(blocks), Some(most)) if blocks == most && is_legal(blocks) => {
            Ok(Rule::Fixed { blocks })
        }
        (Some(least), Some(most)) if least > most => {
            Err(refuse(format!("{text:?}: the most blocks come before the fewest")))
        }
        _ => Err(refuse(format!("{text:?} is no number of blocks"))),
    }
}

/// The text of a number of blocks, as [`blocks`] reads it; none where there is no such number.
pub(crate) fn blocks_text(rule: Rule) -> Option<String> {
    match rule {
        Rule::Fixed { blocks } => Some(blocks.to_string()),
        Rule::Fit { least, most } => Some(format!("{least}..{most}")),
        Rule::Looks { .. } => None,
    }
}

/// Time that a RUN may take.
pub(crate) fn budget(text: &str, place: &Span) -> Result<u64, PlanError> {
    match nanos(text, place)? {
        0 => Err(PlanError::new(
            place,
            "a budget of no time",
            "write it like 30 min, or leave it out",
        )),
        budget => Ok(budget),
    }
}

/// A period of the sampler; 0 is none.
pub(crate) fn period(text: &str, place: &Span) -> Result<u64, PlanError> {
    let period = nanos(text, place)?;
    if period == 0 || (MIN_PERIOD_NS..=MAX_PERIOD_NS).contains(&period) {
        return Ok(period);
    }
    Err(PlanError::new(
        place,
        format!("a sample period of {} is out of range", Nanos(period)),
        "use 10 ms to 1 h, or 0 ms for no samples",
    ))
}

/// A device of this size.
type OfSize = fn(u64) -> DeviceLevel;

/// Images that a loop device is made of for a RUN.
const IMAGES: [(&str, OfSize); 2] = [
    ("loop", |size_bytes| DeviceLevel::Loop { size_bytes }),
    ("ram", |size_bytes| DeviceLevel::Ram { size_bytes }),
];

/// The kinds of device that are made for a RUN and have nothing but a size.
fn made_kinds() -> impl Iterator<Item = &'static str> {
    let memory = MemoryDevice::all().map(|kind| kind.row().written);
    IMAGES.iter().map(|(kind, _)| *kind).chain(memory)
}

/// What makes one of [`made_kinds`] of a size.
fn maker(kind: &str) -> Option<Box<dyn Fn(u64) -> DeviceLevel>> {
    if let Some((_, make)) = IMAGES.iter().find(|(known, _)| *known == kind) {
        return Some(Box::new(make));
    }
    let kind = MemoryDevice::all().find(|known| known.row().written == kind)?;
    Some(Box::new(move |size_bytes| DeviceLevel::Memory { kind, size_bytes }))
}

/// What a device that is made begins with, such as `loop:`.
pub fn device_prefixes() -> impl Iterator<Item = String> {
    made_kinds().chain(MODELLED).map(|kind| format!("{kind}:"))
}

/// A device, or several with `+` between them; `loop:SIZE*N` are N of one size.
pub(crate) fn device(text: &str, place: &Span) -> Result<DeviceLevel, PlanError> {
    match members(text) {
        Some(texts) => several(text, &texts, place),
        None => one_device(text, place),
    }
}

/// The kinds of device that can be one of several.
const MEMBERS: &str = "loop:SIZE, ram:SIZE and /dev/NAME";

/// The texts of several devices, those of `loop:SIZE*N` as they are; absent where it is one device.
/// A `+` is part of a path, unless a device follows it and the path is one below `/dev`.
#[must_use]
pub fn members(text: &str) -> Option<Vec<&str>> {
    let is_made = |text: &str| {
        let kind = text.split_once(':').map_or("", |(kind, _)| kind);
        made_kinds().any(|known| known == kind)
    };
    let is_any = |text: &str| {
        let modelled = MODELLED.iter().any(|kind| text.starts_with(&format!("{kind}:")));
        is_made(text) || modelled || text.starts_with("/dev/")
    };
    if !is_any(text) {
        return None;
    }
    let mut texts = Vec::new();
    let (mut start, mut search) = (0, 0);
    while let Some(found) = text[search..].find('+') {
        let at = search + found;
        search = at + 1;
        let ends = is_made(text[start..].trim_start()) || is_any(text[search..].trim_start());
        if ends {
            texts.push(text[start..at].trim());
            start = search;
        }
    }
    texts.push(text[start..].trim());
    let is_repeated = |text: &&str| is_made(text) && text.contains('*');
    (texts.len() > 1 || texts.iter().any(is_repeated)).then_some(texts)
}

/// Several devices.
fn several(text: &str, texts: &[&str], place: &Span) -> Result<DeviceLevel, PlanError> {
    let refuse = |what: String, remedy: String| Err(PlanError::new(place, what, remedy));
    let mut members = Vec::new();
    for part in texts {
        if part.is_empty() {
            let what = format!("{text:?} has an empty element");
            return refuse(what, "write the devices with one + between them".to_owned());
        }
        let (one, times) = match part.split_once('*').filter(|_| !part.starts_with('/')) {
            Some((one, times)) => (one, times.trim().parse::<usize>().ok()),
            None => (*part, Some(1)),
        };
        let Some(times) = times.filter(|times| (1..=SEVERAL_MOST).contains(times)) else {
            let what = format!("{part:?}: there is no such number of devices");
            return refuse(what, format!("write it like {one}*2, up to {SEVERAL_MOST} devices"));
        };
        let level = one_device(one, place)?;
        if !(level.can_be_member() || names_a_device(&level)) {
            let what = format!("{one:?} cannot be one of several devices");
            return refuse(what, format!("several devices are {MEMBERS}, with + between them"));
        }
        if matches!(level, DeviceLevel::Directory { .. }) && members.contains(&level) {
            return refuse(format!("{text:?} names {one} twice"), "name it once".to_owned());
        }
        members.extend(std::iter::repeat_n(level, times));
    }
    let count = members.len();
    if !(SEVERAL_LEAST..=SEVERAL_MOST).contains(&count) {
        let what = format!("{text:?}: the number of devices is {count}");
        let remedy = format!("use {SEVERAL_LEAST} to {SEVERAL_MOST}; one device stands alone");
        return refuse(what, remedy);
    }
    Ok(DeviceLevel::Several { members })
}

/// A device: `loop:SIZE` and the like, or an absolute path. Whether a path is a block device or a
/// directory is not known here: it is read as a directory.
fn one_device(text: &str, place: &Span) -> Result<DeviceLevel, PlanError> {
    if text.starts_with('/') {
        if text.len() as u64 >= PATH_MAX {
            let what = format!("a path of {} bytes", text.len());
            return Err(PlanError::new(place, what, format!("the kernel takes {}", PATH_MAX - 1)));
        }
        return Ok(DeviceLevel::Directory { path: PathBuf::from(text) });
    }
    let (kind, size) = match text.split_once(':') {
        Some((kind, size)) => (kind, Some(size)),
        None => (text, None),
    };
    if MODELLED.contains(&kind) {
        return modelled(kind, (text, size.unwrap_or_default()), place);
    }
    let Some(make) = maker(kind) else {
        if kind.starts_with('.') || kind.contains('/') {
            let what = format!("{text:?} is a relative path");
            return Err(PlanError::new(place, what, "write the whole path, from /"));
        }
        let kinds: Vec<&str> = made_kinds().chain(MODELLED).collect();
        let error = PlanError::unknown(place, "device", kind, &kinds);
        let remedy = format!(
            "{} (a device is {}, vdisk:SIZE:model=MODEL, virtual:SIZE:model=MODEL, /dev/NAME or \
             /a/directory; several are A+B or loop:SIZE*N)",
            error.remedy,
            made_kinds().map(|kind| format!("{kind}:SIZE")).collect::<Vec<_>>().join(", ")
        );
        return Err(PlanError { remedy, ..error });
    };
    let Some(size) = size.filter(|size| !size.trim().is_empty()) else {
        let what = format!("{text:?} has no size");
        return Err(PlanError::new(place, what, format!("write it like {kind}:2G")));
    };
    Ok(make(device_bytes(kind, size, place)?))
}

/// The kinds of a modelled disk: of this kernel, and of a guest kernel in virtual time.
const MODELLED: [&str; 2] = [VDISK, VIRTUAL];
const VDISK: &str = "vdisk";
const VIRTUAL: &str = "virtual";
/// Highest price of a system call in virtual time.
const SYSCALL_MOST_NS: u64 = 1_000_000;

/// `KIND:SIZE:model=MODEL`, and `:kernel=KERNEL` of a guest; `rest` is what follows the kind.
fn modelled(
    kind: &str,
    (text, rest): (&str, &str),
    place: &Span,
) -> Result<DeviceLevel, PlanError> {
    let wrong = |what: &str| {
        let models = fsarena_vdisk::names().join(", ");
        let remedy = format!("write it like {kind}:8G:model=hdd-2007; the models are {models}");
        PlanError::new(place, format!("{text:?} {what}"), remedy)
    };
    let (size, options) = rest.split_once(':').unwrap_or((rest, ""));
    if size.trim().is_empty() {
        return Err(wrong("has no size"));
    }
    let size_bytes = device_bytes(kind, size, place)?;
    let (mut model, mut kernel, mut syscall_ns) = ("", "", 0);
    for option in options.split(':').filter(|option| !option.is_empty()) {
        match option.split_once('=') {
            Some(("model", value)) => model = value,
            Some(("kernel", value)) if kind == VIRTUAL => {
                guest_kernel(value, place)?;
                kernel = value;
            }
            Some(("syscall_ns", value)) if kind == VIRTUAL => {
                let price_ns = value.parse().ok().filter(|ns| *ns <= SYSCALL_MOST_NS);
                syscall_ns = price_ns.ok_or_else(|| {
                    wrong(&format!("has a price of {value:?} for a system call, 0 to 1000000 ns"))
                })?;
            }
            _ => return Err(wrong(&format!("has no option {option:?}"))),
        }
    }
    if model.is_empty() {
        return Err(wrong("names no model"));
    }
    let sheet = fsarena_vdisk::builtin(model)
        .map_err(|error| PlanError::new(place, error.to_string(), "see fsarena devices --help"))?;
    if size_bytes > sheet.capacity_bytes {
        let what =
            format!("{model} has {}, less than {}", Bytes(sheet.capacity_bytes), Bytes(size_bytes));
        return Err(PlanError::new(place, what, "use a smaller size, or another model"));
    }
    let model = model.to_owned();
    Ok(match kind {
        VDISK => DeviceLevel::Vdisk { size_bytes, model },
        _ => DeviceLevel::Virtual { size_bytes, model, kernel: kernel.to_owned(), syscall_ns },
    })
}

/// A guest kernel: a release, or the absolute path of a file, which need not be there.
pub(crate) fn guest_kernel(text: &str, place: &Span) -> Result<(), PlanError> {
    let path = Path::new(text);
    if text.contains('/') && !path.is_absolute() {
        let what = format!("{text:?} is a relative path of a guest kernel");
        return Err(PlanError::new(place, what, "write the whole path, from /"));
    }
    match text.contains([':', ',']) {
        true => {
            let what = format!("{text:?} is the path of a guest kernel with a colon or a comma");
            Err(PlanError::new(place, what, "give the file another name"))
        }
        false => Ok(()),
    }
}

/// The size of a device that is made.
fn device_bytes(kind: &str, size: &str, place: &Span) -> Result<u64, PlanError> {
    let size_bytes = bytes(size, place)?;
    if !(MIN_DEVICE_BYTES..=MAX_DEVICE_BYTES).contains(&size_bytes) {
        return Err(PlanError::new(
            place,
            format!("a device of {} is out of range", Bytes(size_bytes)),
            format!("use {} to {}", Bytes(MIN_DEVICE_BYTES), Bytes(MAX_DEVICE_BYTES)),
        ));
    }
    if !size_bytes.is_multiple_of(4096) {
        return Err(PlanError::new(
            place,
            format!("a device of {size_bytes} B does not end at a block of 4096 B"),
            format!("use {kind}:{}", size_bytes.next_multiple_of(4096)),
        ));
    }
    Ok(size_bytes)
}

/// Whether a device is a directory.
pub(crate) fn is_directory(device: &DeviceLevel) -> bool {
    matches!(device, DeviceLevel::Directory { .. })
}

/// Whether a path looks like a device node: `/dev/shm` and what ends with `/` are directories.
pub(crate) fn names_a_device(device: &DeviceLevel) -> bool {
    let DeviceLevel::Directory { path } = device else { return false };
    let path = path.to_string_lossy();
    let shm = path == "/dev/shm" || path.starts_with("/dev/shm/");
    path.starts_with("/dev/") && !path.ends_with('/') && !shm
}

/// A name of ours: of an experiment, a workload, a phase, a file system.
pub(crate) fn name(text: &str, place: &Span, kind: &str) -> Result<String, PlanError> {
    let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.+".contains(c);
    let starts = text.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
    if starts && text.len() <= 64 && text.chars().all(legal) {
        return Ok(text.to_owned());
    }
    Err(PlanError::new(
        place,
        format!("{text:?} cannot be the name of {kind}"),
        "use up to 64 of a-z, 0-9, - _ . +, beginning with a letter or digit",
    ))
}

/// The elements of a comma list, none of them empty.
pub(crate) fn pieces<'t>(text: &'t str, place: &Span) -> Result<Vec<&'t str>, PlanError> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    if parts.iter().any(|part| part.is_empty()) {
        let what = format!("{text:?} has an empty element");
        return Err(PlanError::new(place, what, "write the elements with one comma between them"));
    }
    Ok(parts)
}

/// Adds a level to an axis, unless it is there already.
pub(crate) fn push_level<T: PartialEq>(
    levels: &mut Vec<At<T>>,
    value: T,
    place: &Span,
) -> Result<(), PlanError> {
    if let Some(first) = levels.iter().find(|level| level.value == value) {
        let what = match &first.place {
            Span::File { line, column, .. } => format!("the level of {line}:{column} again"),
            _ => "the same level twice".to_owned(),
        };
        let remedy = "keep one of them (only file systems may be repeated, as A/A arms)";
        return Err(PlanError::new(place, what, remedy));
    }
    levels.push(At::new(value, place));
    Ok(())
}
