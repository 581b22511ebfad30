# SPDX-License-Identifier: Apache-2.0
# complete.zsh PAGES PROGRAM <CASES: prints the cases that the completion does
# not offer. What only a line editor has is replaced: it filters by the prefix.
typeset -a offered
_describe() {
  offered+=("${(@)${(@P)2}%%:*}")
}
_files() { }
compadd() { }
pages=$1 program=$2
autoload_once() { words=($program '') CURRENT=2; source $pages/zsh/_$program; }
autoload_once
while IFS=$'\t' read -r line name; do
  words=(${=line}) CURRENT=$#words offered=()
  _${program//-/_}
  (( ${offered[(Ie)$name]} )) || print -r -- "$line -> $name"
done
exit 0
