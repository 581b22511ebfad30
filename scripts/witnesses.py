#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""witnesses.py record BIN FOLDER [DEMO] | compare BIN FOLDER [PATTERN]

Records what the programs in BIN say and write, so that other programs can be
held against it: "nothing changed" is a command. FOLDER lies outside of the
tree and gets

  said/   a file for each run: the words, the exit code, stdout, stderr
  kept/   what the programs have written: the data of a demo with its finished
          example study, exports of it, the files with mistakes, and with DEMO
          (the folder of a `frostline demo` with frostline-trainer) a prefix
          store, checkpoints and an agent's files

`compare` runs the same words with the programs in BIN on copies of kept/ and
prints what differs; it ends with 1 where something does. With PATTERN, a regular
expression, only the witnesses whose names it finds are compared. Coordinators
listen on loopback, on free ports.
"""
import concurrent.futures
import difflib
import fcntl
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import urllib.request
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAMS = ("frostline", "frostline-coordinator", "frostline-worker",
            "frostline-demo-trainer", "frostline-trainer", "frostline-load")
FORMATS = ("table", "wide", "json", "jsonl", "yaml", "csv", "name", "markdown",
           "html", "text", "md")
WIDTHS = (None, 80, 120)  # no terminal; columns of one
LONGEST = 30  # seconds of a run
# Verbs that run until they are told to end, or look at the machine: their help
# and their mistakes are recorded, not their work.
LIVE = {"demo", "serve", "worker", "top", "doctor", "login", "slurm up",
        "recipe run", "tls init", "tls issue", "backup", "init", "events",
        "study watch", "study wait", "apply", "trial tell"}
ENDING = {"events": [["--once"], ["--once", "--json"], ["example", "--once"]],
          "study watch": [["example", "--until-done"], ["nothere"],
                          ["example", "--until-done", "--json"]],
          "study wait": [["example"], ["nothere"]],
          "recipe run": [["nothere"]], "apply": [["nothere"]],
          "slurm up": [["nothere"]]}
# What else a verb is asked, beside its words alone.
MORE = {
    "study create": [["{kept}/small.yaml", "--dry-run"]],
    "study best": [["nothere"]],
    "study show": [["nothere"], ["demo"]],
    "study why": [["demo"]],
    "study history": [["demo"]],
    "study diff": [["example", "demo"]],
    "study export": [["example", "-o", "-", "--format", "csv"]],
    "trial list": [["example", "--best", "--limit", "10"],
                   ["example", "--filter", "accuracy > 0.8"],
                   ["example", "--filter", "accuracy >"], ["demo"]],
    "trial show": [["example", "12"], ["example", "9999"], ["demo", "3"]],
    "trial compare": [["example/1", "example/2"],
                      ["example/1", "example/2", "example/3"]],
    "trial curves": [["example/1", "example/2"]],
    "trial confusion": [["example", "5"]],
    "trial outcomes": [["example", "5"]],
    "trial examples": [["example", "5"]],
    "trial log": [["example", "5"], ["demo", "1"]],
    "importance": [["example", "--top", "1%"], ["demo"],
                   ["example", "--filter", "accuracy > 0.99"]],
    "plan": [["demo"]],
    "compare": [["example", "demo"]],
    "study update": [["example", "--notes", "seen", "--priority", "3"]],
    "study label": [["example", "set=7"]],
    "study import": [["copy", "{kept}/export.csv"],
                     ["copy", "{kept}/export.jsonl"]],
    "trial label": [["example", "1", "kept=yes"]],
    "trial note": [["example", "1", "seen"]],
    "slurm status": [["--all"]],
    "config set": [["format", "wide"], ["formt", "wide"]],
    "registry list": [["--registry", "{kept}/demo/registry"]],
    "rpc": [["--list"], ["GetInfo", "{}"], ["WhoAmI", "{}"],
            ["GetStudy", '{"name": "studies/example"}'],
            ["GetStudi"], ["GetStudy", '{"nme": "studies/example"}'],
            ["GetStudy", '{"name": "studies/none"}']],
    "recipe show": [["nothere"]],
    "tls fingerprint": [["/nowhere"]],
    "cache list": [["--dir", "{kept}/demo/runs-1/prefix"]],
    "registry check": [["--registry", "{kept}/demo/registry"]],
    "audit verify": [["{data}"]],
}
# Words that stand for an argument, by its name in the table of commands.
WORDS = {"ID": "example", "STUDY": "example", "FIRST": "example",
         "SECOND": "example", "FROM": "example", "TO": "example",
         "TRIAL": "example/1", "[NUMBER]": "1", "NAME": "elsa",
         "WHAT": "study", "STUDY[/N]": "example/1", "DIR": "{scratch}/out",
         "NEW": "copy", "FILE": "{kept}/small.yaml", "KEY": "output.format",
         "VALUE": "json", "WORKER": "nothere", "DATA_DIR": "{data}",
         "PATH": "study.space"}
# Verbs that change something come last, one after the other, in this order.
CHANGES = ["study label", "study note", "study update", "trial label",
           "trial note", "trial enqueue", "trial cancel",
           "trial retry", "study pause", "study resume", "study clone",
           "study import", "study stop", "study delete", "model export",
           "worker drain", "worker revoke", "worker invite", "token create",
           "token rotate", "token revoke", "cert revoke", "cache clear",
           "context use", "context remove", "logout", "config set",
           "config unset", "slurm scale", "slurm drain", "predict",
           "registry add model", "registry add dataset"]
# Files that verbs write.
FILES = [[*words, f"out{end}"] for words, ends in (
    (("report", "example", "-o"), (".html", ".md", ".json")),
    (("report", "demo", "-o"), (".md",)),
    (("importance", "example", "-o"), (".json", ".csv")),
    (("plan", "example", "-o"), (".json", ".yaml")),
    (("study", "export", "example", "-o"), (".csv", ".jsonl")),
    (("schema", "study", "-o"), (".json",))) for end in ends]
SMALL = """id: small
model: {id: demo-mlp, layers: 3, no_pooler: true}
data: demo
maximize: accuracy
budget: 12
seed: 7
sampler: auto
space:
  modules:
    embeddings: [0, 3e-4, 1e-3]
    "layer.*": [0, 3e-4, 1e-3]
    head: [0, 3e-4, 1e-3]
"""
# What varies from run to run, and nothing beside it.
MASKS = [
    (re.compile(r"127\.0\.0\.1:\d{4,5}\b"), "127.0.0.1:PORT"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?Z?"), "TIME"),
    (re.compile(r"(?<=\d)(s|m|h|d)( ?\d+[smh])? ago\b"), "UNIT ago"),
    (re.compile(r"\b\d+UNIT ago\b"), "AGE ago"),
    (re.compile(r'("(?:uptime|now|serverTime|requestId|request_id|startTime|'
                r'storeBytes|freeBytes|bytesFree|etag)": )"[^"]*"'), r'\1"VARIES"'),
    (re.compile(r"(?m)^(\s*(?:uptime|free disk|up): +).*$"), r"\1VARIES"),
    (re.compile(r'(compute_?[sS]econds"?: ?)"?[\d.e-]+"?'), r"\1SECONDS"),
    (re.compile(r"(?m)^last chain: +[0-9a-f]{64}"), "last chain: CHAIN"),
    (re.compile(r"[^\n\r]* … \d+ s(?=[\r\n])[\r\n]*"), ""),  # still busy
    (re.compile(r"\bpid[ =:]+\d+"), "pid PID"),
]
# Of /metrics the values that tell of the machine or of time.
UNSTEADY = re.compile(r"seconds|bytes|cpu|time|memory|descriptors|resident|"
                      r"connections|calls|requests|rss|loop|threads")


def without_what_varies(text):
    for what, instead in MASKS:
        text = what.sub(instead, text)
    return text


class Place:
    """A folder for one run over all witnesses, and the programs that it asks."""

    def __init__(self, programs, folder):
        self.bin = pathlib.Path(programs).resolve()
        self.folder = pathlib.Path(folder).resolve()
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="witnesses-"))
        self.kept = self.scratch / "kept"
        self.data = self.scratch / "data"
        self.said = {}
        self.only = ""
        self.lock = threading.Lock()
        self.running = []
        self.address = "127.0.0.1:1"
        (self.scratch / "home").mkdir()

    def environment(self, **more):
        kept = {"PATH": f"{self.bin}:/usr/bin:/bin", "LC_ALL": "C.UTF-8",
                "HOME": str(self.scratch / "home"), "TERM": "xterm-256color",
                "TZ": "UTC", "FROSTLINE_CONNECT": self.address,
                "FROSTLINE_PAGER": ""}
        return {**kept, **more}

    def masked(self, text):
        """Text without what varies: places of this run, times, ports."""
        for place in (self.kept, self.data, self.scratch, self.bin):
            text = text.replace(str(place), f"<{place.name}>"
                                if place != self.scratch else "<scratch>")
        return without_what_varies(text)

    def add(self, name, text):
        with self.lock:
            self.said[name] = self.masked(text)

    def close(self):
        for process in self.running:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.running = []


def in_terminal(words, width, place, given):
    """(exit code, all that a terminal of so many columns is shown, "")."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    process = subprocess.Popen(words, stdin=theirs, stdout=theirs,
                               stderr=theirs, env=place.environment(),
                               cwd=given, start_new_session=True)
    os.close(theirs)
    os.write(ours, b"\x04")  # whoever asks a question is answered with an end
    timer = threading.Timer(LONGEST, process.kill)
    timer.start()
    shown = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.close(ours)
    code = process.wait()
    timer.cancel()
    return code, shown, b""


def in_pipe(words, place, given, text=b""):
    try:
        run = subprocess.run(words, input=text, capture_output=True,
                             timeout=LONGEST, env=place.environment(),
                             cwd=given, check=False)
        return run.returncode, run.stdout, run.stderr
    except subprocess.TimeoutExpired:
        return "no end", b"", b""


def wanted(place, name):
    return re.search(place.only, name) is not None


def file_name(words, width):
    """What a run is called; a few bits of its words keep two of them apart."""
    text = " ".join(words)
    some = re.sub(r"[^A-Za-z0-9_.=+-]+", "_", text)[:100]
    return f"{some}~{zlib.crc32(text.encode()):08x}" + \
        (f"@{width}" if width else "")


def witness(place, words, width=None, text=b"", name=None):
    """Runs words once, and keeps what they said."""
    filled = [word.format(kept=place.kept, data=place.data,
                          scratch=place.scratch) if "{" in word and
              re.search(r"\{(kept|data|scratch)\}", word) else word
              for word in words]
    name = name or file_name(words, width)
    if not wanted(place, name):
        return
    given = place.scratch / "home"
    whole = [str(place.bin / filled[0]), *filled[1:]]
    if width:
        code, out, err = in_terminal(whole, width, place, given)
    else:
        code, out, err = in_pipe(whole, place, given, text)
    place.add(name, f"$ {' '.join(words)}\nexit {code}\n--- stdout\n"
              f"{out.decode(errors='replace')}\n--- stderr\n"
              f"{err.decode(errors='replace')}\n")


def file_witness(place, words):
    """What a verb writes into the file that is its last word."""
    name = "file-" + file_name(words, None)
    if not wanted(place, name):
        return
    with tempfile.TemporaryDirectory(dir=place.scratch) as folder:
        code, out, err = in_pipe([str(place.bin / "frostline"), *words], place,
                                 folder)
        made = "".join(f"--- {path.name}\n{path.read_text()}\n"
                       for path in sorted(pathlib.Path(folder).rglob("*"))
                       if path.is_file())
    place.add(name, f"$ frostline {' '.join(words)}\nexit {code}\n"
              f"{(out + err).decode()}\n{made}")


def all_at_once(jobs):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(*job) for job in jobs]:
            done.result()


def leaves(page, path=()):
    """Every verb of `frostline help --json`, with its page."""
    for command in page["commands"]:
        here = path + (command["name"],)
        yield here, command
        yield from leaves(command, here)


def formats_of(page):
    """What a verb's --format takes; all that are known are tried where its help
    does not say."""
    for flag in page["flags"]:
        if "--format" in flag["name"].split(", "):
            told = [word for word in FORMATS
                    if re.search(rf"\b{word}\b", flag["help"] + flag["value"])]
            return told if len(told) > 2 else list(FORMATS)
    return []


def has_json_alone(page):
    names = [name for flag in page["flags"] for name in flag["name"].split(", ")]
    return "--json" in names and "--format" not in names


def lines_of(verb, page):
    """The lines that a verb is tried with."""
    name = " ".join(verb)
    needed = [WORDS.get(word["name"], "nothere") for word in page["words"]
              if not word["name"].startswith("[") or word["name"] in WORDS]
    yield needed
    if needed:
        yield []
    yield from MORE.get(name, [])


def verb_jobs(place, page):
    """Runs of every verb that only reads, and those that change, in order."""
    reads, changes = [], []
    for verb, command in leaves(page):
        name = " ".join(verb)
        if command["commands"] and not command["words"]:
            continue
        lines = ENDING.get(name, []) if name in LIVE else \
            list(lines_of(verb, command))
        into = changes if name in CHANGES else reads
        for line in lines:
            base = ["frostline", *verb, *line]
            told = "--format" in line or "--json" in line
            if has_json_alone(command) and not told:
                into.append((name, (witness, place, [*base, "--json"], None)))
            for width in WIDTHS:
                into.append((name, (witness, place, base, width)))
            for form in [] if told else formats_of(command):
                for width in WIDTHS if into is reads else (None,):
                    into.append((name, (witness, place,
                                        [*base, "--format", form], width)))
    changes.sort(key=lambda job: CHANGES.index(job[0]))
    return [job for _, job in reads], [job for _, job in changes]


def help_jobs(place, page):
    jobs = []
    for program in PROGRAMS:
        if (place.bin / program).exists():
            for words in (["--help"], ["--version"], ["--nothere"],
                          ["--help=json"]):
                jobs += [(witness, place, [program, *words], width)
                         for width in WIDTHS]
    for verb, _ in leaves(page):
        jobs += [(witness, place, ["frostline", *verb, "--help"], width)
                 for width in WIDTHS]
        jobs.append((witness, place, ["frostline", *verb, "--nothere"]))
        jobs.append((witness, place, ["frostline", "help", *verb]))
    for topic in ("exit-codes", "environment", "filter", "formats",
                  "study-file", "configuration", "nothere"):
        jobs.append((witness, place, ["frostline", "help", topic]))
    jobs.append((witness, place, ["frostline", "help", "--json"]))
    return jobs


def word_jobs(place):
    """schema and explain, of every message and of every id."""
    ids = sorted(set(re.findall(r"FL-\d{4}", "".join(
        path.read_text(errors="replace") for path in
        [*(ROOT / "base").rglob("*"), *(ROOT / "docs").rglob("*.md")]
        if path.is_file()))))
    jobs = [(witness, place, ["frostline", "explain", one]) for one in ids]
    text = "".join(path.read_text() for path in (ROOT / "proto").rglob("*.proto"))
    messages = sorted(set(re.findall(r"(?m)^message (\w+)", text)))
    for message in ["study", "trial", "nothere", *messages]:
        jobs.append((witness, place, ["frostline", "schema", message]))
        jobs.append((witness, place,
                     ["frostline", "explain", message, "--recursive"]))
    for method in sorted(set(re.findall(r"(?m)^  rpc (\w+)", text))):
        jobs.append((witness, place, ["frostline", "rpc", method, "--template"]))
    return jobs


SETTINGS = """connect: 127.0.0.1:1
tls_ca: lab/ca.crt
token_file: lab/token
format: wide
color: never
registry: lab
"""


def spoiled(text):
    """A study file with one mistake each: a key misspelt, a value of another
    kind, a line away, a line twice."""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        key = re.match(r'(\s*(?:- )?"?)([\w.*-]+)("?:)(.*)$', line)
        new = [[], [line, line], [line + "]"], ["\t" + line]]
        if key:
            start, word, colon, rest = key.groups()
            new += [[start + word + "x" + colon + rest],
                    [start + word + colon + " -1"],
                    [start + word + colon + " [a, b]"],
                    [start + word + colon + " {nothere: 1}"]]
        for which, instead in enumerate(new):
            yield f"{at + 1:02}-{which}", \
                "\n".join(lines[:at] + instead + lines[at + 1:]) + "\n"


def collect_mistakes(folder):
    """Study files with mistakes, each a file; what tests and pages hold, too."""
    folder.mkdir(parents=True)
    for name, text in spoiled(SMALL):
        (folder / f"small-{name}.yaml").write_text(text)
    for name, text in spoiled(SETTINGS):
        (folder / f"settings-{name}.yaml").write_text(text)
    sources = [*(ROOT / "tests" / "cli").rglob("*.cc"),
               *(ROOT / "tests" / "flow").rglob("*"),
               *(ROOT / "docs").rglob("*.md")]
    pattern = re.compile(r'R"\((.*?)\)"|```ya?ml\n(.*?)```|<<\'?EOF\'?\n(.*?)\nEOF',
                         re.S)
    for source in sorted(sources):
        if not source.is_file():
            continue
        for at, found in enumerate(pattern.finditer(
                source.read_text(errors="replace"))):
            text = next(part for part in found.groups() if part is not None)
            (folder / f"{source.stem}-{at:02}.yaml").write_text(text + "\n")


def mistake_jobs(place):
    jobs = []
    for path in sorted((place.kept / "mistakes").iterdir()):
        file = f"{{kept}}/mistakes/{path.name}"
        jobs.append((witness, place,
                     ["frostline", "study", "create", file, "--dry-run"], None,
                     b"", f"mistake-study-{path.stem}"))
        jobs.append((witness, place, ["frostline", "recipe", "check", file],
                     None, b"", f"mistake-recipe-{path.stem}"))
        jobs.append((configuration_witness, place, path))
    return jobs


def configuration_witness(place, path):
    """What the settings of a person are, where this file is theirs."""
    if not wanted(place, f"mistake-configuration-{path.stem}"):
        return
    home = pathlib.Path(tempfile.mkdtemp(dir=place.scratch))
    (home / "frostline").mkdir()
    shutil.copy(path, home / "frostline" / "config.yaml")
    run = subprocess.run([str(place.bin / "frostline"), "config", "view"],
                         capture_output=True, check=False, timeout=LONGEST,
                         stdin=subprocess.DEVNULL, cwd=home,
                         env=place.environment(XDG_CONFIG_HOME=str(home)))
    text = (run.stdout + run.stderr).decode(errors="replace")
    place.add(f"mistake-configuration-{path.stem}",
              f"exit {run.returncode}\n{text.replace(str(home), '<home>')}")


# gRPC's reflection, spoken over HTTP/2 with nothing but a socket.

def frame(kind, flags, stream, body):
    return struct.pack(">I", len(body))[1:] + bytes([kind, flags]) + \
        struct.pack(">I", stream) + body


def reflect(address, request):
    """The bytes of the answers to one ServerReflectionRequest."""
    host, port = address.rsplit(":", 1)
    path = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
    head = b"".join(b"\0" + bytes([len(name)]) + name.encode() +
                    bytes([len(value)]) + value.encode() for name, value in (
                        (":method", "POST"), (":scheme", "http"),
                        (":path", path), (":authority", "localhost"),
                        ("te", "trailers"), ("content-type",
                                             "application/grpc")))
    body = b"\0" + struct.pack(">I", len(request)) + request
    with socket.create_connection((host, int(port)), 20) as line:
        line.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" +
                     frame(4, 0, 0, struct.pack(">HI", 4, 1 << 24)) +
                     frame(8, 0, 0, struct.pack(">I", 1 << 24)) +
                     frame(1, 4, 1, head) + frame(0, 1, 1, body))
        read, answer = line.makefile("rb"), b""
        while True:
            start = read.read(9)
            if len(start) < 9:
                return answer
            length = int.from_bytes(start[:3], "big")
            kind, flags = start[3], start[4]
            stream = int.from_bytes(start[5:], "big")
            piece = read.read(length)
            if kind == 4 and not flags & 1:
                line.sendall(frame(4, 1, 0, b""))
            if stream == 1 and kind == 0:
                answer += piece
            if stream == 1 and (flags & 1 and kind in (0, 1) or kind == 3):
                return answer


def reflection_witnesses(place):
    listed = reflect(place.address, b"\x3a\x00")  # list_services
    place.add("reflection-services", shown(listed))
    for service in sorted(set(re.findall(rb"[a-z]\w*(?:\.\w+)+\.[A-Z]\w+|"
                                         rb"frostline\.v1\.\w+", listed))):
        asked = b"\x22" + bytes([len(service)]) + service
        place.add(f"reflection-{service.decode()}",
                  shown(reflect(place.address, asked)))


def shown(raw):
    """Bytes as lines that a person can compare."""
    return "\n".join(re.findall(r"[ -~]{2,}|(?:\\x..)+", "".join(
        chr(byte) if 32 <= byte < 127 else f"\n\\x{byte:02x}\n"
        for byte in raw))) + "\n"


def metrics_witness(place):
    with urllib.request.urlopen(f"http://{place.health}/metrics",
                                timeout=20) as answer:
        text = answer.read().decode()
    lines = []
    for line in text.splitlines():
        name = re.split(r"[ {]", line)[0]
        if not line.startswith("#") and UNSTEADY.search(name):
            line = line.rsplit(" ", 1)[0] + " VALUE"
        lines.append(line)
    place.add("metrics", "\n".join(lines) + "\n")


def schema_witness(place):
    with sqlite3.connect(f"file:{place.data}/frostline.sqlite?mode=ro",
                         uri=True) as store:
        rows = store.execute("SELECT type, name, sql FROM sqlite_schema "
                             "ORDER BY type, name").fetchall()
        version = store.execute("PRAGMA user_version").fetchone()
    place.add("sqlite-schema", f"user_version {version[0]}\n" + "\n".join(
        f"{kind} {name}\n{text}\n" for kind, name, text in rows))


def page_witnesses(place):
    """Man pages and completions, as a package has them."""
    out = place.scratch / "pages"
    subprocess.run([sys.executable, str(ROOT / "scripts" / "pages.py"),
                    str(place.bin), str(out)], check=True, timeout=300)
    for path in sorted(out.rglob("*")):
        if path.is_file():
            place.add("page-" + str(path.relative_to(out)).replace("/", "-"),
                      path.read_text())


def serve(place):
    """A coordinator on a copy of the kept data, until place.close()."""
    ready = place.scratch / "ready"
    ready.unlink(missing_ok=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        place.health = f"127.0.0.1:{free.getsockname()[1]}"
    with open(place.scratch / "coordinator.log", "ab") as log:
        process = subprocess.Popen(
            [str(place.bin / "frostline-coordinator"), "--data",
             str(place.data), "--listen", "127.0.0.1:0", "--ready-file",
             str(ready), "--health-listen", place.health],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            env=place.environment())
    place.running.append(process)
    for _ in range(600):
        if ready.exists() and ready.read_text().strip():
            place.address = ready.read_text().strip()
            return
        if process.poll() is not None:
            break
        time.sleep(.1)
    raise SystemExit("the coordinator did not start: " +
                     (place.scratch / "coordinator.log").read_text())


def gather(place):
    """Every witness of the programs of a place, on a copy of what is kept."""
    # Files that the programs made are read again, and may be changed by it.
    shutil.copytree(place.folder / "kept", place.kept, symlinks=True)
    shutil.copytree(place.kept / "data", place.data, symlinks=True)
    serve(place)
    page = json.loads(subprocess.run(
        [str(place.bin / "frostline"), "help", "--json"], check=True,
        capture_output=True, timeout=LONGEST).stdout)
    metrics_witness(place)
    schema_witness(place)
    reflection_witnesses(place)
    page_witnesses(place)
    reads, changes = verb_jobs(place, page)
    all_at_once(reads + help_jobs(place, page) + word_jobs(place) +
                mistake_jobs(place) +
                [(file_witness, place, words) for words in FILES])
    for job in changes:
        job[0](*job[1:])
    # What the trials of an old export have become in this store.
    for form in ("table", "csv"):
        witness(place, ["frostline", "trial", "list", "copy", "--format", form])
    place.close()


def make_kept(place, demo):
    """What today's programs write, for those of tomorrow to read."""
    kept = place.folder / "kept"
    kept.mkdir(parents=True)
    (kept / "small.yaml").write_text(SMALL)
    collect_mistakes(kept / "mistakes")
    run = subprocess.run([str(place.bin / "frostline"), "demo", "--synthetic",
                          "--trials", "8", "--example", "--dir",
                          str(kept / "data")], check=False, timeout=500,
                         stdin=subprocess.DEVNULL, capture_output=True,
                         env=place.environment())
    if run.returncode != 0:
        raise SystemExit(run.stderr.decode())
    if demo:
        shutil.copytree(demo, kept / "demo", symlinks=True,
                        ignore=shutil.ignore_patterns("*.ballast"))
    for ballast in kept.rglob("*.ballast"):
        ballast.unlink()


def keep_exports(place):
    shutil.copytree(place.folder / "kept" / "data", place.data)
    serve(place)
    for end in ("csv", "jsonl"):
        subprocess.run([str(place.bin / "frostline"), "study", "export",
                        "example", "-o",
                        str(place.folder / "kept" / f"export.{end}")],
                       check=True, timeout=LONGEST, env=place.environment())
    place.close()
    shutil.rmtree(place.data)


def read_witnesses(folder):
    """What was recorded, masked anew: masks may have been added since."""
    return {path.stem: without_what_varies(path.read_bytes().decode())
            for path in sorted((folder / "said").glob("*.txt"))}


def record(programs, folder, demo=None):
    folder = pathlib.Path(folder)
    if folder.exists() and any(folder.iterdir()):
        raise SystemExit(f"{folder} holds something already")
    if ROOT in folder.resolve().parents:
        raise SystemExit(f"{folder} lies in the tree; choose one outside of it")
    place = Place(programs, folder)
    try:
        make_kept(place, demo)
        keep_exports(place)
        gather(place)
    finally:
        place.close()
        shutil.rmtree(place.scratch, ignore_errors=True)
    said = folder / "said"
    said.mkdir()
    for name, text in place.said.items():
        (said / f"{name.replace('/', '_')}.txt").write_bytes(text.encode())
    print(f"{len(place.said)} witnesses in {folder}")
    return 0


def compare(programs, folder, only=""):
    place = Place(programs, folder)
    place.only = only
    before = {name: text for name, text in
              read_witnesses(place.folder).items() if wanted(place, name)}
    if not before:
        raise SystemExit(f"{folder} holds no witnesses; record them first")
    try:
        gather(place)
    finally:
        place.close()
        shutil.rmtree(place.scratch, ignore_errors=True)
    after = {name.replace("/", "_"): text for name, text in place.said.items()
             if wanted(place, name)}
    differ = 0
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        if old == new:
            continue
        differ += 1
        lines = list(difflib.unified_diff(
            (old or "").splitlines(), (new or "").splitlines(),
            "recorded", "now", lineterm="", n=1))
        print(f"{name}:")
        print("\n".join(f"  {line}" for line in lines[:40]))
        if len(lines) > 40:
            print(f"  … {len(lines) - 40} lines more")
    print(f"{len(before.keys() | after.keys())} witnesses, {differ} differ")
    return 1 if differ else 0


def main(arguments):
    if len(arguments) in (3, 4) and arguments[0] == "record":
        return record(*arguments[1:])
    if len(arguments) in (3, 4) and arguments[0] == "compare":
        return compare(*arguments[1:])
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
