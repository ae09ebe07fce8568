"""Makes further questions with known evidence, in the format that `cargo xtask bench retrieval` reads.

    retrieval_sets.py dialogue QUESTIONS.jsonl[.xz]   the same questions, asked of short turns by two named people
    retrieval_sets.py faq FOLDER                      questions of real FAQs, asked of their answers

Writes to standard output, one question a line. Both sets show what weights do on data of another
shape than the one they were chosen on; neither is part of the product.

dialogue: each turn is told sentence by sentence, every sentence a paragraph that begins with its
speaker's name, as in a chat. Of what the assistant says only the first three sentences stay, unless
it is evidence. Both greet each other by name. Questions speak of the person by name instead of "I".

faq: FOLDER holds unpacked Debian packages (`apt-get download perl-doc python3.11-doc debian-faq`, then
`dpkg -x PACKAGE.deb FOLDER`). People wrote the questions and answers for each other. A note is five
answers of a chapter without their questions, a turn is an answer; 60 questions of each FAQ.
"""
import glob, gzip, json, lzma, random, re, sys

PEOPLE = ["Caroline", "Nate", "Priya", "Marcus", "Elena", "Tobias", "Joanna", "Deborah", "Imran", "Sofia"]
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[\"'(A-Z0-9])|\n+")
LEAST_WORDS, MOST_WORDS, KEPT = 8, 40, 3


def lines(path):
    with (lzma.open if path.endswith(".xz") else open)(path, "rt", encoding="utf-8") as f:
        yield from (json.loads(line) for line in f if line.strip())


def sentences(text):
    """Splits into sentences; joins short ones to the next and cuts long ones."""
    said, held = [], ""
    for part in SENTENCE.split(text.strip()):
        held = f"{held} {part}".strip()
        words = held.split()
        if len(words) >= LEAST_WORDS:
            said += [" ".join(words[i:i + MOST_WORDS]) for i in range(0, len(words), MOST_WORDS)]
            held = ""
    return said + [held] if held else said


def by_name(question, asker, other):
    """Returns the question in the third person."""
    verbs = {"do": "does", "am": "is", "have": "has", "I'm": "is", "I've": "has"}
    text = re.sub(r"\b(do|am|have) I\b", lambda m: f"{verbs[m[1]]} {asker}", question)
    text = re.sub(r"\b(I'm|I've)\b", lambda m: f"{asker} {verbs[m[1]]}", text)
    for said, meant in [(r"I'd", f"{asker} would"), (r"I", asker), (r"[Mm]y", f"{asker}'s"), (r"me|mine|myself", asker),
                        (r"you're", f"{other} is"), (r"[Yy]our", f"{other}'s"), (r"you", other)]:
        text = re.sub(rf"\b(?:{said})\b", meant, text)
    return text


def dialogue(path):
    chance = random.Random(1)
    for q in lines(path):
        asker, other = chance.sample(PEOPLE, 2)
        q["question"] = by_name(q["question"], asker, other)
        for session in q["sessions"]:
            for at, turn in enumerate(session["turns"]):
                is_asker = turn["role"] == "user"
                name, heard = (asker, other) if is_asker else (other, asker)
                said = sentences(turn["text"]) or ["Hm."]
                if not is_asker and not turn.get("gold"):
                    said = said[:KEPT]
                if at < 2:
                    said[0] = f"Hey {heard}! {said[0]}"
                turn["role"], turn["text"] = name, f"\n\n{name}: ".join(said)
        yield q


def pod(folder):
    for path in sorted(glob.glob(f"{folder}/usr/share/perl/*/pod/perlfaq[1-9].pod")):
        for part in re.split(r"^=head2 ", open(path, encoding="utf-8", errors="replace").read(), flags=re.M)[1:]:
            question, _, answer = part.partition("\n")
            answer = re.split(r"^=head1", answer, flags=re.M)[0]
            yield path, question, re.sub(r"^=\w+.*$", "", re.sub(r"[A-Z]<+ ?(.*?) ?>+", r"\1", answer), flags=re.M)


def rst(folder):
    for path in sorted(glob.glob(f"{folder}/usr/share/doc/python3.*-doc/html/_sources/faq/*.rst.txt")):
        parts = re.split(r"^(.+)\n-{4,}\n", open(path, encoding="utf-8").read(), flags=re.M)
        for question, answer in zip(parts[1::2], parts[2::2]):
            answer = re.sub(r"^.*\n={4,}\n", "", answer, flags=re.M)
            yield path, question.replace("``", ""), re.sub(r":\w+:`~?([^`]*)`", r"\1", answer)


def plain(folder):
    for path in sorted(glob.glob(f"{folder}/usr/share/doc/debian/FAQ/debian-faq.en.txt.gz")):
        text = gzip.open(path, "rt", encoding="utf-8").read().replace("\u00a0", " ")
        parts = re.split(r"^(\d+)\.[\d.]+ ((?:.+\n)+)", text[text.index("\n1.1. "):], flags=re.M)
        for chapter, question, answer in zip(parts[1::3], parts[2::3], parts[3::3]):
            yield chapter, " ".join(question.split()), re.sub(r"^ {4}|^Chapter .*", "", answer, flags=re.M)


def faq(folder):
    for name, read in (("perl", pod), ("python", rst), ("debian", plain)):
        notes, asked, chapter = [], [], None
        for place, question, answer in read(folder):
            if len(answer.split()) < 15:
                continue
            if place != chapter or len(notes[-1]["turns"]) == 5:
                notes.append({"id": f"{name}-{len(notes)}", "date": "", "turns": []})
            chapter = place
            if question.strip().endswith("?"):
                asked.append((question.strip(), notes[-1]["id"], len(notes[-1]["turns"])))
            notes[-1]["turns"].append({"role": "", "text": re.sub(r"\n{3,}", "\n\n", answer).strip()})
        print(f"{name}: {len(notes)} notes, {len(asked)} questions", file=sys.stderr)
        for number, (question, note, turn) in enumerate(random.Random(1).sample(asked, min(60, len(asked)))):
            sessions = [{**n, "turns": [{**t, "gold": True} if (n["id"], i) == (note, turn) else t
                                        for i, t in enumerate(n["turns"])]} for n in notes]
            yield {"qid": f"{name}-{number}", "type": name, "abstention": False, "question": question, "date": "",
                   "gold_sessions": [note], "sessions": sessions}


if __name__ == "__main__":
    for q in {"dialogue": dialogue, "faq": faq}[sys.argv[1]](sys.argv[2]):
        print(json.dumps(q, ensure_ascii=False))
