//! Block requests as the kernel traces them, and where their bytes went.
//!
//! A [`Session`] traces one device in an instance of [`Tracefs`] of its own, on the clock of
//! everything else here (`CLOCK_MONOTONIC`); [`account`](fn@account) sorts what was written by the
//! places that `fsarena-devices` has asked for and the maps of files that it has made. Reading is
//! cheap: pages of the ring buffer are taken as they are, when a buffer is half full and twice a
//! second, and nothing is made into text.
//!
//! # Which event
//! `block_rq_complete`. The device's counter is the total of the account, so the trace has to
//! count what it counts: `blk_update_request` and `blk_complete_request` (block/blk-mq.c) make the
//! event and call `blk_account_io_completion` with the same number of bytes, for each part of a
//! request that is completed in parts, and for one that failed.
//! - `block_rq_issue` is made by `blk_mq_start_request`, again each time that a driver gave the
//!   request back (`BLK_STS_RESOURCE`, `blk_mq_requeue_request`), so it may count bytes twice.
//! - A write with `REQ_PREFLUSH` or `REQ_FUA` on a device with a cache is a sequence of flush,
//!   data and flush (block/blk-flush.c). The flushes are requests of their own, without bytes. The
//!   data are completed once; at the end of the sequence the same request is completed again, with
//!   no bytes left (`blk_flush_restore_request`): that event is left out here.
//! - Bios that were merged are one request, counted once, with the flags of the first: see
//!   [`account`](fn@account) for what that means for metadata.
//!
//! Seen on Linux 6.18 with ext4, xfs and btrfs on loop devices: the sum of these events and the
//! counter were equal to the byte, up to 1.5 GB and 113,000 requests. In a smaller work on each,
//! the bytes with and without the flag of metadata were the same over `block_bio_queue`, which is
//! before merging, and over `block_rq_complete`.
//!
//! A device that takes bios as they come (zram: no `mq` in its sysfs directory) completes no
//! requests. There `block_bio_queue` is traced, once for each bio before it is split
//! (`BIO_TRACE_COMPLETION`), with one difference: zeros that zram makes itself are in no counter.
//!
//! # What is metadata
//! ext4 (which serves ext2 and ext3), xfs and btrfs mark requests of metadata with `REQ_META`:
//! `__ext4_handle_dirty_metadata` sets `BH_Meta`, `xfs_buf_submit` and `write_one_eb` set the flag.
//! On Linux 6.18 a thousand renames wrote not one request without it (ext2, ext4, xfs).
//!
//! The flag alone does not make a byte metadata: with `data=journal` ext4 writes contents to their
//! place as dirty metadata. Five times 8 MiB over one file, with fsync, were 81 MiB of writes, of
//! which only 14 had no flag; 40 are the copy in the journal. So an extent of a file goes before
//! the flag.
//!
//! # What is lost
//! The buffers keep what comes first. Events for which there was no room, and those beyond the
//! number that is kept in memory, are counted in [`Trace::lost_events`].
#![forbid(unsafe_code)]

pub mod account;
mod error;
mod format;
mod page;
mod request;
mod sectors;
mod session;
mod tracefs;

pub use account::{Cut, Trace, account};
pub use error::TraceError;
pub use fsarena_model::account::{Chunk, FileExtent, FsLayout, Map, Range};
pub use request::{BlockDevice, Kind, Request};
pub use session::Session;
pub use tracefs::Tracefs;

/// Requests of one device in a page of the ring buffer, by the forms that the kernel states: for
/// the targets of `fsarena-fuzz`.
///
/// # Errors
/// What is missing in a form, or wrong with the page.
#[doc(hidden)]
pub fn requests_in(forms: [&str; 2], page: &[u8], dev: u64) -> Result<Vec<Request>, String> {
    let event = format::EventFormat::parse(forms[0])?;
    let (form, _) = format::PageFormat::parse(forms[1])?;
    let wanted =
        page::RequestFilter { dev, start_sector: 0, end_sector: u64::MAX, counts_zeros: true };
    let mut found = Vec::new();
    page::read(page, &form, &event, &wanted, &mut |request| found.push(request))?;
    Ok(found)
}
