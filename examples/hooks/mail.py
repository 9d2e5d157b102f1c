#!/usr/bin/env python3
"""mail.py [--from ADDRESS] [--sendmail PROGRAM | --smtp HOST[:PORT]] ADDRESS... - a hook of dparetod:
sends what it is told, one JSON object on standard input, as mail.

Needs python3 (3.9 or later; nothing beyond its own library) and a sendmail, any that takes a message
on standard input and addresses as arguments; or, with --smtp, a mail server that takes it without
asking who we are, such as that of the machine itself. Those of Postfix, Exim and dma are setuid or
setgid programs, which do not work below dparetod.service (NoNewPrivileges=): there take
--smtp localhost, or msmtp. Python and not sh, because a subject that is not ASCII has to be encoded,
and Python knows how."""
import argparse
import email.message
import email.policy
import email.utils
import json
import os
import pwd
import shutil
import signal
import smtplib
import subprocess
import sys
import unicodedata

PROGRAM = "sendmail"
PLACES = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/usr/lib"])
LIMIT = 25  # seconds; a hook has 30, unless its timeout says otherwise
LONG = 4000  # characters of a reason: a trainer may have written anything
SAID = {"finished": "has finished", "failed": "has failed", "paused": "is paused",
        "resumed": "goes on", "trial-failed": "has a failed trial", "started": "has started",
        "disk-low": "the disk is low"}


def fail(why):
    sys.exit("mail.py: " + why)


def printable(value):
    """Text without what a terminal or mail program might obey: controls, directions, halves of
    characters."""
    return "".join(c if c == "\n" or unicodedata.category(c)[0] != "C" else " "
                   for c in str(value))


def one_line(value):
    return " ".join(printable(value).split())


def subject(news):
    event = news.get("event")
    who = news.get("study") or "dparetod:"
    return one_line("%s: %s %s" % (os.uname().nodename, who, SAID.get(event, event)))[:200]


def text(news):
    """The lines of the message: what a person asks first, then all of it."""
    lines = []
    if news.get("reason"):
        lines += [printable(news["reason"])[:LONG], ""]
    lines += ["%s: %s" % (one_line(key), one_line(value)[:LONG]) for key, value in news.items()
              if value is not None and key not in ("version", "reason")]
    return "\n".join(lines) + "\n"


def compose(news, sender, receivers):
    message = email.message.EmailMessage(email.policy.default.clone(cte_type="7bit"))
    message["Subject"] = subject(news)
    message["To"] = ", ".join(receivers)
    if sender:
        message["From"] = sender
    message["Date"] = email.utils.localtime()
    message["Message-ID"] = email.utils.make_msgid(domain=os.uname().nodename)
    message["Auto-Submitted"] = "auto-generated"  # nobody's holiday message answers it
    message.set_content(text(news))
    return message


def read_news():
    try:
        news = json.loads(sys.stdin.buffer.read())
    except ValueError as why:
        fail("standard input is not a JSON object of dparetod: %s" % why)
    if not isinstance(news, dict) or "event" not in news:
        fail("standard input is not a JSON object of dparetod")
    return news


def address(word):
    """One plain address; what begins with - would be an option of sendmail."""
    if word.startswith("-") or not word.isprintable() or set(word) & set(" ,;<>()\"\\"):
        raise argparse.ArgumentTypeError("%r is not an address" % word)
    return word


def server(word):
    """HOST or HOST:PORT; an IPv6 address with a port stands in brackets."""
    host, port = word, "25"
    if word.startswith("[") or word.count(":") == 1:
        host, _, port = word.rpartition(":")
    if not host or not port.isdigit():
        raise argparse.ArgumentTypeError("%r is not HOST[:PORT]" % word)
    return host.strip("[]"), int(port)


def arguments():
    p = argparse.ArgumentParser(prog="mail.py", description="Mails what dparetod tells a hook.")
    p.add_argument("receivers", nargs="+", type=address, metavar="ADDRESS")
    p.add_argument("--from", dest="sender", type=address, metavar="ADDRESS",
                   help="default: what sendmail makes of the user; with --smtp USER@MACHINE")
    way = p.add_mutually_exclusive_group()
    way.add_argument("--sendmail", default=PROGRAM, metavar="PROGRAM")
    way.add_argument("--smtp", type=server, metavar="HOST[:PORT]", help="instead of a program")
    return p.parse_args()


def by_sendmail(args, news):
    program = shutil.which(args.sendmail, path=PLACES)
    if not program:
        fail("there is no program %s; install msmtp-mta or another that brings a sendmail, or use "
             "--smtp" % args.sendmail)
    sender = ["-f", args.sender] if args.sender else []
    try:
        # -i: a line with a single dot does not end the message
        done = subprocess.run([program, "-i", *sender, *args.receivers],
                              input=compose(news, args.sender, args.receivers).as_bytes(),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        fail("%s did not take the message within %d seconds" % (program, LIMIT))
    except OSError as why:
        fail("%s could not be run: %s" % (program, why))
    if done.returncode != 0:
        said = one_line(done.stdout.decode(errors="replace"))[-300:]
        fail("%s did not take the message (exit status %d): %s" % (program, done.returncode, said))


def by_smtp(args, news):
    machine = os.uname().nodename
    sender = args.sender or "%s@%s" % (pwd.getpwuid(os.geteuid()).pw_name, machine)
    host, port = args.smtp
    signal.signal(signal.SIGALRM, lambda *_: fail("%s did not take the message within %d seconds"
                                                  % (host, LIMIT)))
    signal.alarm(LIMIT)  # for all of its answers together
    try:
        smtp = smtplib.SMTP(host, port, local_hostname=machine, timeout=LIMIT)
        try:
            refused = smtp.send_message(compose(news, sender, args.receivers), sender, args.receivers)
            smtp.quit()
        finally:
            smtp.close()
    except (OSError, smtplib.SMTPException) as why:
        fail("%s, port %d, did not take the message: %s" % (host, port, one_line(why)[-300:]))
    if refused:
        fail("%s does not take mail for %s" % (host, ", ".join(refused)))


def main():
    args = arguments()
    news = read_news()
    if args.smtp:
        by_smtp(args, news)
    else:
        by_sendmail(args, news)


if __name__ == "__main__":
    main()
