# SPDX-License-Identifier: Apache-2.0
# Completes frostline in fish: the program itself says what may follow.
function __frostline_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] __complete -- $words[2..-1] "$current" 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path "$current"
            case :folders
                __fish_complete_directories "$current"
            case '*'
                printf '%s\n' $line
        end
    end
end
complete -c frostline -f -a '(__frostline_complete)'
