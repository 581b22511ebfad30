# SPDX-License-Identifier: Apache-2.0
# complete.fish PAGES PROGRAM <CASES: prints the cases that fish does not
# complete.
source $argv[1]/fish/$argv[2].fish
while read -l case
    set -l parts (string split \t -- $case)
    set -l offered (complete -C "$parts[1]" | string replace -r '\t.*' '')
    contains -- $parts[2] $offered; or echo "$parts[1] -> $parts[2]"
end
