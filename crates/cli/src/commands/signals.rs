//! Ctrl-C, SIGTERM and SIGHUP: counted, so that a second one can mean "at once".

use anyhow::{Context as _, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// From now on these signals only raise the count that is returned.
pub fn count_interrupts() -> Result<Arc<AtomicUsize>> {
    let count = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&count);
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])
        .context("signals cannot be caught")?;
    // Lives as long as the process.
    std::thread::spawn(move || {
        for _ in signals.forever() {
            let before = seen.fetch_add(1, Ordering::SeqCst);
            if before == 0 {
                say!("\nstopping: taking everything down (again: at once)");
            }
        }
    });
    Ok(count)
}
