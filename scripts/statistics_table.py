#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""statistics_table.py OUT.json

Records what scipy and numpy say of small examples, for tests/statistics: each
number by another way than ours. McNemar's p is scipy's binomial test, the test
of signs goes through all signs, Tango's score takes the likeliest rates that an
optimiser finds, blocks are fitted by least squares, metrics are scikit-learn's.
Needs numpy, scipy and scikit-learn.
"""

import itertools
import json
import sys
import warnings

import numpy as np
from scipy import optimize, stats
from sklearn import metrics

DICE = np.random.default_rng(20)


def laws():
    yield from ({"law": "student", "x": x, "freedom": f,
                 "p": stats.t.cdf(x, f)}
                for x in (-4.0, -1.3, 0.0, 0.4, 2.7) for f in (1, 2.5, 7, 400))
    yield from ({"law": "normal", "x": x, "freedom": 0, "p": stats.norm.cdf(x)}
                for x in (-6.0, -1.96, 0.1, 3.0))
    yield from ({"law": "coin", "x": k, "freedom": n,
                 "p": stats.binom.cdf(k, n, 0.5)}
                for k, n in ((0, 1), (2, 12), (6, 12), (480, 1001), (9, 9)))


def mcnemar():
    for gained, lost in ((10, 2), (0, 6), (0, 5), (7, 7), (120, 89), (0, 0)):
        p = stats.binomtest(gained, gained + lost).pvalue \
            if gained + lost else 1.0
        yield {"gained": gained, "lost": lost, "p": p}


def signs():
    for n in (4, 7, 11):
        d = [int(x) for x in DICE.integers(-3, 4, n)]
        d[0] = 2
        sums = [abs(sum(s * x for s, x in zip(choice, d)))
                for choice in itertools.product((-1, 1), repeat=n)]
        yield {"differences": d,
               "p": float(np.mean([s >= abs(sum(d)) for s in sums]))}


def tango_score(n, gained, lost, d):
    """By the likeliest rate of the first alone being right, given d."""
    def unlikely(q):
        cells = ((gained, q + d), (lost, q), (n - gained - lost, 1 - 2 * q - d))
        return -sum(k * np.log(max(rate, 1e-300)) for k, rate in cells if k)
    low, high = max(0.0, -d), (1 - d) / 2
    q = optimize.minimize_scalar(unlikely, bounds=(low, high), method="bounded",
                                 options={"xatol": 1e-15}).x
    return (gained - lost - n * d) / np.sqrt(n * (2 * q + d * (1 - d)))


def tango():
    for n, gained, lost in ((544, 10, 2), (100, 12, 9), (44, 1, 0),
                            (60, 20, 3)):
        seen = (gained - lost) / n
        z = stats.norm.ppf(0.975)
        low = optimize.brentq(
            lambda d: tango_score(n, gained, lost, d) - z, -0.99, seen - 1e-6)
        high = optimize.brentq(
            lambda d: tango_score(n, gained, lost, d) + z, seen + 1e-6, 0.99)
        yield {"examples": n, "gained": gained, "lost": lost,
               "score": tango_score(n, gained, lost, -0.02),
               "low": low, "high": high}


def smallest():
    """Connor's sample size, solved for the difference by brentq."""
    for n, differing in ((544, 25), (2000, 300), (400, 90)):
        rate = differing / n
        a, b = stats.norm.ppf(0.975), stats.norm.ppf(0.8)
        d = optimize.brentq(lambda d: (a * np.sqrt(rate) + b * np.sqrt(
            rate - d * d)) ** 2 - n * d * d, 1e-9, rate)
        yield {"examples": n, "differing": differing, "d": d}


def holm():
    for m in (1, 2, 5, 9):
        p = DICE.uniform(0, 0.2, m)
        order = np.argsort(p)
        steps = np.minimum(1, p[order] * np.arange(m, 0, -1))
        adjusted = np.empty(m)
        adjusted[order] = np.maximum.accumulate(steps)
        yield {"p": p.tolist(), "adjusted": adjusted.tolist()}


def blocks():
    """Values by contender, then seed; what two-way least squares leaves."""
    for contenders, seeds in ((2, 5), (3, 4), (5, 3)):
        values = DICE.normal(0.8, 0.02, (contenders, seeds)) \
            + DICE.normal(0, 0.05, seeds) \
            + 0.02 * np.arange(contenders)[:, None]
        design = [[1.0] + [float(c == i) for i in range(1, contenders)] +
                  [float(s == j) for j in range(1, seeds)]
                  for c in range(contenders) for s in range(seeds)]
        flat = values.reshape(-1)
        fit = np.linalg.lstsq(np.array(design), flat, rcond=None)[0]
        rest = float(((flat - np.array(design) @ fit) ** 2).sum())
        row = {"values": values.tolist(), "squares": rest,
               "freedom": (contenders - 1) * (seeds - 1)}
        if contenders == 2:
            row["p"] = stats.ttest_rel(values[0], values[1]).pvalue
        yield row


def of_classes(truth, guess, two):
    f1 = metrics.f1_score(truth, guess, average="binary" if two else "macro",
                          zero_division=0)
    return {"accuracy": metrics.accuracy_score(truth, guess), "f1": f1,
            "f1_macro": metrics.f1_score(truth, guess, average="macro",
                                         zero_division=0),
            "mcc": metrics.matthews_corrcoef(truth, guess)}


def of_numbers(truth, guess):
    error = float(np.mean((truth - guess) ** 2))
    return {"mse": error, "rmse": error ** 0.5,
            "pearson": stats.pearsonr(truth, guess).statistic,
            "spearman": stats.spearmanr(truth, guess).statistic}


def resampled(truth, first, second, score):
    """Of each metric: both runs on one weighted sample, and the deviation and
    the 95 % interval of their difference over 20,000 samples."""
    n = len(truth)
    times = np.bincount(DICE.integers(0, n, n), minlength=n)
    drawn = np.repeat(np.arange(n), times)
    rows = {name: [] for name in score(truth, first)}
    for _ in range(20_000):
        pick = DICE.integers(0, n, n)
        one = score(truth[pick], first[pick])
        other = score(truth[pick], second[pick])
        for name in rows:
            rows[name].append(other[name] - one[name])
    once, both = score(truth, first), score(truth[drawn], first[drawn])
    return times.tolist(), {
        name: {"once": float(once[name]), "weighted": float(both[name]),
               "deviation": float(np.std(rows[name])),
               "low": float(np.quantile(rows[name], 0.025)),
               "high": float(np.quantile(rows[name], 0.975))}
        for name in rows}


def fast_classes(truth, guess):
    """As of_classes for two classes, without its checks."""
    tp = int(np.sum((truth == 1) & (guess == 1)))
    fp = int(np.sum((truth == 0) & (guess == 1)))
    fn = int(np.sum((truth == 1) & (guess == 0)))
    tn = len(truth) - tp - fp - fn
    f1 = 2 * tp / (2 * tp + fp + fn)
    below = np.sqrt(float(tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    return {"f1": f1, "mcc": (tp * tn - fp * fn) / below}


def runs():
    n = 160
    truth = DICE.integers(0, 2, n)
    guesses = [np.where(DICE.uniform(size=n) < share, truth, 1 - truth)
               for share in (0.7, 0.8)]
    times, found = resampled(truth, *guesses, fast_classes)
    exact = of_classes(truth, guesses[0], True)
    assert all(abs(exact[name] - found[name]["once"]) < 1e-12 for name in found)
    yield {"kind": "classes", "truth": truth.tolist(), "times": times,
           "first": guesses[0].tolist(), "second": guesses[1].tolist(),
           "metrics": found}
    n = 120
    truth = np.round(DICE.uniform(0, 5, n), 1)
    guesses = [np.round(truth + DICE.normal(0, spread, n), 2)
               for spread in (1.2, 1.0)]
    times, found = resampled(truth, *guesses, of_numbers)
    yield {"kind": "numbers", "truth": truth.tolist(), "times": times,
           "first": guesses[0].tolist(), "second": guesses[1].tolist(),
           "metrics": found}


def rounded(value):
    if isinstance(value, dict):
        return {key: rounded(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [rounded(inner) for inner in value]
    return float(f"{value:.13g}") if isinstance(value, float) else value


def main():
    warnings.simplefilter("error")
    table = {"laws": laws(), "mcnemar": mcnemar(), "signs": signs(),
             "tango": tango(), "smallest": smallest(), "holm": holm(),
             "blocks": blocks(), "runs": runs()}
    table = {name: [rounded(row) for row in rows]
             for name, rows in table.items()}
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(table, file, separators=(",", ":"), default=float)
        file.write("\n")


if __name__ == "__main__":
    main()
