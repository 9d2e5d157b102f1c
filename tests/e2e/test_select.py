"""test_select.py - private selection: nothing but the best is shown by any verb, command,
report, hook or log; killed and resumed, it selects the same."""
import glob
import json
import os
import shutil
import signal
import unittest

from harness import Case, Daemon, Refused, trainers_below, wait_for

# A trainer that leaves marks of each training wherever it can, fails now and then, and notes
# for the test alone what nobody may learn.
TRAINER = """
x = params["x"]
note(json.dumps([request["trial"], x]))
print("mark", x, flush=True)
if int(x * 1e6) % 3 == 0:
    sys.exit("mark %r" % x)
report(a=1 - abs(x - 0.3))
"""

STUDY = """study: s
trainer: {command: [./trainer]}
parameters:
  x: {type: float, range: [0, 1]}
objectives:
  e: {privacy: {mechanism: gaussian, sigma: 5, delta: 1e-5}}
  u: {metric: a, goal: maximize, release: {records: 5000, sigma: 1e-3}}
anti_ideal: {e: 10, u: 0}
search: {method: select, rounds: {poisson: 20}, parallel: 2}
"""

# Of the daemon as a whole, and documented as the owner's: its journal's size, busy slots.
LOOKS = (("status", "s"), ("list",), ("status",), ("trials", "s"), ("trials", "s", "--full"),
         ("front", "s"), ("front", "s", "--denoised"), ("export", "s"), ("trial", "s", "0"),
         ("trial", "s", "1"), ("logs", "s", "0"), ("logs", "s", "1"), ("propose", "s"),
         ("recommend", "s", "--at", "u=0.5"),
         ("retry", "s", "1"), ("retry", "s", "--failed"), ("cancel", "s", "0"),
         ("cancel", "s", "99"), ("enqueue", "s", "x=0.5"), ("set", "s", "evaluations=5"),
         ("set", "s", "priority=1"), ("delete", "s"))


class Select(Case):
    def tearDown(self):
        self.tidy()

    def begin(self, *options):
        self.trainer(TRAINER)
        self.write("hook", "#!/bin/sh\ncat >>%s\n" % self.path("told"), 0o755)
        self.write("conf", "hooks: [{on: [finished, failed, paused, resumed, trial-failed, "
                   "started], command: [%s]}]\n" % self.path("hook"))
        self.d = self.daemon("--slots", "2", "--config", self.path("conf"), "--log-level",
                             "debug", *options).start()
        self.client = self.d.connect()

    def said(self):
        """What every command says of the study."""
        texts = []
        for command in LOOKS + (("resume", "s"),):
            for form in ((), ("-o", "json")):
                done = self.ctl(*command, *form, "--socket", self.d.socket)
                texts.append("%s: %s%s" % (" ".join(command), done.stdout, done.stderr))
        texts.append(self.ctl("journal", "dump", "--study", "s", "--state",
                              self.d.state).stdout)
        return texts

    def text(self, path):
        with open(path, errors="replace") as f:
            return f.read()

    def told_texts(self):
        """What hooks were told, the log, and the report."""
        paths = [self.path("told"), self.d.log,
                 *glob.glob(self.d.state + "/studies/s/report/report.*")]
        return ["%s: %s" % (p, self.text(p)) for p in paths if os.path.exists(p)]

    def assert_hidden(self, texts, trials, x=None):
        """None of the marks but the winner's; no count and no number of a trial, from 2 on."""
        for text in texts:
            text = text.replace('": ', '":')
            for trial, mark in trials:
                if mark != x:
                    self.assertNotIn(repr(mark)[:9], text)
            for word in ("%d trial", "%d evaluation", "trial %d ", "/trials/%d", "s/%d:",
                         '"trial":%d,', '"evaluations":%d', '"ended":%d', '"failed":%d',
                         '"running":%d'):
                for number in range(2, len(trials) + 1):
                    self.assertNotIn(word % number, text)

    def notes_read(self):
        return [tuple(json.loads(line)) for line in self.notes()]

    def test_nothing_else_is_shown(self):
        self.begin()
        self.submit(self.client, STUDY)
        wait_for(lambda: len(self.notes()) >= 3)
        *while_running, resumed, _, _ = self.said()  # the last is what `resume` says
        self.assertRegex(resumed, "a secret number of trials have ended|its selection is made")
        status = self.finish(self.client, "s")
        self.assertEqual(status["study"]["state"], "finished")
        wait_for(lambda: self.client("status", study="s")["study"]["report"])
        wait_for(lambda: "finished" in self.text(self.path("told")))
        front = self.client("front", study="s")
        trials = self.notes_read()
        self.assertGreater(len(trials), 3)
        self.assertEqual(sorted(t for t, _ in trials), list(range(len(trials))))  # once each
        self.assertEqual([front["evaluations"], front["failed"], front["diverged"]], [None] * 3)
        point, = front["front"]
        winner = point["parameters"]["x"]
        self.assertEqual(point["trial"], 0)
        self.assertIn(winner, [x for _, x in trials])
        good = [x for _, x in trials if int(x * 1e6) % 3]
        best = min(abs(x - 0.3) for x in good)
        self.assertLess(abs(winner - 0.3), best + 0.02)  # the noise on utilities decides
        cost = front["selection"]
        self.assertTrue(0 < cost["one_training"] < cost["epsilon"] < cost["composed"])
        self.assertEqual(cost["epsilon"], max(cost["trained"], cost["measured"]))
        self.assertEqual(cost["theorem"], "Papernot and Steinke 2022, Theorem 6")
        self.assert_hidden(while_running, trials, winner)
        self.assert_hidden(self.said() + self.told_texts(), trials, winner)
        self.assertNotIn("trial-failed", self.text(self.path("told")))
        self.assertTrue(os.path.isdir(self.d.state + "/studies/s/selected"))
        self.assertEqual(self.client("trial", study="s", trial=0)["trial"]["attempts"][0]
                         ["directory"], self.d.state + "/studies/s/selected")
        public = self.ctl("report", "s", "--public", "--socket", self.d.socket)
        self.assertEqual((public.returncode, public.stderr), (0, ""))
        for verb, fields in (("propose", {}), ("retry", {"trial": 0}), ("resume", {}),
                             ("set", {"evaluations": 3})):
            with self.assertRaises(Refused):
                self.client(verb, study="s", **fields)

    def test_killed_and_resumed(self):
        """Two copies of a study that was just submitted: one is left alone, the other is
        killed with its trainers again and again."""
        self.begin()
        self.submit(self.client, STUDY)
        wait_for(lambda: self.notes())
        self.d.end(signal.SIGKILL)
        for pid in trainers_below(self.folder):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass  # gone meanwhile
        wait_for(lambda: not trainers_below(self.folder))
        other = os.path.join(self.folder, "other")
        os.mkdir(other)
        shutil.copytree(self.d.state, os.path.join(other, "state"), symlinks=True)
        fronts = [self.front_of(self.d)]
        d = Daemon(other, "--slots", "2")
        self.daemons.append(d)
        for _ in range(3):
            before = len(self.notes())
            client = d.start().connect()
            wait_for(lambda: len(self.notes()) > before or
                     client("status", study="s")["study"]["state"] == "finished")
            client.close()
            d.end(signal.SIGKILL)
        fronts.append(self.front_of(d))
        self.assertEqual(fronts[0], fronts[1])
        self.assertEqual(fronts[0]["state"], "finished")

    def front_of(self, d):
        client = d.start().connect()
        self.finish(client, "s")
        front = client("front", study="s")
        client.close()
        self.assertEqual(d.end(), 0)
        return front


if __name__ == "__main__":
    unittest.main()
