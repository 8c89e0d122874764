# SPDX-License-Identifier: GPL-2.0
"""The rows of test_aggd.sh: each starts an aggd of its own, with an empty state."""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import aggd_kit
from aggd_kit import (AGGCTL, AGGD, DEADLINE, GROUP, GROUP_JOB, OTHER, TOP, USER, daemon, equal,
                      has, main, row, user, wait_until)

# --- requests -----------------------------------------------------------------------

MALFORMED = [
    (b"\n", "the request is not JSON"),
    (b"{\n", "the request is not JSON"),
    (b"[]\n", "the request is not an object"),
    (b"{\"op\": \"list\", \"op\": \"list\"}\n", "the request is not JSON"),
    (b"{\"op\": \"list\"} {}\n", "the request is not JSON"),
    (b"{\"op\": \"li\\u0000st\"}\n", "the request is not JSON"),
    (b"\xff\xfe\n", "the request is not JSON"),
    (b"[" * 5000 + b"\n", "the request is not JSON"),
    (b"{}\n", "the request has no member 'op'"),
    (b"{\"op\": 1}\n", "the request has no member 'op'"),
    (b"{\"op\": \"lost\"}\n", "unknown operation 'lost'"),
    (b"{\"op\": \"list\", \"job\": 1}\n", "list: unknown member 'job'"),
    (b"{\"op\": \"list\", \"after\": \"1\"}\n", "list: 'after' must be a whole number"),
    (b"{\"op\": \"show\"}\n", "show: needs 'job'"),
    (b"{\"op\": \"show\", \"job\": 1.0}\n", "show: 'job' must be a whole number"),
    (b"{\"op\": \"wait\", \"job\": 1, \"for\": \"x\"}\n",
     "wait: 'for' must be 'in force' or 'ended'"),
]

# What replaces members of a right submission; None: it is not there.
WRONG = [
    ({"colour": 1}, "unknown member 'colour'"),
    ({"kind": "star"}, "'kind' must be group or reduce"),
    ({"kind": 1}, "'kind' must be a string"),
    ({"root": None}, "needs 'root'"),
    ({"root": "v0*2"}, "'root' is not the name of a server"),
    ({"root": "@/etc/shadow"}, "'root' is not the name of a server"),
    ({"members": None}, "'members' must name a server"),
    ({"members": []}, "'members' must name a server"),
    ({"members": "v1"}, "'members' must be a list of strings"),
    ({"members": ["v1", 2]}, "element 2 is not"),
    ({"members": ["@/etc/shadow"]}, "element 1 is not"),
    ({"members": ["v1", "--seed"]}, "element 2 is not"),
    ({"members": ["v1,v2"]}, "element 1 is not"),
    ({"members": ["v1\n"]}, "element 1 is not"),
    ({"members": ["v1*"]}, "element 1 is not"),
    ({"members": ["v1*0"]}, "element 1 is not"),
    ({"members": ["v1*1025"]}, "element 1 is not"),
    ({"members": [""]}, "element 1 is not"),
    ({"members": ["v%d*1024" % i for i in range(33)]}, "33793 ranks are more than 33025"),
    ({"receivers": ["v2"]}, "a group has neither 'receivers' nor 'sorted'"),
    ({"sorted": True}, "a group has neither 'receivers' nor 'sorted'"),
    ({"sorted": 1}, "'sorted' must be true or false"),
    ({"function": "topk"}, "'function' of a group is sum, min or max, not 'topk'"),
    ({"function": "-h"}, "'function' is not a name"),
    ({"type": "--dot=x"}, "'type' is not a name"),
    ({"objective": "\u00e9"}, "'objective' is not a name"),
    ({"scale": 63}, "'scale' must be from 0 to 62"),
    ({"k": 0}, "'k' must be from 1 to 64"),
    ({"elements": 0}, "'elements' must be from 1 to"),
    ({"elements": 1.5}, "'elements' must be a whole number"),
    ({"elements": 2 ** 63}, "the request is not JSON"),
    ({"memory": 65535}, "'memory' must be from 65536 to"),
    ({"memory": 2 ** 28}, "the job needs 536870912 bytes at a node, where all jobs together "
                          "may have 268435456: lower 'memory'"),
    ({"time": 0}, "'time' must be from 1 to"),
    ({"time": 86401}, "'time' exceeds the limit of 86400 seconds"),
    ({"kind": "reduce", "receivers": ["v2"]}, "give 'root' or 'receivers', not both"),
    ({"kind": "reduce", "root": None, "receivers": []}, "'receivers' must name a server"),
    ({"kind": "reduce", "elements": 2, "sorted": True}, "give 'elements' or 'sorted'"),
]


@row("requests that are not JSON, or are for no operation")
def malformed():
    with daemon() as d:
        client, before = d.client(), d.files()
        for data, sentence in MALFORMED:
            answer = client.raw(data)
            equal((answer["ok"], answer["fault"]), (False, "usage"))
            has(answer["error"], sentence)
        equal(d.files(), before)
        equal(client.ask({"op": "list"}), {"ok": True, "jobs": [], "more": False})


@row("submissions that are wrong change nothing, and name what is wrong")
def wrong():
    with daemon() as d:
        client, before = d.client(), d.files()
        for members, sentence in WRONG:
            request = {**GROUP_JOB, **members}
            client.refused({k: v for k, v in request.items() if v is not None}, sentence,
                           "usage")
        equal((d.files(), d.calls()), (before, []))
        equal(client.submit(), 1000)


@row("a request of 65536 bytes is read, and one more is refused")
def too_large():
    with daemon() as d:
        request = b"{\"op\": \"list\"}"
        client = d.client()
        equal(client.raw(request + b" " * (65535 - len(request)) + b"\n")["ok"], True)
        answer = client.raw(request + b" " * (65536 - len(request)))
        has(answer["error"], "a request has at most 65536 bytes")
        equal(client.read(), None)
        equal(d.client().ask({"op": "list"})["ok"], True)


@row("half a line, several lines at once, and the end of the input")
def lines():
    with daemon() as d:
        client, line = d.client(), b"{\"op\": \"list\"}\n"
        client.socket.sendall(line[:5])
        equal(d.client().ask({"op": "list"})["ok"], True)
        equal(client.raw(line[5:])["ok"], True)
        client.socket.sendall(line + b"x\n" + line)
        equal([client.read()["ok"] for _ in range(3)], [True, False, True])
        client.socket.sendall(line[:5])
        client.socket.shutdown(socket.SHUT_WR)
        has(client.read()["error"], "the request does not end with a newline")
        equal(client.read(), None)
        client = d.client()
        client.socket.sendall(line + line)
        client.socket.shutdown(socket.SHUT_WR)
        equal([client.read() and True for _ in range(3)], [True, True, None])


# --- jobs ---------------------------------------------------------------------------

@row("a group from its submission to its end, and the arguments of aggctl")
def group():
    with daemon(conf="allow all\nhosts /hosts\nsudo\nssh my ssh\n") as d:
        with user(USER):
            client = d.client()
        job = client.submit(members=["v1*3", "v2"], elements=100, time=50, memory=65536,
                            type="float64", function="max")
        shown = client.wait(job)
        equal((shown["state"], shown["user"]), ("in force", USER))
        equal(shown["group"], "root=10.0.0.1,up=1000,down=1001,ranks=5")
        equal(shown["ends"] - time.time() > 40, True)
        state = d.dir + "/state/jobs/"
        common = "--uid=4000 --topology=net --memory=65536 --objective=traffic --persist "
        hosts = " --hosts=/hosts --ssh=my ssh --sudo"
        equal(d.calls(), [
            "-j plan --job=1000 " + common + "--senders=v0,v1*3,v2 --receivers=v0 "
            "--function=max --type=float64 --elements=100",
            "-j plan --job=1001 " + common + "--collective=bcast --root=v0 "
            "--receivers=v1*3,v2",
            "apply " + state + "1000.0.plan" + hosts,
            "apply " + state + "1000.1.plan" + hosts])
        equal(d.entries(), ["1000.0.plan", "1000.1.plan"])
        equal(os.stat(state + "1000.0.plan").st_mode & 0o777, 0o600)
        equal(client.ask({"op": "cancel", "job": job})["ok"], True)
        shown = client.wait(job, "ended")
        equal((shown["state"], shown["reason"], shown["failed"]),
              ("ended", "cancelled", False))
        equal(d.calls()[4:], ["withdraw %s1000.%d.plan --if-exists" % (state, i) + hosts
                              for i in range(2)])
        equal(d.entries(), [])
        equal(os.listdir(state), ["1000.json"])
        client.refused({"op": "cancel", "job": job}, "job 1000 has ended", "refused")
        equal(client.submit(), 1002)


@row("a reduce with receivers, and its arguments")
def reduce():
    with daemon() as d:
        client = d.client()
        answer = client.ask({"op": "submit", "kind": "reduce", "members": ["v1", "v2"],
                             "receivers": ["v3", "v4"], "function": "topk", "k": 3,
                             "sorted": True, "objective": "time"})
        shown = client.wait(answer["job"]["job"])
        equal((shown["state"], "group" in shown), ("in force", False))
        has(d.calls("plan")[0], "--objective=time --senders=v1,v2 --receivers=v3,v4 "
            "--function=topk --type=int64 --k=3 --sorted")
        equal(len(d.calls()), 2)


@row("the sentence of a plan that aggctl refuses")
def plan_fails():
    with daemon() as d:
        d.fail("plan", "aggctl: plan: v1 is not there\naggctl: see \x1b[31m\xe9\n")
        client = d.client()
        shown = client.wait(client.submit())
        equal((shown["state"], shown["failed"]), ("ended", True))
        has(shown["reason"], "plan: v1 is not there; see ?[31m")
        equal(d.calls("apply") + d.calls("withdraw"), [])


@row("entries of a plan that cannot be applied are withdrawn")
def apply_fails():
    with daemon() as d:
        d.fail("apply", "aggctl: v1: out of memory\n")
        client = d.client()
        shown = client.wait(client.submit(), "ended")
        equal((shown["reason"], shown["failed"]), ("v1: out of memory", True))
        equal(d.entries(), [])


@row("a withdrawal that fails is tried again, and the job tells why")
def withdraw_fails():
    with daemon() as d:
        client = d.client()
        job = client.submit()
        client.wait(job)
        d.fail("withdraw", "aggctl: v1: no route\n")
        client.ask({"op": "cancel", "job": job})
        wait_until("tries three times", lambda: len(d.calls("withdraw")) >= 3)
        shown = client.show(job)
        equal((shown["state"], shown["fault"]), ("withdrawing", "v1: no route"))
        d.mend("withdraw")
        shown = client.wait(job, "ended")
        equal((shown["reason"], "fault" in shown, d.entries()), ("cancelled", False, []))


@row("an aggctl that does not end is killed")
def child_time():
    with daemon("--child-time", "50ms") as d:
        d.hold("apply")
        client = d.client()
        shown = client.wait(client.submit(), "ended")
        equal(shown["reason"], "aggctl has not ended within 50 ms")
        for name in os.listdir(d.fake + "/running"):
            os.unlink(d.fake + "/running/" + name)


@row("without aggctl a job waits, and tells why")
def no_aggctl():
    with daemon("--aggctl", "/none") as d:
        client = d.client()
        job = client.submit()
        wait_until("fails", lambda: "fault" in client.show(job))
        equal(client.show(job)["fault"], "/none: No such file or directory")
        client.ask({"op": "cancel", "job": job})
        equal(client.wait(job, "ended")["reason"], "cancelled")


@row("a job ends when its time is over")
def lease():
    with daemon() as d:
        client = d.client()
        job = client.submit(time=1)
        client.wait(job)
        equal(client.wait(job, "ended")["reason"], "its time is over")
        equal(d.entries(), [])


@row("an attached job ends with its connection, in each state")
def attached():
    with daemon() as d:
        client = d.client()
        for verb in ("plan", "apply", None):
            if verb:
                d.hold(verb)
            other = d.client()
            job = other.submit(attached=True)
            if verb:
                wait_until("runs", d.running)
            else:
                client.wait(job)
            other.close()
            if verb:
                wait_until("ends", lambda: "reason" in client.show(job))
                d.release(verb)
            equal(client.wait(job, "ended")["reason"], "its connection was closed")
            for name in os.listdir(d.fake + "/running"):
                os.unlink(d.fake + "/running/" + name)
        job = client.submit()
        other = d.client()
        job = other.submit(attached=True)
        other.send({"op": "wait", "job": job, "for": "ended"})
        other.socket.shutdown(socket.SHUT_WR)
        equal(other.read()["job"]["reason"], "its connection was closed")
        equal(other.read(), None)


@row("jobs are cancelled in each state")
def cancelled():
    with daemon() as d:
        client, other = d.client(), d.client()
        for verb in ("plan", "apply", "withdraw"):
            d.hold(verb)
            job = client.submit()
            if verb == "withdraw":
                client.wait(job)
                client.ask({"op": "cancel", "job": job})
            wait_until("runs", d.running)
            client.send({"op": "wait", "job": job})
            equal(other.ask({"op": "cancel", "job": job})["ok"], True)
            if verb != "plan":
                d.release(verb)
            shown = client.read()["job"]
            shown = other.wait(job, "ended")
            equal((shown["state"], shown["reason"]), ("ended", "cancelled"))
            if verb == "plan":
                d.release(verb)
            for name in os.listdir(d.fake + "/running"):
                os.unlink(d.fake + "/running/" + name)
            equal(d.entries(), [])


# --- users --------------------------------------------------------------------------

@row("users that are not allowed, and those that are")
def allowed():
    conf = "# who\nallow user %d # one\n  allow   group %d\n" % (USER, GROUP)
    with daemon(conf=conf) as d:
        for who, sentence in [
                (user(OTHER), "user 4001 may not submit jobs"),
                (user(OTHER, groups=[4101]), "user 4001 may not submit jobs"),
                (user(USER), None), (user(OTHER, gid=GROUP), None),
                (user(OTHER, groups=[4101, GROUP]), None)]:
            with who:
                client = d.client()
            if sentence:
                before = d.files()
                client.refused(GROUP_JOB, sentence, "refused")
                equal(d.files(), before)
            else:
                client.submit()
        with user(65534):
            client = d.client()
        has(client.read()["error"], "aggd does not know the user")


@row("users see and cancel their own jobs, and root all")
def others():
    with daemon(conf="allow all\n") as d:
        with user(USER):
            mine = d.client()
        with user(OTHER):
            other = d.client()
        job = mine.submit()
        mine.wait(job)
        for op in ("show", "cancel", "wait"):
            other.refused({"op": op, "job": job}, "user 4001 has no job 1000", "refused")
            other.refused({"op": op, "job": 9}, "user 4001 has no job 9", "refused")
        equal(other.ask({"op": "list"})["jobs"], [])
        equal([j["job"] for j in mine.ask({"op": "list"})["jobs"]], [job])
        root = d.client()
        equal([j["user"] for j in root.ask({"op": "list"})["jobs"]], [USER])
        root.ask({"op": "cancel", "job": job})
        equal(mine.wait(job, "ended")["reason"], "cancelled by user 0")


@row("the limit of jobs of a user is not that of others")
def user_jobs():
    with daemon("--user-jobs", "2", conf="allow all\n") as d:
        with user(USER):
            mine = d.client()
        with user(OTHER):
            other = d.client()
        first = mine.submit()
        mine.submit()
        mine.refused(GROUP_JOB, "user 4000 has 2 jobs, which is the limit of a user", "refused")
        other.submit()
        mine.ask({"op": "cancel", "job": first})
        mine.wait(first, "ended")
        mine.submit()


# --- the queue ----------------------------------------------------------------------

@row("jobs wait for memory at a node in their order, and none overtakes")
def memory():
    with daemon("--node-memory", "1M") as d:
        client, half = d.client(), {"memory": 262144}
        jobs = [client.submit(**half) for _ in range(2)]
        for job in jobs:
            client.wait(job)
        large = client.submit(memory=524288)
        d.planned(large)
        d.put("nodes", "v7 v8\n")
        small = client.submit(memory=65536)
        d.planned(small)
        equal([client.show(j)["state"] for j in (large, small)], ["queued"] * 2)
        equal([client.show(j)["ahead"] for j in (large, small)], [0, 1])
        d.hold("plan")
        last = client.submit(memory=65536)
        equal([(client.show(j)["state"], client.show(j).get("waits"))
               for j in (jobs[1], small, last)],
              [("in force", None), ("queued", "room"), ("queued", "plan")])
        lines = [line.split() for line in aggctl(d, "list")[1].splitlines()]
        equal([lines[0][-1]] + [line[-1] for line in lines if line[0] in (str(small), str(last))],
              ["waits", "room", "plan"])
        has(aggctl(d, "show", str(small))[1], "waits for     room\n")
        client.ask({"op": "cancel", "job": last})
        d.release("plan")
        client.ask({"op": "cancel", "job": jobs[0]})
        client.wait(jobs[0], "ended")
        client.ask({"op": "list"})
        equal(client.show(large)["state"], "queued")
        client.ask({"op": "cancel", "job": jobs[1]})
        equal([client.wait(j)["state"] for j in (large, small)], ["in force"] * 2)


@row("a job whose trees exceed a node's memory ends when it is planned")
def never_fits():
    with daemon("--node-memory", "1M") as d:
        # A node with as many trees of the job as it has receivers.
        with open(d.fake + "/nodes", "w") as f:
            f.write("v0\n")
        client = d.client()
        shown = client.wait(client.submit(memory=524288))
        equal(shown["state"], "in force")
        client.refused({**GROUP_JOB, "memory": 524289}, "lower 'memory'", "usage")


@row("the limits of jobs in force, and of those that wait")
def limits():
    with daemon("--jobs", "1", "--queue", "2", conf="allow all\n") as d:
        client = d.client()
        jobs = [client.submit()]
        client.wait(jobs[0])
        jobs += [client.submit(), client.submit()]
        client.refused(GROUP_JOB, "2 jobs wait, which is the limit", "refused")
        for i in range(2):
            client.ask({"op": "cancel", "job": jobs[i]})
            equal(client.wait(jobs[i + 1])["state"], "in force")


@row("as many processes as configured run at the same time")
def children():
    with daemon("--children", "3", "--user-jobs", "20") as d:
        client = d.client()
        jobs = [client.submit() for _ in range(20)]
        for job in jobs:
            client.wait(job)
        equal(len(d.entries()), 40)
        d.hold("withdraw")
        for job in jobs:
            client.ask({"op": "cancel", "job": job})
        # Those that may run were started before this answer.
        client.ask({"op": "list"})
        equal(len(d.processes()), 3)
        d.release("withdraw")
        for job in jobs:
            client.wait(job, "ended")
        equal(d.entries(), [])


# --- crashes ------------------------------------------------------------------------

def crash(verb):
    """Kill aggd while a process runs; the process ends by itself."""
    with daemon() as d:
        d.hold(verb)
        client = d.client()
        job = client.submit()
        if verb == "withdraw":
            client.wait(job)
            client.ask({"op": "cancel", "job": job})
        wait_until("runs", d.running)
        d.kill()
        d.spawn()
        wait_until("waits", lambda: "waiting for processes" in d.said())
        try:
            d.client()
            raise AssertionError("it listens, although a process runs")
        except ConnectionRefusedError:
            pass
        d.release(verb)
        wait_until("listens", d.listens)
        client = d.client()
        if verb == "plan":
            equal(client.wait(job)["state"], "in force")
            equal(d.entries(), ["1000.0.plan", "1000.1.plan"])
        else:
            shown = client.wait(job, "ended")
            equal((shown["failed"], d.entries()), (verb == "apply", []))
            has(shown["reason"], "restarted" if verb == "apply" else "cancelled")
        equal(client.submit(), 1002)


for name in ("plan", "apply", "withdraw"):
    row("killed during " + name)(lambda name=name: crash(name))


@row("killed while jobs are in force: they are verified, and go on")
def crash_in_force():
    with daemon(conf="allow all\n") as d:
        with user(USER):
            client = d.client()
        job, attached, short = (client.submit(), client.submit(attached=True),
                                client.submit(time=2))
        for j in (job, attached, short):
            before = client.wait(j)
        calls = len(d.calls("apply"))
        d.restart()
        with user(USER):
            client = d.client()
        equal(client.wait(job)["state"], "in force")
        equal(client.wait(short, "ended")["reason"], "its time is over")
        equal(client.wait(attached, "ended")["reason"],
              "aggd was restarted, which closed its connection")
        equal(len(d.calls("apply")) >= calls + 4, True)
        equal(client.show(job)["group"], "root=10.0.0.1,up=1000,down=1001,ranks=2")
        equal((before["job"], d.entries()), (short, ["1000.0.plan", "1000.1.plan"]))


@row("a host is down when aggd starts: jobs there go on until their time is over")
def crash_host_down():
    with daemon() as d:
        client = d.client()
        job, short = client.submit(), client.submit(time=2)
        client.wait(job)
        client.wait(short)
        d.fail("apply", "aggctl: v0: not there\n")
        d.restart()
        client = d.client()
        wait_until("fails", lambda: client.show(job).get("fault") == "v0: not there")
        equal(client.wait(short, "ended")["reason"], "its time is over")
        equal(client.show(job)["state"], "in force")
        d.mend("apply")
        equal("fault" in client.wait(job), False)


@row("the clock was set back: a job has no more than its time")
def clock():
    with daemon() as d:
        client = d.client()
        job = client.submit(time=50)
        client.wait(job)
        d.kill()
        record = d.dir + "/state/jobs/1000.json"
        with open(record) as f:
            found = json.load(f)
        found["ends"] += 10 ** 7
        with open(record, "w") as f:
            json.dump(found, f)
        d.start()
        client = d.client()
        equal(client.wait(job)["ends"] - time.time() < 52, True)


@row("memory of jobs in force counts after a restart")
def crash_memory():
    with daemon("--node-memory", "1M") as d:
        client = d.client()
        job = client.submit(memory=524288)
        client.wait(job)
        d.restart()
        client = d.client()
        client.wait(job)
        next_job = client.submit(memory=65536)
        d.planned(next_job)
        equal(client.show(next_job)["state"], "queued")
        client.ask({"op": "cancel", "job": job})
        equal(client.wait(next_job)["state"], "in force")


@row("IDs are not used again, whenever aggd is killed")
def ids():
    with daemon("--user-jobs", "100", "--history", "3") as d:
        seen = set()
        for _ in range(8):
            client = d.client()
            for _ in range(3):
                client.send(GROUP_JOB)
            job = client.read()["job"]["job"]
            d.restart()
            client = d.client()
            listed = [j["job"] for j in client.ask({"op": "list"})["jobs"]]
            equal(job in listed, True)
            equal(len(set(listed)), len(listed))
            seen.update(listed)
            new = client.submit()
            equal(new > max(seen), True)
            seen.add(new)


@row("jobs that have ended are kept, but not too many")
def history():
    with daemon("--history", "3") as d:
        client = d.client()
        for _ in range(6):
            job = client.submit()
            client.ask({"op": "cancel", "job": job})
            client.wait(job, "ended")
        client.ask({"op": "list"})
        listed = [j["job"] for j in client.ask({"op": "list"})["jobs"]]
        equal(listed, [1006, 1008, 1010])
        d.restart()
        client = d.client()
        equal([j["job"] for j in client.ask({"op": "list"})["jobs"]], listed)
        equal(sorted(os.listdir(d.dir + "/state/jobs")),
              ["%d.json" % j for j in listed])


def refuses_to_start(d, *options):
    process = subprocess.run(d.command() + list(options), stderr=subprocess.PIPE,
                             stdin=subprocess.DEVNULL, timeout=DEADLINE, check=False)
    return process.returncode, process.stderr.decode()


@row("a state that is in use, or that is damaged")
def damaged():
    with daemon() as d:
        status, said = refuses_to_start(d)
        equal(status, 1)
        has(said, "another aggd uses it")
        status, said = refuses_to_start(d, "--state", d.dir + "/state2")
        has(said, "another process listens there")
        client = d.client()
        client.wait(client.submit())
        client.wait(client.submit())
        record = d.dir + "/state/jobs/1000.json"
        with open(record) as f:
            right = f.read()
        for text, sentence in [
                ("{", "1000.json: not JSON"), ("{}", "record of job 1000 is not complete"),
                (right.replace("in force", "lost"), "record of job 1000 is not complete")]:
            d.kill()
            with open(record, "w") as f:
                f.write(text)
            d.start()
            has(d.said(), "job 1000 is left as it is")
            has(d.said(), sentence)
            client = d.client()
            equal([j["job"] for j in client.ask({"op": "list"})["jobs"]], [1002])
            equal(client.wait(1002)["state"], "in force")
            d.kill()
            with open(record, "w") as f:
                f.write(right)
            d.start()
        with open(d.dir + "/state/counter", "w") as f:
            f.write("x\n")
        d.client().refused(GROUP_JOB, "counter: not a number", "refused")
        with open(d.dir + "/state/counter", "w") as f:
            f.write("4294967294\n")
        d.client().refused(GROUP_JOB, "all job IDs have been used", "refused")


# --- bounds -------------------------------------------------------------------------

@row("1000 jobs in force take less than 64 MiB, and no descriptors")
def thousand():
    with daemon("--jobs", "1000", "--node-memory", "1000G") as d:
        client = d.client()
        members = ["v%d" % i for i in range(1, 65)]
        for _ in range(1000):
            last = client.submit(members=members)
        for job in range(1000, last + 1, 2):
            client.wait(job)
        after, n = 0, 0
        while True:
            answer = client.ask({"op": "list", "after": after})
            n += len(answer["jobs"])
            after = answer["jobs"][-1]["job"]
            if not answer["more"]:
                break
        equal((n, len(d.entries())), (1000, 2000))
        rss = d.rss()
        print("# %d KiB" % rss)
        equal(rss < 65536, True)
        # Its own, and the connection.
        equal(len(os.listdir("/proc/%d/fd" % d.process.pid)) < 16, True)


@row("connections that do not read do not make aggd grow")
def slow_reader():
    with daemon("--idle", "3", "--user-jobs", "200", "--user-connections", "20",
                conf="allow all\n") as d:
        d.hold("plan")
        client = d.client()
        for _ in range(150):
            client.submit(members=["v%d" % i for i in range(1, 100)])
        before = d.rss()
        slow = []
        for _ in range(15):
            slow.append(d.client())
            slow[-1].socket.setblocking(False)
            try:
                while True:
                    slow[-1].socket.send(b"{\"op\": \"list\"}\n" * 1000)
            except BlockingIOError:
                pass
            client = d.client()
            equal(client.ask({"op": "list"})["ok"], True)
        equal(d.rss() < before + 8192, True)

        def closed():
            try:
                for s in slow:
                    s.socket.send(b"\n")
            except BlockingIOError:
                return False
            except (BrokenPipeError, ConnectionResetError):
                return True
            return False
        wait_until("closes it", closed)


@row("users that may not submit do not take the connections of those that may")
def strangers():
    with daemon("--connections", "16", conf="allow user %d\n" % USER) as d:
        kept = []
        for uid in (OTHER, OTHER + 1, OTHER + 2):
            with user(uid):
                kept += [d.client() for _ in range(3)]
        answers = [c.ask({"op": "list"}) for c in kept[:2]]
        equal([a["ok"] for a in answers], [True, True])
        for c in kept[2:]:
            has(c.read()["error"], "users that may not submit jobs")
        with user(USER):
            equal(d.client().ask(GROUP_JOB)["ok"], True)


@row("one connection's requests do not hold up those of another")
def turns():
    with daemon("--idle", "1") as d:
        busy, other = d.client(), d.client()
        line = b"{\"op\": \"list\"}\n"
        d.process.send_signal(signal.SIGSTOP)
        busy.socket.sendall(line * 2000)
        other.socket.sendall(line)
        d.process.send_signal(signal.SIGCONT)
        equal(other.read()["ok"], True)
        # What the first one has been answered by then is far from all.
        busy.socket.setblocking(False)
        early = busy.socket.recv(1 << 20).count(b"\n")
        equal(early < 1000, True)
        busy.socket.settimeout(DEADLINE)
        while early < 2000:
            early += busy.socket.recv(1 << 20).count(b"\n")


@row("memory that the jobs of a user may reserve")
def user_memory():
    with daemon("--user-memory", "2M", conf="allow all\n") as d:
        with user(USER):
            client = d.client()
        job = client.submit(memory=524288)
        client.refused({**GROUP_JOB, "memory": 600000},
                       "with this job user 4000 would reserve 2248576 bytes", "refused")
        client.submit(memory=524288)
        client.ask({"op": "cancel", "job": job})
        client.wait(job, "ended")
        client.submit(memory=524288)
        equal(d.client().submit(memory=4 << 20) > 0, True)


@row("connections are bounded, in all and of a user")
def connections():
    with daemon("--connections", "6", "--user-connections", "3", conf="allow all\n") as d:
        held = []
        for uid in (USER, OTHER):
            with user(uid):
                held += [d.client() for _ in range(3)]
                refused = d.client()
            has(refused.read()["error"], "as many connections as a user may have")
            equal(refused.read(), None)
        with user(4002):
            refused = d.client()
        has(refused.read()["error"], "as many connections as there may be")
        equal(d.client().ask({"op": "list"})["ok"], True)
        equal([c.ask({"op": "list"})["ok"] for c in held], [True] * 6)
        held[0].close()

        def admitted():
            with user(USER):
                client = d.client()
            try:
                return client.ask({"op": "list"})["ok"]
            except OSError:
                return False
        wait_until("lets in another one", admitted)


@row("an idle connection is closed, but not if it has a job or waits")
def idle():
    with daemon("--idle", "100ms") as d:
        holder, waiter = d.client(), d.client()
        job = holder.submit(attached=True)
        waiter.send({"op": "wait", "job": job, "for": "ended"})
        equal(d.client().read(), None)
        equal(d.client().read(), None)
        equal(holder.wait(job)["state"], "in force")
        holder.ask({"op": "cancel", "job": job})
        equal(waiter.read()["job"]["reason"], "cancelled")
        equal(waiter.read(), None)
        equal(holder.read(), None)


# --- the configuration and the commands ---------------------------------------------

CONFS = [
    ("\n# x\njobs 3 # y\ncolour 1\n", 1, "line 4: unknown word 'colour'"),
    ("jobs\n", 1, "line 1: jobs: needs a value"),
    ("jobs x\n", 1, "line 1: jobs: 'x' is not a number below 2^32"),
    ("jobs 0\n", 1, "line 1: jobs: must be more than 0"),
    ("sudo yes\n", 1, "line 1: sudo: takes no value"),
    ("config /x\n", 1, "line 1: unknown word 'config'"),
    ("allow\n", 1, "line 1: allow: needs a value"),
    ("allow some\n", 1, "line 1: allow: 'some' is not 'all', 'user NAME' or 'group NAME'"),
    ("allow user no-such-user\n", 1, "line 1: allow: no user 'no-such-user'"),
    ("allow group no-such-group\n", 1, "line 1: allow: no group 'no-such-group'"),
    ("node-memory 1X\n", 1, "line 1: node-memory: '1X' is not a size like 65536, 64K or 1M"),
    ("time 2\ntime-max 1\n", 2, "time: is more than time-max"),
    ("sudo\n", 2, "ssh and sudo need hosts"),
]


@row("faults of the configuration, with their lines")
def configuration():
    path = aggd_kit.tmp + "/conf"
    for text, want, sentence in CONFS:
        with open(path, "w") as f:
            f.write(text)
        got = subprocess.run([AGGD, "--config", path], capture_output=True, text=True,
                             check=False)
        equal(got.returncode, want)
        has(got.stderr, sentence)
        equal(got.stderr.count("\n"), 1)
    for options, want, sentence in [
            (["--colour"], 2, "--colour is an unknown option"),
            (["--jobs"], 2, "--jobs needs a value"),
            (["--jobs", "x"], 2, "--jobs: 'x' is not a number"),
            (["--aggctl", "aggctl"], 2, "aggctl: the path must be absolute"),
            (["x"], 2, "'x' is one argument too many"),
            (["--config", "/none"], 1, "/none: No such file or directory"),
            (["--socket", "/" + "x" * 200, "--state", aggd_kit.tmp + "/s"], 1, "longer than")]:
        got = subprocess.run([AGGD, *options], capture_output=True, text=True, check=False)
        equal((got.returncode, got.stdout), (want, ""))
        has(got.stderr, sentence)
    for option, sentence in [("-h", "--user-jobs N"), ("--version", "aggd ")]:
        got = subprocess.run([AGGD, option], capture_output=True, text=True, check=True)
        has(got.stdout, sentence)


def aggctl(d, *words, uid=0, program=AGGCTL):
    with user(uid):
        got = subprocess.run([program, "job", words[0], "--socket", d.path, *words[1:]],
                             capture_output=True, text=True, check=False, timeout=DEADLINE)
    return got.returncode, got.stdout, got.stderr


@row("aggctl job: what it prints, and its statuses")
def commands():
    with daemon(conf="allow user %d\n" % USER) as d, tempfile.TemporaryDirectory() as where:
        # Other users cannot read each tree.
        os.chmod(where, 0o755)
        program = shutil.copy(AGGCTL, where)
        submit = ["submit", "--root", "v0", "--members", "v1*2,v2"]
        equal(aggctl(d, *submit), (0, "job 1000: in force\nAGGNET_GROUP="
                                   "root=10.0.0.1,up=1000,down=1001,ranks=4\n", ""))
        status, out, _ = aggctl(d, *submit, "-j", "--time", "90", "--elements", "7")
        shown = json.loads(out)
        equal((status, shown["job"], shown["state"]), (0, 1002, "in force"))
        has(d.calls("plan")[2], "--elements=7")
        status, out, _ = aggctl(d, "list")
        equal([line.split()[:5] for line in out.splitlines()],
              [["job", "user", "kind", "state", "ahead"],
               ["1000", "0", "group", "in", "force"], ["1002", "0", "group", "in", "force"]])
        equal(len(json.loads(aggctl(d, "list", "-j")[1])), 2)
        status, out, _ = aggctl(d, "show", "1002")
        has(out, "AGGNET_GROUP  root=10.0.0.1,up=1002,down=1003,ranks=4\n")
        has(out, "members       v1*2,v2\n")
        equal(json.loads(aggctl(d, "show", "1002", "-j")[1])["spec"]["time"], 90)
        equal(aggctl(d, "cancel", "1000"), (0, "job 1000: ended\n", ""))
        equal(aggctl(d, "cancel", "1000"), (1, "", "aggctl: aggd: job 1000 has ended\n"))
        equal(aggctl(d, "show", "7"), (1, "", "aggctl: aggd: user 0 has no job 7\n"))
        equal(aggctl(d, "show", "x"), (2, "", "aggctl: job show: 'x' is not a job ID\n"))
        equal(aggctl(d, "submit"), (2, "", "aggctl: job submit: needs --members\n"))
        for option in ("--members", "--function"):
            equal(aggctl(d, "submit", "--root", "v0", "--members", "v1", option, b"v\xff5"),
                  (2, "", "aggctl: job submit: the value of %s is not UTF-8\n" % option))
        equal(aggctl(d, *submit, "--function", "topk")[0], 2)
        equal(aggctl(d, *submit, "--attached", "--no-wait")[0], 2)
        d.fail("plan", "aggctl: plan: no\n")
        equal(aggctl(d, *submit), (1, "", "aggctl: job 1004: plan: no\n"))
        d.mend("plan")
        equal(aggctl(d, *submit, uid=OTHER, program=program)[2].startswith(
            "aggctl: aggd: user 4001 may not submit jobs"), True)
        equal(aggctl(d, *submit, uid=USER, program=program)[0], 0)
        equal(aggctl(d, *submit, "--no-wait", uid=USER, program=program)[1],
              "job 1008: queued\n")
    with daemon() as d:
        d.kill()
        status, out, err = aggctl(d, "list")
        equal((status, out), (1, ""))
        has(err, "start aggd, or name its socket with --socket")
        d.start()


@row("the man page has each option")
def man_page():
    text = subprocess.run([AGGD, "-h"], capture_output=True, text=True, check=True).stdout
    options = [word for line in text.splitlines() for word in line.split()[:1] + line.split()[1:2]
               if line.startswith("  -") and word.startswith("-")]
    with open(TOP + "/Documentation/man/aggd.8") as f:
        page = f.read().replace("\\-", "-").replace("\\fR", "").replace('"', "")
    equal(len(options) > 24, True)
    equal([o for o in options if o.rstrip(",") not in page], [])


@row("aggctl job submit --attached: the job ends with the command")
def command_attached():
    with daemon() as d:
        process = subprocess.Popen(
            [AGGCTL, "job", "submit", "--socket", d.path, "--root", "v0", "--members", "v1",
             "--attached"], stdout=subprocess.PIPE)
        equal(process.stdout.readline(), b"job 1000: in force\n")
        has(process.stdout.readline(), b"AGGNET_GROUP=")
        process.terminate()
        process.wait()
        process.stdout.close()
        equal(d.client().wait(1000, "ended")["reason"], "its connection was closed")
        equal(d.entries(), [])


sys.exit(main())
