//! What the disk says of its own health (`smartctl --json`, smartmontools 7.0 or later).
//!
//! Neither the serial number nor anything else that names one disk is taken from it.

use crate::check::Said;
use crate::layers::Layer;
use crate::scene::Scene;
use fsarena_model::finding::Weight;
use fsarena_targets::cmd;
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// A disk that does not answer by then is left alone.
const LIMIT: Duration = Duration::from_secs(3);
/// Share of its rated life from which it is said, percent.
const WORN_NOTE: u64 = 80;
/// From which flash may be slower than it was, percent.
const WORN_WARNING: u64 = 100;
/// Runs the program in its arguments: the exit code of smartctl has bits for old errors of the
/// disk, of which its report says more.
const EVER: &str = "\"$@\" || :";

pub(crate) fn look(scene: &Scene, layer: &Layer) -> Option<Said> {
    // A virtual disk has no health, and neither has a card or a network.
    if !layer.is_hardware() || layer.device.name.starts_with("vd") {
        return None;
    }
    let Some(tool) = scene.tools.find("smartctl") else {
        return Some(
            Said::unknown("not run: smartctl (smartmontools) is not installed")
                .remedy("install it")
                .command("sudo apt-get install smartmontools"),
        );
    };
    let device = layer.place();
    let smartctl = tool.path.to_string_lossy();
    // A disk that sleeps is not woken up.
    let arguments = ["-c", EVER, "sh", &smartctl, "--json", "--all", "--nocheck=standby", &device];
    let said = match cmd::run(Path::new("/bin/sh"), &arguments, LIMIT) {
        Ok(ran) => judge(&ran.stdout),
        Err(error) => Said::unknown(error.to_string()),
    };
    let look_at = format!("sudo smartctl --all {}", cmd::quoted(&device));
    Some(if said.weight > Weight::Unknown { said.command(look_at) } else { said })
}

/// Reads the report of smartctl.
fn judge(json: &str) -> Said {
    let Ok(report) = serde_json::from_str::<Value>(json) else {
        return Said::unknown("smartctl did not answer in JSON; version 7.0 or later does");
    };
    let number = |pointer: &str| report.pointer(pointer).and_then(Value::as_u64);
    let passed = report.pointer("/smart_status/passed").and_then(Value::as_bool);
    let used = number("/nvme_smart_health_information_log/percentage_used")
        .or_else(|| number("/endurance_used/current_percent"))
        .or_else(|| number("/scsi_percentage_used_endurance_indicator"));
    let errors = number("/nvme_smart_health_information_log/media_errors");
    let spare = number("/nvme_smart_health_information_log/available_spare")
        .zip(number("/nvme_smart_health_information_log/available_spare_threshold"));
    let moved = attribute(&report, &[5, 197, 198]);
    let mut parts: Vec<String> = Vec::new();
    parts.extend(used.map(|percent| format!("{percent} % of its rated life used")));
    parts.extend(spare.map(|(spare, _)| format!("{spare} % of its spare left")));
    parts.extend(errors.map(|errors| format!("{errors} media errors")));
    parts.extend(moved.map(|sectors| format!("{sectors} sectors moved or waiting to be")));
    let reading = match (passed, parts.is_empty()) {
        (None, true) => {
            let message = report.pointer("/smartctl/messages/0/string").and_then(Value::as_str);
            let message = message.unwrap_or("the disk tells nothing of its health");
            return Said::unknown(format!("smartctl: {message}"));
        }
        (Some(false), _) => {
            parts.insert(0, "the disk says that it is about to fail".to_owned());
            parts.join(", ")
        }
        (_, true) => "the disk says that it is healthy".to_owned(),
        (_, false) => parts.join(", "),
    };
    let low = spare.is_some_and(|(spare, threshold)| spare <= threshold);
    let broken = errors.unwrap_or(0) > 0 || moved.unwrap_or(0) > 0;
    let worn = "a worn SSD erases more slowly and repeats reads; its figures are not those of a \
                new one";
    if passed == Some(false) || low {
        return Said::bad(reading, "it may fail during the run, and is slow before it does")
            .remedy("save what is on it, and measure on another");
    }
    match used.unwrap_or(0) {
        _ if broken => Said::warning(
            reading,
            "a disk that repeats reads or moves sectors is slow where nobody expects it",
        )
        .remedy("measure on another disk"),
        WORN_WARNING.. => Said::warning(reading, worn).remedy("measure on another disk"),
        WORN_NOTE.. => Said::note(reading, worn).remedy("say so beside the figures"),
        _ => Said::fine(reading),
    }
}

/// Sum of the raw values of these ATA attributes; `None` where there is none of them.
fn attribute(report: &Value, ids: &[u64]) -> Option<u64> {
    let table = report.pointer("/ata_smart_attributes/table")?.as_array()?;
    let known = |row: &&Value| row["id"].as_u64().is_some_and(|id| ids.contains(&id));
    let mut raw =
        table.iter().filter(known).filter_map(|row| row["raw"]["value"].as_u64()).peekable();
    raw.peek()?;
    Some(raw.fold(0, u64::saturating_add))
}

#[cfg(test)]
mod tests {
    use super::judge;
    use crate::stage::{block, device, disk, words};

    fn said(json: &str) -> (String, String) {
        words(judge(json))
    }

    #[test]
    fn nvme() {
        let disk = |used: u32, spare: u32, errors: u32| {
            said(&format!(
                r#"{{"serial_number": "SECRET", "smart_status": {{"passed": true}},
                "nvme_smart_health_information_log": {{"percentage_used": {used},
                "available_spare": {spare}, "available_spare_threshold": 10,
                "media_errors": {errors}}}}}"#
            ))
        };
        let new = disk(3, 100, 0);
        let reading = "3 % of its rated life used, 100 % of its spare left, 0 media errors";
        assert_eq!(new, ("fine".to_owned(), reading.to_owned()));
        assert_eq!(disk(85, 100, 0).0, "note");
        assert_eq!(disk(130, 100, 0).0, "warning");
        assert_eq!(disk(3, 100, 7).0, "warning");
        assert_eq!(disk(3, 10, 0).0, "bad");
    }

    #[test]
    fn sata() {
        let disk = |passed: bool, moved: u32| {
            said(&format!(
                r#"{{"smart_status": {{"passed": {passed}}}, "ata_smart_attributes": {{"table": [
                {{"id": 5, "raw": {{"value": {moved}}}}}, {{"id": 9, "raw": {{"value": 9000}}}}]}}}}"#
            ))
        };
        assert_eq!(
            disk(true, 0),
            ("fine".to_owned(), "0 sectors moved or waiting to be".to_owned())
        );
        assert_eq!(disk(true, 8).0, "warning");
        assert_eq!(disk(false, 0).0, "bad");
    }

    #[test]
    fn no_answer_is_not_fine() {
        assert_eq!(said("").0, "unknown");
        assert_eq!(said("{}").1, "smartctl: the disk tells nothing of its health");
        let refused = r#"{"smartctl": {"messages": [{"string": "Permission denied"}]}}"#;
        assert_eq!(said(refused), ("unknown".to_owned(), "smartctl: Permission denied".to_owned()));
        assert_eq!(said(r#"{"smart_status": {"passed": "yes"}}"#).0, "unknown");
        let healthy = said(r#"{"smart_status": {"passed": true}}"#);
        assert_eq!(healthy, ("fine".to_owned(), "the disk says that it is healthy".to_owned()));
    }

    #[test]
    fn without_the_program() {
        let absent = device("wear", &disk(), "sda").unwrap();
        let reading = "not run: smartctl (smartmontools) is not installed";
        assert_eq!(absent, ("unknown".to_owned(), reading.to_owned()));
        let tree = disk();
        block(&tree, "sys/block/vdb", "254:16", 2048);
        assert_eq!(device("wear", &tree, "vdb"), None, "a virtual disk does not wear");
    }
}
