#compdef frostline
# SPDX-License-Identifier: Apache-2.0
# Completes frostline in zsh: the program itself says what may follow.
_frostline() {
  local line word note files='' tab=$'\t'
  local -a entries
  while IFS= read -r line; do
    case $line in
      :files) files=all ;;
      :folders) files=folders ;;
      *)
        word=${line%%$tab*} note=''
        [[ $line == *$tab* ]] && note=${line#*$tab}
        entries+=("${word//:/\\:}:$note")
        ;;
    esac
  done < <("${(e)words[1]}" __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)
  (( $#entries )) && _describe frostline entries
  case $files in
    all) _files ;;
    folders) _files -/ ;;
  esac
}
if [[ ${zsh_eval_context[-1]} == loadautofunc ]]; then
  _frostline "$@"
elif (( $+functions[compdef] )); then
  compdef _frostline frostline
fi
