#!/usr/bin/env python3
"""slurm.py - a real Slurm of three nodes on this machine, for as long as a test lasts.

  slurm.py [--accounting] [COMMAND...]    a shell, or the command, beside a cluster of its own

Munge, controller, a slurmd for each node and, if asked for, slurmdbd with a MariaDB behind it: all
with ports, sockets, keys and files of their own, so that several clusters may run at once and none
touches a Slurm that the machine has. The CPUs, the memory and the GPU of each node are made up.

A process of its own keeps the cluster (keep() below). Whatever the cluster starts stays below it,
jobs too, also when the process between was killed; it ends all of it and removes the folder when
the test lets go of it or dies. Nothing is left in any case. Needs root, as slurmd does, and the
packages of `scripts/install-deps cluster`."""
import argparse
import contextlib
import ctypes
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))
from harness import wait_for  # noqa: E402

NODES = ("n1", "n2", "n3")
CPUS, MEMORY, GPUS = 4, 4000, 1  # of each node; memory in MB
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue")
ACCOUNTING_PROGRAMS = ("slurmdbd", "mariadbd", "sacct")
# Seconds until a job that was put back into the queue may start again. Slurm's own are 121: those
# of its credentials' life and one more.
REQUEUE_DELAY = 10
UP = 60  # seconds a part may take to come up: only one that is broken does
# A few thousand ports below those that the kernel hands out by itself; each cluster has a block.
FIRST_PORT, LAST_PORT, PORTS = 21000, 31000, 10
CONTROLLER, DATABASE_DAEMON, DATABASE, FIRST_NODE = 1, 2, 3, 4  # within a block; 0 marks it

# What a test may change is in `settings` of Slurm().
CONFIGURATION = """ClusterName=dptest
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
SlurmctldPort={controller}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmdSpoolDir={folder}/spool/%n
StateSaveLocation={folder}/state
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SlurmdParameters=config_overrides
GresTypes=gpu
"""
SETTINGS = {
    "ProctrackType": "proctrack/linuxproc",
    # looks at the memory of jobs every second and ends those that take too much
    "JobAcctGatherType": "jobacct_gather/linux",
    "JobAcctGatherFrequency": "task=1",
    "JobAcctGatherParams": "OverMemoryKill",
    "SchedulerType": "sched/backfill",
    "SchedulerParameters": "batch_sched_delay=0,sched_min_interval=10000,sched_interval=2",
    "SelectType": "select/cons_tres",
    "SelectTypeParameters": "CR_CPU_Memory",
    "DefMemPerCPU": 500,
    "ReturnToService": 2,
    "SlurmctldTimeout": 10,
    "SlurmdTimeout": 10,
    "KillWait": 5,
    "MinJobAge": 300,
    "MaxJobCount": 20000,
    "MaxArraySize": 10001,
    "MessageTimeout": 10,
}
# The default is for all that need no more; `small` takes jobs and starts none.
PARTITIONS = """PartitionName=main Nodes=n1,n2,n3 Default=YES MaxTime=INFINITE State=UP
PartitionName=small Nodes=n1 MaxTime=INFINITE State=DOWN
PartitionName=short Nodes=n1,n2,n3 MaxTime=1 State=UP
"""
DATABASE_CONFIGURATION = """AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={database_daemon}
SlurmUser=root
LogFile={folder}/slurmdbd.log
PidFile={folder}/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={database}
StorageUser=root
StoragePass=none
StorageLoc=slurm_acct
"""
# Nothing here outlives the test: it need not survive a power cut.
DATABASE_OPTIONS = ("--no-defaults", "--user=root", "--skip-name-resolve", "--skip-log-bin",
                    "--innodb-flush-log-at-trx-commit=0", "--innodb-flush-method=nosync",
                    "--skip-innodb-doublewrite", "--innodb-buffer-pool-size=32M",
                    "--innodb-log-file-size=8M", "--performance-schema=off")
# What a MariaDB keeps for itself; newer ones have the second name.
DATABASE_TABLES = ("/usr/share/mysql/mysql_system_tables.sql",
                   "/usr/share/mysql/mariadb_system_tables.sql")


def missing(accounting=False):
    """Why there can be no cluster on this machine; empty if there can be one."""
    wanted = PROGRAMS + (ACCOUNTING_PROGRAMS if accounting else ())
    absent = [name for name in wanted if not shutil.which(name)]
    if absent:
        return "no %s: scripts/install-deps cluster" % " ".join(absent)
    return "" if os.geteuid() == 0 else "slurmd needs root"


class Slurm:
    """A cluster; use it as a context. Parts are munged, slurmctld, n1, n2, n3, and with
    accounting mariadbd and slurmdbd."""

    def __init__(self, accounting=False, settings=None, partitions=PARTITIONS, parent=None):
        """Settings are keys of slurm.conf that differ; those of value None are left out."""
        why = missing(accounting)
        if why:
            raise RuntimeError("no Slurm here: " + why)
        self.accounting, self.partitions = accounting, partitions
        self.settings = {**SETTINGS, **(settings or {})}
        self.folder = tempfile.mkdtemp(prefix="dpareto-slurm-", dir=parent)
        self.pids, self.keeper = {}, None

    def __enter__(self):
        try:
            return self.start()
        except BaseException:
            self.stop()
            raise

    def __exit__(self, *_):
        self.stop()

    # ---- the whole ----

    def start(self):
        """Returns when all nodes are idle."""
        self.keeper = subprocess.Popen(
            [sys.executable, os.path.abspath(__file__), "--keep", self.folder],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)
        self.port = int(self.keeper.stdout.readline())
        self.write_files()
        self.start_part("munged")
        wait_for(lambda: subprocess.run(["munge", "-n", "-S", self.path("munge.socket")],
                                        capture_output=True).returncode == 0, UP)
        if self.accounting:
            self.start_accounting()
        self.start_part("slurmctld")
        for node in NODES:
            self.start_part(node)
        self.wait_idle()
        return self

    def stop(self):
        """Ends every process of the cluster, jobs too, and removes its folder."""
        if self.keeper:
            self.keeper.stdin.close()
            self.keeper.stdout.close()
            self.keeper.wait(UP)
            self.keeper = None
        shutil.rmtree(self.folder, ignore_errors=True)

    def env(self):
        """What clients need beside what they have."""
        return {"SLURM_CONF": self.path("slurm.conf")}

    def path(self, name):
        return os.path.join(self.folder, name)

    # ---- its parts ----

    def write(self, name, text, mode=0o644):
        with open(self.path(name), "w") as f:
            f.write(text)
        os.chmod(self.path(name), mode)

    def write_files(self):
        os.chmod(self.folder, 0o755)  # munge wants its socket to be for everybody
        for name in ("state", "spool", *("spool/" + n for n in NODES)):
            os.mkdir(self.path(name))
        with open(os.open(self.path("munge.key"), os.O_CREAT | os.O_WRONLY, 0o400), "wb") as f:
            f.write(os.urandom(128))
        at = dict(folder=self.folder, controller=self.port + CONTROLLER,
                  database_daemon=self.port + DATABASE_DAEMON, database=self.port + DATABASE)
        settings = dict(self.settings, AuthInfo="socket=%s,cred_expire=%d" % (
            self.path("munge.socket"), REQUEUE_DELAY))
        if self.accounting:
            settings.update(AccountingStorageType="accounting_storage/slurmdbd",
                            AccountingStorageHost="localhost",
                            AccountingStoragePort=at["database_daemon"],
                            AccountingStoragePass=self.path("munge.socket"),
                            AccountingStorageTRES="gres/gpu")
            self.write("slurmdbd.conf", DATABASE_CONFIGURATION.format(**at), 0o600)
        text = CONFIGURATION.format(**at)
        text += "".join("%s=%s\n" % item for item in settings.items() if item[1] is not None)
        for i, node in enumerate(NODES):
            text += ("NodeName=%s NodeHostname=localhost NodeAddr=127.0.0.1 Port=%d CPUs=%d "
                     "RealMemory=%d Gres=gpu:%d State=UNKNOWN\n" %
                     (node, self.port + FIRST_NODE + i, CPUS, MEMORY, GPUS))
        self.write("slurm.conf", text + self.partitions)
        # any device will do: nobody opens it, and the job is told its number
        self.write("gres.conf", "".join(
            "NodeName=%s Name=gpu Count=%d File=/dev/null\n" % (n, GPUS) for n in NODES))

    def command(self, part):
        if part == "munged":
            return [part, "--foreground", "--force", "--num-threads=2",
                    *("--%s=%s" % (key, self.path("munge." + end)) for key, end in (
                        ("key-file", "key"), ("socket", "socket"), ("pid-file", "pid"),
                        ("log-file", "log"), ("seed-file", "seed")))]
        if part == "mariadbd":
            return [part, *DATABASE_OPTIONS, "--datadir=" + self.path("database"),
                    "--socket=" + self.path("mariadb.socket"), "--bind-address=127.0.0.1",
                    "--port=%d" % (self.port + DATABASE), "--skip-grant-tables",
                    "--pid-file=" + self.path("mariadb.pid")]
        if part in NODES:
            return ["slurmd", "-D", "-N", part]
        return [part, "-D"]

    def start_part(self, part):
        """Starts it; what it says goes to a file of its name."""
        print(json.dumps([self.path(part + ".out"), self.env(), *self.command(part)]),
              file=self.keeper.stdin, flush=True)
        self.pids[part] = int(self.keeper.stdout.readline())

    def kill(self, part, how=signal.SIGKILL):
        """Signals it; SIGSTOP and SIGCONT return at once, others when it has ended."""
        os.kill(self.pids[part], how)
        if how not in (signal.SIGSTOP, signal.SIGCONT):
            wait_for(lambda: not os.path.exists("/proc/%d" % self.pids[part]), UP)

    def restart(self, part, how=signal.SIGKILL):
        self.kill(part, how)
        self.start_part(part)

    def stop_controller(self):
        """As a shutdown does: with its state saved."""
        self.kill("slurmctld", signal.SIGTERM)

    def start_controller(self):
        self.start_part("slurmctld")
        self.wait_answer()

    def start_accounting(self):
        folder = self.path("database")
        os.makedirs(os.path.join(folder, "mysql"))
        with open(next(filter(os.path.exists, DATABASE_TABLES))) as f:
            tables = "use mysql;\n" + f.read()
        subprocess.run(["mariadbd", *DATABASE_OPTIONS, "--bootstrap", "--datadir=" + folder],
                       input=tables, text=True, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        self.start_part("mariadbd")
        self.wait_port(DATABASE)
        self.start_part("slurmdbd")
        self.wait_port(DATABASE_DAEMON)

    def wait_port(self, which):
        def listens():
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port + which), 1).close()
                return True
        wait_for(listens, UP)

    def wait_answer(self):
        """Until the controller answers."""
        wait_for(lambda: self.run("scontrol", "ping", check=False).returncode == 0, UP)

    def wait_idle(self):
        def idle():
            got = self.run("sinfo", "-h", "-N", "-p", "main", "-o", "%N %T", check=False).stdout
            return got.split("\n")[:-1] == [n + " idle" for n in NODES]
        try:
            wait_for(idle, UP)
        except AssertionError:
            raise AssertionError("no three idle nodes:\n" + self.said()) from None

    def said(self):
        """The last lines of each part, for whoever asks why."""
        texts = []
        for name in sorted(os.listdir(self.folder)):
            if name.endswith((".out", ".log")):
                with open(self.path(name), errors="replace") as f:
                    texts.append("== %s\n%s" % (name, "".join(f.readlines()[-15:])))
        return "\n".join(texts)

    # ---- what a person does with it ----

    def run(self, *command, check=True, **options):
        """A client's command; its result has returncode, stdout and stderr."""
        done = subprocess.run(command, env={**os.environ, **self.env()}, capture_output=True,
                              text=True, stdin=options.pop("stdin", subprocess.DEVNULL),
                              **options)
        if check and done.returncode:
            raise AssertionError("%s: %s" % (" ".join(command), done.stderr.strip()))
        return done

    def submit(self, script, *options):
        """A job of this shell script; its number."""
        got = self.run("sbatch", "--parsable", "--output=/dev/null", *options,
                       "--wrap", script).stdout
        return int(got.split(";")[0])

    def jobs(self):
        """All that the controller knows, ended ones too, by their number (12 or 12_3)."""
        keys = ("job", "state", "name", "reason", "node", "partition", "comment")
        rows = self.run("squeue", "-h", "-r", "-t", "all", "-o", "%i|%T|%j|%r|%N|%P|%k").stdout
        found = [dict(zip(keys, row.split("|", len(keys) - 1))) for row in rows.splitlines()]
        return {row["job"]: row for row in found}

    def state(self, job):
        """RUNNING, PENDING, COMPLETED ... or None for one that is not known."""
        return self.jobs().get(str(job), {}).get("state")

    def wait_state(self, job, *states, limit=UP):
        return wait_for(lambda: self.state(job) in states and self.state(job), limit, 0.1)

    def node_of(self, job):
        return self.jobs()[str(job)]["node"]

    def cancel(self, job, *options):
        self.run("scancel", *options, str(job))

    def hold(self, job):
        self.run("scontrol", "hold", str(job))

    def release(self, job):
        self.run("scontrol", "release", str(job))

    def requeue(self, job):
        self.run("scontrol", "requeue", str(job))

    def set_node(self, node, state):
        """drain, down (its jobs have failed at once), resume ..."""
        self.run("scontrol", "update", "nodename=" + node, "state=" + state, "reason=test")

    def drain(self, node):
        self.set_node(node, "drain")

    def resume(self, node):
        self.set_node(node, "resume")

    def set_partition(self, partition, state):
        """up, down, drain or inactive."""
        self.run("scontrol", "update", "partitionname=" + partition, "state=" + state)

    # ---- processes ----

    def step_daemons(self, job):
        """The slurmstepd of each step of a job, also when its slurmd is no more."""
        return [pid for pid in below(self.keeper.pid)
                if command_line(pid).startswith("slurmstepd: [%s." % job)]

    def processes(self, job):
        """The job's own, a parent before its children."""
        return [pid for step in self.step_daemons(job) for pid in below(step)]


# ---- processes, as /proc shows them ----

def command_line(pid):
    try:
        with open("/proc/%d/cmdline" % pid, "rb") as f:
            return f.read().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


def children():
    """Who has which children."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % pid) as f:
                state, parent = f.read().rsplit(")", 1)[1].split()[:2]
        except OSError:
            continue
        if state != "Z":
            found.setdefault(int(parent), []).append(int(pid))
    return found


def below(pid):
    """All that descend from it."""
    tree, found, new = children(), [], [pid]
    while new:
        new = [child for parent in new for child in tree.get(parent, [])]
        found += new
    return found


# ---- the process that keeps a cluster ----

def own_ports():
    """A block of ports that nobody uses, and the socket that marks it as ours."""
    for first in range(FIRST_PORT, LAST_PORT, PORTS):
        mark = socket.socket()
        try:
            mark.bind(("127.0.0.1", first))
            mark.listen(1)  # two may be bound, with SO_REUSEADDR; one listens
            for port in range(first + 1, first + PORTS):
                with socket.socket() as probe:
                    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    probe.bind(("", port))
            return first, mark
        except OSError:
            mark.close()
    raise SystemExit("slurm.py: no free ports from %d to %d" % (FIRST_PORT, LAST_PORT))


def end_children():
    """Processes whose parent ends become ours, so that in the end none is missed."""
    while True:
        for pid in below(os.getpid()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.01)


def keep(folder):
    """Starts what it is told to, a line of JSON each: where its words go, its environment,
    its command. The end of its input is the end of everything."""
    prctl_set_child_subreaper = 36
    if ctypes.CDLL(None, use_errno=True).prctl(prctl_set_child_subreaper, 1, 0, 0, 0):
        raise SystemExit("slurm.py: cannot adopt processes")

    def reap(*_):
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
    first, mark = own_ports()
    signal.signal(signal.SIGCHLD, reap)
    print(first, flush=True)
    try:
        for line in sys.stdin:
            words, env, *command = json.loads(line)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
            print(os.posix_spawnp(
                command[0], command, {**os.environ, **env}, setsid=True, file_actions=[
                    (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                    (os.POSIX_SPAWN_OPEN, 1, words, flags, 0o644),
                    (os.POSIX_SPAWN_DUP2, 1, 2)]), flush=True)
    finally:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        end_children()
        shutil.rmtree(folder, ignore_errors=True)
        mark.close()


def main():
    if sys.argv[1:2] == ["--keep"]:
        return keep(sys.argv[2])
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0][11:])
    parser.add_argument("--accounting", action="store_true", help="with slurmdbd, for sacct")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="default: a shell")
    options = parser.parse_args()
    why = missing(options.accounting)
    if why:
        raise SystemExit("slurm.py: " + why)
    began = time.monotonic()
    with Slurm(options.accounting) as slurm:
        if not options.command:
            print("Three nodes after %.1f s; the cluster ends with this shell.\nexport %s" % (
                time.monotonic() - began, " ".join("%s=%s" % i for i in slurm.env().items())),
                flush=True)
        command = options.command or [os.environ.get("SHELL", "/bin/sh")]
        return subprocess.run(command, env={**os.environ, **slurm.env()}).returncode


if __name__ == "__main__":
    sys.exit(main())
