"""test_kit_alone.py - dpareto.py by itself, without a daemon: numbers, names, lines, the pace of
progress, how it ends, trying it by hand, its types and its wheel."""
import ast
import decimal
import fractions
import glob
import importlib.util
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import unittest

from harness import LIMIT, TOP, Case

KIT = os.path.join(TOP, "trainers", "python")
SPEC = importlib.util.spec_from_file_location("dpareto", os.path.join(KIT, "dpareto.py"))
dpareto = importlib.util.module_from_spec(SPEC)
sys.dont_write_bytecode = True  # the source may be read-only, and stays clean
SPEC.loader.exec_module(dpareto)


def system_python_with(module):
    """A Python that can import it, or None: the first on PATH may not be the system's."""
    for python in (sys.executable, "/usr/bin/python3"):
        if os.path.exists(python) and subprocess.run(
                [python, "-c", "import " + module], stderr=subprocess.DEVNULL).returncode == 0:
            return python
    return None


class KitCase(Case):
    """Trainers that are asked by a request, and started by hand."""

    def ask(self, runs=1, path=None, **parameters):
        """A request, as environment variables."""
        request = {"version": 1, "study": "s", "trial": 3, "attempt": 0, "parameters": parameters,
                   "runs": [{"run": i, "seed": 10 + i} for i in range(runs)], "unknown": [1]}
        if path:
            request["path"] = {"parameter": "epochs", "values": path}
        return {"DPARETO_REQUEST": self.write("request.json", json.dumps(request)),
                "DPARETO_RESULT": self.path("result.jsonl")}

    def environment(self, asked=None):
        env = {k: v for k, v in os.environ.items() if not k.startswith("DPARETO_RE")}
        return {**env, **(asked or {}), "PYTHONPATH": KIT, "PYTHONDONTWRITEBYTECODE": "1"}

    def start(self, text, asked=None, python=sys.executable):
        script = self.write("train.py", "import dpareto, os, signal, sys, time\n" + text)
        return subprocess.Popen([python, script], env=self.environment(asked), text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def train(self, text, asked=None, code=0, python=sys.executable):
        """Runs it to its end; what it said on stdout and on stderr."""
        process = self.start(text, asked, python)
        out, err = process.communicate(timeout=LIMIT)
        self.assertEqual(process.returncode, code, err)
        return out, err

    def lines(self):
        with open(self.path("result.jsonl")) as f:
            return [json.loads(line) for line in f]

    def text(self):
        with open(self.path("result.jsonl")) as f:
            return f.read()

    def fails(self, text, asked, says):
        """The last line on stderr has it, the exit code is 1, and nothing is done."""
        _, err = self.train(text, asked, code=1)
        self.assertIn(says, err.splitlines()[-1])
        self.assertNotIn("done", self.text() if self.has("result.jsonl") else "")
        if self.has("result.jsonl"):
            os.unlink(self.path("result.jsonl"))


class Tensor:
    """As scalars of numpy and torch are."""

    def __init__(self, *values):
        self.values = values

    def item(self):
        if len(self.values) != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return self.values[0]


class Eager:
    """As tensors of TensorFlow are, which have __index__ and refuse it."""

    def __index__(self):
        raise TypeError("only integer scalar arrays can be converted to a scalar index")

    def __float__(self):
        return 0.83


class Numbers(unittest.TestCase):
    def test_taken(self):
        for value, said in [(1, 1), (0.5, 0.5), (-0.0, 0.0), (Tensor(0.25), 0.25), (Tensor(7), 7),
                            (Eager(), 0.83), (decimal.Decimal("0.5"), 0.5),
                            (fractions.Fraction(1, 4), 0.25), (2**53, 2**53), (2**70, 2.0**70),
                            (0.1 + 0.2, 0.1 + 0.2)]:
            self.assertEqual(dpareto._metric("m", value), said)
            self.assertEqual(json.loads(json.dumps(dpareto._metric("m", value))), said)

    def test_not_finite(self):
        for value, said in [(math.nan, "nan"), (math.inf, "inf"), (-math.inf, "-inf"),
                            (Tensor(math.nan), "nan"), (10**400, "inf"), (-10**400, "-inf"),
                            (decimal.Decimal("NaN"), "nan")]:
            self.assertEqual(dpareto._metric("m", value), said)

    def test_refused(self):
        for value in ("0.83", b"1", True, None, Tensor(True), Tensor(1, 2), Tensor(), [1], {}, 1j,
                      Tensor("x"), object()):
            with self.assertRaisesRegex(TypeError, "metric 'acc' must be (a|one) number, not "):
                dpareto._metric("acc", value)

    def test_names(self):
        for name in ("a", "top-5", "0", "_x.y", "a" * 64):
            self.assertEqual(dpareto._metrics({name: 1}), {name: 1})
        for name in ("", "-a", ".a", "a b", "a" * 65, "\u00e9", "a\n"):
            with self.assertRaisesRegex(ValueError, "cannot name a metric"):
                dpareto._metrics({name: 1})


class Pace(unittest.TestCase):
    def told(self, seconds, step):
        """How often progress is told in so long a training."""
        now = [0.0]
        pace, count = dpareto._Pace(lambda: now[0]), 0
        while now[0] < seconds:
            count += pace.due()
            now[0] += step
        return count

    def test_at_once_then_every_second(self):
        self.assertEqual(self.told(0.5, 0.01), 1)
        self.assertEqual(self.told(10, 0.25), 10)

    def test_a_month_does_not_fill_the_file(self):
        count = self.told(30 * 86400, 7.5)
        self.assertGreater(count, 86400)  # a sign of life all the time
        self.assertLess(count * len('{"progress":0.1234}\n'), 8 << 20)


class Asked(KitCase):
    """With a request, as under a daemon."""

    def test_whole(self):
        self.train("""
with dpareto.trial() as t:
    assert t["lr"] == 0.1 and t.parameters == {"lr": 0.1, "epochs": 4, "kind": "a"}, t.parameters
    assert t.privacy == {} and t.request["trial"] == 3
    for run in t.runs:
        for epoch in run.path("epochs"):
            run.at(epoch, loss=run.seed / epoch)
        run.result(loss=run.run, **{"top-5": float("nan"), "self": 1, "value": 2})
    t.declare(sampling="poisson", records=100, lot=2.5, steps=4, noise_over_clip=0)
    t.declare()
""", self.ask(runs=2, path=[1, 2], lr=0.1, epochs=4, kind="a"))
        lines = [line for line in self.lines() if "progress" not in line]
        own = {"top-5": "nan", "self": 1, "value": 2}
        self.assertEqual(lines, [
            {"run": 0, "at": 1, "metrics": {"loss": 10}}, {"run": 0, "at": 2, "metrics": {"loss": 5}},
            {"run": 0, "metrics": {"loss": 0, **own}},
            {"run": 1, "at": 1, "metrics": {"loss": 11}},
            {"run": 1, "at": 2, "metrics": {"loss": 5.5}},
            {"run": 1, "metrics": {"loss": 1, **own}},
            {"declare": {"sampling": "poisson", "records": 100, "lot": 2.5, "steps": 4,
                         "noise_over_clip": 0}},
            {"done": True}])
        self.assertTrue(self.text().endswith('{"done":true}\n'))

    def test_parameters_in_the_file_do_not_win(self):
        self.train("with dpareto.trial(x=5) as t:\n    t.runs[0].result(x=t['x'])", self.ask(x=1))
        self.assertEqual(self.lines()[0]["metrics"], {"x": 1})

    def test_progress_is_the_mean_of_all_runs(self):
        self.train("""
dpareto._Pace.due = lambda self: True
with dpareto.trial() as t:
    a, b = t.runs
    for x in (0.5, 0.25, float("nan"), -1, 7):
        a.progress(x)
    a.result()
    b.progress(0.5)
    b.result()
""", self.ask(runs=2))
        told = [line["progress"] for line in self.lines() if "progress" in line]
        self.assertEqual(told, [0.25, 0.25, 0.25, 0.25, 0.5, 0.5, 0.75])

    def test_mistakes(self):
        one = "with dpareto.trial() as t:\n    run = t.runs[0]\n    "
        asked = self.ask(path=[1], epochs=3, lr=0.5)
        for text, says in [
                ("run.result(acc='0.8')", "TypeError: metric 'acc' must be a number, not '0.8'"),
                ("run.result(acc=None)", "TypeError: metric 'acc' must be a number, not None"),
                ("run.result(a=1); run.result(a=1)", "run 0 was reported before"),
                ("run.at(1, a=1); run.at(1, a=1)", "run 0 at 1 was reported before"),
                ("run.result(a=1); run.at(1, a=1)", "run 0 at 1 comes after run.result"),
                ("run.at('1', a=1)", "a value of the path must be a number"),
                ("run.path('lr')", "the study's path is over 'epochs', but this trainer walks 'lr'"),
                ("t['rate']", "there is no parameter 'rate' (there is: epochs, lr)"),
                ("t.privacy['epsilon']", "there is no privacy objective 'epsilon' (there is: none)"),
                ("t.declare(sampling='sorted')", "sampling is without-replacement or poisson or"),
                ("t.declare(steps=0)", "steps must be above 0, not 0"),
                ("t.declare(lot=float('nan'))", "lot must be above 0, not nan"),
                ("t.declare(noise_over_clip=-1)", "noise_over_clip must be at least 0"),
                ("run.result(**{'a%05d' % i: 1 for i in range(9000)})", "is longer than the"),
                ("raise ValueError('first\\nsecond')", "ValueError: first second"),
                ("raise ValueError('begins here ' + 5000 * 'x')", "ValueError: begins here xx"),
                ("raise ValueError", "ValueError"),
                ("open('/nowhere/at/all')", "FileNotFoundError: [Errno 2] No such file")]:
            with self.subTest(text):
                self.fails(one + text, asked, says)
        self.fails(one + "run.path('lr')", self.ask(lr=0.5), "a path is over a whole number")
        self.fails("with dpareto.trial() as t: pass\nt.declare(steps=1)",
                   {**asked, "DPARETO_RESULT": os.devnull}, "block is over")
        self.fails("dpareto.trial()", {"DPARETO_REQUEST": asked["DPARETO_REQUEST"]},
                   "DPARETO_RESULT is not set")
        self.fails("dpareto.trial()", {}, "DPARETO_REQUEST is not set")
        later = self.write("later.json", '{"version":2}')
        self.fails("dpareto.trial()", {**asked, "DPARETO_REQUEST": later}, "of version 2")

    def test_a_traceback_comes_before_the_last_line(self):
        _, err = self.train("with dpareto.trial() as t:\n    raise ValueError('a\\nb')", self.ask(),
                            code=1)
        self.assertIn("Traceback", err)
        self.assertIn('train.py", line 3', err)

    def test_an_exception_may_be_caught_outside(self):
        out, err = self.train("try:\n    with dpareto.trial() as t:\n        raise ValueError('a\\nb')\n"
                              "except ValueError as e:\n    print(repr(e))", self.ask())
        self.assertEqual((out, err), ("ValueError('a\\nb')\n", ""))
        self.assertEqual(self.text(), "")

    def test_a_run_left_out(self):
        _, err = self.train("with dpareto.trial() as t: t.runs[1].result(a=1)", self.ask(runs=3))
        self.assertIn("no result of run 0, 2", err)
        self.assertEqual(self.lines()[-1], {"done": True})

    def ended_by(self, number, text=""):
        """Signals a trainer that has reported a run; exit code, its lines and stderr."""
        process = self.start(text + """
with dpareto.trial() as t:
    try:
        t.runs[0].result(a=1)
        print("up", flush=True)
        time.sleep(100)
    finally:
        print("tidied")
""", self.ask(runs=2))
        self.assertEqual(process.stdout.readline(), "up\n")
        process.send_signal(number)
        out, err = process.communicate(timeout=LIMIT)
        self.assertEqual(self.lines()[0], {"run": 0, "metrics": {"a": 1}})
        self.assertNotIn("done", self.text())
        self.assertTrue(self.text().endswith("}\n"))
        return process.returncode, out, err

    def test_ctrl_c(self):
        self.assertEqual(self.ended_by(signal.SIGINT),
                         (130, "tidied\n", "dpareto: interrupted\n"))

    def test_term(self):
        self.assertEqual(self.ended_by(signal.SIGTERM), (143, "tidied\n", ""))

    def test_whoever_handles_term_is_left_alone(self):
        code, out, _ = self.ended_by(
            signal.SIGTERM, "signal.signal(signal.SIGTERM, lambda *_: sys.exit(5))")
        self.assertEqual((code, out), (5, "tidied\n"))

    def test_sys_exit_keeps_its_code(self):
        self.train("with dpareto.trial() as t:\n    sys.exit(3)", self.ask(), code=3)
        self.assertEqual(self.text(), "")

    def test_forked_workers_end_nothing(self):
        self.train("""
with dpareto.trial() as t:
    up, said = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(said, b"x")
        time.sleep(1000)
        os._exit(9)
    os.read(up, 1)
    os.kill(child, signal.SIGTERM)
    assert os.waitpid(child, 0)[1] == signal.SIGTERM
    if os.fork() > 0:
        assert os.wait()[1] == 0
        t.runs[0].result(a=1)
""", self.ask())
        self.assertEqual(self.lines(), [{"run": 0, "metrics": {"a": 1}}, {"done": True}])

    def test_numpy(self):
        python = system_python_with("numpy")
        if not python:
            self.skipTest("there is no numpy")
        self.train("""
import numpy as np
with dpareto.trial() as t:
    t.runs[0].at(np.int64(2), a=np.float32(0.5))
    t.runs[0].progress(np.float64(0.5))
    t.runs[0].result(a=np.float64(0.1), b=np.int32(3), c=np.array(2.5), d=np.array([4]),
                     e=np.float32("inf"))
    for bad in (np.bool_(True), np.array([1, 2]), np.array([]), np.str_("1")):
        try:
            t.runs[0].at(1, a=bad)
        except TypeError:
            continue
        raise AssertionError(bad)
""", self.ask(path=[1, 2], epochs=4), python=python)
        lines = [line for line in self.lines() if "run" in line]
        self.assertEqual(lines, [
            {"run": 0, "at": 2, "metrics": {"a": 0.5}},
            {"run": 0, "metrics": {"a": 0.1, "b": 3, "c": 2.5, "d": 4, "e": "inf"}}])


class ByHand(KitCase):
    def test_says_what_it_would_report(self):
        out, err = self.train("""
with dpareto.trial(epochs=2, lr=0.1) as t:
    for run in t.runs:
        for epoch in run.path("epochs"):
            run.at(epoch, accuracy=epoch * t["lr"])
            run.progress(epoch / t["epochs"])
        run.result(accuracy=0.5)
    t.declare(sampling="poisson", steps=4)
""")
        self.assertEqual((out, err), ("""\
dpareto: no study started this; tried once with epochs=2 lr=0.1
dpareto: run 0 at 1: accuracy=0.1
dpareto: progress 50 %
dpareto: run 0 at 2: accuracy=0.2
dpareto: run 0: accuracy=0.5
dpareto: declared: sampling=poisson steps=4
dpareto: done
""", ""))

    def test_what_needs_a_study(self):
        self.fails("with dpareto.trial(lr=1) as t:\n    t.privacy['epsilon']", None,
                   "'python3 -m dpareto check'")


class Quality(KitCase):
    def test_python_3_9_reads_it(self):
        with open(os.path.join(KIT, "dpareto.py")) as f:
            ast.parse(f.read(), feature_version=(3, 9))

    def test_types(self):
        if not shutil.which("mypy"):
            self.skipTest("there is no mypy (Debian: mypy)")
        done = subprocess.run(["mypy", "--strict", "--cache-dir",
                               self.path("cache"), os.path.join(KIT, "dpareto.py")],
                              capture_output=True, text=True, timeout=LIMIT)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_wheel(self):
        """Built by Debian's tools without the network, and imported from the wheel."""
        python = system_python_with("build, setuptools, wheel")
        if not python:
            self.skipTest("there is no python3-build with setuptools and wheel")
        source = self.path("source")
        os.mkdir(source)
        for name in ("dpareto.py", "pyproject.toml"):
            shutil.copy(os.path.join(KIT, name), source)
        done = subprocess.run([python, "-m", "build", "--no-isolation", "--wheel", "--outdir",
                               self.path("wheels"), source], cwd=self.folder,
                              capture_output=True, text=True, timeout=LIMIT)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        wheel, = glob.glob(self.path("wheels/dpareto-%s-py3-none-any.whl" % dpareto.__version__))
        seen = subprocess.run([python, "-c", "import dpareto; print(dpareto.__file__)"],
                              cwd=self.folder, env={**os.environ, "PYTHONPATH": wheel},
                              capture_output=True, text=True, timeout=LIMIT)
        self.assertEqual(seen.stdout, wheel + "/dpareto.py\n")


if __name__ == "__main__":
    unittest.main()
