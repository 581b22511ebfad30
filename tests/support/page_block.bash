# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# page_block PAGE TEXT: the block of code of docs/PAGE in which TEXT stands, so
# that a test runs what a page says. Fails where there is none, or several.
page_block() {
  local docs
  docs=$(dirname "${BASH_SOURCE[0]}")/../../docs
  awk -v text="$2" '
    /^```/ { if (inside && index(block, text)) { found = found block; ++count }
             inside = !inside; block = ""; next }
    inside { block = block $0 "\n" }
    END { if (count == 1) printf "%s", found; exit count != 1 }' "$docs/$1"
}
