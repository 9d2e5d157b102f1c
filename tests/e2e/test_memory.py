"""test_memory.py - trainer.memory: a limit for all processes of a trainer together, kept by the
kernel where the trainer has a cgroup with a memory controller, else by dpareto-shim."""
import json
import os
import unittest

from harness import Case, trainers_below, wait_for

# fill(mb) makes so much memory its own; child(f) forks a process that does f() and stays.
GROWING = """
import mmap
def fill(mb):
    m = mmap.mmap(-1, mb << 20)
    for i in range(0, mb << 20, 4096):
        m[i] = 1
    return m
def child(f):
    if os.fork() == 0:
        kept = f()
        time.sleep(100)
        os._exit(0)
def escape(f):
    "Two forks and a session of its own: nobody's child but the shim's."
    if os.fork() == 0:
        os.setsid()
        child(f)
        os._exit(0)
"""
ONE = "method: random, evaluations: 1"


class Memory(Case):
    before = ()

    def tearDown(self):
        self.tidy()

    def run_study(self, text, memory="memory: 120M", search=ONE, more=""):
        """Runs it to its end; returns the attempts of its first trial."""
        self.trainer(GROWING + text)
        self.d = self.daemon("--slots", "1").start(before=self.before)
        self.client = self.d.connect()
        self.submit(self.client, self.study(extra_trainer=", " + memory, search=search, more=more))
        self.finish(self.client, "s")
        return self.client("trial", study="s", trial=0)["trial"]["attempts"]

    def record(self, trial=0):
        with open(self.path("state/studies/s/trials/%d/0/exit.json" % trial)) as f:
            return json.load(f)

    def check_ended(self, attempts):
        """By the limit, once, and with nothing left."""
        self.assertEqual([a["end"] for a in attempts], ["memory"])
        self.assertIn("trainer.memory (120 MiB); raise it or train with a smaller lot",
                      attempts[0]["message"])
        e = self.record()
        self.assertEqual((e["memory"], e["memory_limit"], e["signal"]), (True, 120 << 20, 9))
        self.assertNotIn("left_behind", e)
        self.assertEqual(trainers_below(self.folder), [])
        return e

    def test_children_together(self):
        """Each is far below the limit."""
        e = self.check_ended(self.run_study(
            "for i in range(5):\n    child(lambda: fill(40))\ntime.sleep(100)"))
        self.assertGreaterEqual(e["peak_memory"], 119 << 20)

    def test_one_that_grows_quickly(self):
        e = self.check_ended(self.run_study("kept = []\nwhile True:\n    kept.append(fill(8))"))
        self.assertLess(e["peak_memory"], 1000 << 20)
        # nobody asked it to end
        self.assertLess(e["end"] - e["start"], 60)

    def test_one_that_escapes(self):
        self.check_ended(self.run_study(
            "for i in range(5):\n    escape(lambda: fill(40))\ntime.sleep(100)"))

    def test_enough(self):
        """Below the limit, though the sum of what each process has in memory is above."""
        attempts = self.run_study("kept = fill(60)\nfor i in range(4):\n"
                                  "    child(lambda: sum(kept[::4096]))\ntime.sleep(1.5)\nreport(a=1, b=1)")
        self.assertEqual([a["end"] for a in attempts], ["ok"])
        e = self.record()
        self.assertNotIn("memory", e)
        self.assertEqual(e["memory_limit"], 120 << 20)
        self.assertGreaterEqual(e["peak_memory"], 60 << 20)

    def test_mapped_files_do_not_count(self):
        """The kernel can take their pages back."""
        with open(self.path("data"), "wb") as f:
            f.write(bytes(200 << 20))
        attempts = self.run_study(
            "with open(beside('data'), 'rb') as f:\n"
            "    m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)\n"
            "sum(m[::4096])\ntime.sleep(1)\nreport(a=1, b=1)")
        self.assertEqual([a["end"] for a in attempts], ["ok"])

    def test_set_while_it_goes_on(self):
        """Those that run keep what they had; the next ones get the new limit."""
        self.trainer(GROWING + "kept = fill(60)\ngate('go%d' % request['trial'])\ntime.sleep(1)\nreport(a=1, b=1)")
        self.d = self.daemon("--slots", "1").start(before=self.before)
        client = self.d.connect()
        self.submit(client, self.study(search="method: random, evaluations: 3"))
        wait_for(lambda: self.has("at-go0"))
        done = self.ctl("--socket", self.d.socket, "set", "s", "trainer.memory=40M")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.touch("go0")
        self.touch("go1")
        wait_for(lambda: client("trial", study="s", trial=1)["trial"]["state"] == "failed"
                 if client("status", study="s")["study"]["ended"] > 1 else False)
        self.ctl("--socket", self.d.socket, "set", "s", "memory=none")
        self.finish(client, "s")
        ends = [client("trial", study="s", trial=i)["trial"]["attempts"][-1]["end"] for i in range(2)]
        self.assertEqual(ends, ["ok", "memory"])
        self.assertNotIn("memory_limit", self.record())

    def test_what_is_reached_counts(self):
        """The waypoints of a training that was cut short are results."""
        self.trainer(GROWING + "out({'run': 0, 'at': 1, 'metrics': {'a': 1, 'b': 1}})\n"
                     "time.sleep(0.1)\nkept = fill(300)\ntime.sleep(100)")
        self.d = self.daemon("--slots", "1").start(before=self.before)
        client = self.d.connect()
        self.submit(client, self.study(
            extra_trainer=", memory: 120M, path: {parameter: n, points: 2}",
            parameters="n: {fixed: 8}", search="method: grid, grid: 1"))
        self.finish(client, "s")
        self.assertEqual([(p["trial"], p["at"]) for p in client("front", study="s")["front"]], [(0, 1)])

    def test_nothing_is_told_of_a_study_that_releases(self):
        """How much was used may tell of the data."""
        self.trainer(GROWING + "kept = fill(300)\ntime.sleep(100)")
        self.d = self.daemon("--slots", "1").start(before=self.before)
        client = self.d.connect()
        release = "release: {records: 200, sigma: 0.1}"
        self.submit(client, self.study(
            extra_trainer=", memory: 120M", search=ONE,
            objectives="a: {metric: a, %s}\n  b: {metric: b, %s}" % (release, release)))
        self.finish(client, "s")
        attempt = client("trial", study="s", trial=0)["trial"]["attempts"][0]
        self.assertEqual((attempt["end"], attempt["peak_memory"]), ("memory", None))
        self.assertIn("together needed more than trainer.memory (120 MiB)", attempt["message"])

    def test_killed_without_a_limit(self):
        attempts = self.run_study("kept = fill(50)\nos.kill(os.getpid(), 9)", memory="retries: 0")
        self.assertEqual([a["end"] for a in attempts], ["signal"])
        self.assertRegex(attempts[0]["message"], r"its largest process had [67]\d MiB\); trainer.memory sets")


class KernelMemory(Memory):
    """The same, with a cgroup that has a memory controller: as with DelegateSubgroup= the daemon
    is in a part of its service."""

    def setUp(self):
        super().setUp()
        with open("/proc/self/mountinfo") as f:
            mounts = [line.split() for line in f if " - cgroup2 " in line]
        try:
            with open(os.path.join(mounts[0][4], "cgroup.subtree_control")) as f:
                if "memory" not in f.read().split():
                    self.skipTest("no memory controller in cgroup version 2 here")
            folder = os.path.join(mounts[0][4], os.path.basename(self.folder) + ".service")
            for part in (folder, folder + "/daemon"):
                os.mkdir(part)
                self.addCleanup(os.rmdir, part)
            os.setxattr(folder, "user.delegate", b"1")
        except (IndexError, OSError) as e:
            self.skipTest("no cgroup can be made here: %s" % e)
        self.addCleanup(self.end_all)
        self.before = ["sh", "-c", 'echo $$ >"%s/daemon/cgroup.procs"; exec "$@"' % folder, "-"]

    def tearDown(self):
        with open(self.d.log) as f:
            self.assertIn("the kernel keeps their limits of memory", f.read())
        super().tearDown()


if __name__ == "__main__":
    unittest.main()
