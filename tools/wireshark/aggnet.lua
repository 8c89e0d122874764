-- SPDX-License-Identifier: GPL-2.0
-- Wireshark dissector of aggnet's packets (Documentation/wire.rst).
--
--   mkdir -p ~/.local/lib/wireshark/plugins
--   cp aggnet.lua ~/.local/lib/wireshark/plugins
--
-- or "tshark -X lua_script:aggnet.lua". The UDP port is a preference.

local aggnet = Proto("aggnet", "In-network aggregation")

local HEADER = 72
local VERSION = 4
local FILTER_UNIT = 8

local types = {
	"OPEN", "ACCEPT", "DATA", "ACK", "FIN", "DONE", "ABORT", "RST", "PROBE",
}
local reasons = {
	[0] = "none", "timeout", "mismatch", "overflow", "sender", "receiver",
	"withdrawn", "stale", "reset", "protocol", "user", "function", "room",
}
local rst_reasons = { "older epoch", "closed", "nonce" }
local directions = { [0] = "up", "down", "both" }
local fallbacks = { [0] = "no", "no link", "no Bloom match", "policy", "would return" }
local flags = {
	{ "partial", 0x0001, "DATA left before the flow was whole" },
	{ "rexmit", 0x0002, "Sent before" },
	{ "ack", 0x0004, "Answer at once" },
	{ "rooted", 0x0008, "The path to the receiver is bound" },
	{ "check", 0x0010, "The fingerprint covers all sources" },
	{ "last", 0x0020, "No round follows" },
	{ "any", 0x0100, "Any end may accept" },
	{ "tag", 0x0200, "The tag is keyed" },
	{ "fin", 0x0400, "Custody of the FIN is taken" },
	{ "reply", 0x0800, "An answer, not answered again" },
	{ "down", 0x1000, "Of a stream from the root" },
	{ "uniform", 0x2000, "Equal records (reserved)" },
	{ "padded", 0x4000, "Padding follows (reserved)" },
}

local f = aggnet.fields
local function field(make, name, text, ...)
	f[name] = make("aggnet." .. name, text, ...)
end

field(ProtoField.uint8, "version", "Version")
field(ProtoField.uint8, "type", "Type", base.DEC, types)
field(ProtoField.uint8, "hop", "Hop limit")
field(ProtoField.uint8, "filter", "Filter, units of 8 bytes")
field(ProtoField.uint16, "flags", "Flags", base.HEX)
for _, flag in ipairs(flags) do
	field(ProtoField.bool, "flags." .. flag[1], flag[3], 16, nil, flag[2])
end
field(ProtoField.uint16, "length", "Length")
field(ProtoField.uint32, "job", "Job")
field(ProtoField.ipv4, "receiver", "Receiver")
field(ProtoField.uint32, "instance", "Instance")
field(ProtoField.uint32, "attempt", "Attempt")
field(ProtoField.ipv4, "src", "Sender")
field(ProtoField.ipv4, "dst", "Addressed node")
field(ProtoField.uint64, "src_nonce", "Sender's nonce", base.HEX)
field(ProtoField.uint64, "dst_nonce", "Other end's nonce", base.HEX)
field(ProtoField.uint32, "stamp", "Clock, us")
field(ProtoField.uint32, "echo", "Clock of the packet answered, us")
field(ProtoField.uint32, "round", "Round")
field(ProtoField.uint8, "fallback", "Sent by plain IP on the way", base.DEC, fallbacks)
field(ProtoField.uint24, "reserved", "Reserved")
field(ProtoField.uint64, "tag", "Tag", base.HEX)
field(ProtoField.bytes, "link_filter", "Filter of links")
field(ProtoField.uint8, "function", "Function")
field(ProtoField.uint8, "vtype", "Value type")
field(ProtoField.uint8, "layout", "Layout")
field(ProtoField.uint8, "scale", "Scale")
field(ProtoField.uint16, "k", "Pairs of a key")
field(ProtoField.uint8, "direction", "Direction", base.DEC, directions)
field(ProtoField.uint8, "persist", "Persistent")
field(ProtoField.uint64, "elements", "Elements")
field(ProtoField.uint64, "have", "Bytes that the child has")
field(ProtoField.uint16, "max_payload", "Most bytes of records")
field(ProtoField.uint16, "max_records", "Most records")
field(ProtoField.uint8, "open_hop", "Hop limit of the OPEN")
field(ProtoField.uint32, "seq", "Sequence")
field(ProtoField.uint16, "records", "Records")
field(ProtoField.uint16, "data_weight", "Weight")
field(ProtoField.uint64, "represents", "Original records")
field(ProtoField.bytes, "key", "Key")
field(ProtoField.bytes, "value", "Value")
field(ProtoField.uint32, "cum", "All merged before")
field(ProtoField.uint32, "credit", "Credit before")
field(ProtoField.bytes, "sack", "Merged behind the first hole")
field(ProtoField.uint32, "below", "All below have before")
field(ProtoField.uint32, "done", "Receivers that are done")
field(ProtoField.uint32, "final", "Sequence after the last DATA")
field(ProtoField.uint32, "weight", "Sources")
field(ProtoField.uint64, "fin_records", "Original records")
field(ProtoField.uint32, "partials", "Nodes that did not wait")
field(ProtoField.uint32, "members", "Sum of members", base.HEX)
field(ProtoField.uint64, "check", "Fingerprint", base.HEX)
field(ProtoField.uint32, "fell_link", "By plain IP, no link")
field(ProtoField.uint32, "fell_bloom", "By plain IP, no Bloom match")
field(ProtoField.uint32, "fell_policy", "By plain IP, IPsec policy")
field(ProtoField.uint32, "fell_round", "By plain IP, would return")
field(ProtoField.uint32, "sources", "Sources")
field(ProtoField.uint32, "expected", "Sources to expect, plus 1")
field(ProtoField.uint32, "names", "Names")
field(ProtoField.ipv4, "name", "Not bound")
field(ProtoField.uint32, "reason", "Reason", base.DEC, reasons)
field(ProtoField.ipv4, "origin", "Raised by")
field(ProtoField.ipv4, "about", "About")
field(ProtoField.uint32, "missing", "Missing sources")
field(ProtoField.uint32, "rst_reason", "Reason", base.DEC, rst_reasons)

local malformed = ProtoExpert.new("aggnet.malformed", "Malformed packet",
	expert.group.MALFORMED, expert.severity.ERROR)
aggnet.experts = { malformed }

local function bad(tree, text)
	tree:add_proto_expert_info(malformed, text)
end

-- add(TREE, BUFFER, {NAME, BYTES}...): fields one behind the other; a name of ""
-- leaves bytes out. Returns the offset behind them.
local function add(tree, buffer, list)
	local at = 0

	for _, item in ipairs(list) do
		if item[1] ~= "" then
			tree:add(f[item[1]], buffer(at, item[2]))
		end
		at = at + item[2]
	end
	return at
end

local function add_names(tree, buffer, at, most)
	while at + 4 <= buffer:len() and most > 0 do
		tree:add(f.name, buffer(at, 4))
		at = at + 4
		most = most - 1
	end
	return at
end

local function add_records(tree, buffer, at, count)
	for _ = 1, count do
		local klen, vlen, item

		if at + 2 > buffer:len() then
			return bad(tree, "fewer records than stated")
		end
		klen, vlen = buffer(at, 1):uint(), buffer(at + 1, 1):uint()
		if klen == 0 or at + 2 + klen + vlen > buffer:len() then
			return bad(tree, "a record is longer than the packet")
		end
		item = tree:add(aggnet, buffer(at, 2 + klen + vlen), "Record")
		item:add(f.key, buffer(at + 2, klen))
		if vlen > 0 then
			item:add(f.value, buffer(at + 2 + klen, vlen))
		end
		at = at + 2 + klen + vlen
	end
	if at ~= buffer:len() then
		bad(tree, "bytes behind the last record")
	end
end

-- For each type: least length of the body, and what adds it to the tree and
-- returns a summary.
local bodies = {
	[1] = { 24, function(tree, body)
		add(tree, body, { { "function", 1 }, { "vtype", 1 },
			{ "layout", 1 }, { "scale", 1 }, { "k", 2 },
			{ "direction", 1 }, { "persist", 1 }, { "elements", 8 },
			{ "have", 8 } })
		return ""
	end },
	[2] = { 8, function(tree, body)
		add(tree, body, { { "max_payload", 2 }, { "max_records", 2 },
			{ "open_hop", 1 }, { "direction", 1 } })
		return ""
	end },
	[3] = { 16, function(tree, body)
		local count = body(4, 2):uint()

		add(tree, body, { { "seq", 4 }, { "records", 2 },
			{ "data_weight", 2 }, { "represents", 8 } })
		if count == 0 then
			return string.format(" seq %u, %u bytes",
				body(0, 4):uint(), body:len() - 16)
		end
		add_records(tree, body, 16, count)
		return string.format(" seq %u, %u records", body(0, 4):uint(),
			count)
	end },
	[4] = { 48, function(tree, body)
		add(tree, body, { { "cum", 4 }, { "credit", 4 },
			{ "sack", 32 }, { "below", 4 }, { "done", 4 } })
		return string.format(" cum %u, credit %u", body(0, 4):uint(),
			body(4, 4):uint())
	end },
	[5] = { 48, function(tree, body)
		local at = add(tree, body, { { "final", 4 }, { "weight", 4 },
			{ "fin_records", 8 }, { "partials", 4 },
			{ "members", 4 }, { "check", 8 }, { "fell_link", 4 },
			{ "fell_bloom", 4 }, { "fell_policy", 4 },
			{ "fell_round", 4 } })

		add_names(tree, body, at, 16)
		return string.format(" final %u, %u sources", body(0, 4):uint(),
			body(4, 4):uint())
	end },
	[6] = { 8, function(tree, body)
		add(tree, body, { { "sources", 4 }, { "partials", 4 } })
		return string.format(" %u sources", body(0, 4):uint())
	end },
	[7] = { 16, function(tree, body)
		local at = add(tree, body, { { "reason", 4 }, { "origin", 4 },
			{ "about", 4 }, { "missing", 4 } })

		add_names(tree, body, at, 16)
		return " " .. (reasons[body(0, 4):uint()] or "unknown reason")
	end },
	[8] = { 16, function(tree, body)
		add(tree, body, { { "rst_reason", 4 }, { "instance", 4 },
			{ "attempt", 4 } })
		return " " .. (rst_reasons[body(0, 4):uint()] or
			"unknown reason")
	end },
	[9] = { 0, function(tree, body)
		if body:len() < 8 then
			return ""
		end
		add(tree, body, { { "expected", 4 }, { "names", 4 } })
		add_names(tree, body, 8, math.min(body(4, 4):uint(), 16))
		return ""
	end },
}

local function add_header(tree, buffer)
	local item

	add(tree, buffer, { { "version", 1 }, { "type", 1 }, { "hop", 1 },
		{ "filter", 1 } })
	item = tree:add(f.flags, buffer(4, 2))
	for _, flag in ipairs(flags) do
		item:add(f["flags." .. flag[1]], buffer(4, 2))
	end
	add(tree, buffer(6), { { "length", 2 }, { "job", 4 },
		{ "receiver", 4 }, { "instance", 4 }, { "attempt", 4 },
		{ "src", 4 }, { "dst", 4 }, { "src_nonce", 8 },
		{ "dst_nonce", 8 }, { "stamp", 4 }, { "echo", 4 },
		{ "round", 4 }, { "fallback", 1 }, { "reserved", 3 }, { "tag", 8 } })
end

local function add_body(tree, buffer, kind, name)
	local filter = buffer(3, 1):uint() * FILTER_UNIT
	local length = buffer(6, 2):uint() - filter
	local body = bodies[kind]

	if filter > 0 and HEADER + filter <= buffer:len() then
		tree:add(f.link_filter, buffer(HEADER, filter))
	end
	if not body then
		bad(tree, "unknown type")
		return ""
	end
	if length < body[1] then
		bad(tree, "shorter than the body of " .. name)
		return ""
	end
	if length == 0 then
		return ""
	end
	return body[2](tree, buffer(HEADER + filter, length):tvb())
end

function aggnet.dissector(buffer, pinfo, root)
	local kind, name, tree

	if buffer:len() < HEADER or buffer(0, 1):uint() ~= VERSION then
		return 0
	end
	kind = buffer(1, 1):uint()
	name = types[kind] or "unknown type"
	pinfo.cols.protocol = "aggnet"
	tree = root:add(aggnet, buffer(), "aggnet, " .. name)
	add_header(tree, buffer)
	if buffer(6, 2):uint() ~= buffer:reported_len() - HEADER then
		bad(tree, "the length is not that of the datagram")
		return buffer:len()
	end
	if buffer:len() < buffer:reported_len() then
		pinfo.cols.info = string.format("%s, job %u (cut by the capture)",
			name, buffer(8, 4):uint())
		return buffer:len()
	end
	pinfo.cols.info = string.format("%s%s, job %u", name,
		add_body(tree, buffer, kind, name), buffer(8, 4):uint())
	return buffer:len()
end

aggnet.prefs.port = Pref.uint("UDP port", 18016, "UDP port of the nodes")

local attached
local function attach()
	local ports = DissectorTable.get("udp.port")

	if attached then
		ports:remove(attached, aggnet)
	end
	attached = aggnet.prefs.port
	ports:add(attached, aggnet)
end

aggnet.prefs_changed = attach
attach()
