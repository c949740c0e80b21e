//! The figures of crash safety as CSV: a row a contender, crash workload and state, a column a
//! figure. Names are those of `--json`, joined by `_`; lists of words are left out.

use crate::render;
use crate::table::{Cell, Column, Table};
use fsarena_study::CrashRunsView;
use serde_json::Value;
use std::collections::BTreeMap;

/// Names first, then all figures by name.
const FIRST: [&str; 5] = ["position", "contender", "workload", "state", "mount_options"];

/// # Panics
/// Never: figures are plain data.
#[must_use]
pub fn crash_csv(view: &CrashRunsView) -> String {
    let rows: Vec<BTreeMap<String, String>> = view
        .rows
        .iter()
        .map(|row| {
            let mut fields = BTreeMap::new();
            flatten("", &serde_json::to_value(row).expect("is plain data"), &mut fields);
            fields
        })
        .collect();
    let is_further = |name: &&String| !FIRST.contains(&name.as_str());
    let mut further: Vec<&String> =
        rows.iter().flat_map(BTreeMap::keys).filter(is_further).collect();
    further.sort_unstable();
    further.dedup();
    let names: Vec<&str> =
        FIRST.into_iter().chain(further.into_iter().map(String::as_str)).collect();
    let mut table = Table::new(names.iter().map(|name| Column::text(*name)).collect::<Vec<_>>());
    for row in &rows {
        let text = |name: &&str| row.get(*name).cloned().unwrap_or_default();
        table.row(names.iter().map(|name| Cell::exact(text(name))));
    }
    render::csv(&table)
}

fn flatten(name: &str, value: &Value, fields: &mut BTreeMap<String, String>) {
    let text = match value {
        Value::Object(map) => {
            for (key, value) in map {
                let name = if name.is_empty() { key.clone() } else { format!("{name}_{key}") };
                flatten(&name, value, fields);
            }
            return;
        }
        Value::Array(_) => return,
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    fields.insert(name.to_owned(), text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_testkit::crash::{self, Traits};
    use fsarena_testkit::records;

    #[test]
    fn a_row_a_contender_workload_and_state() {
        let contenders = ["ext4", "xfs"].map(|label| records::contender(label, label, 1)).to_vec();
        let mut header = records::header(contenders, vec![records::small_files()], 1);
        header.plan.crash = Some(crash::plan());
        let traits = Traits { loss_s: 40, ..Traits::default() };
        let slots = header.plan.crash_slots().into_iter();
        let stored: Vec<_> = slots.map(|slot| crash::run(&header, slot, traits)).collect();
        let view = fsarena_study::crash(&header.plan, &stored).unwrap();
        let csv = crash_csv(&view);
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(lines.len(), 1 + 4);
        assert!(lines[0].starts_with("position,contender,workload,state,mount_options,"), "{csv}");
        assert!(lines[1].starts_with("0,ext4,unsynced,dropall,"), "{csv}");
        let at = lines[0].split(',').position(|name| name == "figures_loss_window_max_ns").unwrap();
        let value = |line: &str| line.split(',').nth(at).unwrap().to_owned();
        // No text before it has a comma but the mount options, which are quoted.
        let plain = lines[1].replace("\"rw,relatime\"", "rw");
        assert_eq!(value(&plain), "40000000000", "{csv}");
    }
}
