"""What moves values over time, in a block and inside a phase."""

import itertools
import math

import numpy as np
import pandas as pd
import statsmodels.api as sm
import statsmodels.formula.api as smf
from scipy import special, stats
from statsmodels.stats.anova import anova_lm

from golden import plain, rng


def orders(g, blocks, arms, y):
    """Cells of complete blocks in random order: group, arm, position, the arm before, value."""
    cells = []
    for block in range(blocks):
        before = None
        for position, arm in enumerate(g.permutation(arms)):
            arm = int(arm)
            cells.append(
                [block, arm, position, before, round(float(y(block, arm, position, before)), 6)]
            )
            before = arm
    return cells


def cell_frame(cells):
    data = pd.DataFrame(cells, columns=["block", "arm", "position", "before", "y"])
    data["is_first"] = data.before.isna().astype(float)
    data["before"] = data.before.fillna(-1).astype(int)
    return data


def extra(data, formula, more):
    """F of what `more` adds to `formula`; columns that say the same are counted once, by rank."""
    found = anova_lm(smf.ols(formula, data).fit(), smf.ols(formula + more, data).fit())
    return dict(df=int(round(found.df_diff[1])), f=found.F[1], p=found["Pr(>F)"][1])


def slopes():
    """Two arms: the slope of their difference over the blocks is a linear regression."""
    g = rng("slopes")
    cases = []
    for n, slope in [(6, 0.0), (12, 0.01), (16, -0.004)]:
        cells = orders(
            g,
            n,
            2,
            lambda b, a, p, q: 0.3 * math.sin(b) + slope * b * a + 0.02 * g.standard_normal(),
        )
        by = {(b, a): y for b, a, _, _, y in cells}
        fit = stats.linregress(range(n), [by[b, 1] - by[b, 0] for b in range(n)])
        cases.append(dict(cells=cells, slope=fit.slope, p=fit.pvalue))
    return cases


def watchers():
    g = rng("watchers")
    cases = []
    for n, arms in [(6, 3), (9, 4), (12, 5)]:
        cells = orders(
            g,
            n,
            arms,
            lambda b, a, p, q: (
                0.2 * b
                + 0.1 * a
                + 0.01 * a * b
                + 0.02 * p
                + 0.03 * (q == 1)
                + 0.04 * g.standard_normal()
            ),
        )
        data = cell_frame(cells)
        base = "y ~ C(block) + C(arm)"
        cases.append(
            dict(
                cells=cells,
                drift=extra(data, base, " + C(arm):block"),
                position=extra(data, base, " + position"),
                carry_over=extra(data, base + " + position + is_first", " + C(before)"),
            )
        )
    return cases


def adjusted_pairs():
    """Differences of two arms with covariates, by least squares on the differences."""
    g = rng("adjusted_pairs")
    cases = []
    cells = orders(
        g,
        10,
        4,
        lambda b, a, p, q: 0.2 * b + 0.1 * a + 0.01 * a * b + 0.02 * p + 0.04 * g.standard_normal(),
    )
    at = {(b, a): (p, y) for b, a, p, _, y in cells}
    for a, b in [(0, 1), (3, 1)]:
        y = np.array([at[n, a][1] - at[n, b][1] for n in range(10)])
        place = np.array([at[n, a][0] - at[n, b][0] for n in range(10)], dtype=float)
        time = np.arange(10) - 4.5
        for drift, position in itertools.product([False, True], repeat=2):
            columns = [np.ones(10)] + [time] * drift + [place] * position
            fit = sm.OLS(y, np.column_stack(columns)).fit()
            low, high = fit.conf_int(0.02)[0]
            cases.append(
                dict(
                    cells=cells,
                    a=a,
                    b=b,
                    drift=drift,
                    position=position,
                    alpha=0.02,
                    point=fit.params[0],
                    low=low,
                    high=high,
                )
            )
    return cases


def lag_one(rows):
    """Autocorrelation of what blocks and arms leave; rows: … × blocks × arms."""
    rest = rows - rows.mean(-1, keepdims=True)
    rest = rest - rest.mean(-2, keepdims=True)
    return (rest[..., 1:, :] * rest[..., :-1, :]).sum((-1, -2)) / (rest**2).sum((-1, -2))


def autocorrelations():
    """p by simulation: twice the smaller tail among 200,000 layouts without autocorrelation."""
    g = rng("autocorrelations")
    cases = []
    for n, arms, phi in [(8, 2, 0.0), (12, 2, 0.6), (12, 4, -0.3), (24, 3, 0.3)]:
        noise = g.standard_normal((n, arms))
        for block in range(1, n):
            noise[block] += phi * noise[block - 1]
        rows = [plain(row) for row in noise]
        r = float(lag_one(np.array(rows)))
        null = np.concatenate([lag_one(g.standard_normal((20_000, n, arms))) for _ in range(10)])
        p = 2 * min((null <= r).mean(), (null >= r).mean())
        cases.append(dict(rows=rows, r=r, simulated_p=p))
    return cases


def inside():
    """Where a series is cut, and where its level shifts; p by Kolmogorov's distribution."""
    g = rng("inside")
    cases = []
    for n, phi, step, at in [(60, 0.0, 0.0, 30), (120, 0.5, 1.0, 40), (97, 0.2, -3.0, 20)]:
        values = g.standard_normal(n)
        for index in range(1, n):
            values[index] += phi * values[index - 1]
        values[:at] += step
        values = plain(values + 10)
        means = np.array(values[: n // 5 * 5]).reshape(-1, 5).mean(1)
        errors = [means[cut:].var() / len(means[cut:]) for cut in range(len(means) // 2 + 1)]
        sums = np.cumsum(np.array(values) - np.mean(values))[:-1]
        split = int(np.argmax(np.abs(sums))) + 1
        first, last = np.array(values[:split]), np.array(values[split:])
        rest = np.concatenate([first - first.mean(), last - last.mean()])
        raw = (rest[1:] * rest[:-1]).sum() / (rest**2).sum()
        phi_hat = min(max(raw + (2 + 4 * raw) / n, -0.98), 0.98)
        scale = math.sqrt(((rest[1:] - phi_hat * rest[:-1]) ** 2).sum() / (n - 3)) / (1 - phi_hat)
        statistic = np.abs(sums).max() / (scale * math.sqrt(n))
        cases.append(
            dict(
                values=values,
                cut=int(np.argmin(errors)) * 5,
                at=split,
                statistic=statistic,
                p=special.kolmogorov(statistic),
            )
        )
    return cases


def shapes():
    """Ratio of the median absolute deviations."""
    g = rng("shapes")
    cases = []
    for n, m in [(6, 6), (9, 12)]:
        a, b = plain(0.01 * g.standard_normal(n)), plain(0.05 * g.standard_normal(m))
        one, other = stats.median_abs_deviation(a), stats.median_abs_deviation(b)
        cases.append(dict(a=a, b=b, ratio=max(one, other) / min(one, other)))
    return cases


def tables():
    return dict(
        slope=slopes(),
        watch=watchers(),
        adjusted=adjusted_pairs(),
        autocorrelation=autocorrelations(),
        inside=inside(),
        shape=shapes(),
    )
