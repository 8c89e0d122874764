#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Write what follows from the netlink spec: policies and operations of the module,
names and attributes of the library.

Usage: generate.py TOP [OUT]   files below OUT (TOP); "make netlink-generated"
"""
import os
import sys

import yaml

SPEC = "Documentation/netlink/specs/aggnet.yaml"
HEAD = f"""/* Generated from {SPEC}; do not edit.
 * "make netlink-generated" writes it.
 */
"""
TYPES = {
    "u8": "NLA_U8", "u16": "NLA_U16", "u32": "NLA_U32", "u64": "NLA_U64",
    "string": "NLA_NUL_STRING", "binary": "NLA_BINARY",
}
# Attribute sets that are a struct of the library.
NOUNS = ["node", "port", "link", "tree", "plan", "event"]
# Where the library has another name than the spec.
MEMBERS = {("node", "udp-port"): "port"}
ENUMS = {"tree-state": "state"}
# Where the count of an enumeration does not have the prefix of its values.
COUNTS = {"tree-state": "--aggnet-tree-state-max"}
# The shape of a tree's values is checked as a whole, by core/shape.c.
SHAPE = ["function", "vtype", "layout"]
# Words in the description of a number, and its unit in a sentence.
UNITS = {"milliseconds": "ms", "bytes": "bytes"}
FLAGS = {"uns-admin-perm": "GENL_UNS_ADMIN_PERM"}


def c_name(*parts):
    """Name of a constant in C."""
    return "".join(parts).upper().replace("-", "_")


def c_lower(*parts):
    """Name of a function or variable in C."""
    return "".join(parts).lower().replace("-", "_")


def read(top):
    with open(f"{top}/{SPEC}", encoding="ascii") as f:
        return yaml.safe_load(f)


class Operation:
    """A command that user space sends."""

    def __init__(self, spec, op):
        sets = {s["name"]: s for s in spec["attribute-sets"]}
        self.set = sets[op["attribute-set"]]
        self.name = op["name"]
        self.command = c_name(spec["operations"]["name-prefix"], op["name"])
        self.flags = " | ".join(FLAGS[f] for f in op["flags"])
        self.do = op.get("do")
        self.dump = op.get("dump")
        self.start = c_lower((self.dump or {}).get("pre", ""))
        self.consts = {d["name"]: d["value"] for d in spec["definitions"]
                       if d["type"] == "const"}
        self.enums = {d["name"]: ([n for n, _ in enum_values(d)[0]],
                                  enum_values(d)[1])
                      for d in spec["definitions"] if d["type"] == "enum"}
        self.handler = c_lower("aggnet-nl-", op["name"])
        self.walker = c_lower(f"aggnet-nl-{self.set['name']}-walk")
        known = [a["name"] for a in self.set["attributes"]]
        wanted = (self.do or {}).get("request", {}).get("attributes", [])
        self.request = sorted(wanted, key=known.index)

    def attribute(self, name):
        return c_name(self.set["name-prefix"], name)

    def limit(self, value):
        """A limit of the spec: a number, or the name of a constant."""
        return c_name("aggnet-", value) if value in self.consts else str(value)

    def rule(self, name):
        """Initializer of a struct nla_policy."""
        attr = next(a for a in self.set["attributes"] if a["name"] == name)
        kind = TYPES[attr["type"]]
        if attr.get("byte-order") == "big-endian" and kind != "NLA_BINARY":
            kind = kind.replace("NLA_U", "NLA_BE")
        checks = {c: v for c, v in attr.get("checks", {}).items()
                  if c not in ("min", "max")}
        exact, most = checks.pop("exact-len", None), checks.pop("max-len", None)
        if checks:
            sys.exit(f"{self.set['name']}: {name}: no rule for {checks}")
        if exact is not None:
            return f"NLA_POLICY_EXACT_LEN({self.limit(exact)})"
        if most is not None:
            return f"{{ .type = {kind}, .len = {self.limit(most)} }}"
        return f"{{ .type = {kind} }}"

    def range(self, name):
        """Initializer of a struct aggnet_nl_range, empty if any value will do."""
        attr = next(a for a in self.set["attributes"] if a["name"] == name)
        checks = attr.get("checks", {})
        least, most = checks.get("min"), checks.get("max")
        low, high = self.consts.get(least, least), self.consts.get(most, most)
        shown = c_lower(name)
        unit = next((f" {short}" for long, short in UNITS.items()
                     if long in attr.get("doc", "").lower()), "")
        if attr.get("enum") in self.enums and attr["enum"] not in SHAPE:
            names, count = self.enums[attr["enum"]]
            bounds = f"0, {count} - 1"
            text = f"{shown} must be {', '.join(names[:-1])} or {names[-1]}"
        elif checks.keys() & {"min", "max"}:
            bounds = f"{self.limit(least or 0)}, " \
                     f"{'U64_MAX' if most is None else self.limit(most)}"
            text = f"{shown} cannot exceed {high}{unit}" if least is None else \
                f"{shown} must be at least {low}{unit}" if most is None else \
                f"{shown} must be from {low} to {high}{unit}"
        else:
            return ""
        return f"{{ {self.command}, {self.attribute(name)}, {bounds},\n" \
               f"\t  \"{text}\" }}"

    def policy(self):
        """(name, number of the last attribute) of the policy."""
        if not self.request:
            return "aggnet_nl_no_policy", "1"
        return (c_lower(f"aggnet-nl-{self.name}-policy"),
                self.attribute(self.request[-1]))


def operations(spec):
    return [Operation(spec, op) for op in spec["operations"]["list"]
            if "event" not in op]


def header(spec):
    ops = operations(spec)
    out = "/* SPDX-License-Identifier: GPL-2.0 */\n" + HEAD
    out += "#ifndef _AGGNET_NETLINK_GEN_H\n#define _AGGNET_NETLINK_GEN_H\n\n"
    out += '#include "ctl/netlink.h"\n\n'
    for op in ops:
        if op.do is not None:
            out += f"int {op.handler}(struct aggnet_net *an, " \
                   "struct genl_info *info);\n"
    out += "\n"
    for op in ops:
        if op.dump is None:
            continue
        out += f"int {op.walker}(struct sk_buff *skb, " \
               "struct netlink_callback *cb,\n\t\t\tstruct aggnet_net *an);\n"
        if op.start:
            out += f"int {op.start}(struct netlink_callback *cb);\n"
    return out + f"""
extern const struct aggnet_nl_command aggnet_nl_commands[];
extern const struct aggnet_nl_range aggnet_nl_ranges[];
extern const struct genl_ops aggnet_nl_ops[{len(ops)}];

#endif /* _AGGNET_NETLINK_GEN_H */
"""


def policies(ops):
    out = """/* No attributes: all are refused. */
static const struct nla_policy aggnet_nl_no_policy[] = {
	[1] = { .type = NLA_REJECT },
};
"""
    for op in ops:
        if not op.request:
            continue
        out += f"\n/* {op.command} */\n"
        out += f"static const struct nla_policy {op.policy()[0]}[] = {{\n"
        for attr in op.request:
            out += f"\t[{op.attribute(attr)}] = {op.rule(attr)},\n"
        out += "};\n"
    return out


def commands(ops):
    out = "\nconst struct aggnet_nl_command aggnet_nl_commands[] = {\n"
    for op in ops:
        does = [op.handler if op.do is not None else "NULL"]
        does += [op.walker] if op.dump is not None else []
        out += f"\t[{op.command}] = {{ {', '.join(does)} }},\n"
    return out + "};\n"


def ranges(ops):
    rows = [op.range(a) for op in ops for a in op.request]
    return "\nconst struct aggnet_nl_range aggnet_nl_ranges[] = {\n" + \
        "".join(f"\t{row},\n" for row in rows if row) + "\t{ }\n};\n"


def table(ops):
    out = "\nconst struct genl_ops aggnet_nl_ops[] = {\n"
    for op in ops:
        policy, last = op.policy()
        members, dump = [("cmd", op.command)], []
        if op.do is not None:
            members.append(("doit", "aggnet_nl_doit"))
        if op.start:
            dump.append(("start", op.start))
        if op.dump is not None:
            dump.append(("dumpit", "aggnet_nl_dumpit"))
        rest = [("policy", policy), ("maxattr", last)]
        lines = [", ".join(f".{m} = {v}" for m, v in part)
                 for part in (members, dump, rest, [("flags", op.flags)])
                 if part]
        out += "\t{ " + ",\n\t  ".join(lines) + " },\n"
    return out + "};\n"


def source(spec):
    ops = operations(spec)
    return "// SPDX-License-Identifier: GPL-2.0\n" + HEAD + \
        '#include "ctl/netlink_gen.h"\n\n' + policies(ops) + \
        commands(ops) + ranges(ops) + table(ops)


def enum_values(definition):
    """(name, constant) of an enumeration's values, and its count."""
    prefix = definition.get("name-prefix", f"aggnet-{definition['name']}-")
    names = [e if isinstance(e, str) else e["name"]
             for e in definition["entries"]]
    return ([(n, c_name(prefix, n)) for n in names],
            c_name(COUNTS.get(definition["name"], f"--{prefix}max")))


def names(spec):
    """The library's names of enumerations."""
    out = ""
    for d in spec["definitions"]:
        if d["type"] != "enum":
            continue
        values, count = enum_values(d)
        name = c_lower(ENUMS.get(d["name"], d["name"]))
        out += f"\nconst char * const aggnet_{name}_names[] = {{\n"
        out += "".join(f'\t[{c}] = "{n}",\n' for n, c in values)
        out += f"\t[{count}] = NULL,\n}};\n"
    return out


def kind(attr):
    """AGGNET_FIELD_* of an attribute, without the prefix."""
    if attr["type"] == "binary":
        if "sub-type" in attr:
            return "ADDRS"
        return "BYTES" if "exact-len" in attr["checks"] else "BLOB"
    return "ADDR" if "byte-order" in attr else attr["type"].upper()


def fields(spec, aset):
    """The library's table of a noun, in the order of its answers."""
    noun = aset["name"]
    attrs = {a["name"]: a for a in aset["attributes"]}
    ops = [op for op in spec["operations"]["list"]
           if op["attribute-set"] == noun]
    taken, told = {}, {}
    for op in ops:
        taken |= dict.fromkeys(
            op.get("do", {}).get("request", {}).get("attributes", []))
        for part in (op.get("do", {}).get("reply", {}),
                     op.get("dump", {}).get("reply", {}), op.get("event", {})):
            told |= dict.fromkeys(part.get("attributes", []))
    out = f"\nstatic const struct aggnet_field {noun}_fields[] = {{\n"
    for name in told | taken:
        member = MEMBERS.get((noun, name), c_lower(name))
        number = c_name(aset["name-prefix"], name)
        answer = "false" if name in taken else "true"
        if "enum" in attrs[name]:
            enum = attrs[name]["enum"]
            macro = "COUNTS" if attrs[name]["type"] == "binary" else "ENUM"
            out += f"\tFIELD_{macro}({noun}, {member}, {number}, {answer}, " \
                   f"{c_lower(ENUMS.get(enum, enum))}),\n"
        else:
            out += f"\tFIELD({noun}, {member}, {number}, " \
                   f"{kind(attrs[name])}, {answer}),\n"
    return out + f"""}};

const struct aggnet_noun aggnet_noun_{noun} = {{
	.name = "{noun}",
	.field = {noun}_fields,
	.n = ARRAY_SIZE({noun}_fields),
	.size = sizeof(struct aggnet_{noun}_info),
}};
"""


def library(spec):
    return "// SPDX-License-Identifier: GPL-2.0\n" + HEAD + \
        '#include "ctl.h"\n' + names(spec) + \
        "".join(fields(spec, s) for s in spec["attribute-sets"]
                if s["name"] in NOUNS)


def generated(spec):
    """{file: text} of all that follows from the spec."""
    return {
        "kmod/ctl/netlink_gen.h": header(spec),
        "kmod/ctl/netlink_gen.c": source(spec),
        "tools/libaggnet/spec_gen.c": library(spec),
    }


def main():
    top, out = sys.argv[1], sys.argv[-1]
    for name, text in generated(read(top)).items():
        path = f"{out}/{name}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii") as f:
            f.write(text)


if __name__ == "__main__":
    main()
