"""test_screen.py - `watch` and `status` on terminals of any size."""
import fcntl
import os
import pty
import re
import select
import struct
import termios
import time
import unittest

from harness import LIMIT, Case, program, wait_for

TRAINER = """
if request["trial"] >= 6:
    gate("go")
report(a=params["x"], b=1 - params["x"] ** 2)
"""
FRAME = re.compile("study (?!goes)")  # what every picture begins with


class Screen:
    """As much of a terminal as the view needs: what stands where, and what scrolled away."""

    def __init__(self, columns, rows):
        self.columns, self.rows, self.scrolled, self.wrapped = columns, rows, 0, 0
        self.cells = [[] for _ in range(rows)]
        self.x = self.y = 0

    def resize(self, columns, rows):
        """The cursor stays on it; lines above it go where the terminal puts them."""
        out = max(0, self.y - rows + 1)
        self.cells = (self.cells[out:] + [[] for _ in range(rows)])[:rows]
        self.y -= out
        self.columns, self.rows = columns, rows

    def put(self, char):
        if self.x >= self.columns:
            self.wrapped += 1
            return
        row = self.cells[self.y]
        row += " " * (self.x + 1 - len(row))
        row[self.x] = char
        self.x += 1

    def control(self, numbers, what):
        if what == "A":
            self.y = max(0, self.y - int(numbers or 1))
        elif what == "H":
            row, column = (numbers.split(";") + ["1"])[:2] if numbers else ("1", "1")
            self.y, self.x = int(row) - 1, int(column) - 1
        elif what == "K":
            del self.cells[self.y][self.x:]
        elif what == "J":
            del self.cells[self.y][self.x:]
            for row in self.cells[self.y + 1:]:
                row.clear()

    def feed(self, text):
        for numbers, what, char in re.findall("\x1b\\[([0-9;]*)([A-Za-z])|([^\x1b])", text):
            if what:
                self.control(numbers, what)
            elif char == "\r":
                self.x = 0
            elif char == "\n":
                self.scrolled += self.y == self.rows - 1
                if self.y == self.rows - 1:
                    self.cells = self.cells[1:] + [[]]
                self.y = min(self.y + 1, self.rows - 1)
            else:
                self.put(char)

    def lines(self):
        return ["".join(row).rstrip() for row in self.cells]


class Terminal:
    """A command on a terminal of its own."""

    def __init__(self, columns, rows, env, *arguments):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.environ.clear()
            os.environ.update(env, TERM="xterm")
            os.execv(program("dparetoctl"), ["dparetoctl", *arguments])
        self.screen, self.frames, self.rest = Screen(columns, rows), 0, b""

    def resize(self, columns, rows):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen.resize(columns, rows)

    def read(self):
        """False at the end."""
        if not select.select([self.fd], [], [], 0.1)[0]:
            return True
        try:
            more = os.read(self.fd, 65536)
        except OSError:
            more = b""
        self.rest += more
        # a character or a control sequence may have been cut in two
        keep = len(self.rest) if more == b"" or self.rest.endswith((b"\n", b"\x1b[J")) or \
            self.screen.rows == 1 else self.rest.rfind(b"\n") + 1
        text, self.rest = self.rest[:keep].decode(errors="replace"), self.rest[keep:]
        self.frames += len(FRAME.findall(text))
        self.screen.feed(text)
        return more != b""

    def see(self, frames):
        """Waits for so many more pictures."""
        until, end = self.frames + frames, time.monotonic() + LIMIT
        while self.frames < until and self.read():
            if time.monotonic() > end:
                raise AssertionError("no picture came")
        return self.screen.lines()

    def end(self, keys=b""):
        os.write(self.fd, keys)
        while self.read():
            pass
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


class Screens(Case):
    def setUp(self):
        super().setUp()
        self.trainer(TRAINER)
        self.d = self.daemon("--slots", "3").start()
        self.client = self.d.connect()
        self.submit(self.client, self.study(name="watched",
                                            search="method: random, evaluations: 40, parallel: 3"))
        wait_for(lambda: len(self.client("status", study="watched")["running"]) == 3 and
                 self.client("status", study="watched")["study"]["ended"] == 6)

    def tearDown(self):
        self.touch("go")
        self.tidy()

    def open(self, columns, rows, *arguments, **env):
        known = {k: v for k, v in os.environ.items()
                 if k not in ("LC_ALL", "LANG", "LC_CTYPE", "COLUMNS", "LINES", "NO_COLOR")}
        return Terminal(columns, rows, {**known, **env}, "--socket", self.d.socket, *arguments)

    def check(self, lines, terminal):
        text = "\n".join(lines)
        self.assertEqual((terminal.screen.scrolled, terminal.screen.wrapped), (0, 0), text)
        for k, what in enumerate(("watched", "running", "6 of 40", "hypervolume")):
            if k < terminal.screen.rows - 1:
                self.assertIn(what, lines[k + (what == "hypervolume" and
                                               lines[3].startswith("trials"))], text)

    def test_any_size(self):
        """Nothing scrolls away, no line is too long, and what matters most is there."""
        utf8, plain = {"LC_ALL": "C.UTF-8"}, {"LC_ALL": "C", "NO_COLOR": "1"}
        for columns, rows, locales in ((60, 15, (utf8, plain)), (80, 24, (utf8,)),
                                       (200, 60, (utf8, plain)), (20, 5, (plain,)),
                                       (24, 3, (utf8,)), (30, 1, (utf8,))):
            for env in locales:
                with self.subTest(size=(columns, rows), env=env):
                    t = self.open(columns, rows, "watch", "watched", **env)
                    lines = t.see(2)
                    self.check(lines, t)
                    text = "\n".join(lines)
                    self.assertEqual("\n  trial " in text, rows > 9, text)
                    # the front is drawn where there is room: in braille, or plain
                    self.assertEqual("latest" in text, rows > 20, text)
                    self.assertEqual("└──" in text or "+--" in text, rows == 60, text)
                    if rows == 60:
                        self.assertEqual(bool(re.search("[\u2801-\u28ff]", text)),
                                         env["LC_ALL"] != "C", text)
                        self.assertEqual(text.isascii(), env["LC_ALL"] == "C")
                    self.assertEqual(t.end(b"q"), 0)
                    if rows > 1:  # what was last seen is still there
                        self.assertEqual(t.screen.scrolled, 0)
                        self.assertIn("watched", t.screen.lines()[0])

    def test_the_size_changes(self):
        t = self.open(100, 40, "watch", "watched", LC_ALL="C.UTF-8")
        self.check(t.see(2), t)
        for columns, rows in ((60, 15), (20, 5), (120, 50)):
            t.resize(columns, rows)
            t.see(1)  # may have been drawn before
            t.screen.scrolled = t.screen.wrapped = 0
            self.check(t.see(2), t)
        self.assertEqual(t.end(b"\x03"), 130)
        self.assertEqual(t.screen.scrolled, 0)
        lines = t.screen.lines()
        self.assertIn("watched", lines[0])
        self.assertTrue(any("no longer watching" in line for line in lines), lines)

    def test_status(self):
        """It says everything, in lines that are no wider than the terminal."""
        for columns in (80, 50, 24):
            t = self.open(columns, 24, "status", "watched", LC_ALL="C.UTF-8")
            self.assertEqual(t.end(), 0)
            self.assertEqual(t.screen.wrapped, 0)
        t = self.open(80, 60, "status", "watched", LC_ALL="C.UTF-8")
        self.assertEqual(t.end(), 0)
        folder = os.path.join(self.d.state, "studies", "watched")
        self.assertIn(folder, "".join(line.strip() for line in t.screen.lines()))


if __name__ == "__main__":
    unittest.main()
