"""test_words.py - what is said of one of something, of cancelled trials and of retried ones."""
import datetime
import json
import unittest

from harness import Case, wait_for

ONE = "method: random, evaluations: 1"


def seconds(attempt):
    """How long the process of an attempt ran."""
    started, ended = (datetime.datetime.fromisoformat(attempt[k].replace("Z", "+00:00"))
                      for k in ("started", "ended"))
    return (ended - started).total_seconds()


class Words(Case):
    def setUp(self):
        super().setUp()
        self.d = self.daemon("--slots", "1").start()
        self.client = self.d.connect()

    def tearDown(self):
        self.tidy()

    def cli(self, *arguments, code=0):
        """What a command prints and says."""
        done = self.ctl("--socket", self.d.socket, *arguments)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_one_is_not_many(self):
        self.trainer("report(a=0.5, b=0.5)\n")
        self.submit(self.client, self.study(search=ONE))
        self.finish(self.client, "s")
        self.assertIn("is finished; 1 trial ended, 1 point on the front;", self.cli("front", "s"))
        self.assertIn("1 trial written to", self.cli("export", "s", "--file", self.path("s.csv")))
        self.assertIn("lose 1 ended trial with all logs", self.cli("delete", "s", code=2))
        self.assertIn("its only evaluation is made", self.cli("resume", "s", code=1))
        self.assertIn("takes no more points: its only evaluation is given out",
                      self.cli("enqueue", "s", "x=0.5", code=1))
        self.cli("set", "s", "evaluations=2")
        self.finish(self.client, "s")
        self.assertIn("is finished; 2 trials ended, 1 point on the front;", self.cli("front", "s"))
        run = self.ctl("run", self.write("one.yaml", self.study("one", search=ONE)), "--state",
                       self.path("run"))
        self.assertIn("is finished: 1 trial ended, 0 failed", run.stdout)
        journal = self.ctl("journal", "verify", "--state", self.path("run"))
        self.assertRegex(journal.stdout, "records of 1 study, .*, 0 faults")

    def test_one_failure_and_one_slot(self):
        self.trainer("if request['trial'] == 0: gate('go')\nsys.exit(3)\n")
        self.submit(self.client, self.study(
            extra_trainer=", max_failures: 1", search="method: random, evaluations: 3"))
        self.submit(self.client, self.study("next", extra_trainer=", max_failures: 1"))
        wait_for(lambda: self.has("at-go"))
        waiting = wait_for(lambda: self.client("status", study="next")["study"]["waiting"])
        self.assertEqual(waiting, "the only slot is taken")
        self.touch("go")
        reason = self.finish(self.client, "s")["study"]["reason"]
        self.assertIn("1 trial failed (trainer.max_failures)", reason)
        self.assertIn("is running, 1 of 3 trials has ended", self.cli("resume", "s"))
        self.finish(self.client, "s")
        self.finish(self.client, "next")

    def test_a_cancelled_trial_says_so_once(self):
        self.trainer("gate('never')\n")
        self.submit(self.client, self.study(search=ONE))
        wait_for(lambda: self.has("at-never"))
        self.cli("cancel", "s", "0")
        self.finish(self.client, "s")
        self.assertIn("trial 0 of 's': cancelled: by request\n", self.cli("trial", "s", "0"))
        self.assertNotIn("cancelled: cancelled", self.cli("status", "s"))
        row, = json.loads(self.cli("trials", "s", "-o", "json"))
        self.assertEqual((row["state"], row["reason"]), ("cancelled", "by request"))

    def test_a_retried_trial_took_what_its_last_attempt_did(self):
        self.trainer("if request['attempt'] == 0:\n    time.sleep(0.3)\n"
                     "    os.kill(os.getpid(), signal.SIGKILL)\nreport(a=1, b=1)\n")
        self.submit(self.client, self.study(search=ONE))
        self.finish(self.client, "s")
        trial = json.loads(self.cli("trial", "s", "0", "-o", "json"))
        first, last = trial["attempts"]
        self.assertEqual((first["end"], last["end"]), ("signal", "ok"))
        self.assertAlmostEqual(trial["seconds"], seconds(last), 5)
        # one without a result took what all of its attempts did
        self.trainer("time.sleep(0.05)\nos.kill(os.getpid(), signal.SIGKILL)\n")
        self.submit(self.client, self.study("none", extra_trainer=", retries: 1", search=ONE))
        self.finish(self.client, "none")
        trial = self.client("trial", study="none", trial=0)["trial"]
        self.assertEqual(len(trial["attempts"]), 2)
        self.assertAlmostEqual(trial["seconds"], sum(map(seconds, trial["attempts"])), 5)

    def test_names_of_trials(self):
        self.trainer("for run in request['runs']:\n"
                     "    for at in request['path']['values']:\n"
                     "        out({'run': run['run'], 'at': at, 'metrics': {'a': at, 'b': 1}})\n"
                     "report(a=params['n'], b=1)\n")
        self.submit(self.client, self.study(
            parameters="n: {type: int, range: [1, 9]}", extra_trainer=", path: n",
            search="method: random, evaluations: 2"))
        self.finish(self.client, "s")
        rows = self.client.every("trials", study="s")
        names = ["%d" % r["trial"] if r["at"] is None else "%d@%d" % (r["trial"], r["at"])
                 for r in rows]
        self.assertEqual(self.cli("trials", "s", "-o", "name").split(), names)
        self.assertEqual(self.cli("trials", "s", "--own", "-o", "name").split(), ["0", "1"])


if __name__ == "__main__":
    unittest.main()
