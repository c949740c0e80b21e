//! The factor of age: contenders, steps, room, cost, and what is refused.

use crate::levels::options;
use crate::rules::{TestRules, file, labels, plan};
use fsarena_model::age::Age;
use fsarena_model::factor;
use fsarena_model::spec::Step;
use fsarena_plan::{CostBasis, estimate, expand, from_options, steps};

#[test]
fn an_age_is_an_axis_of_what_has_a_device() {
    let plan = plan(&file(
        "fs = ['ext4', 'tmpfs']\ndevice = 'loop:2G'\nage = ['fresh', '80%', '80%:seed=2']",
    ));
    insta::assert_snapshot!(labels(&plan.unwrap()), @"
    ext4 fresh
    ext4 aged 80%
    ext4 aged 80% seed=2
    tmpfs
    ");
}

#[test]
fn one_age_of_all_is_in_every_label() {
    let aged = plan(&file("fs = ['ext4', 'xfs']\ndevice = 'loop:2G'\nage = '50%:churn=0'"));
    assert_eq!(labels(&aged.unwrap()), "ext4 filled 50%\nxfs filled 50%");
    let fresh = plan(&file("fs = ['ext4', 'xfs']\ndevice = 'loop:2G'\nage = 'fresh'")).unwrap();
    let unsaid = plan(&file("fs = ['ext4', 'xfs']\ndevice = 'loop:2G'")).unwrap();
    assert_eq!(labels(&fresh), "ext4\nxfs");
    let ids = |plan: &fsarena_model::run::RunPlan| {
        plan.contenders.iter().map(|one| one.id()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&fresh), ids(&unsaid), "fresh is no level of an identity");
}

#[test]
fn ageing_comes_between_mkfs_and_the_first_mount() {
    let plan = plan(&file("fs = 'ext4'\ndevice = 'loop:2G'\nage = ['fresh', '80%:extents=2']"));
    let plan = plan.unwrap();
    let of = |at: usize| steps(&plan.workloads[0], &plan.contenders[at].levels, false);
    assert!(of(0).iter().all(|step| !matches!(step, Step::Age { .. })));
    let age = Age { extents_per_file: Some(2.0), churn: 8.0, ..Age::filled(80) };
    assert_eq!(factor::age(&plan.contenders[1].levels), Some(age.clone()));
    assert_eq!(of(1)[..3], [Step::Reset, Step::Age { age }, Step::Mount]);
    assert_eq!(of(1).len(), of(0).len() + 1);
}

#[test]
fn a_device_too_small_for_its_age_is_said_with_numbers() {
    let of = |factors: &str| plan(&file(factors)).map_err(|error| error.to_string());
    let error = of("fs = 'ext4'\ndevice = 'loop:256M'\nage = ['fresh', '90%']").unwrap_err();
    assert_eq!(
        error,
        "t.toml:6:17: loop:256M is too small for the age 90% of ext4, which takes 258 MiB, and \
         \"small-files\", which needs 49.7 MiB; use a smaller share, or a larger device"
    );
    // On the larger of two devices it fits.
    let both = of("fs = 'ext4'\ndevice = ['loop:256M', 'loop:1G']\nage = '80%'").unwrap();
    let reasons: Vec<&str> = both.not_run.iter().map(|row| row.reason.as_str()).collect();
    assert_eq!(reasons.len(), 1, "{reasons:?}");
    assert!(reasons[0].starts_with("loop:256M is too small for the age 80%"), "{reasons:?}");
}

#[test]
fn no_age_is_for_a_guest() {
    let text = "fs = 'ext4'\ndevice = 'virtual:1G:model=hdd-2003'\nage = ['fresh', '80%']";
    insta::assert_snapshot!(labels(&plan(&file(text)).unwrap()), @"
    ext4 fresh
    ext4 aged 80%
        not run: file systems are aged on devices of this machine, not in a guest kernel
    ");
}

#[test]
fn what_is_no_age_has_its_place() {
    let error = plan(&file("fs = 'ext4'\ndevice = 'loop:2G'\nage = ['80%', '800%']")).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("t.toml:6:15: \"800%\" is no share of a device"), "{text}");
    let twice = plan(&file("fs = 'ext4'\ndevice = 'loop:2G'\nage = ['80%', '80%:churn=2']"));
    assert!(twice.is_err(), "it is the same level twice");
}

#[test]
fn an_age_is_counted_in_what_a_run_costs() {
    let costs = |age: &str| {
        let mut overrides = options("ext4", &["loop:2G"]);
        overrides.levels.insert(factor::AGE, age.to_owned());
        let experiment = from_options(&overrides).unwrap();
        assert!(experiment.text.contains(&format!("age = \"{age}\"")) || age == "fresh");
        let plan = expand(&experiment, &overrides, &TestRules).unwrap();
        estimate(&plan, &CostBasis::default())
    };
    let (fresh, aged) = (costs("fresh"), costs("80%"));
    let age = Age::filled(80);
    let more = age.fill_bytes(2 << 30) + age.churn_bytes(2 << 30);
    assert_eq!(aged.rows[0].trial_written_bytes, fresh.rows[0].trial_written_bytes + more);
    assert!(aged.rows[0].trial_ns > fresh.rows[0].trial_ns);
}
