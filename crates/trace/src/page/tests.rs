//! Pages made by hand, and damaged ones.

use super::*;
use crate::format::tests::{COMPLETE, PAGE};
use crate::request::Kind;
use proptest::prelude::*;

const DEV: u64 = 7 << 20 | 3;
const WHOLE: RequestFilter =
    RequestFilter { dev: DEV, start_sector: 0, end_sector: u64::MAX, counts_zeros: true };

/// A `block_rq_complete` of Linux 6.18 with its empty command.
fn body(dev: u64, sector: u64, sectors: u32, rwbs: &str) -> Vec<u8> {
    let mut body = vec![0; 52];
    body[..2].copy_from_slice(&2107u16.to_ne_bytes());
    body[8..12].copy_from_slice(&u32::try_from(dev).unwrap().to_ne_bytes());
    body[16..24].copy_from_slice(&sector.to_ne_bytes());
    body[24..28].copy_from_slice(&sectors.to_ne_bytes());
    body[34..34 + rwbs.len()].copy_from_slice(rwbs.as_bytes());
    body
}

fn first_word(kind: u32, delta: u32) -> [u8; 4] {
    (kind | delta << 5).to_ne_bytes()
}

fn event(delta: u32, body: &[u8]) -> Vec<u8> {
    let words = u32::try_from(body.len() / 4).unwrap();
    [&first_word(words, delta)[..], body].concat()
}

fn page(timestamp: u64, events: &[Vec<u8>]) -> Vec<u8> {
    let data = events.concat();
    let mut page = timestamp.to_ne_bytes().to_vec();
    // With the bit that says that events are missing.
    page.extend((data.len() as u64 | 1 << 31).to_ne_bytes());
    page.extend(data);
    page.resize(4096, 0xaa);
    page
}

fn all(page: &[u8], wanted: &RequestFilter) -> (Vec<Request>, Result<u64, &'static str>) {
    let (form, event) = (PageFormat::parse(PAGE).unwrap().0, EventFormat::parse(COMPLETE).unwrap());
    let mut requests = Vec::new();
    let events = read(page, &form, &event, wanted, &mut |request| requests.push(request));
    (requests, events)
}

#[test]
fn every_type_of_event_is_read() {
    let long = body(DEV, 16, 8, "W");
    let counted =
        [&first_word(0, 5)[..], &u32::try_from(long.len() + 4).unwrap().to_ne_bytes(), &long]
            .concat();
    let extend = [first_word(TIME_EXTEND, 1), 2u32.to_ne_bytes()].concat();
    let stamp = [first_word(TIME_STAMP, 9), 1u32.to_ne_bytes()].concat();
    let discarded = [first_word(PADDING, 1), 8u32.to_ne_bytes(), [0; 4]].concat();
    let end = first_word(PADDING, 0).to_vec();
    let events = [
        event(10, &body(DEV, 8, 16, "WSM")),
        discarded,
        counted,
        extend,
        event(0, &body(DEV, 0, 0, "FF")),
        event(1, &body(7 << 20, 8, 8, "W")),
        event(1, &[9; 8]),
        stamp,
        event(1, &body(DEV, 1 << 40, 8, "R")),
        end,
        vec![0xff; 16],
    ];
    let (requests, count) = all(&page(1000, &events), &WHOLE);
    assert_eq!(count, Ok(6), "those of others are events too");
    let seen: Vec<_> = requests
        .iter()
        .map(|r| (r.monotonic_ns, r.start_bytes, r.length_bytes, r.kind, r.is_metadata))
        .collect();
    let extended = 1015 + (2 << 27) + 1;
    assert_eq!(
        seen,
        [
            (1010, 4096, 8192, Kind::Write, true),
            (1015, 8192, 4096, Kind::Write, false),
            (extended, 0, 0, Kind::Flush, false),
            ((1 << 27) + 10, 512 << 40, 4096, Kind::Read, false),
        ]
    );
}

#[test]
fn a_partition_has_its_own_requests_at_its_own_places() {
    let events = [99, 100, 199, 200].map(|sector| event(1, &body(DEV, sector, 8, "W")));
    let flush = event(1, &body(DEV, 0, 0, "FF"));
    let wanted = RequestFilter { start_sector: 100, end_sector: 200, ..WHOLE };
    let (requests, count) = all(&page(0, &[&events[..], &[flush]].concat()), &wanted);
    let starts: Vec<u64> = requests.iter().map(|request| request.start_bytes).collect();
    assert_eq!((starts, count), (vec![0, 99 * 512, 0], Ok(5)));
}

#[test]
fn a_damaged_page_is_said_to_be_so() {
    let good = page(0, &[event(1, &body(DEV, 8, 8, "W"))]);
    assert_eq!(all(&good[..12], &WHOLE).1, Err("shorter than its header"));
    assert_eq!(all(&good[..40], &WHOLE).1, Err("shorter than it says"));
    let cut = page(0, &[event(1, &body(DEV, 8, 8, "W"))[..20].to_vec()]);
    assert_eq!(all(&cut, &WHOLE).1, Err("an event beyond the end of the page"));
    let empty = page(0, &[[first_word(0, 1), [0; 4]].concat()]);
    assert_eq!(all(&empty, &WHOLE).1, Err("an event without length or beyond the page"));
    assert_eq!(all(&page(0, &[]), &WHOLE), (vec![], Ok(0)));
}

proptest! {
    #[test]
    fn any_page_is_read(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        length in 0u64..300,
        kinds in prop::collection::vec((0u32..32, 0u32..3), 0..20),
    ) {
        let _ = all(&bytes, &WHOLE);
        let mut page = 5u64.to_ne_bytes().to_vec();
        page.extend(length.to_ne_bytes());
        for (kind, delta) in kinds {
            page.extend(first_word(kind, delta));
            page.extend(&bytes[..bytes.len().min(usize::try_from(length).unwrap() % 24)]);
        }
        let _ = all(&page, &WHOLE);
    }

    #[test]
    fn one_changed_byte_does_no_harm(at in 0usize..400, byte in any::<u8>()) {
        let events = [1, 2, 3].map(|n| event(n, &body(DEV, 8, 8, "WM")));
        let mut page = page(77, &events);
        page[at] = byte;
        let _ = all(&page, &WHOLE);
    }
}
