//! Options of `run` that choose the levels of factors: one for each factor that is registered.

use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches};
use fsarena_model::factor;
use std::collections::BTreeMap;

/// Heading of these options in the help.
const FACTORS: &str = "Factors (a comma-separated list compares its levels)";

/// What was given for each factor, by its key: a comma list of levels, as text.
#[derive(Clone, Debug, Default)]
pub struct FactorArgs {
    /// Those that were given.
    pub levels: BTreeMap<&'static str, String>,
}

impl Args for FactorArgs {
    fn augment_args(command: Command) -> Command {
        factor::all().into_iter().fold(command, |command, factor| {
            let info = factor.info();
            let others = factor.names().filter(|name| name.replace('_', "-") != info.flag);
            let argument = Arg::new(factor.key())
                .long(info.flag)
                .aliases(others)
                .value_name("LIST")
                .help(info.help)
                .help_heading(FACTORS)
                .hide_short_help(true)
                .conflicts_with("resume");
            command.arg(argument)
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for FactorArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut found = Self::default();
        found.update_from_arg_matches(matches)?;
        Ok(found)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        for factor in factor::all() {
            if let Some(text) = matches.get_one::<String>(factor.key()) {
                self.levels.insert(factor.key(), text.clone());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::args::{Cli, tests::run_args};
    use clap::CommandFactory as _;
    use fsarena_model::contender::Contender;
    use fsarena_model::factor::{self, ActsOn, Factor, FactorInfo, LevelError};
    use fsarena_plan::{Overrides, expand, from_options, parse};
    use fsarena_runner::DriverRules;

    /// A shape of a factor that the program does not have yet.
    struct Shape {
        key: &'static str,
        default: &'static str,
        acts_on: ActsOn,
        read: fn(&str) -> Option<String>,
    }

    impl Factor for Shape {
        fn info(&self) -> FactorInfo {
            FactorInfo {
                help: "A shape of a factor that is to come.",
                example: self.default,
                default_level: self.default,
                takes_number: true,
                ..FactorInfo::new(self.key, self.acts_on)
            }
        }
        fn parse(&self, text: &str) -> Result<String, LevelError> {
            (self.read)(text).ok_or_else(|| LevelError::Refused {
                what: format!("{text:?} is no {}", self.key),
                remedy: format!("use {}", self.default),
            })
        }
    }

    /// A model of a device, with a grammar of its own: `KIND-YEAR`.
    static MODEL: Shape = Shape {
        key: "model",
        default: "none",
        acts_on: ActsOn::Device,
        read: |text| {
            let (kind, year) = text.split_once('-').unwrap_or((text, "0"));
            let year: u32 = year.parse().ok()?;
            let known = ["hdd", "ssd"].contains(&kind) && (1990..2100).contains(&year);
            (known || text == "none").then(|| text.to_owned())
        },
    };
    /// Picks where a trial is carried out.
    static GUEST: Shape = Shape {
        key: "guest",
        default: "running",
        acts_on: ActsOn::Place,
        read: |text| (!text.is_empty()).then(|| text.to_owned()),
    };
    /// Is read by the workload.
    static CLIENTS: Shape = Shape {
        key: "clients",
        default: "1",
        acts_on: ActsOn::Work,
        read: |text| text.parse::<u32>().ok().filter(|n| *n > 0).map(|n| n.to_string()),
    };

    fn labels(contenders: &[Contender]) -> Vec<&str> {
        contenders.iter().map(|contender| contender.label.as_str()).collect()
    }

    #[test]
    fn shapes_to_come_need_no_other_change() {
        for shape in [&MODEL, &GUEST, &CLIENTS] {
            factor::register(shape);
        }
        Cli::command().debug_assert();
        let args = run_args(&["--model", "hdd-2007,ssd-2010", "--guest", "6.1", "--clients=2,4"]);
        let overrides = Overrides {
            fs: Some("ext4,tmpfs".to_owned()),
            on: vec!["loop:1G".to_owned()],
            workloads: Some("small-files".to_owned()),
            levels: args.factors.levels,
            ..Overrides::default()
        };
        let experiment = from_options(&overrides).unwrap();
        let plan = expand(&experiment, &overrides, &DriverRules::default()).unwrap();
        assert_eq!(
            labels(&plan.contenders),
            [
                "ext4 model=hdd-2007 clients=2",
                "ext4 model=hdd-2007 clients=4",
                "ext4 model=ssd-2010 clients=2",
                "ext4 model=ssd-2010 clients=4",
                "tmpfs clients=2",
                "tmpfs clients=4",
            ]
        );
        let text = &experiment.text;
        assert!(text.contains("model = [\"hdd-2007\", \"ssd-2010\"]\nguest = \"6.1\"\n"), "{text}");
        let again = parse(&text.replace("[\"2\", \"4\"]", "[2, 4]"), "again.toml").unwrap();
        let again = expand(&again, &Overrides::default(), &DriverRules::default()).unwrap();
        assert_eq!(again.contenders, plan.contenders);
        let all: Vec<&Contender> = plan.contenders.iter().collect();
        let values = factor::values(&all);
        let model = values.iter().find(|values| values.name == "model").unwrap();
        assert_eq!(model.values[..5], ["hdd-2007", "hdd-2007", "ssd-2010", "ssd-2010", "none"]);
        assert_eq!(model.is_unset, [false, false, false, false, true, true]);
        let ids: std::collections::BTreeSet<_> = all.iter().map(|one| one.id().0).collect();
        assert_eq!(ids.len(), 6);
        let bad = text.replace("hdd-2007", "tape-1970");
        let error = parse(&bad, "bad.toml").unwrap_err().to_string();
        assert!(error.contains("\"tape-1970\" is no model; use none"), "{error}");
    }
}
