#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# build.sh [--packages DIR] [BUILDAH OPTIONS] coordinator|worker|worker-cuda
# The image localhost/frostline-NAME, by buildah, as root or not. DIR has the
# packages of `scripts/package.sh deb` (packages/).
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ROOT=$(cd "$HERE/../.." && pwd)
CONTEXT=$ROOT/packages
if [ "${1:-}" = --packages ]; then
  CONTEXT=$2
  shift 2
fi
NAME=${*: -1}
case $NAME in
  coordinator | worker) ;;
  worker-cuda) CONTEXT=$ROOT ;;
  *)
    sed -n '3,5s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
# The form of Docker: that of OCI has no health check.
exec buildah build --format docker --ignorefile "$HERE/.containerignore" \
  --file "$HERE/Containerfile.$NAME" --tag "frostline-$NAME" \
  "${@:1:$#-1}" "$CONTEXT"
