#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/sign_release.sh FOLDER KEY            signs what is in FOLDER
# scripts/sign_release.sh --check FOLDER SIGNERS   whether it is what was signed
#
# A release is a folder of files. SHA256SUMS has the sum of each, and
# SHA256SUMS.sig is OpenSSH's signature of that, by KEY, a private key. SIGNERS
# has public ones, a line each: `NAME ssh-ed25519 AAAA…` (ssh-keygen(1), ALLOWED
# SIGNERS). Nothing of a folder whose check fails is to be used.
set -euo pipefail
SPACE=frostline-release # a signature for another purpose does not count

usage() {
  sed -n '3,4s/^# \{0,1\}//p' "$0" >&2
  exit 2
}
fail() {
  echo "sign_release: $*" >&2
  exit 1
}
files() { find . -type f ! -name 'SHA256SUMS*' -printf '%P\n' | LC_ALL=C sort; }

[ $# -ge 2 ] || usage
if [ "$1" != --check ]; then
  [ $# -eq 2 ] || usage
  KEY=$(readlink -f "$2")
  [ -f "$KEY" ] || fail "$2 is no private key: make one with ssh-keygen -t ed25519"
  cd "$1"
  [ -n "$(files)" ] || fail "$1 has no files: put the packages there first"
  files | xargs -d '\n' sha256sum >SHA256SUMS
  rm -f SHA256SUMS.sig
  ssh-keygen -q -Y sign -f "$KEY" -n "$SPACE" SHA256SUMS
  echo "$(wc -l <SHA256SUMS) files are in $1/SHA256SUMS, signed"
  exit 0
fi
[ $# -eq 3 ] || usage
SIGNERS=$(readlink -f "$3")
cd "$2"
[ -f SHA256SUMS.sig ] || fail "$2 is not signed"
WHO=$(ssh-keygen -Y find-principals -f "$SIGNERS" -s SHA256SUMS.sig 2>/dev/null) ||
  fail "nobody in $3 has signed $2"
ssh-keygen -Y verify -f "$SIGNERS" -I "$WHO" -n "$SPACE" -s SHA256SUMS.sig \
  <SHA256SUMS >/dev/null 2>&1 || fail "the signature of $2/SHA256SUMS is not of this list"
sha256sum --check --quiet --strict SHA256SUMS || fail "files of $2 are not those that $WHO signed"
ADDED=$(comm -13 <(cut -c67- SHA256SUMS | LC_ALL=C sort) <(files) | head -n 3)
[ -z "$ADDED" ] || fail "$2 has files that $WHO did not sign: $ADDED"
echo "$(wc -l <SHA256SUMS) files of $2 are those that $WHO signed"
