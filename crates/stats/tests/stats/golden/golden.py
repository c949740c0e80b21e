"""Seeded numbers, and how a file of tables is written."""

import json
import pathlib
import platform

import numpy as np
import scipy
import statsmodels

HERE = pathlib.Path(__file__).parent


def rng(name):
    """A generator of its own for each table, so that none depends on what comes before it."""
    return np.random.default_rng(list(name.encode()))


def plain(values):
    """Rounded as they stand in the file, so that both sides compute with the same numbers."""
    return [round(float(value), 6) for value in np.asarray(values).ravel()]


def as_plain(value):
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(type(value))


def write(name, tables):
    """One case a line, so that a change can be read."""
    made_with = dict(
        python=platform.python_version(),
        numpy=np.__version__,
        scipy=scipy.__version__,
        statsmodels=statsmodels.__version__,
    )
    lines = ['"made_with": ' + json.dumps(made_with)]
    for key, cases in tables.items():
        rows = ",\n  ".join(json.dumps(case, default=as_plain, allow_nan=False) for case in cases)
        lines.append(f'"{key}": [\n  {rows}\n]')
    (HERE / f"{name}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
