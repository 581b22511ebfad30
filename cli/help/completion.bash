# SPDX-License-Identifier: Apache-2.0
# Completes frostline in bash: the program itself says what may follow.
_frostline() {
  local program=${COMP_WORDS[0]/#\~/$HOME} current=${COMP_WORDS[COMP_CWORD]}
  local line word
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :files)
        compopt -o filenames 2>/dev/null
        while IFS= read -r word; do
          COMPREPLY+=("$word")
        done < <(compgen -f -- "${current#=}")
        ;;
      :folders)
        compopt -o filenames 2>/dev/null
        while IFS= read -r word; do
          COMPREPLY+=("$word")
        done < <(compgen -d -- "${current#=}")
        ;;
      *)
        word=${line%%$'\t'*}
        # bash has cut --flag=value at the sign, and completes what follows it.
        [[ $current == --*=* || $word != --*=* ]] || word=${word#*=}
        COMPREPLY+=("$word")
        ;;
    esac
  done < <("$program" __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == */ ]]; then
    compopt -o nospace 2>/dev/null
  fi
  return 0
}
complete -F _frostline frostline
