//! Hosts as clients of the file system, a row each.

use crate::labels::row_label;
use crate::table::{Cell, Column, Table};
use fsarena_study::{ClientView, PhaseTable};

/// How the table is read.
pub(crate) const LEGEND: &str = "clients: the network (loopback included), processors and NFS of \
                                 each whole host, from before its ranks went to after the last of \
                                 all was heard.";

/// The table; none where no host had an agent.
pub(crate) fn client_grid(table: &PhaseTable) -> Option<Table> {
    let columns = vec![
        Column::text("clients"),
        Column::text("host"),
        Column::text("type").optional(3),
        Column::figure("received"),
        Column::figure("sent"),
        Column::figure("sent again").optional(4),
        Column::figure("CPU busy"),
        Column::figure("NFS calls").optional(2),
        Column::figure("NFS answer").optional(1),
    ];
    let caption = format!("{} / {}: clients", table.workload, table.phase);
    let mut grid = Table::new(columns).caption(caption).sortable();
    for row in &table.rows {
        for client in &row.clients {
            let label = Cell::contender(row.contender, row_label(table, row));
            grid.row([vec![label], cells(client)].concat());
        }
    }
    (!grid.is_empty()).then(|| grid.without_empty_columns())
}

fn cells(client: &ClientView) -> Vec<Cell> {
    let count =
        |figure: Option<u64>| Cell::maybe(figure.map(|figure| (figure.to_string(), figure as f64)));
    vec![
        Cell::text(client.hostname.as_str()),
        Cell::text(client.fstype.as_str()),
        Cell::bytes(client.received_bytes),
        Cell::bytes(client.sent_bytes),
        count(client.retransmitted_segments),
        Cell::maybe(client.cpu_busy.map(|share| (format!("{:.0} %", share * 100.0), share))),
        count(client.nfs_ops),
        Cell::ns(client.nfs_round_trip_ns),
    ]
}
