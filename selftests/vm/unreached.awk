# SPDX-License-Identifier: GPL-2.0
# Of .gcov files of the module as the guest has it, and of other builds of its
# files: the lines of the first that none of them reached, by function, with the
# reason that is known. Status 1 if a function has none, or more lines than that.
# Usage: awk -v guest=DIRECTORY -f unreached.awk REASONS FILE.c.gcov...
#   REASONS  lines "FUNCTION LINES REASON", or a comment; LINES "-": not counted

FILENAME == ARGV[1] {
	if (NF > 2 && !/^#/) {
		name = $1
		known[name] = $2
		sub(/^[^ \t]+[ \t]+[^ \t]+[ \t]+/, "")
		reason[name] = $0
	}
	next
}

# gcov also prints "function ...", "branch 0 ..." and "call ...".
!/^ *[^ :]+: *[0-9]+:/ { next }

{
	split($0, part, ":")
	count = part[1]
	number = part[2] + 0
	text = substr($0, length(part[1]) + length(part[2]) + 3)
	gsub(/[ *]/, "", count)
}

# Functions of the file itself, not of headers.
number == 0 {
	if (text ~ /^Source:/) {
		file = text
		sub(/.*\//, "", file)
		function_ = ""
	}
	next
}

text ~ /^[a-z_].*\(/ && text !~ /;$/ {
	function_ = text
	sub(/\(.*/, "", function_)
	sub(/.*[ *]/, "", function_)
}

count != "-" {
	at = file SUBSEP number
	if (index(FILENAME, guest "/") == 1) {
		of[at] = function_
		order[++lines] = at
	}
	if (count !~ /[#=]/)
		reached[at] = 1
}

END {
	for (i = 1; i <= lines; i++) {
		at = order[i]
		if (at in reached)
			continue
		split(at, part, SUBSEP)
		name = part[1] " " of[at]
		if (!(name in list))
			names[++n] = name
		list[name] = list[name] " " part[2]
		count_of[name]++
		unreached++
	}
	printf "\n%d of %d lines are reached by no test\n", unreached, lines
	for (i = 1; i <= n; i++) {
		split(names[i], part, " ")
		name = part[2]
		why = name in reason ? reason[name] : "?"
		if (name in reason && known[name] != "-" &&
		    count_of[names[i]] > known[name])
			why = "? of " known[name] " lines it is known: " why
		printf "%s, %s:%s\n\t%s\n", part[1], name, list[names[i]], why
		failed += why ~ /^[?]/
	}
	exit failed > 0
}
