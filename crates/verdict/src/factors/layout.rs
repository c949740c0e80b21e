//! Which factors vary among contenders, and which of them lie within a level of another.

use fsarena_model::contender::{Contender, DeviceLevel};
use fsarena_model::factor::{self, DEVICE, FS, Values};
use indexmap::IndexSet;
use std::collections::BTreeSet;

/// A factor with the level of each contender.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Varying {
    pub name: String,
    pub levels: Vec<String>,
    /// The factor (by index) and the level within which it exists.
    pub within: Option<(usize, usize)>,
    /// Index of its level, a contender each; none where it does not exist.
    pub of: Vec<Option<usize>>,
}

/// The factors of a set of contenders.
pub(super) struct Layout {
    pub factors: Vec<Varying>,
    /// Factors that vary, each counted even where several cannot be told apart.
    pub varying: usize,
    pub notes: Vec<String>,
}

/// A factor before it is known where it varies: its text for each contender.
struct Raw {
    name: String,
    texts: Vec<String>,
    /// Whether it means something only to one file system: an option.
    is_option: bool,
    /// Texts that say that nothing was asked for.
    unset: BTreeSet<String>,
}

/// Whether a contender lies in memory alone, so that no device of the plan is its own.
pub(super) fn has_no_device(contender: &Contender) -> bool {
    let fs = &contender.levels.fs;
    let is_directory = matches!(contender.levels.device, DeviceLevel::Directory { .. });
    let needs_none = fs.external.as_ref().is_some_and(|external| !external.device);
    !is_directory && (fs.name == "tmpfs" || needs_none)
}

/// Finds the factors that vary.
///
/// File system and device are always crossed. What else varies is crossed with them where it varies
/// within every level of each (an option: over the same levels in each); where it varies within
/// some levels only, it lies within these, a factor for each. What never varies within a level is
/// part of that level.
pub(super) fn layout(contenders: &[&Contender]) -> Layout {
    let mut found = Layout { factors: Vec::new(), varying: 0, notes: Vec::new() };
    let mut others = Vec::new();
    for raw in raw(contenders) {
        if raw.texts.iter().all(|text| *text == raw.texts[0]) {
            continue;
        }
        if raw.name == FS || raw.name == DEVICE {
            found.factors.push(varying(raw.name, &raw.texts, None, |_| true));
        } else {
            others.push(raw);
        }
    }
    found.varying = found.factors.len();
    merge(&mut found, 0);
    let parents = found.factors.len();
    let mut parts = Vec::new();
    for raw in others {
        match variation(&raw, &found.factors[..parents]) {
            Variation::Crossed => {
                found.varying += 1;
                found.factors.push(varying(raw.name, &raw.texts, None, |_| true));
            }
            Variation::Within(places) => {
                found.varying += places.len();
                found.notes.extend(settled(&raw, &found.factors, &places));
                for (parent, level) in places {
                    let there = found.factors[parent].of.clone();
                    let is_there = |at: usize| there[at] == Some(level);
                    let within = Some((parent, level));
                    found.factors.push(varying(raw.name.clone(), &raw.texts, within, is_there));
                }
            }
            Variation::PartOf(parent) => {
                parts.push(format!("{} of {}", raw.name, found.factors[parent].name));
            }
        }
    }
    if !parts.is_empty() {
        let list = parts.join(", ");
        found.notes.push(format!("varies only as part of another factor: {list}"));
    }
    merge(&mut found, parents);
    found
}

enum Variation {
    Crossed,
    Within(Vec<(usize, usize)>),
    PartOf(usize),
}

/// Where a factor varies among the levels of file system and device. The one in which it varies
/// least decides; of two alike the file system for an option, else the device.
fn variation(raw: &Raw, parents: &[Varying]) -> Variation {
    let mut order: Vec<usize> = (0..parents.len()).collect();
    order.sort_by_key(|&at| (parents[at].name == DEVICE) == raw.is_option);
    let mut worst: Option<(usize, Vec<(usize, usize)>)> = None;
    for parent in order {
        let known = &parents[parent];
        let sets: Vec<BTreeSet<&String>> = (0..known.levels.len())
            .map(|level| {
                let there = raw.texts.iter().zip(&known.of).filter(|(_, of)| **of == Some(level));
                there.map(|(text, _)| text).collect()
            })
            .collect();
        let varies: Vec<(usize, usize)> =
            (0..sets.len()).filter(|&at| sets[at].len() > 1).map(|at| (parent, at)).collect();
        let is_everywhere = varies.len() == sets.len();
        let is_alike = !raw.is_option || sets.iter().all(|set| *set == sets[0]);
        if is_everywhere && is_alike {
            continue;
        }
        if worst.as_ref().is_none_or(|(_, places)| varies.len() < places.len()) {
            worst = Some((parent, varies));
        }
    }
    match worst {
        None => Variation::Crossed,
        Some((parent, places)) if places.is_empty() => Variation::PartOf(parent),
        Some((_, places)) => Variation::Within(places),
    }
}

/// Levels of the parent that have one text of a nested factor throughout, where that is not the
/// default: it is part of their figures.
fn settled(raw: &Raw, factors: &[Varying], places: &[(usize, usize)]) -> Vec<String> {
    let mut notes = Vec::new();
    let Some(&(parent, _)) = places.first() else { return notes };
    let parent_factor = &factors[parent];
    for (level, words) in parent_factor.levels.iter().enumerate() {
        let known = parent_factor.of.iter().position(|of| *of == Some(level));
        let text = known.map_or("", |at| raw.texts[at].as_str());
        if !places.contains(&(parent, level)) && !raw.unset.contains(text) {
            notes.push(format!(
                "{} = {words} has {} = {text} throughout: that is part of its figure",
                parent_factor.name, raw.name
            ));
        }
    }
    notes
}

/// Levels in the order in which contenders first have them.
fn varying(
    name: String,
    texts: &[String],
    within: Option<(usize, usize)>,
    is_there: impl Fn(usize) -> bool,
) -> Varying {
    let mut levels = IndexSet::new();
    let numbered = texts.iter().enumerate();
    let of = numbered.map(|(at, text)| is_there(at).then(|| levels.insert_full(text).0)).collect();
    Varying { name, levels: levels.into_iter().cloned().collect(), within, of }
}

/// Makes one factor of those, from index `from` on, that always vary together.
fn merge(found: &mut Layout, from: usize) {
    let mut at = from;
    while at < found.factors.len() {
        let mut other = at + 1;
        while other < found.factors.len() {
            let (one, two) = (&found.factors[at], &found.factors[other]);
            // Levels are numbered as they first come: the same division has the same numbers.
            if one.of != two.of || one.within != two.within {
                other += 1;
                continue;
            }
            let two = found.factors.remove(other);
            let one = &mut found.factors[at];
            found.notes.push(format!(
                "{} and {} always vary together: which of them has the effect cannot be determined",
                one.name, two.name
            ));
            one.name = format!("{} and {}", one.name, two.name);
            for (level, with) in one.levels.iter_mut().zip(&two.levels) {
                *level = format!("{level} and {with}");
            }
        }
        at += 1;
    }
}

fn raw(contenders: &[&Contender]) -> Vec<Raw> {
    let raw = |values: Values| {
        let is_unset = values.values.iter().cloned().zip(values.is_unset);
        let unset = is_unset.filter(|(_, is_unset)| *is_unset).map(|(text, _)| text).collect();
        Raw { name: values.name, texts: values.values, is_option: values.is_option, unset }
    };
    factor::values(contenders).into_iter().map(raw).collect()
}
