# What the table of completion times compares. Input: demo.json.
"",
([
	"Each of the \(.time.senders) servers has \(.time.tasks) tasks, and each task",
	"sends \(.time.records) records of 18 bytes with the same keys (delta 0). With",
	"TCP each task has a connection to the receiver, which discards what it",
	"reads: nothing is merged, and connections that share a queue of 64 KiB",
	"lose packets and wait. \"Existing\" merges the tasks of a server before",
	"their flow leaves it, and nothing on the way. The other methods merge on",
	"the way, too. Two stripes are trees that share no link in the same",
	"direction, each with half of the keys. \"Predicted\" is what `aggctl plan",
	"--rate` prints: it counts bytes on links, and no losses. One emulated CPU",
	"that executes 10^9 instructions a second plays all servers and switches.",
	"For this reason the links are slow: on faster ones the table would compare",
	"CPU times."
] | join(" "))
