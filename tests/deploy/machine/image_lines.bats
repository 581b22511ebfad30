# SPDX-License-Identifier: Apache-2.0
# What the page has podman run, by the programs themselves and without an image:
# a new volume gets certificates, and the image's health check is content.

load world.bash
# shellcheck source=tests/support/page_block.bash
source "$SOURCE/tests/support/page_block.bash"

setup() {
  unshare -rn true 2>/dev/null || skip "no network of its own can be made here"
  cd "$BATS_TEST_TMPDIR" || return 1
}

@test "the page's coordinator has certificates and is healthy" {
  local image=$SOURCE/deploy/container/Containerfile.coordinator
  page_block how-to/install.md "podman run" | grep '^podman run' | sed "
    s/^podman run .*--entrypoint frostline frostline-coordinator/frostline/
    s/^podman run .* frostline-coordinator \(.*\)/frostline-coordinator --data data \1 \&/
    s/HOST/localhost/; s#/data/tls#tls#g" >page.sh
  grep -A1 '^HEALTHCHECK' "$image" | sed -n 's/.*CMD \[\(.*\)\]/\1/p' | tr -d '",' >check.sh
  {
    echo 'ip link set lo up'
    sed 's/ &$/ >serve.log \&/' page.sh
    echo 'until grep -q 7443 serve.log; do kill -0 $! || exit 1; sleep 0.1; done'
    cat check.sh
    echo 'kill $!; wait $!'
  } >all.sh
  cat all.sh
  timeout 60 unshare -rn bash -e all.sh 3>&-
}
