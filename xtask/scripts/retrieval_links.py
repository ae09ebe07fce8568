"""Measures what links between notes would contribute to ranking.

    cargo xtask bench retrieval QUESTIONS.jsonl.xz --ranked RANKED.jsonl
    retrieval_links.py QUESTIONS.jsonl[.xz] RANKED.jsonl

No set of questions at hand has links, so they are made up as people make them, by names: two notes
are linked if both name something (a word with a capital within a sentence) that few notes of their
vault name. What is linked to the best notes is then lifted, and the ranking scored again.
"""
import collections, json, lzma, math, re, sys

NAME = re.compile(r"(?<=[a-z,] )([A-Z][a-z]{2,})")


def lines(path):
    with (lzma.open if path.endswith(".xz") else open)(path, "rt", encoding="utf-8") as f:
        return [json.loads(line) for line in f if line.strip()]


def names(session):
    return {name for turn in session["turns"] for name in NAME.findall(turn["text"])}


def scores(order, gold):
    recall = sum(session in order[:5] for session in gold) / len(gold)
    gain = sum(1 / math.log2(at + 2) for at, session in enumerate(order[:10]) if session in gold)
    most = sum(1 / math.log2(at + 2) for at in range(min(10, len(gold))))
    return recall == 1, recall, gain / most


def lifted(order, named, best, least, places, few):
    """Returns the order with notes moved up that are linked to enough of the best notes."""
    held = collections.Counter(name for of in named.values() for name in of)
    linked = lambda a, b: any(held[name] <= few for name in named[a] & named[b])
    def place(at):
        links = sum(linked(order[at], strong) for strong in order[:best])
        return max(at - places - .5, best - .5) if at >= best and links >= least else at
    return [order[at] for at in sorted(range(len(order)), key=place)]


def main(questions, ranked):
    orders = {line["qid"]: line["sessions"] for line in lines(ranked)}
    asked = [q for q in lines(questions) if not q["abstention"] and q["qid"] in orders]
    named = {q["qid"]: {s["id"]: names(s) for s in q["sessions"]} for q in asked}
    def show(label, order_of):
        found = [scores(order_of(q), set(q["gold_sessions"])) for q in asked]
        print(label, *(f"{sum(column) / len(asked):.3f}" for column in zip(*found)))
    print("best least places few  all@5 R@5 nDCG@10")
    show("as it is", lambda q: orders[q["qid"]])
    for setting in [(b, l, p, f) for f in (3, 6) for b in (3, 5) for l in (1, 2) for p in (1, 3, 100)]:
        show(setting, lambda q: lifted(orders[q["qid"]], named[q["qid"]], *setting))


if __name__ == "__main__":
    main(*sys.argv[1:])
