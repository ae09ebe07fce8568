"""Learns the table of the relevance (crates/memoranda-core/src/rank/relevance.rs). Needs numpy and scipy.

    cargo xtask bench retrieval --relevance SEARCHES.jsonl SET.jsonl...
    fit_relevance.py SEARCHES.jsonl

A search is a question asked in its own vault, or in one that cannot answer it. It counts by its most relevant
passage, which the weights themselves choose, so choosing and learning take turns. Every kind of text has the same say,
and so have own and other vaults, large and small ones. A question about software asked of other texts about software is
left out: such a vault may well answer it. The weights maximise the likelihood with a small penalty; evidence for a
passage cannot count against it.

The facts (`retrieval_sets.py facts`) take no part in learning; they only judge.

Prints how many searches are answered at some thresholds, for each kind with weights that were learned from all other
kinds, and the table.
"""
import collections
import json
import sys

import numpy
from scipy.optimize import minimize

FEATURES = ["Constant", "Covered", "Similarity", "MissingInSize", "Size", "TypedWords"]
# Learned features with the sign of their weight; the other two belong to the second curve and to the lower bound.
SIGNS = {"Constant": 0, "Covered": 1, "Similarity": 1, "MissingInSize": -1}
# As in relevance.rs.
MEANING_ALONE, MEANING_SLOPE, THRESHOLD, TYPED_WORDS = (0.215, 0.025), 12.0, 0.35, 0.5
PENALTY, ROUNDS = 0.02, 8
THRESHOLDS = [0.2, 0.25, 0.3, 0.35, 0.4, 0.5]
LIFE, JUDGES = {"chats", "turns", "facts"}, {"facts"}


def read(path):
    searches = []
    for line in open(path, encoding="utf-8"):
        search = json.loads(line)
        passages = search.pop("passages")
        search["values"] = numpy.array([p["relevance"] for p in passages]).reshape(-1, len(FEATURES))
        if search["is_own"] or search["kind"] in LIFE or search["asked"] in LIFE:
            searches.append(search)
    return searches


def group(search):
    return search["kind"], search["is_own"], search["is_small"]


def learn(searches, used):
    """Returns the weights of all features; those that are not used have 0."""
    searches = [s for s in searches if len(s["values"]) and s["kind"] not in JUDGES and s["asked"] not in JUDGES]
    counts = collections.Counter(map(group, searches))
    share = numpy.array([1 / counts[group(s)] for s in searches])
    is_own = numpy.array([float(s["is_own"]) for s in searches])
    at = [FEATURES.index(name) for name in used]
    bounds = [{0: (None, None), 1: (0, None), -1: (None, 0)}[SIGNS[name]] for name in used]
    penalty = numpy.array([0 if name == "Constant" else PENALTY for name in used])
    weights, some, chosen = numpy.zeros(len(FEATURES)), numpy.zeros(len(used)), [0] * len(searches)
    for _ in range(ROUNDS):
        values = numpy.stack([s["values"][n] for s, n in zip(searches, chosen)])[:, at]

        def loss(some):
            logit = numpy.clip(values @ some, -40, 40)
            likely = 1 / (1 + numpy.exp(-logit))
            value = (share * (numpy.logaddexp(0, logit) - is_own * logit)).sum() + (penalty * some**2).sum() / 2
            return value, values.T @ (share * (likely - is_own)) + penalty * some

        some = minimize(loss, some, jac=True, method="L-BFGS-B", bounds=bounds).x
        weights[at] = some
        now = [int(numpy.argmax(s["values"] @ weights)) for s in searches]
        if now == chosen:
            break
        chosen = now
    return weights


def relevance(search, weights, has_meaning):
    values = search["values"]
    if not len(values):
        return 0.0
    logit = values @ weights
    if has_meaning:
        least = MEANING_ALONE[0] + MEANING_ALONE[1] * values[:, FEATURES.index("Size")]
        alone = numpy.log(THRESHOLD / (1 - THRESHOLD)) + MEANING_SLOPE * (values[:, FEATURES.index("Similarity")] - least)
        logit = numpy.maximum(logit, alone)
    likely = 1 / (1 + numpy.exp(-logit))
    typed = values[:, FEATURES.index("TypedWords")] > 0
    return float(numpy.where(typed, numpy.maximum(likely, TYPED_WORDS), likely).max())


def row(name, shares):
    print(f"{name:34}" + "".join(f"{share:7.3f}" for share in shares))


def report(searches, used, has_meaning):
    kinds = sorted({s["kind"] for s in searches})
    row("answered at", THRESHOLDS)
    total = collections.defaultdict(list)
    for kind in kinds:
        weights = learn([s for s in searches if s["kind"] != kind and s["asked"] != kind], used)
        for is_small in (False, True):
            for is_own in (True, False):
                some = [s for s in searches if group(s) == (kind, is_own, is_small)]
                found = numpy.array([relevance(s, weights, has_meaning) for s in some])
                shares = [float(numpy.mean(found >= least)) for least in THRESHOLDS]
                row(f"{kind}{' (small)' if is_small else ''}, {'own' if is_own else 'unrelated'} ({len(some)})", shares)
                total[is_small, is_own].append(shares)
    for (is_small, is_own), shares in sorted(total.items()):
        name = f"mean{' (small)' if is_small else ''}, {'own' if is_own else 'unrelated'}"
        row(name, numpy.mean(shares, axis=0))


def main():
    searches = read(sys.argv[1])
    print(f"{len(searches)} searches\n\nWith meaning, each kind with weights of the others:")
    report(searches, list(SIGNS), True)
    words = [name for name in SIGNS if name != "Similarity"]
    print("\nBy words alone:")
    report(searches, words, False)
    sides = [learn(searches, list(SIGNS)), learn(searches, words)]
    print("\nTable:")
    for at, name in enumerate(FEATURES):
        print(f"    (RelevanceFeature::{name}, {sides[0][at]:.2f}, {sides[1][at]:.2f}),")


if __name__ == "__main__":
    main()
