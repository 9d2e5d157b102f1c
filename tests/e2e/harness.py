"""harness.py - real daemons for end-to-end tests.

Each test has a temporary folder of its own with its own state and socket; nothing
sleeps for a fixed time, everything polls with a limit. Binaries come from the folder
DPARETO_BIN."""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

BIN = os.path.abspath(os.environ.get("DPARETO_BIN", "."))
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# seconds a wait may take: only a test that fails waits so long
LIMIT = float(os.environ.get("DPARETO_TEST_LIMIT", "240"))

# A shell that starts the tests in the background has them ignore Ctrl-C, and so would the
# programs under test.
signal.signal(signal.SIGINT, signal.default_int_handler)


def program(name):
    return os.path.join(BIN, name)


def wait_for(what, limit=LIMIT, pause=0.01):
    """Polls what() until it is true; returns its value."""
    end = time.monotonic() + limit
    while True:
        value = what()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError("waited %g s in vain" % limit)
        time.sleep(pause)


def asker():
    """Who asks the daemon for things, as the journal says it: the user of the tests."""
    with open("/etc/passwd") as f:
        names = [x.split(":")[0] for x in f if x.split(":")[2:3] == [str(os.getuid())]]
    return "%s (%d)" % (names[0], os.getuid()) if names else "user %d" % os.getuid()


def unhurried(seconds):
    """A limit of so many seconds for a trainer that is to be up before it; longer while
    the machine takes its time to start one."""
    began = time.monotonic()
    subprocess.run([sys.executable, "-c", "import json, signal, time"], check=True)
    return max(seconds, round(8 * (time.monotonic() - began), 3))


def volume(points, ref):
    """What points dominate below ref, in two dimensions."""
    total, least = 0.0, ref[1]
    for x, y in sorted(points):
        if x < ref[0] and y < least:
            total += (ref[0] - x) * (least - y)
            least = y
    return total


class Refused(Exception):
    """An error reply; .error is its object."""

    def __init__(self, error):
        super().__init__(error["message"])
        self.error = error


class Client:
    """The control protocol, spoken directly."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(LIMIT)
        self.socket.connect(path)
        self.file = self.socket.makefile("rwb")

    def raw(self, line):
        self.file.write(line)
        self.file.flush()
        reply = self.file.readline()
        return json.loads(reply) if reply else None

    def __call__(self, verb, **fields):
        reply = self.raw(json.dumps({"v": 1, "do": verb, **fields}).encode() + b"\n")
        if reply is None:
            raise ConnectionError("the daemon hung up")
        if "error" in reply:
            raise Refused(reply["error"])
        return reply["ok"]

    def every(self, verb, **fields):
        """The rows of all pages of `list` or `trials`."""
        rows, at = [], 0
        while at is not None:
            page = self(verb, **{**fields, "from": at})
            rows += page["studies" if verb == "list" else "trials"]
            at = page["next"]
        return rows

    def close(self):
        self.file.close()
        self.socket.close()


class Daemon:
    """A dparetod with its own state folder."""

    def __init__(self, folder, *options, env=None):
        self.state = os.path.join(folder, "state")
        self.socket = os.path.join(folder, "sock")
        self.log = os.path.join(folder, "log")
        self.options, self.env, self.process, self.said = options, env, None, ""

    def start(self, *more, before=(), **popen):
        """Starts it; `before` is a command to start it under (setpriv and the like)."""
        self.process = subprocess.Popen(
            [*before, program("dparetod"), "--state", self.state, "--socket", self.socket,
             "--log-file", self.log, *self.options, *more],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, **(self.env or {})}, **popen)
        return self

    def connect(self):
        def attempt():
            if self.process.poll() is not None:
                raise AssertionError("dparetod ended: " + self.errors())
            try:
                return Client(self.socket)
            except OSError:
                return None
        return wait_for(attempt)

    def errors(self):
        return self.process.stderr.read().decode() + open(self.log).read()[-3000:]

    def end(self, how=signal.SIGTERM):
        """Signals it and returns its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        code = self.process.wait(LIMIT)
        if not self.process.stderr.closed:
            self.said = self.process.stderr.read().decode(errors="replace")
            self.process.stdout.close()
            self.process.stderr.close()
        return code

    def ends(self):
        """Waits for its own end; returns (exit code, what it said on stderr)."""
        return self.end(how=0), self.said


class Case(unittest.TestCase):
    """A temporary folder, a daemon on request, and nothing left behind."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="dpareto-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.daemons = []
        self.addCleanup(self.end_all)

    def end_all(self):
        for d in self.daemons:
            if d.process and d.process.poll() is None:
                d.end(signal.SIGKILL)
        for pid in trainers_below(self.folder):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass  # gone meanwhile

    def daemon(self, *options, env=None):
        d = Daemon(self.folder, *options, env=env)
        self.daemons.append(d)
        return d

    def tidy(self):
        """For tearDown: daemons that still run stop cleanly, leaks counted as an error,
        and no trainer is left."""
        for d in self.daemons:
            if d.process and d.process.poll() is None:
                code = d.end()
                self.assertEqual((code, d.said), (0, ""))
        wait_for(lambda: not trainers_below(self.folder), 10)

    def path(self, name):
        return os.path.join(self.folder, name)

    def touch(self, name):
        self.write(name, "")

    def has(self, name):
        return os.path.exists(self.path(name))

    def notes(self):
        """What trainers noted so far, a line each."""
        if not self.has("notes"):
            return []
        with open(self.path("notes")) as f:
            return f.read().splitlines()

    def write(self, name, text, mode=0o644):
        path = self.path(name)
        with open(path, "w") as f:
            f.write(text)
        os.chmod(path, mode)
        return path

    def trainer(self, text, name="trainer"):
        """An executable Python trainer; `text` sees request, out(line), params."""
        return self.write(name, TRAINER + text, 0o755)

    def study(self, name="s", trainer="./trainer", extra_trainer="", parameters=None,
              objectives=None, search="method: random, evaluations: 4", more=""):
        parameters = parameters or "x: {type: float, range: [0, 1]}"
        objectives = objectives or ("a: {metric: a}\n  b: {metric: b}")
        data = "" if "data:" in more else "data: public\n"  # synthetic: it may be repeated
        return ("study: %s\nseed: 7\ntrainer: {command: [%s]%s}\nparameters:\n  %s\n"
                "objectives:\n  %s\nanti_ideal: {a: 2, b: 2}\nsearch: {%s}\n%s%s" %
                (name, trainer, extra_trainer, parameters, objectives, search, data, more))

    def submit(self, client, text, name="study.yaml"):
        return client("submit", text=text, path=self.path(name), dir=self.folder)["study"]

    def finish(self, client, study, limit=LIMIT):
        """Waits until the study has left `running`; returns its status."""
        end, version = time.monotonic() + limit, 0
        while time.monotonic() < end:
            status = client("changes", study=study, since=version, timeout_ms=1000)
            version = status["study"]["version"]
            if status["study"]["state"] != "running" and not status["study"]["running"]:
                return status
        raise AssertionError("study %s did not end: %s" % (study, status))

    def fake(self, answer):
        """A daemon that answers as a function says."""
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(self.path("sock"))
        listener.listen(8)

        def serve(connection):
            with connection, connection.makefile("rwb") as file:
                for line in file:
                    reply = answer(json.loads(line))
                    if reply is None:
                        return
                    file.write(reply if isinstance(reply, bytes) else
                               json.dumps({"v": 1, **reply}).encode() + b"\n")
                    file.flush()

        def accept():
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=serve, args=(connection,), daemon=True).start()
        threading.Thread(target=accept, daemon=True).start()
        self.addCleanup(listener.close)
        return listener

    def ctl(self, *arguments, **options):
        return subprocess.run([program("dparetoctl"), *arguments], capture_output=True,
                              text=True, timeout=LIMIT, **options)


# The smallest trainer that reports two metrics; tests append to it or replace it.
TRAINER = """#!/usr/bin/env python3
import json, os, sys, time, signal
request = json.load(open(os.environ["DPARETO_REQUEST"]))
params = request["parameters"]
def out(line):
    with open(os.environ["DPARETO_RESULT"], "a") as f:
        f.write(line if isinstance(line, str) else json.dumps(line) + "\\n")
def report(**metrics):
    for run in request["runs"]:
        out({"run": run["run"], "metrics": metrics})
def beside(name):
    return os.path.join(os.environ["DPARETO_STUDY_DIR"], name)
def note(line):
    with open(beside("notes"), "a") as f:
        f.write("%s\\n" % line)
def gate(name):
    "Says that it has come to this gate and waits until the test opens it."
    open(beside("at-" + name), "w").close()
    while not os.path.exists(beside(name)):
        time.sleep(0.01)
"""


def trainers_below(folder):
    """Processes whose environment names a request below this folder."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/environ" % pid, "rb") as f:
                if ("DPARETO_REQUEST=" + folder).encode() in f.read():
                    found.append(int(pid))
        except OSError:
            pass
    return found
