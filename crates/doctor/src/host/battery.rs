//! Whether a battery feeds the machine (`/sys/class/power_supply`).

use crate::check::Said;
use crate::read;
use crate::scene::Scene;

pub(crate) fn look(scene: &Scene) -> Option<Said> {
    let class = scene.roots.sys.join("class/power_supply");
    let names = match read::names(&class) {
        Ok(names) => names,
        Err(reason) => return Some(Said::unknown(reason)),
    };
    let mut batteries = Vec::new();
    for name in &names {
        let dir = class.join(name);
        // Those of mice and headsets say that they feed only themselves.
        if read::text(&dir.join("scope")).is_ok_and(|scope| scope == "Device") {
            continue;
        }
        match read::text(&dir.join("type")) {
            Ok(kind) if kind == "Battery" => match read::text(&dir.join("status")) {
                Ok(status) => batteries.push(status),
                Err(reason) => return Some(Said::unknown(reason)),
            },
            Ok(_) => {}
            Err(reason) => return Some(Said::unknown(reason)),
        }
    }
    Some(if batteries.is_empty() {
        Said::fine("no battery")
    } else if batteries.iter().any(|status| status == "Discharging") {
        Said::warning(
            "the machine runs on its battery",
            "processors and disks are slowed down to save it, the more the emptier it gets",
        )
        .remedy("connect it to the mains")
    } else if batteries.iter().any(|status| status == "Unknown" || status.is_empty()) {
        Said::unknown("the battery does not say whether it is in use")
    } else {
        Said::fine("the machine runs on the mains")
    })
}

#[cfg(test)]
mod tests {
    use crate::stage::host;

    const DIR: &str = "sys/class/power_supply/BAT0";

    #[test]
    fn batteries() {
        let (kind, status) = (format!("{DIR}/type"), format!("{DIR}/status"));
        let said = |value: &str| host("battery", &[(&kind, "Battery\n"), (&status, value)]).0;
        assert_eq!(said("Charging\n"), "fine");
        assert_eq!(said("Discharging\n"), "warning");
        assert_eq!(said("Unknown\n"), "unknown");
        assert_eq!(host("battery", &[(&kind, "Battery\n")]).0, "unknown");
        let mains = ("sys/class/power_supply/AC/type", "Mains\n");
        assert_eq!(host("battery", &[mains]), ("fine".to_owned(), "no battery".to_owned()));
        let scope = format!("{DIR}/scope");
        let mouse =
            [(kind.as_str(), "Battery\n"), (&status, "Discharging\n"), (&scope, "Device\n")];
        assert_eq!(host("battery", &mouse).0, "fine");
        assert_eq!(host("battery", &[]).0, "unknown");
    }
}
