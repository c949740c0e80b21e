#!/usr/bin/env python3
"""Golden values for crates/stats, by numpy, scipy and statsmodels.

Writes intervals.json, p_values.json, layouts.json and trends.json beside itself. Seeded: the same
versions give the same files. See README.md.
"""

import intervals_tables
import layouts_tables
import p_values_tables
import trends_tables
from golden import write

if __name__ == "__main__":
    write("intervals", intervals_tables.tables())
    write("p_values", p_values_tables.tables())
    write("layouts", layouts_tables.tables())
    write("trends", trends_tables.tables())
