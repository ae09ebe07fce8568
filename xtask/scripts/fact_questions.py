"""Asks for facts in other words than the stored ones, and for what no fact is about.

    fact_questions.py BINARY [--later] [--facts 24] [--skip 0] [--notes 3000] [--unrelated SET.jsonl]

fact_questions.txt has a fact and its question on each line, and questions without a fact. Some of the facts are stored by
five tools in turn, beside notes on other subjects (those of .ci/one-memory). Prints for each reading tool how many
questions find their fact, how many of the shown facts are the asked one, and how many unrelated questions get an answer.
--later asks for the facts of fact_questions_later.txt, which were written after the bounds for facts were chosen.
--unrelated adds the questions of a set that `cargo xtask bench retrieval` reads.
"""
import argparse, importlib.machinery, importlib.util, json, pathlib, random, tempfile

HERE = pathlib.Path(__file__).resolve().parent
LOADER = importlib.machinery.SourceFileLoader("one_memory", str(HERE.parent.parent / ".ci/one-memory"))
one = importlib.util.module_from_spec(importlib.util.spec_from_loader("one_memory", LOADER))
LOADER.exec_module(one)
NOTHING = ("Nothing relevant", "Nothing found", "Nothing matches", "No memories match")


def writing_call(number, fact):
    ways = [one.record, one.remember, one.bank, lambda text: one.memory(f"m{number}.md", text),
            lambda text: one.graph(f"thread {number // 8}", f"Thing {number}", text)]
    return ways[number % len(ways)](fact)


def answer(client, tool, question):
    text = client.call(tool, {"query": question})
    if tool == "get_context":
        text = text.split("## Relevant Memories")[1].split("## About the Person")[0]
    return text.replace("> ", "")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--later", action="store_true")
    parser.add_argument("--facts", type=int, default=24)
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--notes", type=int, default=3000)
    parser.add_argument("--unrelated")
    options = parser.parse_args()
    binary = str(pathlib.Path(options.binary).resolve())
    lines = [line.split("|") for line in (HERE / "fact_questions.txt").read_text().splitlines()]
    pairs = [pair for pair in lines if pair[0]]
    if options.later:
        pairs = [line.split("|") for line in (HERE / "fact_questions_later.txt").read_text().splitlines()]
    random.Random(5).shuffle(pairs)
    pairs = pairs[options.skip:options.skip + options.facts]
    unrelated = [question for fact, question in lines if not fact][:40]
    if options.unrelated:
        unrelated += [json.loads(line)["question"] for line in open(options.unrelated, encoding="utf-8")][:40]
    with tempfile.TemporaryDirectory() as folder:
        home = pathlib.Path(folder)
        for number in range(options.notes):
            title, text = one.other_note(number)
            path = home / "memoranda/main" / str(number % 50) / f"{title}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        client = one.Client(binary, home, one.repository(home, "shop"))
        for number, (fact, _) in enumerate(pairs):
            client.call(*writing_call(number, fact))
        for tool in one.READERS:
            found = shown = answered = 0
            for fact, question in pairs:
                text = answer(client, tool, question)
                found += fact in text
                shown += sum(other in text for other, _ in pairs)
            for question in unrelated:
                answered += not any(nothing in answer(client, tool, question) for nothing in NOTHING)
            print(f"{tool:16} found {found / len(pairs):.3f}  right of those shown {found / max(shown, 1):.3f}  "
                  f"unrelated answered {answered / len(unrelated):.3f}", flush=True)
        client.close()


if __name__ == "__main__":
    main()
