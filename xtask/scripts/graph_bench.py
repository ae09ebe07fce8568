"""Measures the graph's tools on a large thread, over stdio: graph_bench.py BINARY ENTITIES.

Writes that many entities with three relations each as notes into a home of its own, indexes them,
and calls the tools as a client would. Prints milliseconds; removes what it wrote.
"""
import json,os,random,subprocess,sys,time,statistics,tempfile
binary=sys.argv[1]; n=int(sys.argv[2])
home=tempfile.mkdtemp(prefix="graph-bench-")
env={"HOME":home,"PATH":os.environ["PATH"]}
random.seed(7)
folder=f"{home}/memoranda/graph/bench"; os.makedirs(folder)
def oid(k): return "obs_%026d"%k
k=0
for i in range(n):
    k+=1
    rel="".join(f"- uses [[Entity {random.randrange(n)}]] <!-- rel 2026-01-20T15:30:00Z i=0.7 -->\n" for _ in range(3))
    open(f"{folder}/Entity {i}.md","w").write(f"---\ntitle: Entity {i}\ntype: Thing\nimportance: {random.random():.3f}\n---\n\n## Observations\n- [fact] Is number {i} of many <!-- {oid(k)} v1 2026-01-20T15:30:00Z c=1.0 i=0.5 thread=bench -->\n\n## Relations\n{rel}")
t=time.time(); subprocess.run([binary,"init"],env=env,capture_output=True); subprocess.run([binary,"sync"],env=env,check=True,capture_output=True); print(f"first index of {n}: {time.time()-t:.1f} s",flush=True)
p=subprocess.Popen([binary,"mcp","--toolsets","all"],env=env,stdin=subprocess.PIPE,stdout=subprocess.PIPE,text=True)
ids=[0]
def rpc(m,params):
    ids[0]+=1
    p.stdin.write(json.dumps({"jsonrpc":"2.0","id":ids[0],"method":m,"params":params})+"\n"); p.stdin.flush()
    while True:
        r=json.loads(p.stdout.readline())
        if r.get("id")==ids[0]: return r["result"]
rpc("initialize",{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}})
p.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n'); p.stdin.flush()
def call(name,**a):
    t=time.perf_counter(); r=rpc("tools/call",{"name":name,"arguments":a}); d=(time.perf_counter()-t)*1000
    assert not r.get("isError"),r
    return d,r["structuredContent"]
def show(label,xs): xs=sorted(xs); print(f"{label}: p50 {statistics.median(xs):.2f} ms, p95 {xs[int(len(xs)*.95)-1]:.2f} ms, max {xs[-1]:.2f} ms",flush=True)
show("get_analytics",[call("get_analytics",threadId="bench")[0] for _ in range(15)])
found=[];xs=[]
for _ in range(60):
    d,r=call("find_relation_path",**{"from":f"Entity {random.randrange(n)}","to":f"Entity {random.randrange(n)}","maxDepth":8,"threadId":"bench"}); xs.append(d); found.append(len(r["path"]))
show(f"find_relation_path (up to {max(found)-1} relations)",xs)
show("search_nodes",[call("search_nodes",query=f"Entity {random.randrange(n)}",threadId="bench")[0] for _ in range(20)])
show("open_nodes",[call("open_nodes",names=[f"Entity {random.randrange(n)}"],threadId="bench")[0] for _ in range(30)])
show("read_graph, a page",[call("read_graph",threadId="bench")[0] for _ in range(5)])
xs=[];ys=[]
for j in range(150):
    e=[{"name":f"New {j} {m}","entityType":"Thing","observations":["A short fact","Another one"],"relations":[{"targetEntity":f"New {j} {(m+1)%3}","relationType":"next"},{"targetEntity":f"Entity {random.randrange(n)}","relationType":"uses"}]} for m in range(3)]
    xs.append(call("save_memory",entities=e,threadId="bench")[0])
    t=time.perf_counter(); rpc("tools/call",{"name":"memory","arguments":{"command":"create","path":f"/memories/n{j}.md","file_text":"# Note\n\n- [fact] A short fact\n- uses [[Other]]\n"}}); ys.append((time.perf_counter()-t)*1000)
show("save_memory of 3 entities",xs); show("durable write of one note",ys)
print(f"ratio {statistics.median(xs)/statistics.median(ys):.2f}")
p.stdin.close(); p.wait()
import shutil; shutil.rmtree(home)
