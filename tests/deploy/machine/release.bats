# SPDX-License-Identifier: Apache-2.0
# A release's files, their sums and the signature of these, by OpenSSH.
load ../../support/wait_for.bash

setup_file() {
  cd "$BATS_FILE_TMPDIR"
  mkdir keys
  ssh-keygen -q -t ed25519 -N '' -C maker -f keys/maker
  ssh-keygen -q -t ed25519 -N '' -C other -f keys/other
  echo "maker $(cut -d' ' -f1,2 keys/maker.pub)" >signers
}

setup() {
  cd "$BATS_FILE_TMPDIR"
  PATH=$(readlink -f "$BATS_TEST_DIRNAME/../../../scripts"):$PATH
  rm -rf release
  mkdir -p release/docs
  echo one >release/frostline.deb
  echo two >'release/docs/what is new.md'
  sign_release.sh release keys/maker
}

@test "what was signed passes, with its signer's name" {
  run sign_release.sh --check release signers
  echo "$output"
  [ "$status" -eq 0 ]
  says "2 files of release are those that maker signed"
}

@test "a file that changed, went or came is found" {
  echo three >>release/frostline.deb
  fails sign_release.sh --check release signers
  rm release/frostline.deb
  fails sign_release.sh --check release signers
  echo one >release/frostline.deb
  sign_release.sh --check release signers
  echo four >release/extra.deb
  run sign_release.sh --check release signers
  [ "$status" -eq 1 ]
  says "did not sign: extra.deb"
}

@test "sums that somebody else made or signed are refused" {
  echo three >>release/frostline.deb
  (cd release && find . -type f ! -name 'SHA256*' -printf '%P\n' | sort |
    xargs -d '\n' sha256sum >SHA256SUMS)
  run sign_release.sh --check release signers
  [ "$status" -eq 1 ]
  says "is not of this list"
  sign_release.sh release keys/other
  run sign_release.sh --check release signers
  [ "$status" -eq 1 ]
  says "nobody in signers has signed release"
}

@test "a signature for another purpose does not count" {
  rm release/SHA256SUMS.sig
  ssh-keygen -q -Y sign -f keys/maker -n file release/SHA256SUMS
  run sign_release.sh --check release signers
  [ "$status" -eq 1 ]
}

@test "an empty folder, a missing key and a folder without a signature are refused" {
  mkdir -p empty
  fails sign_release.sh empty keys/maker
  fails sign_release.sh release keys/nobody
  rm release/SHA256SUMS.sig
  run sign_release.sh --check release signers
  [ "$status" -eq 1 ]
  says "release is not signed"
}
