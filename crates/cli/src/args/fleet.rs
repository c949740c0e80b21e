//! Arguments of `fleet`: the hosts, how they are reached, and what each of them carries out.

use crate::complete;
use clap::{Args, Subcommand};

#[derive(Args, Debug)]
#[command(after_help = FLEET_EXAMPLES)]
pub struct FleetArgs {
    #[command(subcommand)]
    pub what: FleetCommand,
}

#[derive(Subcommand, Debug)]
pub enum FleetCommand {
    /// Run one experiment on each of several hosts, and compare them.
    ///
    /// Each host carries out the whole experiment by itself, with the same seed. Its results are
    /// merged into the database here; then the RUNs are compared, with the machines as units.
    Run(Box<FleetRunArgs>),
}

#[derive(Args, Debug)]
#[command(after_help = FLEET_RUN_EXAMPLES)]
pub struct FleetRunArgs {
    /// Built-in experiment or TOML file [default: quick].
    #[arg(add = complete::experiments())]
    pub experiment: Option<String>,
    /// Hosts, separated by commas, or a file with one on each line.
    ///
    /// As for ssh: a name, ann@name, or a name of ssh_config(5). A value with a slash
    /// is a file, and so is the name of a file that is there; from # on a line is a comment.
    #[arg(long, value_name = "LIST|FILE")]
    pub hosts: String,
    /// Run on one host after the other.
    ///
    /// For hosts that share a server or a network, and would disturb one another.
    #[arg(long)]
    pub one_at_a_time: bool,
    /// Copy this program to the hosts, where they do not have it yet.
    ///
    /// Into fsarena/bin in the user's data directory there (~/.local/share), which is made for its
    /// user alone. The hosts need the architecture of this machine, and its libraries unless this
    /// program is the static one.
    #[arg(long, conflicts_with = "remote_program")]
    pub install: bool,
    /// The program on the hosts.
    #[arg(long, value_name = "PATH", default_value = "fsarena")]
    pub remote_program: String,
    /// Command that is ssh, with options: "ssh -F FILE".
    ///
    /// Quoted as in a shell, which it is not handed to. A password is never asked for: a key or an
    /// agent has to do.
    #[arg(long, value_name = "COMMAND", default_value = "ssh")]
    pub ssh: String,
    /// Seed of all RUNs; drawn once without it.
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// Run commands of the experiment file on the hosts.
    #[arg(long)]
    pub yes: bool,
    /// See whether the hosts are ready; run nothing.
    #[arg(long, conflicts_with = "install")]
    pub dry_run: bool,
    /// Print the comparison as one JSON document.
    #[arg(long)]
    pub json: bool,
    /// Options of `fsarena run` on each host.
    #[arg(last = true, value_name = "RUN OPTIONS", allow_hyphen_values = true)]
    pub run_options: Vec<String>,
}

const FLEET_EXAMPLES: &str = "\
Examples:
  fsarena fleet run quick --hosts a,b,c
  fsarena doc fleet";

const FLEET_RUN_EXAMPLES: &str = "\
Examples:
  fsarena fleet run quick --hosts a,b,c
  fsarena fleet run my-experiment.toml --hosts ./hosts.txt --one-at-a-time
  fsarena fleet run quick --hosts root@db1,root@db2 --install -- --fs ext4,xfs --runs 4
  fsarena fleet run quick --hosts a,b --ssh 'ssh -F lab.conf' --dry-run";
