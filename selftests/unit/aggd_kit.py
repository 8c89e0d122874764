# SPDX-License-Identifier: GPL-2.0
"""What rows of aggd share: an aggd with an aggctl that does nothing, and its clients."""
import contextlib
import fcntl
import io
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

TOP = sys.argv[1]
AGGD = os.environ.get("AGGD", TOP + "/tools/aggd/aggd")
AGGCTL = TOP + "/tools/aggctl/aggctl"
FAKE = TOP + "/selftests/unit/aggd_fake.sh"
DEADLINE = 120
USER, OTHER, GROUP = 4000, 4001, 4100
GROUP_JOB = {"op": "submit", "root": "v0", "members": ["v1"]}
rows = []
tmp = ""


def row(name):
    """A row: a function that raises if it fails."""
    return lambda function: rows.append((name, function)) or function


def equal(got, want):
    if got != want:
        raise AssertionError("%r instead of %r" % (got, want))


def has(text, part):
    if part not in text:
        raise AssertionError("%r lacks %r" % (text, part))


def wait_until(what, condition):
    end = time.monotonic() + DEADLINE
    pause = 0.01
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("never " + what)
        time.sleep(pause)
        pause = min(pause * 1.1, 0.1)


@contextlib.contextmanager
def user(uid, gid=None, groups=()):
    """Be this user, as the kernel tells aggd."""
    os.setgroups(list(groups))
    os.setegid(gid if gid is not None else uid)
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups([])


class Client:
    """A connection."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(DEADLINE)
        self.socket.connect(path)
        self.file = self.socket.makefile("rb")

    def send(self, request):
        self.socket.sendall(json.dumps(request).encode() + b"\n")

    def read(self):
        line = self.file.readline()
        return json.loads(line) if line else None

    def ask(self, request):
        self.send(request)
        return self.read()

    def raw(self, data):
        self.socket.sendall(data)
        return self.read()

    def submit(self, **members):
        answer = self.ask({**GROUP_JOB, **members})
        if not answer["ok"]:
            raise AssertionError(answer["error"])
        return answer["job"]["job"]

    def show(self, job):
        return self.ask({"op": "show", "job": job})["job"]

    def wait(self, job, what="in force"):
        return self.ask({"op": "wait", "job": job, "for": what})["job"]

    def refused(self, request, sentence, fault=None):
        answer = self.ask(request)
        equal(answer["ok"], False)
        has(answer["error"], sentence)
        if fault:
            equal(answer["fault"], fault)

    def close(self):
        self.file.close()
        self.socket.close()


class Daemon:
    """An aggd with its state, and what its children do: what those of another one do."""

    def __init__(self, *options, conf="", like=None):
        self.dir = tempfile.mkdtemp(dir=tmp)
        os.chmod(self.dir, 0o755)
        self.path = self.dir + "/sock"
        self.fake = like.fake if like else self.dir + "/fake"
        self.options = options
        if not like:
            for name in ("", "/entries", "/running"):
                os.mkdir(self.fake + name)
            self.put("nodes", "v0 v1\n")
            self.put("calls", "")
        with open(self.dir + "/conf", "w") as f:
            f.write(conf)
        self.process = None
        self.start()

    def command(self):
        return [AGGD, "--config", self.dir + "/conf", "--socket", self.path,
                "--state", self.dir + "/state", "--aggctl", FAKE,
                "--topology", "net", "--retry", "10ms", *self.options]

    def spawn(self):
        self.log = open(self.dir + "/log", "ab")
        self.process = subprocess.Popen(
            self.command(), stderr=self.log, stdin=subprocess.DEVNULL,
            env={**os.environ, "AGGD_FAKE": self.fake})
        self.log.close()

    def start(self):
        self.spawn()
        wait_until("listens", self.listens)

    def listens(self):
        if self.process.poll() is not None:
            raise AssertionError("aggd has ended: " + self.said())
        try:
            client = self.client()
            answer = client.ask({"op": "list"})
            client.close()
        except OSError:
            return False
        # A child of a process that was killed may still have its socket.
        return answer is not None

    def said(self):
        with open(self.dir + "/log") as f:
            return f.read()

    def kill(self, number=signal.SIGKILL):
        self.process.send_signal(number)
        self.process.wait(DEADLINE)

    def restart(self):
        self.kill()
        self.start()

    def client(self):
        return Client(self.path)

    def put(self, name, text):
        with open(self.fake + "/" + name, "w") as f:
            f.write(text)

    def hold(self, verb):
        self.put("hold " + verb, "")

    def release(self, verb):
        os.unlink(self.fake + "/hold " + verb)

    def fail(self, verb, sentence):
        self.put("fail " + verb, sentence)

    def mend(self, verb):
        os.unlink(self.fake + "/fail " + verb)

    def calls(self, verb=""):
        with open(self.fake + "/calls") as f:
            return [line for line in f.read().splitlines()
                    if not verb or verb in line.split()]

    def planned(self, job):
        """Wait until its record tells the nodes."""
        client = self.client()
        wait_until("plans", lambda: client.show(job).get("nodes"))
        client.close()

    def entries(self):
        return sorted(os.listdir(self.fake + "/entries"))

    def running(self):
        return len(os.listdir(self.fake + "/running"))

    def children(self, watchdog):
        """Processes of aggctl, or the watchdog."""
        pid, found = self.process.pid, []
        with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
            for child in f.read().split():
                with contextlib.suppress(OSError), open("/proc/%s/comm" % child) as name:
                    if (name.read() == "aggd-watchdog\n") == watchdog:
                        found.append(child)
        return found

    def processes(self):
        return self.children(False)

    def files(self):
        """All of the state, for comparisons."""
        found = {}
        for top, _, names in os.walk(self.dir + "/state"):
            for name in names:
                with open(top + "/" + name) as f:
                    found[top + "/" + name] = f.read()
        return found

    def rss(self):
        with open("/proc/%d/status" % self.process.pid) as f:
            for line in f:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1])
        return 0

    def end(self):
        for verb in ("plan", "apply", "withdraw"):
            with contextlib.suppress(OSError):
                self.release(verb)
        if self.process.poll() is None:
            # A row that has failed may have stopped it.
            self.process.send_signal(signal.SIGCONT)
            self.kill(signal.SIGTERM)
        # Children have a lock, too.
        with open(self.dir + "/state/children", "w") as f:
            fcntl.flock(f, fcntl.LOCK_EX)
        shutil.rmtree(self.dir)


@contextlib.contextmanager
def daemon(*options, conf="", like=None):
    d = Daemon(*options, conf=conf, like=like)
    try:
        yield d
        if d.process.poll() is not None:
            raise AssertionError("aggd has ended: " + d.said())
    except Exception:
        print("# " + d.said().replace("\n", "\n# "))
        raise
    finally:
        d.end()


def claim(what):
    """Rows are divided among processes: the first one that claims a row does it."""
    try:
        os.mkdir("%s/%s" % (os.environ["CLAIMS"], what))
    except KeyError:
        return True
    except FileExistsError:
        return False
    return True


def perform(number, name, function):
    """Return: has it failed?"""
    try:
        function()
        print("ok %d - %s" % (number, name))
        return False
    except Exception as e:  # pylint: disable=broad-except
        where = []
        tb = e.__traceback__
        while tb:
            where.append(str(tb.tb_lineno))
            tb = tb.tb_next
        print("# lines %s: %s: %s" % (" ".join(where), type(e).__name__, e))
        print("not ok %d - %s" % (number, name))
        return True


def main(start=None):
    """
    Do the rows that $ROW names, or all; @start is called before the first one. Processes
    with the same directory $CLAIMS share the rows.
    """
    global tmp
    if os.geteuid():
        if claim("plan"):
            print("1..0 # SKIP only root can be several users")
        return 0
    failed, only = 0, os.environ.get("ROW", "")
    chosen = [r for r in rows if only in r[0]]
    if claim("plan"):
        print("1..%d" % len(chosen), flush=True)
    # Thousands of files are synchronised.
    tmp = tempfile.mkdtemp(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    os.chmod(tmp, 0o755)
    if start:
        start()
    for i, (name, function) in enumerate(chosen, 1):
        if not claim(i):
            continue
        with io.StringIO() as text:
            with contextlib.redirect_stdout(text):
                failed |= perform(i, name, function)
            sys.stdout.write(text.getvalue())
            sys.stdout.flush()
    shutil.rmtree(tmp)
    return int(failed)
