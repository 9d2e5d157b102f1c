"""test_special_files.py - a FIFO, a socket, a device or a directory where a file is expected:
each program says so and ends; none waits. And a daemon that hangs in its start obeys TERM."""
import json
import os
import signal
import socket
import subprocess
import unittest

from harness import BIN, Case, program, wait_for

# Seconds for what must not wait for a writer; before, it waited for ever.
SOON = 20
KINDS = {"fifo": "a FIFO", "socket": "a socket", "device": "a character device",
         "folder": "a directory"}


class Special(Case):
    def setUp(self):
        super().setUp()
        self.trainer("report(a=1, b=1)")
        self.yaml = self.write("s.yaml", self.study())

    def tearDown(self):
        self.tidy()

    def special(self, kind, name):
        """Puts a file of that kind there."""
        path = self.path(name)
        if kind == "fifo":
            os.mkfifo(path)
        elif kind == "socket":
            s = socket.socket(socket.AF_UNIX)
            self.addCleanup(s.close)
            s.bind(path)
        elif kind == "device":
            os.symlink("/dev/zero", path)  # links are followed
        else:
            os.mkdir(path)
        return path

    def run_soon(self, *command, **options):
        return subprocess.run(command, capture_output=True, text=True, timeout=SOON,
                              stdin=subprocess.DEVNULL, **options)

    def refused(self, kind, path, *command):
        """The command names the kind of file in its error and ends with 1."""
        done = self.run_soon(program("dparetoctl"), *command, "-o", "json")
        error = json.loads(done.stdout)["error"]
        self.assertEqual((done.returncode, error["kind"]), (1, "invalid"), done)
        self.assertIn("%s is %s, not a regular file" % (path, KINDS[kind]), error["message"])
        return error

    def make_journal(self):
        """A state folder with a journal; the paths of both."""
        d = self.daemon().start()
        d.connect().close()
        self.assertEqual(d.end(), 0)
        return d.state, os.path.join(d.state, "journal/data.mdb")


class Tools(Special):
    def test_study_files(self):
        socket_path = self.path("none")
        for kind in KINDS:
            path = self.special(kind, "study-" + kind)
            self.refused(kind, path, "validate", path)
            self.refused(kind, path, "submit", path, "--socket", socket_path)
            self.refused(kind, path, "run", path, "--state", self.path("run"))
            self.refused(kind, path, "epsilon", "--compose", path)

    def test_log_of_run(self):
        os.mkdir(self.path("run"), 0o700)
        self.special("fifo", "run/dparetod.log")
        done = self.run_soon(program("dparetoctl"), "run", self.yaml, "--state", self.path("run"))
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("run/dparetod.log is a FIFO that no process reads", done.stderr)

    def test_study_from_a_pipe(self):
        """Process substitution and standard input are pipes that have a writer."""
        for command in ("'%s' validate <(cat '%s')", "cat '%s' | '%s' validate /dev/stdin",
                        "'%s' validate /dev/fd/7 7< '%s'"):
            names = (program("dparetoctl"), self.yaml)
            names = names[::-1] if command.startswith("cat") else names
            done = self.run_soon("bash", "-c", command % names)
            self.assertEqual(done.returncode, 0, done)
        fifo = self.special("fifo", "not-a-descriptor")
        for start in "/dev/fd/", "/proc/self/fd/":
            path = start + "../" * 10 + fifo
            self.refused("fifo", path, "validate", path)
        done = self.run_soon("bash", "-c", "'%s' validate <(yes)" % program("dparetoctl"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("is larger than", done.stderr)

    def test_backups(self):
        state, data = self.make_journal()
        for kind in ("fifo", "socket", "device"):  # a directory is a journal's
            path = self.special(kind, "backup-" + kind)
            self.refused(kind, path, "journal", "verify", path)
            self.refused(kind, path, "journal", "restore", path, "--state", state)
        self.assertEqual(self.ctl("journal", "verify", "--state", state).returncode, 0)

    def test_restore_over_a_special_file(self):
        """A data.mdb.new that is not a regular file is neither opened nor removed."""
        state, data = self.make_journal()
        backup, new = self.path("backup.mdb"), data + ".new"
        done = self.ctl("journal", "backup", backup, "--state", state)
        self.assertEqual(done.returncode, 0, done)
        for kind in "fifo", "socket", "folder":
            self.special(kind, new)
            for command in ("restore", backup), ("compact",):
                self.refused(kind, new, "journal", *command, "--state", state)
            self.assertTrue(os.path.lexists(new))
            os.rename(new, self.path("was-" + kind))
        os.symlink(self.write("precious", "precious"), new)
        done = self.run_soon(program("dparetoctl"), "journal", "restore", backup, "--state", state)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn(new + " is a symbolic link, not a regular file", done.stderr)
        with open(self.path("precious")) as f:
            self.assertEqual(f.read(), "precious")
        os.remove(new)
        done = self.ctl("journal", "restore", backup, "--state", state)
        self.assertEqual(done.returncode, 0, done)

    def test_backup_over_a_special_file(self):
        state, data = self.make_journal()
        for kind in KINDS:
            path = self.special(kind, "target-" + kind)
            before = os.lstat(path)
            done = self.run_soon(program("dparetoctl"), "journal", "backup", path, "--force",
                                 "--state", state)
            self.assertEqual(done.returncode, 1, done)
            found = "a symbolic link" if kind == "device" else KINDS[kind]
            self.assertIn("%s is %s, not a regular file" % (path, found), done.stderr)
            after = os.lstat(path)
            self.assertEqual((before.st_ino, before.st_mode), (after.st_ino, after.st_mode))
        path = self.write("old", "old")
        done = self.ctl("journal", "backup", path, "--force", "--state", state)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(self.ctl("journal", "verify", path).returncode, 0)

    def test_verify_names_the_lock_file(self):
        state, data = self.make_journal()
        lock = os.path.join(state, "journal/lock.mdb")
        os.remove(lock)
        for kind in "fifo", "socket", "folder":
            self.special(kind, lock)
            self.refused(kind, lock, "journal", "verify", "--state", state)
            os.rename(lock, self.path("lock-" + kind))
        self.assertEqual(self.ctl("journal", "verify", "--state", state).returncode, 0)

    def test_journals(self):
        state, data = self.make_journal()
        for kind in KINDS:
            os.rename(data, data + ".good")
            self.special(kind, data)
            for action in "verify", "dump", "repair", "compact":
                self.refused(kind, data, "journal", action, "--state", state)
            self.refused(kind, data, "list", "--state", state)
            os.rename(data, data + "." + kind)
            os.rename(data + ".good", data)
        self.assertEqual(self.ctl("journal", "verify", "--state", state).returncode, 0)
        os.remove(os.path.join(state, "journal/writer.lock"))  # readers look at it
        os.mkfifo(os.path.join(state, "journal/writer.lock"))
        done = self.run_soon(program("dparetoctl"), "list", "--state", state)
        self.assertEqual(done.returncode, 0, done)


class Daemons(Special):
    def ends(self, d, words):
        """It ends by itself, with 1 and this sentence."""
        self.assertEqual(d.process.wait(SOON), 1)
        code, said = d.ends()
        self.assertIn(words, said)

    def log(self, d):
        with open(d.log) as f:
            return f.read()

    def test_journal(self):
        state, data = self.make_journal()
        os.rename(data, data + ".good")
        for kind in KINDS:
            self.special(kind, data)
            d = self.daemon().start()
            self.ends(d, "%s is %s, not a regular file" % (data, KINDS[kind]))
            os.rename(data, data + "." + kind)
        os.rename(data + ".good", data)
        lock = os.path.join(state, "journal/lock.mdb")
        os.remove(lock)
        os.mkfifo(lock)
        self.ends(self.daemon().start(), lock + " is a FIFO, not a regular file")

    def test_configuration(self):
        for kind in KINDS:
            path = self.special(kind, "conf-" + kind)
            d = self.daemon("--config", path).start()
            self.ends(d, "%s is %s, not a regular file" % (path, KINDS[kind]))

    def test_empty_configuration(self):
        d = self.daemon("--config", "/dev/null").start()
        d.connect().close()
        self.assertEqual(d.end(), 0)

    def test_reload(self):
        """A file that has become a FIFO leaves the old configuration, and TERM is obeyed."""
        conf = self.write("conf", "slots: 3\n")
        d = self.daemon("--config", conf).start()
        client = d.connect()
        os.remove(conf)
        os.mkfifo(conf)
        d.process.send_signal(signal.SIGHUP)
        wait_for(lambda: "conf is a FIFO, not a regular file" in self.log(d), SOON)
        self.assertEqual(client("status")["daemon"]["slots"], 3)
        client.close()
        self.assertEqual(d.end(), 0)

    def test_log(self):
        os.mkfifo(self.path("log"))  # the harness names it
        d = self.daemon().start()
        self.ends(d, "log is a FIFO that no process reads")

    def test_term_while_it_starts(self):
        """The disk hangs while the journal is opened: TERM ends the daemon all the same."""
        self.touch("hangs")
        library = os.path.join(BIN, "tests/e2e/hanging_disk.so")
        d = self.daemon(env={
            "LD_PRELOAD": library, "HANGING_DISK": self.path("hangs"),
            "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0",
        }).start()
        wait_for(lambda: self.has("state/journal/data.mdb"))
        d.process.send_signal(signal.SIGTERM)
        self.assertIn(d.process.wait(SOON), (0, -signal.SIGTERM))
        d.ends()
        os.remove(self.path("hangs"))
        d.start().connect().close()  # nothing is wrong afterwards


if __name__ == "__main__":
    unittest.main()
