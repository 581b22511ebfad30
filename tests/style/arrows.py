# SPDX-License-Identifier: Apache-2.0
"""Who may include whom. ROOMS, FLOORS and FENCES are the picture in
docs/architecture.md and in the rooms' READMEs; everything else here applies
them."""
import posixpath
import re

from tree import CODE

# room -> the rooms it may include and link. Itself always; tests: everything.
ROOMS = {
    "base": (),
    "proto": ("base",),
    "study": ("base",),
    "statistics": ("base",),
    "surrogate": ("study", "base"),
    "sampler": ("surrogate", "study", "base"),
    "importance": ("surrogate", "statistics", "study", "base"),
    "storage": ("study", "base"),
    "tls": ("base",),
    "spans": ("tls", "proto", "base"),
    "server": ("spans", "tls", "storage", "importance", "sampler", "surrogate",
               "statistics", "study", "proto", "base"),
    "worker/registry": ("worker/trainer", "base"),
    "worker/agent": ("worker/registry", "spans", "tls", "proto", "base"),
    "worker/demo_trainer": ("base",),
    "worker/trainer": ("statistics", "base"),
    "cli": ("worker/registry", "tls", "statistics", "study", "proto", "base"),
}

# room -> its floors, foundations first -> the other floors of the room that
# each may include: only floors listed before it. A floor is a folder of
# the room or, at the room's top, the files of one stem; "" is all other files
# at the top. A room that is not listed here keeps no order.
FLOORS = {
    "base": {
        "plain": (),
        "": ("plain",),
    },
    "sampler": {
        "": (),
        "draw": ("",),
        "split": (),
        "cost": (),
        "memory": ("cost",),
        "fitting": ("memory", ""),
        "optuna": ("split", "draw", ""),
        "tpe": ("optuna", "cost", "split", "draw", ""),
        "gp": ("tpe", "cost", "draw", ""),
        "auto": ("gp", "tpe", "draw", ""),
        "purpose": ("auto", "gp", "draw", ""),
        "factory": ("fitting", "memory", "purpose", "auto", "gp", "tpe", "draw", ""),
        "pruner": ("",),
    },
    "statistics": {
        "scores": (),
        "law": (),
        "run_score": ("scores",),
        "compare": ("run_score", "law", "scores"),
        "seed_luck": ("compare", "run_score", "law"),
    },
    "importance": {
        "measure": (),
        "report": ("measure",),
        "cells": ("measure",),
        "effects": ("cells", "measure"),
        "forest": ("report", "measure"),
        "mixture": ("forest", "effects", "cells", "report", "measure"),
        "cube": ("report", "measure"),
        "ped": ("report", "measure"),
        "": ("ped", "cube", "mixture", "forest", "report", "measure"),
        "curves": ("effects", "cells", "measure"),
        "ranking": ("", "report", "measure"),
        "plan": ("mixture", "cells", "report", "measure"),
    },
    "storage": {
        "": (),
        "sqlite": ("",),
        "postgres": ("",),
        "factory": ("postgres", "sqlite", ""),
    },
    "server": {
        "metrics": (),
        "loop": (),
        "wire": (),
        "auth": ("loop",),
        "audit": ("auth", "loop"),
        "ledger": ("wire", "loop"),
        "notify": ("ledger", "wire", "loop"),
        "search": ("wire", "loop"),
        "dispatch": ("search", "ledger", "wire", "loop"),
        "importance": ("wire", "loop"),
        "verbs": ("importance", "dispatch", "search", "notify", "ledger",
                  "audit", "auth", "wire", "loop"),
        "overview": ("importance", "dispatch", "search", "notify", "ledger",
                     "audit", "loop", "metrics"),
        "coordinator": ("overview", "verbs", "importance", "dispatch",
                        "search", "notify", "ledger", "audit", "auth", "wire", "loop",
                        "metrics"),
        "guard": ("verbs", "audit", "auth", "wire", "loop", "metrics"),
        "http": ("guard", "verbs", "audit", "auth", "wire", "loop"),
        "rpc": ("guard", "verbs", "audit", "auth", "wire", "loop", "metrics"),
        "options": (),
        "main": ("options", "http", "rpc", "coordinator", "overview", "notify",
                 "auth"),
    },
    "worker/trainer": {
        "text": (),
        "data": ("text",),
        "tasks": ("text",),
        "model": ("text",),
        "freeze": ("model", "text"),
        "device": ("model", "text"),
        "prefix": ("device", "model", "data", "text"),
        "train": ("freeze", "device", "model", "text"),
        "trial": ("train", "prefix", "freeze", "device", "model", "tasks", "data",
                  "text"),
        "predict": ("trial", "train", "freeze", "device", "model", "data",
                    "text"),
        "process": ("predict", "trial", "model", "tasks", "data", "text"),
        "self_check": ("device",),
        "main": ("self_check", "process", "predict", "trial", "prefix", "device",
                 "model"),
    },
    "cli": {
        "term": (),
        "process": ("term",),
        "client": (),
        "context": ("client",),
        "study_file": ("term",),
        "contract": ("study_file", "term"),
        "view": ("term",),
        "live": ("view", "term"),
        "report": ("view", "client", "term"),
        "recipe": ("report", "view", "study_file", "client", "term"),
        "help": ("recipe", "context", "client", "process"),
        "commands": ("help", "contract", "recipe", "report", "live", "view",
                     "study_file", "context", "client", "process", "term"),
        "demo": ("commands", "view", "study_file", "client", "process",
                 "term"),
        "init": ("demo", "commands", "view", "study_file", "client",
                 "process", "term"),
        "doctor": ("commands", "view", "study_file", "context", "client",
                   "process", "term"),
        "slurm": ("commands", "view", "context", "client", "process", "term"),
        "command_line": ("commands", "help"),
        "main": ("doctor", "slurm", "command_line", "commands", "process"),
    },
}

# library -> (how an include, a name or a link names it, where that may be).
FENCES = {
    # Messages that are declared in proto/grpc/ are Protobuf's.
    "gRPC": (r"^grpc(pp)?/(?!.*\.pb\.h$)|\.grpc\.pb\.h$",
             r"\bgrpc::|\bgrpc_\w+\(", r"\bgRPC::",
             ("proto", "tls", "spans", "server/rpc", "server/main.cc",
              "worker/agent", "cli", "docs/how-to")),
    "Protobuf": (r"^google/protobuf/|\.pb\.h$", r"\bgoogle::protobuf\b",
                 r"\bprotobuf::", ("proto", "spans", "server",
                                   "worker/agent", "cli", "docs/how-to")),
    "OpenSSL": (r"^openssl/", r"\b(X509|EVP|BIO)_\w+\(", r"\bOpenSSL::",
                ("tls",)),
    "SQLite": (r"^sqlite3", r"\bsqlite3_\w+", r"\bSQLite::",
               ("storage/sqlite",)),
    "libpq": (r"^(postgresql/)?libpq", r"\bPQ[a-z]\w+\(", r"\bPostgreSQL::",
              ("storage/postgres",)),
    "cpp-httplib": (r"^httplib\.h$", r"\bhttplib::", r"\bPkgConfig::httplib",
                    ("server/http",)),
    "prometheus-cpp": (r"^prometheus/", r"\bprometheus::",
                       r"\bprometheus-cpp::", ("server/metrics",)),
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


def floor_of(path, room):
    """The floor of `room` on which its file `path` stands; None for a folder
    that FLOORS does not know."""
    folder, _, below = path[len(room) + 1:].partition("/")
    name = folder if below else posixpath.splitext(folder)[0]
    if name in FLOORS[room]:
        return name
    return None if below else ""


def check_floors(files):
    """Within a room an include only goes down to the floors it may use."""
    for file in files:
        room = room_of(file.path)
        if room not in FLOORS or file.suffix not in CODE:
            continue
        here = floor_of(file.path, room)
        if here is None:
            yield f"{file.path}: FLOORS of {room} has no such folder"
            continue
        for line, include, _ in file.includes():
            if room_of(include) != room:
                continue
            there = floor_of(include, room)
            if there not in (here, *FLOORS[room].get(here, ())):
                yield (f"{file.path}:{line}: {here or 'the top'} of {room} "
                       f"may not include {include}")


def check_order_of_floors(files):
    """Each floor of FLOORS stands on floors that are listed before it."""
    del files
    for room, floors in FLOORS.items():
        before = []
        for floor, below in floors.items():
            for one in sorted(set(below) - set(before)):
                yield f"FLOORS: {floor} of {room} stands on {one}, which is " \
                      "not listed before it"
            before.append(floor)


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
    """gRPC, Protobuf, SQLite, OpenSSL and Torch are named in their rooms
    alone."""
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
