#!/usr/bin/env python3
"""run.py - runs the tests of one build and counts them.

  run.py --build DIR                     all of unit, e2e and sh
  run.py --build DIR -k journal          those with "journal" in the name of a program or a test
  run.py --build DIR --failed            those that failed in the last run of this build
  run.py --results FILE summary          adds up what earlier runs wrote to FILE

Kinds: unit (cmocka programs), e2e and cluster (modules of unittest with real daemons), sh (the tree
itself), valgrind (unit programs under valgrind), fuzz, distcheck. All tests of one call share one
queue, the longest first, by the durations of the last run (tests/durations.txt before the first).

An end-to-end module that fails beside the others runs once more, alone. If it passes then, it counts
as passed and the summary names it as flaky: its cause is still a fault to fix."""
import argparse
import concurrent.futures
import glob
import json
import os
import re
import subprocess
import sys
import tarfile
import threading
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FUZZ_SECONDS = os.environ.get("DPARETO_FUZZ_SECONDS", "4")
DEFAULT_KINDS = "unit,e2e,sh"
FLAKY = "(passed only alone)"

# Unit programs whose subjects are memory and parsing; not those that repeat one thing for minutes.
VALGRIND = (
    "test_base", "test_configuration", "test_control_protocol",
    "test_dataset_cache", "test_dataset_files", "test_dataset_formats", "test_datasets",
    "test_event_codec", "test_linear", "test_lots", "test_max_cost", "test_max_time",
    "test_mlp", "test_mlp_kernels", "test_mlp_streams", "test_output_perturbation",
    "test_policy", "test_policy_replay", "test_reducer", "test_report_first_screen",
    "test_study", "test_study_compare", "test_study_diagnostics", "test_study_hostile",
    "test_trainer_protocol", "test_transitions")
# distcheck tests the tarball: what reads no other file of it than the rest is left out there.
NOT_DISTCHECK = (
    "test_acquisition", "test_adaptive_composition_attack", "test_curve_acquisition",
    "test_figures_odd_spaces", "test_journal_faults", "test_mlp", "test_noisy_release",
    "test_pld", "test_private_selection", "test_proposer", "test_proposer_budget",
    "test_recommend", "test_report_model", "test_report_text", "test_search_noise",
    "test_study_attack", "test_svt")


class Outcome:
    def __init__(self, passed, failed, skipped, seconds, output):
        self.passed, self.failed, self.skipped = passed, failed, skipped
        self.seconds, self.output = seconds, output


class Test:
    """One program, module or script: its name, how to run it, how a person runs it again."""

    def __init__(self, kind, name, function, again, retry=False):
        self.kind, self.name, self.function, self.again = kind, name, function, again
        self.label = name if kind == "unit" else kind + " " + name
        self.retry = retry


# ---- running one test ----

def run(command, limit, **options):
    began = time.monotonic()
    try:
        p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=limit,
                           text=True, errors="replace", stdin=subprocess.DEVNULL, **options)
        return p.returncode, p.stdout, time.monotonic() - began
    except subprocess.TimeoutExpired as e:
        text = e.stdout.decode(errors="replace") if isinstance(e.stdout, bytes) else e.stdout
        return 1, (text or "") + "\ntimed out after %g s" % limit, limit


def environment(args):
    # not detect_stack_use_after_return: gcc 12's false stack frames are not aligned for
    # vectors of 64 bytes (its bug 110027)
    env = dict(os.environ, DPARETO_BIN=args.build,
               XDG_CACHE_HOME=os.path.join(args.build, "cache"),
               ASAN_OPTIONS="strict_string_checks=1")
    env.pop("DPARETO_SOCKET", None)
    env.pop("DPARETO_OUTPUT", None)
    if args.long:
        env["DPARETO_LONG"] = "1"
    return env


def run_cmocka(args, program, prefix=()):
    code, text, seconds = run([*prefix, program], 900, env=environment(args), cwd=TOP)
    passed = len(re.findall(r"^\[\s+OK \] ", text, re.M))
    failed = len(re.findall(r"^\[  FAILED  \] .*$", text, re.M))
    skipped = len(re.findall(r"^\[  SKIPPED \] \S+$", text, re.M))
    if code != 0 and failed == 0 or passed == 0 and code == 0:
        failed = 1
    elif code != 0:
        failed = max(1, failed - text.count("[  FAILED  ] tests"))
    return Outcome(passed, failed, skipped, seconds, text)


def run_unittest(args, folder, module, words=()):
    code, text, seconds = run(
        [sys.executable, "-W", "ignore::ResourceWarning", "-m", "unittest", "-v", module,
         *[option for word in words for option in ("-k", word)]],
        1800, env=environment(args), cwd=os.path.join(TOP, "tests", folder))
    counts = text.split("\nRan ")[-1]
    ran = int((re.findall(r"^Ran (\d+) test", text, re.M) or ["0"])[-1])
    failed = sum(int(n) for n in re.findall(r"(?:failures|errors)=(\d+)", counts))
    skipped = sum(int(n) for n in re.findall(r"skipped=(\d+)", counts))
    if code != 0 and failed == 0:
        failed = 1
    return Outcome(max(0, ran - failed - skipped), failed, skipped, seconds, text)


def run_script(args, command, limit, **options):
    code, text, seconds = run(command, limit, **options)
    return Outcome(int(code == 0), int(code != 0), 0, seconds, text[-6000:])


def run_fuzzer(args, program):
    subject = os.path.basename(program)[len("fuzz_"):]
    work = os.path.join(args.build, "tests/fuzz/work-" + subject)
    os.makedirs(work, exist_ok=True)
    corpus = os.path.join(args.build, "tests/fuzz/corpus-" + subject)
    with tarfile.open(os.path.join(TOP, "tests/fuzz/corpus", subject + ".tar.xz")) as packed:
        packed.extractall(corpus)
    return run_script(args, [program, "-max_total_time=" + FUZZ_SECONDS, "-timeout=10",
                             "-print_final_stats=0", work, corpus],
                      float(FUZZ_SECONDS) + 120, env=environment(args), cwd=work)


# ---- the tests of each kind ----

def programs(args, pattern):
    return sorted(p for p in glob.glob(os.path.join(args.build, pattern), recursive=True)
                  if os.access(p, os.X_OK) and "." not in os.path.basename(p))


def shown_path(path):
    return os.path.relpath(path)


def unit_tests(args):
    return [Test("unit", os.path.basename(p), lambda p=p: run_cmocka(args, p), shown_path(p))
            for p in programs(args, "tests/unit/**/test_*")]


def valgrind_tests(args):
    tool = ["valgrind", "-q", "--error-exitcode=9", "--leak-check=full",
            "--child-silent-after-fork=yes"]
    return [Test("valgrind", t.name, lambda p=t.again: run_cmocka(args, os.path.abspath(p), tool),
                 "valgrind " + t.again)
            for t in unit_tests(args)
            if t.name in VALGRIND]


def module_tests(args, folder):
    again = "python3 tests/run.py --build %s -k %%s %s" % (shown_path(args.build), folder)
    tests = []
    for path in sorted(glob.glob(os.path.join(TOP, "tests", folder, "test_*.py"))):
        module = os.path.basename(path)[:-3]
        words = []
        if args.k and not any(word in module for word in args.k):
            names = re.findall(r"^\s+def (test_\w+)", open(path).read(), re.M)
            words = [word for word in args.k if any(word in name for name in names)]
            if not words:
                continue
        tests.append(Test(folder, module,
                          lambda m=module, w=words: run_unittest(args, folder, m, w),
                          again % module, retry=True))
    return tests


def sh_tests(args):
    return [Test("sh", os.path.basename(path),
                 lambda path=path: run_script(args, ["sh", path, TOP, args.build], 600,
                                              env=environment(args)),
                 "sh %s . %s" % (os.path.relpath(path, TOP), shown_path(args.build)))
            for path in sorted(glob.glob(os.path.join(TOP, "tests/sh/*.sh")))]


def fuzz_tests(args):
    return [Test("fuzz", os.path.basename(p)[len("fuzz_"):], lambda p=p: run_fuzzer(args, p),
                 shown_path(p))
            for p in programs(args, "tests/fuzz/fuzz_*")]


def distcheck_tests(args):
    command = ["make", "-s", "distcheck", "-j%d" % (os.cpu_count() or 1),
               "CHECK_KINDS=unit,sh --without=" + ",".join(NOT_DISTCHECK),
               "DISTCHECK_CONFIGURE_FLAGS=CFLAGS=-O1"]
    return [Test("make", "distcheck", lambda: run_script(args, command, 2400, cwd=args.build),
                 "make -C %s distcheck" % shown_path(args.build))]


KINDS = {"unit": unit_tests, "e2e": lambda args: module_tests(args, "e2e"),
         "cluster": lambda args: module_tests(args, "cluster"), "sh": sh_tests,
         "valgrind": valgrind_tests, "fuzz": fuzz_tests, "distcheck": distcheck_tests}


def source_names(name):
    """The names of the test functions in the source of a unit program."""
    found = glob.glob(os.path.join(TOP, "tests/unit/**", name + ".c"), recursive=True)
    return re.findall(r"^static void (\w+)\(void \*\*", open(found[0]).read(), re.M) if found else []


def is_selected(args, test):
    if test.name in args.without.split(",") or test.label in args.without.split(","):
        return False
    if args.failed is not None and test.label not in args.failed:
        return False
    if not args.k or test.kind in ("e2e", "cluster"):
        return True  # module_tests() has looked at args.k
    names = [test.label] + (source_names(test.name) if test.kind == "unit" else [])
    return any(word in name for word in args.k for name in names)


# ---- running all of them ----

class Screen:
    """One line for each test that ended; on a terminal a progress bar below."""

    def __init__(self, total):
        self.lock = threading.Lock()
        self.total, self.done, self.failed, self.running = total, 0, 0, []
        self.is_terminal = sys.stdout.isatty()

    def bar(self):
        if not self.is_terminal:
            return
        width = 24
        full = width * self.done // max(1, self.total)
        text = "[%s%s] %d of %d%s  %s" % ("#" * full, "." * (width - full), self.done, self.total,
                                         ", %d failed" % self.failed if self.failed else "",
                                         ", ".join(self.running))
        print("\r\x1b[K" + text[:os.get_terminal_size().columns - 1], end="", flush=True)

    def started(self, test):
        with self.lock:
            self.running.append(test.label)
            self.bar()

    def ended(self, test, outcome, remark=""):
        with self.lock:
            self.running.remove(test.label)
            self.done += 1
            self.failed += outcome.failed > 0
            if self.is_terminal:
                print("\r\x1b[K", end="")
            print("%-34s %3d passed, %d failed%s  %.1f s%s" %
                  (test.label, outcome.passed, outcome.failed,
                   ", %d skipped" % outcome.skipped if outcome.skipped else "", outcome.seconds,
                   "  " + remark if remark else ""))
            if outcome.failed:
                print(outcome.output)
                print("again: " + test.again)
            else:
                for line in re.findall(r"^.*skipped.*$", outcome.output, re.M)[:8]:
                    print("    " + line.strip()[:150])
            sys.stdout.flush()
            self.bar()


def read_durations(args):
    known = {}
    for line in open(os.path.join(TOP, "tests/durations.txt")):
        label, seconds = line.rsplit(None, 1)
        known[label] = float(seconds)
    try:
        known.update(json.load(open(os.path.join(args.build, "test-durations.json"))))
    except (OSError, ValueError):
        pass
    return known


def save(path, value):
    with open(path + ".tmp", "w") as f:
        json.dump(value, f, indent=0, sort_keys=True)
    os.replace(path + ".tmp", path)


def run_all(args, tests):
    durations = read_durations(args)
    tests.sort(key=lambda t: -durations.get(t.label, 1))
    screen = Screen(len(tests))
    outcomes = {}

    def run_one(test, remark=""):
        screen.started(test)
        outcome = test.function()
        outcomes[test.label] = outcome
        screen.ended(test, outcome, remark)

    # end-to-end modules wait more than they compute
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        list(pool.map(run_one, tests))
    flaky = []
    for test in tests:
        if test.retry and outcomes[test.label].failed:
            run_one(test, "(again, alone)")
            if not outcomes[test.label].failed:
                flaky.append(test.label)
    durations.update({label: round(o.seconds, 1) for label, o in outcomes.items() if not args.k})
    save(os.path.join(args.build, "test-durations.json"), durations)
    save(os.path.join(args.build, "test-failed.json"),
         [label for label, o in outcomes.items() if o.failed])
    with open(args.results, "a") as f:
        for label, o in outcomes.items():
            f.write("%d %d %d %.1f %s%s\n" % (o.passed, o.failed, o.skipped, o.seconds, label,
                                              " " + FLAKY if label in flaky else ""))
    if screen.is_terminal:
        print("\r\x1b[K", end="")
    return outcomes


def show_slowest(rows, count):
    print("slowest:")
    for seconds, label in sorted(rows, reverse=True)[:count]:
        print("  %7.1f s  %s" % (seconds, label))


def summary(args):
    rows = [line.rstrip("\n").split(" ", 4) for line in open(args.results)]
    passed, failed, skipped = (sum(int(r[i]) for r in rows) for i in (0, 1, 2))
    if args.slowest:
        show_slowest([(float(r[3]), r[4]) for r in rows], args.slowest)
    for r in rows:
        if int(r[1]):
            print("failed: " + r[4])
        elif r[4].endswith(FLAKY):
            print("flaky, to be fixed: " + r[4])
    print("%d passed, %d failed%s" %
          (passed, failed, ", %d skipped" % skipped if skipped else ""))
    return failed == 0 and passed > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=".", metavar="DIR")
    parser.add_argument("--results", default=os.devnull, metavar="FILE", help="append counts here")
    parser.add_argument("-k", "--only", action="append", dest="k", metavar="WORD",
                        help="tests with WORD in the name of the program or test; may be repeated")
    parser.add_argument("--failed", action="store_true", help="tests that failed in the last run")
    parser.add_argument("--slowest", type=int, default=0, metavar="N",
                        help="list the N slowest at the end")
    parser.add_argument("--without", default="", metavar="NAME,...", help="programs to leave out")
    parser.add_argument("--jobs", type=int, default=(os.cpu_count() or 1) + 1,
                        help="how many at once")
    parser.add_argument("--long", action="store_true",
                        help="with the tests that take minutes: of cluster")
    parser.add_argument("kinds", nargs="?", default=DEFAULT_KINDS, metavar="KIND,...",
                        help="%s; default %s" % (", ".join(KINDS), DEFAULT_KINDS))
    args = parser.parse_args()
    args.build = os.path.abspath(args.build)
    if args.kinds == "summary":
        sys.exit(not summary(args))
    failed_file = os.path.join(args.build, "test-failed.json")
    args.failed = json.load(open(failed_file)) if args.failed and os.path.exists(failed_file) else (
        [] if args.failed else None)
    tests = [t for kind in args.kinds.split(",") for t in KINDS[kind](args) if is_selected(args, t)]
    if not tests:
        if args.failed is not None:
            print("no test failed in the last run")
            sys.exit(0)
        print("no test of %s has that name" % args.kinds)
        sys.exit(0 if args.k else 1)
    outcomes = run_all(args, tests)
    if args.slowest:
        show_slowest([(o.seconds, label) for label, o in outcomes.items()], args.slowest)
    sys.exit(any(o.failed for o in outcomes.values()))


if __name__ == "__main__":
    main()
