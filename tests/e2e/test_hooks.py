"""test_hooks.py - programs that are told of what happens: each event, in order, after the
record and the report; slow, failing, missing and hostile ones never felt by a study."""
import json
import os
import signal
import struct
import time
import unittest

from harness import Case, Refused, trainers_below, wait_for

EVENTS = "finished failed paused resumed trial-failed disk-low started".split()
KEYS = {"version", "event", "study", "state", "reason", "evaluations", "failed", "diverged",
        "hypervolume", "time", "report"}
TRAINER = """
if request["trial"] < int(os.environ.get("BAD", "0")):
    sys.exit("no such luck")
report(a=params["x"], b=1 - params["x"])
"""


class Hooks(Case):
    def configure(self, *hooks, **more):
        """The configuration, JSON being YAML; a hook is (command, events, timeout)."""
        hooks = [dict(zip(("command", "on", "timeout"), h)) for h in hooks]
        self.write("conf", json.dumps({"hooks": hooks, **more}))

    def teller(self, name="told"):
        return ["sh", "-c", "cat >> " + self.path(name)]

    def serve(self, env=None):
        d = self.daemon("--config", self.path("conf"), "--slots", "2", env=env).start()
        self.client = d.connect()
        return d

    def told(self, name="told"):
        if not self.has(name):
            return []
        with open(self.path(name)) as f:
            return [json.loads(line) for line in f]

    def heard(self, count, name="told"):
        wait_for(lambda: len(self.told(name)) >= count)
        return [(t["event"], t["study"]) for t in self.told(name)]

    def log(self):
        with open(self.daemons[-1].log) as f:
            return f.read()

    def tearDown(self):
        if hasattr(self, "client"):
            self.client.close()
        for gate in "go", "end":  # also after a failure
            self.touch(gate)
        wait_for(lambda: not trainers_below(self.folder))  # however slow the machine is
        self.tidy()


class Events(Hooks):
    def test_every_event(self):
        self.configure((self.teller(), EVENTS))
        self.trainer(TRAINER)
        d = self.serve()
        self.submit(self.client, self.study(extra_trainer=", retries: 0, env: {BAD: 1}"))
        self.finish(self.client, "s")
        self.assertEqual(self.heard(4), [("started", None), ("started", "s"),
                                         ("trial-failed", "s"), ("finished", "s")])
        start, _, failed, finished = self.told()
        for news in self.told():
            self.assertLessEqual(KEYS, set(news))
            self.assertEqual(news["version"], 1)
        self.assertEqual((start["state"], start["report"]), (None, None))
        self.assertEqual((failed["trial"], failed["class"], failed["state"], failed["failed"]),
                         (0, "exit-code", "running", 1))
        self.assertIsNone(failed["at"])
        self.assertIn("no such luck", failed["reason"])
        self.assertEqual((finished["state"], finished["reason"], finished["evaluations"],
                          finished["failed"]), ("finished", None, 4, 1))
        front = self.client("front", study="s")
        self.assertEqual(finished["hypervolume"], front["hypervolume"])
        # the report was there when the hook was told of it
        self.assertTrue(os.path.samefile(finished["report"], os.path.join(
            d.state, "studies/s/report/report.html")))
        # a study that fails, and a disk that fills up: once
        self.submit(self.client, self.study("f", search="method: random, evaluations: 1",
                                            extra_trainer=", retries: 0, env: {BAD: 9}"))
        self.configure((self.teller(), EVENTS), disk_watermark="1000000T")
        self.heard(7)
        self.assertEqual(self.client("reload")["changed"], ["disk_watermark"])
        self.assertEqual(self.heard(8)[4:], [("started", "f"), ("trial-failed", "f"),
                                             ("failed", "f"), ("disk-low", None)])
        self.assertIn("disk_watermark", self.told()[-1]["reason"])
        self.assertIn("not one evaluation", self.told()[-2]["reason"])

    def test_in_order_and_by_choice(self):
        self.configure((self.teller("both"), ["paused", "resumed"]),
                       (self.teller("one"), ["resumed"]))
        self.trainer("gate('go')\nreport(a=0, b=0)\n")
        self.serve()
        self.submit(self.client, self.study(search="method: random, evaluations: 1"))
        for _ in range(5):
            self.client("pause", study="s")
            self.client("resume", study="s")
        self.assertEqual(self.heard(10, "both"), [("paused", "s"), ("resumed", "s")] * 5)
        self.assertEqual(self.heard(5, "one"), [("resumed", "s")] * 5)
        self.assertEqual([t["state"] for t in self.told("both")], ["paused", "running"] * 5)
        # another configuration, told by a signal
        self.configure((self.teller("other"), ["paused"]))
        self.daemons[-1].process.send_signal(signal.SIGHUP)
        wait_for(lambda: "reloaded, 1 options changed" in self.log())
        self.client("pause", study="s")
        self.assertEqual(self.heard(1, "other"), [("paused", "s")])
        self.assertEqual(len(self.told("both")), 10)
        # a file with a mistake changes nothing
        self.configure((self.teller("none"), ["pause"]))
        with self.assertRaises(Refused) as refused:
            self.client("reload")
        self.assertIn("did you mean 'paused'?", str(refused.exception))
        self.client("resume", study="s")
        self.client("pause", study="s")
        self.heard(2, "other")
        self.touch("go")

    def test_what_a_hook_is_given(self):
        # each by a program in the place of the shell, which opens files and blocks signals
        # of its own while it starts another
        looks = ("ls -l /proc/self/fd > {0}/fds", "grep Sig /proc/self/status > {0}/signals",
                 "env > {0}/env", "ps -o pid=,pgid=,sid= $$ > {0}/ids", "touch {0}/done")
        self.configure(*((["sh", "-c", "exec " + look.format(self.folder)], ["started"])
                         for look in looks))
        secrets = {"NOTIFY_SOCKET": "/nowhere", "WATCHDOG_USEC": "999999999", "KEPT": "yes",
                   "LISTEN_FDNAMES": "x", "CREDENTIALS_DIRECTORY": "/nowhere"}
        self.serve(env=secrets)
        wait_for(lambda: self.has("done"))
        with open(self.path("env")) as f:
            names = {line.split("=")[0] for line in f}
        self.assertEqual(names & set(secrets), {"KEPT"})
        with open(self.path("fds")) as f:
            open_files = [line for line in f if "->" in line and "/fd\n" not in line]
            self.assertEqual(len(open_files), 3, open_files)
        with open(self.path("signals")) as f:
            for line in f:
                if line.startswith(("SigBlk", "SigIgn")):
                    # 32 and 33 are the C library's own
                    self.assertEqual(int(line.split()[1], 16) & ~(3 << 31), 0, line)
        with open(self.path("ids")) as f:
            self.assertEqual(len(set(f.read().split())), 1)


class Trouble(Hooks):
    def test_bad_programs(self):
        """Each is logged, the next is told, and the study has long ended."""
        on = ["finished"]
        stubborn = ("trap '' TERM; sh -c 'trap \"\" TERM; echo $$ > %s; while :; do sleep 1; "
                    "done' & wait; wait" % self.path("child"))
        self.configure(
            (["/nowhere/hook"], on), (["no-such-program-anywhere"], on),
            ([self.write("plain", "no program")], on),
            (["sh", "-c", "cat > /dev/null; echo first >&2; echo 'out of \033[2J luck' >&2; exit 3"], on),
            (["sh", "-c", "kill -9 $$"], on), (["true"], on),
            (["sh", "-c", "head -c 1500000 /dev/zero; echo; echo written; exit 1"], on),
            (["sh", "-c", stubborn], on, "500ms"), (self.teller(), on))
        self.trainer(TRAINER)
        self.serve()
        self.submit(self.client, self.study())
        status = self.finish(self.client, "s")
        self.assertEqual(status["study"]["state"], "finished")
        self.assertEqual(self.told(), [])
        self.assertEqual(self.heard(1), [("finished", "s")])
        for sentence in ("the hook /nowhere/hook for 'finished' could not be started: No such",
                         "no-such-program-anywhere for 'finished' could not be started",
                         "plain for 'finished' could not be started: Permission denied",
                         "exit status 3; its last line: out of  [2J luck",
                         "was killed by signal 9", "exit status 1; its last line: written",
                         "was ended by SIGKILL: it took longer than 500ms"):
            self.assertIn(sentence, self.log())
        self.assertEqual(self.log().count("the hook "), 7)
        with open(self.path("child")) as f:
            child = int(f.read())
        wait_for(lambda: not alive(child))

    def test_never_felt(self):
        """A hook that hangs: studies go on, a stop waits for it a little, the next daemon
        tells again what was not told to the end, and only that."""
        hang = "cat >> %s; [ -e %s ] || sleep 600" % (self.path("told"), self.path("go"))
        self.configure((["sh", "-c", hang], ["started", "finished"]))
        self.trainer(TRAINER)
        d = self.serve()
        self.heard(1)
        for name in "ab":
            self.submit(self.client, self.study(name))
        for name in "ab":
            self.assertEqual(self.finish(self.client, name)["study"]["state"], "finished")
        self.assertEqual(len(self.told()), 1)
        self.client.close()
        began = time.monotonic()
        d.process.send_signal(signal.SIGTERM)
        wait_for(lambda: "stopping" in self.log())
        self.assertIsNone(d.process.poll())
        self.assertEqual(d.end(), 0)  # a second signal: no more waiting
        self.assertLess(time.monotonic() - began, 60)
        self.touch("go")
        d.start()
        self.client = d.connect()
        heard = self.heard(6)
        self.assertEqual(heard[:1] + sorted(heard[1:-1]) + heard[-1:],
                         [("started", None)] +
                         sorted((e, n) for e in ("started", "finished") for n in "ab") +
                         [("started", None)])
        self.assertIn("4 hooks of a former daemon are run now", self.log())

    def test_killed_while_telling(self):
        """kill -9 while a hook runs: the next daemon runs it again; what was told to its end
        is not told twice."""
        slow = "cat >> %s; [ -e %s ] || sleep 600" % (self.path("told"), self.path("go"))
        self.configure((self.teller("quick"), ["started"]), (["sh", "-c", slow], ["paused"]))
        self.trainer("gate('end')\nreport(a=0, b=0)\n")
        d = self.serve()

        def pause(name):
            self.submit(self.client, self.study(name))
            self.client("pause", study=name)

        def again():
            self.client.close()
            d.end(signal.SIGKILL)
            self.touch("go")  # from now on hooks end; the one that runs is past asking
            d.start()
            self.client = d.connect()

        def kept(study):
            """Its first record that the next daemon will tell again."""
            with open(os.path.join(d.state, "hooks.told")) as f:
                return json.load(f)["studies"].get(study, 0)
        pause("first")
        self.assertEqual(self.heard(1), [("paused", "first")])
        wait_for(lambda: kept("1") > 0)  # "started" was told and noted
        again()
        self.assertEqual(self.heard(2), [("paused", "first")] * 2)
        pause("second")
        self.heard(3)
        records = self.client("status", study="second")["study"]["version"]
        wait_for(lambda: kept("2") >= records)
        again()
        pause("third")
        self.assertEqual(self.heard(4)[2:], [("paused", "second"), ("paused", "third")])
        self.assertEqual([s for e, s in self.heard(6, "quick") if s],
                         ["first", "second", "third"])
        self.touch("end")

    def test_more_than_memory_holds(self):
        """More notifications than the queue holds, behind a hook that hangs, with kill -9 while
        they wait and while they are sent: each is heard at least once, and in order."""
        hook = ("read -r line; echo \"$line\" >> %s; while ! [ -e %s ]; do sleep 0.1; done"
                % (self.path("told"), self.path("go")))
        self.configure((["sh", "-c", hook], ["paused", "resumed", "finished"], "600s"))
        self.trainer("gate('end')\nreport(a=0, b=0)\n")
        d = self.serve()
        names = ["a", "b", "c"]
        for name in names:
            self.submit(self.client, self.study(name, search="method: random, evaluations: 1"))

        def move(count):
            for i in range(count):
                self.client("pause", study=names[i % 3])
                self.client("resume", study=names[i % 3])

        def kill():
            self.client.close()
            d.end(signal.SIGKILL)
            d.start()
            self.client = d.connect()
        move(520)
        self.assertTrue("wait in the journal" in self.log())
        self.touch("end")  # the studies end with a full queue
        for name in names:
            self.finish(self.client, name)
        kill()
        self.touch("go")
        self.heard(200)
        kill()
        dump = self.ctl("journal", "dump", "--state", d.state).stdout.splitlines()
        moves = [r for r in map(json.loads, dump) if r["type"] == "study-moved"]
        self.assertEqual(len(moves), 1043)
        wait_for(lambda: len({t["time"] for t in self.told()}) == len(moves), 100, 0.2)
        self.assertLess(len(self.told()), len(moves) + 100)  # few are repeated
        first = list({(t["study"], t["state"], t["time"]): None for t in self.told()})
        self.assertEqual([t for _, _, t in first], sorted(t for _, _, t in first))
        for n, name in enumerate(names):
            self.assertEqual([(s, t) for study, s, t in first if study == name],
                             [(m["state"], m["time"]) for m in moves if m["study"] == n + 1])

    def test_no_hooks_no_past(self):
        self.trainer(TRAINER)
        self.configure()
        d = self.serve()
        self.submit(self.client, self.study("old"))
        self.finish(self.client, "old")
        self.client.close()
        d.end()
        self.assertFalse(self.has("state/hooks.told"))
        self.configure((self.teller(), EVENTS))
        d.start()
        self.client = d.connect()
        self.submit(self.client, self.study("new"))
        self.assertEqual(self.heard(3), [("started", None), ("started", "new"),
                                         ("finished", "new")])

    def test_a_damaged_record(self):
        """What was not told yet of a study that is set apart keeps no daemon from
        starting, and that it is set apart is told."""
        self.configure((self.teller(), ["paused"]))
        self.trainer(TRAINER)
        d = self.serve()
        self.submit(self.client, self.study())
        self.finish(self.client, "s")
        params = self.client("trial", study="s", trial=2)["trial"]["parameters"]
        self.client.close()
        d.end()
        with open(os.path.join(d.state, "journal/data.mdb"), "r+b") as f:
            value = struct.pack(">d", params["x"])
            damaged = f.read().replace(value, value[::-1])
            f.seek(0)
            f.write(damaged)
        self.write("state/hooks.told", json.dumps({"version": 1, "studies": {}}))
        d.start()
        self.client = d.connect()
        self.assertEqual(self.heard(1), [("paused", "s")])
        self.assertIn("cannot be used", self.told()[0]["reason"])

    def test_without_a_report(self):
        """A report that cannot be written does not swallow the hook."""
        self.configure((self.teller(), ["finished"]))
        self.trainer(TRAINER)
        d = self.serve()
        os.makedirs(os.path.join(d.state, "studies/s"))
        self.write("state/studies/s/report", "in the way")
        self.submit(self.client, self.study())
        self.heard(1)
        self.assertIsNone(self.told()[0]["report"])
        self.assertTrue(self.client("status", study="s")["study"]["report_error"])


def alive(pid):
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().split(")")[1].split()[0] != "Z"
    except OSError:
        return False


if __name__ == "__main__":
    unittest.main()
