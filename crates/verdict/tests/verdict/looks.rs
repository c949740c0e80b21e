//! The looks of a plan are those whose levels are known.

use fsarena_model::verdict::{CAPS, Rule};
use fsarena_stats::Looks;

#[test]
fn the_caps_and_looks_of_plans_are_those_of_the_statistics() {
    assert_eq!(CAPS, fsarena_stats::CAPS);
    for cap in CAPS {
        let looks = Looks::with_cap(cap).expect("a known cap");
        let rule = Rule::Looks { cap };
        assert_eq!(rule.looks(), looks.at());
        assert_eq!(rule.least_blocks(), looks.at()[0]);
    }
}
