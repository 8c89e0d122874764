# What the table of completion times compares.
"",
([
	"Each of the \(.[0].senders) servers has \(.[0].tasks) tasks, and each task",
	"sends \(.[0].records) records of 18 bytes with the same keys (delta 0). With",
	"TCP each task has a connection to the receiver, which discards what it",
	"reads: nothing is merged, and connections that share a queue of 64 KiB",
	"lose packets and wait. \"Existing\" merges the tasks of a server before",
	"their flow leaves it, and nothing on the way. The other methods merge on",
	"the way, too. \"Predicted\" is what `aggctl plan --rate` prints: it counts",
	"bytes on links, and no losses. One emulated CPU that executes 10^9",
	"instructions a second plays all servers and switches. For this reason the",
	"links are slow: on faster ones the table would compare CPU times."
] | join(" "))
