# SPDX-License-Identifier: Apache-2.0
# complete.bash PAGES PROGRAM <CASES: prints the cases that bash does not
# complete, each "words so far<TAB>what they must offer".
shopt -s progcomp
source "$1/bash/$2"
function=$(complete -p "$2" | sed 's/.*-F \([^ ]*\).*/\1/')
while IFS=$'\t' read -r line name; do
  read -ra COMP_WORDS <<<"$line"
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMPREPLY=()
  "$function"
  printf '%s\n' "${COMPREPLY[@]}" | grep -qxF -- "$name" || echo "$line -> $name"
done
exit 0
