"""test_steer.py - what may change while a study goes on: by an edited file, by `set`, across
kills; studies that wait for `resume`; initial points beside the results of another study."""
import json
import os
import signal
import time
import unittest

from harness import Case, Refused, asker, wait_for


class Steer(Case):
    def tearDown(self):
        self.tidy()

    def steer(self, *arguments, code=0):
        done = self.ctl("--socket", self.d.socket, *arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def changed(self, *arguments):
        """What `set -o json` answers."""
        return json.loads(self.steer("set", "s", *arguments, "-o", "json").stdout)

    def begin(self, *options):
        self.d = self.daemon("--slots", "2", *options).start()
        self.client = self.d.connect()

    def again(self):
        """Kills the daemon and starts another."""
        self.d.end(signal.SIGKILL)
        self.d.start()
        self.client = self.d.connect()

    def sources(self, study):
        return [t["source"] for t in self.client("trials", study=study)["trials"]]


class Edited(Steer):
    """`run` of a file that was edited."""

    def run_file(self, text, name="s.yaml", code=0):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        self.write(name, text)
        done = self.ctl("run", self.path(name), "--state", self.path("mine"), "-o", "json")
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def setUp(self):
        super().setUp()
        self.trainer("report(a=params['x'], b=1 - params['x'])\n")
        self.text = self.study(extra_trainer=", timeout: 10s",
                               search="method: random, evaluations: 2, parallel: 1")
        self.first = self.run_file(self.text)

    def test_what_has_no_meaning(self):
        done = self.run_file("# a word first\n" + self.text.replace("seed: 7", "seed:   7 # more"))
        self.assertEqual(done.stdout, self.first.stdout)
        self.assertNotIn("going on", done.stderr)

    def test_limits_and_budget(self):
        done = self.run_file(self.text.replace("10s", "1m30s").replace("parallel: 1", "parallel: 2")
                             .replace("evaluations: 2", "evaluations: 4"))
        self.assertIn("going on with study 's': timeout 10s -> 90s, evaluations 2 -> 4, "
                      "parallel 1 -> 2; 2 of 4 trials have ended", done.stderr)
        self.assertEqual(json.loads(done.stdout)["evaluations"], 4)
        report = json.load(open(self.path("mine/studies/s/report/report.json")))
        self.assertIn("1m30s", json.dumps(report))
        # back again: what the file says counts, not what was said first
        done = self.run_file(self.text.replace("evaluations: 2", "evaluations: 4"))
        self.assertIn("timeout 90s -> 10s, parallel 2 -> 1", done.stderr)

    def test_another_study(self):
        journal = self.ctl("journal", "dump", "--state", self.path("mine")).stdout
        for before, after, says in (
                ("metric: a", "metric: c", "objectives.a.metric: 'a' there, 'c' here"),
                ("seed: 7", "seed: 8", "seed: '7' there, '8' here"),
                ("range: [0, 1]", "range: [0, 2]", "parameters.x.range"),
                ("timeout: 10s", "timeout: 20s, runs: 2", "trainer.runs: '1' there, '2' here"),
                ("x: {", "y: {type: int, range: [1, 2]}\n  x: {", "parameters: '[x]' there, "
                 "'[y, x]' here"),
                ("random, evaluations: 2", "dpareto, evaluations: 9", "search.method")):
            done = self.run_file(self.text.replace(before, after), code=1)
            self.assertIn(says, json.loads(done.stdout)["error"]["message"])
            self.assertNotIn("timeout", json.loads(done.stdout)["error"]["message"])
        self.assertEqual(journal, self.ctl("journal", "dump", "--state", self.path("mine")).stdout)

    def test_a_file_that_was_moved(self):
        done = self.run_file(self.text, "there/s.yaml", code=1)  # it has no trainer beside it
        self.assertIn("trainer.command", done.stdout)
        whole = self.text.replace("./trainer", self.path("trainer"))
        self.assertEqual(self.run_file(whole).stdout, self.first.stdout)
        self.assertEqual(self.run_file(whole, "there/s.yaml").stdout, self.first.stdout)
        # whose folder trainers are told from now on
        self.run_file(whole.replace("evaluations: 2", "evaluations: 3"), "there/s.yaml")
        dump = self.ctl("journal", "dump", "--state", self.path("mine")).stdout
        self.assertIn('"dir":"%s"' % self.path("there"), dump)


class Set(Steer):
    def test_a_timeout_of_the_next_attempt(self):
        self.trainer("gate('go') if request['trial'] == 0 else time.sleep(60)\n"
                     "report(a=1, b=1)\n")
        self.begin()
        self.submit(self.client, self.study(search="method: random, evaluations: 2"))
        wait_for(lambda: self.has("at-go"))
        self.assertEqual([c["to"] for c in self.changed("timeout=0.2", "trainer.grace=1s",
                                                        "retries=0")["changes"]],
                         ["0.2s", "1s", "0"])
        time.sleep(0.4)  # trial 0 was started without a timeout
        self.touch("go")
        self.finish(self.client, "s")
        first, second = self.client("trials", study="s")["trials"]
        self.assertEqual((first["state"], second["state"]), ("ok", "failed"))
        self.assertIn("timeout", second["reason"])
        self.again()
        self.assertEqual(self.changed("timeout=none")["changes"],
                         [{"key": "trainer.timeout", "from": "0.2s", "to": "none",
                           "live": True}])

    def test_max_time(self):
        self.trainer("time.sleep(0.1)\nreport(a=1, b=1)\n")
        self.begin()
        self.submit(self.client, self.study(
            search="method: random, evaluations: 1000, max_time: 1s"))
        s = self.finish(self.client, "s")["study"]
        self.assertEqual((s["state"], s["reason"]), ("finished", "search.max_time was over"))
        self.assertEqual(self.changed("timeout=1m")["state"], "finished")
        self.assertEqual(self.changed("max_time=1h", "evaluations=%d" % (s["ended"] + 2))["state"],
                         "running")
        self.assertEqual(self.finish(self.client, "s")["study"]["ended"], s["ended"] + 2)

    def test_fewer_evaluations_than_there_are(self):
        self.trainer("report(a=1, b=1)\n")
        self.begin()
        self.submit(self.client, self.study(search="method: random, evaluations: 4"))
        self.finish(self.client, "s")
        said = self.steer("set", "s", "evaluations=1").stderr
        self.assertIn("evaluations is the total of all trials: 4 have ended already", said)
        answer = self.changed("evaluations=1")
        self.assertIn("it is finished with 4", answer["note"])
        self.assertIn("4 of 4", self.steer("status", "s").stdout)

    def test_what_cannot_be_set(self):
        self.trainer("report(a=1, b=1)\n")
        self.begin()
        self.submit(self.client, self.study())
        for change, says in (("seed=3", "would be another study"), ("patience=1G", "unknown key"),
                             ("tmeout=3", "did you mean 'timeout'"), ("stall=soon", "'soon'"),
                             ("grace=none", "cannot be 'none'")):
            self.assertIn(says, self.steer("set", "s", change, code=2).stderr)
        self.assertIn("cannot be 0", self.steer("set", "s", "parallel=0", code=1).stderr)
        self.assertIn("max_failures, log_limit, memory", self.steer("set", "s", "seed=3", code=2).stderr)


class Who(Steer):
    """The journal knows who asked for what, and from where; the daemon's decisions are nobody's."""

    VIA = "web page, from 192.0.2.7"

    def records(self, study):
        done = self.ctl("journal", "dump", "--study", study, "--state", self.path("state"))
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_every_action_and_nothing_else(self):
        self.trainer("gate('go%d' % request['trial'])\nreport(a=1, b=1)\n")
        self.write("s.yaml", self.study(search="method: random, evaluations: 3",
                                        extra_trainer=", retries: 0"))
        self.begin()
        me, via = asker(), {"study": "s", "via": self.VIA}
        self.steer("submit", "--paused", self.path("s.yaml"))
        s = self.client("status", study="s")["study"]
        self.assertEqual((s["reason"], s["by"]), ("submitted with --paused", me))
        self.assertIsNone(self.client("resume", **via)["study"]["by"])
        wait_for(lambda: self.has("at-go0"))
        self.client("cancel", trial=0, **via)
        wait_for(lambda: self.has("at-go1"))
        self.client("retry", trial=0, **via)
        self.client("set", keys={"timeout": "9s"}, **via)
        self.client("enqueue", parameters={"x": 0.5}, **via)
        self.client("pause", **via)
        self.again()
        s = self.client("status", study="s")["study"]
        self.assertEqual((s["state"], s["by"]), ("paused", "%s, %s" % (me, self.VIA)))
        self.assertEqual(s["reason"], "paused by %s, %s" % (me, self.VIA))
        self.assertIn("paused by %s, %s\n" % (me, self.VIA), self.steer("status", "s").stdout)
        self.assertIn("paused by %s, %s" % (me, self.VIA), self.steer("status").stdout)
        self.touch("go0")
        self.touch("go1")
        self.client("resume", study="s")
        wait_for(lambda: self.has("at-go2"))
        self.client("stop", now=True, **via)
        wait_for(lambda: self.client("status", study="s")["study"]["running"] == 0)
        s = self.client("status", study="s")["study"]
        self.assertEqual(s["reason"], "stopped by %s, %s" % (me, self.VIA))
        self.assertEqual(self.d.end(), 0)
        web = "%s, %s" % (me, self.VIA)
        known = [(r["type"], r.get("by")) for r in self.records("s") if "by" in r]
        self.assertEqual(known, [
            ("study-created", me), ("study-moved", me), ("study-moved", web),
            ("trial-cancel-asked", web), ("trial-retry-asked", web), ("study-amended", web),
            ("trial-proposed", web), ("study-moved", web), ("study-moved", me),
            ("study-moved", web), ("trial-cancel-asked", web)])
        for r in self.records("s"):
            if r["type"] == "trial-proposed":
                self.assertEqual("by" in r, r["source"] == "enqueued")

    def test_measured_and_imported(self):
        self.trainer("report(a=params['x'], b=1 - params['x'])\n")
        self.begin()
        self.submit(self.client, self.study("a", search="method: random, evaluations: 2"))
        self.finish(self.client, "a")
        self.client("measure", study="a", runs=2, via=self.VIA)
        self.finish(self.client, "a")
        self.submit(self.client, self.study("b", search="method: dpareto, evaluations: 9"))
        self.client("pause", study="b")
        self.client("import", study="b", origin="a", via=self.VIA)
        self.assertEqual(self.d.end(), 0)
        web = "%s, %s" % (asker(), self.VIA)
        asked = [r for r in self.records("a") if r["type"] == "measure-asked"]
        self.assertTrue(asked and all(r["by"] == web for r in asked))
        asked = [r["by"] for r in self.records("b") if r["type"] == "result-imported"]
        self.assertEqual(asked, [web] * 2)

    def test_what_is_no_place(self):
        self.trainer("report(a=1, b=1)\n")
        self.begin()
        self.submit(self.client, self.study())
        self.finish(self.client, "s")
        for via, says in (("x" * 201, "'via' may have at most 200 bytes"),
                          ("\n", "control characters"), ("a\x1b[2J", "control characters"),
                          ("\x7f", "control characters"), ("\x9b2J", "control characters"),
                          (7, "'via' must be a text")):
            with self.assertRaisesRegex(Refused, says):
                self.client("set", study="s", priority=3, via=via)
        s = self.client("set", study="s", priority=1, via="\u00e9" * 100)["study"]
        self.assertEqual((s["priority"], s["by"]), (1, None))

    def test_a_daemon_that_pauses_a_study_is_nobody(self):
        self.trainer("sys.exit('no')\n")
        self.begin()
        self.submit(self.client, self.study(extra_trainer=", retries: 0, max_failures: 1"))
        s = self.finish(self.client, "s")["study"]
        self.assertEqual((s["state"], s["by_failures"], s["by"]), ("paused", True, None))


class Submit(Steer):
    def test_paused(self):
        self.trainer("note('ran')\nreport(a=1, b=1)\n")
        self.write("s.yaml", self.study())
        self.begin()
        said = self.steer("submit", "--paused", self.path("s.yaml")).stderr
        self.assertIn("'dparetoctl resume s' starts it", said)
        self.again()
        s = self.client("status", study="s")["study"]
        self.assertEqual((s["state"], s["reason"]), ("paused", "submitted with --paused"))
        self.assertEqual((s["ended"], s["running"], self.notes()), (0, 0, []))
        self.steer("submit", self.path("s.yaml"))  # changes nothing
        self.assertEqual(self.client("status", study="s")["study"]["state"], "paused")
        self.steer("resume", "s")
        self.assertEqual(self.finish(self.client, "s")["study"]["state"], "finished")
        self.assertEqual(len(self.notes()), 4)
        self.assertEqual(self.ctl("run", "--paused", self.path("s.yaml")).returncode, 2)

    def test_an_edited_file(self):
        self.trainer("gate('go')\nreport(a=1, b=1)\n")
        self.write("s.yaml", self.study())
        self.begin()
        self.steer("submit", self.path("s.yaml"))
        wait_for(lambda: self.has("at-go"))
        self.write("s.yaml", "# later\n" + self.study(more="priority: 4\n",
                                                      search="method: random, evaluations: 3"))
        done = self.steer("submit", self.path("s.yaml"))
        self.assertEqual(done.stdout, "s\n")
        self.assertIn("going on with study 's': priority 0 -> 4, evaluations 4 -> 3; it is "
                      "running", done.stderr)
        self.again()
        self.touch("go")
        self.assertEqual(self.finish(self.client, "s")["study"]["ended"], 3)

    def test_initial_points_beside_known_results(self):
        self.trainer("report(a=params['x'], b=(1 - params['x']) ** 2)\n")
        self.begin()
        self.submit(self.client, self.study("known", search="method: random, evaluations: 16"))
        self.finish(self.client, "known")
        search = "method: dpareto, evaluations: 3, initial_from: known"
        for name, initial, drawn in (("a", "", 0), ("b", ", initial: 2", 2), ("c", ", initial: 0",
                                                                              0)):
            self.submit(self.client, self.study(name, search=search + initial))
        self.again()
        for name, drawn in (("a", 0), ("b", 2), ("c", 0)):
            self.finish(self.client, name)
            self.assertEqual(self.sources(name).count("initial"), drawn, name)
        self.write("d.yaml", self.study("d", search="method: dpareto, evaluations: 3, initial: 0"))
        self.assertIn("only with 'initial_from'",
                      self.steer("submit", self.path("d.yaml"), code=1).stderr)


if __name__ == "__main__":
    unittest.main()
