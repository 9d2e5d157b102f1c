"""test_hook_examples.py - the hook programs of examples/hooks, against listeners of our own: what
arrives when a real daemon tells them, what hostile names and messages become, and what is said
when nobody listens or something is missing."""
import email
import email.policy
import http.server
import json
import os
import re
import shutil
import socket
import socketserver
import subprocess
import sys
import textwrap
import threading
import unittest
import urllib.parse

from harness import LIMIT, TOP, Case, wait_for

HOOKS = os.path.join(TOP, "examples/hooks")
WEBHOOK, NTFY, MAIL = (os.path.join(HOOKS, name) for name in ("webhook.sh", "ntfy.sh", "mail.py"))
TOKEN = "tk_Zm9vYmFy-._~+/="
FINISHED = {"version": 1, "event": "finished", "study": "adult", "state": "finished", "reason": None,
            "evaluations": 80, "failed": 0, "diverged": 0, "hypervolume": 8.1,
            "time": "2026-03-01T12:00:03.123456Z", "report": "/s/report.html"}
HOSTILE = {**FINISHED, "event": "failed", "report": None,
           "study": "s\r\nBcc: evil@example.org\r\n\r\n\"'$(touch gone)`x`\\ <script>é☃",
           "reason": "</script><b>\"quoted\" 'too' $(touch gone)\r\n.\r\nX-Evil: 1\n\u202eabc\u0000\u001b[2J é☃"}
# A sendmail keeps what it was given: its arguments and the message.
SENDMAIL = """#!/bin/sh
n=$(ls %(folder)s | grep -c mail-)
printf '%%s\\n' "$@" > %(folder)s/args
cat > %(folder)s/new && mv %(folder)s/new %(folder)s/mail-$n
"""
TRAINER = r"""
if os.environ.get("BAD"):
    sys.stderr.write("Subject: no\r\nBcc: evil@example.org \"<script>\" $(touch gone) \u202e é☃\n")
    sys.exit(3)
report(a=params["x"], b=1 - params["x"])
"""


def needs(tool):
    return unittest.skipUnless(shutil.which(tool), "skipped: no " + tool)


class Listener(http.server.ThreadingHTTPServer):
    """Keeps each request as (path, headers, body), and the command lines of our processes while it
    is under way. Answers with the codes given, the last one from then on."""
    daemon_threads = True

    def __init__(self, *codes):
        super().__init__(("127.0.0.1", 0), Answer)
        self.codes, self.got, self.seen = list(codes) or [200], [], ""
        self.url = "http://127.0.0.1:%d" % self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def end(self):
        self.shutdown()
        self.server_close()

    def bodies(self):
        return [json.loads(body) for _, _, body in self.got]


class Answer(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        server = self.server
        body = self.rfile.read(int(self.headers["Content-Length"]))
        server.seen += command_lines()
        code = server.codes.pop(0) if len(server.codes) > 1 else server.codes[0]
        server.got.append((self.path, self.headers, body.decode()))
        self.send_response(code)
        if code == 302:
            self.send_header("Location", server.url + "/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class MailServer(socketserver.StreamRequestHandler):
    """Takes mail, but not for nobody@, and keeps (sender, receivers, message)."""

    def handle(self):
        sender, receivers = None, []
        self.say(220)
        for line in self.rfile:
            verb = line.split()[0].upper() if line.split() else b""
            if verb == b"MAIL":
                sender = line
            elif verb == b"RCPT" and b"nobody@" in line:
                self.say(550)
                continue
            elif verb == b"RCPT":
                receivers.append(line)
            elif verb == b"DATA":
                self.say(354)
                self.server.got.append((sender, receivers, self.message()))
            self.say(221 if verb == b"QUIT" else 250)
            if verb == b"QUIT":
                return

    def message(self):
        lines = []
        for line in self.rfile:
            if line == b".\r\n":
                return b"".join(lines)
            lines.append(line[1:] if line.startswith(b".") else line)
        raise AssertionError("the message does not end")

    def say(self, code):
        self.wfile.write(b"%d so it is\r\n" % code)


def command_lines():
    """Of the processes that descend from this one."""
    parents, lines = {}, {}
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        try:
            with open("/proc/%d/stat" % pid) as f:
                parents[pid] = int(f.read().rpartition(")")[2].split()[1])
            with open("/proc/%d/cmdline" % pid, "rb") as f:
                lines[pid] = f.read().decode(errors="replace").replace("\0", " ")
        except OSError:
            pass  # gone meanwhile

    def ours(pid):
        while pid in parents and pid != os.getpid():
            pid = parents[pid]
        return pid == os.getpid()
    return "\n".join(line for pid, line in lines.items() if pid != os.getpid() and ours(pid)) + "\n"


class HookCase(Case):
    def listener(self, *codes):
        server = Listener(*codes)
        self.addCleanup(server.end)
        return server

    def nobody(self):
        """An address where nobody listens, and nobody else will."""
        held = socket.socket()
        self.addCleanup(held.close)
        held.bind(("127.0.0.1", 0))
        return "http://127.0.0.1:%d/x" % held.getsockname()[1]

    def token(self, text=TOKEN + "\n"):
        return self.write("token", text, 0o600)

    def tell(self, news, *command, path=None):
        """What the program says on stderr, and its exit code."""
        if not isinstance(news, (str, bytes)):
            news = json.dumps(news)
        env = dict(os.environ, PATH=path) if path else None
        done = subprocess.run(command, input=news.encode() if isinstance(news, str) else news,
                              capture_output=True, timeout=LIMIT, cwd=self.folder, env=env)
        self.assertEqual(done.stdout, b"")
        self.assertFalse(self.has("gone"), "something was executed")
        return done.returncode, done.stderr.decode()

    def told(self, news, *command):
        self.assertEqual(self.tell(news, *command), (0, ""))

    def refused(self, sentence, news, *command, path=None):
        code, said = self.tell(news, *command, path=path)
        self.assertNotEqual(code, 0)
        self.assertIn(sentence, said)
        self.assertNotIn(TOKEN, said)
        self.assertNotIn("Traceback", said)
        return said

    def without(self, *missing):
        """A PATH with what the hooks use, but for these."""
        shutil.rmtree(self.path("few"), ignore_errors=True)
        os.mkdir(self.path("few"))
        for tool in {"sh", "cat", "curl", "jq", "dirname", "uname", "mktemp", "rm"} - set(missing):
            if shutil.which(tool):
                os.symlink(shutil.which(tool), self.path("few/" + tool))
        return self.path("few")

    def sendmail(self, text=SENDMAIL):
        os.makedirs(self.path("post"), exist_ok=True)
        return self.write("sendmail", text.replace("%(folder)s", self.path("post"))
                          .replace("%%", "%"), 0o755)

    def letters(self):
        names = sorted(os.listdir(self.path("post")))
        found = []
        for name in (n for n in names if n.startswith("mail-")):
            with open(self.path("post/" + name), "rb") as f:
                found.append(email.message_from_bytes(f.read(), policy=email.policy.default))
        return found


@needs("curl")
class Webhook(HookCase):
    def test_what_arrives(self):
        server = self.listener()
        self.told(FINISHED, WEBHOOK, server.url + "/a/b?c=[1]", self.token())
        self.told(HOSTILE, WEBHOOK, "@" + self.write("url", server.url + "/secret"))
        self.assertEqual(server.bodies(), [FINISHED, HOSTILE])
        (first, headers, _), (second, no_token, _) = server.got
        self.assertEqual((first, second), ("/a/b?c=[1]", "/secret"))
        self.assertEqual(headers["Authorization"], "Bearer " + TOKEN)
        self.assertEqual(headers["Content-Type"], "application/json")
        self.assertIsNone(no_token["Authorization"])
        # neither was there for others to see
        self.assertIn("curl", server.seen)
        self.assertNotIn(TOKEN, server.seen)
        self.assertNotIn("/secret", server.seen)

    @needs("jq")
    def test_another_shape(self):
        server = self.listener()
        shape = '{text: "\\(.study): \\(.event)"}'
        self.told(FINISHED, WEBHOOK, "-j", shape, server.url)
        self.assertEqual(server.bodies(), [{"text": "adult: finished"}])
        self.refused("jq could not apply the filter", FINISHED, WEBHOOK, "-j", "{", server.url)
        self.refused("jq is not installed", FINISHED, WEBHOOK, "-j", shape, server.url,
                     path=self.without("jq"))

    def test_tries_again(self):
        server = self.listener(503, 200)
        self.told(FINISHED, WEBHOOK, server.url, self.token())
        self.assertEqual(server.bodies(), [FINISHED, FINISHED])

    def test_not_for_ever(self):
        server = self.listener(503)
        said = self.refused("not delivered: curl: (22)", FINISHED, WEBHOOK, server.url, self.token())
        self.assertEqual(said.count("\n"), 1)
        self.assertEqual(len(server.got), 3)

    def test_final_answers(self):
        for code, sentence in ((404, "error: 404"), (401, "error: 401"),
                               (302, "answered with 302, a redirection")):
            server = self.listener(code)
            self.refused(sentence, FINISHED, WEBHOOK, server.url, self.token())
            self.assertEqual(len(server.got), 1)

    def test_what_is_missing(self):
        self.refused("curl is not installed", FINISHED, WEBHOOK, self.nobody(),
                     path=self.without("curl"))
        self.refused("usage: webhook.sh", FINISHED, WEBHOOK)
        self.refused("must begin with http", FINISHED, WEBHOOK, "file:///etc/passwd")
        self.refused("must be written as %XX", FINISHED, WEBHOOK, 'http://x/"\noutput = "gone')
        self.refused("cannot read the file", FINISHED, WEBHOOK, self.nobody(), self.path("none"))
        self.refused("is empty", FINISHED, WEBHOOK, self.nobody(), self.token(""))
        self.refused("is not a token", FINISHED, WEBHOOK, self.nobody(),
                     self.token('x"\noutput = "gone\n'))
        self.refused("nothing to tell", "", WEBHOOK, self.nobody())


@needs("jq")
@needs("curl")
class Ntfy(HookCase):
    def test_what_arrives(self):
        server = self.listener()
        self.told(FINISHED, NTFY, server.url + "/topic", self.token())
        self.told(HOSTILE, NTFY, "@" + self.write("url", server.url + "/s3cret_topic"))
        self.told({**FINISHED, "event": "disk-low", "study": None, "reason": "x" * 9000}, NTFY,
                  server.url + "/topic")
        (path, headers, _), *_ = server.got
        self.assertEqual((path, headers["Authorization"]), ("/", "Bearer " + TOKEN))
        good, bad, disk = server.bodies()
        host = os.uname().nodename
        self.assertEqual(good, {
            "topic": "topic", "priority": 3, "tags": ["white_check_mark", "dpareto"],
            "title": host + ": adult has finished",
            "message": "80 evaluations, 0 failed, hypervolume 8.1\n/s/report.html"})
        self.assertEqual((bad["topic"], bad["priority"]), ("s3cret_topic", 4))
        self.assertEqual(bad["title"], "%s: %s has failed" % (host, HOSTILE["study"]))
        self.assertIn(HOSTILE["reason"], bad["message"])
        self.assertEqual(disk["title"], host + ": dparetod: the disk is low")
        self.assertLessEqual(len(disk["message"].encode()), 4096)
        for word in TOKEN, "s3cret_topic":
            self.assertNotIn(word, server.seen)
        for _, headers, _ in server.got:
            self.assertLessEqual(set(headers), {"Host", "User-Agent", "Accept", "Authorization",
                                                "Content-Type", "Content-Length"})

    def test_every_event(self):
        """All of them have a title and a message: an empty one would be ntfy's "triggered"."""
        server = self.listener()
        events = "finished failed paused resumed trial-failed disk-low started unheard-of".split()
        for event in events:
            self.told({**FINISHED, "event": event, "study": None, "report": None}, NTFY,
                      server.url + "/t")
        for event, got in zip(events, server.bodies()):
            self.assertTrue(got["title"] and got["message"], event)
            self.assertIn(got["priority"], range(1, 6))

    def test_what_is_missing(self):
        self.refused("jq is not installed", FINISHED, NTFY, self.nobody(), path=self.without("jq"))
        self.refused("curl is not installed", FINISHED, NTFY, self.nobody(),
                     path=self.without("curl"))
        self.refused("usage: ntfy.sh", FINISHED, NTFY)
        self.refused("name of a topic", FINISHED, NTFY, "https://example.org/")
        self.refused("must be https://", FINISHED, NTFY, "topic")
        self.refused("not a JSON object", "[1]", NTFY, self.nobody())
        self.refused("not a JSON object", "{", NTFY, self.nobody())
        self.refused("nothing to tell", "", NTFY, self.nobody())
        alone = shutil.copy(NTFY, self.path("ntfy.sh"))
        self.refused("webhook.sh is missing", FINISHED, alone, self.nobody())


class Mail(HookCase):
    def test_what_arrives(self):
        self.told(FINISHED, MAIL, "--sendmail", self.sendmail(), "--from", "dp@example.org",
                  "ops@example.org", "me@example.org")
        [letter] = self.letters()
        self.assertEqual(letter["Subject"], os.uname().nodename + ": adult has finished")
        self.assertEqual(letter["To"], "ops@example.org, me@example.org")
        self.assertEqual(letter["From"], "dp@example.org")
        self.assertEqual(letter["Auto-Submitted"], "auto-generated")
        self.assertTrue(letter["Date"] and letter["Message-ID"] and letter["MIME-Version"])
        self.assertIn("evaluations: 80\n", letter.get_content())
        with open(self.path("post/args")) as f:
            self.assertEqual(f.read().split(), ["-i", "-f", "dp@example.org", "ops@example.org",
                                                "me@example.org"])

    def test_hostile_words(self):
        self.told(json.dumps({**HOSTILE, "half": "\ud800"}), MAIL, "--sendmail", self.sendmail(),
                  "ops@example.org")
        [letter] = self.letters()
        self.assertEqual(set(letter.keys()), {
            "Subject", "To", "Date", "Message-ID", "Auto-Submitted", "Content-Type",
            "Content-Transfer-Encoding", "MIME-Version"})
        self.assertIn("<script>é☃ has failed", letter["Subject"])
        text = letter.get_content()
        self.assertIn("</script><b>\"quoted\" 'too'", text)
        self.assertIn("é☃", text)
        for control in "\0\x1b\u202e":
            self.assertNotIn(control, text)
        with open(self.path("post/mail-0"), "rb") as f:
            raw = f.read()
        raw.decode("ascii")  # every mail program on the way can take it
        self.assertLess(max(map(len, raw.split(b"\n"))), 998)
        self.assertNotIn(b"\r", raw)

    def test_long_words(self):
        self.told({**FINISHED, "reason": "ü" * 100000, "study": "s" * 500}, MAIL, "--sendmail",
                  self.sendmail(), "ops@example.org")
        [letter] = self.letters()
        self.assertLess(len(letter["Subject"]), 250)
        self.assertLess(len(letter.get_content()), 10000)

    def test_by_smtp(self):
        with socketserver.ThreadingTCPServer(("127.0.0.1", 0), MailServer) as server:
            server.got = []
            threading.Thread(target=server.serve_forever, daemon=True).start()
            self.addCleanup(server.shutdown)
            place = "127.0.0.1:%d" % server.server_address[1]
            self.told(HOSTILE, MAIL, "--smtp", place, "--from", "dp@example.org", "ops@example.org",
                      "me@example.org")
            self.told(FINISHED, MAIL, "--smtp", place, "ops@example.org")
            self.refused("does not take mail for nobody@example.org", FINISHED, MAIL, "--smtp", place,
                         "ops@example.org", "nobody@example.org")
            self.refused("did not take the message", FINISHED, MAIL, "--smtp", place,
                         "nobody@example.org")
        (sender, receivers, raw), (default, _, _), _ = server.got
        self.assertIn(b"<dp@example.org>", sender)
        self.assertEqual([r.split(b"<")[1].split(b">")[0] for r in receivers],
                         [b"ops@example.org", b"me@example.org"])
        letter = email.message_from_bytes(raw, policy=email.policy.default)
        self.assertIn("<script>é☃ has failed", letter["Subject"])
        self.assertIsNone(letter["Bcc"])
        self.assertIn("</script><b>", letter.get_content())
        self.assertIn(("@%s>" % os.uname().nodename).encode(), default)
        nobody = urllib.parse.urlsplit(self.nobody()).netloc
        self.refused("did not take the message: [Errno 111]", FINISHED, MAIL, "--smtp", nobody, "a@b")
        self.refused("is not HOST[:PORT]", FINISHED, MAIL, "--smtp", "host:smtp", "a@b")

    def test_what_is_missing(self):
        self.refused("there is no program", FINISHED, sys.executable, MAIL, "--sendmail",
                     "no-such-program", "a@example.org")
        self.refused("required: ADDRESS", FINISHED, MAIL)
        for bad in "-Xlog@example.org", "a@b\nBcc: c@d", "a@b,c@d", "<a@b>":
            self.refused("not an address" if bad[0] != "-" else "usage", FINISHED, MAIL, bad)
        self.refused("not a JSON object", "{", MAIL, "--sendmail", self.sendmail(), "a@b")
        self.refused("not a JSON object", "[]", MAIL, "--sendmail", self.sendmail(), "a@b")
        refusing = self.sendmail("#!/bin/sh\ncat >/dev/null; echo no such user >&2; exit 67\n")
        self.refused("(exit status 67): no such user", FINISHED, MAIL, "--sendmail", refusing,
                     "a@example.org")


@needs("jq")
@needs("curl")
class ByDaemon(HookCase):
    def serve(self, *commands, on=("finished", "failed", "trial-failed")):
        self.write("conf", json.dumps({"hooks": [{"on": list(on), "command": c} for c in commands]}))
        self.trainer(TRAINER)
        d = self.daemon("--config", self.path("conf"), "--slots", "2").start()
        self.client = d.connect()
        self.addCleanup(self.client.close)
        return d

    def tearDown(self):
        if hasattr(self, "client"):
            self.client.close()
        self.tidy()

    def run_both(self):
        """A study that comes to its end, then one whose trainer fails."""
        for name, more in ("good", ""), ("bad", ", retries: 0, env: {BAD: 1}"):
            self.submit(self.client, self.study(name, search="method: random, evaluations: 1",
                                                extra_trainer=more))
            self.finish(self.client, name)

    def test_each_is_told(self):
        server, phone = self.listener(), self.listener()
        self.serve([MAIL, "--sendmail", self.sendmail(), "ops@example.org"],
                   [WEBHOOK, server.url + "/hook", self.token()],
                   [NTFY, phone.url + "/topic", self.path("token")])
        self.run_both()
        wait_for(lambda: len(phone.got) == 3)
        self.assertEqual([(b["event"], b["study"]) for b in server.bodies()],
                         [("finished", "good"), ("trial-failed", "bad"), ("failed", "bad")])
        finished, failed, _ = server.bodies()
        self.assertTrue(os.path.exists(finished["report"]))
        self.assertIn("evil@example.org", failed["reason"])
        self.assertIn(finished["report"], phone.bodies()[0]["message"])
        self.assertEqual([b["priority"] for b in phone.bodies()], [3, 2, 4])
        self.assertIn("trial 0: exit-code", phone.bodies()[1]["message"])
        letters = self.letters()
        self.assertEqual([one["Subject"].split(": ")[1] for one in letters],
                         ["good has finished", "bad has a failed trial", "bad has failed"])
        for letter in letters:
            self.assertEqual((letter["Bcc"], letter["To"]), (None, "ops@example.org"))
        self.assertIn("evil@example.org", letters[1].get_content())
        self.assertFalse(self.has("gone"))
        with open(self.daemons[-1].log) as f:
            log = f.read()
        self.assertNotIn("the hook", log)  # none has failed
        self.assertNotIn(TOKEN, log)

    def test_lines_of_the_documents(self):
        """A daemon takes the lines to copy as they stand there, and the programs are ours."""
        for name in "examples/hooks/README.md", "docs/service.md":
            with open(os.path.join(TOP, name)) as f:
                blocks = re.findall(r"^    hooks:\n(?:    .*\n)+", f.read(), re.M)
            self.assertTrue(blocks, name)
            for block in blocks:
                self.write("conf", textwrap.dedent(block))
                self.client = self.daemon("--config", self.path("conf")).start().connect()
                self.assertEqual(self.client("reload")["changed"], [])
                self.client.close()
                self.daemons[-1].end()
                for program in re.findall(r"/etc/dpareto/hooks/([a-z.]+)", block):
                    self.assertTrue(os.access(os.path.join(HOOKS, program), os.X_OK), program)

    def test_nobody_listens(self):
        """Each failure is a line of the log, and both studies end as they would have."""
        self.serve([WEBHOOK, self.nobody(), self.token()], [NTFY, self.nobody()],
                   [MAIL, "--sendmail", "no-such-program", "ops@example.org"], on=["failed"])
        self.run_both()
        states = {s["name"]: s["state"] for s in self.client.every("list")}
        self.assertEqual(states, {"good": "finished", "bad": "failed"})

        def log():
            with open(self.daemons[-1].log) as f:
                return f.read()
        wait_for(lambda: log().count("the hook ") == 3)
        self.assertIn("its last line: webhook.sh: not delivered: curl: (7) Failed to connect", log())
        self.assertIn("its last line: mail.py: there is no program no-such-program", log())
        self.assertNotIn(TOKEN, log())


if __name__ == "__main__":
    unittest.main()
