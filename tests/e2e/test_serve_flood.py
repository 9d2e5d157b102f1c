"""test_serve_flood.py - dparetoctl serve while other peers hold as many connections as they can,
and requests as raw bytes that libmicrohttpd alone would accept."""
import ctypes
import fcntl
import http.client
import itertools
import os
import select
import socket
import struct
import time
import unittest

from harness import LIMIT
from test_serve import Serving

HALF = b"GET /api/studies HTTP/1.1\r\nHost: localhost\r\nX: "
HALF_BODY = b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\ntoken="
OTHER_USER = 65534
TOKEN = "correct-horse-battery"


def enter_network():
    """Moves this process to a network namespace of its own, whose loopback device has all of
    10.0.0.0/8. Its addresses are not loopback addresses, so the server takes one that is not its
    own for another machine."""
    if ctypes.CDLL(None, use_errno=True).unshare(0x40000000) != 0:  # CLONE_NEWNET
        raise OSError(ctypes.get_errno(), "unshare")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        fcntl.ioctl(s, 0x8914, struct.pack("16sh14x", b"lo", 0x49))  # SIOCSIFFLAGS: up
        for name, request, address in ((b"lo:1", 0x8916, "10.0.0.1"),     # SIOCSIFADDR
                                       (b"lo:1", 0x891c, "255.0.0.0")):  # SIOCSIFNETMASK
            fcntl.ioctl(s, request, struct.pack("16sHH4s8x", name, socket.AF_INET, 0,
                                                socket.inet_aton(address)))


def hold(address, sources, count, request, again, ready):
    """Keeps that many connections open, from these addresses in turn, each with this request
    and then with `again` at intervals, and replaces those that the server closes. Never
    returns."""
    held, sent = [], set()
    sources = itertools.cycle(sources)
    while True:
        while len(held) < count:
            one = socket.socket()
            one.setblocking(False)
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.bind((next(sources), 0))
            one.connect_ex(address)
            held.append(one)
        _, writable, _ = select.select([], held, [], 1)
        for one in writable:
            try:
                one.send(again if one in sent else request)
                sent.add(one)
            except OSError:
                held.remove(one)
                sent.discard(one)
                one.close()
        if ready is not None and len(writable) > count // 2:
            os.write(ready, b"x")
            os.close(ready)
            ready = None
        closed, _, _ = select.select(held, [], [], 0.01)
        for one in closed:
            held.remove(one)
            sent.discard(one)
            one.close()


class Flood(Serving):
    def setUp(self):
        super().setUp()
        self.children = []

    def tearDown(self):
        for child in self.children:
            os.kill(child, 9)
            os.waitpid(child, 0)
        super().tearDown()

    def flood(self, s, *sources, request=HALF, again=None):
        """A process that holds 300 connections, or one from each of many addresses. As
        another user, if the tests run as root."""
        out, into = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.close(out)
                if os.getuid() == 0:
                    os.setgroups([])
                    os.setgid(OTHER_USER)
                    os.setuid(OTHER_USER)
                hold((s.host, s.port), sources or ["127.0.0.1"],
                     len(sources) if len(sources) > 1 else 300, request,
                     request if again is None else again, into)
            finally:
                os._exit(1)
        self.children.append(child)
        os.close(into)
        self.assertEqual(os.read(out, 1), b"x")
        os.close(out)

    def assert_served(self, s, **headers):
        for i in range(3):
            for path in ("/", "/api/studies", "/metrics"):
                self.assertEqual(s.ask(path, **headers)[0], 200, (i, path))

    def first_event(self, s):
        c = http.client.HTTPConnection("127.0.0.1", s.port, timeout=LIMIT)
        c.request("GET", "/api/events", headers={"X-DPareto-Token": TOKEN})
        with c.getresponse() as reply:
            first = reply.read(7)
        c.close()
        return first

    def serve_with_token(self):
        return self.serve("--token-file", self.write("token", TOKEN + "\n", 0o600))

    @unittest.skipUnless(os.getuid() == 0, "skipped: only root can be another user")
    def test_user_without_access(self):
        s = self.serve()
        self.flood(s)
        self.assert_served(s)

    @unittest.skipUnless(os.getuid() == 0, "skipped: only root can be another user")
    def test_user_with_access(self):
        os.chmod(self.d.socket, 0o666)
        s = self.serve()
        self.flood(s)
        self.flood(s, request=HALF_BODY)
        self.assert_served(s)

    def test_address_without_token(self):
        s = self.serve_with_token()
        self.flood(s, "127.0.0.2")
        self.flood(s, "127.0.0.3", request=HALF_BODY)
        self.assert_served(s, X_DPareto_Token=TOKEN)

    @unittest.skipUnless(os.getuid() == 0, "skipped: only root can be another user")
    def test_sign_in(self):
        """The owner does not have the token yet, and nor do 220 addresses of another user."""
        chunked = HALF_BODY.replace(b"Content-Length: 50\r\n\r\n",
                                    b"Transfer-Encoding: chunked\r\n\r\n32\r\n")
        for request in (HALF_BODY, chunked):
            s = self.serve_with_token()
            self.flood(s, *("127.0.0.%d" % i for i in range(2, 222)), request=request,
                       again=b"")
            for i in range(5):
                self.assertEqual(s.ask("/")[0], 200, (i, request))
                status, _, text = s.ask("/login", "POST", "token=" + TOKEN)
                self.assertEqual(status, 303, (i, request, text))

    @unittest.skipUnless(os.getuid() == 0, "skipped: needs a network namespace")
    def test_sign_in_from_network(self):
        """Nobody has the token yet: neither 200 other machines with one slow body each, nor the
        one that signs in."""
        before = os.open("/proc/self/ns/net", os.O_RDONLY)
        self.addCleanup(os.close, before)
        self.addCleanup(lambda: ctypes.CDLL(None).setns(before, 0))
        enter_network()
        s = self.serve("--listen", "10.0.0.1:0", "--token-file",
                       self.write("token", TOKEN + "\n", 0o600))
        s.host = "10.0.0.1"
        self.flood(s, *("10.0.1.%d" % i for i in range(2, 202)), request=HALF_BODY, again=b"")
        for i in range(5):
            self.assertEqual(s.ask("/", source="10.0.2.1")[0], 200, i)
            status, _, text = s.ask("/login", "POST", "token=" + TOKEN, source="10.0.2.1")
            self.assertEqual(status, 303, (i, text))

    def test_address_with_token(self):
        """Event streams and half requests of peers that have the token, too."""
        s = self.serve_with_token()
        token = b"Host: localhost\r\nX-DPareto-Token: " + TOKEN.encode() + b"\r\n"
        self.flood(s, "127.0.0.2",
                   request=b"GET /api/events HTTP/1.1\r\n" + token + b"\r\n")
        self.flood(s, "127.0.0.3", request=b"POST /login HTTP/1.1\r\n" + token +
                   b"Content-Length: 5\r\n\r\n")
        self.assert_served(s, X_DPareto_Token=TOKEN)
        self.assertEqual(self.first_event(s), b"event: ")


class Raw(Serving):
    def raw(self, s, request):
        """The status of the answer to these bytes, 0 if there is none, and all of it."""
        with socket.create_connection(("127.0.0.1", s.port), timeout=LIMIT) as sock:
            sock.sendall(request)
            sock.shutdown(socket.SHUT_WR)
            answer = b""
            try:
                for part in iter(lambda: sock.recv(65536), b""):
                    answer += part
            except ConnectionResetError:
                pass
        return (int(answer.split()[1]) if answer else 0), answer

    def test_invalid_requests(self):
        s = self.serve("--control")
        get, post = b"GET / HTTP/1.1\r\n", b"POST /login HTTP/1.1\r\n"
        host = b"Host: localhost\r\n"
        self.assertEqual(self.raw(s, get + host + b"\r\n")[0], 200)
        for status, request in (
                (400, post + host + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\ntoken"),
                (400, post + host + b"Content-Length: 5\r\ncontent-length: 6\r\n\r\ntoken="),
                (400, post + host + b"Content-Length: 5, 5\r\n\r\ntoken"),
                (400, post + host + b"Content-Length: +5\r\n\r\ntoken"),
                (400, post + host + b"Content-Length: -5\r\n\r\ntoken"),
                (400, post + host + b"Content-Length: 0x5\r\n\r\ntoken"),
                (400, post + host + b"Content-Length:\r\n\r\ntoken"),
                (413, post + host + b"Content-Length: 99999999999999999999\r\n\r\ntoken"),
                (413, post + host + b"Content-Length: 999999999999999999\r\n\r\ntoken"),
                (400, post + host + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
                 b"0\r\n\r\n"),
                (400, post + host + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
                (400, post + host + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n"),
                (400, get + b"Host: localhost\x00.evil.example\r\n\r\n"),
                (400, get + host + b"X\x00Y: z\r\n\r\n"),
                (400, get + host + b"X: a\r\n b\r\n\r\n"),
                (400, get + host + b"X : a\r\n\r\n"),
                (400, get + host + b": a\r\n\r\n"),
                (400, get + host + b"X\r\n\r\n"),
                (400, b"GET / HTTP/1.1\nHost: localhost\n\n"),
                (400, get + b"Host: localhost\n\r\n"),
                (400, get + host + b"X: a\rY: b\r\n\r\n"),
                (400, b"GET / HTTP/1.1\r\r\n" + host + b"\r\n"),
                (400, b"GET  / HTTP/1.1\r\n" + host + b"\r\n"),
                (400, b"GET /\r\n\r\n"),
                (400, b"\r\n" + get + host + b"\r\n"),
                (400, b"GET /\x00 HTTP/1.1\r\n" + host + b"\r\n"),
                (400, b"GET /%00 HTTP/1.1\r\n" + host + b"\r\n"),
                (400, b"GET http://evil.example/ HTTP/1.1\r\n" + host + b"\r\n"),
                (421, get + host + b"Host: evil.example\r\n\r\n"),
                (505, b"GET / HTTP/2.0\r\n" + host + b"\r\n"),
                (431, get + host + b"X: " + b"y" * 30000 + b"\r\n\r\n"),
                (431, get + host + b"X: y\r\n" * 101 + b"\r\n")):
            seen, answer = self.raw(s, request)
            self.assertEqual(seen, status, (request[:200], answer[:300]))
            self.assertEqual(answer.count(b"HTTP/1.1 %d " % status), 1, request[:200])
        self.assertEqual(s.ask("/")[0], 200)

    def test_body_without_token(self):
        """It has to be short and of a known length; with the token it need not be."""
        s = self.serve("--token-file", self.write("token", TOKEN + "\n", 0o600))
        post = b"POST /login HTTP/1.1\r\nHost: localhost\r\n"
        known = post + b"X-DPareto-Token: " + TOKEN.encode() + b"\r\n"
        form = b"token=" + TOKEN.encode()
        padded = form + b"&x=" + b"y" * (4096 - len(form) - 3)
        chunked = b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (
            len(form), form)
        for status, request in (
                (303, post + b"Content-Length: 4096\r\n\r\n" + padded),
                (413, post + b"Content-Length: 4097\r\n\r\n"),
                (411, post + b"Transfer-Encoding: chunked\r\n\r\n"),
                (303, known + b"Content-Length: 4097\r\n\r\n" + padded + b"y"),
                (303, known + chunked)):
            seen, answer = self.raw(s, request)
            self.assertEqual(seen, status, (request[:200], answer[:300]))
        # it ends before it is complete: nothing is waited for
        began = time.monotonic()
        self.assertEqual(self.raw(s, post + b"Content-Length: 9\r\n\r\ntoken=")[0], 0)
        self.assertEqual(self.raw(s, post)[0], 0)
        self.assertLess(time.monotonic() - began, 10)
        # in two parts, of which the second waits for a word of the server
        with socket.create_connection(("127.0.0.1", s.port), timeout=LIMIT) as sock:
            sock.sendall(post + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(form))
            self.assertEqual(sock.recv(4096), b"HTTP/1.1 100 Continue\r\n\r\n")
            sock.sendall(form)
            answer = b"".join(iter(lambda: sock.recv(4096), b""))
            self.assertIn(b"HTTP/1.1 303 ", answer)

    def test_one_request_per_connection(self):
        s = self.serve()
        request = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
        status, answer = self.raw(s, request + request)
        self.assertEqual((status, answer.count(b"HTTP/1.1 ")), (200, 1))
        self.assertIn(b"Connection: close", answer)
        # byte by byte
        with socket.create_connection(("127.0.0.1", s.port), timeout=LIMIT) as sock:
            for i in range(len(request)):
                sock.send(request[i:i + 1])
            self.assertTrue(sock.recv(4096).startswith(b"HTTP/1.1 200"))
        # a request that is not complete has no thread
        half = [socket.create_connection(("127.0.0.1", s.port)) for _ in range(100)]
        for sock in half:
            sock.sendall(HALF)
        self.assertEqual(s.ask("/")[0], 200)
        self.assertLess(len(os.listdir("/proc/%d/task" % s.process.pid)), 50)
        for sock in half:
            sock.close()


if __name__ == "__main__":
    unittest.main()
