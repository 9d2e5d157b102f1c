#!/usr/bin/env python3
"""run.py - runs the tests of one build and counts them.

  run.py --build DIR --results FILE unit,e2e,sh     kinds of tests, see KINDS
  run.py --results FILE summary                     adds up all that FILE has seen

Every kind appends a line "name passed failed skipped" per program to the results. An end-to-end
module that fails beside the others runs once more, alone: what passes only then is no failure of
CI, but the summary names it, because somebody has to mend it."""
import argparse
import concurrent.futures
import glob
import os
import re
import subprocess
import sys
import tarfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FUZZ_SECONDS = os.environ.get("DPARETO_FUZZ_SECONDS", "4")


def note(args, name, passed, failed, skipped, seconds, output, keep=True):
    print("%-34s %3d passed, %d failed%s  %.1f s" %
          (name, passed, failed, ", %d skipped" % skipped if skipped else "", seconds),
          flush=True)
    if failed:
        print(output, flush=True)
    else:
        for line in re.findall(r"^.*skipped.*$", output, re.M)[:8]:
            print("    " + line.strip()[:150], flush=True)
    if keep:
        with open(args.results, "a") as f:
            f.write("%s %d %d %d\n" % (name.replace(" ", "_"), passed, failed, skipped))
    return failed == 0


def run(command, limit, **options):
    began = time.monotonic()
    try:
        p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           timeout=limit, text=True, errors="replace",
                           stdin=subprocess.DEVNULL, **options)
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


def unit_programs(args):
    return sorted(p for p in glob.glob(os.path.join(args.build, "tests/unit/test_*"))
                  if os.access(p, os.X_OK) and "." not in os.path.basename(p))


def cmocka(args, label, program, prefix=(), limit=900):
    """One cmocka program; counts its cases."""
    code, text, seconds = run([*prefix, program], limit, env=environment(args), cwd=TOP)
    passed = len(re.findall(r"^\[\s+OK \] ", text, re.M))
    failed = len(re.findall(r"^\[  FAILED  \] .*$", text, re.M))
    skipped = len(re.findall(r"^\[  SKIPPED \] \S+$", text, re.M))
    if code != 0 and failed == 0 or passed == 0 and code == 0:
        failed = 1
    elif code != 0:
        failed = max(1, failed - text.count("[  FAILED  ] tests"))
    return note(args, label + os.path.basename(program), passed, failed, skipped, seconds,
                text)


AGAIN = " (again)"

# What takes longest begins first, so that all cores end at about the same time.
LONG = ("test_pld", "test_reproduce", "test_torch", "test_propose", "test_journal_faults", "test_figures", "test_mlp",
        "test_linear", "test_optimizer", "test_study", "test_report", "test_ctl", "test_daemon",
        "test_trainers", "test_search", "test_paper_studies", "test_storm", "test_disk",
        "test_upgrade")


def rank(item):
    name = os.path.basename(item)
    return next((i for i, long in enumerate(LONG) if name.startswith(long)), len(LONG))


def side_by_side(task, items, more=0):
    """task(item) for all, as many at once as there are cores and `more`. All must be
    true."""
    items = sorted(items, key=rank)
    with concurrent.futures.ThreadPoolExecutor((os.cpu_count() or 1) + more) as pool:
        return all(list(pool.map(task, items)))


def unit(args):
    programs = [p for p in unit_programs(args)
                if os.path.basename(p) not in args.without.split(",")]
    return bool(programs) and side_by_side(lambda p: cmocka(args, "", p), programs)


def valgrind(args):
    tool = ["valgrind", "-q", "--error-exitcode=9", "--leak-check=full",
            "--child-silent-after-fork=yes"]
    subjects = ("base", "config", "course", "study", "trial", "event", "state", "wire", "data", "lots",
                "linear", "mlp", "no", "output", "report")
    return side_by_side(lambda p: cmocka(args, "valgrind ", p, tool, 900),
                        [p for p in unit_programs(args)
                         if os.path.basename(p).split("_")[1] in subjects
                         # these do the same hundreds of times or draw for minutes: the
                         # sanitizers see it
                         and not p.endswith(("test_study_attack",
                                             "test_report", "test_report_words"))])


def e2e_module(args, folder, module, again=False):
    """The failure of a first run is shown and not kept."""
    code, text, seconds = run(
        [sys.executable, "-W", "ignore::ResourceWarning", "-m", "unittest", "-v", module],
        1800, env=environment(args), cwd=os.path.join(TOP, "tests", folder))
    ran = int((re.findall(r"^Ran (\d+) test", text, re.M) or ["0"])[-1])
    bad = sum(int(n) for n in re.findall(r"(?:failures|errors)=(\d+)",
                                         text.split("\nRan ")[-1]))
    skipped = sum(int(n) for n in re.findall(r"skipped=(\d+)", text.split("\nRan ")[-1]))
    if code != 0 and bad == 0:
        bad = 1
    return note(args, folder + " " + module + (AGAIN if again else ""),
                max(0, ran - bad - skipped), bad, skipped, seconds, text, again or bad == 0)


def e2e(args, folder="e2e"):
    modules = [os.path.basename(path)[:-3]
               for path in sorted(glob.glob(os.path.join(TOP, "tests", folder, "test_*.py")))]
    modules = [m for m in modules if (not args.only or args.only in m)
               and m not in args.without.split(",")]
    good = {}
    side_by_side(lambda m: good.update({m: e2e_module(args, folder, m)}), modules,
                 1)  # they wait a lot
    return all([e2e_module(args, folder, m, again=True) for m in modules if not good[m]])


def cluster(args):
    return e2e(args, "cluster")


def sh(args):
    good = True
    for path in sorted(glob.glob(os.path.join(TOP, "tests/sh/*.sh"))):
        code, text, seconds = run(["sh", path, TOP, args.build], 600, env=environment(args))
        good &= note(args, "sh " + os.path.basename(path), code == 0, code != 0, 0, seconds,
                     text)
    return good


def fuzzer(args, program):
    subject = os.path.basename(program)[len("fuzz_"):]
    work = os.path.join(args.build, "tests/fuzz/work-" + subject)
    os.makedirs(work, exist_ok=True)
    corpus = os.path.join(args.build, "tests/fuzz/corpus-" + subject)
    with tarfile.open(os.path.join(TOP, "tests/fuzz/corpus", subject + ".tar.xz")) as packed:
        packed.extractall(corpus)
    code, text, seconds = run(
        [program, "-max_total_time=" + FUZZ_SECONDS, "-timeout=10", "-print_final_stats=0",
         work, corpus],
        float(FUZZ_SECONDS) + 120, env=environment(args), cwd=work)
    return note(args, "fuzz " + subject, code == 0, code != 0, 0, seconds, text[-4000:])


def fuzz(args):
    return side_by_side(lambda p: fuzzer(args, p), [
        p for p in sorted(glob.glob(os.path.join(args.build, "tests/fuzz/fuzz_*")))
        if os.access(p, os.X_OK) and "." not in os.path.basename(p)])


def distcheck(args):
    # It is the tarball that is tested: what has run already and reads no file of it that
    # others do not read is left out, and code need not be fast.
    code, text, seconds = run(
        ["make", "-s", "distcheck", "-j%d" % (os.cpu_count() or 1),
         "CHECK_KINDS=unit,sh --without=test_pld,test_propose,test_journal_faults,"
         "test_acquisition,test_svt,test_whole_attack,"
         "test_study_attack,test_release,test_select,test_propose_budget,test_union,"
         "test_figures_space_drawn,test_search_noise,test_recommend,"
         "test_report,test_report_words,test_mlp",
         "DISTCHECK_CONFIGURE_FLAGS=CFLAGS=-O1"], 2400, cwd=args.build)
    return note(args, "make distcheck", code == 0, code != 0, 0, seconds, text[-6000:])


KINDS = {"unit": unit, "e2e": e2e, "cluster": cluster, "sh": sh, "valgrind": valgrind, "fuzz": fuzz,
         "distcheck": distcheck}


def summary(args):
    rows = [line.split() for line in open(args.results)]
    passed, failed, skipped = (sum(int(r[i]) for r in rows) for i in (1, 2, 3))
    for r in rows:
        if int(r[2]):
            print("failed: " + r[0])
        elif r[0].endswith(AGAIN.replace(" ", "_")):
            print("passed only alone, to be mended: " + r[0])
    print("%d passed, %d failed%s" %
          (passed, failed, ", %d skipped" % skipped if skipped else ""))
    return failed == 0 and passed > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=".")
    parser.add_argument("--results", default=os.devnull)
    parser.add_argument("--only", help="part of an e2e module's name")
    parser.add_argument("--without", default="",
                        help="unit tests and end-to-end modules to leave out")
    parser.add_argument("--long", action="store_true",
                        help="with the tests that take minutes: of cluster")
    parser.add_argument("kinds")
    args = parser.parse_args()
    args.build = os.path.abspath(args.build)
    if args.kinds == "summary":
        sys.exit(not summary(args))
    sys.exit(not all([KINDS[k](args) for k in args.kinds.split(",")]))


if __name__ == "__main__":
    main()
