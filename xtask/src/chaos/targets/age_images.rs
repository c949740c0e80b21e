//! Kept images of aged devices: each that is described is whole, and is what its description says.

use anyhow::{Context as _, Result};
use fsarena_guests::kernel::sha256_of;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// What is wrong with a directory of kept images while nothing is at work. An image without a
/// description is none: the next trial makes its age anew.
pub(super) fn wrong(dir: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).with_context(|| dir.display().to_string())? {
        let path = entry?.path();
        let shown = path.display();
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("img") => {}
            Some("json") => found.extend(wrong_pair(&path)?),
            _ => found.push(format!("left behind: {shown}")),
        }
    }
    Ok(found)
}

/// What is wrong with an image that has this description.
fn wrong_pair(description: &Path) -> Result<Option<String>> {
    let shown = description.display();
    let Ok(words) = serde_json::from_slice::<Value>(&fs::read(description)?) else {
        return Ok(Some(format!("half a description: {shown}")));
    };
    let image = description.with_extension("img");
    if !image.exists() {
        return Ok(Some(format!("a description without its image: {shown}")));
    }
    let size_bytes = image.metadata()?.len();
    if words["state"]["device_bytes"].as_u64() != Some(size_bytes) {
        return Ok(Some(format!("{shown}: its image has {size_bytes} bytes")));
    }
    let is = sha256_of(&image)?;
    Ok((words["sha256"] != is.as_str()).then(|| format!("{shown}: its image has the hash {is}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_whole_or_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::write(path("ext4-1.img"), "contents").unwrap();
        assert_eq!(wrong(dir.path()).unwrap(), [""; 0], "it is made anew");
        let describe = |bytes: u64, sha256: &str| {
            let words = serde_json::json!({"state": {"device_bytes": bytes}, "sha256": sha256});
            fs::write(path("ext4-1.json"), words.to_string()).unwrap();
            wrong(dir.path()).unwrap().len()
        };
        let hash = sha256_of(&path("ext4-1.img")).unwrap();
        assert_eq!((describe(8, &hash), describe(9, &hash), describe(8, "ab")), (0, 1, 1));
        fs::write(path("ext4-1.json"), "{").unwrap();
        assert!(wrong(dir.path()).unwrap()[0].starts_with("half a description"));
        fs::remove_file(path("ext4-1.json")).unwrap();
        fs::write(path("ext4-1.json.new"), "{").unwrap();
        assert!(wrong(dir.path()).unwrap()[0].starts_with("left behind"));
    }
}
