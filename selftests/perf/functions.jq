# Lines "SAMPLES FUNCTION IS-OF-THE-MODULE", most first, as JSON.
[inputs | capture("(?<n>[0-9]+) (?<function>.*) (?<module>true|false)") |
	{ function, module: (.module == "true"),
	  instructions: ((.n | tonumber) * $sample / $units * 10 | round / 10) }]
