"""test_silence.py - a disk that hangs: who only looks is answered at once and told so, what
changes something waits, and everything is right afterwards."""
import json
import os
import socket
import subprocess
import threading
import time

from harness import BIN, Case, LIMIT, program, wait_for

# Seconds for an answer that must not wait for the disk: half a second, and what a machine
# under load adds. The disk itself hangs for as long as a test wants.
SOON = 5


class HangingDisk(Case):
    def setUp(self):
        super().setUp()
        self.notified = []  # what the service manager hears
        ear = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        ear.bind(self.path("notify"))
        listener = threading.Thread(target=self.listen, args=(ear,), daemon=True)
        listener.start()
        self.addCleanup(ear.close)
        self.addCleanup(listener.join)
        self.addCleanup(ear.shutdown, socket.SHUT_RDWR)
        self.trainer("gate('go%d' % request['trial'])\nreport(a=1, b=1)")
        self.d = self.daemon("--slots", "1", env={
            "LD_PRELOAD": os.path.join(BIN, "tests/e2e/hanging_disk.so"),
            "HANGING_DISK": self.path("hangs"), "NOTIFY_SOCKET": self.path("notify"),
            "WATCHDOG_USEC": "200000",
            "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0",
        }).start()
        self.client = self.d.connect()
        self.submit(self.client, self.study(search="method: random, evaluations: 3"))
        wait_for(lambda: self.has("at-go0"))

    def listen(self, ear):
        while message := ear.recv(1000):
            self.notified.append(message)

    def tearDown(self):
        if self.has("hangs"):
            os.remove(self.path("hangs"))
        self.tidy()

    def send(self, client, verb, **fields):
        client.file.write(json.dumps({"v": 1, "do": verb, **fields}).encode() + b"\n")
        client.file.flush()

    def soon(self, verb, **fields):
        """The whole reply, which must come soon."""
        began = time.monotonic()
        reply = self.client.raw(json.dumps({"v": 1, "do": verb, **fields}).encode() + b"\n")
        self.assertLess(time.monotonic() - began, SOON)
        return reply

    def hang(self):
        """From now on the disk hangs, and the end of trial 0 is on its way to it."""
        self.touch("hangs")
        self.touch("go0")
        return wait_for(lambda: self.soon("hello")["ok"]["trouble"])

    def test_who_looks_is_answered_and_told(self):
        self.assertIsNone(self.soon("hello")["ok"]["trouble"])
        self.assertIn("the journal has not answered for", self.hang())
        for verb, fields in (("hello", {}), ("list", {}), ("status", {}),
                             ("status", {"study": "s"}), ("front", {"study": "s"}),
                             ("trials", {"study": "s"}), ("trial", {"study": "s", "trial": 0})):
            reply = self.soon(verb, **fields)
            with self.subTest(verb):
                self.assertIn("ok", reply)
                self.assertGreater(reply["unsaved"], 0.4)
        self.assertIn("the journal has not answered for",
                      self.soon("status", study="s")["ok"]["study"]["waiting"])
        # the next trial is not started: its plan is not on the disk
        self.assertFalse(self.has("at-go1"))
        # people are told, too
        for command in (["list"], ["status", "s"], ["trials", "s"], ["trial", "s", "0"],
                        ["front", "s"], ["export", "s"]):
            p = self.ctl("--socket", self.d.socket, *command)
            self.assertEqual(p.stderr.count("may not be on the disk yet"), 1, command)
        p = self.ctl("--socket", self.d.socket, "status", "-o", "json")
        told = json.loads(p.stdout)
        self.assertGreater(told["daemon"]["journal"]["silent"], 0.4)
        self.assertGreater(told["unsaved"], 0.4)
        # the watchdog goes on
        del self.notified[:]
        wait_for(lambda: b"WATCHDOG=1" in self.notified)
        os.remove(self.path("hangs"))
        wait_for(lambda: self.soon("hello")["ok"]["trouble"] is None)
        commits = self.soon("hello")["ok"]["journal"]["commits"]
        self.assertGreater(commits["p99"], 0.4)  # of fewer than a hundred it is the longest
        self.assertGreaterEqual(commits["seconds"], commits["p99"])
        self.assertLessEqual(commits["median"], commits["p90"])
        self.assertNotIn("unsaved", wait_for(
            lambda: not (r := self.soon("list")).get("unsaved") and r))
        self.touch("go1")
        self.touch("go2")
        self.assertEqual(self.finish(self.client, "s")["study"]["ok"], 3)
        self.assertEqual((self.d.end(), self.d.said), (0, ""))
        self.client = self.d.start().connect()
        self.assertEqual(self.client("status", study="s")["study"]["ok"], 3)

    def test_what_changes_something_waits_for_the_disk(self):
        self.hang()
        text = self.study("t", search="method: random, evaluations: 1")
        same = dict(text=text, path=self.path("t.yaml"), dir=self.folder)
        first, again, changer = (self.d.connect() for _ in range(3))
        self.send(first, "submit", **same)
        wait_for(lambda: len(self.soon("list")["ok"]["studies"]) == 2)
        self.send(again, "submit", **same)  # changes nothing, but confirms what waits
        self.send(changer, "set", study="s", priority=3)
        wait_for(lambda: self.soon("status", study="s")["ok"]["study"]["priority"] == 3)
        for waits in (first, again, changer):
            waits.socket.settimeout(0.1)
            with self.assertRaises(TimeoutError):
                waits.socket.recv(1)
            waits.socket.settimeout(LIMIT)
        os.remove(self.path("hangs"))
        got = [w.socket.recv(1 << 16) for w in (first, again, changer)]
        self.assertIn(b'"new":true', got[0])
        self.assertIn(b'"new":false', got[1])
        for reply in got:
            self.assertNotIn(b"unsaved", reply)
        self.client("delete", study="t", now=True)
        for n in range(1, 3):
            self.touch("go%d" % n)
        self.finish(self.client, "s")

    def test_no_wait_ends_with_what_is_not_on_the_disk(self):
        self.client("set", study="s", evaluations=1)
        self.hang()
        wait_for(lambda: self.soon("status", study="s")["ok"]["study"]["state"] == "finished")
        poll = self.d.connect()
        self.send(poll, "changes", study="s", since=0, timeout_ms=600000)
        waiter = subprocess.Popen([program("dparetoctl"), "--socket", self.d.socket, "wait", "s"])
        # both have asked by the time that others were answered twice
        wait_for(lambda: self.soon("hello")["ok"]["clients"] == 3)
        for _ in range(2):
            self.soon("status", study="s")
        poll.socket.settimeout(0.1)
        with self.assertRaises(TimeoutError):
            poll.socket.recv(1)
        self.assertIsNone(waiter.poll())
        os.remove(self.path("hangs"))
        self.assertEqual(waiter.wait(LIMIT), 0)
        poll.socket.settimeout(LIMIT)
        reply = json.loads(poll.file.readline())
        self.assertEqual(reply["ok"]["study"]["state"], "finished")
        self.assertNotIn("unsaved", reply)

    def test_nobody_hears_of_a_change_before_it_is_on_the_disk(self):
        known = self.client("changes")["revision"]
        self.hang()
        poll = self.d.connect()
        self.send(poll, "changes", since=known, timeout_ms=600000)
        wait_for(lambda: self.soon("hello")["ok"]["clients"] == 2)
        for _ in range(2):
            self.soon("status", study="s")
        poll.socket.settimeout(0.1)
        with self.assertRaises(TimeoutError):
            poll.socket.recv(1)
        marked = self.soon("changes", since=known, timeout_ms=1)  # its time is over
        self.assertGreater(marked["unsaved"], 0.4)
        os.remove(self.path("hangs"))
        poll.socket.settimeout(LIMIT)
        reply = json.loads(poll.file.readline())
        self.assertEqual([x["study"] for x in reply["ok"]["studies"]], ["s"])
        self.assertNotIn("unsaved", reply)
        for n in range(1, 3):
            self.touch("go%d" % n)
        self.finish(self.client, "s")
