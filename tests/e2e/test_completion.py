"""test_completion.py - completion in bash, zsh and fish, with what the daemon knows."""
import os
import shutil
import subprocess
import unittest

from harness import BIN, Case

WALK = """
for run in request["runs"]:
    for at in request["path"]["values"]:
        out({"run": run["run"], "at": at, "metrics": {"loss": at, "extra": 2}})
report(loss=params["n"], extra=2)
"""
# How each shell is asked what it would offer at the end of a line. zsh's own functions
# need a terminal: these stand for them and print what they are given.
ASK = {
    "bash": """
source "$SCRIPT"
COMP_WORDS=(); COMP_CWORD=$(($# - 1))
for word; do COMP_WORDS+=("$word"); done
_dparetoctl; printf '%s\\n' "${COMPREPLY[@]}"
""",
    "zsh": """
compdef() { }
_files() { print -l ${~:-$words[CURRENT]*}(N) }
_describe() { local line; for line in "${(@P)2}"; do print -r -- "${line%%:*}"; done }
source "$SCRIPT"
words=("$@") CURRENT=$#
_dparetoctl || true
""",
    "fish": """
source $SCRIPT
complete -C (string join ' ' -- $argv) | string replace -r '\\t.*' ''
true
""",
}


class Completion(Case):
    def setUp(self):
        super().setUp()
        self.d = self.daemon("--slots", "2").start()
        self.client = self.d.connect()
        self.trainer(WALK)
        self.submit(self.client, self.study(
            "walk", parameters="n: {type: int, range: [2, 3]}", extra_trainer=", path: n",
            objectives="a: {privacy: {mechanism: svt, cutoff: n, scale: 100}}\n  b: {metric: loss}",
            search="method: random, evaluations: 2"))
        self.finish(self.client, "walk")

    def tearDown(self):
        self.tidy()

    def offered(self, shell, *words):
        """What the shell offers for the last word."""
        script = self.write("completion." + shell, self.ctl("completion", shell).stdout)
        subprocess.run([shell, "-n", script], check=True)
        env = {**os.environ, "SCRIPT": script, "DPARETO_SOCKET": self.d.socket,
               "PATH": BIN + ":" + os.environ["PATH"], "HOME": self.folder}
        command = [shell, *(["--no-rcs"] if shell == "zsh" else []), "-c", ASK[shell]]
        if shell != "fish":
            command.append(shell)
        done = subprocess.run([*command, "dparetoctl", *words], env=env, cwd=self.folder,
                              capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "")
        return sorted(done.stdout.split())

    def check(self, shell):
        def offers(words, *known):
            self.assertEqual(self.offered(shell, *words), sorted(known), words)
        self.write("file.yaml", "")
        offers(["fro"], "front")
        offers(["front", ""], "walk")
        offers(["front", "walk", "--bes"], "--best")
        offers(["daemon", "stop", "--policy", "f"], "finish")
        offers(["validate", "fi"], "file.yaml")
        offers(["front", "-o", "js"], "json")
        offers(["set", "walk", "eval"], "evaluations=")
        offers(["trial", "walk", ""], *self.names())
        offers(["cancel", "walk", ""], "0", "1")
        offers(["enqueue", "walk", ""], "n=")
        offers(["compare", "--group", "g=walk", "--at", "a"], "a=")
        offers(["recommend", "walk", "--at", ""], "a=", "b=")  # metrics have no model
        figures = set(self.offered(shell, "front", "walk", "--max", ""))
        self.assertLessEqual({"a=", "b=", "loss=", "extra="}, figures)  # metrics as well
        self.assertLessEqual({"a", "b"}, set(self.offered(shell, "front", "walk", "--best", "")))

    def names(self):
        return self.ctl("--socket", self.d.socket, "trials", "walk", "-o", "name").stdout.split()

    def test_bash(self):
        self.check("bash")
        # bash breaks words at = and @
        self.assertEqual(self.offered("bash", "front", "walk", "--max", "=", "a"), ["a="])
        self.assertEqual(self.offered("bash", "compare", "--group", "g", "=", "w"), ["walk"])
        self.assertEqual(self.offered("bash", "compare", "--group", "g", "="), ["walk"])
        waypoint = [n for n in self.names() if "@" in n][0]
        self.assertEqual(self.offered("bash", "trial", "walk", waypoint[0], "@"), [waypoint[2:]])

    @unittest.skipUnless(shutil.which("zsh"), "there is no zsh")
    def test_zsh(self):
        self.check("zsh")

    @unittest.skipUnless(shutil.which("fish"), "there is no fish")
    def test_fish(self):
        self.check("fish")

    def test_without_a_daemon_nothing_is_said(self):
        done = self.ctl("complete-words", "--", "--socket", self.path("none"), "front", "")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        done = self.ctl("complete-words", "--", "--socket", self.d.socket, "front", "nobody",
                        "--best", "")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


if __name__ == "__main__":
    unittest.main()
