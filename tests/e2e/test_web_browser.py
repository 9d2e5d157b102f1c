"""test_web_browser.py - the page of dpareto-serve in a real browser.

The stories are tests/browser/*.mjs, which drive Debian's chromium by playwright-core; here are the
daemon, the server and the trainers that they need, and what they ask for while they run. The two
npm packages are installed into the build folder. Skipped where there is no chromium, node or npm,
or where npm cannot get them."""
import json
import os
import re
import shutil
import signal
import subprocess
import threading
import unittest

from harness import BIN, LIMIT, TOP, Case, program, wait_for

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
NODE, NPM = shutil.which("node"), shutil.which("npm")
BROWSER = os.path.join(TOP, "tests", "browser")
MODULES = os.path.join(BIN, "tests", "browser")  # node_modules is here
EVALUATIONS = 10000

# At a gate in every trial; trial 2 fails, and what it says is markup.
STEPS = """
n = request["trial"]
print("trial %d begins <b>here</b><script>window.broken=1</script>" % n, file=sys.stderr, flush=True)
print("on stdout", flush=True)
out({"progress": 0.25})
if n == 3:
    gate("talk-3")
    for i in range(200):
        print("line %d of <img src=x onerror=window.broken=1>" % i, file=sys.stderr, flush=True)
    gate("more-3")
    for i in range(200, 300):
        print("line %d" % i, file=sys.stderr, flush=True)
gate("go-%d" % n)
if n == 2:
    sys.exit("ValueError: <script>window.broken=1</script><img src=x onerror=window.broken=1>")
for run in request["runs"]:
    out({"run": run["run"], "metrics": {"error": 0.1 + 0.01 * params["sigma"] + 0.001 * run["run"]}})
"""
QUICK = """
print("<b>quick</b>", file=sys.stderr)
if request["trial"] == 2:
    sys.exit("no <data>: " + "x" * 300)
for run in request["runs"]:
    out({"run": run["run"], "metrics": {"error": 0.1 + 0.01 * params["sigma"] + 0.001 * run["run"]}})
"""
# With so much noise the front of the observed means is another one than the models'.
NOISY = """
import random
for run in request["runs"]:
    noise = random.Random(run["seed"]).gauss(0, 0.1)
    out({"run": run["run"], "metrics": {"error": 0.3 + 0.01 * params["sigma"] + noise}})
"""
BROKEN = "sys.exit('<img src=x onerror=window.broken=1> is missing')\n"


def missing():
    """Why there is no browser to be had; None if there is."""
    absent = [name for name, path in (("chromium", CHROMIUM), ("node", NODE), ("npm", NPM))
              if not path]
    if absent:
        return "there is no " + ", ".join(absent)
    with open(os.path.join(BROWSER, "package.json")) as f:
        wanted = json.load(f)["dependencies"]
    if all(installed(name) == version for name, version in wanted.items()):
        return None
    os.makedirs(MODULES, exist_ok=True)
    shutil.copy(os.path.join(BROWSER, "package.json"), MODULES)
    done = subprocess.run([NPM, "install", "--no-audit", "--no-fund", "--no-package-lock",
                           "--ignore-scripts"], cwd=MODULES, capture_output=True, text=True,
                          timeout=LIMIT, stdin=subprocess.DEVNULL)
    return None if done.returncode == 0 else "npm cannot install: " + done.stderr.strip()[-200:]


def installed(name):
    try:
        with open(os.path.join(MODULES, "node_modules", name, "package.json")) as f:
            return json.load(f)["version"]
    except OSError:
        return None


class Server:
    """A dpareto-serve; started again, it listens where it was."""

    def __init__(self, daemon, *options):
        self.daemon, self.options = daemon, options
        self.address, self.token, self.process = "127.0.0.1:0", None, None

    def start(self):
        self.process = subprocess.Popen(
            [program("dpareto-serve"), "--socket", self.daemon.socket, "--listen", self.address,
             *self.options], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        found = re.match(r"dpareto-serve: http://([^/]+)/$", line.strip())
        if not found:
            raise AssertionError(line + self.process.stderr.read())
        self.address = found[1]
        if "--control" in self.options and "--token-file" not in self.options:
            self.token = self.process.stdout.readline().split()[1]
        return self

    def end(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
        said = self.process.communicate(timeout=LIMIT)[1]
        return self.process.returncode, said


class Browser(Case):
    @classmethod
    def setUpClass(cls):
        why = missing()
        if why:
            raise unittest.SkipTest("skipped: " + why)

    def serve(self, *options):
        self.server = Server(self.daemons[0], *options).start()
        self.addCleanup(lambda: self.server.end(signal.SIGKILL))

    def story(self, name, **answers):
        """Runs a script and answers what it asks; it must end well."""
        env = {**os.environ, "DPARETO_URL": "http://" + self.server.address,
               "DPARETO_CHROMIUM": CHROMIUM, "DPARETO_MODULES": MODULES,
               "DPARETO_TEST_LIMIT": str(LIMIT / 2)}
        errors = []
        with subprocess.Popen([NODE, os.path.join(BROWSER, name + ".mjs")], env=env, text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as node:
            timer = threading.Timer(2 * LIMIT, node.kill)
            reader = threading.Thread(target=lambda: errors.append(node.stderr.read()))
            timer.start()
            reader.start()
            for line in node.stdout:
                what, *arguments = json.loads(line)
                node.stdin.write(json.dumps(answers[what](*arguments)) + "\n")
                node.stdin.flush()
            code = node.wait()
            timer.cancel()
            reader.join()
        self.assertEqual(code, 0, name + ".mjs: " + errors[0][-6000:])

    def private(self, name="s", trainer="./trainer", evaluations=5, more=""):
        return ("study: %s\nseed: 7\ntrainer: {command: [%s], runs: 3, retries: 0}\nparameters:\n"
                "  sigma: {type: float, range: [1, 50], scale: log}\nobjectives:\n"
                "  epsilon: {privacy: {mechanism: gaussian, sigma: sigma, delta: 1e-5}}\n"
                "  error: {metric: error}\nanti_ideal: {epsilon: 10, error: 1}\n"
                "search: {method: random, evaluations: %d, parallel: 1%s}\n"
                % (name, trainer, evaluations, more))

    def open(self, gate):
        self.touch(gate)
        return True

    def test_live(self):
        self.trainer(STEPS)
        client = self.daemon().start().connect()
        self.submit(client, self.private(more=", front: observed"))
        self.serve()
        self.story("live", open=self.open, front=lambda: client("front", study="s"))

    def test_front_of_the_models(self):
        self.trainer(NOISY)
        daemon = self.daemon().start()
        client = daemon.connect()
        self.submit(client, self.private(evaluations=30, more=", front: denoised"))
        self.finish(client, "s")
        said = subprocess.run([program("dparetoctl"), "--socket", daemon.socket, "front", "s", "-o",
                               "json"], stdout=subprocess.PIPE, check=True, timeout=LIMIT)
        front = sorted(str(p["trial"]) for p in json.loads(said.stdout)["front"])
        observed = [str(p["trial"]) for p in client("status", study="s")["front"]]
        self.assertNotEqual(front, sorted(observed))
        self.serve()
        self.story("front", front=lambda: front)

    def test_daemon_and_server_come_and_go(self):
        self.trainer(QUICK)
        daemon = self.daemon().start()
        client = daemon.connect()
        self.submit(client, self.private(evaluations=4))
        self.finish(client, "s")
        self.serve()

        def submit():
            return daemon.connect()("submit", text=self.private("third"), path=self.path("x.yaml"),
                                    dir=self.folder, paused=True)["study"]["state"]
        self.story("away", kill=lambda: daemon.end(signal.SIGKILL),
                   start=lambda: bool(daemon.start().connect()),
                   kill_serve=lambda: self.server.end(signal.SIGKILL)[0],
                   start_serve=lambda: bool(self.server.start()),
                   submit=submit)

    def test_control(self):
        self.trainer(STEPS.replace('"go-%d" % n', '"go"') + "time.sleep(0.01)\n")
        client = self.daemon().start().connect()
        self.submit(client, self.private(evaluations=1000))
        self.serve("--control")
        self.open("talk-3")
        self.open("more-3")
        self.open("go")
        wait_for(lambda: client("status", study="s")["study"]["ok"] >= 2)
        self.story("control", token=lambda: self.server.token,
                   status=lambda: client("status", study="s"),
                   delete=lambda: client("delete", study="s", now=True))

    def test_looks(self):
        self.trainer(QUICK)
        self.trainer(BROKEN, "broken")
        client = self.daemon().start().connect()
        for name in ("s", "other"):
            self.submit(client, self.private(name, evaluations=12))
        long = "n" * 64
        self.submit(client, self.private(long, "./broken"))
        client("submit", text=self.private("empty"), path=self.path("e.yaml"), dir=self.folder,
               paused=True)
        for name in ("s", "other", long):
            self.finish(client, name)
        self.serve("--control")
        self.story("looks")

    def test_many_trials(self):
        os.mkdir(self.path("state"))
        subprocess.run([program("bench/fill"), self.path("state"), "1", str(EVALUATIONS)],
                       check=True, timeout=LIMIT)
        client = self.daemon().start().connect()
        study = client("list")["studies"][0]
        self.serve()
        self.story("many", subject=lambda: {"study": study["name"], "total": study["ended"],
                                            "objective": study["objectives"][0]})

    def test_signing_in(self):
        self.trainer(QUICK)
        client = self.daemon().start().connect()
        self.submit(client, self.private("other"))
        self.write("token", "a-token-of-somebody-0123456789\n", 0o600)
        self.serve("--token-file", self.path("token"))
        self.story("signin", token=lambda: "a-token-of-somebody-0123456789")


if __name__ == "__main__":
    unittest.main()
