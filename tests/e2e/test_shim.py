"""dpareto-shim as it is: the real program, real trainers, real signals.

Nothing here sleeps to be safe: what must come is polled for, with a limit.
"""
import fcntl
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from harness import LIMIT, program, unhurried

SHIM = program("dpareto-shim")
TRAIN = program("dpareto-train")
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "trainers")


def wait_for(condition, what, limit=LIMIT):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.005)
    raise AssertionError("waited %g s in vain for %s" % (limit, what))


def alive(pid):
    """Does the process run? A zombie does not."""
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def start_time(pid):
    with open("/proc/%d/stat" % pid) as f:
        return int(f.read().rpartition(")")[2].split()[19])


class ShimTest(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="shim")
        self.a = os.path.join(self.dir, "a")
        os.mkdir(self.a)
        self.started = []

    def tearDown(self):
        for p in self.started:
            if p.poll() is None:
                p.kill()
                p.wait()
        shutil.rmtree(self.dir, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.a, name)

    def read(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def start(self, command, *options, **kwargs):
        """Starts the shim on a list of words, or on a text for sh."""
        if isinstance(command, str):
            command = ["sh", "-c", command]
        kwargs.setdefault("env", dict(os.environ, DPARETO_RESULT=self.path("result.jsonl")))
        p = subprocess.Popen([SHIM, "--dir", self.a, *options, "--", *command], **kwargs)
        self.started.append(p)
        return p

    def finish(self, p, code=0):
        self.assertEqual(p.wait(LIMIT), code)
        return self.end()

    def end(self):
        text = self.read("exit.json")
        self.assertEqual(text.count(b"\n"), 1)
        return json.loads(text)

    def run_shim(self, command, *options, **kwargs):
        return self.finish(self.start(command, *options, **kwargs))

    def pid_from(self, name):
        """A number that a trainer left in a file of its folder."""
        def look():
            try:
                return int(self.read(name))
            except (FileNotFoundError, ValueError):
                return None
        return wait_for(look, name)

    # ---- plain ends ----

    def test_exit_code_and_fields(self):
        before = time.time()
        e = self.run_shim("echo out; echo error >&2; exit 3")
        self.assertEqual(e["code"], 3)
        self.assertEqual(set(e), {"code", "start", "end", "cpu_seconds", "peak_memory",
                                  "stdout_bytes", "stderr_bytes", "token"})
        self.assertEqual(self.read("claim").split(b"\n")[1].decode(), "token " + e["token"])
        self.assertEqual((e["stdout_bytes"], e["stderr_bytes"]), (4, 6))
        self.assertEqual((self.read("stdout"), self.read("stderr")), (b"out\n", b"error\n"))
        self.assertTrue(before - 0.1 <= e["start"] <= e["end"] <= time.time() + 0.1)
        self.assertEqual(sorted(os.listdir(self.a)), ["claim", "exit.json", "stderr", "stdout"])

    def test_resources_of_the_whole_tree(self):
        burn = "import resource as r\nx = bytearray(64 << 20)\n" \
               "while sum(r.getrusage(r.RUSAGE_SELF)[:2]) < 0.3: pass"
        e = self.run_shim("%s -c '%s'; exit 0" % (sys.executable, burn))
        self.assertEqual(e["code"], 0)
        self.assertTrue(0.3 <= e["cpu_seconds"] < 5, e)
        self.assertTrue(64 << 20 <= e["peak_memory"] < 512 << 20, e)

    def test_signal(self):
        self.assertEqual(self.run_shim("kill -SEGV $$")["signal"], signal.SIGSEGV)

    def test_long_run_is_recorded_too(self):
        # above a second: the branch that syncs to disk
        e = self.run_shim('echo "{}" > result.jsonl; exec sleep 1.1')
        self.assertEqual(e["code"], 0)
        self.assertTrue(1.1 <= e["end"] - e["start"] < LIMIT, e)

    # ---- what the trainer is given ----

    def test_environment_folder_and_stdin(self):
        e = self.run_shim("pwd; echo $DPARETO_X; cat; echo end", env=dict(os.environ, DPARETO_X="x y"))
        self.assertEqual(e["code"], 0)
        self.assertEqual(self.read("stdout").decode().split("\n"), [os.path.realpath(self.a), "x y", "end", ""])

    def test_cwd_and_path_lookup(self):
        tool = os.path.join(self.dir, "some-trainer")
        with open(tool, "w") as f:
            f.write("pwd\n")  # no #! line: execvp() runs it by sh
        os.chmod(tool, 0o755)
        e = self.run_shim(["some-trainer"], "--cwd", "/", env=dict(os.environ, PATH=self.dir + ":/usr/bin:/bin"))
        self.assertEqual((e["code"], self.read("stdout")), (0, b"/\n"))

    def test_signals_and_files_are_clean(self):
        def dirty():
            signal.signal(signal.SIGPIPE, signal.SIG_IGN)
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGTERM})
        r, w = os.pipe()
        try:
            # by exec: a shell blocks signals for a moment whenever it starts a command
            e = self.run_shim("ls /proc/$$/fd; exec grep -E '^Sig(Blk|Ign)' /proc/self/status",
                              preexec_fn=dirty, pass_fds=(r, w))
        finally:
            os.close(r)
            os.close(w)
        self.assertEqual(e["code"], 0)
        lines = self.read("stdout").decode().split("\n")
        status = dict(line.split(":\t") for line in lines if ":" in line)
        self.assertEqual((int(status["SigBlk"], 16), int(status["SigIgn"], 16)), (0, 0))
        self.assertEqual([line for line in lines if line.isdigit()], ["0", "1", "2"])

    def test_own_session_and_group(self):
        p = self.start("echo $$ > pid; sleep 30")
        trainer = self.pid_from("pid")
        self.assertEqual(os.getsid(p.pid), p.pid)
        self.assertEqual(os.getsid(trainer), p.pid)
        self.assertEqual(os.getpgid(trainer), trainer)
        files = {os.readlink("/proc/%d/fd/%s" % (p.pid, f)) for f in "012"}
        self.assertEqual(files, {"/dev/null"})
        p.terminate()
        self.finish(p)

    def test_works_with_closed_standard_files(self):
        def closed():
            os.closerange(0, 3)
        e = self.run_shim("echo out; echo error >&2; cat", preexec_fn=closed)
        self.assertEqual(e["code"], 0)
        self.assertEqual((self.read("stdout"), self.read("stderr")), (b"out\n", b"error\n"))
        self.assertRegex(self.read("claim"), rb"^\d+ \d+\ntoken [0-9a-f]{32}\n$")

    # ---- the claim ----

    def test_claim_says_who_and_is_locked_while_it_runs(self):
        p = self.start("echo $$ > pid; sleep 30")
        trainer = self.pid_from("pid")
        self.assertEqual(self.read("claim").decode().split("\n")[0],
                         "%d %d" % (p.pid, start_time(p.pid)))
        with open(self.path("claim")) as f:
            with self.assertRaises(BlockingIOError):
                fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.kill(trainer, signal.SIGKILL)
            self.assertEqual(self.finish(p)["signal"], 9)
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def test_claimed_by_another(self):
        with open(self.path("claim"), "w") as f:
            f.write("1 1\n")
        self.assertEqual(self.start("touch ran").wait(LIMIT), 75)
        self.assertEqual(os.listdir(self.a), ["claim"])
        self.assertEqual(self.read("claim"), b"1 1\n")

    def test_one_of_many_wins(self):
        shims = [self.start("echo x >> ran") for _ in range(8)]
        codes = sorted(p.wait(LIMIT) for p in shims)
        self.assertEqual(codes, [0] + 7 * [75])
        self.assertEqual(self.read("ran"), b"x\n")

    def test_trainer_dies_with_a_killed_shim(self):
        p = self.start("echo $$ > pid; exec sleep 30")
        trainer = self.pid_from("pid")
        p.kill()
        wait_for(lambda: not alive(trainer), "the trainer's death")

    # ---- it cannot be started ----

    def test_exec_failures(self):
        plain = os.path.join(self.dir, "plain")
        with open(plain, "w") as f:
            f.write("text")
        for number, (program, options, name) in enumerate([
                (["no-such-program-anywhere"], [], "ENOENT"),
                (["/no/such/program"], [], "ENOENT"),
                ([plain], [], "EACCES"),
                (["true"], ["--cwd", "/no/such/folder"], "ENOENT")]):
            self.a = os.path.join(self.dir, "exec%d" % number)
            os.mkdir(self.a)
            # a folder in PATH that may not be entered would make ENOENT an EACCES
            e = self.run_shim(program, *options, env=dict(os.environ, PATH="/usr/bin:/bin"))
            self.assertEqual(e["exec"], name)
            self.assertTrue(0 < e["start"] <= e["end"])
            self.assertNotIn("code", e)
            self.assertIn(b"cannot start " + program[0].encode(), self.read("stderr"))

    def test_usage(self):
        for words in ([], ["--dir", self.a], ["--dir", self.a, "--"], ["--", "true"],
                      ["--dir", self.a, "--timeout", "soon", "--", "true"],
                      ["--dir", self.a, "--grace", "-1", "--", "true"],
                      ["--dir", self.a, "--stall", "nan", "--", "true"],
                      ["--dir", self.a, "--log-limit", "16M", "--", "true"],
                      ["--dir", self.a, "--memory", "2G", "--", "true"],
                      ["--dir", self.a, "--nothing", "--", "true"]):
            p = subprocess.run([SHIM, *words], capture_output=True, timeout=LIMIT)
            self.assertEqual(p.returncode, 2, words)
            self.assertTrue(p.stderr)
        self.assertEqual(os.listdir(self.a), [])
        p = subprocess.run([SHIM, "--dir", "/no/such", "--", "true"], capture_output=True, timeout=LIMIT)
        self.assertEqual((p.returncode, b"/no/such" in p.stderr), (1, True))
        p = subprocess.run([SHIM, "--help"], capture_output=True, timeout=LIMIT)
        self.assertEqual((p.returncode, b"--stall" in p.stdout), (0, True))

    # ---- limits ----

    def test_timeout(self):
        e = self.run_shim("sleep 30", "--timeout", "0.2", "--grace", "%g" % LIMIT)
        self.assertEqual((e["timeout"], e["signal"]), (True, signal.SIGTERM))
        self.assertTrue(0.2 <= e["end"] - e["start"] < LIMIT, e)

    def test_timeout_lets_the_trainer_end_itself(self):
        e = self.run_shim("trap 'exit 7' TERM; while :; do sleep 0.01; done",
                          "--timeout", str(unhurried(0.2)))
        self.assertEqual((e["timeout"], e["code"]), (True, 7))

    def test_timeout_with_term_ignored(self):
        e = self.run_shim("trap '' TERM; while :; do sleep 0.05; done",
                          "--timeout", str(unhurried(0.2)), "--grace", "0.3")
        self.assertEqual((e["timeout"], e["signal"]), (True, signal.SIGKILL))
        self.assertTrue(0.5 <= e["end"] - e["start"] < LIMIT, e)

    def test_timeout_of_a_stopped_trainer(self):
        # it must be woken to see the TERM, long before the grace time is over
        e = self.run_shim("trap 'exit 7' TERM; kill -STOP $$; sleep 30",
                          "--timeout", str(unhurried(0.2)), "--grace", "%g" % LIMIT)
        self.assertEqual((e["timeout"], e["code"]), (True, 7))

    def test_stall(self):
        e = self.run_shim("echo '{}' >> result.jsonl; sleep 30", "--stall", "0.3")
        self.assertEqual((e["stalled"], e["signal"]), (True, signal.SIGTERM))
        self.assertTrue(0.3 <= e["end"] - e["start"] < LIMIT, e)

    def test_no_stall_while_it_reports(self):
        # looks fall into its pauses, and the whole takes longer than the stall time
        stall = unhurried(0.9)
        e = self.run_shim("for i in 1 2 3; do echo '{}' >> result.jsonl; sleep %g; done" % (stall / 2.2),
                          "--stall", str(stall))
        self.assertEqual(e["code"], 0)
        self.assertNotIn("stalled", e)

    def test_memory_while_it_is_asked_to_end(self):
        # what came first counts, and nobody waits for the grace time
        e = self.run_shim("trap '' TERM; sleep 0.7; python3 -c '%s'" %
                          "import mmap, time; m = mmap.mmap(-1, 1 << 28); m.write(bytes(1 << 28)); time.sleep(99)",
                          "--timeout", "0.2", "--grace", "%g" % LIMIT, "--memory", str(100 << 20))
        self.assertEqual((e["timeout"], e["memory"], e["signal"]), (True, True, signal.SIGKILL))
        self.assertLess(e["end"] - e["start"], LIMIT)

    def test_cancel(self):
        for number, sig in enumerate([signal.SIGTERM, signal.SIGINT]):
            self.a = os.path.join(self.dir, "cancel%d" % number)
            os.mkdir(self.a)
            p = self.start("trap '' TERM; echo $$ > pid; while :; do sleep 0.05; done", "--grace", "0.2")
            self.pid_from("pid")
            p.send_signal(sig)
            e = self.finish(p)
            self.assertEqual((e["cancelled"], e["signal"]), (True, signal.SIGKILL))
            self.assertNotIn("timeout", e)

    # ---- what is left behind ----

    def check_leftover(self, script, *names):
        e = self.run_shim(script)
        self.assertEqual(e["code"], 0)
        self.assertNotIn("left_behind", e)
        for name in names:
            self.assertFalse(alive(self.pid_from(name)), name)

    def test_grandchild_in_the_group(self):
        self.check_leftover("sh -c 'echo $$ > one; trap \"\" TERM HUP; sleep 30' & "
                            "while [ ! -s one ]; do :; done", "one")

    def test_grandchild_in_a_session_of_its_own(self):
        self.check_leftover("setsid sh -c 'echo $$ > one; (trap \"\" TERM; exec sh -c "
                            "\"echo \\$\\$ > two; sleep 30\") & wait' & "
                            "while [ ! -s two ]; do :; done", "one", "two")

    def test_grandchild_that_keeps_forking(self):
        # each generation ends its parent; all end by themselves should the shim fail
        program = os.path.join(self.dir, "respawn.py")
        with open(program, "w") as f:
            f.write("import os, sys, time\n"
                    "if os.fork() == 0:\n"
                    "    os.setsid()\n"
                    "    end = time.monotonic() + 5\n"
                    "    while time.monotonic() < end:\n"
                    "        if os.fork():\n"
                    "            os._exit(0)\n"
                    "        open('last', 'w').write(str(os.getpid()))\n"
                    "while not os.path.exists('last'): time.sleep(0.001)\n")
        e = self.run_shim([sys.executable, program])
        self.assertEqual(e["code"], 0)
        self.assertNotIn("left_behind", e)

    def test_leftover_that_floods_the_pipe(self):
        e = self.run_shim("setsid yes & sleep 0.1", "--log-limit", "1000")
        self.assertEqual(e["code"], 0)
        self.assertNotIn("left_behind", e)

    def test_leftovers_at_timeout(self):
        e = self.run_shim("setsid sh -c 'trap \"\" TERM; echo $$ > one; sleep 30' & "
                          "while [ ! -s one ]; do :; done; sleep 30",
                          "--timeout", str(unhurried(0.3)), "--grace", "0.1")
        self.assertTrue(e["timeout"])
        self.assertFalse(alive(self.pid_from("one")))

    # ---- output ----

    def test_output_is_capped_and_counted(self):
        size = 200 << 20
        begin = time.monotonic()
        e = self.run_shim("head -c %d /dev/zero; head -c 5000 /dev/zero >&2" % size, "--log-limit", "4096")
        self.assertLess(time.monotonic() - begin, LIMIT / 4)
        self.assertEqual((e["code"], e["stdout_bytes"], e["stderr_bytes"]), (0, size, 5000))
        note = b"\n[dpareto: output beyond 4096 bytes was dropped]\n"
        self.assertEqual(self.read("stdout"), 4096 * b"\0" + note)
        self.assertEqual(self.read("stderr"), 4096 * b"\0" + note)

    def test_output_up_to_the_limit_is_whole(self):
        e = self.run_shim("printf 1234; printf 5678 >&2", "--log-limit", "4")
        self.assertEqual((e["stdout_bytes"], self.read("stdout"), self.read("stderr")), (4, b"1234", b"5678"))

    def test_all_output_of_a_fast_end_is_kept(self):
        e = self.run_shim("head -c 60000 /dev/zero")
        self.assertEqual((e["stdout_bytes"], len(self.read("stdout"))), (60000, 60000))

    def test_output_that_is_still_in_the_pipe_at_the_end(self):
        size = 1 << 20
        p = self.start([sys.executable, "-c",
                        "import fcntl, os, sys, time\n"
                        "fcntl.fcntl(1, 1031, %d)\n"  # F_SETPIPE_SZ
                        "open('pid', 'w').write(str(os.getpid()))\n"
                        "while not os.path.exists('go'): time.sleep(0.005)\n"
                        "os.write(1, %d * b'x')" % (size, size)])
        trainer = self.pid_from("pid")
        p.send_signal(signal.SIGSTOP)
        open(self.path("go"), "w").close()
        wait_for(lambda: not alive(trainer), "the trainer's end")
        p.send_signal(signal.SIGCONT)
        self.assertEqual(self.finish(p)["stdout_bytes"], size)
        self.assertEqual(len(self.read("stdout")), size)

    def test_line_of_ten_megabytes(self):
        e = self.run_shim("head -c 10485760 /dev/zero | tr '\\0' x; echo")
        self.assertEqual((e["code"], e["stdout_bytes"]), (0, 10485761))
        self.assertEqual(self.read("stdout"), 10485760 * b"x" + b"\n")

    def test_trainer_that_closes_its_files(self):
        e = self.run_shim("exec >&- 2>&- <&-; sleep 0.2; exit 5")
        self.assertEqual((e["code"], e["stdout_bytes"]), (5, 0))

    def test_log_that_cannot_be_written(self):
        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        e = self.run_shim("head -c 1000000 /dev/zero; exit 4", preexec_fn=small_files)
        self.assertEqual((e["code"], e["stdout_bytes"]), (4, 1000000))
        self.assertEqual(len(self.read("stdout")), 4096)

    def test_end_that_cannot_be_recorded(self):
        p = self.start("echo $$ > pid; sleep 30")
        trainer = self.pid_from("pid")
        shutil.rmtree(self.a)
        os.kill(trainer, signal.SIGKILL)
        self.assertEqual(p.wait(LIMIT), 1)

    def test_fifos_in_place_of_files(self):
        """Opening one would hang for ever, with signals masked. Long enough to be synced."""
        for kind in ("mkfifo", "mkdir"):
            self.a = os.path.join(self.dir, kind)
            os.mkdir(self.a)
            e = self.run_shim("rm -f result.jsonl; %s result.jsonl exit.json exit.json.tmp "
                              "exit.json.$PPID.tmp; sleep 1.2; rmdir exit.json.$PPID.tmp; exit 3" % kind)
            self.assertEqual(e["code"], 3)

    # ---- trainers through the shim ----

    def train(self, command, parameters, waypoints=None):
        request = {"version": 1, "study": "s", "trial": 0, "attempt": 0, "parameters": parameters,
                   "runs": [{"run": 0, "seed": 11}, {"run": 1, "seed": 22}]}
        if waypoints is not None:
            request["path"] = {"parameter": "epochs", "values": waypoints}
        with open(self.path("request.json"), "w") as f:
            json.dump(request, f, separators=(",", ":"))
        env = dict(os.environ, DPARETO_REQUEST=self.path("request.json"), DPARETO_RESULT=self.path("result.jsonl"))
        e = self.run_shim(command, env=env)
        self.assertEqual(e.get("code"), 0, self.read("stderr"))
        lines = [json.loads(line) for line in self.read("result.jsonl").splitlines()]
        self.assertEqual(lines[-1], {"done": True})
        runs = [line for line in lines if "run" in line and "at" not in line]
        self.assertEqual([line["run"] for line in runs], [0, 1])
        return [line["metrics"] for line in runs]

    def check_example(self, command):
        """All three examples compute one function: lower noise, lower error, higher cost."""
        for noise in (0.25, 2):
            self.a = os.path.join(self.dir, "noise%g" % noise)
            os.mkdir(self.a)
            for m in self.train(command, {"noise": noise, "kind": "a\"b"}):
                self.assertAlmostEqual(m["cost"], 1 / noise, places=6)
                self.assertTrue(abs(m["error"] - noise / (1 + noise)) <= 0.05, m)

    def test_example_sh(self):
        self.check_example([os.path.join(EXAMPLES, "trainer.sh")])

    def test_example_py(self):
        self.check_example([os.path.join(EXAMPLES, "trainer.py")])

    def test_example_path(self):
        """On its way it is what a training that ends there would be."""
        def lines(epochs, values):
            self.a = os.path.join(self.dir, "epochs%d" % epochs)
            os.mkdir(self.a)
            self.train([os.path.join(EXAMPLES, "path.py")], {"noise": 0.5, "epochs": epochs}, values)
            found = [json.loads(line) for line in self.read("result.jsonl").splitlines()]
            return {(line["run"], line.get("at")): line["metrics"] for line in found if "run" in line}
        way = lines(6, [1, 4])
        self.assertEqual(list(way), [(0, 1), (0, 4), (0, None), (1, 1), (1, 4), (1, None)])
        for at in (1, 4):
            alone = lines(at, None)
            for run in (0, 1):
                self.assertEqual(way[run, at], alone[run, None])

    @unittest.skipUnless(shutil.which("cc"), "there is no C compiler")
    def test_example_c(self):
        program = os.path.join(self.dir, "trainer")
        subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", "-o", program, os.path.join(EXAMPLES, "trainer.c")],
                       check=True)
        self.check_example([program])

    def test_svt(self):
        for m in self.train([TRAIN, "svt"], {"C": 5, "b": 1e-6}):
            self.assertAlmostEqual(m["f1"], 2 / 3, places=12)

    def test_svt_help_and_mistakes(self):
        for words, code, text in ((["--help"], 0, "svt"), (["svt", "--help"], 0, "--queries"), ([], 2, "usage"),
                                  (["stv"], 2, "Did you mean 'svt'?"), (["svt", "--ones", "x"], 2, "--ones"),
                                  (["svt"], 2, "DPARETO_REQUEST")):
            env = {k: v for k, v in os.environ.items() if not k.startswith("DPARETO_RE")}
            p = subprocess.run([TRAIN, *words], capture_output=True, text=True, env=env, timeout=LIMIT)
            self.assertEqual(p.returncode, code, words)
            self.assertIn(text, p.stderr if code else p.stdout)


if __name__ == "__main__":
    unittest.main()
