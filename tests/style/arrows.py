# SPDX-License-Identifier: Apache-2.0
"""Who may include whom. ROOMS and FENCES are the picture in
docs/architecture.md; everything else here applies them."""
import re

# room -> the rooms it may include and link. Itself always; tests: everything.
ROOMS = {
    "base": (),
    "proto": ("base",),
    "study": ("base",),
    "surrogate": ("study", "base"),
    "sampler": ("surrogate", "study", "base"),
    "importance": ("surrogate", "study", "base"),
    "storage": ("study", "base"),
    "server": ("storage", "importance", "sampler", "surrogate", "study",
               "proto", "base"),
    "worker/agent": ("proto", "base"),
    "worker/demo_trainer": ("proto", "base"),
    "worker/trainer": ("base",),
    "cli": ("study", "proto", "base"),
}

# library -> (how an include, a name or a link names it, where that may be).
FENCES = {
    "gRPC": (r"^grpc(pp)?/|\.grpc\.pb\.h$", r"\bgrpc::|\bgrpc_\w+\(",
             r"\bgRPC::", ("proto", "server/rpc", "server/main.cc",
                           "worker/agent", "cli")),
    "Protobuf": (r"^google/protobuf/|\.pb\.h$", r"\bgoogle::protobuf\b",
                 r"\bprotobuf::", ("proto", "server", "worker/agent",
                                   "worker/demo_trainer", "cli")),
    "SQLite": (r"^sqlite3", r"\bsqlite3_\w+", r"\bSQLite::",
               ("storage/sqlite",)),
    "Eigen": (r"^Eigen/", r"\bEigen::", r"\bEigen3::", ("surrogate",)),
    "Torch": (r"^(torch|ATen|c10|caffe2)/", r"\b(torch|at|c10)::",
              r"\bLibTorch::", ("worker/trainer",)),
}


def room_of(path):
    """"worker/agent" for a file below it; None outside of every room."""
    for room in sorted(ROOMS, key=len, reverse=True):
        if path == room or path.startswith(room + "/"):
            return room
    return None


def included_room(include):
    return "proto" if include.startswith("frostline/v1/") else room_of(include)


def check_arrows(files):
    """An include may only follow the arrows, and must exist."""
    known = {f.path for f in files}
    for file in files:
        room = room_of(file.path)
        for line, include, quoted in file.includes():
            target = included_room(include)
            where = f"{file.path}:{line}"
            if include.startswith("tests/") and not file.path.startswith("tests/"):
                yield f"{where}: includes {include}: only tests include tests"
            if target and room and target != room and target not in ROOMS[room]:
                yield f"{where}: {room} may not include {include}"
            generated = include.startswith("frostline/v1/")
            if quoted and target and not generated and include not in known:
                yield f"{where}: there is no {include}"


def check_links(files):
    """A library may only link libraries of rooms it may include."""
    home = {}
    for file in files:
        if file.name == "CMakeLists.txt":
            for name in re.findall(r"frostline_(?:library|proto)\((\w+)",
                                   file.text):
                home[name] = room_of(file.folder)
    for file in files:
        room = room_of(file.folder)
        if file.name != "CMakeLists.txt" or not room:
            continue
        for name in sorted(set(re.findall(r"frostline::(\w+)", file.text))):
            if name not in home:
                yield f"{file.path}: nothing makes frostline::{name}"
            elif home[name] != room and home[name] not in ROOMS[room]:
                yield f"{file.path}: {room} may not link frostline::{name}"


def allowed(path, places):
    return path.startswith(("tests/", "cmake/")) or any(
        path == place or path.startswith(place + "/") for place in places)


def check_fences(files):
    """gRPC, Protobuf, SQLite and Torch are named in their rooms alone."""
    for file in files:
        for library, (include, name, link, places) in FENCES.items():
            if allowed(file.path, places):
                continue
            if file.name == "CMakeLists.txt" and re.search(link, file.text):
                yield f"{file.path}: links {library} outside {', '.join(places)}"
            if file.suffix not in (".cc", ".h"):
                continue
            for line, path, _ in file.includes():
                if re.search(include, path):
                    yield f"{file.path}:{line}: includes {library} ({path})"
            if re.search(name, file.code()):
                yield f"{file.path}: names {library}"
