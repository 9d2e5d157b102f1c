"""test_trouble.py - a machine that is short of something: calls fail for a while, by a
preload. No trial is lost, none costs a retry, and `status` says what is waited for."""
import errno
import hashlib
import json
import os
import shutil
import signal
import subprocess
import unittest

from harness import Case, trainers_below, wait_for

FAULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "faults.c")


def ended_attempts(case):
    """The journal's records of ends, in order."""
    text = case.ctl("journal", "dump", "--state", case.path("state")).stdout
    records = [json.loads(line) for line in text.splitlines()]
    return [r for r in records if r["type"] == "attempt-ended"]


@unittest.skipUnless(shutil.which("cc"), "there is no C compiler")
class Trouble(Case):
    def setUp(self):
        super().setUp()
        library = self.path("faults.so")
        subprocess.run(["cc", "-shared", "-fPIC", "-w", "-o", library, FAULTS, "-ldl"], check=True)
        self.d = self.daemon(env={
            "LD_PRELOAD": library, "DPARETO_FAULTS": self.path("faults"),
            "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"})
        self.client = self.d.start().connect()

    def tearDown(self):
        self.fault()
        self.client.close()
        self.tidy()

    def fault(self, *lines):
        self.write("faults.new", "".join("%s %d\n" % line for line in lines))
        os.rename(self.path("faults.new"), self.path("faults"))

    def waiting(self):
        return self.client("status", study="s")["study"]["waiting"] or ""

    def trial(self):
        return self.client("trial", study="s", trial=0)["trial"]

    def submit_one(self, **study):
        self.submit(self.client, self.study(extra_trainer=", retries: 0", search=
                                            "method: random, evaluations: 1", **study))

    def goes_on(self):
        """The fault has passed: the one attempt there was is the result."""
        self.fault()
        self.assertEqual(self.finish(self.client, "s")["study"]["ok"], 1)

    def check_file(self, name, number, words):
        self.trainer("gate('go')\nreport(a=1, b=1)\n")
        self.submit_one()
        wait_for(lambda: self.has("at-go"))
        self.fault((name, number))
        self.touch("go")
        wait_for(lambda: words in self.waiting())
        self.assertIn(os.strerror(number), self.waiting())
        self.assertEqual(self.trial()["state"], "running")
        self.goes_on()
        self.assertEqual([a["end"] for a in self.trial()["attempts"]], ["ok"])

    def test_result_without_descriptors(self):
        self.check_file("result.jsonl", errno.EMFILE, "its result file cannot be read")

    def test_result_on_a_server_that_forgot_it(self):
        self.check_file("result.jsonl", errno.ESTALE, "its result file cannot be read")

    def test_result_interrupted(self):
        self.check_file("result.jsonl", errno.EINTR, "its result file cannot be read")

    def test_record_of_the_end(self):
        self.check_file("exit.json", errno.ENFILE, "the record of its end cannot be read")

    def test_what_the_trainer_did_is_its_own(self):
        """A file that nobody may read is no trouble of the machine."""
        self.trainer("gate('go')\nreport(a=1, b=1)\n")
        self.submit_one()
        wait_for(lambda: self.has("at-go"))
        self.fault(("result.jsonl", errno.EACCES))
        self.touch("go")
        self.finish(self.client, "s")
        self.assertEqual([a["end"] for a in self.trial()["attempts"]], ["bad-output"])

    def test_starts_that_the_machine_refuses(self):
        self.trainer("note(request['attempt'])\nreport(a=1, b=1)\n")
        for call, number in (("mkdir", errno.EDQUOT), ("spawn", errno.EAGAIN)):
            self.fault((call, number))
            if call == "mkdir":
                self.submit_one()
            wait_for(lambda: os.strerror(number) in self.waiting())
        self.goes_on()
        ends = [(r["end"], r["counted"], r["unbegun"]) for r in ended_attempts(self)]
        self.assertEqual(ends, [("lost", False, True)] * (len(ends) - 1)
                         + [("ok", True, False)])
        self.assertEqual(len(self.notes()), 1)

    def test_a_read_only_disk(self):
        """No folder for an attempt, then no request in it: nothing pauses, and it goes on
        by itself."""
        self.trainer("note(request['attempt'])\nreport(a=1, b=1)\n")
        self.fault(("mkdir", errno.EROFS))
        self.submit_one()
        wait_for(lambda: os.strerror(errno.EROFS) in self.waiting())
        before = len(ended_attempts(self))
        self.fault(("request.json", errno.EROFS))
        wait_for(lambda: len(ended_attempts(self)) > before)
        self.assertEqual(self.client("status", study="s")["study"]["state"], "running")
        self.goes_on()
        ends = [(r["end"], r["counted"], r["unbegun"]) for r in ended_attempts(self)]
        self.assertEqual(ends, [("lost", False, True)] * (len(ends) - 1)
                         + [("ok", True, False)])
        self.assertEqual(len(self.notes()), 1)

    def test_a_shim_that_cannot_be_watched(self):
        """It is asked for instead: it ran once, its result counts, no zombie is left."""
        self.trainer("note(request['attempt'])\ngate('go')\nreport(a=1, b=1)\n")
        self.fault(("pidfd", errno.EMFILE))
        self.submit_one()
        wait_for(lambda: self.has("at-go"))
        self.touch("go")
        self.assertEqual(self.finish(self.client, "s")["study"]["ok"], 1)
        self.assertEqual(self.notes(), ["0"])
        self.assertEqual(self.shims(), [])

    def shims(self):
        """Children of the daemon that are shims, zombies too."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/stat" % pid) as f:
                    name, _, rest = f.read().partition("(")[2].rpartition(")")
                if name == "dpareto-shim" and int(rest.split()[1]) == self.d.process.pid:
                    found.append(pid)
            except OSError:
                pass
        return found

    def test_term_before_the_shim_is_ready(self):
        """It waits for the shim, which tells of it: nothing is lost."""
        self.trainer("report(a=1, b=1)\n")
        self.fault(("term", 1))
        self.submit_one()
        wait_for(lambda: len(self.trial()["attempts"]) > 3)
        self.goes_on()
        ends = {(r["end"], r["counted"]) for r in ended_attempts(self)}
        self.assertLessEqual(ends, {("cancelled", False), ("ok", True)})


class Rewritten(Case):
    """A trainer that changes what it has reported already. The file in the end decides,
    whether or not a daemon read it meanwhile."""

    REWRITES = """
out({"progress": 0.5})
out('{"run":0,"metrics":{"a":0.25,"b":1}}\\n')
gate("go")
with open(os.environ["DPARETO_RESULT"], "w") as f:
    f.write('{"progress": 0.5}\\n{"run":0,"metrics":{"a":0.75,"b":1}}\\n')
"""

    def tearDown(self):
        self.client.close()
        self.tidy()

    def begin(self, text=REWRITES):
        self.trainer(text)
        self.d = self.daemon().start()
        self.client = self.d.connect()
        self.submit(self.client, self.study(search="method: random, evaluations: 1"))
        wait_for(lambda: self.has("at-go"))

    def trial(self):
        self.finish(self.client, "s")
        return self.client("trial", study="s", trial=0)["trial"]

    def digest(self):
        with open(self.path("state/studies/s/trials/0/0/result.jsonl"), "rb") as f:
            return hashlib.sha256(f.read()).hexdigest()

    def was_read(self):
        """The daemon has read what the trainer reported first."""
        wait_for(lambda: [r["progress"] for r in self.client("status", study="s")["running"]] == [0.5])

    def restart(self, while_away):
        self.d.end(signal.SIGKILL)
        while_away()
        self.client = self.d.start().connect()

    def verdict(self):
        """The state of the trial and what the journal has of the attempt, but for times."""
        state = self.trial()["state"]
        record, = ended_attempts(self)
        return state, {k: v for k, v in record.items() if k not in ("seq", "time", "exit")}

    def check_rewritten(self):
        """The same record in every test."""
        self.assertEqual(self.verdict(), ("ok", {
            "study": 1, "type": "attempt-ended", "trial": 0, "run": None, "attempt": 0,
            "end": "ok", "counted": True, "unbegun": False, "runs": [0],
            "metrics": {"a": [0.75], "b": [1]}, "sha256": self.digest()}))

    def test_rewritten_while_the_daemon_looks(self):
        self.begin()
        self.was_read()
        self.touch("go")
        self.check_rewritten()

    def test_rewritten_while_no_daemon_runs(self):
        self.begin()
        self.was_read()
        self.restart(lambda: self.touch("go"))
        self.check_rewritten()

    def test_rewritten_between_two_daemons(self):
        """One reads what was reported first, the next what came instead."""
        self.begin(self.REWRITES + "gate('end')\n")
        self.was_read()
        self.restart(lambda: (self.touch("go"), wait_for(lambda: self.has("at-end"))))
        self.touch("end")
        self.check_rewritten()

    REMOVES = """
import shutil
out({"progress": 0.5})
if request["attempt"]:
    report(a=1, b=1)
    sys.exit()
gate("go")
shutil.rmtree(os.getcwd())
"""

    def removed(self, while_away):
        self.begin(self.REMOVES)
        self.was_read()
        if while_away:
            def away():
                self.touch("go")
                wait_for(lambda: not trainers_below(self.folder))
            self.restart(away)
        else:
            self.touch("go")
        self.assertEqual(self.trial()["state"], "ok")
        return [r["end"] for r in ended_attempts(self)]

    def test_a_removed_folder_is_lost_while_the_daemon_looks(self):
        self.assertEqual(self.removed(False), ["lost", "ok"])

    def test_a_removed_folder_is_lost_while_no_daemon_runs(self):
        self.assertEqual(self.removed(True), ["lost", "ok"])


if __name__ == "__main__":
    unittest.main()
