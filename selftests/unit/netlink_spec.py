# SPDX-License-Identifier: GPL-2.0
"""The netlink spec against the kernel's schema, the uapi header and the files
generated from it.

Prints TAP. The header is asked by the compiler: each number of the spec is a
static assertion. Usage: netlink_spec.py TOP
"""
import copy
import difflib
import os
import subprocess
import sys

import jsonschema
import yaml

sys.dont_write_bytecode = True
sys.path.append(os.path.join(sys.argv[1], "tools/netlink"))
import generate
from generate import c_name


SCHEMA = "build/netlink/genetlink-legacy.yaml"


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
        values, count = generate.enum_values(d)
        for value, (_, name) in enumerate(values):
            yield name, value
        yield count, len(values)
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
    # A compiler that accepts everything would pass all rows above.
    tap.result("header: a wrong number is reported",
               [] if compile_error(top, ["AGGNET_CMD_EVENT == 1"])
               else ["it is not"])


def check_generated(tap, spec, top):
    """The files that follow from the spec are what the generator writes."""
    for name, text in generate.generated(spec).items():
        with open(f"{top}/{name}", encoding="ascii") as f:
            diff = difflib.unified_diff(
                f.read().splitlines(), text.splitlines(), name,
                "make netlink-generated", lineterm="", n=0)
        tap.result(f"generated: {name}", list(diff))


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
    tap.result("spec: every name that it refers to exists", faults)


def check_schema(tap, spec, top):
    """The spec is one that the kernel's own tools accept."""
    try:
        with open(f"{top}/{SCHEMA}", encoding="utf-8") as f:
            schema = yaml.safe_load(f)
    except OSError as error:
        tap.result("schema: the kernel's is there",
                   [f"{error}; 'selftests/vm/setup.sh sources' unpacks it"])
        return
    validator = jsonschema.Draft7Validator(schema)
    tap.result("schema: the spec is valid", [
        f"{'/'.join(map(str, e.path))}: {e.message}"
        for e in validator.iter_errors(spec)])
    wrong = copy.deepcopy(spec)
    wrong["definitions"][0]["unknown"] = 1
    tap.result("schema: an unknown property is reported",
               [] if list(validator.iter_errors(wrong)) else ["it is not"])


def main():
    top = sys.argv[1]
    tap = Tap()
    spec = generate.read(top)
    check_schema(tap, spec, top)
    check_names(tap, spec)
    check_header(tap, spec, top)
    check_generated(tap, spec, top)
    return tap.done()


sys.exit(main())
