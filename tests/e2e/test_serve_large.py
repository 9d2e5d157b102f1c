"""Answers of many megabytes: how many of them dpareto-serve holds for readers that do not read."""
import os
import socket
import subprocess

from harness import LIMIT, Case, program, wait_for
from serving import Serving


class LongAnswers(Case):
    def test_readers_that_do_not_read(self):
        """Each holds an answer of 38 MB; from 256 MiB on, others are asked to wait."""
        d = self.daemon()
        os.mkdir(d.state, 0o700)
        subprocess.run([program("bench/fill"), d.state, "1", "60000"], check=True)
        d.start().connect().close()
        s = Serving(d.socket)
        self.addCleanup(s.process.kill)
        held, path = [], "/api/studies/study-1/trials"
        for _ in range(40):  # on a busy machine the first ones time out meanwhile
            one = socket.socket()
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.settimeout(LIMIT)
            one.connect(("127.0.0.1", s.port))
            one.sendall(b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n" % path.encode())
            held.append(one)
            if one.recv(12) == b"HTTP/1.1 503":
                break
        else:
            self.fail("40 readers of 38 MB each were answered")
        self.assertGreater(len(held), 6)
        self.assertEqual(s.get(path + "?limit=50")[0], 200)
        for one in held:
            one.close()
        wait_for(lambda: s.get(path)[0] == 200)
        self.assertEqual(s.end()[0], 0)
        s.process.stdout.close()
        s.process.stderr.close()
        self.assertEqual(d.end(), 0)
