#!/usr/bin/env python3
"""report.py - what a report with all figures in all formats costs: processor seconds, memory,
size.

  bench/report.py BIN BENCH [EVALUATIONS...]

BENCH holds `fill`. The studies are of DP-SGD with five parameters and two runs a trial."""
import os
import shutil
import subprocess
import sys
import tempfile
import time

BIN, BENCH = (os.path.abspath(p) for p in sys.argv[1:3])
SIZES = [int(n) for n in sys.argv[3:]] or [272, 10000]
REPEATS = 3

folder = tempfile.mkdtemp(prefix="dpareto-bench-")
try:
    print("evaluations  cpu s  wall s  memory MB  report MB  page MB")
    for size in SIZES:
        state = os.path.join(folder, str(size))
        os.mkdir(state)
        subprocess.check_call([BENCH + "/fill", state, "1", str(size), "sgd"])
        cpu, wall, memory = [], [], 0
        for _ in range(REPEATS):
            began = time.monotonic()
            process = subprocess.Popen([BIN + "/dpareto-report", "--state", state, "--format",
                                        "png,svg,pdf", "study-1"],
                                       stdout=subprocess.DEVNULL)
            _, status, used = os.wait4(process.pid, 0)
            if status != 0:
                sys.exit("dpareto-report failed")
            wall.append(time.monotonic() - began)
            cpu.append(used.ru_utime + used.ru_stime)
            memory = max(memory, used.ru_maxrss)
        out = os.path.join(state, "studies/study-1/report")
        total = sum(os.path.getsize(os.path.join(out, f)) for f in os.listdir(out))
        page = os.path.getsize(os.path.join(out, "report.html"))
        print("%11d  %5.2f  %6.2f  %9.0f  %9.1f  %7.2f" %
              (size, min(cpu), min(wall), memory / 1024, total / 1e6, page / 1e6))
finally:
    shutil.rmtree(folder)
