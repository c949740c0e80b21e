//! Bytes stored in a file through a mapping of it.

use rustix::mm::{MapFlags, MsyncFlags, ProtFlags, mmap, msync, munmap};
use std::fs::File;
use std::io;

/// Offsets of mappings are multiples of it.
const PAGE: u64 = 4096;

/// Stores `data` at `offset` through a shared mapping and waits until they are on the device
/// (msync with `MS_SYNC`).
///
/// # Errors
/// Of mmap or msync; where the file ends before the data do.
pub fn write_mapped(file: &File, offset: u64, data: &[u8]) -> io::Result<()> {
    let end = offset.saturating_add(data.len() as u64);
    if data.is_empty() || file.metadata()?.len() < end {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let from = offset / PAGE * PAGE;
    let within = usize::try_from(offset - from).map_err(io::Error::other)?;
    let len = within + data.len();
    let (prot, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
    // SAFETY: a new mapping at a place of the kernel's choice takes no memory of this program.
    let map = unsafe { mmap(std::ptr::null_mut(), len, prot, flags, file, from)? };
    // SAFETY: the mapping is `len` bytes long, nobody else has it, and the file was long enough.
    // Another process that cut the file meanwhile would end this one by a signal.
    unsafe {
        std::ptr::copy_nonoverlapping(data.as_ptr(), map.cast::<u8>().add(within), data.len());
    }
    // SAFETY: it is the mapping from above.
    let synced = unsafe { msync(map, len, MsyncFlags::SYNC) };
    // SAFETY: it is the mapping from above, and no reference into it is left.
    unsafe { munmap(map, len)? };
    Ok(synced?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt as _;

    #[test]
    fn what_is_stored_is_in_the_file() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(20_000).unwrap();
        write_mapped(&file, 5000, &[7; 9000]).unwrap();
        let mut data = vec![0; 20_000];
        file.read_exact_at(&mut data, 0).unwrap();
        let stored = |at: usize| (5000..14_000).contains(&at);
        assert!(data.iter().enumerate().all(|(at, byte)| *byte == if stored(at) { 7 } else { 0 }));
        assert!(write_mapped(&file, 19_000, &[7; 2000]).is_err(), "beyond the end");
    }
}
