//! A modelled disk in real time: a FUSE file, to be put under a loop device.
//!
//! The process has `/dev/fuse` as its standard output, on which a file system is mounted already,
//! and its standard input says what to serve and, when it ends, that it is to end: whoever has
//! started it is gone then. The end of the process ends the connection, with an error for
//! everything that is outstanding. Its own questions it answers at a socket.

mod answers;
pub(crate) mod states;

pub use answers::run;

use fsarena_model::units::Bytes;

/// What keeps a disk from being served.
#[derive(Debug, thiserror::Error)]
pub enum NativeError {
    #[error("what to serve was not understood: {0}")]
    Told(String),
    #[error(transparent)]
    Disk(#[from] fsarena_disk_server::DiskOrderError),
    #[error(
        "memory ends at {} in the control group of fsarena, the disk has {}, and without \
         CAP_SYS_RESOURCE the kernel may wait for this disk in order to free memory: raise \
         memory.limit_in_bytes, run fsarena outside of the group, or use --on virtual:SIZE:model=MODEL",
        Bytes(*.limit_bytes), Bytes(*.size_bytes)
    )]
    SmallGroup { limit_bytes: u64, size_bytes: u64 },
    #[error("{what}: {source}")]
    Io { what: &'static str, source: std::io::Error },
}

impl NativeError {
    fn io(what: &'static str) -> impl Fn(std::io::Error) -> Self {
        move |source| Self::Io { what, source }
    }
}
