"""Blocks and factors."""

import itertools

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf
from scipy import stats
from statsmodels.stats.anova import anova_lm

from golden import plain, rng


def least_squares(cells, contenders):
    """Effects with mean 0 by numpy's lstsq; absent where the columns do not tell them apart."""
    blocks = sorted({block for block, _, _ in cells})
    matrix = np.zeros((len(cells), len(blocks) + contenders))
    for row, (block, contender, _) in enumerate(cells):
        matrix[row, blocks.index(block)] = 1
        matrix[row, len(blocks) + contender] = 1
    solution, _, rank, _ = np.linalg.lstsq(matrix, np.array([y for _, _, y in cells]), rcond=None)
    if rank < len(blocks) + contenders - 1:
        return None
    effects = solution[len(blocks) :]
    return list(effects - effects.mean())


def block_fits():
    g = rng("blocks")
    cases = []
    for blocks, contenders, missing in [
        (4, 2, 0),
        (6, 5, 0),
        (6, 4, 0.3),
        (12, 7, 0.4),
        (9, 20, 0.6),
        (5, 6, 0.75),
    ]:
        y = 0.3 * g.standard_normal((blocks, 1)) + 0.1 * g.standard_normal((1, contenders))
        y = y + 0.02 * g.standard_normal((blocks, contenders))
        there = g.random((blocks, contenders)) >= missing
        cells = [
            [b, c, round(y[b, c], 6)]
            for b in range(blocks)
            for c in range(contenders)
            if there[b, c]
        ]
        cases.append((cells, contenders))
    # A cell given twice counts twice; two groups that never met; a contender without a cell.
    cases.append(
        ([[0, 0, 1.0], [0, 0, 2.0], [0, 1, 4.0], [3, 1, 5.0], [3, 2, 1.0], [3, 0, 2.5]], 3)
    )
    cases.append(([[0, 0, 1.0], [0, 1, 2.0], [1, 2, 1.0], [1, 3, 2.0]], 4))
    cases.append(([[0, 0, 1.0], [0, 1, 2.0], [1, 0, 1.0], [1, 1, 2.0]], 3))
    return [dict(cells=cells, contenders=k, effects=least_squares(cells, k)) for cells, k in cases]


def long(rows):
    """Blocks × contenders as a data frame."""
    cells = [(b, c, y) for b, row in enumerate(rows) for c, y in enumerate(row)]
    return pd.DataFrame(cells, columns=["block", "contender", "y"])


def spreads_of_differences():
    """The spread of a difference by the residuals of all contenders."""
    g = rng("moderated")
    cases = []
    for n, k, spread in [(2, 4, None), (4, 6, None), (5, 8, 0.2)]:
        rows = 0.2 * g.standard_normal((n, 1)) + 0.03 * g.standard_normal((n, k))
        if spread:
            rows[:, 1] += spread * g.standard_normal(n)
        rows = [plain(row) for row in rows]
        fit = smf.ols("y ~ C(block) + C(contender)", long(rows)).fit()
        mse = fit.mse_resid
        squares = (np.asarray(fit.resid).reshape(n, k) ** 2).sum(axis=0)
        own = np.maximum((squares / (n - 1) - mse / k) / (1 - 2 / k), 0)
        d = (n - 1) * (1 - 2 / k)
        noisy = own > 1.5 * mse
        variance = np.where(noisy, own, (4 * mse + d * own) / (4 + d))
        freedom = np.where(noisy, d, 4 + d)
        for i, j in [(0, 1), (2, 3), (1, 3)]:
            both = variance[i] + variance[j]
            parts = variance[i] ** 2 / freedom[i] + variance[j] ** 2 / freedom[j]
            cases.append(dict(rows=rows, i=i, j=j, variance=both, freedom=both**2 / parts))
    return cases


def frame(design, blocks):
    names = "abc"
    cells = []
    for b, block in enumerate(blocks):
        for levels, y in zip(design, block):
            cells.append((b, *[-1 if level is None else level for level in levels], y))
    return pd.DataFrame(cells, columns=["block", *names[: len(design[0])], "y"])


def test_of(table, row):
    return dict(df=int(table.df[row]), f=table.F[row], p=table["PR(>F)"][row])


def analysis(factors, design, blocks, formula, terms, typ):
    """Analysis of variance by statsmodels; without shares."""
    data = frame(design, blocks)
    full = smf.ols("y ~ C(block) + " + formula, data).fit()
    table = anova_lm(full, typ=typ)
    omnibus = anova_lm(smf.ols("y ~ C(block)", data).fit(), full)
    found = []
    for name, members in terms.items():
        found.append(dict(factors=members, squares=table.sum_sq[name], **test_of(table, name)))
    whole = dict(df=int(omnibus.df_diff[1]), f=omnibus.F[1], p=omnibus["Pr(>F)"][1])
    return dict(
        factors=factors,
        design=design,
        blocks=blocks,
        omnibus=whole,
        terms=found,
        variance=full.mse_resid,
        freedom=int(full.df_resid),
        shares=None,
    )


def even_shares(case):
    """Each term's squares less its noise, divided evenly among its factors."""
    parts = np.zeros(len(case["factors"]))
    for term in case["terms"]:
        part = max(0.0, term["squares"] - term["df"] * case["variance"])
        parts[term["factors"]] += part / len(term["factors"])
    return list(parts / parts.sum())


def averaged_shares(case, columns):
    """What each factor adds to the explained squares less noise, averaged over all orders."""
    data = frame(case["design"], case["blocks"])

    def rest(formula):
        return smf.ols("y ~ C(block)" + formula, data).fit()

    bare = rest("")

    def worth(factors):
        formula = "".join(f" + {name}" for name, of in columns.items() if set(of) <= factors)
        model = rest(formula)
        rank = bare.df_resid - model.df_resid
        return max(0.0, bare.ssr - model.ssr - rank * case["variance"])

    count = len(case["factors"])
    parts = np.zeros(count)
    for order in itertools.permutations(range(count)):
        for at, factor in enumerate(order):
            before = set(order[:at])
            parts[factor] += worth(before | {factor}) - worth(before)
    parts = np.maximum(parts, 0.0)
    return list(parts / parts.sum())


def factorials():
    g = rng("factorials")

    def crossed(levels):
        return dict(levels=levels, within=None)

    def values(design, n, of):
        return [
            plain([block + of(*levels) + 0.05 * g.standard_normal() for levels in design])
            for block in 0.3 * g.standard_normal(n)
        ]

    cases = []

    design = [[a] for a in range(4)]
    case = analysis(
        [crossed(4)], design, values(design, 5, lambda a: 0.04 * a), "C(a)", {"C(a)": [0]}, 1
    )
    cases.append(case | dict(shares=even_shares(case)))

    design = [[a, b] for a in range(2) for b in range(3)]
    terms = {"C(a)": [0], "C(b)": [1], "C(a):C(b)": [0, 1]}
    blocks = values(design, 4, lambda a, b: 0.3 * a + 0.05 * b + 0.1 * (a == b))
    case = analysis([crossed(2), crossed(3)], design, blocks, "C(a) * C(b)", terms, 1)
    cases.append(case | dict(shares=even_shares(case)))
    blocks = values(design, 3, lambda a, b: 0.0)
    case = analysis([crossed(2), crossed(3)], design, blocks, "C(a) * C(b)", terms, 1)
    assert case["omnibus"]["p"] > 0.05
    cases.append(case)

    # Uneven: one cell is there twice and another three times.
    design = [[a, b] for a in range(2) for b in range(3)] + [[0, 1], [1, 2], [1, 2]]
    blocks = values(design, 4, lambda a, b: 0.2 * a + 0.1 * b + 0.1 * (a * b == 2))
    case = analysis([crossed(2), crossed(3)], design, blocks, "C(a) * C(b)", terms, 2)
    cases.append(case | dict(shares=averaged_shares(case, terms)))

    # Half of 2^3: main effects alone.
    design = [[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]]
    blocks = values(design, 6, lambda a, b, c: 0.2 * a + 0.03 * b)
    terms = {"C(a)": [0], "C(b)": [1], "C(c)": [2]}
    case = analysis([crossed(2)] * 3, design, blocks, "C(a) + C(b) + C(c)", terms, 1)
    cases.append(case | dict(shares=even_shares(case)))

    # c exists within level 0 of b only.
    design = [[a, b, c] for a in range(2) for b, c in [(0, 0), (0, 1), (1, None)]]
    blocks = values(design, 4, lambda a, b, c: 0.2 * a - 0.1 * b + 0.07 * (c == 1))
    inside = "I(1.0 * (c == 1) - 0.5 * (b == 0))"
    terms = {"C(a)": [0], "C(b)": [1], inside: [2], "C(a):C(b)": [0, 1], f"C(a):{inside}": [0, 2]}
    factors = [crossed(2), crossed(2), dict(levels=2, within=[1, 0])]
    case = analysis(factors, design, blocks, f"C(a) * C(b) + C(a) * {inside}", terms, 1)
    cases.append(case | dict(shares=even_shares(case)))
    return cases


def contrasts():
    """Differences of two levels by least squares with main effects, block by block, and their t."""
    g = rng("contrasts")
    cases = []
    even = [[a, b] for a in range(2) for b in range(3)]
    for design in [even, even[:4], even + [[0, 1], [1, 2], [1, 2]]]:
        blocks = [
            plain(0.2 * g.standard_normal() + 0.1 * g.standard_normal(len(design)))
            for _ in range(7)
        ]
        for factor, level, base in [(0, 1, 0), (1, 2, 0), (1, 1, 2)]:
            values = []
            for block in blocks:
                data = frame(design, [block])
                name = "ab"[factor]
                formula = f"y ~ C({'ba'[factor]}) + C({name}, Treatment({base}))"
                values.append(
                    smf.ols(formula, data).fit().params[f"C({name}, Treatment({base}))[T.{level}]"]
                )
            ends = stats.ttest_1samp(values, 0.0).confidence_interval(0.99)
            cases.append(
                dict(
                    design=design,
                    levels=[2, 3],
                    blocks=blocks,
                    factor=factor,
                    level=level,
                    base=base,
                    point=np.mean(values),
                    alpha=0.01,
                    low=ends.low,
                    high=ends.high,
                )
            )
    return cases


def tables():
    return dict(
        fit=block_fits(),
        spreads=spreads_of_differences(),
        factorial=factorials(),
        contrast=contrasts(),
    )
