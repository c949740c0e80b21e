//! Verdicts as a JSON value that every machine prints byte for byte the same.

use fsarena_model::verdict::Metric;
use fsarena_verdict::Verdicts;
use serde_json::{Map, Value};

/// Figures of a contender in the metric's base unit; their keys get the unit.
const IN_BASE_UNIT: [&str; 6] =
    ["median", "median_low", "median_high", "geometric_mean", "min", "max"];

/// The verdicts of a RUN as JSON: the fields of [`Verdicts`], with these differences. Numbers
/// with a fraction are rounded to 6 significant digits, because the last digits of a logarithm
/// differ from machine to machine; values in the metric's base unit have that unit in their key
/// (`median_ns`, `median_bytes`), as has the time of a forecast (`more_s`). What is not a number
/// is `null`.
#[must_use]
pub fn verdict_json(verdicts: &Verdicts) -> Value {
    let mut value = serde_json::to_value(verdicts).unwrap_or(Value::Null);
    let questions = value.get_mut("questions").and_then(Value::as_array_mut);
    for (json, question) in questions.into_iter().flatten().zip(&verdicts.questions) {
        let unit = match question.metric {
            Metric::Time | Metric::Cpu | Metric::P99 => "ns",
            Metric::Written => "bytes",
        };
        for row in objects(json, "rows") {
            for key in IN_BASE_UNIT {
                rename(row, key, &format!("{key}_{unit}"));
            }
        }
        for pair in objects(json, "pairs") {
            if let Some(forecast) = pair.get_mut("forecast").and_then(Value::as_object_mut) {
                rename(forecast, "seconds", "more_s");
            }
        }
    }
    round(&mut value);
    value
}

/// The objects in the list `key` of an object.
fn objects<'a>(
    value: &'a mut Value,
    key: &str,
) -> impl Iterator<Item = &'a mut Map<String, Value>> {
    let list = value.get_mut(key).and_then(Value::as_array_mut);
    list.into_iter().flatten().filter_map(Value::as_object_mut)
}

fn rename(object: &mut Map<String, Value>, from: &str, to: &str) {
    if let Some(value) = object.remove(from) {
        object.insert(to.to_owned(), value);
    }
}

/// Rounds all numbers with a fraction in a document; whole ones are counts and lengths, and exact.
pub(crate) fn round(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => {
            if let Some(rounded) = number.as_f64().and_then(six_digits) {
                *number = rounded;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(round),
        Value::Object(fields) => fields.values_mut().for_each(round),
        _ => {}
    }
}

/// To 6 significant digits by way of decimal text: the nearest double of a short decimal number is
/// printed as that number.
fn six_digits(value: f64) -> Option<serde_json::Number> {
    serde_json::Number::from_f64(format!("{value:.5e}").parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_short() {
        let mut value = serde_json::json!({
            "a": [1.234_567_89, 1e-9 / 3.0, 123_456_789.4],
            "whole": 1_234_567_890_123u64,
            "text": "1.23456789",
        });
        round(&mut value);
        assert_eq!(
            value.to_string(),
            r#"{"a":[1.23457,3.33333e-10,123457000.0],"text":"1.23456789","whole":1234567890123}"#
        );
    }

    proptest! {
        #[test]
        fn rounding_is_close_and_once_is_enough(value in -1e12f64..1e12) {
            let once = six_digits(value).unwrap().as_f64().unwrap();
            prop_assert!((once - value).abs() <= 5.001e-6 * value.abs());
            prop_assert_eq!(six_digits(once).unwrap().as_f64().unwrap(), once);
            let digits = six_digits(value).unwrap().to_string();
            let mantissa = digits.split('e').next().unwrap().replace(['-', '.'], "");
            let significant = mantissa.trim_start_matches('0').trim_end_matches('0');
            prop_assert!(significant.len() <= 6, "{digits}");
        }
    }
}
