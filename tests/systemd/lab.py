"""lab.py - a daemon on the machine as the people who use it see it, and what they have it run."""
import json
import os

from machine import Failed, wait_for

LAB = "/srv/lab"
STATE = "/var/lib/dpareto"
SERVICE = "dparetod.service"
# Each attempt says when it starts and ends, below the study's folder, and waits there until it
# is allowed to end: trials below the number in `upto` are.
TRAINER = """#!/bin/sh
set -eu
home=$(cd ../../.. && pwd)
echo "start $DPARETO_TRIAL $DPARETO_ATTEMPT $$" >>"$home/course"
%s
while [ "$DPARETO_TRIAL" -ge "$(cat "$home/upto" 2>/dev/null || echo 0)" ]; do sleep 0.1; done
echo '{"run":0,"metrics":{"a":1,"b":1}}' >>"$DPARETO_RESULT"
echo '{"done":true}' >>"$DPARETO_RESULT"
echo "end $DPARETO_TRIAL $DPARETO_ATTEMPT $$" >>"$home/course"
"""
# In a control group of its own, as the daemon may give it one. The daemon's own may be that
# of the service or one below.
IN_GROUP = """
OWN_GROUP=$(sed -n 's/^0:://p' /proc/self/cgroup)
OWN_GROUP=${OWN_GROUP%/daemon}
group=/sys/fs/cgroup$OWN_GROUP/attempt-$DPARETO_TRIAL-$DPARETO_ATTEMPT
mkdir "$group"
echo $$ >"$group/cgroup.procs"
"""
# With a process that a session of its own hides from whoever looks for the trainer's.
IN_TREE = """
setsid sleep 1000 >/dev/null 2>&1 &
echo "child $DPARETO_TRIAL $DPARETO_ATTEMPT $!" >>"$home/course"
"""
# What a strict service must not reach, and what a trainer needs all the same.
IN_CAGE = """
if [ -n "$(ls -A /home 2>/dev/null)" ]; then echo "sees homes" >&2; exit 1; fi
if touch /srv/lab/x 2>/dev/null; then echo "writes anywhere" >&2; exit 1; fi
if [ "$(ls /sys/class/net)" != lo ]; then echo "sees a network" >&2; exit 1; fi
head -c 1 /dev/urandom >/dev/null
touch /tmp/dpareto-test-$$
rm /tmp/dpareto-test-$$
grep -q '^NoNewPrivs:.1' /proc/self/status
"""
STUDY = """study: %s
seed: 1
data: public
trainer: {command: [./%s], runs: 1, grace: 2s}
parameters:
  x: {type: float, range: [0, 1]}
objectives:
  a: {metric: a}
  b: {metric: b}
anti_ideal: {a: 2, b: 2}
search: {method: random, evaluations: %d, parallel: 2}
"""
# Name and additional lines of each trainer.
TRAINERS = {"trainer.sh": "", "in-group.sh": IN_GROUP, "in-tree.sh": IN_TREE,
            "in-cage.sh": IN_CAGE}


def expect(true, why):
    if not true:
        raise Failed(why)


def furnish(root):
    """Puts the trainers into the machine below root."""
    os.makedirs(root + LAB, mode=0o755)
    for name, part in TRAINERS.items():
        path = os.path.join(root + LAB, name)
        with open(path, "w") as f:
            f.write(TRAINER % part)
        os.chmod(path, 0o755)


class Daemon:
    """One of the machine's daemons, as a person sees it: the system's, or their own."""

    def __init__(self, machine, user=None, state=STATE, manager=()):
        self.m, self.user, self.state, self.manager = machine, user, state, manager
        # a person's own daemon is found by this
        self.env = {"XDG_RUNTIME_DIR": "/run/user/1000", "HOME": "/home/alice"} if manager else {}

    def ctl(self, *words, check=True):
        return self.m.run("dparetoctl", *words, user=self.user, check=check, **self.env)

    def ask(self, *words):
        return json.loads(self.ctl(*words, "-o", "json"))

    def systemctl(self, *words, check=True):
        user = self.user if self.manager else None
        return self.m.run("systemctl", *self.manager, *words, user=user, check=check, **self.env)

    def show(self, key, unit=SERVICE):
        return self.systemctl("show", "--value", "-p", key, unit).strip()

    def pid(self):
        """As systemd knows it, and as it says itself."""
        pid = int(self.show("MainPID"))
        expect(pid == self.ask("daemon", "status")["pid"], "systemd watches another process")
        return pid

    # ---- studies ----

    def file(self, study, name):
        return self.m.path("%s/studies/%s/%s" % (self.state, study, name))

    def submit(self, study, evaluations, trainer="trainer.sh"):
        self.m.write("%s/%s.yaml" % (LAB, study), STUDY % (study, trainer, evaluations))
        self.ctl("submit", "%s/%s.yaml" % (LAB, study))

    def allow(self, study, upto):
        """Trials below upto may end."""
        path = self.file(study, "upto")
        with open(path + ".new", "w") as f:
            f.write("%d\n" % upto)
        os.chmod(path + ".new", 0o644)
        os.rename(path + ".new", path)

    def course(self, study, what):
        """(trial, attempt, process) of each start, end or child."""
        try:
            with open(self.file(study, "course")) as f:
                words = [line.split() for line in f]
        except FileNotFoundError:
            return []
        return [tuple(map(int, w[1:])) for w in words if w[0] == what]

    def running(self, study, count, since=0):
        """Waits until so many trainers have started; the latest ones."""
        wait_for(lambda: len(self.course(study, "start")) >= since + count,
                 "%d trainers of %s have started" % (since + count, study))
        return self.course(study, "start")[since:]

    def alive(self, attempts):
        return all(self.m.code("kill", "-0", str(process)) == 0 for _, _, process in attempts)

    def finish(self, study, evaluations):
        """Lets it go on to its end, which must be a good one."""
        self.allow(study, evaluations)
        self.ctl("wait", study)
        got = self.ask("status", study)["study"]
        expect(got["state"] == "finished" and got["ok"] == evaluations,
               "%s is %s with %d ok" % (study, got["state"], got["ok"]))

    def once(self, study, evaluations):
        """Every trial was started once and ended once."""
        for what in ("start", "end"):
            trials = sorted(trial for trial, _, _ in self.course(study, what))
            expect(trials == list(range(evaluations)), "%s of %s: %s" % (what, study, trials))

    def restarted(self, before):
        """Waits for another daemon than before, one that is ready."""
        wait_for(lambda: self.show("ActiveState") == "active" and
                 int(self.show("MainPID")) not in (0, before), "systemd has restarted it")
        return self.pid()

    def log(self, *words):
        user = ["--user"] if self.manager else []
        return self.m.run("journalctl", "--no-pager", *user, "-u", SERVICE, *words,
                          user=self.user if self.manager else None, **self.env)
