"""test_release.py - noise on utilities: nothing exact is kept anywhere, and what is released
is one value for one point."""
import glob
import hashlib
import json
import math
import os
import re
import shutil
import signal
import struct
import subprocess
import unittest

from harness import Case, LIMIT, program, unhurried, wait_for

SEED = "7007199254740991"
SIGMA = 0.05
RELEASE = "release: {records: 200, sigma: %g}" % SIGMA
OBJECTIVES = ("e: {privacy: {mechanism: svt, cutoff: n, scale: s}}\n"
              "  a: {metric: a, of: \"1 - a\", %s}\n  b: {metric: b, %s}" % (RELEASE, RELEASE))

# Exact values, which the trainer prints wherever it can and notes for the test alone.
EXACT = """
import hashlib
def exact(*what):
    key = [request["trial"], *what]
    value = int(hashlib.sha256(json.dumps(key).encode()).hexdigest()[:12], 16) / 2**48
    note(json.dumps([key, value]))
    print(value, flush=True)
    print(value, file=sys.stderr, flush=True)
    return value
def metrics(*what):
    return {"a": exact("a", *what), "b": exact("b", *what), "loss": exact("c", *what)}
def runs():
    return [r["run"] for r in request["runs"]]
def walk():
    for at in request.get("path", {"values": []})["values"]:
        for run in runs():
            out({"run": run, "at": at, "metrics": metrics(run, at)})
def end():
    for run in runs():
        out({"run": run, "metrics": metrics(run)})
"""

# One thing that can go wrong for every trial.
ENDS = EXACT + """
trial, attempt = request["trial"], request["attempt"]
walk()
if trial == 1:
    end()
    sys.exit("the accuracy was %r" % exact("exit"))
if trial == 2:
    out({"run": 0, "metrics": {**metrics(0), "a": float("nan")}})
    out({"run": 1, "metrics": metrics(1)})
    sys.exit()
if trial == 3:
    end()
    time.sleep(3600)
if trial == 4:
    out('{"run": 0, "metrics": {"a": "%r"}}\\n' % exact("bad"))
    sys.exit()
if trial == 5 and attempt == 0:
    os.kill(os.getpid(), signal.SIGKILL)
if trial == 6:
    out({"declare": {"records": 1e9 * exact("records"), "lot": exact("lot")}})
if trial == 7:
    out({"run": 0, "metrics": {"a": 100 * exact("percent"), "b": 0.5}})
    out({"run": 1, "metrics": metrics(1)})
    sys.exit()
if trial == 8:
    out({"run": 0, "metrics": {"a": exact("a", 0)}})
    sys.exit()
end()
"""


class Exact:
    """What the trainers noted, in every form in which it could stand somewhere: as a double
    or in digits; itself, one minus it, in percent; of a run, or the mean of two."""
    DIGITS = 11  # so many that no other number begins with them by chance

    def __init__(self, notes):
        self.value = {tuple(key): value for key, value in map(json.loads, notes)}
        pairs = [(v, self.value.get((*key[:2], 1, *key[3:])))
                 for key, v in self.value.items() if key[2:3] == (0,)]
        values = [*self.value.values(), *((v + w) / 2 for v, w in pairs if w is not None)]
        self.numbers = [x for v in values for x in (v, 1 - v, 100 * v)]
        self.doubles = {struct.pack(order + "d", x) for x in self.numbers for order in "<>"}
        self.texts = {self.digits(repr(x).encode()) for x in self.numbers}

    def digits(self, text):
        return text[:text.index(b".") + self.DIGITS]

    def within(self, text):
        """What of it stands in these bytes."""
        found = {self.digits(n) for n in re.findall(rb"\d+\.\d{%d}" % self.DIGITS, text)}
        return (found & self.texts) | ({text[i:i + 8] for i in range(len(text) - 7)} &
                                       self.doubles)


class Release(Case):
    def tearDown(self):
        self.tidy()

    def study_text(self, evaluations, extra="", search="", objectives=OBJECTIVES, more="",
                   name="s", seed=SEED):
        return ("study: %s\nseed: %s\ntrainer: {command: [./trainer], runs: 2, "
                "max_failures: 99%s}\nparameters:\n  n: {fixed: 8}\n"
                "  s: {type: float, range: [10, 100]}\nobjectives:\n  %s\n"
                "anti_ideal: {e: 10, a: 2, b: 2}\n"
                "search: {method: random, evaluations: %d, parallel: 4%s}\n%s" %
                (name, seed, extra, objectives, evaluations, search, more))

    def begin(self, trainer, evaluations, extra="", **keys):
        self.trainer(trainer)
        self.d = self.daemon("--slots", "4").start()
        self.client = self.d.connect()
        self.text = self.study_text(evaluations, extra, **keys)
        self.submit(self.client, self.text)

    def everything_said(self):
        """What each command says of the study, and the daemon's log."""
        said = [self.d.said, self.read(self.d.log).decode()]
        socket = ("--socket", self.d.socket)
        for command in (("status", "s"), ("list",), ("trials", "s"), ("front", "s"),
                        ("export", "s"), ("trials", "s", "--full")):
            for form in ((), ("-o", "json")):
                done = self.ctl(*command, *form, *socket)
                said += [done.stdout, done.stderr]
        for trial in ("1", "4"):
            done = self.ctl("trial", "s", trial, *socket)
            self.assertEqual(done.returncode, 0)
            said += [done.stdout]
        for trial in range(10):
            said += [json.dumps(self.client("trial", study="s", trial=trial))]
        said += [self.ctl("journal", "dump", "--state", self.d.state).stdout]
        return "\n".join(said)

    def secret(self, state="state"):
        journal = self.read(self.path(state + "/journal/data.mdb"))
        return re.search(rb"\xa6secret\xd9@([0-9a-f]{64})", journal).group(1).decode()

    def state_files(self):
        paths = glob.glob(self.d.state + "/**", recursive=True)
        return {path: self.read(path) for path in paths if os.path.isfile(path)}

    @staticmethod
    def read(path):
        with open(path, "rb") as f:
            return f.read()

    def test_nothing_exact_is_kept(self):
        self.begin(ENDS, 10, ", path: {parameter: n, points: 3}, timeout: %g, grace: 1s" %
                   unhurried(2))
        self.finish(self.client, "s")
        ends = {row["trial"]: row["state"] for row in
                self.client.every("trials", study="s", own=True)}
        self.assertEqual([ends[t] for t in range(10)],
                         ["ok", "failed", "diverged", "failed", "failed", "ok", "ok", "failed",
                          "failed", "ok"])
        # the last files go once their attempts are journaled
        wait_for(lambda: not [p for p in self.state_files()
                              if p.endswith(("result.jsonl", "stdout", "stderr"))])
        secret, said = self.secret(), self.everything_said().encode()
        self.assertEqual(self.ctl("report", "s", "--socket", self.d.socket).returncode, 0)
        exact = Exact(self.notes())
        self.assertGreater(len(exact.doubles), 300)
        self.assertTrue(exact.within(b"[0.5," + repr(exact.numbers[0]).encode() + b"]"))
        self.assertTrue(exact.within(b"mdb" + struct.pack(">d", exact.numbers[1])))
        for name, text in [("what is said", said), *self.state_files().items()]:
            self.assertEqual(exact.within(text), set(), name)
            if not name.endswith("journal/data.mdb"):
                self.assertNotIn(secret.encode(), text, name)
        self.assertIn(b'"secret":"hidden"', said)
        for trial, why in ((1, "exit code 1"), (4, "is not kept"), (7, "within 0 and 1"),
                           (8, "run 1 was asked")):
            self.assertIn(why, self.client("trial", study="s", trial=trial)["trial"]["reason"])
        done = self.ctl("logs", "s", "1", "--socket", self.d.socket)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("its logs are not kept", done.stderr)

    def report(self, *arguments):
        """A public report; report.json and all of its bytes, or what it says instead."""
        done = subprocess.run([program("dpareto-report"), "--state", self.d.state, "--public",
                               "-o", "json", *arguments], capture_output=True, timeout=LIMIT)
        answer = json.loads(done.stdout)
        if done.returncode:
            self.assertEqual(done.returncode, 1)
            return None, answer["error"]["message"]
        paths = glob.glob(answer["folder"] + "/*")
        return (json.loads(self.read(answer["folder"] + "/report.json")),
                {os.path.basename(path): self.read(path) for path in paths})

    def test_a_public_report(self):
        self.begin(EXACT + "walk()\nend()\n", 6, ", path: {parameter: n, points: 3}")
        self.finish(self.client, "s")
        facts, files = self.report("s")
        for name, text in files.items():
            for hidden in (SEED, self.secret(), self.folder):
                self.assertNotIn(hidden.encode(), text, name)
        self.assertFalse({"timeline.png", "time-spent.png"} & set(files))
        self.assertEqual([facts["spent"][key] for key in (
            "elapsed_seconds", "training_seconds", "cpu_seconds", "peak_memory")], [None] * 4)
        self.assertEqual((facts["reproduce"]["created"], facts["reproduce"]["updated"]),
                         (None, None))
        released = facts["released"]
        self.assertEqual((released["points"], released["most"], released["proof"]),
                         (6 * 4, 6 * 4, "composition"))
        # two metrics of 24 results: mu = sqrt(48) / (200 x 0.05), at delta 1e-5
        mu = math.sqrt(48) / (200 * SIGMA)

        def delta(epsilon):
            phi = lambda x: 0.5 * math.erfc(-x / math.sqrt(2))
            return (phi(mu / 2 - epsilon / mu) -
                    math.exp(epsilon) * phi(-mu / 2 - epsilon / mu))
        self.assertAlmostEqual(math.log(delta(released["epsilon"]) / 1e-5), 0, 4)
        self.assertIn(b"the larger of both epsilons", files["report.md"])
        self.assertIn(b"again with other seeds: drawn settings, noise and results differ. "
                      b"What is released then counts together", files["report.md"])
        self.assertNotIn(b"does not report the number of its test records",
                         files["report.md"])
        self.assertIn(b"which the noise on utilities covers", files["report.md"])
        self.assertNotIn(b"no guarantee", files["report.md"])
        attempt, = self.client("trial", study="s", trial=0)["trial"]["attempts"]
        self.assertEqual((attempt["cpu_seconds"], attempt["peak_memory"]), (None, None))

    def test_a_public_report_is_refused(self):
        """Each thing that would leak is named, all at once."""
        self.begin("if params['s'] < 50:\n    sys.exit(1)\nreport(a=0.5, b=0.5)", 4,
                   objectives="e: {privacy: {mechanism: svt, cutoff: n, scale: s}}\n"
                              "  a: {metric: a}\n  b: {metric: b}",
                   search=", cost: seconds, max_time: 1h", seed=str(2**53 - 1),
                   more="constraints: {a: \"<= 1\"}\nseeds: fixed\n")
        self.submit(self.client, self.study_text(2, name="other", more="data: public\n",
                                                 seed="7"))
        for study in ("s", "other"):
            self.finish(self.client, study)
        facts, why = self.report("s", "--baseline", "non-private=0.1")
        self.assertIsNone(facts)
        for leak in ("objective 'a' is exact", "objective 'b' is exact",
                     "constraint on 'a'", "seeds are fixed", "(search.cost)",
                     "(search.max_time)", "failed", "baseline 'non-private'"):
            self.assertIn(leak, why)
        self.assertFalse(self.has("state/studies/s/report-public/report.json"))
        facts, why = self.report("other", "s")
        self.assertIn("objective 'a' is exact", why)
        facts, files = self.report("other", "--figures", "front")
        self.assertIsNotNone(facts["spent"]["elapsed_seconds"])
        self.assertIn(b"but does not repeat it: the noise on utilities is drawn anew",
                      files["report.md"])

    @staticmethod
    def released(secret, trial, at, metric, mean):
        """As lib/study/metric_release.c and lib/base/rng.c have it."""
        key = hashlib.sha256(("%s %s %s %s" % (secret, chex(at), chex(mean), metric)).encode())
        key = b"".join(struct.pack("<I", ord(c)) for c in key.hexdigest())
        words = hashlib.sha256(hashlib.sha256(key).digest() +
                               struct.pack("<4I", 0, 0, trial, 5)).digest()
        words = struct.unpack("<4I", words[:16])
        u = [(((words[i] << 32 | words[i + 1]) >> 12) + 0.5) * 2.0**-52 for i in (0, 2)]
        noise = math.sqrt(-2 * math.log(u[0])) * math.cos(2 * math.pi * u[1])
        grid = 2.0 ** (math.frexp(SIGMA)[1] - 1 - 30)
        return grid * (round(mean / grid) + round(SIGMA / grid * noise))

    def values(self):
        """What trial 0 released: at its waypoints and at its end."""
        trial = self.client("trial", study="s", trial=0)["trial"]
        self.assertEqual(trial["runs"][1]["metrics"], {})
        return {**{w["at"]: w["metrics"] for w in trial["waypoints"]}, None: trial["released"]}

    def test_one_value_for_one_point(self):
        """A daemon that is killed before it has journaled a result releases the same value
        afterwards, whoever starts it; with another secret it is another one."""
        self.begin(EXACT + "gate('go')\nwalk()\nend()\n", 1,
                   ", path: {parameter: n, points: 2}")
        wait_for(lambda: self.has("at-go"))
        self.d.end(signal.SIGKILL)
        self.touch("go")
        wait_for(lambda: self.has("state/studies/s/trials/0/0/exit.json"))
        for name in ("stdout", "stderr"):  # not even before it is journaled
            printed = self.read(self.path("state/studies/s/trials/0/0/" + name))
            self.assertEqual(Exact(self.notes()).within(printed), set())
        shutil.copytree(self.path("state"), self.path("copy"))
        seen = []
        for folder in ("state", "copy", "other"):
            self.d.state = self.path(folder)
            self.d.start()
            self.client = self.d.connect()
            if folder == "other":
                self.submit(self.client, self.text)
            self.finish(self.client, "s")
            seen.append(self.values())
            self.assertEqual(self.d.end(), 0)
        self.assertEqual(seen[0], seen[1])
        exact = Exact(self.notes()).value
        for values, secret in zip(seen, map(self.secret, ("state", "copy", "other"))):
            self.assertEqual(len(values), 3)
            for at, metrics in values.items():
                way = () if at is None else (at,)
                for name, value in metrics.items():
                    mean = (exact[(0, name, 0, *way)] + exact[(0, name, 1, *way)]) / 2
                    self.assertEqual(value, self.released(
                        secret, 0, math.nan if at is None else at, name, mean))
        self.assertFalse({str(v) for v in seen[0].values()} & {str(v) for v in seen[2].values()})

    def test_a_retry_releases_no_point_again(self):
        """A trainer need not repeat bit for bit: what it reached at first stays."""
        self.begin(EXACT + """
for run in runs():
    for at in request["path"]["values"]:
        out({"run": run, "at": at, "metrics": metrics(run, at, request["attempt"])})
if request["attempt"] == 0:
    time.sleep(3600)
end()
""", 1, ", path: {parameter: n, points: 2}, timeout: %g, grace: 1s" % unhurried(1))
        self.finish(self.client, "s")
        first = self.client("trial", study="s", trial=0)["trial"]["waypoints"]
        self.assertEqual([w["dropped"] for w in first], [False, False])
        self.client("retry", study="s", trial=0)
        wait_for(lambda: self.client("trial", study="s", trial=0)["trial"]["state"] == "ok")
        trial = self.client("trial", study="s", trial=0)["trial"]
        self.assertEqual(trial["waypoints"], first)
        dump = self.ctl("journal", "dump", "--state", self.d.state).stdout.splitlines()
        ways = [r["ways"] for r in map(json.loads, dump) if r["type"] == "attempt-ended"]
        self.assertEqual(ways[1], ["nan"] * 4)

    def test_constraints_see_what_is_released(self):
        """Feasible is what was released as such, and not what was measured."""
        self.begin(EXACT + "end()\n", 12, more="constraints: {b: \"<= 0.5\"}\n")
        self.finish(self.client, "s")
        rows = self.client.every("trials", study="s")
        on_front = [row for row in rows if row["on_front"]]
        self.assertTrue(on_front)
        self.assertTrue(all(row["objectives"]["b"] <= 0.5 for row in on_front))


def chex(x):
    """A double as printf's %a writes it."""
    if math.isnan(x):
        return "end"  # not of a waypoint
    if x == 0:
        return "0x0p+0"
    digits, exponent = float(x).hex().split("p")
    return digits.rstrip("0").rstrip(".") + "p" + exponent


if __name__ == "__main__":
    unittest.main()
