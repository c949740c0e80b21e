//! Arguments of `rank`: which rank it is, where its runner is, and what both know.

use clap::Args;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = RANK_EXAMPLES)]
pub struct RankArgs {
    /// Number of this rank, from 0.
    ///
    /// Without it: OMPI_COMM_WORLD_RANK, PMI_RANK, PMIX_RANK or SLURM_PROCID.
    #[arg(long, value_name = "R", requires = "of")]
    pub rank: Option<u32>,
    /// How many ranks there are.
    ///
    /// Without it: OMPI_COMM_WORLD_SIZE, PMI_SIZE, SLURM_STEP_NUM_TASKS or SLURM_NTASKS.
    #[arg(long, value_name = "N", requires = "rank")]
    pub of: Option<u32>,
    /// The runner.
    ///
    /// Without it: FSARENA_RENDEZVOUS, else port 7727 of the host on which srun was called
    /// (SLURM_LAUNCH_NODE_IPADDR).
    #[arg(long, value_name = "HOST:PORT")]
    pub rendezvous: Option<String>,
    /// File with the secret, which no one else may read.
    ///
    /// Without it: FSARENA_SECRET_FILE, else the secret itself in FSARENA_SECRET.
    #[arg(long, value_name = "FILE")]
    pub secret_file: Option<PathBuf>,
    /// How long to wait for a runner that is not there yet.
    #[arg(long, value_name = "TIME", default_value = "1m")]
    pub limit: String,
}

const RANK_EXAMPLES: &str = "\
Examples:
  fsarena rank --rendezvous node0:7727 --secret-file secret
  fsarena rank --rank 0 --of 8 --rendezvous node0:7727 --secret-file secret
  fsarena doc fleet";
