# SPDX-License-Identifier: GPL-2.0
"""The rows of test_aggd_etcd.sh: an etcd, and aggd that keep their jobs in it."""
import base64
import contextlib
import ctypes
import functools
import http.client
import http.server
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import textwrap
import threading

import aggd_kit
from aggd_kit import (AGGCTL, AGGD, DEADLINE, FAKE, GROUP_JOB, TOP, USER, daemon, equal, has,
                      main, row, user, wait_until)

ETCD = TOP + "/build/vm/etcd/usr/bin/etcd"
NOBODY = "65534"
PORT = 2379
URL = "http://127.0.0.1:%d"
# No row can wait for the end of the first lease; SHORT is for those that do.
LONG, SHORT = "600", "8"
SILENT = "jobs in force stay, and nothing can be changed until it answers"


# --- etcd -----------------------------------------------------------------------------

def code(text):
    return base64.b64encode(text if isinstance(text, bytes) else text.encode()).decode()


class Etcd:
    """Members of one etcd, with their data."""

    def __init__(self, members=1, port=PORT):
        self.dir = tempfile.mkdtemp(dir=aggd_kit.tmp)
        os.chown(self.dir, int(NOBODY), int(NOBODY))
        self.members = members
        self.process = [None] * members
        self.urls = [URL % (port + 10 * i) for i in range(members)]
        self.peers = [URL % (port + 10 * i + 1) for i in range(members)]
        self.begin()

    def begin(self):
        members = self.members
        for i in range(members):
            self.spawn(i)
        for i in range(members):
            self.wait(i)

    def store(self):
        return "etcd " + ",".join(self.urls)

    def settings(self, i):
        cluster = ",".join("m%d=%s" % member for member in enumerate(self.peers))
        return {"ETCD_NAME": "m%d" % i,
                "ETCD_LISTEN_CLIENT_URLS": self.urls[i],
                "ETCD_ADVERTISE_CLIENT_URLS": self.urls[i],
                "ETCD_LISTEN_PEER_URLS": self.peers[i],
                "ETCD_INITIAL_ADVERTISE_PEER_URLS": self.peers[i],
                "ETCD_INITIAL_CLUSTER": cluster}

    def spawn(self, i):
        with open(self.dir + "/log", "ab") as log:
            self.process[i] = subprocess.Popen(
                ["setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups",
                 "--pdeathsig", "KILL", "--", aggd_kit.tmp + "/etcd",
                 "--data-dir", "%s/m%d" % (self.dir, i), "--logger", "zap"],
                env=self.settings(i), stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def wait(self, i):
        def answers():
            if self.process[i].poll() is not None:
                with open(self.dir + "/log") as f:
                    raise AssertionError("etcd has ended: " + f.read()[-2000:])
            with contextlib.suppress(OSError, http.client.HTTPException):
                return self.post("kv/range", {"key": code("x")}, i)[0] == 200
            return False

        wait_until("an etcd that answers", answers)

    def kill(self, i=0):
        self.process[i].kill()
        self.process[i].wait()

    def start(self, i=0):
        self.spawn(i)
        self.wait(i)

    def connection(self, i):
        return http.client.HTTPConnection(self.urls[i][7:], timeout=20)

    def post(self, path, question, i=0):
        connection = self.connection(i)
        try:
            connection.request("POST", "/v3/" + path, json.dumps(question))
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def ask(self, path, question):
        status, answer = self.post(path, question)
        equal(status, 200)
        return answer

    def put(self, key, value):
        self.ask("kv/put", {"key": code(key), "value": code(value)})

    def delete(self, key):
        self.ask("kv/deleterange", {"key": code(key)})

    def clear(self):
        self.ask("kv/deleterange", {"key": code("/aggnet/"), "range_end": code("/aggnet0")})

    def content(self):
        """All keys with their values."""
        answer = self.ask("kv/range", {"key": code("/aggnet/"), "range_end": code("/aggnet0")})
        return {base64.b64decode(kv["key"]).decode(): base64.b64decode(kv.get("value", ""))
                for kv in answer.get("kvs", [])}

    def keys(self, below):
        return [k for k in self.content() if k.startswith(below)]

    def record(self, job):
        return json.loads(self.content()["/aggnet/jobs/%010d" % job])

    def end(self):
        for process in self.process:
            if process.poll() is None:
                process.kill()
            process.wait()
        shutil.rmtree(self.dir)


def block(word):
    """The literal block of jobs.rst that has this word."""
    with open(TOP + "/Documentation/jobs.rst") as f:
        text = f.read()
    found = [b for b in re.findall(r"::\n\n((?:    .*\n|\n)+)", text) if word in b]
    equal(len(found), 1)
    return textwrap.dedent(found[0])


class PageEtcd(Etcd):
    """The three hosts of jobs.rst, with its certificates: their addresses are of lo."""

    def __init__(self):
        super().__init__(3)
        self.urls = ["https://10.0.0.%d:2379" % (i + 1) for i in range(3)]

    def etc(self, text, i):
        """What the page says, at host @i"""
        return text.replace("/etc/", "%s/h%d/" % (self.dir, i)).replace(
            "ADDRESS", "10.0.0.%d" % (i + 1)).replace("-o etcd", "-o " + NOBODY)

    def run(self, script):
        done = subprocess.run(["bash", "-ec", script], cwd=self.dir, capture_output=True,
                              text=True)
        equal((done.returncode, done.stderr if done.returncode else ""), (0, ""))

    def begin(self):
        self.run(block("openssl req"))
        places = block("install -m 644 ca.crt").split("\n", 1)
        has(places[0], "apt install etcd-server")
        for i in range(3):
            self.run("ip address add 10.0.0.%d/32 dev lo" % (i + 1))
            self.run(self.etc(places[1], i))
            self.spawn(i)

    def settings(self, i):
        return dict(line.split("=", 1)
                    for line in self.etc(block("ETCD_NAME"), i).split("\n") if line)

    def connection(self, i, sure=True):
        context = ssl.create_default_context(cafile=self.dir + "/ca.crt")
        if sure:
            context.load_cert_chain(self.dir + "/aggd.crt", self.dir + "/aggd.key")
        return http.client.HTTPSConnection(self.urls[i][8:], timeout=20, context=context)

    def conf(self):
        return self.etc(block("etcd-cert"), 0)


@contextlib.contextmanager
def page_etcd():
    e = PageEtcd()
    try:
        for i in range(3):
            e.wait(i)
        yield e
    finally:
        e.end()


@contextlib.contextmanager
def etcd(members=1, port=PORT):
    e = Etcd(members, port)
    try:
        yield e
    finally:
        e.end()


class Gateway(http.server.ThreadingHTTPServer):
    """
    Stands between aggd and etcd: @before(path, question) may wait, or say False, so that
    etcd is not asked; @change(path, answer) makes another answer, or (status, answer).
    """

    daemon_threads = True
    port = 4000

    def __init__(self, to=None):
        Gateway.port += 1
        self.url = URL % Gateway.port
        self.to = to
        self.before = lambda path, question: True
        self.change = lambda path, answer: answer
        self.asked = False
        super().__init__(("127.0.0.1", Gateway.port), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def answer(self, below, answer):
        """Questions whose path begins with this have this answer; None: none has it."""
        def change(path, right):
            if below is None or not path.startswith(below):
                return right
            self.asked = True
            return answer

        self.asked = False
        self.change = change

    def hold(self, key):
        """
        The next change of this key is late: when the event that is returned first is set;
        the second one is set when etcd has it, and the third one when it is held.
        """
        late, done, held = threading.Event(), threading.Event(), threading.Event()

        def before(path, question):
            if held.is_set() or not puts(path, question, key):
                return True
            held.set()
            late.wait()
            self.to.post(path, question)
            done.set()
            return False

        self.before = before
        return late, done, held


def puts(path, question, key):
    """Is it a transaction that writes this key?"""
    return path == "kv/txn" and code(key) in [op.get("request_put", {}).get("key")
                                              for op in question["success"]]


class Handler(http.server.BaseHTTPRequestHandler):
    """A question to a gateway."""

    def do_POST(self):
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        path, status, answer = self.path[4:], 200, b"{}"
        if not self.server.before(path, question):
            return
        if self.server.to:
            with contextlib.suppress(OSError, http.client.HTTPException):
                answer = json.dumps(self.server.to.post(path, question)[1]).encode()
        answer = self.server.change(path, answer)
        if answer is None:
            return
        if isinstance(answer, tuple):
            status, answer = answer
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(answer)

    def log_message(self, *args):
        pass


@contextlib.contextmanager
def gateway(to=None):
    g = Gateway(to)
    try:
        yield g
    finally:
        g.shutdown()
        g.server_close()


# --- aggd -----------------------------------------------------------------------------

def on(store, lease=LONG, like=None, conf=""):
    """An aggd whose jobs are in this etcd."""
    return daemon("--store", store, "--lease", lease, like=like, conf=conf)


def ask(d, request):
    client = d.client()
    try:
        return client.ask(request)
    finally:
        client.close()


def leads(d):
    return d.process.poll() is None and ask(d, {"op": "list"})["ok"]


def wait_leads(d):
    """Wait until it leads; it must not end."""
    def now():
        if d.process.poll() is not None:
            raise AssertionError("aggd has ended: " + d.said())
        return leads(d)

    wait_until("leads", now)


def serves(d):
    return "store" not in ask(d, {"op": "list"})


def submit(d, **members):
    """Submit a job; a machine that is busy may not answer in the time of a question."""
    while True:
        wait_leads(d)
        wait_until("serves", lambda: serves(d))
        answer = ask(d, {**GROUP_JOB, **members})
        if answer["ok"]:
            return answer["job"]["job"]
        has(answer["error"], "etcd does not answer")


def state(d, job):
    found = [j["state"] for j in ask(d, {"op": "list"})["jobs"] if j["job"] == job]
    return found[0] if found else None


def wait_state(d, job, what):
    def now():
        if d.process.poll() is not None:
            raise AssertionError("aggd has ended: " + d.said())
        answer = ask(d, {"op": "list"})
        return answer["ok"] and [j for j in answer["jobs"]
                                 if j["job"] == job and j["state"] == what]

    wait_until("%s: job %d" % (what, job), now)


def cancel(d, job):
    equal(ask(d, {"op": "cancel", "job": job})["ok"], True)
    wait_state(d, job, "ended")


def kill_with_child(d):
    """Kill it while a child runs, which ends with it."""
    pids = os.listdir(d.fake + "/running")
    equal(len(pids), 1)
    d.kill()
    wait_until("ends with it", lambda: not os.path.exists("/proc/%s/exe" % pids[0]))


def spawned(d):
    """Start it again: it may stand by for the rest of a lease."""
    d.start()
    wait_leads(d)


def fails(arguments, status, sentence, seconds=60):
    done = subprocess.run([AGGD, *arguments], capture_output=True, timeout=seconds, text=True)
    equal((done.returncode, done.stdout), (status, ""))
    has(done.stderr, sentence)


# --- jobs -----------------------------------------------------------------------------

@row("jobs are in etcd from their submission to their end, and the directory is empty")
def life():
    with etcd() as e, on(e.store(), conf="allow all\n") as d:
        wait_leads(d)
        with user(USER):
            client = d.client()
        job = client.submit()
        equal((job, client.wait(job)["state"]), (1000, "in force"))
        has(client.show(job)["group"], "root=10.0.0.1,up=1000,down=1001")
        equal(e.record(job)["state"], "in force")
        equal((e.record(job)["user"], client.show(job)["user"]), (USER, USER))
        equal(e.keys("/aggnet/plans/"), ["/aggnet/plans/0000001000.%d" % i for i in range(2)])
        equal(e.content()["/aggnet/counter"], b"1002")
        equal(d.entries(), ["1000.0.plan", "1000.1.plan"])
        equal([client.ask({"op": "list"})["jobs"][0]["state"], client.submit()],
              ["in force", 1002])
        client.wait(1002)
        equal(client.ask({"op": "cancel", "job": job})["ok"], True)
        equal(client.wait(job, "ended")["reason"], "cancelled")
        equal((e.record(job)["state"], e.keys("/aggnet/plans/0000001000")), ("ended", []))
        equal(d.entries(), ["1002.0.plan", "1002.1.plan"])
        equal(sorted(os.listdir(d.dir + "/state")), ["children", "cluster", "lock", "plans"])
        equal(sorted(os.listdir(d.dir + "/state/plans")), d.entries())


@row("without its directory aggd goes on with the jobs and plans that etcd has")
def new_directory():
    with etcd() as e, on(e.store()) as d:
        job, other = submit(d), submit(d)
        wait_state(d, job, "in force")
        cancel(d, other)
        with open(d.dir + "/state/plans/1000.0.plan") as f:
            plan = f.read()
        before = e.record(job)
        d.kill(signal.SIGTERM)
        shutil.rmtree(d.dir + "/state")
        calls = len(d.calls())
        spawned(d)
        wait_until("verified", lambda: len(d.calls()) == calls + 2)
        equal([line.split()[0] for line in d.calls()[calls:]], ["apply"] * 2)
        with open(d.dir + "/state/plans/1000.0.plan") as f:
            equal(f.read(), plan)
        equal((e.record(job), state(d, other)), (before, "ended"))
        equal(submit(d), 1004)
        cancel(d, job)
        equal([e for e in d.entries() if e.startswith("1000")], [])


@row("killed while a job is applied: it is withdrawn by the next aggd")
def killed():
    with etcd() as e, on(e.store(), SHORT) as d:
        d.hold("apply")
        job = submit(d)
        wait_until("applies", d.running)
        kill_with_child(d)
        d.release("apply")
        equal((d.entries(), e.record(job)["state"]), ([], "applying"))
        spawned(d)
        wait_state(d, job, "ended")
        has(ask(d, {"op": "show", "job": job})["job"]["reason"], "aggd was restarted")
        equal((len(d.calls("withdraw")), d.entries()), (2, []))


@row("IDs are not used again, whichever aggd leads and however it ends")
def numbers():
    with etcd() as e, on(e.store(), SHORT) as a, on(e.store(), SHORT, like=a) as b:
        ids = []
        for i in range(4):
            wait_until("leads", lambda: leads(a) or leads(b))
            leader, other = (a, b) if leads(a) else (b, a)
            ids.append(submit(leader))
            leader.kill(signal.SIGKILL if i % 2 else signal.SIGTERM)
            ids.append(submit(other))
            leader.start()
        equal(ids, sorted(set(ids)))
        equal((ids[0], int(e.content()["/aggnet/counter"]) > ids[-1]), (1000, True))


@row("a plan of more than 1 MiB is refused with a sentence")
def large_plan():
    with etcd() as e, on(e.store()) as d:
        d.put("nodes", " ".join("v%d" % i + "x" * 600000 for i in range(2)) + "\n")
        job = submit(d)
        wait_state(d, job, "ended")
        has(ask(d, {"op": "show", "job": job})["job"]["reason"], "at most 1 MiB")
        equal(d.calls("apply"), [])


# --- several aggd ------------------------------------------------------------------------

@row("one of two aggd leads, and the other one names it and takes over from it")
def standby():
    with etcd() as e, on(e.store()) as a:
        job = submit(a)
        wait_state(a, job, "in force")
        with on(e.store(), like=a) as b:
            for request in ({"op": "list"}, GROUP_JOB, {"op": "cancel", "job": job},
                            {"op": "show", "job": job}, {"op": "wait", "job": job}):
                answer = ask(b, request)
                equal((answer["ok"], answer["fault"]), (False, "refused"))
                has(answer["error"], "this aggd is a standby: the leader is the aggd of host %s,"
                    " socket %s: run the command there" % (os.uname().nodename, a.path))
            done = subprocess.run([AGGCTL, "job", "list", "--socket", b.path],
                                  capture_output=True, text=True)
            equal((done.returncode, done.stdout), (1, ""))
            has(done.stderr, "this aggd is a standby")
            a.kill(signal.SIGTERM)
            equal(a.process.returncode, 0)
            wait_leads(b)
            equal(state(b, job), "in force")
            equal(submit(b), 1002)
            cancel(b, job)
            a.start()
            equal(leads(a), False)
            has(b.said(), "this aggd is the leader now")


@row("the leader is killed: when its lease is over the standby goes on with its jobs")
def takeover():
    with etcd() as e, on(e.store(), SHORT) as a, on(e.store(), SHORT, like=a) as b:
        wait_until("leads", lambda: leads(a) or leads(b))
        leader, other = (a, b) if leads(a) else (b, a)
        job = submit(leader)
        wait_state(leader, job, "in force")
        leader.hold("apply")
        half = submit(leader)
        wait_until("applies", leader.running)
        kill_with_child(leader)
        leader.release("apply")
        wait_leads(other)
        wait_state(other, half, "ended")
        equal((state(other, job), other.entries()),
              ("in force", ["1000.0.plan", "1000.1.plan"]))
        cancel(other, job)
        equal((e.record(job)["state"], e.record(half)["state"]), ("ended", "ended"))
        leader.start()


@row("a leader that was stopped too long ends, and changes nothing any more")
def stopped():
    with etcd() as e, on(e.store(), SHORT) as a:
        job = submit(a)
        wait_state(a, job, "in force")
        client = a.client()
        with on(e.store(), SHORT, like=a) as b:
            a.process.send_signal(signal.SIGSTOP)
            client.send({"op": "cancel", "job": job})
            wait_leads(b)
            wait_state(b, job, "in force")
            before = e.content()
            a.process.send_signal(signal.SIGCONT)
            equal(a.process.wait(DEADLINE), 1)
            has(a.said(), "the lease of this aggd was over")
            with contextlib.suppress(OSError):
                equal((client.read() or {"ok": False})["ok"], False)
            equal((e.content(), state(b, job)), (before, "in force"))
        a.start()


def gone(pid):
    """A process that has ended may not have been waited for."""
    return not os.path.exists("/proc/%s/exe" % pid) or not os.access("/proc/%s/exe" % pid, os.F_OK)


@row("children of a leader that is stopped end before its lease does, and its job goes on")
def watchdog():
    with etcd() as e, on(e.store(), SHORT) as d:
        d.hold("apply")
        job = submit(d, kind="reduce")
        wait_until("applies", d.running)
        pids = os.listdir(d.fake + "/running")
        d.process.send_signal(signal.SIGSTOP)
        wait_until("ends", lambda: gone(pids[0]))
        d.process.send_signal(signal.SIGCONT)
        d.release("apply")
        wait_until("goes on", lambda: d.process.poll() is not None or
                   state(d, job) == "in force")
        # The lease may be over if the machine is busy.
        if d.process.poll() is not None:
            has(d.said(), "the lease of this aggd was over")
            spawned(d)
            wait_state(d, job, "ended")
            return
        equal(len(d.calls("apply")), 2)
        has(d.said(), "etcd has not answered for too long: aggctl was ended")


@row("with aggd or its watchdog all that children have started ends")
def watchdog_ended():
    with etcd() as e, on(e.store(), SHORT) as d:
        for victim in ("aggd", "watchdog"):
            d.hold("apply")
            job = submit(d, kind="reduce")
            wait_until("applies", d.running)
            pid = os.listdir(d.fake + "/running")[0]
            # Of the same process group, as ssh is
            other = subprocess.Popen(["sleep", "1000"], process_group=int(pid))
            try:
                if victim == "aggd":
                    d.kill()
                else:
                    os.kill(int(d.children(True)[0]), signal.SIGKILL)
                    equal(d.process.wait(DEADLINE), 1)
                    has(d.said(), "the watchdog of this aggd was ended")
                equal(other.wait(DEADLINE), -signal.SIGKILL)
            finally:
                other.kill()
            wait_until("ends", lambda: gone(pid))
            d.release("apply")
            shutil.rmtree(d.fake + "/running")
            os.mkdir(d.fake + "/running")
            spawned(d)
            wait_state(d, job, "ended")


@row("a job that is cancelled while it is verified is not in force after a crash")
def cancelled_while_verified():
    with etcd() as e, on(e.store(), SHORT) as d:
        job = submit(d)
        wait_state(d, job, "in force")
        d.hold("apply")
        d.kill()
        spawned(d)
        wait_until("verifies", d.running)
        equal(ask(d, {"op": "cancel", "job": job})["ok"], True)
        kill_with_child(d)
        d.release("apply")
        spawned(d)
        wait_state(d, job, "ended")
        equal(ask(d, {"op": "show", "job": job})["job"]["reason"], "cancelled")


@row("a child that does not end holds up the end of aggd for a bounded time")
def unending():
    libc = ctypes.CDLL(None, use_errno=True)
    with etcd() as e, on(e.store(), SHORT) as d:
        d.hold("apply")
        submit(d, kind="reduce")
        wait_until("applies", d.running)
        # PTRACE_SEIZE: only this process can wait for it.
        equal(libc.ptrace(0x4206, int(d.processes()[0]), 0, 0), 0)
        d.kill(signal.SIGTERM)
        equal(d.process.returncode, 0)
        d.release("apply")
        os.waitpid(-1, 0x40000000)
        spawned(d)


@row("a process that a child has started, and that has not ended: nobody else leads at once")
def group_that_stays():
    with etcd() as e, on(e.store()) as d:
        d.hold("apply")
        submit(d, kind="reduce")
        wait_until("applies", d.running)
        # Of the same process group, as ssh is; it is in it until it is waited for.
        other = subprocess.Popen(["sleep", "1000"], process_group=int(d.processes()[0]))
        try:
            d.kill(signal.SIGTERM)
            equal((d.process.returncode, e.keys("/aggnet/leader")), (0, ["/aggnet/leader"]))
            equal(other.wait(DEADLINE), -signal.SIGKILL)
        finally:
            other.kill()
        d.release("apply")
        e.delete("/aggnet/leader")
        spawned(d)


@row("without its key in etcd a leader does not write, though its lease goes on")
def fenced():
    with etcd() as e, on(e.store()) as a:
        job = submit(a)
        wait_state(a, job, "in force")
        e.delete("/aggnet/leader")
        before = e.content()
        answer = ask(a, GROUP_JOB)
        equal(answer["ok"], False)
        has(answer["error"], "another aggd leads, or has led")
        equal((a.process.wait(DEADLINE), e.content()), (1, before))
        spawned(a)
        equal((state(a, job), submit(a)), ("in force", 1002))


@row("without its key a leader ends, also if it has nothing to write")
def without_key():
    with etcd() as e, on(e.store(), SHORT) as a:
        wait_leads(a)
        e.delete("/aggnet/leader")
        equal(a.process.wait(DEADLINE), 1)
        has(a.said(), "another aggd leads, or has led")
        spawned(a)


@row("a leader's key that names nobody is a sentence of the standby")
def strange_leader():
    with etcd() as e:
        for value in (b"", b"{", b"[1]", b"\xff\x00", b"{\"host\": 1, \"socket\": {}}"):
            e.put("/aggnet/leader", value)
            before = e.content()
            with on(e.store()) as d:
                has(ask(d, {"op": "list"})["error"],
                    "the value of the key /aggnet/leader in etcd does not name the leader")
                equal(e.content(), before)
        with on(e.store()) as d:
            e.put("/aggnet/leader", b"{\"host\": \"a\\nb\\u001b\", \"socket\": \"/\"}")
            wait_until("named", lambda: "host a?b?, socket /:" in ask(d, {"op": "list"})["error"])
            e.delete("/aggnet/leader")
            wait_leads(d)


@row("without hosts, which another leader needs, aggd says so")
def without_hosts():
    for conf, said in (("", 1), ("hosts /etc/hosts\n", 0)):
        with on("etcd " + URL % PORT, conf=conf) as d:
            equal(d.said().count("store etcd without hosts"), said)


# --- etcd is down ------------------------------------------------------------------------

@row("etcd is down: jobs in force stay, nothing new begins, and the list says so")
def down():
    with etcd() as e, on(e.store()) as d:
        job = submit(d)
        wait_state(d, job, "in force")
        e.kill()
        wait_until("silent", lambda: ask(d, {"op": "submit"}) and not serves(d) or
                   not ask(d, {"op": "show", "job": job})["ok"] and not serves(d))
        answer, calls = ask(d, {"op": "list"}), d.calls()
        equal((answer["ok"], [j["state"] for j in answer["jobs"]]), (True, ["in force"]))
        has(answer["store"], SILENT)
        has(answer["store"], "etcd does not answer: http://127.0.0.1:2379: ")
        for request in (GROUP_JOB, {"op": "cancel", "job": job}):
            answer = ask(d, request)
            equal((answer["ok"], answer["fault"]), (False, "refused"))
            has(answer["error"], SILENT)
        for arguments, status in ((["list"], 0), (["submit", "--root", "v0", "--members", "v1"], 1),
                                  (["cancel", "1000"], 1), (["show", "1000"], 1)):
            done = subprocess.run([AGGCTL, "job", *arguments, "--socket", d.path],
                                  capture_output=True, text=True)
            equal(done.returncode, status)
            has(done.stderr, "etcd does not answer")
            equal(("in force" in done.stdout), arguments == ["list"])
        equal((d.calls(), d.entries()), (calls, ["1000.0.plan", "1000.1.plan"]))
        e.start()
        wait_until("serves", lambda: serves(d))
        equal((state(d, job), submit(d), d.calls()[:len(calls)]), ("in force", 1002, calls))
        cancel(d, job)
        has(d.said(), "etcd answers again")


@row("the journal has who leads, and not each question that etcd does not answer")
def journal():
    with etcd() as e, gateway(e) as g, on("etcd " + g.url) as a:
        wait_leads(a)
        with on(e.store(), like=a) as b:
            has(b.said(), "this aggd is a standby: the leader is the aggd of host")
        for _ in range(3):
            # As when its file is full
            g.answer("kv/txn", (429, b"{\"error\": \"space exceeded\"}"))
            has(ask(a, GROUP_JOB)["error"], "space exceeded")
            g.answer(None, b"")
            wait_until("serves", lambda: serves(a))
        equal(a.said().count("this aggd is the leader now"), 1)
        equal([a.said().count(s) < 3 for s in (SILENT, "etcd answers again")], [True, True])


@row("etcd goes down while a job is planned or applied: the job goes on when it is back")
def down_between():
    for verb in ("plan", "apply"):
        with etcd() as e, on(e.store()) as d:
            d.hold(verb)
            job = submit(d, kind="reduce")
            wait_until("runs", d.running)
            e.kill()
            wait_until("silent", lambda: not ask(d, {"op": "show", "job": job})["ok"])
            d.release(verb)
            wait_until("a fault", lambda: "fault" in ask(d, {"op": "list"})["jobs"][0])
            shown = ask(d, {"op": "list"})["jobs"][0]
            equal(shown["state"], "queued" if verb == "plan" else "applying")
            has(shown["fault"], "etcd does not answer")
            e.start()
            wait_state(d, job, "in force")
            equal((e.record(job)["state"], d.entries()), ("in force", ["1000.0.plan"]))


@row("etcd is down too long: processes of aggctl are ended before another aggd may lead")
def down_long():
    with etcd() as e, on(e.store(), SHORT) as d:
        job = submit(d)
        wait_state(d, job, "in force")
        d.hold("apply")
        half = submit(d)
        wait_until("applies", d.running)
        e.kill()
        wait_until("killed", lambda: not d.processes())
        equal((state(d, job), len(d.calls("apply"))), ("in force", 3))
        has(ask(d, {"op": "list"})["jobs"][1]["fault"], "aggctl was ended")
        d.release("apply")
        e.start()
        # The lease may be over, or not.
        wait_until("goes on", lambda: d.process.poll() is not None or serves(d))
        if d.process.poll() is not None:
            spawned(d)
        wait_until("decided", lambda: state(d, half) in ("in force", "ended"))
        equal(state(d, job), "in force")
        for j in (job, half):
            if state(d, j) == "in force":
                cancel(d, j)
        equal(d.entries(), [])


@row("an etcd that is too busy, or a proxy that answers for it, ends no job")
def busy():
    error = json.dumps({"error": "etcdserver: too many requests", "code": 8}).encode()
    with etcd() as e, gateway(e) as g, on("etcd " + g.url) as d:
        for answer in ((429, error), (401, error), (403, error), (408, error), (503, error), b"{}",
                       b"{\"header\": {}}", b"{\"header\": {\"cluster_id\": \"0\"}}",
                       b"{\"header\": {\"cluster_id\": \"7\"}}"):
            d.hold("plan")
            job = submit(d, kind="reduce")
            wait_until("plans", d.running)
            g.answer("kv/", answer)
            d.release("plan")
            wait_until("a fault", lambda: "fault" in ask(d, {"op": "list"})["jobs"][-1])
            equal(state(d, job), "queued")
            has(ask(d, {"op": "list"})["store"], SILENT)
            has(ask(d, {"op": "list"})["store"], "etcd: ")
            g.answer(None, b"")
            wait_state(d, job, "in force")
            cancel(d, job)


@row("a plan that comes late does not replace a newer one")
def late_plan():
    key = "/aggnet/plans/0000001000.0"
    with etcd() as e, gateway(e) as g, on("etcd " + g.url) as d:
        wait_leads(d)
        late, done, held = g.hold(key)
        job = submit(d, kind="reduce")
        wait_until("held", held.is_set)
        d.put("nodes", "v0 v1 v2\n")
        wait_state(d, job, "in force")
        plan = e.content()[key]
        has(plan.decode(), "v2")
        late.set()
        wait_until("late", done.is_set)
        equal(e.content()[key], plan)


@row("a job whose withdrawal etcd has not taken is not withdrawn before it has")
def withdrawal():
    key = "/aggnet/jobs/0000001000"
    with etcd() as e, gateway(e) as g, on("etcd " + g.url) as d:
        job = submit(d)
        wait_state(d, job, "in force")
        d.hold("withdraw")
        lost = []

        def lose(path, question):
            if len(lost) == 2 or not puts(path, question, key):
                return True
            lost.append(path)
            return False

        g.before = lose
        answer = ask(d, {"op": "cancel", "job": job})
        equal(answer["ok"], True)
        has(answer["store"], "job 1000 is cancelled, but the store does not have that yet")
        wait_until("withdraws", d.running)
        equal((e.record(job)["state"], len(lost)), ("withdrawing", 2))
        d.release("withdraw")
        wait_state(d, job, "ended")
        job = submit(d)
        wait_state(d, job, "in force")
        g.before = lambda path, question: not puts(path, question, "/aggnet/jobs/%010d" % job)
        done = subprocess.run([AGGCTL, "job", "cancel", str(job), "--no-wait", "--socket", d.path],
                              capture_output=True, text=True)
        equal(done.returncode, 0)
        has(done.stderr, "the store does not have that yet")
        g.before = lambda path, question: True
        wait_state(d, job, "ended")


@row("etcd is silent while aggd reads its jobs: what they reserve is counted")
def read_once():
    key = code("/aggnet/jobs/0000001000")
    with etcd() as e, gateway(e) as g:
        with on("etcd " + g.url, conf="node-memory 10M\n") as d:
            job = submit(d, kind="reduce", memory=6 << 20)
            wait_state(d, job, "in force")
            d.kill(signal.SIGTERM)
            seen = []

            def lose(path, question):
                if path == "kv/range" and question["key"] == key:
                    seen.append(path)
                    return len(seen) == 1
                return True

            g.before = lose
            spawned(d)
            g.before = lambda path, question: True
            other = submit(d, kind="reduce", memory=6 << 20)
            d.planned(other)
            equal((state(d, job), state(d, other)), ("in force", "queued"))


@row("a leader that ends gives up its lease, also if etcd was silent a moment ago")
def gives_up():
    with etcd() as e, gateway(e) as g, on("etcd " + g.url) as d:
        wait_leads(d)
        equal(e.keys("/aggnet/leader"), ["/aggnet/leader"])
        d.process.send_signal(signal.SIGSTOP)
        slow = threading.Event()
        g.before = lambda path, question: path != "kv/txn" or slow.wait(3) and False
        client = d.client()
        client.send(GROUP_JOB)
        d.process.send_signal(signal.SIGCONT)
        # It has not asked for as long as it has waited.
        equal(client.read()["ok"], False)
        g.before = lambda path, question: True
        d.kill(signal.SIGTERM)
        equal((d.process.returncode, e.keys("/aggnet/leader")), (0, []))
        d.start()


@row("one of three members is down: jobs go on; two are down: they wait for one of them")
def members():
    with etcd(3) as e, on(e.store()) as d:
        job = submit(d)
        wait_state(d, job, "in force")
        e.kill(0)
        equal(submit(d), 1002)
        wait_state(d, 1002, "in force")
        cancel(d, job)
        e.kill(1)
        wait_until("silent", lambda: not serves(d) or
                   not ask(d, {"op": "show", "job": job})["ok"] and not serves(d))
        equal((ask(d, GROUP_JOB)["ok"], state(d, 1002)), (False, "in force"))
        e.start(0)
        equal(submit(d) > 1002, True)
        equal(state(d, 1002), "in force")


@row("without an answer of etcd aggd starts, says so, and leads when there is one")
def none_at_start():
    with on("etcd " + URL % PORT) as d:
        answer = ask(d, {"op": "list"})
        equal((answer["ok"], answer["fault"]), (False, "refused"))
        has(answer["error"], "etcd does not answer: http://127.0.0.1:2379: ")
        has(d.said(), "etcd does not answer: http://127.0.0.1:2379: ")
        done = subprocess.run([AGGCTL, "job", "list", "--socket", d.path], capture_output=True,
                              text=True)
        equal((done.returncode, done.stdout), (1, ""))
        has(done.stderr, "etcd does not answer: http://127.0.0.1:2379: ")
        with etcd():
            equal(submit(d), 1000)


@row("a store that is not one, and a lease that is too short, are wrong usage")
def usage():
    base = ["--state", aggd_kit.tmp + "/none", "--aggctl", FAKE, "--socket",
            aggd_kit.tmp + "/none.sock"]
    for store, sentence in [
            ("", "--store: '' is not a text"),
            ("etcd", "store: must be 'file' or 'etcd URL,...'"),
            ("etcd:", "store: must be 'file' or 'etcd URL,...'"),
            ("etcd ", "does not begin with http:// or https://"),
            ("etcd 127.0.0.1:2379", "'127.0.0.1:2379' does not begin with"),
            ("etcd http://a,", "'' does not begin with"),
            ("etcd ftp://a", "'ftp://a' does not begin with"),
            ("etcd http://", "is not a URL"),
            ("etcd http://a b", "is not a URL"),
            ("etcd http://a:99999", "is not a URL"),
            ("etcd http://root:secret@a", "is not a URL without a user"),
            ("etcd http://a/b", "must have nothing after the host and the port"),
            ("etcd http://a?b", "must have nothing after the host and the port"),
            ("etcd http://" + "a" * 250, "is too long"),
            ("etcd " + ",".join(["http://a"] * 6), "more than 5 URLs")]:
        fails([*base, "--store", store], 2, sentence)
    for store, words, sentence in [
            ("etcd https://a", ["cert"], "etcd-cert and etcd-key need each other"),
            ("etcd https://a", ["key"], "etcd-cert and etcd-key need each other"),
            ("etcd https://a,http://b", ["cert", "key"], "need 'store etcd' with https:// URLs"),
            ("etcd http://a", ["ca"], "need 'store etcd' with https:// URLs"),
            ("file", ["ca"], "need 'store etcd' with https:// URLs")]:
        fails([*base, "--store", store] + [x for w in words for x in ("--etcd-" + w, "x")], 2,
              sentence)
    fails([*base, "--lease", "1"], 2, "lease: must be from 2 to 3600 seconds")
    equal(os.path.exists(aggd_kit.tmp + "/none"), False)


# --- who reaches etcd ---------------------------------------------------------------------

@row("etcd and aggd as jobs.rst sets them up; nobody else reaches this etcd")
def certificates():
    with page_etcd() as e, daemon(conf=e.conf()) as d:
        job = submit(d)
        wait_state(d, job, "in force")
        equal((e.record(job)["state"], "without etcd-cert" in d.said()), ("in force", False))
        others = [e.connection(0, sure=False)] + [
            http.client.HTTPConnection("10.0.0.1:%d" % port, timeout=20)
            for port in (PORT, PORT + 1)]
        with user(USER):
            for name in ("aggd.key", "ca.key", "h0/aggnet/aggd.key", "h0/etcd/etcd.key"):
                with contextlib.suppress(PermissionError), open(e.dir + "/" + name):
                    raise AssertionError(name + " can be read")
            for connection in others:
                with contextlib.suppress(OSError, http.client.HTTPException):
                    connection.request("POST", "/v3/kv/range", "{\"key\": \"AA==\"}")
                    equal(connection.getresponse().status in (400, 404), True)
        e.kill(0)
        wait_until("serves", lambda: ask(d, {"op": "show", "job": job})["ok"])
        cancel(d, job)


@row("certificates that are missing, wrong or open to others are sentences")
def wrong_certificates():
    with page_etcd() as e:
        os.mkdir(e.dir + "/other")
        subprocess.run(["bash", "-ec", block("openssl req")], cwd=e.dir + "/other",
                       capture_output=True, check=True)
        store = ["--store", "etcd " + e.urls[0]]
        key = ["--etcd-key", e.dir + "/aggd.key"]
        ca = ["--etcd-ca", e.dir + "/ca.crt"]
        for words, sentence in [
                (ca, "certificate"),
                (["--etcd-cert", e.dir + "/aggd.crt", *key], "certificate"),
                ([*ca, "--etcd-cert", e.dir + "/other/aggd.crt",
                  "--etcd-key", e.dir + "/other/aggd.key"], "certificate"),
                ([*ca, "--etcd-cert", e.dir + "/ca.key", *key], "certificate"),
                (["--etcd-ca", e.dir + "/other/ca.crt"], "certificate")]:
            with daemon(*store, *words) as d:
                answer = ask(d, {"op": "list"})
                equal(answer["ok"], False)
                has(answer["error"], "etcd does not answer: %s: " % e.urls[0])
                has(answer["error"].lower(), sentence)
                equal("without etcd-cert" in d.said(), "--etcd-cert" not in words)
        equal(e.content(), {})
        shutil.copy(e.dir + "/aggd.key", e.dir + "/open.key")
        cert = ["--state", aggd_kit.tmp + "/wrong", "--socket", aggd_kit.tmp + "/wrong.sock",
                "--aggctl", FAKE, *store, "--etcd-cert", e.dir + "/aggd.crt"]
        fails([*cert, "--etcd-key", e.dir + "/none"], 1,
              "etcd-key: %s/none: No such file or directory" % e.dir)
        fails([*cert, "--etcd-key", e.dir], 1, "etcd-key: %s: not a file" % e.dir)
        for mode, owner in ((0o604, 0), (0o640, 0), (0o620, 0), (0o600, USER)):
            os.chmod(e.dir + "/open.key", mode)
            os.chown(e.dir + "/open.key", owner, 0)
            fails([*cert, "--etcd-key", e.dir + "/open.key"], 1, "etcd-key: %s/open.key: other "
                  "users have access to it: make it a file of root with mode 600" % e.dir)


# --- the cluster, and the directory ---------------------------------------------------------

@row("answers of another cluster are not taken, also by the next aggd of the directory")
def other_cluster():
    with etcd() as e, etcd(port=PORT + 100) as other:
        with on(",".join([e.store(), other.urls[0]])) as d:
            job = submit(d)
            wait_state(d, job, "in force")
            before = other.content()
            e.kill()
            wait_until("other", lambda: ask(d, GROUP_JOB) and "etcd: %s: a member of cluster" %
                       other.urls[0] in ask(d, {"op": "list"}).get("store", ""))
            equal((state(d, job), other.content()), ("in force", before))
            d.kill()
            d.options = ("--store", other.store())
            d.start()
            has(ask(d, {"op": "list"})["error"], "jobs are in cluster")
            equal((other.content(), d.entries()), (before, ["1000.0.plan", "1000.1.plan"]))
            d.kill()
            for text in ("", "x\n", "0\n", "12 \n", "12\n", "12 0\n", "0 12\n", "12 12"):
                with open(d.dir + "/state/cluster", "w") as f:
                    f.write(text)
                fails(d.command()[1:], 1, "cluster: not the ID of a cluster of etcd")
            os.unlink(d.dir + "/state/cluster")
            spawned(d)
            equal(state(d, job), None)


def wait_refuses(d):
    wait_until("refuses", lambda: "etcd has lost its data" in ask(d, {"op": "list"})["error"])


@row("an etcd that has lost its data is not taken for the one that has the jobs")
def lost_data():
    with etcd() as e, on(e.store()) as a, on(e.store(), like=a) as b:
        wait_until("leads", lambda: leads(a) or leads(b))
        leader, other = (a, b) if leads(a) else (b, a)
        job = submit(leader)
        wait_state(leader, job, "in force")
        has(ask(other, {"op": "list"})["error"], "this aggd is a standby")
        e.kill()
        shutil.rmtree(e.dir + "/m0")
        # Its cluster has the same ID again.
        e.start()
        ask_if(leader, GROUP_JOB)
        equal(leader.process.wait(DEADLINE), 1)
        leader.start()
        wait_refuses(leader)
        wait_refuses(other)
        equal((e.content(), len(a.entries())), ({}, 2))
        for d in (leader, other):
            d.kill()
            os.unlink(d.dir + "/state/cluster")
        spawned(leader)
        other.start()
        equal((leads(other), submit(leader)), (False, 1000))
        # A job that begins would find out first that the key of the leader is gone.
        wait_state(leader, 1000, "in force")
        e.put("/aggnet/cluster", "x")
        e.delete("/aggnet/leader")
        has(ask(leader, GROUP_JOB)["error"], "another aggd leads, or has led")
        equal(leader.process.wait(DEADLINE), 1)
        wait_refuses(other)
        # Nor is a key that is not a number taken, by an aggd that does not know one.
        os.unlink(leader.dir + "/state/cluster")
        leader.start()
        wait_until("refuses", lambda: "/aggnet/cluster: not a number of 16 digits: remove the key"
                   in ask(leader, {"op": "list"})["error"])


@row("jobs of the directory have to end before etcd is used, and job IDs go on")
def from_directory():
    with etcd() as e, daemon() as d:
        client = d.client()
        job = client.submit()
        client.wait(job)
        d.kill()
        d.options = ("--store", e.store())
        fails(d.command()[1:], 1, "/jobs/1000.json: the job has not ended: run aggd with "
              "'store file', cancel its jobs, and then use etcd")
        d.options = ()
        d.start()
        client = d.client()
        equal(client.ask({"op": "cancel", "job": job})["ok"], True)
        client.wait(job, "ended")
        d.kill()
        d.options = ("--store", e.store())
        spawned(d)
        equal(submit(d), 1002)
        d.kill(signal.SIGTERM)
        d.options = ()
        fails(d.command()[1:], 1, "/cluster: jobs are in etcd: cancel them, write a number that "
              "exceeds all job IDs to")
        e.clear()
        os.unlink(d.dir + "/state/cluster")
        d.options = ("--store", e.store(), "--first", "1500")
        spawned(d)
        equal(submit(d), 1500)


@row("IDs of a directory are not given again by an aggd that has another one")
def directories():
    with etcd() as e, daemon() as a:
        job = a.client().submit()
        cancel(a, job)
        a.kill()
        a.options = ("--store", e.store())
        spawned(a)
        a.kill(signal.SIGTERM)
        with on(e.store()) as b:
            equal(submit(b), job + 2)
            b.kill(signal.SIGTERM)
            with open(a.dir + "/state/counter", "w") as f:
                f.write("1500\n")
            spawned(a)
            equal(submit(a), 1500)
            a.kill(signal.SIGTERM)
            spawned(b)
            equal(submit(b), 1502)
        spawned(a)


# --- what etcd has is wrong --------------------------------------------------------------

def record(job, **members):
    spec = {"root": "v0", "members": ["v1"], "kind": "group", "function": "sum",
            "type": "int64", "objective": "traffic", "memory": 65536, "time": 3600,
            "elements": 10}
    return {"job": job, "user": USER, "state": "queued", "submitted": 1, "spec": spec, **members}


RECORDS = [
    (b"", "not JSON"),
    (b"{", "not JSON"),
    (b"\xff\xfe", "not JSON"),
    (b"[" * 100000, "not JSON"),
    (b"{\"job\": 1000, \"job\": 1000}", "not JSON"),
    (b"[]", "the record of job 1000 is not complete"),
    (b"\"x\"", "not JSON"),
    (b"{}", "the record of job 1000 is not complete"),
    (record(1001), "the record of job 1000 is not complete"),
    (record(1000, user=-1), "the record of job 1000 is not complete"),
    (record(1000, user=2 ** 32), "the record of job 1000 is not complete"),
    (record(1000, state="lost"), "the record of job 1000 is not complete"),
    (record(1000, ends=-1), "the record of job 1000 is not complete"),
    (record(1000, ends="x"), "the record of job 1000 is not complete"),
    (record(1000, spec=[]), "the record of job 1000: submit: not an object"),
    (record(1000, spec={"root": "v0", "members": ["@/etc/shadow"]}), "element 1 is not"),
    (record(1000, spec={"root": "v0", "members": [1]}), "element 1 is not"),
    (record(1000, spec={"root": "--hosts=x", "members": ["v1"]}), "'root' is not the name"),
    (record(1000, spec={"root": "v0", "members": ["v1"], "memory": 2 ** 62 - 1}), "too large"),
    (record(1000, state="in force", nodes={"v0": 2 ** 62}), "the bytes of v0 are not from 0"),
    (record(1000, state="in force", nodes={"v0": -1}), "the bytes of v0 are not from 0"),
    (b"\"" + b"x" * (1 << 20) + b"\"", "has more than 1 MiB"),
]


@row("a record that is wrong is a sentence, and stays; other jobs go on")
def wrong_records():
    with etcd() as e:
        e.put("/aggnet/counter", "1004")
        e.put("/aggnet/jobs/0000001002", json.dumps(record(1002)))
        for value, sentence in RECORDS:
            if not isinstance(value, bytes):
                value = json.dumps(value).encode()
            e.put("/aggnet/jobs/0000001000", value)
            with on(e.store(), conf="first 5\n") as d:
                wait_leads(d)
                has(d.said(), sentence)
                wait_state(d, 1002, "in force")
                equal((state(d, 1000), [c for c in d.calls() if "1000" in c]), (None, []))
                equal(e.content()["/aggnet/jobs/0000001000"], value)
        with on(e.store()) as d:
            equal(submit(d), 1004)


@row("keys that are not names of jobs, and IDs that the counter has not given")
def wrong_keys():
    with etcd() as e:
        e.put("/aggnet/counter", "1004")
        e.put("/aggnet/jobs/0000001002", json.dumps(record(1002)))
        for name in ("1002", "0000001002\0", "0000001002x", "00000010021", "", "-000001002",
                     "0000000000", "9999999999", "\u00e9", "0000001004"):
            e.put("/aggnet/jobs/" + name, json.dumps(record(1004)))
        before = e.content()
        with on(e.store()) as d:
            wait_leads(d)
            equal([j["job"] for j in ask(d, {"op": "list"})["jobs"]], [1002])
            equal(d.said().count("is not the name of a job"), 9)
            has(d.said(), "/aggnet/jobs/0000001004: the ID is not below /aggnet/counter")
            cancel(d, 1002)
        after = e.content()
        equal({k for k in before if before[k] != after.get(k)}, {"/aggnet/jobs/0000001002"})


@row("many jobs are read, in several answers of etcd")
def many():
    with etcd() as e:
        e.put("/aggnet/counter", "5000")
        for first in range(1000, 2100, 100):
            e.ask("kv/txn", {"success": [{"request_put": {
                "key": code("/aggnet/jobs/%010d" % i),
                "value": code(json.dumps(record(i, state="ended")))}}
                for i in range(first, first + 100)]})
        with on(e.store(), conf="history 2000\n") as d:
            wait_leads(d)
            client, found, after = d.client(), [], 0
            while len(found) == 0 or answer["more"]:
                answer = client.ask({"op": "list", "after": after})
                found += [j["job"] for j in answer["jobs"]]
                after = found[-1]
            equal(found, list(range(1000, 2100)))


@row("a counter that is not a number: nothing is submitted, and jobs go on")
def wrong_counter():
    with etcd() as e:
        for value in (b"", b"x", b"-1", b"0", b"4294967296", b"1e9", b"1000\0", b"1000 ",
                      b"9" * 100000):
            e.put("/aggnet/counter", value)
            e.put("/aggnet/jobs/0000001000", json.dumps(record(1000)))
            with on(e.store()) as d:
                wait_leads(d)
                wait_state(d, 1000, "in force")
                before = e.content()
                has(ask(d, GROUP_JOB)["error"], "/aggnet/counter: not a number: write one that "
                    "exceeds all job IDs")
                equal(e.content(), before)
        e.put("/aggnet/counter", str(2 ** 32 - 2))
        with on(e.store()) as d:
            wait_leads(d)
            has(ask(d, GROUP_JOB)["error"], "all job IDs have been used")


@row("a record that a stranger changes or removes while the job is in force")
def changed_record():
    with etcd() as e, on(e.store()) as d:
        job, other = submit(d), submit(d)
        for j in (job, other):
            wait_state(d, j, "in force")
        key, right = "/aggnet/jobs/%010d" % job, e.record(job)
        for value, sentence in ((b"{", "not JSON"), (json.dumps({**right, "spec": {}}).encode(),
                                                     "submit: ")):
            e.put(key, value)
            answer = ask(d, {"op": "show", "job": job})
            equal(answer["ok"], False)
            has(answer["error"], sentence)
        equal(ask(d, {"op": "cancel", "job": job})["ok"], True)
        wait_until("withdrawn", lambda: "1000.0.plan" not in d.entries() and
                   "fault" in ask(d, {"op": "list"})["jobs"][0])
        equal((state(d, job), e.content()[key]), ("withdrawing", value))
        e.put(key, json.dumps(right))
        wait_state(d, job, "ended")
        cancel(d, other)


# --- answers that are wrong ----------------------------------------------------------------

GARBAGE = [
    b"", b"{", b"[]", b"null", b"1e999", b"<html>not etcd</html>", b"\x00" * 100,
    b"[" * 300000, b"{\"a\":" * 3000, b" " * (5 << 20), b"{\"error\": 1}",
    b"{\"error\": {\"message\": \"x\\n\\u001b[31m\"}}",
]
# With the header of the etcd
WRONG = [
    {},
    {"kvs": 1, "responses": {}, "result": "", "ID": {}},
    {"kvs": [1, {}, None], "succeeded": True, "ID": "-1", "more": True},
    {"kvs": [{"key": "=", "value": "===="}], "more": True, "succeeded": True},
    {"kvs": [{"key": 1, "value": []}], "succeeded": 1, "ID": 1e300},
    {"succeeded": False, "responses": [{}, {}], "ID": "99999999999999999999"},
    {"kvs": [{"key": code("/aggnet/jobs/0000001000"), "value": code("x")}], "count": "1",
     "more": True, "succeeded": True, "ID": "1", "result": {"TTL": "1"}},
]


def answers(e, first):
    """Wrong answers, with garbage only for the first kind of questions"""
    header = e.ask("kv/range", {"key": code("x")})["header"]
    return (GARBAGE if first else []) + [json.dumps({"header": header, **w}).encode()
                                         for w in WRONG]


def ask_if(d, request):
    """Is the answer, if aggd does not end, that it is done?"""
    with contextlib.suppress(OSError):
        answer = ask(d, request)
        return answer and answer["ok"]
    return False


def ends_well(d):
    """It has ended with a sentence, or goes on now that the answers are right."""
    wait_until("ends or leads", lambda: d.process.poll() is not None or
               ask_if(d, {"op": "list"}) and serves(d))
    if d.process.poll() is not None:
        equal(d.process.returncode, 1)
        has(d.said(), "aggd: ")


@row("wrong answers when aggd starts are sentences, and it leads when they are right")
def wrong_first_answers():
    with etcd() as e, gateway(e) as g:
        for path in ("kv/range", "lease/grant", "kv/txn"):
            for answer in answers(e, path == "kv/range"):
                e.clear()
                g.answer(path, answer)
                d = aggd_kit.Daemon("--store", "etcd " + g.url, "--lease", "2")
                try:
                    wait_until("asks", lambda: g.asked)
                    ask_if(d, {"op": "list"})
                    g.answer(None, b"")
                    if path == "kv/range":
                        ends_well(d)
                    else:
                        equal(d.process.poll() in (None, 1), True)
                finally:
                    d.end()


def wrong_answers(path):
    with etcd() as e, gateway(e) as g:
        for answer in answers(e, path == "kv/txn"):
            e.clear()
            d = aggd_kit.Daemon("--store", "etcd " + g.url, "--lease", SHORT)
            try:
                job = submit(d)
                wait_state(d, job, "in force")
                g.answer(path, answer)
                for request in (GROUP_JOB, {"op": "show", "job": job}, {"op": "list"}):
                    ask_if(d, request)
                wait_until("asks", lambda: g.asked)
                equal([n for n in d.entries() if n.startswith(str(job))],
                      ["%d.%d.plan" % (job, i) for i in range(2)])
                g.answer(None, b"")
                ends_well(d)
            finally:
                d.end()


for asked in ("kv/range", "kv/txn", "lease/keepalive"):
    row("wrong answers to %s while aggd leads are sentences, and jobs in force stay" % asked)(
        functools.partial(wrong_answers, asked))


@row("an etcd that takes questions and does not answer holds up no connection for long")
def hanging():
    with etcd() as e, gateway(e) as g, on("etcd " + g.url, SHORT) as d:
        job = submit(d)
        wait_state(d, job, "in force")
        free = threading.Event()
        g.change = lambda path, right: free.wait() and None
        wait_until("silent", lambda: not serves(d))
        has(ask(d, {"op": "list"})["store"], "etcd does not answer")
        equal(ask(d, GROUP_JOB)["ok"], False)
        g.change = lambda path, right: right
        free.set()
        wait_until("goes on", lambda: d.process.poll() is not None or serves(d))
        if d.process.poll() is not None:
            spawned(d)
        equal(state(d, job), "in force")


@row("a submission whose answer is lost is refused, and its job does not come back")
def lost_answer():
    with etcd() as e, gateway(e) as g, on("etcd " + g.url) as d:
        wait_leads(d)
        seen = []

        def lose(path, right):
            # The second transaction of a submission has the record.
            seen.append(path)
            return None if seen.count("kv/txn") == 2 and path == "kv/txn" else right

        g.change = lose
        answer = ask(d, GROUP_JOB)
        equal(answer["ok"], False)
        has(answer["error"], "etcd does not answer")
        has(answer["error"], "job 1000 may have been submitted: when etcd answers, see "
            "'aggctl job list' before you submit it again")
        g.change = lambda path, right: right
        wait_until("forgotten", lambda: not e.keys("/aggnet/jobs/"))
        equal(ask(d, {"op": "list"})["jobs"], [])
        equal(submit(d) > 1000, True)


@row("a submission that comes late, when it was refused, is not taken")
def late_submission():
    with etcd() as e, gateway(e) as g, on("etcd " + g.url) as d:
        wait_leads(d)
        late, done, _ = g.hold("/aggnet/jobs/0000001000")
        has(ask(d, GROUP_JOB)["error"], "job 1000 may have been submitted")
        counter = {"key": code("/aggnet/counter")}
        wait_until("forgotten", lambda: int(e.ask("kv/range", counter)["kvs"][0]["version"]) > 2)
        late.set()
        wait_until("late", done.is_set)
        equal((e.keys("/aggnet/jobs/"), e.content()["/aggnet/counter"]), ([], b"1002"))
        equal(submit(d), 1002)
        d.kill()
        e.delete("/aggnet/leader")
        spawned(d)
        equal(state(d, 1000), None)


@row("keys without end are a sentence")
def endless():
    with etcd() as e, gateway(e) as g:
        header = e.ask("kv/range", {"key": code("x")})["header"]
        pages = []
        asked = {}

        def before(path, question):
            asked.clear()
            asked.update(question)
            if question.get("limit"):
                pages.append(path)
            return True

        def change(path, right):
            # Other questions are those of the lease, which is renewed meanwhile.
            if not asked.get("limit"):
                return right
            kvs = [{"key": code("/aggnet/jobs/x%04d%04d" % (len(pages), i))} for i in range(4000)]
            return json.dumps({"header": header, "kvs": kvs, "more": True}).encode()

        g.before = before
        g.change = change
        base = aggd_kit.tmp + "/endless"
        fails(["--state", base, "--socket", base + ".sock", "--aggctl", FAKE,
               "--store", "etcd " + g.url], 1,
              "etcd: there are more than 11356 keys below /aggnet/jobs/: remove those that are "
              "not jobs")
        equal(len(pages), 3)


def start():
    """The test has a network of its own; an unprivileged user cannot read all directories."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    shutil.copy(ETCD, aggd_kit.tmp + "/etcd")


sys.exit(main(start))
