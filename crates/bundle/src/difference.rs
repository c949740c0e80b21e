//! What differs between two JSON values.

use serde_json::Value;

/// Numbers that are closer than this part of the larger are the same: processors round the last
/// digits of a logarithm differently.
const SAME_SHARE: f64 = 1e-9;

/// A line for each place at which `here` differs from `there`, in the order of the document:
/// `questions[2].pairs[0].verdict: "faster" there, "undecided" here`.
#[must_use]
pub fn differences(there: &Value, here: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare(there, here, "", &mut found);
    found
}

fn compare(there: &Value, here: &Value, at: &str, found: &mut Vec<String>) {
    match (there, here) {
        (Value::Object(a), Value::Object(b)) => {
            let others = b.keys().filter(|key| !a.contains_key(*key));
            for key in a.keys().chain(others) {
                let inner = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
                match (a.get(key), b.get(key)) {
                    (Some(a), Some(b)) => compare(a, b, &inner, found),
                    (Some(_), None) => found.push(format!("{inner}: not here")),
                    (None, _) => found.push(format!("{inner}: not there")),
                }
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (index, (a, b)) in a.iter().zip(b).enumerate() {
                compare(a, b, &format!("{at}[{index}]"), found);
            }
        }
        (Value::Array(a), Value::Array(b)) => {
            found.push(format!("{at}: {} entries there, {} here", a.len(), b.len()));
        }
        _ if is_same(there, here) => {}
        _ => found.push(format!("{at}: {} there, {} here", short(there), short(here))),
    }
}

fn is_same(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(x), Some(y)) => a == b || (x - y).abs() <= SAME_SHARE * x.abs().max(y.abs()),
        _ => a == b,
    }
}

/// A value in few words.
fn short(value: &Value) -> String {
    match value {
        Value::Object(_) => "an object".to_owned(),
        Value::Array(all) => format!("{} entries", all.len()),
        plain => plain.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn every_place_is_named() {
        let there = json!({"a": [1, {"verdict": "faster"}], "b": [1], "c": 1, "ratio": 1.5});
        let here = json!({"a": [1, {"verdict": "same"}], "b": [1, 2], "d": 1,
            "ratio": 1.5 + 1e-12});
        let expected = [
            "a[1].verdict: \"faster\" there, \"same\" here",
            "b: 1 entries there, 2 here",
            "c: not here",
            "d: not there",
        ];
        assert_eq!(differences(&there, &here), expected);
        assert_eq!(differences(&json!(null), &json!({"a": 1})), [": null there, an object here"]);
    }

    proptest! {
        #[test]
        fn numbers_differ_by_more_than_rounding(number in -1e12f64..1e12, share in 1e-6f64..1.0) {
            prop_assert!(differences(&json!(number), &json!(number)).is_empty());
            let other = number + number.abs().max(1.0) * share;
            prop_assert_eq!(differences(&json!({"x": number}), &json!({"x": other})).len(), 1);
        }
    }
}
