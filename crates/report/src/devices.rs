//! The block devices of the machine, as `fsarena devices` shows them: what each is, and whether it
//! would be touched. Whoever asks looks; here are only words.

use crate::format::bytes;
use crate::render::text;
use crate::table::{Column, Table};
use crate::text::bold;
use crate::text::{MIN_WIDTH, Style};
use serde::Serialize;

/// One block device.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceLine {
    /// `sdb`, `nvme0n1p2`.
    pub name: String,
    /// Capacity.
    pub size_bytes: u64,
    /// `disk`, `partition`, `loop`, …
    pub kind: String,
    /// What the hardware calls itself.
    pub model: Option<String>,
    /// Its serial or WWN.
    pub serial: Option<String>,
    /// What is found on it (`ext4`, `gpt`).
    pub signature: Option<String>,
    /// What uses it (`mounted at /`, `swap`).
    pub in_use: Option<String>,
    /// Whether fsarena would use it.
    pub usable: bool,
    /// What fsarena would do with it, or why not.
    pub verdict: String,
}

/// All devices as a table, in the order given. A cell without a value is a dash.
#[must_use]
pub fn devices_table(devices: &[DeviceLine], width: usize, style: Style) -> String {
    if devices.is_empty() {
        return "No block device was found.\n".to_owned();
    }
    let mut grid = Table::new([
        Column::text("device"),
        Column::figure("size"),
        Column::text("kind"),
        Column::text("model").optional(2),
        Column::text("serial").optional(3),
        Column::text("holds"),
        Column::text("in use").optional(1),
        Column::text("fsarena"),
    ]);
    let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    for device in devices {
        let verdict = &device.verdict;
        grid.row(vec![
            device.name.clone(),
            bytes(Some(device.size_bytes)),
            device.kind.clone(),
            or_dash(&device.model),
            or_dash(&device.serial),
            or_dash(&device.signature),
            or_dash(&device.in_use),
            if device.usable { verdict.clone() } else { format!("no: {verdict}") },
        ]);
    }
    let text = text::table(&grid, width.max(MIN_WIDTH));
    match text.split_once('\n') {
        Some((head, rest)) => format!("{}\n{rest}", bold(head, style.colour)),
        None => text,
    }
}
