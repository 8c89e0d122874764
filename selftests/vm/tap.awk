# SPDX-License-Identifier: GPL-2.0
# Reads the TAP of one test program. Prints "PASSED FAILED SKIPPED WHY": WHY is
# what is wrong with the TAP as a whole, and is empty if nothing is.
# A line "1..N" comes once, and then each number of 1..N once: a result that is
# glued to other text is a number that is missing.

function flaw(text)
{
	if (!why)
		why = text
}

/^1\.\.[0-9]+/ {
	if (planned != "")
		flaw("it has two plans")
	planned = substr($1, 4) + 0
	# "1..0 # SKIP why" skips the whole program.
	if (planned == 0)
		skipped++
	next
}

/^(not )?ok / {
	number = $1 == "not" ? $3 : $2
	if (number !~ /^[0-9]+$/)
		flaw("a result has no number: " $0)
	else if (seen[number]++)
		flaw("two results have the number " number)
	else if (number > most)
		most = number + 0
	ran++
	if ($1 == "not")
		failed++
	else if (/# [Ss][Kk][Ii][Pp]/)
		skipped++
	else
		passed++
	next
}

/^Bail out!/ { flaw("it bailed out") }

!/^#/ && /not ok [0-9]|Bail out!/ { flaw("a result inside a line: " $0) }

END {
	if (planned == "")
		flaw(ran ? "it printed no plan" : "it ran no test")
	else if (planned == 0 && ran)
		flaw("it ran " ran " tests of none")
	else if (planned != ran || most > planned)
		flaw("it ran " (ran + 0) " of " planned " tests")
	print passed + 0, failed + 0, skipped + 0, why
}
