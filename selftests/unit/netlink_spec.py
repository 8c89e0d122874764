# SPDX-License-Identifier: GPL-2.0
"""The netlink spec against the uapi header and the module's policies.

Prints TAP. The header is asked by the compiler: each number of the spec is a
static assertion. Usage: netlink_spec.py TOP
"""
import re
import subprocess
import sys

import yaml

TYPES = {
    "u8": "NLA_U8", "u16": "NLA_U16", "u32": "NLA_U32", "u64": "NLA_U64",
    "string": "NLA_NUL_STRING", "binary": "NLA_BINARY",
}
LENGTHS = {"ETH_ALEN": 6}
STEP = r"\[(AGGNET_A_\w+)\] = (\{[^}]*\}|\w+\([^)]*\)),"


def c_name(*parts):
    """NAME of a constant in C."""
    return "".join(parts).upper().replace("-", "_")


class Tap:
    """Results, numbered as they come."""

    def __init__(self):
        self.n = 0
        self.failed = 0

    def result(self, name, faults):
        self.n += 1
        self.failed += bool(faults)
        for fault in faults:
            print("#", fault)
        print("not ok" if faults else "ok", self.n, "-", name)

    def done(self):
        print(f"1..{self.n}")
        return self.failed != 0


def header_numbers(spec):
    """(constant, number) for all that the spec says of the header."""
    for d in spec["definitions"]:
        if d["type"] == "const":
            yield c_name("aggnet-", d["name"]), d["value"]
            continue
        prefix = d.get("name-prefix", f"aggnet-{d['name']}-")
        names = [e if isinstance(e, str) else e["name"] for e in d["entries"]]
        for value, name in enumerate(names):
            yield c_name(prefix, name), value
        count = d.get("enum-cnt-name", f"--{prefix}max")
        yield c_name(count), len(names)
    for s in spec["attribute-sets"]:
        for value, a in enumerate(s["attributes"], 1):
            yield c_name(s["name-prefix"], a["name"]), value
        yield c_name("__", s["name-prefix"], "max"), len(s["attributes"]) + 1
    ops = spec["operations"]
    for value, op in enumerate(ops["list"], 1):
        yield c_name(ops["name-prefix"], op["name"]), value
    yield c_name("__", ops["name-prefix"], "max"), len(ops["list"]) + 1
    yield "AGGNET_GENL_VERSION", spec["version"]


def compile_error(top, assertions):
    source = "#include <linux/aggnet.h>\n#include <linux/aggnet_packet.h>\n"
    source += "".join(f'_Static_assert({a}, "");\n' for a in assertions)
    cc = subprocess.run(["cc", "-fsyntax-only", f"-I{top}/uapi", "-xc", "-"],
                        input=source, text=True, capture_output=True,
                        check=False)
    return [l for l in cc.stderr.splitlines() if "error" in l]


def check_header(tap, spec, top):
    numbers = list(header_numbers(spec))
    for prefix in sorted({n.strip("_").split("_")[1] for n, _ in numbers}):
        mine = [f"{n} == {v}" for n, v in numbers
                if n.strip("_").split("_")[1] == prefix]
        tap.result(f"header: {len(mine)} numbers of AGGNET_{prefix}_*",
                   compile_error(top, mine))
    texts = [("AGGNET_GENL_NAME", spec["name"]),
             ("AGGNET_MCGRP_EVENTS", spec["mcast-groups"]["list"][0]["name"])]
    tap.result("header: names", compile_error(
        top, [f'__builtin_strcmp({n}, "{t}") == 0' for n, t in texts]))
    # A compiler that accepts everything would make all of this pass.
    tap.result("header: a wrong number is noticed",
               [] if compile_error(top, ["AGGNET_CMD_EVENT == 1"])
               else ["it is not"])


def policies(source):
    """{policy: {attribute: (type, length)}} of the module's source."""
    out = {}
    for name, body in re.findall(
            r"nla_policy (\w+)\[\] = \{\n(.*?)\n\};", source, re.S):
        out[name] = {}
        for attr, value in re.findall(STEP, body, re.S):
            exact = re.match(r"NLA_POLICY_EXACT_LEN\((\w+)\)", value)
            kind = re.search(r"\.type = (\w+)", value)
            length = re.search(r"\.len = (\d+)", value)
            out[name][attr] = (
                "exact" if exact else kind[1],
                int(LENGTHS.get(exact[1], exact[1])) if exact
                else int(length[1]) if length else None)
    return out


def operations(source):
    """{command: text of its struct genl_ops} of the module's source."""
    return {m[1]: m[0] for m in re.finditer(
        r"\.cmd = (AGGNET_CMD_\w+),.*?\},", source, re.S)}


def expected_policy(attr):
    checks = attr.get("checks", {})
    if "exact-len" in checks:
        return "exact", checks["exact-len"]
    kind = TYPES[attr["type"]]
    if attr["type"] == "u32" and attr.get("byte-order") == "big-endian":
        kind = "NLA_BE32"
    return kind, checks.get("max-len")


def check_operation(spec, op, text, found):
    """Faults of one command in the module's source."""
    sets = {s["name"]: s for s in spec["attribute-sets"]}
    aset = sets[op["attribute-set"]]
    attrs = {a["name"]: a for a in aset["attributes"]}
    wanted = op.get("do", {}).get("request", {}).get("attributes", [])
    expected = {c_name(aset["name-prefix"], a): expected_policy(attrs[a])
                for a in wanted}
    name = re.search(r"NL_POLICY\((\w+)\)", text)[1]
    faults = []
    if found[name] != expected:
        faults.append(f"{name} is {found[name]}, the spec says {expected}")
    for way in "do", "dump":
        if (way in op) != (f".{way}it = " in text):
            faults.append(f"spec and module disagree on {way}")
    if op["flags"] != ["uns-admin-perm"]:
        faults.append("not for administrators only")
    return faults


def check_policies(tap, spec, top):
    with open(f"{top}/kmod/ctl/netlink.c", encoding="ascii") as f:
        source = f.read()
    found, ops = policies(source), operations(source)
    tap.result("policy: all commands need the privilege", [] if re.search(
        r"define NL_POLICY\(name\).*?GENL_UNS_ADMIN_PERM\n", source, re.S)
        else ["NL_POLICY() does not say GENL_UNS_ADMIN_PERM"])
    for op in spec["operations"]["list"]:
        if "event" in op:
            continue
        cmd = c_name("aggnet-cmd-", op["name"])
        faults = check_operation(spec, op, ops.pop(cmd), found) \
            if cmd in ops else ["the module has no such command"]
        tap.result(f"policy: {op['name']}", faults)
    tap.result("policy: no command is left out of the spec", list(ops))


def check_names(tap, spec):
    """What operations and attributes refer to is there."""
    sets = {s["name"]: {a["name"] for a in s["attributes"]}
            for s in spec["attribute-sets"]}
    enums = {d["name"] for d in spec["definitions"]}
    faults = []
    for op in spec["operations"]["list"]:
        lists = [op.get("event", {})] + [
            op.get(way, {}).get(part, {})
            for way in ("do", "dump") for part in ("request", "reply")]
        for names in lists:
            faults += [f"{op['name']}: {n}" for n in names.get("attributes", [])
                       if n not in sets[op["attribute-set"]]]
    for s in spec["attribute-sets"]:
        faults += [f"{s['name']}: {a['enum']}" for a in s["attributes"]
                   if a.get("enum", "role") not in enums]
    tap.result("spec: refers to what is there", faults)


def main():
    top = sys.argv[1]
    tap = Tap()
    path = f"{top}/Documentation/netlink/specs/aggnet.yaml"
    with open(path, encoding="ascii") as f:
        spec = yaml.safe_load(f)
    check_names(tap, spec)
    check_header(tap, spec, top)
    check_policies(tap, spec, top)
    return tap.done()


sys.exit(main())
