"""test_serve.py - dparetoctl serve beside a real daemon: what it answers is what dparetoctl
prints, events come at once, steering is journaled with who and from where, and whoever is slow,
rude or from elsewhere is bounded. The page itself is test_web_browser.py's."""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
import unittest
import encodings.idna  # noqa: F401 (a child that is another user may not read the library)
import urllib.parse

from harness import LIMIT, Case, program, wait_for

TRAINER = """
print("<script>alert(1)</script> \\x1b[31mred", file=sys.stderr, flush=True)
if request["trial"] == 1:
    sys.exit("<img src=x onerror=alert(1)> no such luck")
if os.path.exists(beside("slow")):
    gate("go")
report(a=params["x"], b=1 - params["x"])
"""


class Server:
    """A dparetoctl serve, which is dpareto-serve from its first moment on."""

    def __init__(self, socket_path, *options):
        self.process = subprocess.Popen(
            [program("dparetoctl"), "--socket", socket_path, "serve",
             *(() if "--listen" in options else ("--listen", "127.0.0.1:0")), *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        found = re.fullmatch(r"dpareto-serve: http://(\S+):(\d+)/\n", line)
        if not found:
            raise AssertionError("dpareto-serve said: " + line + self.process.stderr.read())
        self.host, self.port, self.token = "127.0.0.1", int(found[2]), None
        if "--control" in options and "--token-file" not in options:
            self.token = self.process.stdout.readline().removeprefix("token: ").strip()

    def ask(self, path, method="GET", body=None, source="", **headers):
        """Status, headers and body of one request, from that address."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=LIMIT,
                                                source_address=(source, 0))
        names = {k.replace("_", "-"): v for k, v in headers.items()}
        connection.request(method, path, body, names)
        reply = connection.getresponse()
        text = reply.read().decode()
        connection.close()
        return reply.status, dict(reply.getheaders()), text

    def json(self, path, **headers):
        status, _, text = self.ask(path, **headers)
        if status != 200:
            raise AssertionError("%s: %d %s" % (path, status, text))
        return json.loads(text)

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        out, err = self.process.communicate(timeout=LIMIT)
        return self.process.returncode, out, err


class Events(threading.Thread):
    """A stream of events, read as it comes."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=LIMIT)
        self.connection.request("GET", "/api/events")
        self.reply = self.connection.getresponse()
        self.seen = []  # (when, event, data)
        self.start()

    def run(self):
        name = None
        try:
            for line in iter(self.reply.readline, b""):
                line = line.decode().rstrip("\n")
                if line.startswith("event: "):
                    name = line[7:]
                elif line.startswith("data: "):
                    self.seen.append((time.monotonic(), name, json.loads(line[6:])))
        except (OSError, ValueError, AttributeError, http.client.HTTPException):
            pass  # the test has closed it

    def of(self, event):
        return [data for _, name, data in self.seen if name == event]


class Serving(Case):
    def setUp(self):
        super().setUp()
        self.trainer(TRAINER)
        self.servers = []
        self.d = self.daemon("--slots", "2").start()
        self.client = self.d.connect()

    def tearDown(self):
        for s in self.servers:
            if s.process.poll() is None:
                code, _, err = s.end()
                self.assertEqual((code, err), (0, ""))
            s.process.stdout.close()
            s.process.stderr.close()
        self.client.close()
        self.touch("go")
        self.tidy()

    def serve(self, *options):
        self.servers.append(Server(self.d.socket, *options))
        return self.servers[-1]

    def run_study(self, **more):
        self.submit(self.client, self.study(
            extra_trainer=", retries: 0, max_failures: 10, runs: 2", **more))

    def printed(self, *arguments):
        done = self.ctl("--socket", self.d.socket, "-o", "json", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)


class Answers(Serving):
    def test_as_dparetoctl_prints_it(self):
        self.run_study(search="method: random, evaluations: 12")
        self.finish(self.client, "s")
        s = self.serve()
        for path, command in (("", "list"), ("/s", "status s"), ("/s/front", "front s"),
                              ("/s/front?max=a=0.5&best=b", "front s --max a=0.5 --best b"),
                              ("/s/trials", "trials s"), ("/s/trials/3", "trial s 3")):
            seen, printed = s.json("/api/studies" + path), self.printed(*command.split())
            for one in (seen, printed):  # what goes on with the clock
                for study in one if isinstance(one, list) else [one.get("study")]:
                    if isinstance(study, dict):
                        for key in ("elapsed", "denoised_current", "denoised_results",
                                    "hypervolume_denoised", "report", "whole"):
                            study.pop(key, None)
            self.assertEqual(seen, printed, path)
        self.assertEqual(s.json("/api/daemon")["pid"], self.d.process.pid)
        self.assertEqual(s.json("/api/session")["control"], False)

    def test_a_part_of_many_trials(self):
        self.run_study(search="method: random, evaluations: 40")
        self.finish(self.client, "s")
        s = self.serve()
        every = self.printed("trials", "s")
        part = s.json("/api/studies/s/trials?sort=x&limit=7&from=3")
        for query, rows in (("limit=7", every[:-8:-1]), ("sort=-trial&limit=7&from=35", every[4::-1]),
                            ("sort=trial&limit=7&from=3", every[3:10]), ("from=40", [])):
            plain = s.json("/api/studies/s/trials?" + query)
            self.assertEqual((plain["trials"], plain["total"]), (rows, 40), query)
        first = s.json("/api/studies/s?front=first")
        self.assertEqual(first["study"]["version"], s.json("/api/studies/s")["study"]["version"])
        by_x = sorted(every, key=lambda t: t["parameters"]["x"])
        self.assertEqual((part["trials"], part["total"]), (by_x[3:10], 40))
        few = s.json("/api/studies/s/trials?where=" + urllib.parse.quote("a<=0.5") +
                     "&status=ok&limit=500")
        self.assertEqual({t["trial"] for t in few["trials"]},
                         {t["trial"] for t in every if t["state"] == "ok" and
                          t["objectives"]["a"] <= 0.5})
        failed = s.json("/api/studies/s/trials?status=failed")["trials"]
        self.assertEqual([t["trial"] for t in failed], [1])
        self.assertIn("no such luck", failed[0]["reason"])

    def test_a_study_of_the_same_name_again(self):
        s = self.serve()
        for highest in (0.5, 1):  # with as many records, and so the same version
            self.run_study(parameters="x: {type: float, range: [0, %g]}" % highest)
            self.finish(self.client, "s")
            version = self.printed("status", "s")["study"]["version"]
            part = wait_for(lambda: [p for p in [s.json("/api/studies/s/trials?sort=trial")]
                                     if p["version"] == version])[0]
            self.assertEqual(part["trials"], self.printed("trials", "s"))
            self.client("delete", study="s")
            wait_for(lambda: s.ask("/api/studies/s")[0] == 404)

    def test_a_name_is_not_a_beginning(self):
        self.run_study(name="svt-long")
        s = self.serve("--control")
        for path in ("/api/studies/svt", "/api/studies/1", "/api/studies/svt/front",
                     "/studies/svt", "/api/studies/svt/trials?limit=1"):
            self.assertEqual(s.ask(path)[0], 404, path)
        self.assertEqual(s.ask("/api/studies/svt/stop", "POST",
                               X_DPareto_Token=s.token)[0], 404)
        self.assertEqual(self.client("status", study="svt-long")["study"]["by_failures"], False)

    def test_the_report(self):
        s = self.serve()
        self.touch("slow")
        self.run_study()
        status, headers, text = s.ask("/studies/s/report")
        self.assertEqual((status, headers["Content-Type"]), (404, "text/plain; charset=utf-8"))
        self.assertIn("has no report yet", text)
        self.touch("go")
        self.finish(self.client, "s")
        wait_for(lambda: s.ask("/studies/s/report")[0] == 200)
        _, headers, text = s.ask("/studies/s/report")
        self.assertIn("Written by dpareto-report", text)
        self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
        self.assertNotIn("<script>", text)

    def test_a_log_that_grows(self):
        self.touch("slow")
        self.trainer(TRAINER.replace("gate(\"go\")", """
    sys.stdout.buffer.write(b"one \\xff\\n"); sys.stdout.flush()
    gate("go")
    print("two", flush=True)
"""))
        self.run_study(search="method: random, evaluations: 1")
        s = self.serve()
        path = "/api/studies/s/trials/0/log?stream=stdout"
        wait_for(lambda: s.ask(path)[0] == 200 and s.json(path)["text"])
        first = s.json(path)
        self.assertEqual((first["text"], first["ended"], first["next"]), ("one \ufffd\n", False, 6))
        self.touch("go")
        self.finish(self.client, "s")
        second = s.json(path + "&from=6")
        self.assertEqual((second["text"], second["ended"], second["end"]), ("two\n", True, "ok"))
        self.assertIn("<script>", s.json("/api/studies/s/trials/0/log")["text"])

    def test_a_log_that_is_something_else(self):
        self.run_study()
        self.finish(self.client, "s")
        s = self.serve()
        folder = self.client("trial", study="s", trial=0)["trial"]["attempts"][0]["directory"]
        for make in (os.mkfifo, lambda path: os.symlink("/etc/passwd", path), os.mkdir):
            path = os.path.join(folder, "stderr")
            os.unlink(path)
            make(path)
            status, _, text = s.ask("/api/studies/s/trials/0/log")
            self.assertEqual(status, 409)
            self.assertIn("something else in the place of its log", text)

    def test_pictures(self):
        self.run_study(search="method: random, evaluations: 10")
        self.finish(self.client, "s")
        s = self.serve()
        for name in ("front", "hypervolume", "spark"):
            status, headers, text = s.ask("/api/studies/s/figures/%s.svg" % name)
            self.assertEqual((status, headers["Content-Type"]), (200, "image/svg+xml"))
            self.assertTrue(text.startswith("<svg "), text[:80])
        front = {t["trial"] for t in self.printed("front", "s")["front"]}
        inline = s.ask("/api/studies/s/figures/front.svg?inline&width=380")[2]
        self.assertEqual({int(n) for n in re.findall(r'href="/studies/s/trials/(\d+)"', inline)},
                         front)


class Live(Serving):
    def test_events_within_a_second(self):
        s = self.serve()
        events = Events(s)
        wait_for(lambda: events.of("daemon"))
        self.assertEqual(events.of("daemon"), [{"there": True}])
        self.touch("slow")
        self.run_study(search="method: random, evaluations: 3")
        self.touch("go")
        status = self.finish(self.client, "s")
        ended, last = time.monotonic(), status["study"]["version"]
        wait_for(lambda: {"study": "s", "version": last} in events.of("study"))
        # a second, and what a machine with other work takes for anything
        when = next(t for t, _, data in events.seen if data == {"study": "s", "version": last})
        self.assertLess(when - ended, 1 + 10 * os.getloadavg()[0] / (os.cpu_count() or 1))
        # whoever comes later is told where things are
        later = Events(s)
        wait_for(lambda: later.of("study"))
        self.assertEqual(later.of("study")[0]["study"], "s")
        self.client("delete", study="s")
        wait_for(lambda: {"study": "s", "version": None} in events.of("study"))

    def test_a_daemon_that_goes_and_comes_back(self):
        s = self.serve()
        events = Events(s)
        wait_for(lambda: events.of("daemon"))
        self.client.close()
        self.d.end(signal.SIGKILL)
        wait_for(lambda: [e["there"] for e in events.of("daemon")] == [True, False])
        self.assertEqual(s.ask("/api/studies")[0], 503)
        self.assertEqual(s.ask("/")[0], 200)
        self.assertIn("\ndpareto_up 0\n", s.ask("/metrics")[2])
        self.d.start()
        self.client = self.d.connect()
        wait_for(lambda: [e["there"] for e in events.of("daemon")] == [True, False, True])
        self.assertEqual(s.json("/api/studies"), [])

    def test_streams_end_with_their_readers(self):
        s = self.serve()
        for _ in range(70):  # more than there are places, one after the other
            sock = socket.create_connection(("127.0.0.1", s.port))
            sock.sendall(b"GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertTrue(sock.recv(12).startswith(b"HTTP/1.1"))
            sock.close()
        wait_for(lambda: b" 200 " in self.head(s, b"GET /api/events HTTP/1.1\r\nHost: localhost"))

    def head(self, s, request):
        with socket.create_connection(("127.0.0.1", s.port), timeout=LIMIT) as sock:
            sock.sendall(request + b"\r\n\r\n")
            return sock.recv(4096)


class Steering(Serving):
    def test_who_and_from_where(self):
        self.touch("slow")
        self.run_study(search="method: random, evaluations: 3", parameters=(
            "x: {type: float, range: [0, 1]}"))
        s = self.serve("--control")
        post = lambda what, **more: s.ask("/api/studies/s/" + what, "POST",
                                          X_DPareto_Token=s.token, **more)
        status, _, text = post("pause")
        self.assertEqual((status, json.loads(text)["state"]), (200, "paused"))
        self.assertEqual(post("enqueue", body=json.dumps({"parameters": {"x": 0.5}}))[0], 200)
        self.assertEqual(json.loads(post("resume")[2])["state"], "running")
        self.assertEqual(post("stop")[0], 200)
        self.touch("go")
        self.finish(self.client, "s")
        dump = self.ctl("journal", "dump", "--state", self.d.state).stdout
        for what in ("paused", "running", "stopped", "trial-proposed"):
            line = [one for one in dump.splitlines() if what in one and "web page" in one]
            self.assertTrue(line, what + " is not in:\n" + dump)
            self.assertRegex(line[0], r"web page, \S+ \(%d\) from 127\.0\.0\.1" % os.getuid())

    def test_a_point_that_is_none(self):
        self.run_study()
        s = self.serve("--control")
        for body in ("", "x", "[]", "{}", '{"parameters": 1}', '{"parameters": {"y": 1}}'):
            status, _, text = s.ask("/api/studies/s/enqueue", "POST", body,
                                    X_DPareto_Token=s.token)
            self.assertIn(status, (400, 409), body)
            self.assertTrue(json.loads(text)["error"]["message"], body)

    def test_only_with_the_token_and_from_here(self):
        self.run_study()
        s = self.serve("--control")
        path = "/api/studies/s/pause"
        self.assertEqual(s.ask(path, "POST")[0], 401)
        self.assertEqual(s.ask(path, "POST", X_DPareto_Token="x")[0], 401)
        self.assertEqual(s.ask(path, "POST", X_DPareto_Token=s.token,
                               Origin="http://evil.example")[0], 403)
        self.assertEqual(s.ask(path, "POST", X_DPareto_Token=s.token, Host="evil.example")[0], 421)
        self.assertEqual(s.ask("/", Host="evil.example")[0], 421)
        self.assertEqual(s.ask(path, "DELETE", X_DPareto_Token=s.token)[0], 405)
        self.assertEqual(self.serve().ask(path, "POST")[0], 405)


class Doors(Serving):
    def test_beyond_this_machine(self):
        done = self.ctl("--socket", self.d.socket, "serve", "--listen", "0.0.0.0:0")
        self.assertEqual(done.returncode, 2)
        self.assertIn("needs --token-file", done.stderr)

    @unittest.skipUnless(os.getuid() == 0, "skipped: only root can be somebody else")
    def test_who_may_use_the_socket_may_look(self):
        s = self.serve()

        def asked(user):
            """The status that a process of that user gets."""
            out, into = os.pipe()
            child = os.fork()
            if child == 0:
                os.setgroups([])
                os.setgid(user)
                os.setuid(user)
                os.write(into, b"%d" % s.ask("/api/studies")[0])
                os._exit(0)
            os.close(into)
            with os.fdopen(out, "rb") as reader:
                status = reader.read()
            os.waitpid(child, 0)
            return int(status)
        self.assertEqual([asked(0), asked(65534)], [200, 403])
        os.chmod(self.d.socket, 0o666)
        self.assertEqual(asked(65534), 200)

    def test_a_token_in_a_file(self):
        file = self.write("token", "correct-horse-battery\n", 0o600)
        s = self.serve("--listen", "0.0.0.0:0", "--token-file", file)
        self.assertEqual(s.ask("/api/studies")[0], 401)
        self.assertEqual(s.ask("/metrics")[0], 401)
        self.assertEqual(s.ask("/")[0], 200)
        self.assertEqual(s.ask("/api/studies", X_DPareto_Token="correct-horse-battery")[0], 200)
        status, headers, _ = s.ask("/login", "POST", "token=correct-horse-battery")
        self.assertEqual(status, 303)
        cookie = headers["Set-Cookie"].split(";")[0]
        self.assertEqual(s.ask("/api/studies", Cookie=cookie)[0], 200)
        self.assertNotIn("correct", cookie)

    def test_both_kinds_of_addresses(self):
        file = self.write("token", "correct-horse-battery\n", 0o600)
        self.run_study()
        s = self.serve("--listen", "[::]:0", "--token-file", file, "--control")
        self.assertEqual(s.ask("/")[0], 200)  # as 127.0.0.1
        s.ask("/api/studies/s/pause", "POST", X_DPareto_Token="correct-horse-battery")
        dump = self.ctl("journal", "dump", "--study", "s", "--state", self.d.state).stdout
        self.assertIn("web page, from 127.0.0.1", dump)

    def test_a_file_that_everybody_reads(self):
        file = self.write("token", "correct-horse-battery\n", 0o644)
        done = self.ctl("--socket", self.d.socket, "serve", "--listen", "127.0.0.1:0",
                        "--token-file", file)
        self.assertEqual(done.returncode, 4)
        self.assertIn("chmod o=", done.stderr)

    def test_a_port_that_is_taken(self):
        s = self.serve()
        done = self.ctl("--socket", self.d.socket, "serve", "--listen", "127.0.0.1:%d" % s.port)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot listen on 127.0.0.1:%d" % s.port, done.stderr)

    def test_headers_of_every_answer(self):
        s = self.serve()
        for path in ("/", "/page.js", "/api/studies", "/metrics", "/nothing"):
            _, headers, _ = s.ask(path)
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff", path)
            self.assertIn("default-src 'none'", headers["Content-Security-Policy"], path)
            self.assertNotIn("unsafe-inline", headers["Content-Security-Policy"], path)
            self.assertNotIn("Access-Control-Allow-Origin", headers)

    def test_a_frame_of_another_site(self):
        self.run_study()
        self.finish(self.client, "s")
        s = self.serve()
        for path in ("/", "/studies/s", "/api/studies", "/api/studies/s/figures/front.svg"):
            for dest, status in (("iframe", 403), ("object", 403), ("document", 200)):
                seen = s.ask(path, Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate",
                             Sec_Fetch_Dest=dest)
                self.assertEqual(seen[0], status, (path, dest))
                self.assertEqual(seen[1]["X-Frame-Options"], "DENY")
                self.assertIn("frame-ancestors 'none'", seen[1]["Content-Security-Policy"])


class Rude(Serving):
    """What one visitor does is not felt by the others."""

    def raw(self, s, request, size=4096):
        with socket.create_connection(("127.0.0.1", s.port), timeout=LIMIT) as sock:
            try:
                sock.sendall(request)
            except OSError:
                pass  # it was refused before all was sent
            try:
                return sock.recv(size)
            except ConnectionResetError:
                return b""

    def test_too_much(self):
        s = self.serve("--control")
        host = b"Host: localhost\r\n"
        for request in (
                b"GET /" + b"x" * 100000 + b" HTTP/1.1\r\n" + host + b"\r\n",
                b"GET / HTTP/1.1\r\n" + host + b"X: " + b"y" * 100000 + b"\r\n\r\n",
                b"".join([b"GET / HTTP/1.1\r\n" + host] + [b"X-%d: y\r\n" % i for i in range(5000)])
                + b"\r\n",
                b"\x00\xff\x16\x03" * 100,
                b"GET / HTTP/9.9\r\n" + host + b"\r\n",
                b"POST /api/studies/s/pause HTTP/1.1\r\n" + host + b"Content-Length: -1\r\n\r\n"):
            reply = self.raw(s, request)
            self.assertFalse(reply.startswith(b"HTTP/1.1 200"), request[:80])
        twice = b"GET / HTTP/1.1\r\n" + host + b"Host: evil.example\r\n\r\n"
        self.assertTrue(self.raw(s, twice).startswith(b"HTTP/1.1 421"))
        long = s.ask("/api/studies/s/enqueue", "POST", "x" * 70000, X_DPareto_Token=s.token)
        self.assertEqual(long[0], 413)
        self.assertEqual(s.ask("/")[0], 200)

    def test_a_body_without_end(self):
        s = self.serve()
        for request in (b"GET /nothing", b"GET /", b"POST /login"):
            with socket.create_connection(("127.0.0.1", s.port), timeout=LIMIT) as sock:
                sock.sendall(request + b" HTTP/1.1\r\nHost: localhost\r\n"
                             b"Transfer-Encoding: chunked\r\n\r\n")
                with self.assertRaises(OSError, msg=request):
                    for _ in range(100000):
                        sock.sendall(b"1000\r\n" + b"x" * 4096 + b"\r\n")

    def test_many_who_say_nothing(self):
        s = self.serve()
        idle = [socket.create_connection(("127.0.0.1", s.port)) for _ in range(60)]
        for sock in idle:
            sock.sendall(b"GET / HTTP/1.1\r\n")
        self.assertEqual(s.ask("/api/studies")[0], 200)
        for sock in idle:
            sock.close()

    def test_a_byte_at_a_time(self):
        s = self.serve()
        sock = socket.create_connection(("127.0.0.1", s.port))
        sock.settimeout(LIMIT)
        sock.sendall(b"GET / HTTP/1.1\r\nX: ")
        ended = threading.Event()

        def drip():
            while not ended.wait(1):
                try:
                    sock.sendall(b"y")
                except OSError:
                    return
        threading.Thread(target=drip, daemon=True).start()
        began = time.monotonic()
        try:
            self.assertEqual(sock.recv(1), b"")  # it is hung up on
        except ConnectionResetError:
            pass
        ended.set()
        sock.close()
        self.assertGreater(time.monotonic() - began, 5)

    def test_ends_beside_a_daemon_that_hangs(self):
        s = self.serve()
        s.json("/api/studies")
        self.d.process.send_signal(signal.SIGSTOP)
        try:
            asked = socket.create_connection(("127.0.0.1", s.port), timeout=LIMIT)
            asked.sendall(b"GET /api/studies HTTP/1.1\r\nHost: localhost\r\n\r\n")
            wait_for(lambda: self.threads(s) > 3)  # its own, and that of the question
            began = time.monotonic()
            self.assertEqual(s.end()[0], 0)
            self.assertLess(time.monotonic() - began, 30)
            asked.close()
        finally:
            self.d.process.send_signal(signal.SIGCONT)

    def threads(self, s):
        return len(os.listdir("/proc/%d/task" % s.process.pid))

    def open_with(self, opener, *options):
        """A server that is told to open a browser, for which this stands."""
        self.write("xdg-open", "#!/bin/sh\ncd %s || exit\nexec >/dev/null 2>&1\n%s" %
                   (self.folder, opener), 0o755)
        path = os.environ["PATH"]
        os.environ["PATH"] = self.folder + ":" + path
        try:
            return self.serve("--open", *options)
        finally:
            os.environ["PATH"] = path

    def opened(self):
        wait_for(lambda: self.has("opened"))
        with open(self.path("opened")) as f:
            return f.read()

    def test_opens_a_browser_that_stays(self):
        s = self.open_with("echo \"$1\" >opening\nmv opening opened\n"
                           "while [ -e xdg-open ]; do sleep 0.1; done\n")
        self.assertEqual(self.opened(), "http://127.0.0.1:%d/\n" % s.port)
        self.assertEqual(s.json("/api/studies"), [])
        self.assertEqual(s.end()[0], 0)
        os.unlink(self.path("xdg-open"))

    def test_signs_a_browser_in_without_an_argument_that_others_see(self):
        self.write("token", "a+b%/c=d&e#012345\n", 0o600)
        s = self.open_with("{ stat -c %a \"$1\"; echo \"$1\"; cat \"$1\"; } >opening\n"
                           "mv opening opened\n", "--token-file", self.path("token"))
        mode, path, page = self.opened().split("\n", 2)
        self.assertEqual(mode, "600")
        self.assertNotIn("012345", path)
        self.assertIn("url=http://127.0.0.1:%d/#token=a%%2Bb%%25%%2Fc%%3Dd%%26e%%23012345\"" %
                      s.port, page)
        self.assertEqual(s.end()[0], 0)
        self.assertFalse(os.path.exists(path))

    def test_ends_at_once(self):
        s = self.serve()
        events = Events(s)
        wait_for(lambda: events.of("daemon"))
        began = time.monotonic()
        self.assertEqual(s.end()[0], 0)
        self.assertLess(time.monotonic() - began, 30)
