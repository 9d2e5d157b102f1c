"""serving.py - a dpareto-serve beside a daemon, and questions to it."""
import http.client
import json
import signal
import subprocess

from harness import LIMIT, program

HOST = "pareto.example.org"


class Serving:
    """A dpareto-serve on a port of its own."""

    def __init__(self, socket, *options):
        self.process = subprocess.Popen(
            [program("dpareto-serve"), "--socket", socket, "--listen", "127.0.0.1:0", *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        if not self.address.startswith("dpareto-serve: http://"):
            raise AssertionError("dpareto-serve: " + self.process.communicate()[1])
        self.port = int(self.address.rstrip("/").rpartition(":")[2])

    def get(self, path, **headers):
        """(status, headers, text)"""
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT)
        try:
            c.request("GET", path, headers={k.replace("_", "-"): v for k, v in headers.items()})
            answer = c.getresponse()
            return answer.status, answer.headers, answer.read().decode()
        finally:
            c.close()

    def ask(self, path, **headers):
        status, _, text = self.get(path, **headers)
        if status != 200:
            raise AssertionError("%s: %d %s" % (path, status, text))
        return json.loads(text)

    def end(self):
        """Its exit code, and what it said."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        said = self.process.communicate(timeout=LIMIT)[1]
        return self.process.returncode, said
