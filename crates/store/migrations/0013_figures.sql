-- Version 18: figures of scores by the names of their metrics, so that a further metric needs no
-- column.
CREATE TABLE score_figure (
    phase_id INTEGER NOT NULL REFERENCES score (phase_id) ON DELETE CASCADE,
    metric   TEXT    NOT NULL,
    value    REAL    NOT NULL,
    PRIMARY KEY (phase_id, metric)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER score_figure_never_changes BEFORE UPDATE ON score_figure
BEGIN SELECT RAISE(ABORT, 'a record never changes'); END;
