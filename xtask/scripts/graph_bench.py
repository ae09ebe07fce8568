"""Measures the graph's tools on a large thread, over stdio: graph_bench.py BINARY ENTITIES.

Imports that many entities with three relations each into a home of its own, and calls the tools as
a client would, once with a hundred entities and once with all of them. Prints milliseconds, and how
much of them the server itself was computing (a machine that is busy with other things makes the
former large, not the latter); removes what it wrote.
"""

import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

FEW = 100


# Words for notes of ordinary length, about a kilobyte.
PROSE = """the plan of a garden by river and stone needs water light winter market report budget
travel doctor music design window summer paper letter answer morning engine winter bridge""".split()


class Server:
    """A client of the server over stdio."""

    def __init__(self, binary, env):
        self.process = subprocess.Popen(
            [binary, "mcp", "--toolsets", "all"],
            env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        self.last = 0
        self.ask("initialize", {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        })
        self.say({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def say(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.last += 1
        self.say({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == self.last:
                return answer["result"]

    def busy(self):
        """Returns the CPU time of the server so far, in milliseconds."""
        tasks = f"/proc/{self.process.pid}/task"
        spent = 0
        for task in os.listdir(tasks):
            try:
                with open(f"{tasks}/{task}/schedstat") as file:
                    spent += int(file.read().split()[0])
            except OSError:
                pass  # The thread has ended.
        return spent / 1e6

    def call(self, tool, **arguments):
        """Returns the wall time and CPU time of a call in milliseconds, and its result."""
        start, busy = time.perf_counter(), self.busy()
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        took = (time.perf_counter() - start) * 1000
        assert not result.get("isError"), result
        return (took, self.busy() - busy), result["structuredContent"]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def show(label, measured):
    """Prints the times of calls and returns their medians."""
    both = []
    for name, values in zip(("", "computing "), zip(*measured)):
        values = sorted(values)
        p95 = values[max(0, int(len(values) * 0.95) - 1)]
        both.append(statistics.median(values))
        label += f"{',' if name else ':'} {name}p50 {both[-1]:.2f} p95 {p95:.2f}"
    print(label + " ms", flush=True)
    return both


def write_graph(path, entities):
    """Entities and relations in the format of the reference memory server."""
    with open(path, "w") as file:
        for n in range(entities):
            file.write(json.dumps({
                "type": "entity", "name": f"Entity {n}", "entityType": "Thing",
                "observations": [f"Is number {n} of many"],
            }) + "\n")
        for n in range(entities):
            for _ in range(3):
                file.write(json.dumps({
                    "type": "relation", "from": f"Entity {n}",
                    "to": f"Entity {random.randrange(entities)}", "relationType": "uses",
                }) + "\n")


def measure(server, entities, thread):
    some = lambda: f"Entity {random.randrange(entities)}"
    print(f"-- {entities} entities, {3 * entities} relations")
    call = lambda tool, **a: server.call(tool, threadId=thread, **a)
    show("get_analytics", [call("get_analytics")[0] for _ in range(15)])
    found = [call("find_relation_path", **{"from": some(), "to": some(), "maxDepth": 8})
             for _ in range(60)]
    longest = max(len(result["path"]) for _, result in found) - 1
    show(f"find_relation_path (up to {longest} relations)", [took for took, _ in found])
    show("search_nodes", [call("search_nodes", query=some())[0] for _ in range(20)])
    show("open_nodes", [call("open_nodes", names=[some()])[0] for _ in range(30)])
    show("read_graph, a page", [call("read_graph")[0] for _ in range(5)])
    saved, noted = [], []
    for turn in range(100):
        new = lambda n: f"New {turn} {n % 3}"
        request = [{
            "name": new(n), "entityType": "Thing", "observations": ["A short fact", "Another one"],
            "relations": [{"targetEntity": new(n + 1), "relationType": "next"},
                          {"targetEntity": some(), "relationType": "uses"}],
        } for n in range(3)]
        saved.append(call("save_memory", entities=request)[0])
        prose = " ".join(random.choice(PROSE) for _ in range(150))
        text = f"# Note\n\n{prose}\n\n- [fact] A short fact\n- uses [[Other]]\n"
        path = f"/memories/{thread}-{turn}.md"
        noted.append(server.call("memory", command="create", path=path, file_text=text)[0])
    save = show("save_memory of 3 entities", saved)
    note = show("durable write of one note", noted)
    print(f"ratio {save[0] / note[0]:.2f}, computing {save[1] / note[1]:.2f}", flush=True)


def main():
    binary, entities = os.path.abspath(sys.argv[1]), int(sys.argv[2])
    home = tempfile.mkdtemp(prefix="graph-bench-")
    env = {"HOME": home, "PATH": os.environ["PATH"]}
    random.seed(7)
    run = lambda *words: subprocess.run([binary, *words], env=env, check=True, capture_output=True)
    try:
        run("init")
        for count in sorted({FEW, entities}):
            write_graph(f"{home}/graph.jsonl", count)
            start = time.time()
            run("import", "mcp-memory", f"{home}/graph.jsonl", "--to", f"bench{count}")
            print(f"import of {count} entities: {time.time() - start:.1f} s", flush=True)
            server = Server(binary, env)
            try:
                measure(server, count, f"bench{count}")
            finally:
                server.close()
    finally:
        shutil.rmtree(home)


if __name__ == "__main__":
    main()
