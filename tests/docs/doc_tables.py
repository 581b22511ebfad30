# SPDX-License-Identifier: Apache-2.0
"""What a reader of the docs knows, and a test has to be told: what a name for
any word stands for, what a sentence leaves out, what must have been done
before, which commands go on for ever, and what cannot be run here."""
import re

# In a sentence a command may be named without all of its words: the rest.
ENDS_WITH = {
    "frostline cache": "list",
    "frostline cert revoke": "--subject workers/gpu03",
    "frostline compare": "imdb sst2",
    "frostline context use": "lab",
    "frostline importance": "imdb",
    "frostline init": "--data my.csv",
    "frostline login": "HOST:PORT",
    "frostline plan": "imdb",
    "frostline plan --frontier": "imdb",
    "frostline predict": "DIR FILE",
    "frostline recipe show": "elsa",
    "frostline registry add": "model DIR",
    "frostline slurm": "status imdb",
    "frostline serve --data": "frost",
    "frostline slurm up STUDY": "--registry DIR",
    "frostline study create": "FILE",
    "frostline study delete imdb": "--yes --force",
    "frostline study create --registry DIR": "imdb.yaml",
    "frostline study export": "imdb",
    "frostline study show": "imdb",
    "frostline tls init": "--host HOST",
    "frostline tls init --host": "HOST",
    "frostline tls issue": "--host HOST",
    "frostline token create": "--role viewer --subject ana",
    "frostline token revoke": "7f3a",
    "frostline trial": "list imdb",
    "frostline trial compare": "imdb/0 imdb/12",
    "frostline trial confusion": "imdb 12",
    "frostline trial examples --no-text": "imdb 12",
    "frostline trial list": "imdb",
    "frostline worker --join": "TOKEN@HOST:PORT#FINGERPRINT",
    "frostline worker --otlp …": "http://127.0.0.1:4317",
    "frostline worker --prefix-dir": "prefix",
}

# (what a line has, what this world has in its place), one after the other.
# {plain} and {tls} are addresses of its coordinator.
SERVES = r"^frostline serve\b"
WORKS = r"^frostline worker\b(?! (list|drain|invite|revoke)\b)"
STANDS_FOR = [
    # A sentence speaks of one flag of a service, which needs these, too.
    (SERVES + r"(?!.*--(data|copy-from))", "frostline serve --data frost"),
    (SERVES + r"(?!.*--listen)", "frostline serve --listen 127.0.0.1:0"),
    # To PostgreSQL: tests/flow/copy_flow_test.cc.
    (r"(?<=--copy-to )postgres://\S+", "copied"),
    (r"--connect …", "--connect {plain}"),
    (r" …", ""),
    (WORKS + r"(?!.*--(exec|registry|command))",
     "frostline worker --exec frostline-trainer --label trainer="),
    # Addresses: all of them here, and free.
    (r"(?<=--listen )127\.0\.0\.1:7070", "127.0.0.1:0"),
    (r"(?<=--listen )0\.0\.0\.0:7443", "tls:127.0.0.1:0"),
    (r"(?<=--health-listen )\S+", "127.0.0.1:0"),
    (r"(?<=--http-listen )\d\S+", "127.0.0.1:0"),
    (r"\b(HOST|host):7070|127\.0\.0\.1:X", "{plain}"),
    (r"frost_…@gpu-head\.lan:7443#…|TOKEN@HOST:PORT#FINGERPRINT",
     "$(cat invitation)"),
    (r"^frostline login HOST:PORT(?!.*--tls-ca)", "frostline login {plain}"),
    (r"(gpu-head|shard-a)\.lan:7443|HOST:PORT", "{tls}"),
    (r"\bHOST\b", "gpu-head.lan"),
    (r"(?<=--connect )X", "{plain}"),
    # Folders of other machines.
    (r"/s(rv|hared)/(models|frostline)", "registry"),
    (r"/shared/runs", "runs"),
    (r"/srv/bin/hook", "/bin/true"),
    (r"/var/tmp/frost", "frost"),
    # Names for any.
    (r"(?<=audit verify )(DATA_DIR|DATA|\./frost)", "$FIRST/data"),
    (r"(?<=--restore )FILE", "~/../data/backups/*.sqlite"),
    (r"(?<=--token-file )FILE", "ana.token"),
    (r"(?<=--tls-ca )(FILE|a\.crt)", "ca.crt"),
    (r"^frostline login(?!.*--token-file).*", r"\g<0> <ana.token"),
    (r"(?<=--tls )DIR", "frostline-tls"),
    (r"FILE\.(json|html)", r"imdb.\1"),
    (r"(?<=--data )(DIR|X)", "frost"),
    (r"(?<=--data )FILE", "my.csv"),
    (r"(?<=--registry )(DIR|X|FOLDER)", "registry"),
    (r"predict DIR FILE", "predict best-model reviews.csv"),
    (r"(?<=study create )FILE", "study.yaml"),
    (r"(?<=add dataset )FILE", "reviews.csv"),
    (r"(?<=add model )DIR", "./minilm"),
    (r"(?<=--exec )CMD", "frostline-trainer"),
    (r"\bDIR$", "best-model"),
    (r"FIRST SECOND", "imdb sst2"),
    (r"(?<=context use )NAME|(?<=logout )X|(?<=--name )X", "lab"),
    (r"NAME-SCALE", "elsa-tiny"),
    (r"(?<=config set )X VALUE", "format wide"),
    (r"(?<=explain )X", "study"),
    (r"(?<=workers/)ID|(?<=worker revoke )X", "gpu03"),
    (r"\b3f9ac204\b|(?<=revoke )ID|(?<=rotate )ID|\b7f3a\b", "$(cat id)"),
    (r"STUDY/A STUDY/B", "imdb/0 imdb/1"),
    (r"\b(STUDY|ID|X)\b", "imdb"),
    (r"\bNUMBER\b", "12"),
    (r"\bN\b", "300"),
    (r"\bK\b", "8"),
]

TOKEN = "[ -e ana.token ] || frostline token create --role researcher " \
        "--subject ana --out ana.token; cp $FIRST/tls/ca.crt ."
LOGGED_IN = TOKEN + "; frostline login {tls} --name %s --tls-ca ca.crt " \
                    "--token-file ana.token"
ADDED = "[ -e frostline-tls ] || frostline tls init --host gpu-head.lan"
ANSWERS = "rm -rf %s; cp -r $FIRST/trained %s"
# (what a command has, what has been done before it).
BEFORE = [
    (r"token \w+ \$", "frostline token create --role viewer --subject ana "
     ">token; frostline token list --format name | tail -n 1 >id"),
    (r"cat invitation|cert revoke \$", "frostline worker invite | "
     "grep -o 'frost_[^ ]*' >invitation"),
    (r"cert revoke \$", "frostline study pause imdb; "
     "frostline worker --exec frostline-trainer --join "
     "$(cat invitation) --idle-timeout 1s; "
     "frostline cert list --json | grep -o '[0-9a-f]\\{64\\}' >id"),
    (r"^frostline login|--token-file ana", TOKEN),
    (r"^frostline (logout|context (use|show|remove))", LOGGED_IN % "lab"),
    (r"--context a\b", LOGGED_IN % "a"),
    (r"^frostline tls (issue|fingerprint)|--tls frostline-tls", ADDED),
    (r"predict best-model", ANSWERS % ("best-model", "best-model")),
    (r"predict ./best ", ANSWERS % ("best", "best")),
    (r"--restore", "frostline backup; rm -rf frost"),
    (r"--copy-from", "rm -rf frost copied; cp -r $FIRST/data frost"),
    (r"report imdb.json", "frostline report imdb -o imdb.json"),
    (r"registry add", "rm -rf registry"),
    (r"registry remove dataset reviews", "rm -rf registry; "
     "frostline registry add dataset reviews.csv"),
    (r"registry remove model minilm", "rm -rf registry; "
     "frostline registry add model ./minilm"),
    (r"--scale (full|tiny)", "rm -rf registry; cp -r $FIRST/home/lab/registry ."),
    (r"study create .*(--id imdb|imdb.yaml)(?!.*--dry-run)",
     "frostline study delete imdb --yes || true"),
    (r"study create \S*demo.yaml", "frostline study delete demo --yes"),
    (r"study (diff|import) imdb(-2| imdb-2)\b",
     "frostline study clone imdb imdb-2 --seed 2; "
     "frostline study export imdb -o imdb.jsonl"),
    (r"study resume", "frostline study pause imdb"),
    (r"demo-depth", "frostline study create recipes/demo/demo.yaml --id demo-depth"),
    (r"study wait", "frostline study stop imdb"),
    (r"study watch imdb --until-done", "frostline study update imdb --budget 3;"
     " frostline worker --exec frostline-trainer --label trainer= "
     "--idle-timeout 1s"),
    (r"trial cancel imdb 12", "frostline study delete imdb --yes; "
     "frostline study create imdb.yaml; "
     "frostline trial enqueue imdb $FIRST/home/lab/paired.jsonl"),
    (r"slurm (scale|drain|status)", "[ -e ~/waits ] || "
     "frostline slurm up imdb --max 8 --registry registry"),
]
# (what a command has, its exit code, and why that is right).
CODES = [
    (r"study diff imdb imdb-2", 1, "they differ in their seeds"),
]
# These end when they are told to, or when somebody's work is done.
ENDLESS = re.compile(
    SERVES + "|" + WORKS + r"|--follow|^frostline (top|events)(?!.*--once)|"
    r"study watch(?!.*--until-done)|rpc WatchStudy|--scale full")
# While such a command runs something happens that it tells.
BESIDE = [
    (r"study watch --all|events", "frostline study pause imdb; "
     "frostline study resume imdb"),
]
# (what a line has, why it cannot be run here, where it or its like is run).
EXCEPTED = [
    (r"^kubectl ", "needs a cluster of Kubernetes",
     "tests/deploy/kubernetes/pods_test.py"),
    (r"^podman ", "needs the image of the coordinator",
     "tests/deploy/machine/image_lines.bats"),
    (r"^frostline worker .*--command ", "trains with a script of the reader's",
     "tests/python/command_test.py"),
    (r"recipe run \S+ --scale sample", "trains for up to a minute",
     "tests/flow/recipes.bats"),
    (r"^frostline baseline ", "trains fifteen rules", "tests/flow/recipes.bats"),
]
# A worker has to be there.
TAKES_WORKERS = re.compile(
    r"trial (examples|predictions)|^frostline (apply|worker (drain|revoke))|"
    r"--wait$|recipe run elsa$")
# The stand-in for the trainer cannot do it.
TAKES_TRAINER = re.compile(r"^frostline (predict|doctor)")
# Others would see it: such a command has a coordinator of its own.
CHANGES = re.compile(
    r"frostline (study (create(?!.*--dry-run)|update|pause|resume|stop|delete|"
    r"clone|import)|trial (cancel|retry|enqueue|tell)|plan .*--(enqueue|verify)"
    r"|apply|worker (?!list|invite)|recipe run(?!.*--local)|backup; rm|"
    r"token (rotate|revoke))")
# It writes files, or reads what was written before: it has a folder of its own.
WRITES = re.compile(
    r"frostline (registry (add|remove)|config set|tls i|init|logout|demo|--?context|"
    r"serve|cache clear|predict|worker|login|model export|token|slurm|backup|"
    r"context|cert revoke)|--local")
