//! Documents of JSON changed by a script of bytes: what stays sound around the change gets past the
//! first checks of a reader, which no change of single bytes does.
//!
//! A script is read in pieces of [`EDIT_BYTES`]: which value (by its number in the document, modulo
//! how many there are), what is done to it, and with what. Every script is valid, so both engines
//! can change it as they like.

use serde_json::{Number, Value};

/// Bytes of one edit.
pub(crate) const EDIT_BYTES: usize = 6;
/// Edits of a script that are carried out.
const EDITS_MOST: usize = 24;
/// A list is made longer up to so many elements.
const LIST_MOST: usize = 64;

/// Numbers at which arithmetic ends.
const NUMBERS: [u64; 16] = [
    0,
    1,
    2,
    7,
    63,
    64,
    65,
    1000,
    1_000_000,
    i32::MAX as u64,
    u32::MAX as u64,
    1 << 32,
    1 << 53,
    1 << 60,
    i64::MAX as u64,
    u64::MAX,
];
const FLOATS: [f64; 8] = [-1.0, -0.0, 0.5, 5e-324, 1e-9, 1e15, 1e308, -1e308];

/// Texts that would do harm where they are shown as they are.
pub(crate) const TEXTS: [&str; 16] = [
    "",
    "<script>alert(1)</script>",
    "</title></style></script><script>x</script>",
    "\"'><img src=x onerror=alert(1)>",
    "\u{1b}[2J\u{1b}]0;t\u{7}",
    "a\u{202e}b\u{2066}c",
    "a\nb\r\nc\td",
    "| a | b |\n|---|---|",
    "[x](javascript:alert(1)) `code` **b** # h",
    "\0",
    "=cmd|' /C calc'!A0",
    "../../../../etc/passwd",
    "\u{feff}\u{200b}\u{e0001}",
    "64M",
    "ext4",
    "%s%n{}{0}$(id)`id`",
];

/// The document after the script.
pub(crate) fn edited(document: &Value, script: &[u8]) -> Value {
    let mut document = document.clone();
    for edit in script.chunks(EDIT_BYTES).take(EDITS_MOST) {
        let byte = |at: usize| edit.get(at).copied().unwrap_or(0);
        let which = usize::from(u16::from_le_bytes([byte(0), byte(1)]));
        let other = usize::from(u16::from_le_bytes([byte(4), byte(5)]));
        let count = count(&document);
        let copy = nth(&mut document, other % count).clone();
        let value = nth(&mut document, which % count);
        apply(value, byte(2), byte(3), copy);
    }
    document
}

/// Values of a document, itself among them.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(list) => list.iter().map(count).sum(),
        Value::Object(map) => map.values().map(count).sum(),
        _ => 0,
    }
}

/// The value of this number: each before those in it. The document itself beyond the end.
fn nth(document: &mut Value, number: usize) -> &mut Value {
    let mut left = number;
    let mut at = document;
    loop {
        if left == 0 || !(at.is_array() || at.is_object()) {
            return at;
        }
        left -= 1;
        let next = match at {
            Value::Array(list) => within(list.iter_mut(), &mut left),
            Value::Object(map) => within(map.values_mut(), &mut left),
            _ => None,
        };
        at = next.expect("a number below the count is in one of them");
    }
}

fn within<'v>(
    values: impl Iterator<Item = &'v mut Value>,
    left: &mut usize,
) -> Option<&'v mut Value> {
    for value in values {
        let count = count(value);
        if *left < count {
            return Some(value);
        }
        *left -= count;
    }
    None
}

fn apply(value: &mut Value, what: u8, with: u8, copy: Value) {
    let with_index = usize::from(with);
    match what % 10 {
        0 => *value = Value::from(NUMBERS[with_index % NUMBERS.len()]),
        1 => {
            *value = Number::from_f64(FLOATS[with_index % FLOATS.len()])
                .map_or(Value::Null, Value::Number)
        }
        2 => *value = Value::from(TEXTS[with_index % TEXTS.len()]),
        3 => *value = Value::Null,
        4 => *value = copy,
        5 => remove(value, with_index),
        6 => repeat(value, with_index),
        7 => *value = Value::from(with.is_multiple_of(2)),
        8 => add(value, i64::from(with.cast_signed())),
        _ => append(value, TEXTS[with_index % TEXTS.len()]),
    }
}

fn remove(value: &mut Value, at: usize) {
    match value {
        Value::Array(list) if !list.is_empty() => {
            list.remove(at % list.len());
        }
        Value::Object(map) if !map.is_empty() => {
            let key = map.keys().nth(at % map.len()).cloned().unwrap_or_default();
            map.remove(&key);
        }
        _ => *value = Value::Null,
    }
}

/// Makes a list longer by its own elements, and a text by itself.
fn repeat(value: &mut Value, times: usize) {
    match value {
        Value::Array(list) if !list.is_empty() => {
            let own = list.clone();
            let more = own.iter().cycle().take(LIST_MOST.saturating_sub(own.len()).min(times));
            list.extend(more.cloned());
        }
        Value::String(text) => *text = text.repeat(times % 8),
        _ => {}
    }
}

fn add(value: &mut Value, by: i64) {
    if let Some(number) = value.as_u64() {
        *value = Value::from(number.wrapping_add_signed(by));
    } else if let Some(number) = value.as_f64() {
        *value = Number::from_f64(number * by as f64).map_or(Value::Null, Value::Number);
    }
}

/// Puts a text behind a text, or under a key of its own.
fn append(value: &mut Value, text: &str) {
    match value {
        Value::String(own) => own.push_str(text),
        Value::Object(map) => {
            map.insert(text.to_owned(), Value::from(1));
        }
        Value::Array(list) => list.push(Value::from(text)),
        other => *other = Value::from(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_found_by_their_number() {
        let mut document = json!({"a": [1, {"b": 2}], "c": 3});
        assert_eq!(count(&document), 6);
        let all: Vec<Value> = (0..6).map(|at| nth(&mut document, at).clone()).collect();
        let expected =
            [document.clone(), json!([1, {"b": 2}]), json!(1), json!({"b": 2}), json!(2), json!(3)];
        assert_eq!(all, expected);
    }

    #[test]
    fn a_script_changes_what_it_names_and_nothing_else() {
        let document = json!({"a": [1, {"b": 2}], "c": 3});
        let edit = |script: &[u8]| edited(&document, script);
        assert_eq!(edit(&[]), document);
        assert_eq!(edit(&[5, 0, 0, 15]), json!({"a": [1, {"b": 2}], "c": u64::MAX}));
        assert_eq!(edit(&[5, 0, 4, 0, 1, 0])["c"], document["a"]);
        assert_eq!(edit(&[1, 0, 5, 0]), json!({"a": [{"b": 2}], "c": 3}));
        assert_eq!(edit(&[4, 0, 8, 255]), json!({"a": [1, {"b": 1}], "c": 3}));
        assert_eq!(edit(&[2, 0, 2, 1])["a"][0], TEXTS[1]);
        // Numbers beyond the end begin anew, and a script may be cut anywhere.
        assert_eq!(edit(&[11, 0, 3]), json!({"a": [1, {"b": 2}], "c": null}));
    }
}
