"""--state DIR: commands that only read answer from the journal in a folder, without a
daemon and beside one, and leave no trace."""
import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest

from harness import Case, program, trainers_below, wait_for

# a trade-off with some noise in it, and a failure
TRADE = """
x = params["x"]
print("at", x)
if request["trial"] == 2:
    sys.exit("no luck")
for run in request["runs"]:
    noise = (run["seed"] % 1000) / 1e5
    out({"run": run["run"], "metrics": {"a": x, "b": 1 - x + noise}})
"""
SEARCH = "method: dpareto, evaluations: 9, initial: 5, front: denoised"

# each command that only reads, in a form that it prints the same twice
READING = [
    ["list", "-o", "name"],
    ["front", "s", "-o", "json"],
    ["front", "s", "--observed", "-o", "json"],
    ["front", "s", "--best", "b", "-o", "csv"],
    ["trials", "s", "-o", "json"],
    ["trials", "s", "--status", "failed", "-o", "jsonl"],
    ["trial", "s", "3", "-o", "json"],
    ["logs", "s", "2"],
    ["logs", "s", "2", "--stderr", "-o", "json"],
    ["export", "s"],
    ["export", "s", "--format", "json"],
    ["propose", "s", "-o", "json"],
    ["recommend", "s", "--at", "a=0.5", "-o", "json"],
    ["status", "s", "-o", "json"],
]


def traces(folder):
    """All that can be seen of a folder's files from outside."""
    seen = {}
    for place, _, files in os.walk(folder):
        for name in [".", *files]:
            path = os.path.join(place, name)
            if os.path.islink(path) or not os.path.exists(path):
                continue
            st = os.stat(path)
            digest = ""
            if name == "data.mdb":
                with open(path, "rb") as f:
                    digest = hashlib.sha256(f.read()).hexdigest()
            seen[path] = (st.st_size, st.st_mtime_ns, st.st_mode, digest)
    return seen


# of a summary: what is found when somebody looks
BACKGROUND = ("hypervolume_denoised", "denoised_results", "denoised_current")


class Look(Case):
    def tearDown(self):
        self.tidy()

    made = None  # the state folder of a study that was run once for all tests

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.made or "", ignore_errors=True)

    def finished(self):
        """A `run` study that has ended; its folder."""
        if not Look.made:
            Look.made = tempfile.mkdtemp(prefix="dpareto-")
            self.trainer(TRADE)
            text = self.study(search=SEARCH, extra_trainer=", runs: 2, retries: 0")
            done = self.ctl("run", self.write("s.yaml", text), "--state", Look.made, "-q")
            self.assertEqual(done.returncode, 0, done.stderr)
        return shutil.copytree(Look.made, self.path("state"), symlinks=True)

    def look(self, folder, *arguments, code=0):
        """What a command prints of a folder; its errors with another code."""
        answer = self.ctl(*arguments, "--state", folder)
        self.assertEqual(answer.returncode, code, (arguments, answer.stderr))
        return answer.stderr if code else answer.stdout

    def test_a_run_study_as_its_daemon_would_tell_it(self):
        folder = self.finished()
        before = traces(folder)
        looked = [self.look(folder, *words) for words in READING]
        self.assertEqual(traces(folder), before)
        self.daemon().start().connect()
        beside = ["--socket", self.daemons[0].socket]
        for words, shown in zip(READING, looked):
            with self.subTest(words):
                self.assertTrue(shown)
                told = self.ctl(*words, *beside).stdout
                if words[0] == "status" and "json" in words:
                    # which a daemon reckons when it is first asked
                    told, shown = json.loads(told), json.loads(shown)
                    for key in ("whole", *BACKGROUND):
                        told["study"].pop(key), shown["study"].pop(key)
                self.assertEqual(shown, told)
        self.assertIn("no luck", looked[7])
        # and beside it: the same
        for words, shown in zip(READING, looked):
            with self.subTest(words, beside=True):
                self.assertEqual(self.look(folder, *words), shown)

    def test_what_people_see(self):
        folder = self.finished()
        status = self.ctl("status", "s", "--state", folder)
        self.assertIn("this is the journal in %s; no daemon has it open" % folder,
                      status.stderr)
        everything = self.ctl("status", "--state", folder).stdout
        self.assertTrue(everything.startswith("state in " + folder), everything)
        self.assertIn("s  ", self.look(folder, "list"))
        page = self.ctl("report", "s", "--state", folder, "--dir", self.path("page"))
        self.assertEqual(page.stdout, self.path("page/report.html\n"))

    def test_the_whole_cost_is_waited_for(self):
        self.trainer("report(f1=0.5)\n")
        text = self.study(
            parameters="x: {type: int, range: [1, 9]}", search="method: random, evaluations: 2",
            objectives="a: {privacy: {mechanism: svt, cutoff: x, scale: 3}}\n  b: {metric: f1}")
        self.ctl("run", self.write("s.yaml", text), "--state", self.path("state"), "-q")
        status = json.loads(self.look(self.path("state"), "status", "s", "-o", "json"))
        self.assertEqual(status["study"]["whole"]["a"]["trainings"], 2)
        self.assertIn("whole search", self.look(self.path("state"), "status", "s"))

    def begin_long(self):
        """A daemon with a study whose third trial is under way."""
        self.trainer("""
if request["trial"] == 2:
    print("here", flush=True)
    gate("go")
report(a=params["x"], b=1 - params["x"])
""")
        client = self.daemon().start().connect()
        self.submit(client, self.study())
        wait_for(lambda: self.has("at-go"))
        wait_for(lambda: client("status", study="s")["study"]["ended"] == 2)
        return client, self.daemons[0].state

    def test_beside_a_daemon_at_work(self):
        client, folder = self.begin_long()
        status = json.loads(self.look(folder, "status", "s", "-o", "json"))
        mine, told = status["study"], client("status", study="s")["study"]
        for key in ("eta", "elapsed", *BACKGROUND):
            mine.pop(key), told.pop(key)
        self.assertEqual(mine, told)
        (attempt,) = status["running"]
        self.assertEqual((attempt["trial"], attempt["progress"]), (2, None))
        self.assertGreater(attempt["seconds"], 0)
        talk = self.ctl("status", "s", "--state", folder).stderr
        self.assertIn("as of now; process %d works on it" % self.daemons[0].process.pid, talk)
        self.assertEqual(self.look(folder, "logs", "s", "2", "--stdout"), "here\n")
        for words in READING[1:5]:
            self.assertEqual(self.look(folder, *words),
                             self.ctl(*words, "--socket", self.daemons[0].socket).stdout)
        self.touch("go")
        self.finish(client, "s")
        done = json.loads(self.look(folder, "status", "s", "-o", "json"))
        self.assertEqual((done["study"]["state"], done["running"]), ("finished", []))

    def test_after_its_daemon_was_killed(self):
        client, folder = self.begin_long()
        client.close()
        self.daemons[0].end(signal.SIGKILL)
        self.touch("go")
        wait_for(lambda: not trainers_below(self.folder))
        before = traces(folder)
        status = json.loads(self.look(folder, "status", "s", "-o", "json"))
        self.assertEqual((status["study"]["state"], status["study"]["eta"],
                          status["study"]["waiting"]),
                         ("running", None, "no daemon works on it"))
        (attempt,) = status["running"]
        self.assertEqual((attempt["trial"], attempt["seconds"]), (2, None))
        self.assertEqual(len(json.loads(self.look(folder, "trials", "s", "-o", "json"))), 3)
        self.look(folder, "front", "s")
        self.look(folder, "propose", "s")
        self.assertEqual(traces(folder), before)

    def test_of_a_study_with_an_oracle_program(self):
        self.write("oracle", """#!/usr/bin/env python3
import json, sys
for line in sys.stdin:
    q = json.loads(line)
    print(json.dumps({"id": q["id"], "epsilon": 3 * q["parameters"]["x"]}), flush=True)
""", 0o755)
        self.trainer("report(b=1 - params['x'])\n")
        text = self.study(search="method: dpareto, evaluations: 5, initial: 4", objectives=(
            "a: {privacy: {command: [./oracle], delta: 1e-5}}\n  b: {metric: b}"))
        folder = self.path("state")
        self.ctl("run", self.write("s.yaml", text), "--state", folder, "-q")
        before = traces(folder)
        point = json.loads(self.look(folder, "propose", "s", "-o", "json"))
        self.assertAlmostEqual(point["predicted"]["a"]["value"], 3 * point["parameters"]["x"])
        self.assertEqual(traces(folder), before)

    def test_folders_that_hold_nothing(self):
        os.mkdir(self.path("empty"))
        self.write("file", "")
        for place, words in (("none", "cannot look at"), ("file", "is no folder"),
                             ("empty", "there is no journal in")):
            for command in (["list"], ["front", "s"], ["status"], ["logs", "s", "0"]):
                with self.subTest(place, command=command):
                    said = self.look(self.path(place), *command, code=5)
                    self.assertIn(words, said)
                    self.assertIn("hint: a state folder is what", said)
        self.assertEqual(os.listdir(self.path("empty")), [])
        self.assertFalse(self.has("none"))
        error = json.loads(self.ctl("list", "--state", self.path("none"), "-o", "json").stdout)
        self.assertEqual(error["error"]["kind"], "not-found")

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs root, setpriv")
    def test_a_folder_of_somebody_else(self):
        """What may not be read is not told to be nothing."""
        os.chmod(self.folder, 0o755)
        os.makedirs(self.path("theirs/journal"), 0o700)
        os.chmod(self.path("theirs"), 0o700)
        done = subprocess.run(
            ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program("dparetoctl"),
             "list", "--state", self.path("theirs")], capture_output=True, text=True)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("cannot look into", done.stderr)

    def test_no_such_study(self):
        folder = self.finished()
        self.assertIn("'dparetoctl list --state %s' shows" % folder,
                      self.look(folder, "front", "t", code=5))

    def test_damaged_journals(self):
        folder = self.finished()
        data = os.path.join(folder, "journal/data.mdb")
        with open(data, "rb") as f:
            whole = f.read()
        for damaged in (b"\xff" * 9000, whole[:9000]):
            with open(data, "wb") as f:
                f.write(damaged)
            answer = self.ctl("list", "--state", folder, "-o", "json")
            self.assertEqual(answer.returncode, 1)
            error = json.loads(answer.stdout)["error"]
            self.assertEqual(error["kind"], "corrupt")
            self.assertIn("data.mdb is", error["message"])
            self.assertIn("journal repair", error["hint"])
        # one record: its study is set apart, and shown
        with open(data, "wb") as f:
            f.write(whole.replace(b"no luck", b"no link"))
        status = json.loads(self.look(folder, "status", "s", "-o", "json"))
        self.assertEqual(status["study"]["state"], "paused")
        self.assertIn("cannot be used", status["study"]["reason"])

    def test_a_disk_that_cannot_be_written(self):
        folder = self.finished()
        with open(self.path("script"), "w") as f:
            f.write("mount --bind %s %s && mount -o remount,ro,bind %s && exec \"$@\"\n" %
                    (folder, folder, folder))
        inside = ["unshare", "--mount", "sh", self.path("script")]
        if subprocess.run([*inside, "true"], capture_output=True).returncode != 0:
            self.skipTest("no mount of one's own can be had here")
        before = traces(folder)
        for words in READING:
            with self.subTest(words):
                shown = subprocess.run(
                    [*inside, program("dparetoctl"), *words, "--state", folder],
                    capture_output=True, text=True)
                self.assertEqual(shown.stdout, self.look(folder, *words), shown.stderr)
        self.assertEqual(traces(folder), before)

    def test_a_copy_of_the_journal_alone(self):
        folder = self.finished()
        os.makedirs(self.path("copy/journal"))
        shutil.copy(os.path.join(folder, "journal/data.mdb"), self.path("copy/journal"))
        self.assertEqual(self.look(self.path("copy"), *READING[1]),
                         self.look(folder, *READING[1]))
        self.assertEqual(os.listdir(self.path("copy")), ["journal"])
        self.assertEqual(os.listdir(self.path("copy/journal")), ["data.mdb"])

    def test_verbs_that_change_are_refused(self):
        folder = self.finished()
        before = traces(folder)
        ours, theirs = socket.socketpair()
        daemon = subprocess.Popen(
            [program("dparetod"), "--look", "--state", folder, "--control-fd",
             str(theirs.fileno())], pass_fds=[theirs.fileno()], stderr=subprocess.DEVNULL)
        theirs.close()
        with ours, ours.makefile("rwb") as wire:
            def ask(verb, **fields):
                wire.write(json.dumps({"v": 1, "do": verb, **fields}).encode() + b"\n")
                wire.flush()
                return json.loads(wire.readline())
            self.assertEqual(ask("hello")["ok"]["looking"], {"written": False, "writer": None})
            text = self.study(name="t")
            for verb in ("pause", "resume", "stop", "set", "delete", "retry", "cancel",
                         "enqueue", "submit", "reload", "shutdown", "changes"):
                with self.subTest(verb):
                    error = ask(verb, study="s", trial=0, text=text, dir=folder,
                                parameters={"x": 0.5}, evaluations=99)["error"]
                    self.assertIn("this only looks at %s: it does not %s" % (folder, verb),
                                  error["message"])
            self.assertIn("does not changes", ask("changes")["error"]["message"])
            self.assertEqual(ask("list")["ok"]["studies"][0]["name"], "s")
        self.assertEqual(daemon.wait(60), 0)  # whoever asked has gone
        self.assertEqual(traces(folder), before)
        alone = subprocess.run([program("dparetod"), "--look", "--state", folder],
                               capture_output=True, text=True)
        self.assertEqual(alone.returncode, 2)
        self.assertIn("--look needs --control-fd", alone.stderr)

    def test_words_of_other_meaning(self):
        folder = self.finished()
        said = self.ctl("trials", "s", "--state", "failed", cwd=self.folder)
        self.assertEqual(said.returncode, 2)
        self.assertIn("trials that are failed: --status failed", said.stderr)
        os.rename(folder, self.path("failed"))  # a folder of that name is one
        self.assertEqual(self.ctl("trials", "s", "--state", "failed", cwd=self.folder).returncode, 0)
        for command in ("watch", "wait", "pause"):
            said = self.ctl(command, "s", "--state", self.path("failed"))
            self.assertEqual(said.returncode, 2)
            self.assertIn("for commands that only look", said.stderr)
        said = self.ctl("front", "s", "--socket", self.path("none")).stderr
        self.assertIn("look at a state folder without one: --state DIR", said)
        self.assertIn("-f needs the daemon",
                      self.look(self.path("failed"), "logs", "s", "0", "-f", code=2))


if __name__ == "__main__":
    unittest.main()
