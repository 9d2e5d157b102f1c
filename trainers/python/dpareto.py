"""dpareto - trainers of DPareto in Python: one file, nothing but the standard library.

    import dpareto

    with dpareto.trial() as t:                    # reads what is asked
        for run in t.runs:                        # one training each; seed it by run.seed
            for epoch in run.path("epochs"):      # 1, 2, ..., the trial's own value
                ...
                run.at(epoch, accuracy=acc)       # kept where a waypoint is asked
                run.progress(epoch / t["epochs"])
            run.result(accuracy=acc)

dpareto.trial(epochs=3, lr=0.1) tries the same without a daemon: where no study started the
program it takes these parameters and prints what it would have reported.
`python3 -m dpareto check train.py study.yaml` tries a trainer against a study.

docs/python.md has more; docs/trainer-protocol.md is what is spoken underneath.
"""

from __future__ import annotations

import json
import math
import operator
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from types import FrameType, TracebackType
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple, Type, Union

__all__ = ["Run", "Trial", "trial"]
__version__ = "0.2.0"

Number = Union[int, float]

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}\Z")
_SAMPLING = ("without-replacement", "poisson", "shuffle")
_LINE_MAX = 64 * 1024  # bytes of a line, by the protocol
_SAID_MAX = 500  # characters; of a longer last line its end would be shown
_WHOLE = 2**53  # whole numbers up to here are doubles, too
_TERMINATED = 128 + signal.SIGTERM  # what a shell says of a program that TERM ended


# ---- numbers ----


def _number(what: str, value: object) -> Number:
    """A Python number of whatever is one: numpy's and torch's scalars, Decimal, Fraction."""
    item = getattr(value, "item", None)
    if callable(item):
        try:
            value = item()
        except (RuntimeError, ValueError):
            raise TypeError("%s must be one number, not %s with more or fewer than one"
                            % (what, _kind(value))) from None
    if isinstance(value, (bool, str, bytes)) or value is None:
        raise TypeError("%s must be a number, not %r" % (what, value))
    try:
        whole = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        pass  # most likely a fraction
    else:
        return whole if abs(whole) <= _WHOLE else _double(whole)
    try:
        return _double(value)
    except (TypeError, ValueError):
        raise TypeError("%s must be a number, not %s" % (what, _kind(value))) from None


def _double(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _kind(value: object) -> str:
    return "an object of type '%s'" % type(value).__name__


def _metric(name: str, value: object) -> Union[Number, str]:
    """A metric as the protocol writes it: a number that is not finite is a word."""
    if not _NAME.match(name):
        raise ValueError("%r cannot name a metric: letters, digits, '_', '.' and '-', at most "
                         "64, the first no '.' or '-'" % name)
    x = _number("metric '%s'" % name, value)
    if math.isnan(x):
        return "nan"
    if math.isinf(x):
        return "inf" if x > 0 else "-inf"
    return x


def _metrics(values: Mapping[str, object]) -> Dict[str, Union[Number, str]]:
    return {name: _metric(name, value) for name, value in values.items()}


def _words(values: Mapping[str, object]) -> str:
    return " ".join("%s=%s" % (name, value) for name, value in values.items())


class _Named(Dict[str, Any]):
    """A dictionary that says what there is when asked for what there is not."""

    def __init__(self, what: str, values: Mapping[str, Any], otherwise: str = "") -> None:
        super().__init__(values)
        self._what, self._otherwise = what, otherwise

    def __missing__(self, name: str) -> Any:
        there = ", ".join(self) if self else "none"
        raise KeyError("there is no %s '%s' (there is: %s)%s"
                       % (self._what, name, there, self._otherwise))


# ---- where reports go ----


class _File:
    """The result file of an attempt."""

    def __init__(self, path: str) -> None:
        self._fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)

    def put(self, line: Mapping[str, Any]) -> None:
        """One write for a whole line: no signal and no reader ever sees half of one."""
        data = json.dumps(line, separators=(",", ":"), allow_nan=False).encode() + b"\n"
        if len(data) > _LINE_MAX:
            raise ValueError("a line of %d bytes is longer than the protocol's %d: report fewer "
                             "metrics, or shorter names" % (len(data), _LINE_MAX))
        while data:  # a full disk can take a part of it
            data = data[os.write(self._fd, data):]

    def close(self) -> None:
        os.close(self._fd)


class _People:
    """What would have been reported, in words."""

    def put(self, line: Mapping[str, Any]) -> None:
        if "progress" in line:
            text = "progress %.0f %%" % (100 * line["progress"])
        elif "at" in line:
            text = "run %d at %s: %s" % (line["run"], line["at"], _words(line["metrics"]))
        elif "run" in line:
            text = "run %d: %s" % (line["run"], _words(line["metrics"]))
        elif "declare" in line:
            text = "declared: %s" % _words(line["declare"])
        else:
            text = "done"
        print("dpareto: " + text, flush=True)

    def close(self) -> None:
        pass


# ---- progress ----


class _Pace:
    """When to tell progress: once a second, and the longer it takes the less often, down to every
    ten seconds, so that a training of a month does not fill its result file."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()
        self._last = -math.inf

    def due(self) -> bool:
        now = self._clock()
        if now - self._last < min(10.0, max(1.0, (now - self._began) / 1000)):
            return False
        self._last = now
        return True


# ---- runs ----


class Run:
    """One training that is asked for. `run` is its number, `seed` what to seed all that is random
    by, `waypoints` the values of the path at which metrics are asked for, too."""

    def __init__(self, trial: Trial, run: int, seed: int, waypoints: List[int]) -> None:
        self.run = run
        self.seed = seed
        self.waypoints = waypoints
        self._trial = trial
        self._reached: List[Number] = []
        self._fraction = 0.0
        self._reported = False

    def __repr__(self) -> str:
        return "<dpareto.Run %d, seed %d>" % (self.run, self.seed)

    def path(self, name: str) -> range:
        """1, 2, ... up to the trial's own value of the parameter `name`."""
        return range(1, self._trial._walked(name) + 1)

    def at(self, value: Number, /, **metrics: object) -> None:
        """What a training that ends at this value of the path would have reported. Values that
        were not asked for are ignored; say it at every step, if a test costs little."""
        where = _number("a value of the path", value)
        said = _metrics(metrics)
        if where not in self.waypoints and not self._trial._by_hand:
            return
        if self._reported:
            raise RuntimeError("run %d at %s comes after run.result(...), which must be the run's "
                               "last" % (self.run, where))
        if where in self._reached:
            raise RuntimeError("run %d at %s was reported before; each value is reported once"
                               % (self.run, where))
        self._reached.append(where)
        self._trial._put({"run": self.run, "at": where, "metrics": said})

    def progress(self, fraction: float) -> None:
        """How far this run is, from 0 to 1. May be called as often as you like."""
        x = float(_number("progress", fraction))
        if x > self._fraction:  # for people to see: a slip, or NaN, fails no training
            self._fraction = min(x, 1.0)
        self._trial._progress()

    def result(self, /, **metrics: object) -> None:
        """The run's result: once for each run. NaN and infinity mean that it diverged."""
        if self._reported:
            raise RuntimeError("run %d was reported before; each run is reported once" % self.run)
        self._trial._put({"run": self.run, "metrics": _metrics(metrics)})
        self._reported = True
        self._fraction = 1.0
        self._trial._progress()


# ---- the trial ----


class Trial:
    """What is asked: t["lr"] is a parameter, `parameters` all of them, `privacy` what is accounted
    for, by privacy objective, `runs` the trainings, `request` all of the request as it stands.
    A context manager: leaving it well says that nothing follows."""

    def __init__(self, request: Dict[str, Any], out: Union[_File, _People]) -> None:
        self._out = out
        self._by_hand = isinstance(out, _People)
        self._open = True
        self._owner = os.getpid()
        self._pace = _Pace()
        self._old_term: Any = None
        path = request.get("path") or {}
        self._path: Optional[str] = path.get("parameter")
        self.request = request
        self.parameters: Dict[str, Any] = _Named("parameter", request["parameters"])
        self.privacy: Dict[str, Dict[str, Any]] = _Named(
            "privacy objective", request.get("privacy") or {},
            ": without a study nothing is accounted for; 'python3 -m dpareto check' tries a "
            "trainer with one" if self._by_hand else "")
        self.runs: List[Run] = [Run(self, r["run"], r["seed"], list(path.get("values", [])))
                                for r in request["runs"]]

    def __getitem__(self, name: str) -> Any:
        return self.parameters[name]

    def declare(self, *, sampling: Optional[str] = None, records: Optional[Number] = None,
                lot: Optional[Number] = None, steps: Optional[Number] = None,
                noise_over_clip: Optional[Number] = None) -> None:
        """What the training really did, by its own count. A trial that contradicts what its study
        accounts for fails, instead of having a wrong epsilon. `noise_over_clip` is the standard
        deviation of the noise on a sum of gradients over their clipping norm."""
        said: Dict[str, Any] = {}
        if sampling is not None:
            if sampling not in _SAMPLING:
                raise ValueError("sampling is %s, not %r" % (" or ".join(_SAMPLING), sampling))
            said["sampling"] = sampling
        counts = {"records": records, "lot": lot, "steps": steps,
                  "noise_over_clip": noise_over_clip}
        for name, value in counts.items():
            if value is None:
                continue
            x = _number(name, value)
            least = name == "noise_over_clip"  # a training without noise may say so
            if not (math.isfinite(x) and (x > 0 or least and x == 0)):
                raise ValueError("%s must be %s 0, not %s"
                                 % (name, "at least" if least else "above", x))
            said[name] = x
        if said:
            self._put({"declare": said})

    # -- for runs --

    def _put(self, line: Mapping[str, Any]) -> None:
        if not self._open:
            raise RuntimeError("the 'with dpareto.trial()' block is over: report inside of it")
        self._out.put(line)

    def _progress(self) -> None:
        done = sum(r._fraction for r in self.runs) / len(self.runs)
        if done < 1 and self._pace.due():
            self._put({"progress": round(done, 4)})

    def _walked(self, name: str) -> int:
        """The trial's own value of a parameter that is walked up."""
        if self._path not in (None, name):
            raise ValueError("the study's path is over '%s', but this trainer walks '%s': mend "
                             "trainer.path of the study" % (self._path, name))
        own = self.parameters[name]
        if isinstance(own, bool) or not isinstance(own, int):
            raise TypeError("a path is over a whole number, and '%s' is %r" % (name, own))
        return own

    # -- the block --

    def __enter__(self) -> Trial:
        # TERM unwinds as Ctrl-C does, so that 'finally' is heard; whoever handles it already is
        # left alone
        if (threading.current_thread() is threading.main_thread()
                and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL):
            self._old_term = signal.signal(signal.SIGTERM, self._terminated)
        return self

    def _terminated(self, number: int, frame: Optional[FrameType]) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if os.getpid() != self._owner:  # a worker that was forked
            os.kill(os.getpid(), signal.SIGTERM)
        raise SystemExit(_TERMINATED)

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        if os.getpid() != self._owner:
            return  # a forked child that leaves by the same door ends nothing
        if self._old_term is not None:
            signal.signal(signal.SIGTERM, self._old_term)
        try:
            if error is None:
                self._finish()
            elif isinstance(error, KeyboardInterrupt):
                print("dpareto: interrupted", file=sys.stderr)
                raise SystemExit(128 + signal.SIGINT) from None
            elif not isinstance(error, SystemExit):
                _say_last(error)
        finally:
            self._open = False
            self._out.close()

    def _finish(self) -> None:
        missing = [str(r.run) for r in self.runs if not r._reported]
        self._put({"done": True})
        if missing:
            print("dpareto: no result of run %s: call run.result(...) for each of t.runs"
                  % ", ".join(missing), file=sys.stderr)


def _say_last(error: BaseException) -> None:
    """The last line on stderr is what people are shown of a failure. Python's own is the exception,
    unless that has several lines or a very long one: then it is said once more, in one line."""
    lines = "".join(traceback.format_exception_only(type(error), error)).strip().splitlines()
    said = " ".join(line.strip() for line in lines)
    if len(lines) < 2 and len(said) <= _SAID_MAX:
        return
    before = sys.excepthook

    def hook(kind: Type[BaseException], value: BaseException,
             trace: Optional[TracebackType]) -> None:
        before(kind, value, trace)
        if value is error:
            print(said[:_SAID_MAX], file=sys.stderr)

    sys.excepthook = hook


def trial(**parameters: Any) -> Trial:
    """What this program is asked for, by the study that started it. Without a study it is tried
    with the parameters given here, once, and says what it would have reported."""
    path = os.environ.get("DPARETO_REQUEST")
    if path:
        return _asked(path)
    if not parameters:
        raise RuntimeError(
            "DPARETO_REQUEST is not set: a trainer is started by a study. To try it, use "
            "'python3 -m dpareto check', or name its parameters, as in dpareto.trial(lr=0.1)")
    print("dpareto: no study started this; tried once with %s" % _words(parameters), flush=True)
    return Trial({"version": 1, "parameters": parameters, "runs": [{"run": 0, "seed": 0}]},
                 _People())


def _asked(path: str) -> Trial:
    result = os.environ.get("DPARETO_RESULT")
    if not result:
        raise RuntimeError("DPARETO_RESULT is not set, but DPARETO_REQUEST is: both are needed")
    with open(path, encoding="utf-8") as f:
        request = json.load(f)
    if request.get("version") != 1:
        raise RuntimeError("%s is a request of version %s, and this dpareto.py knows version 1: "
                           "take the one that 'dparetoctl kit --path' has"
                           % (path, request.get("version")))
    note = os.environ.get("DPARETO_KIT_NOTE")
    if note:  # of 'check': who was asked for what
        with open(note, "w", encoding="utf-8") as f:
            json.dump({"argv": [sys.executable, os.path.abspath(sys.argv[0]), *sys.argv[1:]],
                       "script": os.path.realpath(sys.argv[0]), "folder": os.getcwd(),
                       "request": request}, f)
    return Trial(request, _File(result))


# ---- python3 -m dpareto check ----

_USAGE = """usage: python3 -m dpareto check TRAINER STUDY

Tries a trainer against a study, without a daemon: the study's command is run once with one
run at a random point by 'dparetoctl validate --try'; then TRAINER is run twice more with the
same request, to see whether equal seeds give equal results, and, if the study has a path,
once to its first waypoint, to see whether the training is the same up to there.
"""


def _dparetoctl() -> str:
    """In PATH, or where it was installed with this file: PREFIX/share/dpareto/python."""
    prefix = os.path.join(os.path.dirname(os.path.realpath(__file__)), *[os.pardir] * 3)
    found = shutil.which("dparetoctl") or shutil.which(
        "dparetoctl", path=os.path.normpath(os.path.join(prefix, "bin")))
    if not found:
        raise SystemExit("dpareto: there is no dparetoctl in PATH, which tries studies: install "
                         "DPareto, or put its folder into PATH")
    return found


# what was reported: (metric, run, waypoint or None) -> value
_Outcome = Dict[Tuple[str, int, Optional[int]], object]


def _outcome(asked: Mapping[str, Any], request: Mapping[str, Any], folder: str) -> _Outcome:
    """Runs the trainer by hand with a request."""
    os.mkdir(folder)
    # the attempt's own folder is gone; one that the study names is there
    where = asked["folder"] if os.path.isdir(asked["folder"]) else folder
    paths = {"DPARETO_REQUEST": os.path.join(folder, "request.json"),
             "DPARETO_RESULT": os.path.join(folder, "result.jsonl")}
    with open(paths["DPARETO_REQUEST"], "w", encoding="utf-8") as f:
        json.dump(request, f)
    done = subprocess.run(asked["argv"], cwd=where, env={**os.environ, **paths},
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.stdout.write(done.stdout.decode(errors="replace"))
        raise SystemExit("dpareto: run once more it ended with code %d" % done.returncode)
    out: _Outcome = {}
    with open(paths["DPARETO_RESULT"], encoding="utf-8") as f:
        for line in map(json.loads, f):
            for name, value in line.get("metrics", {}).items():
                out[name, line["run"], line.get("at")] = value
    return out


def _differing(a: _Outcome, b: _Outcome) -> str:
    return ", ".join(sorted({key[0] for key in {*a, *b} if a.get(key) != b.get(key)}))


def _repeats(first: _Outcome, second: _Outcome) -> None:
    differ = _differing(first, second)
    if differ:
        print("dpareto: equal requests gave different values of %s. Times differ; what else does "
              "is not seeded by run.seed, and studies with it do not repeat" % differ)
    else:
        print("dpareto: equal requests give equal results")


def _shorter(request: Mapping[str, Any]) -> Dict[str, Any]:
    """The request for a training that ends at the first waypoint."""
    name, value = request["path"]["parameter"], request["path"]["values"][0]
    own = request["parameters"][name]
    short = {key: v for key, v in request.items() if key != "path"}
    short["parameters"] = {**request["parameters"], name: value}
    short["privacy"] = {  # steps are so many for each epoch
        objective: {**account, "steps": account["steps"] * value // own}
        if "steps" in account else account
        for objective, account in request.get("privacy", {}).items()}
    return short


def _walks(asked: Mapping[str, Any], whole: _Outcome, folder: str) -> None:
    """Is the training at a waypoint what one that ends there is?"""
    path = asked["request"].get("path") or {}
    if not path.get("values"):
        return
    value = path["values"][0]
    there: _Outcome = {(name, run, None): x for (name, run, at), x in whole.items() if at == value}
    if not there:
        print("dpareto: nothing was reported at the waypoint %s=%s" % (path["parameter"], value))
        return
    differ = _differing(there, _outcome(asked, _shorter(asked["request"]), folder))
    if differ:
        print("dpareto: a training with %s=%s has other values of %s than this one had there. Times "
              "differ; what else does breaks what a path promises (docs/trainer-protocol.md, "
              "'Paths')" % (path["parameter"], value, differ))
    else:
        print("dpareto: at %s=%s it is what a training with %s=%s is"
              % (path["parameter"], value, path["parameter"], value))


def _check(trainer: str, study: str) -> int:
    script = os.path.realpath(trainer)
    if not os.path.isfile(script):
        raise SystemExit("dpareto: %s is not a file" % trainer)
    with tempfile.TemporaryDirectory(prefix="dpareto-check-") as folder:
        note = os.path.join(folder, "note")
        tried = subprocess.run([_dparetoctl(), "validate", "--try", study],
                               env={**os.environ, "DPARETO_KIT_NOTE": note})
        if tried.returncode != 0:
            return tried.returncode
        try:
            with open(note, encoding="utf-8") as f:
                asked = json.load(f)
        except FileNotFoundError:
            raise SystemExit("dpareto: what %s runs does not call dpareto.trial(): trainer.command "
                             "names something else than %s" % (study, trainer)) from None
        if asked["script"] != script:
            raise SystemExit("dpareto: %s runs %s, not %s: mend trainer.command"
                             % (study, asked["script"], trainer))
        first, second = (_outcome(asked, asked["request"], os.path.join(folder, name))
                         for name in ("first", "second"))
        _repeats(first, second)
        _walks(asked, first, os.path.join(folder, "shorter"))
    return 0


def main(arguments: List[str]) -> int:
    if arguments in (["-h"], ["--help"]):
        sys.stdout.write(_USAGE)
        return 0
    if len(arguments) != 3 or arguments[0] != "check":
        sys.stderr.write(_USAGE)
        return 2
    return _check(arguments[1], arguments[2])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
