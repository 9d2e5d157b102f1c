"""machine.py - a small Debian with systemd as its first process, in a container.

debootstrap makes it once, from the mirror that apt uses on this machine; a copy gets the
project by `make install DESTDIR=` and is booted by systemd-nspawn. Commands inside are run
through its namespaces, so it needs neither network nor machinectl."""
import os
import shutil
import signal
import subprocess
import time

PROGRAMS = ("dparetod", "dparetoctl", "dpareto-report", "dpareto-serve", "dpareto-train")
# What a machine of a lab has, beside the libraries that the programs ask for.
PACKAGES = ("systemd-sysv", "dbus", "dbus-user-session", "libpam-systemd", "procps",
            "fonts-dejavu-core")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
LIMIT = 120.0  # seconds a wait may take: only a proof that fails waits so long


class Failed(Exception):
    """What was to be proven is not so; the text says why."""


def wait_for(what, why, limit=LIMIT):
    """Polls what() until it is true; returns its value."""
    end = time.monotonic() + limit
    while True:
        value = what()
        if value:
            return value
        if time.monotonic() > end:
            raise Failed("waited %g s in vain until %s" % (limit, why))
        time.sleep(0.05)


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


# ---- what is booted ----

def owner(library):
    """The package that a library came from."""
    path = os.path.realpath(library)
    for name in (path, path.removeprefix("/usr")):
        found = subprocess.run(["dpkg-query", "-S", name], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)
        if found.returncode == 0:
            return found.stdout.split(":")[0]
    raise SystemExit("run: no package has %s: build with Debian's libraries" % path)


def packages(build):
    lines = output("ldd", *(os.path.join(build, p) for p in PROGRAMS)).split("\n")
    libraries = {line.split()[2] for line in lines if "=> /" in line}
    return sorted(set(PACKAGES) | {owner(library) for library in libraries})


def mirror():
    """Where this machine has its packages from, and the name of its release."""
    form = "$(REPO_URI) $(CODENAME)"
    return output("apt-get", "indextargets", "--format", form,
                  "Created-By: Packages").split("\n")[0].split()


def base(cache, build, log):
    """The folder of an installed system without the project; made if it is not there."""
    folder, wanted = os.path.join(cache, "rootfs"), " ".join(packages(build))
    stamp = os.path.join(cache, "packages")
    if os.path.exists(stamp) and open(stamp).read() == wanted:
        return folder
    where, release = mirror()
    if os.path.exists(stamp):
        os.unlink(stamp)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(cache, exist_ok=True)
    print("making a Debian %s in %s, once; this takes a few minutes" % (release, folder),
          flush=True)
    subprocess.run(["debootstrap", "--variant=minbase",
                    "--include=" + wanted.replace(" ", ","), release, folder, where],
                   check=True, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    with open(stamp, "w") as f:
        f.write(wanted)
    return folder


# ---- control groups of the container ----

def hierarchies():
    """The mounted control group trees that systemd-nspawn puts processes into."""
    with open("/proc/self/mounts") as f:
        mounts = [line.split() for line in f]
    return [m[1] for m in mounts
            if m[2] == "cgroup2" or (m[2] == "cgroup" and "name=systemd" in m[3])]


class Groups:
    """A control group for the container where no systemd of this machine gives it one."""

    def __init__(self):
        self.needed = not os.path.isdir("/run/systemd/system")
        name = "dpareto-test-%d" % os.getpid()
        self.folders = [os.path.join(h, name) for h in hierarchies()] if self.needed else []

    def enter(self):
        """In the child, before it becomes systemd-nspawn."""
        for folder in self.folders:
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(folder, "cgroup.procs"), "w") as f:
                f.write("0")

    def remove(self):
        for top in self.folders:
            for folder, _, _ in os.walk(top, topdown=False):
                os.rmdir(folder)


# ---- the machine ----

class Machine:
    def __init__(self, folder, log):
        self.folder, self.log = folder, log
        self.nspawn = self.first = None
        self.groups = Groups()

    def path(self, path):
        return self.folder + path

    def write(self, path, text, mode=0o644):
        os.makedirs(os.path.dirname(self.path(path)), exist_ok=True)
        with open(self.path(path), "w") as f:
            f.write(text)
        os.chmod(self.path(path), mode)

    def boot(self):
        keep = ["--keep-unit"] if self.groups.needed else []
        env = dict(os.environ, SYSTEMD_NSPAWN_UNIFIED_HIERARCHY="1")
        self.nspawn = subprocess.Popen(
            ["systemd-nspawn", "--quiet", "--boot", "--directory=" + self.folder,
             "--register=no", "--private-network", "--console=pipe", "--link-journal=no",
             "--timezone=off", "--resolv-conf=off", *keep],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, env=env,
            preexec_fn=self.groups.enter)
        self.first = wait_for(self.find_first, "the container has a first process")
        wait_for(lambda: self.run("systemctl", "is-system-running", check=False).strip()
                 in ("running", "degraded"), "the container has booted")

    def find_first(self):
        if self.nspawn.poll() is not None:
            raise Failed("systemd-nspawn has ended with %d; see the log" % self.nspawn.poll())
        found = subprocess.run(["pgrep", "-P", str(self.nspawn.pid)], text=True,
                               stdout=subprocess.PIPE).stdout.split()
        return found and int(found[0])

    def command(self, words, user, env):
        as_user = []
        if user:
            as_user = ["setpriv", "--reuid", user, "--regid", user, "--init-groups"]
        names = ["%s=%s" % pair for pair in {"PATH": PATH, "LANG": "C.UTF-8", **env}.items()]
        return ["nsenter", "--target", str(self.first), "--all", "--",
                "env", "-i", "--chdir=/", *names, *as_user, *words]

    def start(self, *words, user=None, **env):
        """A command inside that goes on."""
        return subprocess.Popen(self.command(words, user, env), text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT)

    def run(self, *words, user=None, check=True, limit=LIMIT, **env):
        """A command inside; its output. With check it must succeed."""
        p = subprocess.run(self.command(words, user, env), text=True, timeout=limit,
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE)
        self.log.write(("$ %s\n%s%s-> %d\n" % (" ".join(words), p.stdout, p.stderr,
                                               p.returncode)).encode())
        self.log.flush()
        if check and p.returncode != 0:
            raise Failed("%s: exit code %d: %s" % (" ".join(words[:4]), p.returncode,
                                                   (p.stderr or p.stdout).strip()[-300:]))
        return p.stdout

    def code(self, *words, user=None, **env):
        """A command inside; its exit code."""
        return subprocess.run(self.command(words, user, env), timeout=LIMIT,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode

    def power_off(self):
        """An orderly shutdown."""
        self.run("systemctl", "poweroff")
        wait_for(lambda: self.nspawn.poll() is not None, "the container is off")
        self.nspawn = None

    def cut_power(self):
        """Everything inside is gone at once."""
        os.kill(self.first, signal.SIGKILL)
        wait_for(lambda: self.nspawn.poll() is not None, "the container is off")
        self.nspawn = None

    def end(self):
        if self.nspawn and self.nspawn.poll() is None:
            if self.first:
                os.kill(self.first, signal.SIGKILL)
            else:
                self.nspawn.kill()
            self.nspawn.wait(LIMIT)
        self.groups.remove()
