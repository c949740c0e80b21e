"""Intervals and tests of one sample and of two."""

import itertools
import math

import numpy as np
from scipy import stats
from statsmodels.stats import weightstats

from golden import plain, rng

ALPHAS = [0.1, 0.05, 0.01, 0.003, 0.0001]


def spikes(g, n):
    """Log ratios with a stall now and then."""
    return plain(0.02 + 0.015 * g.standard_normal(n) + (g.random(n) < 0.15) * g.exponential(0.2, n))


def t_intervals():
    g = rng("t")
    cases = []
    for n in [2, 3, 5, 8, 11, 24]:
        values = plain(0.03 * g.standard_normal(n) + 0.01)
        for alpha in ALPHAS:
            found = stats.ttest_1samp(values, 0.0).confidence_interval(1 - alpha)
            cases.append(
                dict(
                    values=values,
                    alpha=alpha,
                    point=np.mean(values),
                    low=found.low,
                    high=found.high,
                )
            )
    return cases


def pooled_intervals():
    """t with the variance and freedom that all contenders give."""
    g = rng("pooled")
    cases = []
    for n, sd, variance, freedom in [
        (4, 0.02, 0.004, 7.0),
        (5, 0.03, 0.006, 8.0),
        (2, 0.01, 0.0008, 5.0),
        (5, 0.05, 0.003, 8.0),
        (4, 0.05, 0.0001, 7.0),
    ]:
        values = plain(sd * g.standard_normal(n))
        for alpha in ALPHAS:
            low, high = stats.t.interval(
                1 - alpha, freedom, np.mean(values), math.sqrt(variance / n)
            )
            cases.append(
                dict(
                    values=values,
                    variance=variance,
                    freedom=freedom,
                    alpha=alpha,
                    low=low,
                    high=high,
                )
            )
    return cases


def signed_rank_counts(n):
    """How many of the 2^n sign patterns give each sum of positive ranks."""
    counts = [1]
    for rank in range(1, n + 1):
        longer = counts + [0] * rank
        for total, count in enumerate(counts):
            longer[total + rank] += count
        counts = longer
    if n <= 12:
        forced = [0] * len(counts)
        for signs in itertools.product([0, 1], repeat=n):
            forced[sum(rank * sign for rank, sign in zip(range(1, n + 1), signs))] += 1
        assert forced == counts
    return counts


def hodges_lehmann(values, alpha):
    """By all Walsh averages and exact integers; ends absent where the level is out of reach."""
    n = len(values)
    walsh = sorted((values[i] + values[j]) / 2 for i in range(n) for j in range(i, n))
    below, rank = 0, 0
    for count in signed_rank_counts(n)[: len(walsh) // 2]:
        if (below + count) / 2**n > alpha / 2:
            break
        below += count
        rank += 1
    point = float(np.median(walsh))
    if rank == 0:
        return dict(point=point, low=None, high=None, level=None)
    low, high = walsh[rank - 1], walsh[len(walsh) - rank]
    if len(set(walsh)) == len(walsh):
        # Where scipy's p crosses alpha.
        def p(shift):
            return stats.wilcoxon(np.array(values) - shift, method="exact").pvalue

        step = 1e-9
        assert p(low - step) <= alpha < p(low + step), (values, alpha)
        assert p(high + step) <= alpha < p(high - step), (values, alpha)
    return dict(point=point, low=low, high=high, level=1 - 2 * below / 2**n)


def hodges_lehmann_intervals():
    g = rng("hodges_lehmann")
    cases = []
    samples = [spikes(g, n) for n in [6, 8, 12, 13, 16, 24, 32]]
    samples.append([0.01, 0.01, 0.02, -0.01, 0.03, 0.03, 0.03, 0.0, 0.02, 0.01, -0.01, 0.02])
    for values in samples:
        for alpha in [0.05, 1 - 0.9899, *ALPHAS[2:]]:
            cases.append(dict(values=values, alpha=alpha, **hodges_lehmann(values, alpha)))
    return cases


def signed_rank_tests():
    """An interval of alpha holds exactly the shifts whose p is above alpha."""
    g = rng("signed_rank")
    cases = []
    for n in [12, 15, 20]:
        values = spikes(g, n)
        for shift in plain(np.quantile(values, [0.05, 0.2, 0.4, 0.75, 0.9]) + 1e-4):
            p = stats.wilcoxon(np.array(values) - shift, method="exact").pvalue
            cases.append(dict(values=values, shift=shift, p=p))
    return cases


def order_statistics():
    g = rng("order_statistics")
    cases = []
    for n in [5, 6, 9, 17, 40]:
        values = sorted(spikes(g, n))
        for alpha in ALPHAS:
            ranks = [k for k in range(1, n // 2 + 1) if stats.binom.cdf(k - 1, n, 0.5) <= alpha / 2]
            k = max(ranks, default=0)
            ends = dict(low=None, high=None, level=None)
            if k:
                level = 1 - 2 * stats.binom.cdf(k - 1, n, 0.5)
                ends = dict(low=values[k - 1], high=values[n - k], level=level)
            cases.append(dict(values=values, alpha=alpha, point=np.median(values), **ends))
    return cases


def paired_tests():
    """The paired t-test, and two one-sided ones: both of the logarithms of two contenders."""
    g = rng("paired")
    cases = []
    for n, shift in [(3, 0.0), (4, 0.02), (6, 0.004), (8, -0.01), (11, 0.05)]:
        block = 0.5 * g.standard_normal(n)
        a = plain(block + shift + 0.012 * g.standard_normal(n))
        b = plain(block + 0.012 * g.standard_normal(n))
        test = stats.ttest_rel(a, b)
        ends = test.confidence_interval(0.99)
        for margin in [0.01, math.log(1.02), math.log(1.05), 0.2]:
            p_same = weightstats.ttost_paired(np.array(a), np.array(b), -margin, margin)[0]
            cases.append(
                dict(
                    a=a,
                    b=b,
                    p=test.pvalue,
                    alpha=0.01,
                    low=ends.low,
                    high=ends.high,
                    margin=margin,
                    p_same=p_same,
                )
            )
    return cases


def welch_tests():
    g = rng("welch")
    cases = []
    for n, m, shift in [(2, 2, 0.1), (3, 3, 0.0), (3, 7, 0.03), (12, 5, -0.02), (20, 25, 0.01)]:
        a = plain(shift + 0.01 * g.standard_normal(n))
        b = plain(0.03 * g.standard_normal(m))
        test = stats.ttest_ind(a, b, equal_var=False)
        margin = 0.05
        p_same = weightstats.ttost_ind(a, b, -margin, margin, usevar="unequal")[0]
        for alpha in ALPHAS:
            ends = test.confidence_interval(1 - alpha)
            cases.append(
                dict(
                    a=a,
                    b=b,
                    point=np.mean(a) - np.mean(b),
                    freedom=test.df,
                    p=test.pvalue,
                    alpha=alpha,
                    low=ends.low,
                    high=ends.high,
                    margin=margin,
                    p_same=p_same,
                )
            )
    return cases


def forecasts():
    """Sizes of the textbook, with the deviates 1.28 and 1.64 for a power of 90 %."""
    cases = []
    for sd, distance, alpha in [
        (0.0424, 0.05, 0.0149),
        (0.03, math.log(1.02), 0.05),
        (0.1, 0.01, 0.003),
    ]:
        difference = ((stats.norm.ppf(1 - alpha / 2) + 1.28) * sd / distance) ** 2
        same = ((stats.norm.ppf(1 - alpha) + 1.64) * sd / distance) ** 2
        cases.append(dict(sd=sd, distance=distance, alpha=alpha, difference=difference, same=same))
    return cases


def tables():
    return dict(
        t=t_intervals(),
        pooled=pooled_intervals(),
        hodges_lehmann=hodges_lehmann_intervals(),
        signed_rank=signed_rank_tests(),
        order_statistics=order_statistics(),
        paired=paired_tests(),
        welch=welch_tests(),
        forecast=forecasts(),
    )
