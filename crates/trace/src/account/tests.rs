//! Where bytes go, by hand and by properties.

use super::*;
use fsarena_model::account::{Range, Written};
use proptest::prelude::*;

const KIB: u64 = 1024;

fn write(monotonic_ns: u64, start_bytes: u64, length_bytes: u64) -> Request {
    Request { monotonic_ns, start_bytes, length_bytes, kind: Kind::Write, is_metadata: false }
}

fn trace(requests: Vec<Request>) -> Trace {
    Trace { requests, ..Trace::default() }
}

fn range(start_bytes: u64, length_bytes: u64) -> Range {
    Range { start_bytes, length_bytes }
}

fn extent(start_bytes: u64, length_bytes: u64, size_bytes: u64) -> FileExtent {
    FileExtent { start_bytes, length_bytes, logical_bytes: 0, size_bytes }
}

fn map(monotonic_ns: u64, extents: Vec<FileExtent>) -> Map {
    Map { monotonic_ns, extents, ..Map::default() }
}

fn written(first_bytes: u64, again_bytes: u64) -> Written {
    Written { first_bytes, again_bytes }
}

fn flagging() -> FsLayout {
    FsLayout { flags_metadata: true, ..FsLayout::default() }
}

#[test]
fn each_part_by_its_rule() {
    let layout = FsLayout {
        journal: vec![range(100 * KIB, 10 * KIB)],
        metadata: vec![range(0, 4 * KIB)],
        reported_by: "dumpe2fs".to_owned(),
        notes: vec!["said".to_owned()],
        ..flagging()
    };
    let map = Map {
        files: 1,
        contents_bytes: 5,
        allocated_bytes: 4096,
        ..map(50, vec![extent(8 * KIB, 8 * KIB, 5000)])
    };
    let flagged = Request { is_metadata: true, ..write(3, 200 * KIB, 4 * KIB) };
    let requests = vec![
        write(1, 2 * KIB, 4 * KIB),   // half fixed metadata, half gone
        write(2, 8 * KIB, 8 * KIB),   // 5000 bytes of data, the rest rounding
        flagged,                      // metadata
        write(4, 108 * KIB, 4 * KIB), // half journal, half gone
        write(60, 300 * KIB, KIB),    // after the last look
        Request { kind: Kind::Flush, ..write(61, 0, 0) },
        Request { kind: Kind::Discard, ..write(62, 0, 7 * KIB) },
        Request { kind: Kind::Read, ..write(63, 0, KIB) },
        write(64, 0, 0),
    ];
    let account = account(&trace(requests), &layout, &[map], &[], 22 * KIB);
    assert_eq!(account.spans.len(), 1);
    let span = &account.spans[0];
    let expected = [
        (Part::Data, written(5000, 0)),
        (Part::Rounding, written(8 * KIB - 5000, 0)),
        (Part::Gone, written(4 * KIB, 0)),
        (Part::Journal, written(2 * KIB, 0)),
        (Part::Metadata, written(6 * KIB, 0)),
        (Part::Unknown, written(KIB, 0)),
    ];
    assert_eq!(span.parts, expected.into_iter().collect());
    assert_eq!((span.cycle, span.writes, span.flushes, span.discarded_bytes), (0, 5, 1, 7 * KIB));
    assert_eq!(account.journal, ["102400+10240 (dumpe2fs)"]);
    assert_eq!((account.notes.len(), account.files, account.contents_bytes), (1, 1, 5));
    assert_eq!(account.unattributed_bytes(), 2 * KIB);
}

#[test]
fn sectors_written_again_are_told_apart_within_a_span() {
    let map = map(99, vec![extent(0, 4 * KIB, 4000)]);
    let mut requests = vec![write(1, 0, 512)];
    requests.extend((10..20).map(|ns| write(ns, 0, 4 * KIB)));
    requests.push(write(30, 512, 512));
    let cuts = [Cut { cycle: 2, monotonic_ns: 25 }, Cut { cycle: 1, monotonic_ns: 5 }];
    let account = account(&trace(requests), &FsLayout::default(), &[map], &cuts, 0);
    let cycles: Vec<u32> = account.spans.iter().map(|span| span.cycle).collect();
    assert_eq!(cycles, [0, 1, 2], "what is before the first cut has a span of its own");
    assert_eq!(account.spans[0].parts, [(Part::Data, written(512, 0))].into());
    let tenfold = [(Part::Data, written(4000, 36000)), (Part::Rounding, written(96, 864))];
    assert_eq!(account.spans[1].parts, tenfold.into());
    assert_eq!(account.spans[2].parts, [(Part::Data, written(512, 0))].into());
}

#[test]
fn a_span_without_writes_is_there_and_one_before_the_cuts_is_not() {
    let cuts = [1, 2].map(|cycle| Cut { cycle, monotonic_ns: u64::from(cycle) * 10 });
    let account = account(&trace(vec![write(12, 0, 512)]), &FsLayout::default(), &[], &cuts, 512);
    let writes: Vec<(u32, u64)> = account.spans.iter().map(|s| (s.cycle, s.writes)).collect();
    assert_eq!(writes, [(1, 1), (2, 0)]);
    assert_eq!(account.spans[0].parts, [(Part::Unknown, written(512, 0))].into());
    assert!(account.notes[0].contains("not looked at"));
}

#[test]
fn the_map_after_a_request_says_what_it_was() {
    let maps = [
        map(30, vec![extent(64 * KIB, 4 * KIB, 4 * KIB)]),
        map(10, vec![extent(0, 4 * KIB, 4 * KIB)]),
    ];
    let at = |ns, place| {
        let account = account(&trace(vec![write(ns, place, 512)]), &flagging(), &maps, &[], 0);
        account.spans[0].parts.keys().copied().collect::<Vec<_>>()
    };
    assert_eq!(at(10, 0), [Part::Data], "at the moment of the map");
    assert_eq!(at(11, 0), [Part::Gone], "the file has moved");
    assert_eq!(at(11, 64 * KIB), [Part::Data]);
    assert_eq!(at(31, 64 * KIB), [Part::Data], "the last one before");
    assert_eq!(at(31, 0), [Part::Unknown], "nobody has looked since");
}

#[test]
fn contents_that_may_lie_anywhere_are_never_said_to_be_gone() {
    let hidden = |unplaced_files, inline_files| {
        let map = Map { unplaced_files, inline_files, ..map(9, Vec::new()) };
        let account = account(&trace(vec![write(1, 0, 512)]), &flagging(), &[map], &[], 0);
        (account.spans[0].parts.keys().copied().collect::<Vec<_>>(), account.notes.len())
    };
    assert_eq!(hidden(0, 0), (vec![Part::Gone], 0));
    assert_eq!(hidden(3, 3), (vec![Part::Gone], 0));
    assert_eq!(hidden(4, 3), (vec![Part::Unknown], 1));
}

#[test]
fn addresses_of_chunks_become_those_of_every_copy() {
    let chunk = |logical_bytes, copies_bytes: &[u64]| Chunk {
        logical_bytes,
        length_bytes: 8 * KIB,
        copies_bytes: copies_bytes.to_vec(),
    };
    let layout = FsLayout {
        chunks: vec![chunk(1 << 30, &[0, 64 * KIB]), chunk((1 << 30) + 8 * KIB, &[32 * KIB])],
        ..flagging()
    };
    // The last 4 KiB of the first chunk and the first 4 KiB of the second; the file ends 100 bytes
    // before its last block does.
    let file = extent((1 << 30) + 4 * KIB, 8 * KIB, 8 * KIB - 100);
    let requests = [4 * KIB, 68 * KIB, 32 * KIB, 0].map(|start| write(1, start, 4 * KIB));
    let account = account(&trace(requests.into()), &layout, &[map(9, vec![file])], &[], 0);
    let expected = [
        (Part::Data, written(12 * KIB - 100, 0)),
        (Part::Rounding, written(100, 0)),
        (Part::Gone, written(4 * KIB, 0)),
    ];
    assert_eq!(account.spans[0].parts, expected.into());
}

#[test]
fn extents_shared_by_files_are_data_where_one_of_them_has_data() {
    let extents = vec![extent(0, 4 * KIB, 100), extent(0, 4 * KIB, 3000)];
    let account =
        account(&trace(vec![write(1, 0, 4 * KIB)]), &flagging(), &[map(2, extents)], &[], 0);
    let expected = [(Part::Data, written(3000, 0)), (Part::Rounding, written(1096, 0))];
    assert_eq!(account.spans[0].parts, expected.into());
}

#[test]
fn a_million_requests_take_about_a_second() {
    let count: u64 = if cfg!(debug_assertions) { 50_000 } else { 1_000_000 };
    let mut state = 1u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state >> 33
    };
    let requests = (0..count).map(|ns| write(ns, random() % (1 << 26) * 4096, 4096)).collect();
    let extents = (0..100_000).map(|n| extent(n << 21, 1 << 20, 1 << 19)).collect();
    let started = std::time::Instant::now();
    let account = account(&trace(requests), &flagging(), &[map(u64::MAX, extents)], &[], 0);
    println!("{count} requests: {:?}", started.elapsed());
    let bytes: u64 = account.parts().values().map(|written| written.bytes()).sum();
    assert_eq!(bytes, count * 4096);
}

fn any_request() -> impl Strategy<Value = Request> {
    let kind = prop::sample::select(vec![Kind::Write, Kind::Write, Kind::Discard, Kind::Flush]);
    (0u64..50, any_place(), any_place(), kind, any::<bool>()).prop_map(
        |(monotonic_ns, start_bytes, length_bytes, kind, is_metadata)| Request {
            monotonic_ns,
            start_bytes,
            length_bytes,
            kind,
            is_metadata,
        },
    )
}

/// Small numbers, often on sectors, and those at the end of all numbers.
fn any_place() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0u64..8192, 4 => (0u64..16).prop_map(|n| n * 512), 1 => any::<u64>()]
}

fn any_range() -> impl Strategy<Value = Range> {
    (any_place(), any_place()).prop_map(|(start, length)| range(start, length))
}

fn any_extent() -> impl Strategy<Value = FileExtent> {
    (any_place(), any_place(), any_place(), any_place()).prop_map(|(a, b, c, d)| FileExtent {
        start_bytes: a,
        length_bytes: b,
        logical_bytes: c,
        size_bytes: d,
    })
}

fn any_map() -> impl Strategy<Value = Map> {
    (0u64..50, prop::collection::vec(any_extent(), 0..6)).prop_map(|(ns, e)| map(ns, e))
}

fn any_places() -> impl Strategy<Value = FsLayout> {
    let ranges = || prop::collection::vec(any_range(), 0..3);
    let chunk = (any_place(), any_place(), prop::collection::vec(any_place(), 0..3));
    let chunk = chunk.prop_map(|(logical_bytes, length_bytes, copies_bytes)| Chunk {
        logical_bytes,
        length_bytes,
        copies_bytes,
    });
    (ranges(), ranges(), any::<bool>(), prop::collection::vec(chunk, 0..3)).prop_map(
        |(journal, metadata, flags_metadata, chunks)| FsLayout {
            journal,
            metadata,
            flags_metadata,
            chunks,
            ..FsLayout::default()
        },
    )
}

proptest! {
    #[test]
    fn parts_sum_up_to_what_was_written(
        requests in prop::collection::vec(any_request(), 0..20),
        layout in any_places(),
        maps in prop::collection::vec(any_map(), 0..4),
        cuts in prop::collection::vec((0u32..4, 0u64..50), 0..4),
    ) {
        let cuts: Vec<Cut> =
            cuts.into_iter().map(|(cycle, monotonic_ns)| Cut { cycle, monotonic_ns }).collect();
        let small = requests.iter().all(|r| r.length_bytes < 1 << 50);
        let bytes = |request: &Request| match request.kind {
            Kind::Write => {
                let end = request.start_bytes.saturating_add(request.length_bytes);
                end - request.start_bytes
            }
            _ => 0,
        };
        let expected = requests.iter().map(bytes).fold(0, u64::saturating_add);
        let trace = trace(requests);
        let one = account(&trace, &layout, &maps, &cuts, 0);
        let sum = one.parts().values().map(|w| w.bytes()).fold(0, u64::saturating_add);
        if small {
            prop_assert_eq!(sum, expected);
        }
        // The order of maps, cuts and requests of different moments does not matter.
        let turned: Vec<Map> = maps.iter().rev().cloned().collect();
        let moments: std::collections::BTreeSet<u64> =
            maps.iter().map(|m| m.monotonic_ns).collect();
        if moments.len() == maps.len() {
            prop_assert_eq!(&one, &account(&trace, &layout, &turned, &cuts, 0));
        }
    }

    #[test]
    fn each_byte_is_first_once_in_a_span(
        requests in prop::collection::vec((0u64..64, 1u64..16), 1..30),
    ) {
        let writes: Vec<Request> =
            requests.iter().map(|(at, count)| write(0, at * 512, count * 512)).collect();
        let sectors: std::collections::BTreeSet<u64> =
            requests.iter().flat_map(|(at, count)| *at..at + count).collect();
        let account = account(&trace(writes), &FsLayout::default(), &[], &[], 0);
        let first: u64 = account.parts().values().map(|w| w.first_bytes).sum();
        prop_assert_eq!(first, sectors.len() as u64 * 512);
    }
}
