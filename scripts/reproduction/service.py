"""service.py - a daemon of our own that runs the studies, and the commands that ask it.

Everything is in its journal: killed at any moment, it goes on where it was, and trainings that
have ended are not repeated. It stops when this program ends, however it ends."""
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time


class Failed(Exception):
    """Something that a person has to mend; says what, why and what next."""


class Programs:
    """dparetoctl on a state folder: commands that only read need no daemon."""

    def __init__(self, folder, state):
        self.folder, self.state, self.socket = folder, state, None

    def path(self, name):
        return os.path.join(self.folder, name)

    def call(self, *words, fails=True):
        """What a command prints; None where it fails and may."""
        done = subprocess.run([self.path("dparetoctl"), *words], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        if done.returncode == 0:
            return done.stdout
        if not fails:
            return None
        raise Failed("dparetoctl %s: %s" % (" ".join(words), done.stderr.strip() or
                                            done.stdout.strip()))

    def ask(self, *words, fails=True):
        """A daemon that runs is asked for what changes; the rest is read from the journal."""
        where = ("--socket", self.socket) if self.socket and words[0] in ("list", "submit") \
            else ("--state", self.state)
        text = self.call(*words, *where, "-o", "json", fails=fails)
        return None if text is None else json.loads(text)

    def list(self):
        """{name: study} of all there are."""
        if not self.socket and not os.path.exists(os.path.join(self.state, "journal")):
            return {}
        return {s["name"]: s for s in self.ask("list")}

    def submit(self, files):
        if files:
            self.call("submit", "--socket", self.socket, "-q", *files)

    def trials(self, name):
        """Trainings of a study, in order: each with its parameters."""
        return [t for t in self.ask("export", name)["trials"] if t["at"] is None]

    def submit_with(self, file, name, points):
        """A study whose first trials have these parameters. Killed on the way it is paused, and
        has some of them: the rest follows."""
        self.call("submit", "--socket", self.socket, "-q", "--paused", file)
        for point in points[len(self.trials(name)):]:
            self.call("enqueue", "--socket", self.socket, "-q", name,
                      *("%s=%r" % pair for pair in point.items()))
        self.call("resume", "--socket", self.socket, "-q", name)


class Service:
    """The daemon. Its control socket closes when this process ends, and then it stops."""

    def __init__(self, programs, folder, slots):
        self.programs, self.folder, self.slots = programs, folder, slots
        self.process = self.end = self.place = None

    def start(self):
        self.place = tempfile.mkdtemp(prefix="dpareto-")  # paths of sockets must be short
        path = os.path.join(self.place, "sock")
        until = time.monotonic() + 30
        while not self._begin(path):
            # the daemon of a run that was stopped a moment ago may not have ended yet
            if time.monotonic() > until:
                raise Failed("dparetod does not start; %s says why" %
                             os.path.join(self.folder, "daemon.log"))
            time.sleep(0.5)
        self.programs.socket = path

    def _begin(self, path):
        ours, its = socket.socketpair()
        with its:
            self.process = subprocess.Popen(
                [self.programs.path("dparetod"), "--state", self.programs.state, "--socket", path,
                 "--control-fd", str(its.fileno()), "--log-file",
                 os.path.join(self.folder, "daemon.log"), "--report-interval", "0",
                 "--stop-policy", "kill", *(("--slots", str(self.slots)) if self.slots else ())],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                pass_fds=(its.fileno(),), start_new_session=True)
        self.end = ours
        while self.process.poll() is None:
            if self.programs.call("list", "--socket", path, fails=False) is not None:
                return True
            time.sleep(0.05)
        ours.close()
        self.end = self.process = None
        return False

    def ended(self):
        """Whether it began and is no more."""
        return self.process is not None and self.process.poll() is not None

    def stop(self):
        self.programs.socket = None
        if self.end:
            self.end.close()
            self.end = None
        if self.process:
            self.process.terminate()
            self.process.wait()
            self.process = None
        if self.place:
            shutil.rmtree(self.place, ignore_errors=True)
            self.place = None
