"""test_disk.py - full disks, the watermark, and damaged journals: the daemon says what is
wrong, loses nothing, and never crashes."""
import errno
import json
import os
import random
import signal
import subprocess
import unittest

from harness import Case, wait_for

SHELL = "#!/bin/sh\necho '{\"run\":0,\"metrics\":{\"a\":1,\"b\":1}}' >> \"$DPARETO_RESULT\"\n"


class DiskCase(Case):
    def tearDown(self):
        self.tidy()

    def begin(self, *options):
        self.d = self.daemon(*options).start()
        self.client = self.d.connect()

    def add(self, name="s", evaluations=3, **study):
        return self.submit(self.client, self.study(
            name, search="method: random, evaluations: %d" % evaluations, **study))

    def summary(self, name="s", client=None):
        return (client or self.client)("status", study=name)["study"]


class SmallDisk(DiskCase):
    """The state folder is a small file system of its own."""
    OPTIONS = "size=12m"

    def setUp(self):
        super().setUp()
        os.mkdir(self.path("state"))
        p = subprocess.run(["mount", "-t", "tmpfs", "-o", self.OPTIONS, "tmpfs",
                            self.path("state")], capture_output=True, text=True)
        if p.returncode:
            self.skipTest("cannot mount a file system here: " + p.stderr.strip())
        # cleanups run last first: unmounted after the daemons have ended
        self.daemons_end_first(subprocess.run, ["umount", "-l", self.path("state")])

    def daemons_end_first(self, *cleanup):
        self.addCleanup(*cleanup)
        self.addCleanup(self.end_all)


class FullDisk(SmallDisk):
    def fill(self):
        with open(self.path("state/ballast"), "wb", buffering=0) as f:
            try:
                while True:
                    f.write(b"x" * 4096)
            except OSError as e:
                self.assertEqual(e.errno, errno.ENOSPC)

    def free(self):
        os.remove(self.path("state/ballast"))

    def submit_large(self, client):
        """Asks for a study that needs new pages in the journal; reads no answer."""
        text = self.study("late", search="method: random, evaluations: 3")
        request = {"v": 1, "do": "submit", "dir": self.folder, "path": "x",
                   "text": text + "# " + "x" * 300000 + "\n"}
        client.file.write(json.dumps(request).encode() + b"\n")
        client.file.flush()

    def in_trouble(self, client):
        return wait_for(lambda: client("hello")["trouble"])

    def test_the_journal_waits_for_space(self):
        self.write("trainer", SHELL, 0o755)
        self.begin("--disk-watermark", "0")
        self.add("before")
        self.finish(self.client, "before")
        self.fill()
        asker, looker = self.d.connect(), self.client
        self.submit_large(asker)
        self.assertIn("full", self.in_trouble(looker))
        # it still answers who only looks, and says why nothing goes on
        self.assertEqual(self.summary("before", looker)["ok"], 3)
        self.assertIn("the journal cannot be written", self.summary("late", looker)["waiting"])
        self.assertIsNone(self.d.process.poll())
        asker.socket.settimeout(0.2)
        with self.assertRaises(TimeoutError):  # nothing is promised that is not on the disk
            asker.socket.recv(1)
        self.free()
        asker.socket.settimeout(20)
        reply = asker.socket.recv(1 << 16)
        self.assertIn(b'"new":true', reply)
        self.assertEqual(self.finish(looker, "late")["study"]["ok"], 3)
        self.assertIsNone(looker("hello")["trouble"])
        self.assertIn("can be written again", open(self.d.log).read())
        self.assertEqual((self.d.end(), self.d.said), (0, ""))
        self.client = self.d.start().connect()
        self.assertEqual([s["ok"] for s in self.client("list")["studies"]], [3, 3])

    def test_stopped_while_the_disk_is_full(self):
        """What was not promised may be gone; what was is there; nothing leaks."""
        self.write("trainer", SHELL, 0o755)
        self.begin("--disk-watermark", "0")
        self.add("before")
        self.finish(self.client, "before")
        self.fill()
        self.submit_large(self.d.connect())
        self.in_trouble(self.client)
        self.assertEqual((self.d.end(), self.d.said), (0, ""))
        self.d.start()
        try:  # on a full disk it may refuse to start, but then says so
            self.client = self.d.connect()
        except AssertionError:
            code, said = self.d.ends()
            self.assertEqual(code, 1)
            self.assertIn("full", said)
            self.free()
            self.client = self.d.start().connect()
        self.assertEqual(self.summary("before")["ok"], 3)

    def test_killed_while_the_disk_is_full(self):
        self.write("trainer", SHELL, 0o755)
        self.begin("--disk-watermark", "0")
        self.add("before")
        self.finish(self.client, "before")
        self.fill()
        self.submit_large(self.d.connect())
        self.in_trouble(self.client)
        self.d.end(signal.SIGKILL)
        self.free()
        self.client = self.d.start().connect()
        self.assertEqual(self.summary("before")["ok"], 3)
        self.assertIsNone(self.client("hello")["trouble"])

    def test_a_trainer_that_ends_on_a_full_disk(self):
        """It cannot leave its result; when there is space again it is tried again."""
        self.trainer("if request['attempt'] == 0: gate('go')\nreport(a=1, b=1)")
        self.begin("--disk-watermark", "0")
        self.add(evaluations=1)
        wait_for(lambda: self.has("at-go"))
        self.fill()
        self.touch("go")
        wait_for(lambda: self.client("status", study="s")["running"] == [])
        self.free()
        study = self.finish(self.client, "s")["study"]
        self.assertEqual((study["ended"], study["ok"]), (1, 1))
        ends = [a["end"] for a in self.client("trial", study="s", trial=0)["trial"]["attempts"]]
        self.assertEqual((set(ends[:-1]), ends[-1]), ({"lost"}, "ok"))
        # its end was recorded all the same, in room that was kept for it
        with open(self.path("state/studies/s/trials/0/0/exit.json")) as f:
            self.assertEqual(json.load(f)["output_lost"], "ENOSPC")


class NoInodes(SmallDisk):
    OPTIONS = "size=64m,nr_inodes=140"

    def test_nothing_is_tried_without_inodes(self):
        self.write("trainer", "#!/bin/sh\necho \"$DPARETO_TRIAL\" >> \"$DPARETO_STUDY_DIR/notes\"\n"
                   + SHELL.partition("\n")[2], 0o755)
        self.begin("--disk-watermark", "1K", "--slots", "2")
        made = [self.path("state/ballast-%d" % i) for i in range(120)]
        for path in made:
            open(path, "w").close()
        wait_for(lambda: "nothing new starts" in open(self.d.log).read())
        self.add(evaluations=3)
        self.assertIn("inodes", self.summary()["waiting"])
        version = self.summary()["version"]
        later = self.client("changes", study="s", since=version, timeout_ms=1500)["study"]
        self.assertEqual((later["version"], later["running"], self.notes()), (version, 0, []))
        self.assertEqual(self.client("trials", study="s")["trials"], [])
        for path in made:
            os.remove(path)
        self.assertEqual(self.finish(self.client, "s")["study"]["ok"], 3)
        self.assertEqual(self.notes(), ["0", "1", "2"])  # each of them once


    def test_inodes_that_run_out_at_a_start(self):
        """Its folder was made, then dpareto-shim could not make its own files, the claim or
        the logs: nothing ran, and it costs nothing."""
        self.trainer("report(a=1, b=1)")
        self.begin("--disk-watermark", "0")
        for name, left in (("claim", 7), ("logs", 9)):
            made = []
            try:
                while True:
                    path = self.path("state/ballast-%d" % len(made))
                    open(path, "w").close()
                    made.append(path)
            except OSError as e:
                self.assertEqual(e.errno, errno.ENOSPC)
            for _ in range(left):
                os.remove(made.pop())
            self.submit(self.client, self.study(name, search="method: random, evaluations: 1"))
            wait_for(lambda: "the machine could not start" in (self.summary(name)["waiting"] or ""))
            for path in made:
                os.remove(path)
            self.assertEqual(self.finish(self.client, name)["study"]["ok"], 1)
        self.assertEqual(self.d.end(), 0)
        self.assertIn("dpareto-shim: cannot create", self.d.said)


class Obstacles(DiskCase):
    def test_a_folder_that_cannot_be_made_pauses_the_study(self):
        self.write("trainer", SHELL, 0o755)
        self.begin()
        self.add("s", 1)
        self.finish(self.client, "s")
        os.rename(self.path("state/studies/s/trials"), self.path("state/studies/s/kept"))
        self.write("state/studies/s/trials", "in the way")
        self.client("set", study="s", evaluations=2)
        study = self.finish(self.client, "s")["study"]
        self.assertEqual((study["state"], study["ended"]), ("paused", 1))
        self.assertIn("trials", study["reason"])
        os.remove(self.path("state/studies/s/trials"))
        self.client("resume", study="s")
        self.assertEqual(self.finish(self.client, "s")["study"]["ok"], 2)


class Watermark(DiskCase):
    def test_nothing_starts_below_it(self):
        self.write("trainer", SHELL, 0o755)
        config = self.write("c.yaml", "disk_watermark: 1000T\n")
        self.begin("--config", config)
        self.add(evaluations=2)
        waiting = self.summary()["waiting"]
        self.assertIn("disk", waiting)
        self.assertIn("disk_watermark (1000T", waiting.replace(" ", "").replace(
            "disk_watermark(", "disk_watermark ("))
        self.assertEqual((self.summary()["state"], self.summary()["running"]), ("running", 0))
        self.assertIn("nothing new starts", open(self.d.log).read())
        self.write("c.yaml", "disk_watermark: 1K\n")
        self.assertEqual(self.client("reload")["changed"], ["disk_watermark"])
        self.assertEqual(self.finish(self.client, "s")["study"]["ok"], 2)
        self.assertIn("going on", open(self.d.log).read())


class DamagedJournal(DiskCase):
    def setUp(self):
        super().setUp()
        self.write("trainer", SHELL, 0o755)
        self.begin("--slots", "2")
        self.add("study-that-is-damaged", 20)
        self.finish(self.client, "study-that-is-damaged")
        self.assertEqual(self.d.end(), 0)
        self.file = self.path("state/journal/data.mdb")
        with open(self.file, "rb") as f:
            self.bytes = bytearray(f.read())

    def put(self, data):
        with open(self.file, "wb") as f:
            f.write(data)

    def start(self):
        """Its exit code and words; None as the code if it came up (then it is stopped)."""
        self.d.start()
        wait_for(lambda: self.d.process.poll() is not None or os.path.exists(self.d.socket))
        came_up = self.d.process.poll() is None
        code = self.d.end()
        self.assertNotIn("Sanitizer", self.d.said)
        return (None if came_up and code == 0 else code), self.d.said

    def refuses(self, *words):
        code, said = self.start()
        self.assertEqual(code, 1, said)
        self.assertTrue(said.startswith("dparetod: "), said)
        for word in words:
            self.assertIn(word, said)

    def test_a_flipped_byte_in_a_record(self):
        at = self.bytes.find(b"study: study-that-is-damaged")
        self.assertGreater(at, 0)
        while at > 0:  # in every copy of the page that holds it
            self.bytes[at + 7] ^= 1
            at = self.bytes.find(b"study: study-that-is-damaged", at)
        self.put(self.bytes)
        self.refuses("record 0 of study 1")

    def test_no_journal_at_all(self):
        self.put(b"# these are my notes, not a journal\n" * 500)
        self.refuses("damaged or is no journal")

    def test_cut_short(self):
        self.put(self.bytes[:8192 + 100])
        self.refuses("cut short")

    def test_from_the_future(self):
        old = self.bytes.count(b"format1")
        self.assertGreater(old, 0)
        self.put(self.bytes.replace(b"format1", b"format7"))
        self.refuses("format 7", "newer")

    def test_flipped_bits_anywhere(self):
        """Comes up or refuses with a sentence, whatever is hit: data, or LMDB's pages."""
        used = len(self.bytes.rstrip(b"\0"))
        rng = random.Random(1)
        for i in range(20):
            hurt = bytearray(self.bytes)
            for _ in range(60):
                at = rng.randrange(used)
                if i % 2:  # the beginning of its page
                    at = at // 4096 * 4096 + rng.randrange(64)
                hurt[min(at, used - 1)] ^= 1 << rng.randrange(8)
            self.put(hurt)
            with self.subTest(i):
                code, said = self.start()
                self.assertIn(code, (None, 1), said)


if __name__ == "__main__":
    unittest.main()
