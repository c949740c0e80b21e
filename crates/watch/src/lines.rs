//! A watch as plain lines, where standard output is no terminal, and as lines of JSON.

use crate::watcher::Tick;
use fsarena_study::watched::Watched;
use serde_json::{Map, Value, json};

/// Columns of the time.
const TIME: usize = 10;
/// Columns of the narrowest figure.
const NARROWEST: usize = 7;

/// Columns of a quantity, with the gap before it.
fn column(quantity: Watched) -> usize {
    quantity.title().len().max(NARROWEST) + 2
}

/// The heads of the columns: one word each, so that other programs can cut the lines.
#[must_use]
pub fn head_line() -> String {
    let head = |one: Watched| format!("{:>1$}", one.title().replace(' ', "_"), column(one));
    let heads: String = Watched::ALL.into_iter().map(head).collect();
    format!("{:>TIME$}{heads}", "time")
}

/// One sample: its time, and each quantity in the order of [`head_line`].
#[must_use]
pub fn plain_line(tick: &Tick) -> String {
    let value = |(quantity, value): (Watched, Option<f64>)| {
        let text = value.map_or_else(|| "-".to_owned(), |value| quantity.text(value));
        format!("{text:>0$}", column(quantity))
    };
    let values: String = tick.values().map(value).collect();
    let tenth = tick.t_ns.saturating_add(50_000_000) / 100_000_000 % 10;
    let time = format!("{}.{tenth}", clock(tick.t_ns));
    format!("{time:>TIME$}{values}")
}

/// One sample as a document of one line, in base units; what is missing is null.
#[must_use]
pub fn json_line(tick: &Tick) -> String {
    let mut line = Map::new();
    line.insert("t_ns".to_owned(), json!(tick.t_ns));
    for (quantity, value) in tick.values() {
        line.insert(quantity.key().to_owned(), json!(value));
    }
    Value::Object(line).to_string()
}

/// `1:02:03`.
pub(crate) fn clock(ns: u64) -> String {
    // A sample comes a little late; it is that of its second.
    let s = ns.saturating_add(50_000_000) / 1_000_000_000;
    format!("{}:{:02}:{:02}", s / 3_600, s / 60 % 60, s % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::sample::Counters;
    use fsarena_study::watched::Ratio;

    fn tick() -> Tick {
        let ratio = |at| Ratio { sum: f64::from(at) * 0.0625, by: 1.0 };
        let ratios = (0..15).map(|at| (at != 6).then(|| ratio(at))).collect();
        Tick { t_ns: 3_723_000_400_000, ratios, totals: Counters::new() }
    }

    #[test]
    fn lines_have_as_many_words_as_their_head() {
        let (head, line) = (head_line(), plain_line(&tick()));
        assert_eq!(head.split_whitespace().count(), 16);
        assert_eq!(line.split_whitespace().count(), 16);
        assert_eq!(head.len(), line.len());
        assert!(line.starts_with(" 1:02:03.0"), "{line}");
        assert!(head.contains("writeback_MiB  CPU_user_%"), "{head}");
    }

    #[test]
    fn json_is_in_base_units_and_missing_is_null() {
        let line: Value = serde_json::from_str(&json_line(&tick())).unwrap();
        assert_eq!(line["t_ns"], 3_723_000_400_000u64);
        assert_eq!(line["busy_share"], 0.25);
        assert_eq!(line["read_latency_ns"], Value::Null);
        assert_eq!(line.as_object().unwrap().len(), 16);
    }
}
