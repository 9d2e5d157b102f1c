"""test_clients.py - strangers, mumblers and bullies at the control socket: each gets an
answer or is hung up on, and nobody else notices."""
import errno
import grp
import json
import os
import resource
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

from harness import Case, Client, LIMIT, Refused, wait_for

SHELL = "#!/bin/sh\necho '{\"run\":0,\"metrics\":{\"a\":1,\"b\":1}}' >> \"$DPARETO_RESULT\"\n"
MANY_RUNS = ("#!/bin/sh\nseq 0 449 | sed 's/.*/{\"run\":&,\"metrics\":{\"a\":&,\"b\":1}}/' >> "
             "\"$DPARETO_RESULT\"\n")
MAX = 4 << 20  # bytes of a request

# every verb with the fields it reads
VERBS = {
    "hello": [], "list": [], "reload": [], "submit": ["text", "path", "dir"],
    "status": ["study"], "changes": ["study", "since", "timeout_ms"], "pause": ["study"],
    "resume": ["study"], "stop": ["study", "now"],
    "set": ["study", "evaluations", "parallel", "priority"], "front": ["study"],
    "trials": ["study", "from", "limit", "state", "full"], "trial": ["study", "trial"],
    "retry": ["study", "trial", "failed"], "cancel": ["study", "trial"], "shutdown": ["policy"],
    "delete": ["study", "now"],
}
# what each field should be
TYPES = {"text": str, "path": str, "dir": str, "study": str, "state": str, "policy": str,
         "since": int, "timeout_ms": int, "evaluations": int, "parallel": int, "priority": int,
         "from": int, "limit": int, "trial": int, "now": bool, "full": bool,
         "failed": bool}
ODD = [None, 0, -1, 1, 1.5, 1e300, 2 ** 62, -2 ** 62, True, "", "x", "\u2603" * 9, "x" * 70000,
       [], [1], {}, {"a": 1}]


class ClientCase(Case):
    def setUp(self):
        super().setUp()
        self.write("trainer", SHELL, 0o755)

    def tearDown(self):
        self.tidy()

    def begin(self, *options, env=None):
        self.d = self.daemon(*options, env=env).start()
        self.client = self.d.connect()
        return self.client

    def finished_study(self, evaluations=2, name="s", **study):
        self.submit(self.client, self.study(
            name, search="method: random, parallel: 2, evaluations: %d" % evaluations, **study))
        self.finish(self.client, name)

    def stranger(self, path=None):
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(20)
        self.addCleanup(s.close)
        # those who wait to be let in may be too many for a moment
        wait_for(lambda: s.connect_ex(path or self.d.socket) != errno.EAGAIN)
        return s

    def all_of(self, s):
        """Everything that comes until the daemon hangs up."""
        got = b""
        while True:
            try:
                piece = s.recv(1 << 16)
            except ConnectionResetError:  # we were still sending when it hung up
                return got
            if not piece:
                return got
            got += piece

    def refused_once(self, s):
        """One error line, then the end."""
        lines = self.all_of(s).splitlines()
        self.assertEqual(len(lines), 1, lines)
        error = json.loads(lines[0])["error"]
        self.assertTrue(error["message"])
        return error

    def waiting(self, study="s"):
        """A connection that is not idle: it waits for a study to change."""
        s = self.stranger()
        version = self.client("status", study=study)["study"]["version"]
        s.sendall(b'{"v":1,"do":"changes","study":"%s","since":%d,"timeout_ms":600000}\n' %
                  (study.encode(), version))
        return s

    def hung_up(self, s, limit=LIMIT):
        """Waits until the daemon has closed this connection; nothing came before."""
        s.settimeout(limit)
        self.assertEqual(self.all_of(s), b"")

    def process(self, file, field):
        """A number of /proc/PID/FILE of the daemon, counted behind the name."""
        with open("/proc/%d/%s" % (self.d.process.pid, file)) as f:
            return int(f.read().rpartition(")")[2].split()[field])

    def memory(self):
        return self.process("statm", 1) * 4096

    def descriptors(self):
        return len(os.listdir("/proc/%d/fd" % self.d.process.pid))

    def others_are_served(self):
        began = time.monotonic()
        other = Client(self.d.socket)
        self.assertEqual(other("hello")["pid"], self.d.process.pid)
        other.close()
        self.assertLess(time.monotonic() - began, LIMIT / 4)


class Strangers(ClientCase):
    def test_says_nothing(self):
        self.begin()
        silent = [self.stranger() for _ in range(20)]
        self.others_are_served()
        for s in silent:
            s.close()
        self.others_are_served()

    def test_half_a_message(self):
        self.begin()
        for part in (b"{", b'{"v":1,"do":"hel', b'{"v":1,"do":"shutdown","policy":"kill"}'):
            s = self.stranger()
            s.sendall(part)
            s.close()  # without the newline it is no request
        self.others_are_served()
        s = self.stranger()
        for byte in b'{"v":1,"do":"hello"}\n':  # slow, but whole
            s.sendall(bytes([byte]))
        self.assertIn(b'"ok"', s.recv(1 << 16))

    def test_garbage(self):
        self.begin()
        for junk in (b"GET / HTTP/1.1\r\n\r\n", b"\0" * 100 + b"\n", b"\xff\xfe\xfd\n", b"\n",
                     b"[1,2]\n", b"42\n", b"null\n", b'"text"\n', b"{}\n", b'{"v":1}\n',
                     b'{"v":1,"do":5}\n', b'{"v":1,"do":""}\n', b'{"v":1,"do":"hello",}\n',
                     b'{"v":1,"v":1,"do":"hello"}\n', b'{"v":1,"do":"hel\0lo"}\n',
                     b'{"v":1,"do":"a\\u0000b"}\n', b"[" * 100000 + b"\n",
                     b'{"v":1,"do":"trial","trial":' + b"9" * 400 + b"}\n"):
            with self.subTest(junk[:40]):
                s = self.stranger()
                s.sendall(junk)
                self.assertEqual(self.refused_once(s)["kind"], "protocol")
        self.others_are_served()

    def test_binary_zeros_without_end(self):
        self.begin()
        s = self.stranger()
        try:
            for _ in range(20):
                s.sendall(b"\0" * (1 << 20))
        except OSError:
            pass  # hung up on: as it should be
        self.assertEqual(self.refused_once(s)["kind"], "limit")
        self.others_are_served()

    def test_a_line_of_five_megabytes(self):
        self.begin()
        s = self.stranger()
        try:
            s.sendall(b'{"v":1,"do":"' + b"x" * (5 << 20))
        except OSError:
            pass
        self.assertIn(str(MAX), self.refused_once(s)["message"])
        s = self.stranger()
        try:
            s.sendall(b'{"v":1,"do":"' + b"x" * (5 << 20) + b'"}\n')
        except OSError:
            pass
        self.refused_once(s)
        # the longest request there may be is read, and refused for what it says
        line = b'{"v":1,"do":"%s"}'
        line = line % (b"x" * (MAX - len(line) + 2))
        self.assertEqual(len(line), MAX)
        self.assertIn("does not know", self.client.raw(line + b"\n")["error"]["message"])

    def test_other_versions(self):
        self.begin()
        for version in (b'"v":2,', b'"v":0,', b'"v":-1,', b'"v":"1",', b'"v":1.0,', b'"v":null,',
                        b""):
            with self.subTest(version):
                s = self.stranger()
                s.sendall(b'{' + version + b'"do":"shutdown"}\n{"v":1,"do":"hello"}\n')
                error = self.refused_once(s)  # and what follows is not read
                self.assertEqual(error["kind"], "protocol")
                self.assertIn("version", error["message"])
        self.others_are_served()

    def test_unknown_verb(self):
        self.begin()
        error = self.client.raw(b'{"v":1,"do":"explode","study":"x"}\n')["error"]
        self.assertEqual((error["kind"], error["code"]), ("protocol", 1))
        self.assertIn("'explode'", error["message"])
        self.client("hello", unknown="field")  # ignored

    def test_odd_values_in_every_field(self):
        """A field of the wrong type is an error, one line, and nothing else happens."""
        self.begin()
        self.finished_study()
        before = self.client("list")["studies"]
        for verb, fields in VERBS.items():
            good = {"study": "s", "trial": 0, "timeout_ms": 0, "text": "x", "dir": "/",
                    "path": "p", "policy": "leave"}
            for field in fields:
                for value in ODD:
                    right = type(value) is TYPES[field]
                    if right and verb in ("shutdown", "delete", "stop"):
                        continue  # would do what it says
                    request = {k: v for k, v in good.items() if k in fields}
                    request.update({"v": 1, "do": verb, field: value})
                    reply = self.client.raw(json.dumps(request).encode() + b"\n")
                    with self.subTest(verb=verb, field=field, value=str(value)[:20]):
                        self.assertIsNotNone(reply, "hung up")
                        self.assertEqual(len(reply), 2)
                        if not right:
                            self.assertIn("error", reply)
                    if reply is None:
                        self.client = self.d.connect()
        self.assertIsNone(self.d.process.poll())
        after = self.client("list")["studies"]
        self.assertEqual([s["name"] for s in before], [s["name"] for s in after])
        self.assertEqual(after[0]["state"], "finished")

    def test_missing_fields(self):
        self.begin()
        for verb, fields in VERBS.items():
            if not fields or verb in ("status", "changes", "shutdown"):
                continue
            with self.subTest(verb):
                with self.assertRaises(Refused):
                    self.client(verb)


class Crowds(ClientCase):
    def test_two_hundred_pipelined_requests_are_answered_in_order(self):
        self.begin()
        self.finished_study()
        s = self.stranger()
        f = s.makefile("rb")
        lines = []
        for i in range(200):  # some must wait for the journal, some not, some fail
            lines.append([{"do": "set", "study": "s", "priority": i},
                          {"do": "status", "study": "s"},
                          {"do": "trial", "study": "s", "trial": i},
                          {"do": "changes", "study": "s", "timeout_ms": 1}][i % 4])
        s.sendall(b"".join(json.dumps({"v": 1, **x}).encode() + b"\n" for x in lines))
        for i in range(200):
            reply = json.loads(f.readline())
            kind = i % 4
            if kind == 2 and i > 1:
                self.assertIn("no trial %d;" % i, reply["error"]["message"])
            else:
                self.assertEqual(reply["ok"]["study"]["priority"], i - i % 4)

    def test_hundred_connections(self):
        self.begin()
        clients = [Client(self.d.socket) for _ in range(100)]
        for c in clients:
            c.file.write(b'{"v":1,"do":"hello"}\n')
            c.file.flush()
        for c in clients:
            self.assertIn("ok", json.loads(c.file.readline()))
            c.close()

    def test_max_clients(self):
        self.begin("--max-clients", "3")
        self.finished_study()
        kept = [self.waiting(), self.waiting()]
        error = self.refused_once(self.stranger())
        self.assertEqual(error["kind"], "busy")
        self.assertIn("max_clients", error["message"])
        self.client("hello")
        kept.pop().close()

        def gets_in():
            c = Client(self.d.socket)
            try:
                return c("hello")
            except (Refused, ConnectionError):
                return None
            finally:
                c.close()
        wait_for(gets_in)

    def test_one_that_never_reads(self):
        """Big replies pile up for it; others are served, and what is kept is bounded."""
        self.begin("--slots", "4", env={  # or the sanitizer keeps what was freed
            "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"})
        self.finished_study(40)
        ask = b'{"v":1,"do":"trials","study":"s","full":true}\n'
        size = len(json.dumps(self.client.raw(ask)))
        asked = (32 << 20) // size  # 32 MiB of replies

        def grown_or_idle():
            worked = self.process("stat", 11)
            time.sleep(0.1)
            self.others_are_served()
            return self.memory() > limit or self.process("stat", 11) - worked < 2
        limit = self.memory() + (16 << 20)
        greedy = self.stranger()
        greedy.sendall(ask * asked)
        wait_for(grown_or_idle)
        self.assertLess(self.memory(), limit)
        got = 0  # and when it begins to read, it gets everything
        while got < asked:
            got += greedy.recv(1 << 20).count(b"\n")
        self.assertEqual(got, asked)

    def test_half_closed_connection_gets_its_answer(self):
        """printf REQUEST | nc -U SOCKET: the sender closes its side at once."""
        self.begin()
        self.finished_study()
        for request in (b'{"v":1,"do":"hello"}\n',
                        b'{"v":1,"do":"set","study":"s","priority":3}\n'):
            s = self.stranger()
            s.sendall(request)
            s.shutdown(socket.SHUT_WR)
            self.assertIn(b'"ok"', self.all_of(s))

    def test_asks_and_leaves(self):
        """Replies to those who have gone hurt nobody."""
        self.begin()
        self.finished_study()
        for i in range(50):
            s = self.stranger()
            s.sendall(b'{"v":1,"do":"set","study":"s","priority":%d}\n' % i * 3)
            s.close()
        s = self.stranger()
        s.sendall(b'{"v":1,"do":"changes","study":"s","timeout_ms":60000}\n')
        s.close()
        wait_for(lambda: self.client("status", study="s")["study"]["priority"] == 49)

    def test_long_polls_end_in_time_and_on_change(self):
        self.begin()
        self.finished_study()
        version = self.client("status", study="s")["study"]["version"]
        began = time.monotonic()
        self.client("changes", study="s", since=version, timeout_ms=300)
        self.assertGreater(time.monotonic() - began, 0.25)
        self.client.file.write(json.dumps({"v": 1, "do": "changes", "study": "s",
                                           "since": version}).encode() + b"\n")
        self.client.file.flush()
        self.d.connect()("set", study="s", priority=2)
        self.assertEqual(json.loads(self.client.file.readline())["ok"]["study"]["priority"], 2)

    def test_a_hundred_wait_for_any_study(self):
        """All hear the same of what happens; a life later each is told all, whatever it knew."""
        self.begin()
        for name in ("s", "t"):
            self.finished_study(1, name)
        known = self.client("changes")["revision"]
        crowd = [self.d.connect() for _ in range(100)]
        for c in crowd:
            c.file.write(b'{"v":1,"do":"changes","since":%d,"timeout_ms":600000}\n' % known)
            c.file.flush()
        wait_for(lambda: self.client("hello")["clients"] == 101)
        version = self.client("set", study="t", priority=2)["study"]["version"]
        for c in crowd:
            told = json.loads(c.file.readline())["ok"]
            self.assertEqual(told["studies"], [{"study": "t", "version": version}])
            self.assertEqual((told["all"], told["whole"], told["more"]), (2, False, False))
        self.d.end(signal.SIGKILL)
        self.client = self.d.start().connect()
        again = self.client("changes", since=told["revision"])
        self.assertTrue(again["whole"])
        self.assertEqual(sorted(x["study"] for x in again["studies"]), ["s", "t"])
        self.assertGreater(again["revision"], told["revision"])
        self.client("delete", study="s")
        self.assertEqual(self.client("changes", since=again["revision"])["studies"],
                         [{"study": "s", "version": None}])


class Places(ClientCase):
    """Descriptors are a limit of the machine, places for clients one of the daemon."""

    maxDiff = None

    def start_with(self, soft, hard, *options):
        self.d = self.daemon(*options).start(
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard)))
        self.client = self.d.connect()

    def limit_of(self, pid, limits=None):
        return resource.prlimit(pid, resource.RLIMIT_NOFILE, *(limits and [limits] or []))

    def test_trainers_get_their_own_limit_back(self):
        self.write("trainer", "#!/bin/sh\necho $(ulimit -Sn) $(ulimit -Hn) >> "
                   "\"$DPARETO_STUDY_DIR/notes\"\n" + SHELL, 0o755)
        self.start_with(200, 900)
        self.assertEqual(self.limit_of(self.d.process.pid), (900, 900))
        self.finished_study()
        self.assertEqual(set(self.notes()), {"200 900"})

    def test_clients_leave_enough_for_the_trainers(self):
        """More clients than descriptors, idle and coming again: every trial succeeds."""
        self.start_with(100, 100, "--slots", "2")
        crowd = [self.stranger() for _ in range(150)]
        text = self.study(search="method: random, parallel: 2, evaluations: 20")
        self.submit(self.client, text)
        for i in range(300):
            crowd[i % 150].close()
            crowd[i % 150] = self.stranger()
        status = self.finish(self.client, "s")
        self.assertEqual((status["study"]["ok"], status["failures"]), (20, []))
        hello = self.client("hello")
        self.assertLessEqual(hello["clients"], hello["max_clients"])
        self.assertLess(hello["max_clients"], 60)
        self.assertIn("at most %d clients at once" % hello["max_clients"],
                      open(self.d.log).read())
        before = self.process("stat", 11) + self.process("stat", 12)
        for s in crowd:
            s.close()
        wait_for(lambda: self.client("hello")["clients"] == 1)
        self.others_are_served()
        self.assertLess(self.process("stat", 11) + self.process("stat", 12) - before, 100)

    def test_out_of_descriptors_nevertheless(self):
        """Then connections wait: it does not spin, serves those it has, and takes the
        others when it can."""
        self.begin()
        self.client("hello")
        limits = self.limit_of(self.d.process.pid)
        self.limit_of(self.d.process.pid, (self.descriptors() - 2, limits[1]))
        crowd = [self.stranger() for _ in range(20)]
        late = crowd[-1]
        late.sendall(b'{"v":1,"do":"hello"}\n')
        worked = self.process("stat", 11) + self.process("stat", 12)
        began = time.monotonic()
        for _ in range(20):
            self.client("hello")
            time.sleep(0.02)
        worked = (self.process("stat", 11) + self.process("stat", 12) - worked) / 100
        self.assertLess(worked, 0.5 * (time.monotonic() - began))
        self.assertEqual(open(self.d.log).read().count("could not be taken"), 1)
        for s in crowd[:-1]:
            s.close()
        self.limit_of(self.d.process.pid, (self.descriptors() + 1, limits[1]))
        self.assertIn(b'"ok"', late.recv(1 << 16))
        self.assertEqual(self.descriptors(), self.limit_of(self.d.process.pid)[0])
        other = self.stranger()
        other.sendall(b'{"v":1,"do":"hello"}\n')
        late.close()  # and when one leaves, the next is served
        self.assertIn(b'"ok"', other.recv(1 << 16))
        self.stranger()
        self.assertEqual(self.d.end(), 0)  # TERM works meanwhile

    def test_idle_ones_make_room(self):
        self.begin("--max-clients", "4")
        self.finished_study()
        kept = [self.waiting(), self.waiting()]
        idle = self.stranger()

        def gets_in():
            self.client("hello")  # not idle
            c = self.stranger()
            try:
                c.sendall(b'{"v":1,"do":"hello"}\n')
            except BrokenPipeError:
                pass  # told already
            return b'"ok"' in c.recv(1 << 16)
        wait_for(gets_in)
        self.hung_up(idle)
        self.client("set", study="s", priority=1)
        for s in kept:
            self.assertIn(b'"ok"', s.recv(1 << 16))

    def test_idle_half_sent_and_untaken(self):
        self.begin("--client-idle", "1s", "--client-patience", "0.3s")
        self.finished_study(12, extra_trainer=", runs: 100")
        follower = self.waiting()
        began = time.monotonic()
        half = self.stranger()
        half.sendall(b'{"v":1,"do":')
        idle = self.stranger()
        slow = self.stranger()  # more than the socket takes, and nothing is read
        slow.sendall(b'{"v":1,"do":"trials","study":"s","full":true}\n' * 200)
        self.hung_up(half)
        self.hung_up(idle)
        self.assertGreater(time.monotonic() - began, 0.9)
        self.assertLess(self.all_of(slow).count(b"\n"), 200)
        with self.assertRaises((BlockingIOError, TimeoutError)):
            follower.settimeout(0.1)
            follower.recv(1)
        other = self.d.connect()  # the first one was idle, too
        other("set", study="s", priority=1)
        follower.settimeout(LIMIT)
        self.assertIn(b'"ok"', follower.recv(1 << 16))

    def test_half_requests_are_held_within_bounds(self):
        self.begin("--client-memory", "16M", "--disk-watermark", "1000T", env={
            "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"})
        self.client("hello")  # it was let in
        before, open_before = self.memory(), self.descriptors()
        crowd = [self.stranger() for _ in range(25)]
        told = 0
        for s in crowd:
            try:
                s.sendall(b'{"v":1,"do":"submit","text":"' + b"x" * (4000 << 10))
            except OSError:
                pass  # hung up on
            self.others_are_served()
            self.assertLess(self.memory() - before, 48 << 20)
        for s in crowd:
            s.settimeout(0.01)
            try:
                told += b"client_memory" in s.recv(1 << 16)
            except TimeoutError:
                pass
            except ConnectionResetError:
                told += 1
        self.assertGreater(told, 15)
        # who sends a study meanwhile is not the one that holds most
        self.submit(self.client, self.study(search="method: random, evaluations: 1",
                                            more="# " + "x" * 900000))
        for s in crowd:
            s.close()
        wait_for(lambda: self.descriptors() <= open_before)


class Pages(ClientCase):
    """Long answers come in pages; dparetoctl shows them whole."""

    def pages(self, verb, key, **fields):
        found, count, at = [], 0, 0
        while at is not None:
            page = self.client(verb, **fields, **({"from": at} if at else {}))
            found += page[key]
            at = page["next"]
            count += 1
        return found, count

    def json(self, *arguments):
        p = self.ctl("--socket", self.d.socket, *arguments, "-o", "json")
        self.assertEqual(p.returncode, 0, p.stderr)
        return json.loads(p.stdout)

    def test_trials_and_a_long_front(self):
        self.write("trainer", "#!/bin/sh\nx=$(sed 's/.*\"x\":\\([0-9]*\\).*/\\1/' "
                   "\"$DPARETO_REQUEST\")\nfor r in 0 1 2 3; do echo \"{\\\"run\\\":$r,"
                   "\\\"metrics\\\":{\\\"a\\\":$x,\\\"b\\\":-$x}}\"; done >> "
                   "\"$DPARETO_RESULT\"\n", 0o755)
        self.begin("--slots", "4")
        self.submit(self.client, self.study(
            parameters="x: {type: int, range: [1, 104]}", extra_trainer=", runs: 4",
            search="method: grid, grid: 104, parallel: 4"))
        self.finish(self.client, "s")
        plain, _ = self.pages("trials", "trials", study="s")
        self.assertEqual([t["trial"] for t in plain], list(range(104)))
        full, count = self.pages("trials", "trials", study="s", full=True)
        self.assertGreater(count, 1)
        self.assertEqual([len(t["runs"]) for t in full], [4] * 104)
        status = self.client("status", study="s")
        self.assertEqual((len(status["front"]), len(status["more"])), (100, 4))
        rest = self.client("front", study="s", points=status["more"])["front"]
        whole = self.client("front", study="s")
        self.assertEqual(whole["front"], status["front"] + rest)
        self.assertNotIn("more", whole)
        for wrong in (["x"], [104], [-1], list(range(251)), [True], [[]]):
            with self.assertRaises(Refused):
                self.client("front", study="s", points=wrong)
        shown = self.json("status", "s")
        self.assertEqual(shown["front"], whole["front"])
        self.assertNotIn("more", shown)
        self.assertEqual(self.json("front", "s"), whole)
        self.assertEqual(len(self.json("export", "s")["trials"]), 104)

    def test_a_trial_of_many_runs(self):
        """One process a run, or all in one: more attempts or runs than a page has."""
        self.write("trainer", MANY_RUNS, 0o755)
        self.begin()
        self.finished_study(2, extra_trainer=", runs: 450")
        part = self.client("trial", study="s", trial=1)["trial"]
        self.assertEqual((len(part["runs"]), part["next"]), (200, 200))
        part = self.client("trial", study="s", trial=1, **{"from": 400})["trial"]
        self.assertEqual([r["run"] for r in part["runs"]], list(range(400, 450)))
        self.assertEqual(part["attempts"], [])
        self.assertNotIn("next", part)
        for odd in (450, 10 ** 6, -1, 2 ** 40):
            self.client("trial", study="s", trial=1, **{"from": odd})
        whole = self.json("trial", "s", "1")
        self.assertEqual([r["metrics"]["a"] for r in whole["runs"]], list(range(450)))
        self.assertEqual(len(whole["attempts"]), 1)
        self.assertNotIn("next", whole)
        self.assertEqual(self.json("export", "s")["trials"][1], whole)

    def test_many_studies(self):
        self.begin("--disk-watermark", "1000T")  # nothing runs
        text = self.study("NAME", search="method: random, evaluations: 1")
        for i in range(180):
            self.client("submit", text=text.replace("NAME", "s%d" % i), path="p", dir="/")
        names = ["s%d" % i for i in range(180)]
        listed, count = self.pages("list", "studies")
        self.assertEqual(([s["name"] for s in listed], count), (names, 2))
        self.assertEqual([s["name"] for s in self.json("list")], names)
        shown = self.json("status")
        self.assertEqual(([s["name"] for s in shown["studies"]], sorted(shown)),
                         (names, ["daemon", "studies"]))
        # a study that goes between two pages leaves no hole and nothing twice
        first = self.client("list")
        self.client("delete", study="s%d" % (first["next"] - 1))
        rest = self.client("list", **{"from": first["next"]})
        self.assertEqual(len(first["studies"]) + len(rest["studies"]), 179)

    def ask_for_ever(self, crowd, ask):
        """Each of the crowd asks again as soon as it has an answer; counts answers."""
        ready = select.epoll()
        by_number = {s.fileno(): s for s in crowd}
        for number, s in by_number.items():
            ready.register(number, select.EPOLLIN)
            s.sendall(ask)
        while self.asking:
            for number, _ in ready.poll(0.1):
                if by_number[number].recv(1 << 20).endswith(b"\n"):
                    self.answers += 1
                    by_number[number].sendall(ask)
        ready.close()

    def test_short_questions_do_not_wait_for_long_answers(self):
        """Forty want all trials again and again: a question does not wait for all forty."""
        self.write("trainer", MANY_RUNS, 0o755)
        self.begin()
        self.finished_study(3, extra_trainer=", runs: 450")
        crowd = [self.stranger() for _ in range(40)]
        self.asking, self.answers, meanwhile = True, 0, []
        asker = threading.Thread(target=self.ask_for_ever, args=(
            crowd, b'{"v":1,"do":"trials","study":"s","full":true}\n'))
        asker.start()
        try:
            wait_for(lambda: self.answers > 40)
            for _ in range(15):
                before = self.answers
                self.client("hello")
                meanwhile.append(self.answers - before)
        finally:
            self.asking = False
            asker.join()
        self.assertLess(sorted(meanwhile)[7], 20, meanwhile)


@unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs root and setpriv")
class OtherUsers(ClientCase):
    """The peer's user and groups decide, not the file's mode alone."""

    ASK = """
import socket, sys
s = socket.socket(socket.AF_UNIX)
try:
    s.connect(sys.argv[1])
except PermissionError:
    sys.exit(print("EACCES"))
try:
    s.sendall(b'{"v":1,"do":"hello"}\\n')
except BrokenPipeError:
    pass  # told already
sys.stdout.write(s.makefile().readline())
"""

    CROWD = """
import select, socket, sys
served = refused = 0
kept = []
for i in range(30):
    s = socket.socket(socket.AF_UNIX)
    s.connect(sys.argv[1])
    f = s.makefile("rb")
    kept.append((s, f))
    try:
        s.sendall(b'{"v":1,"do":"hello"}\\n')
        ok = b'"ok"' in f.readline()
        s.sendall(b'{"v":1,"do":"changes","study":"s","since":%d,"timeout_ms":600000}\\n' %
                  int(sys.argv[2])) if ok else None
    except OSError:
        ok = False
    served, refused = served + ok, refused + (not ok)
print(served, "served,", refused, "refused", flush=True)
sys.stdin.read()
"""

    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o755)
        self.group = next((g for g in grp.getgrall() if g.gr_gid not in (0, 65534)), None)

    def ask(self, *groups):
        who = ["--groups", ",".join(map(str, groups))] if groups else ["--clear-groups"]
        p = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", *who, sys.executable,
                            "-c", self.ASK, self.d.socket], capture_output=True, text=True,
                           timeout=LIMIT)
        self.assertEqual(p.returncode, 0, p.stderr)
        return p.stdout

    def test_refused_even_where_the_file_lets_them_in(self):
        self.begin()
        self.assertEqual(os.stat(self.d.socket).st_mode & 0o777, 0o660)
        self.assertIn("EACCES", self.ask())
        os.chmod(self.d.socket, 0o666)
        error = json.loads(self.ask())["error"]
        self.assertEqual((error["kind"], error["code"]), ("not-permitted", 4))
        self.assertIn("socket_group", error["hint"])

    def test_members_of_the_group_are_served(self):
        if not self.group:
            self.skipTest("no other group on this machine")
        self.begin("--socket-group", self.group.gr_name)
        self.assertIn('"ok"', self.ask(self.group.gr_gid))
        self.assertIn("EACCES", self.ask())

    def test_the_group_can_change_while_running(self):
        if not self.group:
            self.skipTest("no other group on this machine")
        config = self.write("c.yaml", "slots: 1\n")
        self.begin("--config", config)
        self.assertIn("EACCES", self.ask(self.group.gr_gid))
        self.write("c.yaml", "socket_group: %s\n" % self.group.gr_name)
        self.assertEqual(self.client("reload")["changed"][-1:], ["socket_group"])
        self.assertIn('"ok"', self.ask(self.group.gr_gid))
        self.write("c.yaml", "slots: 1\n")
        self.client("reload")
        self.assertIn("EACCES", self.ask(self.group.gr_gid))

    def test_members_do_not_lock_the_owner_out(self):
        """All they can take they take, and none of it is idle."""
        if not self.group:
            self.skipTest("no other group on this machine")
        self.begin("--socket-group", self.group.gr_name, "--max-clients", "16")
        self.finished_study()
        version = self.client("status", study="s")["study"]["version"]
        crowd = subprocess.Popen(
            ["setpriv", "--reuid=65534", "--regid=65534", "--groups", str(self.group.gr_gid),
             sys.executable, "-c", self.CROWD, self.d.socket, str(version)], stdout=subprocess.PIPE,
            stdin=subprocess.PIPE, text=True)
        self.addCleanup(crowd.stdout.close)
        # two of 16 places are not for them, and one is ours
        self.assertEqual(crowd.stdout.readline().strip(), "13 served, 17 refused")
        self.others_are_served()
        crowd.communicate("")

    def test_an_unknown_group_is_told(self):
        d = self.daemon("--socket-group", "no-such-group").start()
        if d.process.poll() is None:
            wait_for(lambda: os.path.exists(d.log) and "no-such-group" in open(d.log).read()
                     or d.process.poll() is not None, 5)


if __name__ == "__main__":
    unittest.main()
