//! Where the checkout is that this program was built from; every task begins there.

use std::path::{Path, PathBuf};

/// The root of the checkout: the parent of this crate's directory.
pub fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().expect("xtask is in the root of the workspace").to_path_buf()
}
