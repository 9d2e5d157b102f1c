"""test_clients.py - strangers, mumblers and bullies at the control socket: each gets an
answer or is hung up on, and nobody else notices."""
import grp
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import unittest

from harness import Case, Client, LIMIT, Refused, wait_for

SHELL = "#!/bin/sh\necho '{\"run\":0,\"metrics\":{\"a\":1,\"b\":1}}' >> \"$DPARETO_RESULT\"\n"
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
        s.connect(path or self.d.socket)
        self.addCleanup(s.close)
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
            if not fields or verb in ("status", "shutdown"):
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
        kept = [self.stranger(), self.stranger()]
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

        def process(file, field):
            with open("/proc/%d/%s" % (self.d.process.pid, file)) as f:
                return int(f.read().rpartition(")")[2].split()[field])

        def grown_or_idle():
            worked = process("stat", 11)
            time.sleep(0.1)
            self.others_are_served()
            return process("statm", 1) * 4096 > limit or process("stat", 11) - worked < 2
        limit = process("statm", 1) * 4096 + (16 << 20)
        greedy = self.stranger()
        greedy.sendall(ask * asked)
        wait_for(grown_or_idle)
        self.assertLess(process("statm", 1) * 4096, limit)
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

    def test_an_unknown_group_is_told(self):
        d = self.daemon("--socket-group", "no-such-group").start()
        if d.process.poll() is None:
            wait_for(lambda: os.path.exists(d.log) and "no-such-group" in open(d.log).read()
                     or d.process.poll() is not None, 5)


if __name__ == "__main__":
    unittest.main()
