#!/usr/bin/env python3
"""replay.py - start-up with a long journal: seconds until ready, memory, bytes.

  bench/replay.py BIN BENCH [STUDIES] [EVALUATIONS]

BENCH holds `fill`. Ready is the first answered request after exec."""
import os
import shutil
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/e2e"))
os.environ["DPARETO_BIN"] = sys.argv[1]
import harness  # noqa: E402
import subprocess  # noqa: E402

BENCH = os.path.abspath(sys.argv[2])
STUDIES = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
EVALUATIONS = int(sys.argv[4]) if len(sys.argv) > 4 else 100000


def anonymous(pid):
    with open("/proc/%d/status" % pid) as f:
        return int(next(x for x in f if x.startswith("RssAnon")).split()[1]) * 1024


folder = tempfile.mkdtemp(prefix="dpareto-bench-")
d = harness.Daemon(folder)
os.mkdir(d.state)
empty = harness.Daemon(tempfile.mkdtemp(prefix="dpareto-bench-", dir=folder))
empty.start().connect().close()
floor = anonymous(empty.process.pid)
empty.end()
subprocess.check_call([BENCH + "/fill", d.state, str(STUDIES), str(EVALUATIONS)])
size = os.stat(d.state + "/journal/data.mdb").st_blocks * 512
seconds = []
for _ in range(3):
    began = time.monotonic()
    client = d.start().connect()
    client("hello")
    seconds.append(time.monotonic() - began)
    memory = anonymous(d.process.pid)
    client.close()
    d.end()
replayed = [x.split("replayed")[1] for x in open(d.log) if "replayed" in x]
print("studies %d, evaluations %d" % (STUDIES, EVALUATIONS))
print("ready after    %s s (three starts)" % ", ".join("%.2f" % s for s in seconds))
print("of that replay%s" % replayed[-1].rstrip())
print("RssAnon        %.1f MB (empty daemon %.1f MB): %.0f bytes an evaluation" %
      (memory / 1e6, floor / 1e6, (memory - floor) / EVALUATIONS))
print("journal        %.1f MB: %.0f bytes an evaluation" % (size / 1e6, size / EVALUATIONS))
shutil.rmtree(folder)
