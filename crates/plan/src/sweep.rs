//! Values of mkfs options and levels of factors that are ranges: `1024..65536`, `4..16 step 4`.
//!
//! Without a step both ends are powers of two and so is every level between them; with one the
//! levels are the first end and each step from it up to the second. Numbers may have units of
//! bytes (`16K..256K`); the levels then have them too.

use crate::error::{At, PlanError, Span};
use crate::text::{bytes, level, push_level};
use crate::values::Scalar;
use fsarena_model::factor::Factor;
use fsarena_model::units::size_text;

/// Most levels of one range.
pub(crate) const MAX_LEVELS: usize = 64;

/// The levels of a value: several where it is a range, else itself.
///
/// # Errors
/// A range that has no levels or too many, or an end that is no number.
pub(crate) fn levels(value: &str, place: &Span) -> Result<Vec<String>, PlanError> {
    let is_range = value.starts_with(|c: char| c.is_ascii_digit()) && value.contains("..");
    let Some((from, rest)) = value.split_once("..").filter(|_| is_range) else {
        return Ok(vec![value.to_owned()]);
    };
    let (to, step) = match rest.split_once("step") {
        Some((to, step)) => (to, Some(step)),
        None => (rest, None),
    };
    let number = |text: &str| bytes(text.trim(), place);
    let (first, last) = (number(from)?, number(to)?);
    if first >= last {
        let what = format!("the range {value:?} does not go up");
        return Err(PlanError::new(place, what, "write it like 1024..65536, or one value"));
    }
    let numbers = match step {
        Some(step) => arithmetic(first, last, number(step)?, value, place)?,
        None => powers_of_two(first, last, value, place)?,
    };
    let has_unit = value.contains(|c: char| c.is_ascii_uppercase());
    let text = |number: &u64| if has_unit { size_text(*number) } else { number.to_string() };
    Ok(numbers.iter().map(text).collect())
}

/// Adds a level of a factor to its axis; all levels of a range, where it takes ranges.
pub(crate) fn push_levels(
    axis: &mut Vec<At<String>>,
    factor: &dyn Factor,
    value: &str,
    place: &Span,
) -> Result<(), PlanError> {
    let values = match factor.info().takes_range {
        true => levels(value, place)?,
        false => vec![value.to_owned()],
    };
    for value in values {
        push_level(axis, level(factor, &value, place)?, place)?;
    }
    Ok(())
}

/// The values of an mkfs option; a range is as many levels, all in one place.
pub(crate) fn axis(values: &[At<Scalar>]) -> Result<Vec<At<Option<String>>>, PlanError> {
    let mut all = Vec::new();
    for At { value: Scalar(value), place } in values {
        if value.is_empty() {
            return Err(PlanError::new(place, "an empty mkfs option", "write \"default\""));
        }
        for level in levels(value, place)? {
            let level = Some(level).filter(|level| level != "default");
            push_level(&mut all, level, place)?;
        }
    }
    Ok(all)
}

fn powers_of_two(first: u64, last: u64, value: &str, place: &Span) -> Result<Vec<u64>, PlanError> {
    if !first.is_power_of_two() || !last.is_power_of_two() {
        let what = format!(
            "the range {value:?} goes in powers of two, and one of its ends is no power of two"
        );
        return Err(PlanError::new(place, what, "say the step: 4..16 step 4"));
    }
    let next = |number: &u64| number.checked_mul(2).filter(|next| *next <= last);
    Ok(std::iter::successors(Some(first), next).collect())
}

fn arithmetic(
    first: u64,
    last: u64,
    step: u64,
    value: &str,
    place: &Span,
) -> Result<Vec<u64>, PlanError> {
    if step == 0 {
        let what = format!("the range {value:?} has a step of 0");
        return Err(PlanError::new(place, what, "write it like 4..16 step 4"));
    }
    if (last - first) / step >= MAX_LEVELS as u64 {
        let what = format!("the range {value:?} has more than {MAX_LEVELS} levels");
        return Err(PlanError::new(place, what, "use a larger step"));
    }
    let next = |number: &u64| number.checked_add(step).filter(|next| *next <= last);
    Ok(std::iter::successors(Some(first), next).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(value: &str) -> Result<String, String> {
        let levels = levels(value, &Span::Option("--fs"));
        levels.map(|all| all.join(" ")).map_err(|error| error.to_string())
    }

    #[test]
    fn ranges_are_levels() {
        assert_eq!(shown("1024..8192").unwrap(), "1024 2048 4096 8192");
        assert_eq!(shown("16K..128K").unwrap(), "16K 32K 64K 128K");
        assert_eq!(shown("512..2K").unwrap(), "512 1K 2K");
        assert_eq!(shown("4..16 step 4").unwrap(), "4 8 12 16");
        assert_eq!(shown("2 .. 9 step 3").unwrap(), "2 5 8");
        assert_eq!(shown("4096").unwrap(), "4096");
        assert_eq!(shown("^64bit").unwrap(), "^64bit");
        assert_eq!(shown("a..b").unwrap(), "a..b", "no range");
    }

    #[test]
    fn ranges_without_sense_are_refused() {
        assert!(shown("8..4").unwrap_err().contains("does not go up"));
        assert!(shown("4..4").unwrap_err().contains("does not go up"));
        assert!(shown("1000..4096").unwrap_err().contains("say the step"));
        assert!(shown("1..9 step 0").unwrap_err().contains("step of 0"));
        assert!(shown("1..900 step 1").unwrap_err().contains("more than 64 levels"));
        assert!(shown("4..").unwrap_err().contains("no number"));
        assert!(shown("4..16 steps").is_err());
    }
}
