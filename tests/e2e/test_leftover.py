"""test_leftover.py - a trainer is its whole tree, and what it may do to its folder: a retry
never runs beside what a killed shim left, and a claim is where no trainer cleans up."""
import os
import signal
import subprocess
import unittest

from harness import Case, trainers_below, wait_for

# Leaves processes that outlive a killed shim: in a session of their own, and one without
# any environment. The next attempt notes which of them it meets.
LEAVES = """
import subprocess
if request["attempt"] == 0:
    own = subprocess.Popen(["sleep", "600"], start_new_session=True)
    deep = subprocess.Popen(["sh", "-c", "trap '' TERM HUP; sleep 601 & exec sleep 602"],
                            start_new_session=True)
    bare = subprocess.Popen(["sleep", "603"], env={}, start_new_session=BARE_SESSION)
    note("%d %d %d" % (own.pid, deep.pid, bare.pid))
    gate("never")
"""
# Of the processes that are noted, it notes those that still run, but for itself.
MEETS = """
def alive(pid):
    try:
        with open("/proc/%s/stat" % pid) as f:
            return f.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
with open(beside("notes")) as f:
    left = f.read().split()
with open(beside("met"), "w") as f:
    f.write(" ".join(p for p in left if int(p) != os.getpid() and alive(p)))
report(a=1, b=1)
"""
LEAVES += MEETS


def shims_below(folder):
    found = []
    for pid in trainers_below(folder):
        try:
            with open("/proc/%d/comm" % pid) as f:
                if f.read().startswith("dpareto-shim"):
                    found.append(pid)
        except OSError:
            pass
    return found


class LeftoverCase(Case):
    def tearDown(self):
        self.client.close()
        self.tidy()

    def begin(self, text, before=()):
        self.trainer(text)
        self.d = self.daemon().start(before=before)
        self.client = self.d.connect()
        self.submit(self.client, self.study(search="method: random, evaluations: 1"))

    def ends(self):
        self.finish(self.client, "s")
        return [a["end"] for a in self.client("trial", study="s", trial=0)["trial"]["attempts"]]


class Leftover(LeftoverCase):
    def left(self):
        """The processes that the first attempt left."""
        wait_for(lambda: self.has("at-never"))
        pids = self.notes()[0].split()
        self.addCleanup(self.kill_all, pids)
        return pids

    def kill_all(self, pids):
        for pid in pids:
            try:
                with open("/proc/%s/comm" % pid) as f:
                    if f.read() == "sleep\n":
                        os.kill(int(pid), signal.SIGKILL)
            except OSError:
                pass  # gone, as it should be

    def met(self):
        with open(self.path("met")) as f:
            return f.read()

    def test_a_killed_shim(self):
        self.begin(LEAVES.replace("BARE_SESSION", "False"))
        self.left()
        os.kill(shims_below(self.folder)[0], signal.SIGKILL)
        self.assertEqual(self.ends(), ["lost", "ok"])
        self.assertEqual(self.met(), "")
        with open(self.d.log) as f:  # what ended when it was killed is no trouble
            self.assertNotIn("does not end", f.read())

    def test_a_killed_shim_while_no_daemon_runs(self):
        self.begin(LEAVES.replace("BARE_SESSION", "False"))
        self.left()
        self.d.end(signal.SIGKILL)
        os.kill(shims_below(self.folder)[0], signal.SIGKILL)
        self.client = self.d.start().connect()
        self.assertEqual(self.ends(), ["lost", "ok"])
        self.assertEqual(self.met(), "")

    def test_nobody_else_is_killed(self):
        """A process of another attempt, and one that only looks like one of ours."""
        claim = self.path("state/studies/s/claims/0.0.claim")
        others = [subprocess.Popen(["sleep", "600"], env=env, start_new_session=True)
                  for env in ({"DPARETO_CLAIM": claim + "s"}, {"X": "DPARETO_CLAIM=" + claim},
                              {"DPARETO_CLAIM": claim})]  # the last is older than the shim
        for p in others:
            self.addCleanup(p.wait)
            self.addCleanup(p.kill)
        self.begin(LEAVES.replace("BARE_SESSION", "False"))
        self.left()
        os.kill(shims_below(self.folder)[0], signal.SIGKILL)
        self.assertEqual(self.ends(), ["lost", "ok"])
        self.assertEqual([p.poll() for p in others], [None, None, None])

    def group(self):
        """A cgroup that is delegated as systemd does it; skips without."""
        mounts = [line.split() for line in open("/proc/self/mountinfo") if " - cgroup2 " in line]
        try:
            folder = os.path.join(mounts[0][4], os.path.basename(self.folder))
            os.mkdir(folder)
            self.addCleanup(os.rmdir, folder)
            os.setxattr(folder, "user.delegate", b"1")
        except (IndexError, OSError) as e:
            self.skipTest("no cgroup can be made here: %s" % e)
        if not os.path.exists(os.path.join(folder, "cgroup.kill")):
            self.skipTest("this kernel has no cgroup.kill")
        return folder

    def test_a_cgroup_holds_what_hides(self):
        """No environment, a session of its own: only the cgroup knows it."""
        folder = self.group()
        self.addCleanup(self.end_all)
        self.begin(LEAVES.replace("BARE_SESSION", "True"),
                   before=["sh", "-c", 'echo $$ >"%s/cgroup.procs"; exec "$@"' % folder, "-"])
        pids = self.left()
        groups = [name for name in os.listdir(folder) if name.startswith("dpareto-")]
        self.assertEqual(len(groups), 1)
        with open(os.path.join(folder, groups[0], "cgroup.procs")) as f:
            self.assertLessEqual(set(pids), set(f.read().split()))
        os.kill(shims_below(self.folder)[0], signal.SIGKILL)
        self.assertEqual(self.ends(), ["lost", "ok"])
        self.assertEqual(self.met(), "")
        self.assertEqual([n for n in os.listdir(folder) if n.startswith("dpareto-")], [])
        self.client.close()
        self.assertEqual(self.d.end(), 0)


class Folder(LeftoverCase):
    """What a trainer does to its folder."""

    def test_a_trainer_that_empties_its_folder(self):
        self.begin("import subprocess\nnote(request['attempt'])\n"
                   "subprocess.run('rm -rf ./* ./.[!.]*', shell=True, check=True)\n"
                   "gate('go')\nreport(a=1, b=1)\n")
        wait_for(lambda: self.has("at-go"))
        self.assertFalse(self.has("state/studies/s/trials/0/0/claim"))
        self.d.end(signal.SIGKILL)
        self.client = self.d.start().connect()
        self.touch("go")
        self.assertEqual(self.ends(), ["ok"])
        self.assertEqual(self.notes(), ["0"])

    def test_a_trainer_that_removes_its_folder(self):
        """How it ended is known all the same."""
        self.begin("import shutil\nshutil.rmtree(os.getcwd())\nsys.exit(3)\n")
        self.assertEqual(self.ends(), ["exit-code"])

    def test_a_journal_set_back(self):
        """What a restored journal does not know of may still run: it is ended before its
        number is given again."""
        self.begin("note(os.getpid())\nif len(open(beside('notes')).readlines()) == 1:\n"
                   "    gate('never')\n" + MEETS)
        backup = self.path("backup")
        wait_for(lambda: self.has("at-never"))
        self.d.end(signal.SIGKILL)
        empty = self.daemon()
        empty.state, state = self.path("empty"), self.d.state
        self.client = empty.start().connect()
        self.assertEqual(
            self.ctl("journal", "backup", backup, "--state", empty.state).returncode, 0)
        empty.end()
        self.assertEqual(
            self.ctl("journal", "restore", backup, "--state", state).returncode, 0)
        self.client = self.d.start().connect()
        self.submit(self.client, self.study(search="method: random, evaluations: 1"))
        self.assertEqual(self.ends(), ["ok"])
        with open(self.path("met")) as f:
            self.assertEqual(f.read(), "")
        self.assertEqual(len(self.notes()), 2)

    def test_an_attempt_of_version_0_1(self):
        """Its claim is in the folder alone."""
        self.begin("note(request['attempt'])\ngate('go')\nreport(a=1, b=1)\n")
        wait_for(lambda: self.has("at-go"))
        self.d.end(signal.SIGKILL)
        os.remove(self.path("state/studies/s/claims/0.0.claim"))
        self.client = self.d.start().connect()
        self.touch("go")
        self.assertEqual(self.ends(), ["ok"])
        self.assertEqual(self.notes(), ["0"])


class ForgedRecord(LeftoverCase):
    """The record of an end counts only if it is of the shim that has the claim."""
    FORGES = """
if request["attempt"] == 0:
    report(a=0.5, b=0.5)
    with open("exit.json", "w") as f:
        f.write('{"code":0}')
    MORE
    gate("never")
report(a=1, b=1)
"""

    def forged(self, more="", before_kill=lambda: None):
        self.begin(self.FORGES.replace("MORE", more))
        wait_for(lambda: self.has("at-never"))
        before_kill()
        os.kill(shims_below(self.folder)[0], signal.SIGKILL)

    def result(self):
        return self.client("trial", study="s", trial=0)["trial"]["objectives"]["a"]

    def test_a_made_up_record(self):
        self.forged()
        self.assertEqual(self.ends(), ["lost", "ok"])
        self.assertEqual(self.result(), 1)

    def test_while_no_daemon_runs(self):
        self.forged(before_kill=lambda: self.d.end(signal.SIGKILL))
        wait_for(lambda: not shims_below(self.folder))
        self.client = self.d.start().connect()
        self.assertEqual(self.ends(), ["lost", "ok"])

    def test_without_the_reserved_file(self):
        """A trainer that has cleaned up there, too."""
        self.forged("os.remove(beside('state/studies/s/claims/0.0.exit'))")
        self.assertEqual(self.ends(), ["lost", "ok"])

    def test_what_is_done_is_done(self):
        """As if there were no record at all."""
        self.forged("out({'done': True}); open('exit.json', 'w').write('{\"code\":1}')")
        self.assertEqual(self.ends(), ["ok"])
        self.assertEqual(self.result(), 0.5)

    def test_the_record_of_another_trial(self):
        self.trainer("""
report(a=0.5, b=0.5)
if request["trial"] == 1 and request["attempt"] == 0:
    import shutil
    os.remove(beside("state/studies/s/claims/1.0.exit"))
    shutil.copy(beside("state/studies/s/trials/0/0/exit.json"), "exit.json")
    gate("never")
""")
        self.d = self.daemon().start()
        self.client = self.d.connect()
        self.submit(self.client, self.study(search="method: random, evaluations: 2"))
        wait_for(lambda: self.has("at-never"))
        os.kill(shims_below(self.folder)[0], signal.SIGKILL)
        self.finish(self.client, "s")
        self.assertEqual([a["end"] for a in self.client("trial", study="s", trial=1)["trial"]
                          ["attempts"]], ["lost", "ok"])

    def as_before_0_3(self):
        """The claim as a shim of version 0.2 makes it, in place: its lock stays."""
        claim = self.path("state/studies/s/claims/0.0.claim")
        with open(claim) as f:
            lines = f.readlines()
        self.assertEqual(len([x for x in lines if x.startswith("token ")]), 1)
        with open(claim, "w") as f:
            f.writelines(x for x in lines if not x.startswith("token "))

    def test_a_shim_of_version_0_2(self):
        """It is adopted, and its record counts without a token."""
        self.begin("gate('go')\nreport(a=1, b=1)\n")
        wait_for(lambda: self.has("at-go"))
        self.as_before_0_3()
        self.d.end(signal.SIGKILL)
        self.client = self.d.start().connect()
        self.touch("go")
        self.assertEqual(self.ends(), ["ok"])

    def test_a_killed_shim_of_version_0_2(self):
        self.forged(before_kill=self.as_before_0_3)
        self.assertEqual(self.ends(), ["lost", "ok"])


if __name__ == "__main__":
    unittest.main()
