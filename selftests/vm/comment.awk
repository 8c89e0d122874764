# SPDX-License-Identifier: GPL-2.0
# The first comment of a C source or of a script, behind its licence, on one line:
# up to a usage, a drawing, an empty line or the comment's end.
/^#!/ || /SPDX-License-Identifier/ || /^(#|\/\*)?$/ && !text {
	next
}

!/^(# |#$|\/\*| \*)/ || /^ ?[#*]$/ || /   / || /^(#| \*) (Usage:|shellcheck )/ {
	exit
}

{
	last = sub(/ *\*\/$/, "")
	sub(/^(#|\/\*| \*) */, "")
	text = text (text && $0 ? " " : "") $0
	if (last)
		exit
}

END {
	if (text)
		print text
}
