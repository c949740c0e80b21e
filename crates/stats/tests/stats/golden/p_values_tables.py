"""Rank sums and adjusted p-values."""

import math

import numpy as np
from scipy import stats
from statsmodels.stats.multitest import multipletests

from golden import plain, rng


def by_counting(a, b):
    """Twice the smaller tail of the rank sum, over all ways to divide the values, by integers."""
    ranks = [int(rank) for rank in 2 * stats.rankdata(a + b)]
    ways = {(0, 0): 1}
    for rank in ranks:
        further = dict(ways)
        for (size, total), count in ways.items():
            if size < len(a):
                key = (size + 1, total + rank)
                further[key] = further.get(key, 0) + count
        ways = further
    seen = sum(ranks[: len(a)])
    sums = {total: count for (size, total), count in ways.items() if size == len(a)}
    below = sum(count for total, count in sums.items() if total <= seen)
    above = sum(count for total, count in sums.items() if total >= seen)
    return min(1.0, 2 * min(below, above) / math.comb(len(ranks), len(a)))


def rank_sums():
    g = rng("rank_sums")
    cases = []
    for n, m in [(1, 1), (3, 4), (5, 5), (8, 3), (12, 12), (20, 20)]:
        a, b = plain(g.standard_normal(n)), plain(0.8 + g.standard_normal(m))
        p = stats.mannwhitneyu(a, b, method="exact").pvalue
        assert math.isclose(p, by_counting(a, b), rel_tol=1e-12)
        cases.append(dict(how="exact", a=a, b=b, p=p))
    apart = [1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0]
    for a, b in [apart, apart[::-1]]:
        cases.append(dict(how="apart", a=a, b=b, p=stats.mannwhitneyu(a, b, method="exact").pvalue))
    every = stats.PermutationMethod(n_resamples=200_000)
    for n, m, levels in [(4, 4, 3), (6, 5, 4), (9, 10, 6), (8, 8, 2)]:
        a = plain(g.integers(0, levels, n))
        b = plain(g.integers(0, levels + 1, m))
        p = stats.mannwhitneyu(a, b, method=every).pvalue
        assert math.isclose(p, by_counting(a, b), rel_tol=1e-12)
        cases.append(dict(how="all permutations", a=a, b=b, p=p))
    for n, m, levels in [(20, 15, 9), (20, 20, 5)]:
        a = plain(g.integers(0, levels, n))
        b = plain(g.integers(0, levels + 3, m))
        cases.append(dict(how="counted", a=a, b=b, p=by_counting(a, b)))
    for n, m, levels in [(21, 20, 1000000), (25, 30, 8), (4, 60, 5), (22, 22, 1)]:
        a = plain(g.integers(0, levels, n))
        b = plain(g.integers(0, levels, m))
        if levels > 1:
            p = stats.mannwhitneyu(a, b, method="asymptotic", use_continuity=True).pvalue
        else:
            p = 1.0  # All equal: no variance, which scipy divides by.
        cases.append(dict(how="normal", a=a, b=b, p=p))
    return cases


def adjusted():
    g = rng("adjusted")
    cases = []
    for n in [1, 2, 5, 28]:
        cases.append(plain(g.random(n) ** 4))
    cases.append([0.04, 0.01, 0.04, 0.5, 0.01, 1.0, 0.0])
    found = []
    for p in cases:
        holm = multipletests(p, method="holm")[1]
        bh = multipletests(p, method="fdr_bh")[1]
        assert np.allclose(bh, stats.false_discovery_control(p))
        found.append(dict(p=p, holm=list(holm), benjamini_hochberg=list(bh)))
    return found


def tables():
    return dict(rank_sum=rank_sums(), adjusted=adjusted())
