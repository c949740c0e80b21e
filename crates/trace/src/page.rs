//! Pages of the kernel's ring buffer as `trace_pipe_raw` gives them.
//!
//! Source: `kernel/trace/ring_buffer.c`, `include/linux/ring_buffer.h`, and
//! `events/header_event`: an event is a word with a type or length in 5 bits and a time since the
//! event before in 27, then its bytes.

use crate::format::{EventFormat, PageFormat};
use crate::request::{Request, RequestFields, kind_of};

/// `RINGBUF_TYPE_PADDING`.
const PADDING: u32 = 29;
/// `RINGBUF_TYPE_TIME_EXTEND`.
const TIME_EXTEND: u32 = 30;
/// `RINGBUF_TYPE_TIME_STAMP`.
const TIME_STAMP: u32 = 31;
/// Bits of the time in the first word of an event.
const TIME_BITS: u32 = 27;
/// Bits of an absolute time; those above come from the time before (`rb_fix_abs_ts`).
const STAMP_BITS: u32 = 59;
/// Of `commit`, what is the length; the bits above say that events before the page are missing,
/// which the statistics of the buffer tell too.
const COMMIT_MASK: u64 = (1 << 27) - 1;
const SECTOR_BYTES: u64 = 512;

/// What is kept of the events: those of one device, within bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RequestFilter {
    /// The number in events: major in the bits above the lower 20.
    pub(crate) dev: u64,
    /// First sector.
    pub(crate) start_sector: u64,
    /// The first after the last.
    pub(crate) end_sector: u64,
    /// Whether the device counts zeros that it makes itself as written.
    pub(crate) counts_zeros: bool,
}

/// Reads the events of one page and gives each request that is wanted; the number of events.
///
/// # Errors
/// What is wrong with the page; events before that place have been given.
pub(crate) fn read(
    page: &[u8],
    form: &PageFormat,
    event: &EventFormat,
    wanted: &RequestFilter,
    give: &mut dyn FnMut(Request),
) -> Result<u64, &'static str> {
    let header = "shorter than its header";
    let mut now = form.timestamp.number(page).ok_or(header)?;
    let length = form.commit.number(page).ok_or(header)? & COMMIT_MASK;
    let length = usize::try_from(length).map_err(|_| "too long")?;
    let data = page.get(form.data_offset..).ok_or(header)?;
    let mut rest = data.get(..length).ok_or("shorter than it says")?;
    let mut events = 0;
    while rest.len() >= 4 {
        let (word, after) = word(rest)?;
        let (kind, delta) = (word & 31, u64::from(word >> 5));
        let skipped = match kind {
            TIME_EXTEND | TIME_STAMP => {
                let long = (u64::from(self::word(after)?.0) << TIME_BITS) | delta;
                let upper = now >> STAMP_BITS << STAMP_BITS;
                now = if kind == TIME_EXTEND { now.wrapping_add(long) } else { long | upper };
                4
            }
            // The rest of the page is empty.
            PADDING if delta == 0 => break,
            PADDING => self::word(after)?.0 as usize,
            0 => {
                now = now.wrapping_add(delta);
                // The length counts its own word.
                let length = (self::word(after)?.0 as usize).next_multiple_of(4);
                let body =
                    after.get(4..length).ok_or("an event without length or beyond the page")?;
                events += 1;
                request(body, now, event, wanted).map(&mut *give);
                length
            }
            words => {
                now = now.wrapping_add(delta);
                let length = words as usize * 4;
                let body = after.get(..length).ok_or("an event beyond the end of the page")?;
                events += 1;
                request(body, now, event, wanted).map(&mut *give);
                length
            }
        };
        rest = after.get(skipped..).ok_or("an event beyond the end of the page")?;
    }
    Ok(events)
}

fn word(bytes: &[u8]) -> Result<(u32, &[u8]), &'static str> {
    let (word, rest) =
        bytes.split_first_chunk::<4>().ok_or("an event beyond the end of the page")?;
    Ok((u32::from_ne_bytes(*word), rest))
}

/// The request of an event; none where it is of another kind, device or place.
fn request(
    body: &[u8],
    monotonic_ns: u64,
    event: &EventFormat,
    wanted: &RequestFilter,
) -> Option<Request> {
    if event.common_type.number(body)? != event.id || event.dev.number(body)? != wanted.dev {
        return None;
    }
    let (sector, sectors) = (event.sector.number(body)?, event.sectors.number(body)?);
    let length_bytes = sectors.checked_mul(SECTOR_BYTES)?;
    // Without a sector: flushes, and commands passed through; they are the whole device's.
    let start_sector = match sectors {
        0 => 0,
        _ if !(wanted.start_sector..wanted.end_sector).contains(&sector) => return None,
        _ => sector - wanted.start_sector,
    };
    let rwbs = event.rwbs.bytes(body)?;
    let start_bytes = start_sector.checked_mul(SECTOR_BYTES)?;
    let around = RequestFields { sector, sectors, counts_zeros: wanted.counts_zeros };
    let (kind, is_metadata) = kind_of(rwbs, around);
    Some(Request { monotonic_ns, start_bytes, length_bytes, kind, is_metadata })
}

#[cfg(test)]
mod tests;
