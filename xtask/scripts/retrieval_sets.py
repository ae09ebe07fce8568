"""Makes further questions with known evidence, in the format that `cargo xtask bench retrieval` reads.

    retrieval_sets.py dialogue QUESTIONS.jsonl[.xz]   the same questions, asked of short turns by two named people
    retrieval_sets.py faq FOLDER                      questions of real FAQs, asked of their answers
    retrieval_sets.py sections FOLDER                 headings of long technical texts, asked of the texts
    retrieval_sets.py manuals FOLDER                  one-line purposes of manual pages, asked of the pages
    retrieval_sets.py pages FOLDER                    headings of web pages of a manual, asked of the pages
    retrieval_sets.py abstracts Translation-en.xz     titles of software packages, asked of their descriptions
    retrieval_sets.py records Translation-en.xz       the reverse: first sentences, asked of one-line records
    retrieval_sets.py facts FILE.jsonl[.xz]           questions about facts that changed, asked of daily notes

Writes to standard output, one question a line. The sets show what weights do on data of another
shape than the one they were chosen on; none is part of the product.

dialogue: each turn is told sentence by sentence, every sentence a paragraph that begins with its
speaker's name, as in a chat. Of what the assistant says only the first three sentences stay, unless
it is evidence. Both greet each other by name. Questions speak of the person by name instead of "I".

faq: FOLDER holds unpacked Debian packages (`apt-get download perl-doc python3.11-doc debian-faq`, then
`dpkg -x PACKAGE.deb FOLDER`; licences: Artistic/GPL, PSF-2.0, GPL-2+). People wrote the questions and answers for each other. A note is five
answers of a chapter without their questions, a turn is an answer; 60 questions of each FAQ.

sections: the library reference, tutorial and guides of python3.11-doc (PSF-2.0). A note is a page without its
headings, a turn is a section, a question is a heading of three words or more.

manuals: manpages and manpages-dev (free licences of the Linux man-pages project, named in each page). A note is a
page without its NAME, the question is what NAME says of it. A page that only refers to another is left out.

pages: HTML pages of a manual, such as html/en-US of debian-handbook (GPL-2+ or CC-BY-SA-3.0), html/book and
html/rust-by-example of rust-doc (MIT or Apache-2.0) or html of git-doc (GPL-2). As sections; these kinds took no part
in choosing any weight, and `pages` with a folder of another language measures that language.

abstracts, records: package descriptions of Debian 12 (`dists/bookworm/main/i18n/Translation-en.xz` of a mirror;
licences of the packages, all free by Debian's guidelines). abstracts: 1,400 descriptions of 40 words and more.
records: 2,500 other packages, one line each.

facts: short facts in order (vault, batch, text), some of which replace others. A note is a day with its facts as a
list; the evidence of a question is the older and the newer fact.
"""
import glob, gzip, html.parser, json, lzma, random, re, sys

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


def asked_of(kind, notes, asked, most):
    """Yields questions that share the notes: (question, note, turn)."""
    print(f"{kind}: {len(notes)} notes, {len(asked)} questions", file=sys.stderr)
    for number, (question, note, turn) in enumerate(random.Random(1).sample(asked, min(most, len(asked)))):
        yield {"qid": f"{kind}-{number}", "type": kind, "abstention": False, "question": question, "date": "",
               "gold_sessions": [note], "gold_turns": [[note, turn]], "sessions": notes if number == 0 else []}


def one_turn(name, text):
    return {"id": name, "date": "", "turns": [{"role": "", "text": text}]}


def sections(folder):
    notes, asked = [], []
    pages = f"{folder}/usr/share/doc/python3.*-doc/html/_sources/[lthu][ious][bwtd]*/*.rst.txt"
    for path in sorted(glob.glob(pages)):
        text = re.sub(r"(?s)^\.\. _.*?:$|^\.\. (index|moduleauthor|sectionauthor)::.*?\n(?=\S)", "", open(path).read(), flags=re.M)
        parts = re.split(r"^(\S.+)\n([=\-~^*]{4,})\n", text, flags=re.M)
        note = {"id": f"page-{len(notes)}", "date": "", "turns": []}
        for heading, body in zip(parts[1::3], parts[3::3]):
            body = re.sub(r":[\w:]+:`~?([^`<]*)[^`]*`", r"\1", body).replace("``", "")
            body = re.sub(r"\n{3,}", "\n\n", re.sub(r"^[=\-~^*]{4,}$|^\.\. \w+::.*$", "", body, flags=re.M)).strip()
            if len(body.split()) < 40:
                continue
            heading = re.sub(r":[\w:]+:`~?([^`<]*)[^`]*`", r"\1", heading).replace("``", "").strip()
            if 3 <= len(heading.split()) <= 12 and "---" not in heading:
                asked.append((heading, note["id"], len(note["turns"])))
            note["turns"].append({"role": "", "text": body})
        if note["turns"]:
            notes.append(note)
    yield from asked_of("sections", notes, asked, 120)


def manuals(folder):
    notes, asked = [], []
    for path in sorted(glob.glob(f"{folder}/usr/share/man/man[1-8]/*.gz")):
        text = gzip.open(path, "rt", encoding="utf-8", errors="replace").read()
        named = re.search(r"^\.SH NAME\n((?:[^.].*\n|\.[A-Z]+ .*\n)+?)(?=\.SH)", text, flags=re.M)
        if not named or r"\-" not in named[1]:
            continue
        names, _, purpose = named[1].replace("\n", " ").partition(r"\-")
        body = re.sub(r"(?s)^.*?^\.SH DESCRIPTION\n", "", text, flags=re.M)
        body = re.sub(r"^\.(SH|SS|PP|P|TP|IP|LP)\b.*$", "", re.sub(r"^\.\\\".*$|^'.*$", "", body, flags=re.M), flags=re.M)
        body = re.sub(r"^\.[A-Za-z]+ ?", "", body, flags=re.M)
        body = re.sub(r"\n{3,}", "\n\n", re.sub(r"\\f.|\\[&|/^]", "", body).replace("\\-", "-").replace('"', "")).strip()
        purpose = re.sub(r"\\f.|\\[&|/^]", "", purpose).replace("\\-", "-").strip()
        if len(body.split()) < 60 or len(purpose.split()) < 3:
            continue
        if not any(purpose == other for other, *_ in asked):
            asked.append((purpose, f"man-{len(notes)}", 0))
        notes.append(one_turn(f"man-{len(notes)}", body))
    notes = notes[:1500]
    known = {note["id"] for note in notes}
    yield from asked_of("manuals", notes, [a for a in asked if a[1] in known], 120)


class Page(html.parser.HTMLParser):
    """Splits a page into sections: a heading and the paragraphs up to the next one."""
    BLOCKS = {"p", "li", "dd", "dt", "pre", "td", "tr", "blockquote", "div", "br"}

    def __init__(self):
        super().__init__()
        self.sections, self.text, self.heading, self.skipped = [], [], None, 0

    def handle_starttag(self, tag, _):
        if tag in ("script", "style", "nav", "head"):
            self.skipped += 1
        elif re.fullmatch("h[1-5]", tag):
            self.close_section()
            self.heading = []
        elif tag in self.BLOCKS:
            self.text.append("\n\n")

    def handle_endtag(self, tag):
        if tag in ("script", "style", "nav", "head"):
            self.skipped = max(self.skipped - 1, 0)
        elif re.fullmatch("h[1-5]", tag) and self.heading is not None:
            self.sections.append([" ".join("".join(self.heading).split()), ""])
            self.heading = None

    def handle_data(self, data):
        if not self.skipped:
            (self.text if self.heading is None else self.heading).append(data)

    def close_section(self):
        if self.sections:
            blocks = (" ".join(block.split()) for block in re.split(r"\n\s*\n", "".join(self.text)))
            self.sections[-1][1] = "\n\n".join(block for block in blocks if block)
        self.text = []


def pages(folder):
    notes, asked = [], []
    kind = "-".join(folder.strip("/").split("/")[-2:])
    for path in sorted(glob.glob(f"{folder}/**/*.html", recursive=True)):
        if re.search(r"print\.html$|index\.html$|/(first|second|2018)-edition/|-nostarch", path):
            continue
        page = Page()
        page.feed(open(path, encoding="utf-8", errors="replace").read())
        page.close_section()
        note = {"id": f"{kind}-{len(notes)}", "date": "", "turns": []}
        for heading, body in page.sections:
            heading = re.sub(r"^[\d.]+\s+|[\u00b6\u00a7]$", "", heading).strip()
            is_unspaced = re.search(r"[\u3040-\u30ff\u4e00-\u9fff]", body)
            if len(body) < 200 or len(heading) < (4 if is_unspaced else 12):
                continue
            # Headings within the text would give the answer away.
            body = body.replace(heading, "")
            if is_unspaced or 3 <= len(heading.split()) <= 14:
                asked.append((heading, note["id"], len(note["turns"])))
            note["turns"].append({"role": "", "text": body})
        if note["turns"]:
            notes.append(note)
    once = [a for a in asked if sum(a[0] == other for other, *_ in asked) == 1]
    yield from asked_of(kind, notes, once, 120)


def packages(path):
    """Yields name, title and description, one package of a family."""
    seen = set()
    for part in lzma.open(path, "rt", encoding="utf-8").read().split("\n\n"):
        found = re.match(r"Package: (\S+)\nDescription-md5: .*\nDescription-en: (.+)\n((?: .*\n?)+)", part)
        if not found:
            continue
        name, title, body = found[1], found[2].strip(), re.sub(r"^ \.?", "", found[3], flags=re.M).strip()
        if body[:60] in seen or title in seen or len(title.split()) < 4 or re.search(r"dummy|transitional|debug|^lib.*-dev$", title + name):
            continue
        seen.update((body[:60], title))
        yield name, title, body


def abstracts(path):
    chosen = [p for p in packages(path) if len(p[2].split()) >= 40]
    random.Random(2).shuffle(chosen)
    notes = [one_turn(name, body) for name, _, body in chosen[:1400]]
    yield from asked_of("abstracts", notes, [(title, name, 0) for name, title, _ in chosen[:1400]], 150)


def records(path):
    chosen = list(packages(path))
    random.Random(2).shuffle(chosen)
    chosen = [p for p in reversed(chosen)][:2500]
    notes = [one_turn(name, title) for name, title, _ in chosen]
    first = [(re.split(r"(?<=[a-z][.!])\s", " ".join(body.split()))[0], name, 0) for name, _, body in chosen]
    yield from asked_of("records", notes, [f for f in first if 6 <= len(f[0].split()) <= 30], 150)


def facts(path):
    notes, asked = {}, []
    for q in lines(path):
        for fact in q["facts"]:
            note = notes.setdefault((q["vault"], fact["batch"]), {"id": f"{q['vault']}-{fact['batch']}", "date": "", "turns": []})
            note["turns"].append({"role": "", "text": "- " + fact["text"]})
        for update in q["updates"]:
            gold = [(note["id"], turn) for (vault, _), note in notes.items() if vault == q["vault"]
                    for turn, fact in enumerate(note["turns"])
                    if any(said.endswith(fact["text"][2:]) for said in update["conversation_references"])]
            asked += [(update["question"], gold)] if gold else []
    for number, (question, gold) in enumerate(asked):
        yield {"qid": f"facts-{number}", "type": "facts", "abstention": False, "question": question, "date": "",
               "gold_sessions": sorted({note for note, _ in gold}), "gold_turns": gold,
               "sessions": [] if number else list(notes.values())}


if __name__ == "__main__":
    kinds = {"dialogue": dialogue, "faq": faq, "sections": sections, "manuals": manuals, "pages": pages, "abstracts": abstracts,
             "records": records, "facts": facts}
    for q in kinds[sys.argv[1]](sys.argv[2]):
        print(json.dumps(q, ensure_ascii=False))
