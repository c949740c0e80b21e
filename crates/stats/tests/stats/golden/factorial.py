#!/usr/bin/env python3
"""Makes factorial.json: analyses of variance by statsmodels.

Usage: python3 factorial.py > factorial.json   (numpy 2.4.6, scipy 1.17.1, statsmodels 0.15.0)

Values are made from a fixed seed. Layouts: 2x3 in blocks, 3x3x2 in blocks, a half fraction of
2^4, ext4 with two modes beside xfs on two devices (nested), and a 2x3 without one cell.
"""
import itertools
import json

import numpy as np
import pandas as pd
import statsmodels.api as sm
import statsmodels.formula.api as smf
from scipy import stats

rng = np.random.default_rng(2005)
out = []


def frame(rows, blocks, y):
    cells = [
        {"b": b, "y": y[b][r], **{f"f{i}": level for i, level in enumerate(row)}}
        for b in range(blocks)
        for r, row in enumerate(rows)
    ]
    return pd.DataFrame(cells)


def values(rows, blocks, effect):
    wander = rng.normal(0, 0.3, blocks)
    return [
        [round(float(wander[b] + effect(row) + rng.normal(0, 0.05)), 6) for row in rows]
        for b in range(blocks)
    ]


def figures(row):
    return [int(row["df"]), float(row["sum_sq"]), float(row["F"]), float(row["PR(>F)"])]


def case(name, rows, blocks, effect, formula):
    y = values(rows, blocks, effect)
    data = frame(rows, blocks, y)
    fitted = smf.ols("y ~ C(b) + " + formula, data).fit()
    table = sm.stats.anova_lm(fitted, typ=1)
    # Without the residual; all cells against each other.
    labelled = data.assign(cell=[str(r) for _ in range(blocks) for r in rows])
    cells = smf.ols("y ~ C(b) + C(cell)", labelled).fit()
    omnibus = sm.stats.anova_lm(cells, typ=1).loc["C(cell)"]
    terms = {}
    for key, row in table.iterrows():
        if key not in ("Residual", "C(b)"):
            term = "".join(ch for ch in key if ch in "0123456789:")
            terms[term] = figures(row)
    residual = table.loc["Residual"]
    out.append({
        "name": name,
        "rows": rows,
        "blocks": y,
        "terms": terms,
        "error": [int(residual["df"]), float(residual["sum_sq"] / residual["df"])],
        "omnibus": [int(omnibus["df"]), float(omnibus["F"]), float(omnibus["PR(>F)"])],
    })


full = [list(row) for row in itertools.product(range(2), range(3))]
case("2x3", full, 4, lambda r: 0.2 * r[0] + 0.03 * r[1] + 0.1 * (r == [1, 2]), "C(f0)*C(f1)")
case("3x3x2", [list(row) for row in itertools.product(range(3), range(3), range(2))], 3,
     lambda r: 0.6 * r[0] + 0.1 * r[1], "C(f0)*C(f1)*C(f2)")
half = [[a, b, c, (a + b + c) % 2] for a, b, c in itertools.product(range(2), repeat=3)]
case("half of 2^4", half, 4, lambda r: 0.3 * r[0] + 0.1 * r[3] + 0.08 * (r[0] == r[1]),
     "C(f0)+C(f1)+C(f2)+C(f3)+C(f0):C(f1)+C(f0):C(f2)+C(f1):C(f2)")

# A 2x3 without a cell, type II by comparing models: each main effect beside the other, the
# interaction beyond both; error of the model of all cells.
rows = full[:-1]
y = values(rows, 5, lambda r: 0.2 * r[0] + 0.07 * r[1])
data = frame(rows, 5, y).assign(cell=[str(r) for _ in range(5) for r in rows])
fits = {f: smf.ols("y ~ C(b)" + f, data).fit()
        for f in ("", "+C(f0)", "+C(f1)", "+C(f0)+C(f1)", "+C(cell)")}
error = fits["+C(cell)"]


def compared(small, large):
    """Sum of squares between two models, tested by the error of the model of all cells."""
    df = int(fits[small].df_resid - fits[large].df_resid)
    squares = float(fits[small].ssr - fits[large].ssr)
    f = squares / df / error.mse_resid
    return [df, squares, f, float(stats.f.sf(f, df, error.df_resid))]


whole = compared("", "+C(cell)")
out.append({
    "name": "2x3 without a cell",
    "rows": rows,
    "blocks": y,
    "terms": {
        "0": compared("+C(f1)", "+C(f0)+C(f1)"),
        "1": compared("+C(f0)", "+C(f0)+C(f1)"),
        "0:1": compared("+C(f0)+C(f1)", "+C(cell)"),
    },
    "error": [int(error.df_resid), float(error.mse_resid)],
    "omnibus": [whole[0], whole[2], whole[3]],
})

# Nested: rows are device, fs, mode (-1: there is none). The mode within ext4 (fs 0) and its
# interaction with the device by columns of their own.
rows = [[d, fs, m] for d in range(2) for fs, m in ((0, 0), (0, 1), (1, -1))]
y = values(rows, 4, lambda r: 0.4 * r[0] + 0.1 * r[1] + 0.12 * (r[2] == 1))
data = frame(rows, 4, y)
data["m"] = data.f2.map({0: -1.0, 1: 1.0, -1: 0.0})
data["dm"] = data.m * (2 * data.f0 - 1)
fitted = smf.ols("y ~ C(b) + C(f0)*C(f1) + m + dm", data).fit()
table = sm.stats.anova_lm(fitted, typ=1)
names = {"C(f0)": "0", "C(f1)": "1", "C(f0):C(f1)": "0:1", "m": "2", "dm": "0:2"}
labelled = data.assign(cell=[str(r) for _ in range(4) for r in rows])
cells = smf.ols("y ~ C(b) + C(cell)", labelled).fit()
omnibus = sm.stats.anova_lm(cells, typ=1).loc["C(cell)"]
residual = table.loc["Residual"]
out.append({
    "name": "nested",
    "rows": rows,
    "blocks": y,
    "terms": {names[k]: figures(r) for k, r in table.iterrows() if k in names},
    "error": [int(residual["df"]), float(residual["sum_sq"] / residual["df"])],
    "omnibus": [int(omnibus["df"]), float(omnibus["F"]), float(omnibus["PR(>F)"])],
})
print(json.dumps(out))
