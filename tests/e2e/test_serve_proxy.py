"""test_serve_proxy.py - dpareto-serve behind nginx, with the very lines of docs/service.md: TLS, the
token, names, signing in, and events that come at once."""
import http.client
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import unittest
import urllib.parse

from harness import LIMIT, TOP, Case, wait_for
from serving import HOST, Serving

NGINX = shutil.which("nginx") or "/usr/sbin/nginx"
TOKEN = "a-token-of-a-test-0123456789"
CONFIGURATION = """daemon off;
pid {folder}/nginx.pid;
error_log {folder}/nginx.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/t1;
    proxy_temp_path {folder}/t2;
    fastcgi_temp_path {folder}/t3;
    uwsgi_temp_path {folder}/t4;
    scgi_temp_path {folder}/t5;
{server}
}}
"""


def documented():
    """The lines of the page, as they stand there."""
    with open(os.path.join(TOP, "docs/service.md")) as f:
        return re.search(r"^    server \{\n(?:     .*\n)+    \}\n", f.read(), re.M).group()


class Through(http.client.HTTPConnection):
    """A connection to the proxy's socket, with its certificate checked."""

    def __init__(self, path, certificate):
        super().__init__(HOST, timeout=LIMIT)
        self.path, self.context = path, ssl.create_default_context(cafile=certificate)

    def connect(self):
        plain = socket.socket(socket.AF_UNIX)
        plain.settimeout(LIMIT)
        plain.connect(self.path)
        self.sock = self.context.wrap_socket(plain, server_hostname=HOST)


@unittest.skipUnless(os.access(NGINX, os.X_OK), "skipped: no nginx")
@unittest.skipUnless(shutil.which("openssl"), "skipped: no openssl")
class Proxy(Case):
    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o711)  # nginx' workers are somebody else
        self.d = self.daemon().start()
        self.client = self.d.connect()
        self.serving = Serving(self.d.socket, "--token-file",
                               self.write("token", TOKEN + "\n", 0o600), "--host", HOST)
        self.addCleanup(self.serving.process.kill)
        self.make_certificate()
        self.start_nginx()

    def tearDown(self):
        self.client.close()
        self.tidy()

    def make_certificate(self):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=" + HOST,
                        "-addext", "subjectAltName=DNS:" + HOST, "-keyout", self.path("key"),
                        "-out", self.path("cert")], check=True, capture_output=True, timeout=LIMIT)

    def start_nginx(self):
        server = documented()
        for pattern, place in ((r"listen 443 ssl;", "listen unix:%s ssl;" % self.path("tls")),
                               (r"(ssl_certificate) \S+;", r"\1 %s;" % self.path("cert")),
                               (r"(ssl_certificate_key) \S+;", r"\1 %s;" % self.path("key")),
                               (r"127\.0\.0\.1:8410", "127.0.0.1:%d" % self.serving.port)):
            server, count = re.subn(pattern, place, server)
            self.assertEqual(count, 1, pattern)
        self.write("nginx.conf", CONFIGURATION.format(folder=self.folder, server=server))
        nginx = subprocess.Popen([NGINX, "-c", self.path("nginx.conf"), "-e", self.path("nginx.log")],
                                 stdin=subprocess.DEVNULL)
        self.addCleanup(nginx.wait, LIMIT)
        self.addCleanup(nginx.terminate)
        wait_for(lambda: self.listens() or nginx.poll() is not None)
        self.assertIsNone(nginx.poll())

    def listens(self):
        """The file is there a moment before anybody listens at it."""
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(self.path("tls")) == 0

    def send(self, method, path, body=None, **headers):
        """The answer; its connection stays open for who reads on."""
        c = Through(self.path("tls"), self.path("cert"))
        self.addCleanup(c.close)
        c.request(method, path, body, {k.replace("_", "-"): v for k, v in headers.items()})
        return c.getresponse()

    def test_who_gets_in(self):
        self.assertEqual(self.send("GET", "/api/studies").status, 401)
        self.assertEqual(self.send("GET", "/api/studies", X_DPareto_Token=TOKEN).status, 200)
        self.assertEqual(self.send("GET", "/metrics", Authorization="Bearer " + TOKEN).status, 200)
        self.assertEqual(self.send("GET", "/", Host="evil.example.org").status, 421)

    def test_signing_in(self):
        form = urllib.parse.urlencode({"token": TOKEN})
        kind = {"Content_Type": "application/x-www-form-urlencoded"}
        self.assertEqual(self.send("POST", "/login", form, Origin="https://evil.example.org",
                                   **kind).status, 403)
        answer = self.send("POST", "/login", form, Origin="https://" + HOST, **kind)
        self.assertLess(answer.status, 400)
        cookie = answer.headers["Set-Cookie"]
        for word in "HttpOnly", "SameSite=Strict", "Secure":
            self.assertIn(word.lower(), cookie.lower())
        self.assertEqual(self.send("GET", "/api/studies", Cookie=cookie.split(";")[0]).status, 200)

    def test_events_come_at_once(self):
        """Few bytes, which a proxy that waits for more would keep."""
        events = self.send("GET", "/api/events", X_DPareto_Token=TOKEN)
        self.assertEqual(events.status, 200)

        def next_data(event):
            while True:
                if events.readline().strip() == b"event: " + event:
                    return json.loads(events.readline().partition(b":")[2])
        self.assertEqual(next_data(b"daemon")["there"], True)
        self.trainer("report(a=1, b=1)\n")
        self.submit(self.client, self.study())
        self.assertEqual(next_data(b"study")["study"], "s")
        self.finish(self.client, "s")


if __name__ == "__main__":
    unittest.main()
