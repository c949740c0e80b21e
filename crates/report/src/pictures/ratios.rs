//! An article's values beside this machine's, each as a ratio to the best of its own time: the
//! hardware of then and of now is not compared.

use crate::article::{Beside, ThenAndNow};
use crate::context::SectionContext;
use crate::format::digits;
use fsarena_chart::{Axis, Group, Groups, Head, Key, Part, Spot};

/// One group a test that we repeat: the article's values hatched, ours filled.
pub(crate) fn then_and_now(
    context: &SectionContext<'_>,
    year: u16,
    beside: &Beside,
) -> Option<Groups> {
    let repeated = beside.tests.iter().filter(|test| !test.now.is_empty());
    let groups: Vec<Group> = repeated.map(|test| group(context, year, test)).collect();
    let more = beside.tests.first()?.more_is_better;
    if groups.is_empty() {
        return None;
    }
    let title = match beside.tests.iter().all(|test| test.unit == "s") {
        _ if more => "rate ÷ best rate of its own time (1 is the best)",
        true => "time ÷ shortest time of its own time (1 is the best, less is better)",
        false => "value ÷ least value of its own time (1 is the best, less is better)",
    };
    Some(Groups {
        head: Head {
            id: format!("{}-then", context.prefix),
            title: format!("{year} and this machine, as ratios to the best of each"),
            description: description(year, beside),
        },
        axis: Axis { title: title.to_owned(), log: false, unit: String::new() },
        groups,
    })
}

fn group(context: &SectionContext<'_>, year: u16, test: &ThenAndNow) -> Group {
    let (then_best, now_best) = test.best();
    let part = |key: Key, hatched: bool, value: f64, best: Option<f64>| {
        let spot = |best: f64| {
            let (own, unit, ratio) = (digits(value), &test.unit, value / best);
            Spot { value: ratio, tip: format!("{own} {unit}, {ratio:.2} × the best of its time") }
        };
        let value = best.filter(|_| value > 0.0).map(spot);
        Part { key, hatched, value }
    };
    let ours = context.run.header.plan.contenders.len();
    let then = test.then.iter().enumerate().map(|(at, (label, value))| {
        let key = Key { label: format!("{label}, {year}"), hue: hue_of(label, test, ours + at) };
        part(key, true, *value, then_best)
    });
    let now = test.now.iter().map(|(contender, label, value)| {
        part(super::key(*contender, label.as_str()), false, *value, now_best)
    });
    Group { label: test.title.clone(), parts: then.chain(now).collect() }
}

/// The colour of ours that has the same name (`ext3 (Linux)` and `ext3`), else one of its own.
fn hue_of(label: &str, test: &ThenAndNow, other: usize) -> usize {
    let name = label.split(" (").next().unwrap_or(label);
    test.now.iter().find(|(_, own, _)| own == name).map_or(other, |(contender, ..)| *contender)
}

fn description(year: u16, beside: &Beside) -> String {
    let spread = |values: Vec<f64>| {
        let most = values.iter().copied().fold(f64::NAN, f64::max);
        let least = values.iter().copied().fold(f64::NAN, f64::min);
        if least > 0.0 { format!("{:.1}", most / least) } else { "unknown".to_owned() }
    };
    let of = |test: &ThenAndNow| {
        let then = spread(test.then.iter().map(|(_, value)| *value).collect());
        let now = spread(test.now.iter().map(|(_, _, value)| *value).collect());
        format!("{}: {then} then, {now} now", test.title)
    };
    let repeated = beside.tests.iter().filter(|test| !test.now.is_empty());
    let tests: Vec<String> = repeated.map(of).collect();
    format!(
        "How many times the largest value of {year} and of this machine is the least: {}.",
        tests.join("; ")
    )
}
