"""Learns the table of the relevance (crates/memoranda-core/src/rank/relevance.rs). Needs numpy.

    cargo xtask bench retrieval --relevance SEARCHES.jsonl SET.jsonl...
    fit_relevance.py SEARCHES.jsonl

A search is a question asked in its own vault, or in one that cannot answer it. It counts by its most relevant
passage, which the weights themselves choose, so choosing and learning take turns. Every kind of text has the same say,
and so have own and other vaults, large and small ones. The weights of one side (1 has meaning, 2 words alone) maximise
the likelihood with a small penalty.

Prints how many searches are answered at some thresholds, for each kind with weights that were learned from all other
kinds, and the table.
"""
import collections
import json
import sys

import numpy

FEATURES = ["Constant", "Covered", "Rarity", "Size", "Similarity", "Agreement"]
MEANING = ["Similarity", "Agreement"]
# Evidence for a passage must not count against it, and a larger scope not for it.
POSITIVE = ["Covered", "Similarity", "Agreement"]
NEGATIVE = ["Size"]
PENALTY, ROUNDS, STEPS = 0.02, 8, 40
THRESHOLDS = [0.2, 0.25, 0.3, 0.35, 0.4, 0.5]
CUTS = [0.0, 0.4, 0.5, 0.6, 0.7]


def read(path):
    searches = []
    for line in open(path, encoding="utf-8"):
        search = json.loads(line)
        passages = search.pop("passages")
        search["values"] = numpy.array([p["relevance"] for p in passages]).reshape(-1, len(FEATURES))
        search["scores"] = numpy.array([p["score"] for p in passages])
        search["gold_found"] = numpy.array([p["is_gold"] for p in passages], dtype=bool)
        searches.append(search)
    return searches


def group(search):
    return search["kind"], search["is_own"], search["is_small"]


def learn(searches, used):
    """Returns the weights of all features; those that are not used have 0."""
    searches = [s for s in searches if len(s["values"])]
    counts = collections.Counter(map(group, searches))
    share = numpy.array([1 / counts[group(s)] for s in searches])
    is_own = numpy.array([float(s["is_own"]) for s in searches])
    weights, chosen = numpy.zeros(len(FEATURES)), [0] * len(searches)
    at = [FEATURES.index(name) for name in used]
    while True:
        for _ in range(ROUNDS):
            values = numpy.stack([s["values"][n] for s, n in zip(searches, chosen)])[:, at]
            some = weights[at]
            penalty = numpy.array([0 if name == "Constant" else PENALTY for name in used])
            for _ in range(STEPS):
                likely = 1 / (1 + numpy.exp(-numpy.clip(values @ some, -30, 30)))
                slope = values.T @ (share * (likely - is_own)) + penalty * some
                curve = (values * (share * likely * (1 - likely))[:, None]).T @ values + numpy.diag(penalty + 1e-9)
                step = numpy.linalg.solve(curve, slope)
                some = some - step
                if abs(step).max() < 1e-7:
                    break
            weights[:] = 0
            weights[at] = some
            now = [int(numpy.argmax(s["values"] @ weights)) for s in searches]
            if now == chosen:
                break
            chosen = now
        wrong = [n for n in at if (FEATURES[n] in POSITIVE and weights[n] < 0) or (FEATURES[n] in NEGATIVE and weights[n] > 0)]
        if not wrong:
            return weights
        # The worst of the wrong signs leaves, and the others are learned again.
        at.remove(max(wrong, key=lambda n: abs(weights[n]) * numpy.std(values[:, at.index(n)])))
        used = [FEATURES[n] for n in at]


def relevance(search, weights):
    if not len(search["values"]):
        return 0.0
    return 1 / (1 + numpy.exp(-(search["values"] @ weights).max()))


def answered(searches, weights):
    found = numpy.array([relevance(s, weights) for s in searches])
    return [float(numpy.mean(found >= least)) if len(found) else 0.0 for least in THRESHOLDS]


def row(name, shares):
    print(f"{name:34}" + "".join(f"{share:7.3f}" for share in shares))


def report(searches, used):
    kinds = sorted({s["kind"] for s in searches})
    row("answered at", THRESHOLDS)
    total = collections.defaultdict(list)
    for kind in kinds:
        weights = learn([s for s in searches if s["kind"] != kind and s["asked"] != kind], used)
        for is_small in (False, True):
            for is_own in (True, False):
                some = [s for s in searches if group(s) == (kind, is_own, is_small)]
                shares = answered(some, weights)
                name = f"{kind}{' (small)' if is_small else ''}, {'own' if is_own else 'unrelated'}"
                row(name, shares)
                total[is_small, is_own].append(shares)
                if not is_own:
                    same = [s for s in some if s["asked"] == kind]
                    if same:
                        row(name + ", same kind", answered(same, weights))
    for (is_small, is_own), shares in sorted(total.items()):
        name = f"mean{' (small)' if is_small else ''}, {'own' if is_own else 'unrelated'}"
        row(name, numpy.mean(shares, axis=0))


def main():
    searches = read(sys.argv[1])
    print(f"{len(searches)} searches\n\nWith meaning, each kind with weights of the others:")
    report(searches, FEATURES)
    words = [name for name in FEATURES if name not in MEANING]
    print("\nBy words alone:")
    report(searches, words)
    sides = [learn(searches, FEATURES), learn(searches, words)]
    print("\nTable:")
    for at, name in enumerate(FEATURES):
        print(f"    (RelevanceFeature::{name}, {sides[0][at]:.2f}, {sides[1][at]:.2f}),")
    print("\nPassages that score at least this share of the best one, of searches in their own vaults:")
    for is_small in (False, True):
        own = [s for s in searches if s["is_own"] and s["is_small"] == is_small and len(s["scores"]) and s["gold"]]
        for cut in CUTS:
            kept = [s["gold_found"][s["scores"] >= cut * s["scores"].max()] for s in own]
            precision = numpy.mean([k.mean() for k in kept])
            found = numpy.mean([k.any() for k in kept])
            print(f"{'small' if is_small else 'large'} {cut:.1f}: {numpy.mean([len(k) for k in kept]):5.1f} passages, "
                  f"precision {precision:.3f}, some evidence {found:.3f}")


if __name__ == "__main__":
    main()
