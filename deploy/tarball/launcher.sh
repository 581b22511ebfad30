#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs @PROGRAM@ with the libraries and the loader that came with it, wherever
# this folder was put and whatever the machine has.
SELF=$0
while [ -h "$SELF" ]; do
  TO=$(readlink "$SELF")
  case $TO in
    /*) SELF=$TO ;;
    *) SELF=$(dirname "$SELF")/$TO ;;
  esac
done
ROOT=$(CDPATH='' cd "$(dirname "$SELF")/.." && pwd -P) || exit 1
exec "$ROOT/bin/ld-frostline.so" --library-path "$ROOT/lib" \
  --argv0 @PROGRAM@ "$ROOT/programs/@PROGRAM@" "$@"
