# SPDX-License-Identifier: GPL-2.0
# Print a man page. Where it has the comment `.\" reference HEADER...`, all
# declarations of these headers follow, each with its kernel-doc: a subsection has the
# code and what the comment says of it. Headers are in the working directory.

# escape TEXT: TEXT as roff prints it
function escape(text)
{
	gsub(/\\/, "\\e", text)
	gsub(/-/, "\\-", text)
	gsub(/`/, "\\(ga", text)
	sub(/^[.']/, "\\\\\\&&", text)
	return text
}

# prose TEXT: a line of a comment, with members and constants in their fonts
function prose(text)
{
	text = escape(text)
	gsub(/@[a-z_0-9]+/, "\\fI&\\fP", text)
	gsub(/\\fI@/, "\\fI", text)
	return text
}

function tag(text)
{
	printf ".TP\n.I %s\n", escape(text)
}

# What the comment says after the line with the name: members, then paragraphs.
function describe(n, line, i, gap)
{
	gap = ".PP"
	for (i = 1; i <= n; i++) {
		line = body[i]
		if (line == "") {
			gap = ".PP"
		} else if (match(line, /^@[a-zA-Z_0-9]+: /)) {
			tag(substr(line, 2, RLENGTH - 3))
			print prose(substr(line, RLENGTH + 1))
			gap = ""
		} else {
			if (gap != "")
				print gap
			print prose(line)
			gap = ""
		}
	}
}

# expand TEXT: TEXT with spaces in place of its tabs
function expand(text, out, at)
{
	out = ""
	while ((at = index(text, "\t"))) {
		out = out substr(text, 1, at - 1)
		out = out substr("        ", length(out) % 8 + 1)
		text = substr(text, at + 1)
	}
	return out text
}

# Declarations that follow each other without a blank line, after one comment.
function flush_group(i)
{
	if (names != "") {
		printf ".SS %s\n.nf\n", names
		for (i = 1; i <= lines; i++)
			print escape(expand(code[i]))
		print ".fi"
		describe(words)
	}
	names = ""
	lines = first = words = 0
}

# The name that a declaration introduces, "" if there is none.
function name_of(text)
{
	if (text ~ /^#define/ || text ~ /^#pragma/ || text ~ /^#/) {
		if (!match(text, /^#define [A-Za-z_0-9]+/))
			return ""
		return substr(text, 9, RLENGTH - 8)
	}
	if (match(text, /^(struct|enum) [a-z_0-9]+ ?[{;]/)) {
		sub(/ ?[{;].*/, "", text)
		return text
	}
	if (text ~ /^typedef/) {
		sub(/;.*/, "", text)
		sub(/.*[ *]/, "", text)
		return text
	}
	if (match(text, /[a-z_0-9]+\(/))
		return substr(text, RSTART, RLENGTH - 1)
	if (match(text, /[a-z_0-9]+(\[\])?;/)) {
		text = substr(text, RSTART, RLENGTH - 1)
		sub(/\[\]/, "", text)
		return text
	}
	return ""
}

# A line of a comment, without what makes it one.
function comment_line(text)
{
	sub(/^\/\*\**/, "", text)
	sub(/ *\*\/[^\/]*$/, "", text)
	sub(/^ ?\*/, "", text)
	sub(/^[ \t]+/, "", text)
	return text
}

function add_comment(text)
{
	text = comment_line(text)
	if (words == 0 && text == "")
		return
	# The name is the subsection's.
	if (words == 0) {
		sub(/^(struct |enum |typedef )?[A-Za-z_0-9]+(\(\))? - /, "", text)
		if (text !~ /^@/)
			text = toupper(substr(text, 1, 1)) substr(text, 2)
	}
	body[++words] = text
}

function declaration_line(text)
{
	code[++lines] = text
	if (!first)
		first = lines
	depth += gsub(/{/, "{", text) - gsub(/}/, "}", text)
	if (code[first] ~ /^#/) {
		if (text ~ /\\$/)
			return
	} else if (depth || text !~ /(;|^})[^;]*$/) {
		return
	}
	end_declaration()
}

function end_declaration(text, name)
{
	text = code[first]
	if (lines > first && text !~ /\(/ && text !~ /{/)
		text = text " " code[first + 1]
	name = name_of(text)
	if (name ~ /^$|_H$/)
		lines = first - 1
	else
		names = names (names == "" ? "" : ", ") name
	first = 0
}

function comment_begins(text)
{
	flush_group()
	add_comment(text)
	commented = text !~ /\*\//
}

function reference(header, text)
{
	while ((getline text < header) > 0) {
		if (first) {
			declaration_line(text)
		} else if (commented) {
			add_comment(text)
			commented = text !~ /\*\//
		} else if (text ~ /^\/\*/) {
			comment_begins(text)
		} else if (text ~ /^$/) {
			flush_group()
		} else if (text !~ /^(#(if|ifndef|ifdef|endif|include|pragma)|extern "C"|}$)/) {
			declaration_line(text)
		}
	}
	flush_group()
	close(header)
}

/^\.\\" reference / {
	for (i = 3; i <= NF; i++)
		reference($i)
	next
}
{ print }
