# A line "NODE PARENT" for each end of a plan's tree but the receiver, parents first:
# the senders, and the servers where several flows meet.
.trees[0] as $tree |
($tree.edges | map({ key: "\(.[0])", value: .[1] }) | from_entries) as $next |
($tree.edges | group_by(.[1]) | map(select(length > 1) | .[0][1])) as $merges |
($tree.senders + $merges + [$tree.receiver] |
 map({ key: "\(.)", value: true }) | from_entries) as $ends |
def parent: $next["\(.)"] | until($ends["\(.)"]; $next["\(.)"]);
def depth: [recurse($next["\(.)"]; . != null)] | length;
[$ends | keys[] | tonumber | select(. != $tree.receiver)] | sort_by(depth)[] |
"v\(.) v\(parent)"
