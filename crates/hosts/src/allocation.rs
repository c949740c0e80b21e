//! Which rank a process is inside an allocation, and where its runner is: from the environment that
//! `srun` and `mpirun` give each process that they start.

use std::fmt;

/// Port of a runner where none is named.
pub const RENDEZVOUS_PORT: u16 = 7727;
/// HOST:PORT of the runner.
pub const RENDEZVOUS: &str = "FSARENA_RENDEZVOUS";
/// The host on which `srun` was called.
const LAUNCH_NODE: &str = "SLURM_LAUNCH_NODE_IPADDR";

/// Variables for rank and size of each launcher. Inside a Slurm job `mpirun` starts its own daemons
/// by Slurm, whose variables the ranks inherit: what is nearer to the rank comes first.
const LAUNCHERS: [(&str, &[&str]); 4] = [
    ("OMPI_COMM_WORLD_RANK", &["OMPI_COMM_WORLD_SIZE"]),
    ("PMI_RANK", &["PMI_SIZE"]),
    ("PMIX_RANK", &["SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"]),
    ("SLURM_PROCID", &["SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"]),
];

/// Which of how many.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Position {
    /// From 0.
    pub rank: u32,
    /// How many there are.
    pub size: u32,
}

/// What the environment does not tell.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum AllocationError {
    /// No launcher has said it.
    #[error(
        "no rank: neither srun nor mpirun has started this process; start it so, or name --rank R \
         --of N"
    )]
    NoLauncher,
    /// A launcher has said a half of it.
    #[error("{0} is set and {1} is not; name --rank R --of N")]
    NoSize(&'static str, &'static str),
    /// It is no number.
    #[error("{0}: {1:?} is no number; name --rank R --of N")]
    NoNumber(String, String),
    /// It is beyond the size.
    #[error("rank {0} of {1}: ranks count from 0; name a smaller one")]
    Beyond(u32, u32),
    /// No runner is named.
    #[error(
        "{RENDEZVOUS}: no runner is named; set it to HOST:PORT, or name --rendezvous HOST:PORT"
    )]
    NoRunner,
    /// What is named is none.
    #[error("{from}: {text:?} is no {expected}; name one, such as {example}")]
    NoAddress { from: String, text: String, expected: &'static str, example: &'static str },
}

impl Position {
    /// A position that there is.
    ///
    /// # Errors
    /// When the rank is beyond the size.
    pub fn new(rank: u32, size: u32) -> Result<Self, AllocationError> {
        match rank < size {
            true => Ok(Self { rank, size }),
            false => Err(AllocationError::Beyond(rank, size)),
        }
    }

    /// What the launcher has said; `variable` reads the environment.
    ///
    /// # Errors
    /// When none has, or what it said is no position.
    pub fn of_environment(
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, AllocationError> {
        let number = |name: &str| -> Result<Option<u32>, AllocationError> {
            let Some(text) = variable(name) else { return Ok(None) };
            let number = text.trim().parse();
            number.map(Some).map_err(|_| AllocationError::NoNumber(name.to_owned(), text))
        };
        for (rank_name, size_names) in LAUNCHERS {
            let Some(rank) = number(rank_name)? else { continue };
            for size_name in size_names {
                if let Some(size) = number(size_name)? {
                    return Self::new(rank, size);
                }
            }
            // PMIx alone has no variable for the size; another launcher may have.
            if rank_name != "PMIX_RANK" {
                let size_name = size_names.last().expect("each launcher has one");
                return Err(AllocationError::NoSize(rank_name, size_name));
            }
        }
        Err(AllocationError::NoLauncher)
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} of {}", self.rank, self.size)
    }
}

/// Where the runner is, as HOST:PORT: what the option says, else the environment, else the host on
/// which `srun` was called.
///
/// # Errors
/// When none is named, or what is named is no address.
pub fn runner_address(
    option: Option<&str>,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<String, AllocationError> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    let (from, text) = match (option, set(RENDEZVOUS), set(LAUNCH_NODE)) {
        (Some(text), ..) => ("--rendezvous", text.to_owned()),
        (None, Some(text), _) => (RENDEZVOUS, text),
        (None, None, Some(host)) if host.contains(':') => {
            (LAUNCH_NODE, format!("[{host}]:{RENDEZVOUS_PORT}"))
        }
        (None, None, Some(host)) => (LAUNCH_NODE, format!("{host}:{RENDEZVOUS_PORT}")),
        (None, None, None) => return Err(AllocationError::NoRunner),
    };
    match host_and_port(&text) {
        Some((host, port)) if !host.is_empty() && port > 0 => Ok(text),
        _ => Err(AllocationError::NoAddress {
            from: from.to_owned(),
            text,
            expected: "HOST:PORT",
            example: "node0:7727",
        }),
    }
}

/// Where a runner listens, as HOST and port: `[ADDR:]PORT`; without an address on all.
///
/// # Errors
/// When it is no address.
pub fn listening_address(text: &str) -> Result<(Option<String>, u16), AllocationError> {
    if let Ok(port) = text.parse() {
        return Ok((None, port));
    }
    match host_and_port(text) {
        Some((host, port)) if !host.is_empty() => Ok((Some(host), port)),
        _ => Err(AllocationError::NoAddress {
            from: "--rendezvous".to_owned(),
            text: text.to_owned(),
            expected: "[ADDRESS:]PORT",
            example: "7727",
        }),
    }
}

/// The parts of `HOST:PORT` and `[::1]:PORT`, without the brackets.
fn host_and_port(text: &str) -> Option<(String, u16)> {
    let (host, port) = text.rsplit_once(':')?;
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-%:".contains(c);
    let host = bare.unwrap_or(host);
    if !host.chars().all(is_plain) || (bare.is_none() && host.contains(':')) {
        return None;
    }
    Some((host.to_owned(), port.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Variables<'a> = &'a [(&'a str, &'a str)];

    fn environment<'a>(set: Variables<'a>) -> impl Fn(&str) -> Option<String> + 'a {
        |name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    }

    fn position(set: Variables<'_>) -> Result<(u32, u32), String> {
        let found =
            Position::of_environment(environment(set)).map_err(|error| error.to_string())?;
        Ok((found.rank, found.size))
    }

    #[test]
    fn each_launcher_tells_rank_and_size() {
        let slurm = [("SLURM_PROCID", "3"), ("SLURM_NTASKS", "8")];
        assert_eq!(position(&slurm), Ok((3, 8)));
        assert_eq!(position(&[("SLURM_STEP_NUM_TASKS", "4"), slurm[0], slurm[1]]), Ok((3, 4)));
        let open_mpi = [("OMPI_COMM_WORLD_RANK", "1"), ("OMPI_COMM_WORLD_SIZE", "2")];
        assert_eq!(position(&open_mpi), Ok((1, 2)));
        assert_eq!(position(&[("PMI_RANK", "0"), ("PMI_SIZE", "4")]), Ok((0, 4)));
        assert_eq!(position(&[("PMIX_RANK", "5"), ("SLURM_NTASKS", "6")]), Ok((5, 6)));
        // A daemon of mpirun that Slurm has started is rank 0 of its own step.
        let inside = [slurm[0], slurm[1], open_mpi[0], open_mpi[1]];
        assert_eq!(position(&inside), Ok((1, 2)));
    }

    #[test]
    fn what_is_no_position_is_refused() {
        let says = |set: Variables<'_>, words: &str| {
            let error = position(set).unwrap_err();
            assert!(error.contains(words), "{error}");
        };
        says(&[], "neither srun nor mpirun");
        says(&[("PMIX_RANK", "0")], "neither srun nor mpirun");
        says(&[("SLURM_PROCID", "0")], "SLURM_PROCID is set and SLURM_NTASKS is not");
        says(&[("PMI_RANK", "x"), ("PMI_SIZE", "4")], "PMI_RANK: \"x\" is no number");
        says(&[("PMI_RANK", "-1"), ("PMI_SIZE", "4")], "\"-1\" is no number");
        says(&[("PMI_RANK", "4"), ("PMI_SIZE", "4")], "rank 4 of 4");
        says(&[("PMI_RANK", "0"), ("PMI_SIZE", "0")], "rank 0 of 0");
    }

    #[test]
    fn the_runner_is_found() {
        let at = |option, set| {
            runner_address(option, environment(set)).map_err(|error| error.to_string())
        };
        let both = [(RENDEZVOUS, "node0:99"), (LAUNCH_NODE, "10.0.0.1")];
        assert_eq!(at(Some("n:1"), &both).unwrap(), "n:1");
        assert_eq!(at(None, &both).unwrap(), "node0:99");
        assert_eq!(at(None, &both[1..]).unwrap(), "10.0.0.1:7727");
        assert_eq!(at(None, &[(LAUNCH_NODE, "fe80::1%eth0")]).unwrap(), "[fe80::1%eth0]:7727");
        assert!(at(None, &[]).unwrap_err().contains("no runner is named"));
        for text in ["node0", ":7727", "node0:", "node0:0", "a b:1", "::1:7727", "node0:70000"] {
            let error = at(Some(text), &[]).unwrap_err();
            assert!(error.contains("is no HOST:PORT"), "{text}: {error}");
        }
    }

    #[test]
    fn a_runner_listens_where_it_is_told() {
        let at = |text| listening_address(text).ok();
        assert_eq!(at("7727"), Some((None, 7727)));
        assert_eq!(at("10.0.0.1:0"), Some((Some("10.0.0.1".to_owned()), 0)));
        assert_eq!(at("[::1]:7"), Some((Some("::1".to_owned()), 7)));
        for text in ["", "node0", "70000", ":7727", "x:y"] {
            let error = listening_address(text).unwrap_err().to_string();
            assert!(error.contains("is no [ADDRESS:]PORT"), "{text}: {error}");
        }
    }
}
