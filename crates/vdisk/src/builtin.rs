//! The sheets that are built in: the files of `devices/`.

use crate::sheet::Sheet;

/// The files of `devices/`, by name.
const FILES: &[(&str, &str)] = &[
    ("hdd-1998", include_str!("../../../devices/hdd-1998.toml")),
    ("hdd-2003", include_str!("../../../devices/hdd-2003.toml")),
    ("hdd-2007", include_str!("../../../devices/hdd-2007.toml")),
    ("hdd-2012", include_str!("../../../devices/hdd-2012.toml")),
    ("hdd-laptop", include_str!("../../../devices/hdd-laptop.toml")),
    ("sd-class2", include_str!("../../../devices/sd-class2.toml")),
    ("sd-good", include_str!("../../../devices/sd-good.toml")),
    ("ssd-x25m", include_str!("../../../devices/ssd-x25m.toml")),
    ("ssd-slow-2009", include_str!("../../../devices/ssd-slow-2009.toml")),
    ("ssd-sata", include_str!("../../../devices/ssd-sata.toml")),
    ("nvme-consumer", include_str!("../../../devices/nvme-consumer.toml")),
    ("nvme-plp", include_str!("../../../devices/nvme-plp.toml")),
    ("const", include_str!("../../../devices/const.toml")),
];

/// Names that are offered in place of an unknown one.
const OFFERED: usize = 3;

/// A name that no sheet has.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no device model {name:?}; {offer}")]
pub struct UnknownModel {
    name: String,
    /// The nearest names, or all.
    offer: String,
}

impl UnknownModel {
    fn new(name: &str) -> Self {
        let near = nearest(name);
        let offer = if near.is_empty() {
            format!("there are {}", names().join(", "))
        } else {
            format!("did you mean {}?", near.join(" or "))
        };
        Self { name: name.to_owned(), offer }
    }
}

/// The names of the sheets that are built in.
#[must_use]
pub fn names() -> Vec<&'static str> {
    FILES.iter().map(|(name, _)| *name).collect()
}

/// A sheet that is built in.
///
/// # Errors
/// A name that none has, with the nearest ones.
///
/// # Panics
/// Never: the files are read by a test.
pub fn sheet(name: &str) -> Result<Sheet, UnknownModel> {
    let found = FILES.iter().find(|(known, _)| *known == name);
    let (_, text) = found.ok_or_else(|| UnknownModel::new(name))?;
    let file = format!("devices/{name}.toml");
    Ok(Sheet::parse(text, &file).expect("a test reads every built-in sheet"))
}

/// The names that are nearest to one, the nearest first; none where it is like nothing.
fn nearest(name: &str) -> Vec<&'static str> {
    let name = name.to_lowercase();
    let allowed = (name.chars().count() / 2).max(1);
    let mut near: Vec<(usize, &str)> = names()
        .into_iter()
        .map(|known| (strsim::osa_distance(&name, known), known))
        .filter(|(distance, known)| *distance <= allowed || known.starts_with(&name))
        .collect();
    near.sort_by_key(|(distance, _)| *distance);
    near.truncate(OFFERED);
    near.into_iter().map(|(_, known)| known).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sheet_is_read_and_has_the_name_of_its_file() {
        for name in names() {
            assert_eq!(sheet(name).unwrap().name, name);
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest() {
        let said = |name| sheet(name).unwrap_err().to_string();
        assert_eq!(
            said("hdd-2008"),
            "no device model \"hdd-2008\"; did you mean hdd-2003 or hdd-2007 or hdd-2012?"
        );
        assert!(
            said("NVME").contains("did you mean nvme-plp or nvme-consumer?"),
            "{}",
            said("NVME")
        );
        assert!(said("floppy").contains("there are hdd-1998, hdd-2003,"));
    }
}
