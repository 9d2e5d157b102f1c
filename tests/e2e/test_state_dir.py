"""test_state_dir.py - a state directory that other users may write to, or own, is refused: they
could have the daemon run any program. Where only a group may, the log has a warning."""
import os
import threading
import unittest

from harness import Case

AS_ROOT = unittest.skipUnless(os.geteuid() == 0, "needs root to give files away")


class StateDir(Case):
    def setUp(self):
        super().setUp()
        d = self.daemon().start()
        d.connect().close()
        self.assertEqual(d.end(), 0)
        self.state = d.state
        os.makedirs(os.path.join(d.state, "studies"), 0o750, exist_ok=True)

    def tearDown(self):
        self.tidy()

    def below(self, name):
        return os.path.join(self.state, name) if name else self.state

    def refused(self, *words):
        d = self.daemon().start()
        self.assertEqual(d.process.wait(60), 4)
        code, said = d.ends()
        for word in words:
            self.assertIn(word, said)

    def warned(self):
        """It starts; the lines of its log that name a mode."""
        d = self.daemon()
        with open(d.log, "w"):
            pass  # only of this start
        d.start().connect().close()
        self.assertEqual(d.end(), 0)
        with open(d.log) as f:
            return [line for line in f if "(mode " in line]

    def test_writable_for_all(self):
        for name in "", "journal", "studies":
            path = self.below(name)
            mode = os.stat(path).st_mode & 0o777
            os.chmod(path, 0o777)
            self.refused("every user may write to %s (mode 0777)" % path,
                         "hint: look at what is in it, then 'chmod o-w %s'" % path)
            os.chmod(path, mode)
        self.assertEqual(self.warned(), [])

    def test_run_and_reading(self):
        """A daemon of `run` refuses, too; who only reads is answered."""
        os.chmod(self.state, 0o777)
        self.trainer("report(a=1, b=1)")
        study = self.write("s.yaml", self.study(search="method: random, evaluations: 1"))
        done = self.ctl("run", study, "--state", self.state)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("every user may write to " + self.state, done.stderr)
        self.assertEqual(self.ctl("list", "--state", self.state).returncode, 0)

    def test_group_and_sticky(self):
        os.chmod(self.state, 0o770)
        self.assertIn("members of group %d may write to %s (mode 0770)" %
                      (os.stat(self.state).st_gid, self.state), self.warned()[0])
        os.chmod(self.state, 0o1777)
        self.assertIn("every user may create files in %s (mode 1777)" % self.state,
                      self.warned()[0])
        os.chmod(self.state, 0o755)
        self.assertEqual(self.warned(), [])

    @AS_ROOT
    def test_of_another_user(self):
        for name in "", "journal", "studies":
            path = self.below(name)
            os.chown(path, 65534, -1)
            self.refused(path + " belongs to ", "(65534), but the daemon runs as root (0)",
                         "start the daemon as that user")
            os.chown(path, 0, -1)
        self.assertEqual(self.warned(), [])

    @AS_ROOT
    def test_link_of_another_user(self):
        """In a directory that others may write to: as the state directory, and above it."""
        shared, real = self.path("shared"), self.state + ".real"
        os.mkdir(shared)
        os.chmod(shared, 0o1777)
        os.rename(self.state, real)
        link = os.path.join(shared, "link")
        for target, state in (real, link), (self.folder, link + "/" + os.path.basename(real)):
            os.symlink(target, link)
            os.symlink(state, self.state)
            os.chown(link, 65534, -1, follow_symlinks=False)
            self.refused("the symbolic link %s belongs to " % link, "--state")
            os.chown(link, 0, -1, follow_symlinks=False)
            self.assertEqual(self.warned(), [])
            os.remove(link)
            os.remove(self.state)

    @AS_ROOT
    def test_link_of_another_user_inside(self):
        """In a state directory with the sticky bit."""
        os.chmod(self.state, 0o1777)
        for name in "journal", "studies":
            path = self.below(name)
            os.rename(path, path + ".real")
            os.symlink(path + ".real", path)
            self.assertEqual(len(self.warned()), 1)
            os.chown(path, 65534, -1, follow_symlinks=False)
            self.refused("the symbolic link %s belongs to " % path)
            os.remove(path)
            os.rename(path + ".real", path)

    @AS_ROOT
    def test_link_that_is_replaced(self):
        """Root's link and another user's take turns while daemons start: each either refuses or
        uses root's directory."""
        shared, other = self.path("shared"), self.path("other")
        os.mkdir(shared)
        os.chmod(shared, 0o1777)
        os.mkdir(other, 0o700)
        link, done = os.path.join(shared, "link"), threading.Event()

        def replace():
            while not done.is_set():
                for target, user in (self.state, 0), (other, 65534):
                    os.symlink(target, link + ".new")
                    os.chown(link + ".new", user, -1, follow_symlinks=False)
                    os.rename(link + ".new", link)

        os.symlink(self.state, link)
        thread = threading.Thread(target=replace)
        thread.start()
        try:
            for _ in range(40):
                d = self.daemon()
                d.state = link
                d.socket = self.path("s" * 108)  # too long: it ends after it opened the journal
                self.assertIn(d.start().ends()[0], (1, 4), d.said)
                self.assertEqual(os.listdir(other), [])
        finally:
            done.set()
            thread.join()


if __name__ == "__main__":
    unittest.main()
