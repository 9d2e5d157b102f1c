"""test_disk.py - full disks, the watermark, and damaged journals: the daemon says what is
wrong, loses nothing, and never crashes."""
import errno
import fcntl
import json
import os
import random
import signal
import subprocess
import unittest

from harness import Case, LIMIT, Refused, program, wait_for

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


class ReadOnlyDisk(DiskCase):
    """The folder of studies is a file system of its own; the journal is on another."""

    def setUp(self):
        super().setUp()
        self.studies = self.path("state/studies")
        os.makedirs(self.studies)
        p = subprocess.run(["mount", "-t", "tmpfs", "tmpfs", self.studies],
                           capture_output=True, text=True)
        if p.returncode:
            self.skipTest("cannot mount a file system here: " + p.stderr.strip())
        self.addCleanup(subprocess.run, ["umount", "-l", self.studies])
        self.addCleanup(self.end_all)

    def remount(self, how):
        """A file that is open for writing holds it back for a moment."""
        wait_for(lambda: subprocess.run(["mount", "-o", "remount," + how, self.studies],
                                        capture_output=True).returncode == 0)

    def test_read_only_for_a_while(self):
        self.write("trainer", SHELL, 0o755)
        self.begin("--slots", "2")
        self.remount("ro")
        self.add(evaluations=4)
        wait_for(lambda: "Read-only file system" in (self.summary()["waiting"] or ""))
        self.d.end(signal.SIGKILL)  # the next daemon meets it, too
        self.client = self.d.start().connect()
        wait_for(lambda: "Read-only file system" in (self.summary()["waiting"] or ""))
        self.remount("rw")
        study = self.finish(self.client, "s")["study"]
        self.assertEqual((study["state"], study["ok"], study["failed"]), ("finished", 4, 0))


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
        doctor = subprocess.run([program("dparetoctl"), "doctor", "--socket", self.d.socket],
                                capture_output=True, text=True).stdout
        self.assertRegex(doctor, r"warn +disk files +\d+ more files \(inodes\)")
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
        # the rest goes on, and what cannot be read is told
        self.client = self.d.start().connect()
        told = self.client("hello")["journal"]["unreadable"]
        self.assertEqual([u["study"] for u in told], [1])
        self.assertIn("record 0", told[0]["reason"])
        self.assertIn("journal repair", told[0]["reason"])
        self.assertIn("study 1 cannot be read", self.ctl("status", "--socket", self.d.socket).stdout)
        self.add("another", 1)
        self.assertEqual(self.finish(self.client, "another")["study"]["ok"], 1)

    def hurt_record(self, seq):
        """Flips a bit in a record of study 1, wherever its page was copied to."""
        mark = b"\0\0\0\1" + seq.to_bytes(4, "big")
        at = self.bytes.find(mark)
        self.assertGreater(at, 0)
        while at > 0:
            self.bytes[at + 20] ^= 1
            at = self.bytes.find(mark, at + 1)
        self.put(self.bytes)

    def journal(self, *arguments, code=0):
        p = self.ctl("journal", *arguments, "--state", self.path("state"), "-o", "json")
        self.assertEqual(p.returncode, code, p.stdout + p.stderr)
        return json.loads(p.stdout)

    def test_a_study_with_a_bad_record_is_set_apart(self):
        """One record in the middle: the study is shown and paused, others run, nothing can
        be asked of it; a repair keeps every result."""
        self.hurt_record(40)
        faults = self.journal("verify", code=1)["faults"]
        self.assertEqual([(f["study"], f["seq"]) for f in faults], [(1, 40)])
        self.assertIn("checksum", faults[0]["fault"])
        self.client = self.d.start().connect()
        study = self.summary("study-that-is-damaged")
        self.assertEqual((study["state"], study["version"]), ("paused", 40))
        self.assertIn("record 40", study["reason"])
        self.assertIn("journal repair", study["reason"])
        self.assertEqual(study["running"], 0)  # of an attempt whose end is lost nobody can tell
        self.assertEqual(
            self.ctl("wait", "study-that-is-damaged", "--socket", self.d.socket).returncode, 6)
        for verb in ("resume", "delete", "pause", "stop"):
            with self.assertRaisesRegex(Refused, "record 40"):
                self.client(verb, study="study-that-is-damaged")
        self.add("another", 2)
        self.assertEqual(self.finish(self.client, "another")["study"]["ok"], 2)
        self.assertIn("daemon stop", self.journal("repair", code=1)["error"]["hint"])
        self.client.close()
        self.assertEqual(self.d.end(), 0)
        report = self.journal("repair")
        self.assertEqual((report["set_aside"], report["studies"][0]["lost"]), (1, 1))
        with open(self.path("state/journal/" + report["file"])) as f:
            aside = [json.loads(line) for line in f]
        self.assertEqual([(a["study"], a["seq"]) for a in aside], [(1, 40)])
        self.assertIn("checksum", aside[0]["why"])
        self.assertTrue(bytes.fromhex(aside[0]["bytes"]))
        self.assertEqual(self.journal("verify")["faults"], [])
        runs = len(os.listdir(self.path("state/studies/study-that-is-damaged/trials")))
        self.client = self.d.start().connect()
        study = self.summary("study-that-is-damaged")
        self.assertEqual(study["state"], "paused")
        self.assertIn("lost in a damaged journal", study["reason"])
        self.client("resume", study="study-that-is-damaged")
        study = self.finish(self.client, "study-that-is-damaged")["study"]
        self.assertEqual((study["state"], study["ok"]), ("finished", 20))
        for trial in range(runs):  # no evaluation was made twice
            self.assertEqual(os.listdir(self.path(
                "state/studies/study-that-is-damaged/trials/%d" % trial)), ["0"])

    def test_backup_and_restore(self):
        copy = self.path("copy.mdb")
        self.client = self.d.start().connect()
        made = self.journal("backup", copy)  # beside the daemon
        self.assertEqual(made["records"], self.journal("verify")["records"])
        self.assertEqual(self.journal("backup", copy, code=1)["error"]["kind"], "exists")
        self.journal("backup", copy, "--force")
        self.add("later", 2)
        self.finish(self.client, "later")
        self.assertEqual(self.journal("restore", copy, code=1)["error"]["kind"], "busy")
        self.assertEqual(self.journal("compact", code=1)["error"]["kind"], "busy")
        self.client.close()
        self.assertEqual(self.d.end(), 0)
        with open(copy, "rb") as f:
            bad = bytearray(f.read())
        bad[-3000:] = bytes(3000)
        with open(self.path("bad.mdb"), "wb") as f:
            f.write(bad)
        self.journal("restore", self.path("bad.mdb"), code=1)  # and changes nothing
        done = self.journal("restore", copy)
        self.assertEqual(done["now"]["records"], made["records"])
        self.assertEqual((done["before"]["studies"], done["now"]["studies"]), (2, 1))
        self.assertTrue(self.has("state/journal/" + done["kept"]))
        self.assertEqual(self.journal("verify")["records"], made["records"])
        # what was kept is whole, too
        self.assertEqual(self.journal("restore", self.path(
            "state/journal/" + done["kept"]))["now"]["studies"], 2)
        self.assertLess(self.journal("compact")["bytes"], len(self.bytes))
        out = subprocess.run([program("dparetoctl"), "journal", "backup", "-", "--state",
                              self.path("state")], capture_output=True)
        with open(copy, "wb") as f:
            f.write(out.stdout)
        self.assertEqual(self.journal("verify", copy)["studies"], 2)
        self.client = self.d.start().connect()
        self.assertEqual(self.summary("later")["ok"], 2)

    def test_a_dump_that_nobody_reads(self):
        """journal dump | less: the file stays as large as it is without."""
        self.client = self.d.start().connect()
        before = self.client("hello")["journal"]["bytes"]
        out, into = os.pipe()
        fcntl.fcntl(into, fcntl.F_SETPIPE_SZ, 4096)
        dump = subprocess.Popen([program("dparetoctl"), "journal", "dump", "--state",
                                 self.path("state")], stdout=into)
        self.addCleanup(dump.wait)
        self.addCleanup(dump.kill)
        self.addCleanup(os.close, out)
        os.close(into)
        os.read(out, 1)  # it is at work, and soon the pipe is full
        for i in range(400):
            self.client("set", study="study-that-is-damaged", priority=i % 7)
        self.assertIsNone(dump.poll())
        now = self.client("hello")["journal"]
        self.assertIsNone(now["reader"])
        self.assertLess(now["bytes"], before + (400 << 10))

    def test_the_lock_holds_without_its_file(self):
        self.client = self.d.start().connect()
        os.remove(self.path("state/journal/writer.lock"))
        second = subprocess.run([program("dparetod"), "--state", self.path("state"),
                                 "--socket", self.path("other")], capture_output=True,
                                text=True, timeout=LIMIT)
        self.assertEqual(second.returncode, 1)
        self.assertIn("is being written by another process", second.stderr)

    def test_a_page_that_only_the_writer_needs(self):
        """The list of free pages is zeroed: nobody who reads would notice."""
        size = 4096
        newest = max((size * i + 16 for i in range(2)),
                     key=lambda at: int.from_bytes(self.bytes[at + 128:at + 136], "little"))
        root = int.from_bytes(self.bytes[newest + 64:newest + 72], "little")
        self.bytes[root * size:(root + 1) * size] = bytes(size)
        self.put(self.bytes)
        faults = self.journal("verify", code=1)["faults"]
        self.assertIn("free pages", faults[0]["fault"])
        self.assertIsNone(faults[0]["study"])
        self.refuses("free pages", "journal repair")
        self.assertEqual(self.journal("repair")["set_aside"], 0)
        self.client = self.d.start().connect()
        self.assertEqual(self.summary("study-that-is-damaged")["state"], "finished")

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
