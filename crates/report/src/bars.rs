//! Bars and lines of block characters for terminals that show them: eighths of a column in a bar,
//! eight heights in a line. They say nothing that the figures next to them do not.

/// Eighths of a column, from one to eight.
const EIGHTHS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];
/// Heights, the least first.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A bar as long as the share of `value` in `most`, at most `columns` wide. What is above zero has
/// an eighth at least; nothing where there is nothing to compare with.
pub(crate) fn bar(value: f64, most: f64, columns: usize) -> String {
    let share = value / most;
    if !share.is_finite() || share <= 0.0 {
        return String::new();
    }
    let eighths = ((share.min(1.0) * (columns * 8) as f64).round() as usize).max(1);
    let mut out = EIGHTHS[7].to_string().repeat(eighths / 8);
    out.extend((!eighths.is_multiple_of(8)).then(|| EIGHTHS[eighths % 8 - 1]));
    out
}

/// One character a value, from the least to the largest of them; a space where there is none. Of
/// more values than `columns` the means of neighbours are shown. Equal values are of middle height.
pub(crate) fn line(values: &[Option<f64>], columns: usize) -> String {
    let group = values.len().div_ceil(columns.max(1)).max(1);
    let means: Vec<Option<f64>> = values
        .chunks(group)
        .map(|chunk| {
            let known: Vec<f64> = chunk.iter().flatten().copied().collect();
            (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
        })
        .collect();
    let known = || means.iter().flatten().copied();
    let (least, most) = (known().fold(f64::MAX, f64::min), known().fold(f64::MIN, f64::max));
    let height = |value: f64| match most - least {
        range if range > 0.0 => HEIGHTS[((value - least) / range * 7.0).round() as usize],
        _ => HEIGHTS[3],
    };
    means.into_iter().map(|mean| mean.map_or(' ', height)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bars_have_eighths() {
        assert_eq!(bar(1.0, 1.0, 4), "████");
        assert_eq!(bar(0.5, 1.0, 4), "██");
        assert_eq!(bar(9.0, 32.0, 4), "█▏");
        assert_eq!(bar(1e-9, 1.0, 4), "▏");
        assert_eq!((bar(0.0, 1.0, 4), bar(1.0, 0.0, 4)), (String::new(), String::new()));
        assert_eq!(bar(f64::NAN, 1.0, 4), "");
    }

    #[test]
    fn lines_go_from_the_least_to_the_largest() {
        assert_eq!(line(&[Some(1.0), Some(8.0), None, Some(4.5)], 10), "▁█ ▅");
        assert_eq!(line(&[Some(2.0), Some(2.0)], 10), "▄▄");
        assert_eq!(line(&[Some(1.0), Some(3.0), Some(9.0), Some(11.0)], 2), "▁█");
        assert_eq!(line(&[], 10), "");
    }

    proptest! {
        #[test]
        fn nothing_is_wider_than_asked(
            values in proptest::collection::vec(proptest::option::of(0.0f64..1e12), 0..200),
            columns in 1usize..40,
        ) {
            prop_assert!(line(&values, columns).chars().count() <= columns);
            for value in values.iter().flatten() {
                prop_assert!(bar(*value, 1e11, columns).chars().count() <= columns);
            }
        }
    }
}
