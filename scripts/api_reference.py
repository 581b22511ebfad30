#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""api_reference.py [FILE]

Writes FILE (build/api.md), the API on one page, from the comments of
proto/frostline/v1: every service, method, message, field and value; and from
server/verbs/roles.txt, which a test holds against the coordinator's table of
verbs. Its links lead from where FILE lies to the pages of docs/.
"""
import os
import pathlib
import re
import sys

from descriptor_set import comments_of, decode, descriptor_set, one, text

ROOT = pathlib.Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "docs" / "reference"  # what links are written from
PAGE = ROOT / "build" / "api.md"
ROLES = ROOT / "server" / "verbs" / "roles.txt"
# Who is no role of the contract.
WORDS = {"invitation": "whoever shows an invitation",
         "certified-worker": "WORKER with a certificate"}
PACKAGE = ".frostline.v1."
NOT_SERVED = 51700  # in served.proto, of fields and of methods
RULE = 51701  # in rules.proto, of fields
SCALARS = {1: "double", 2: "float", 3: "int64", 4: "uint64", 5: "int32",
           8: "bool", 9: "string", 12: "bytes", 13: "uint32"}
MESSAGE, ENUM = 11, 14
REPEATED = 3
# file -> what its messages are called on the page, in this order; the services
# come first, in the same order. A file that is not here comes last, by its name.
PARTS = {"study_service": "Requests and replies of StudyService",
         "importance_service": "Requests and replies of ImportanceService",
         "worker_service": "Requests and replies of WorkerService",
         "admin_service": "Requests and replies of AdminService",
         "study": "Studies", "trial": "Trials", "trial_table": "Tables of trials",
         "importance": "Importance", "plan": "Plans", "comparison": "Comparisons of trials", "worker": "Workers",
         "errors": "Details of errors", "rules": "Rules of fields", "served": "Marks"}
# Errors that are known beside those named in comments: by a text field of the
# request, by a method, and by what its `name` names. tests/clients provokes
# those of calls that read.
BY_FIELD = {"request_id": ["REQUEST_ID_REUSED"], "etag": ["ETAG_MISMATCH"],
            "page_token": ["PAGE_TOKEN_INVALID"], "filter": ["FILTER_INVALID"],
            "study": ["STUDY_NOT_FOUND"], "parent": ["STUDY_NOT_FOUND"],
            "first": ["STUDY_NOT_FOUND"], "second": ["STUDY_NOT_FOUND"],
            "worker": ["WORKER_UNKNOWN"]}
LEASE = ["LEASE_LOST", "STEP_OUT_OF_ORDER", "STUDY_NOT_FOUND", "TRIAL_NOT_FOUND"]
OUTCOME = ["METRIC_NOT_FINITE", "OBJECTIVE_MISSING"]
BY_METHOD = {"CreateStudy": ["STUDY_ALREADY_EXISTS", "STUDY_FIELD_MISSING",
                             "OBJECTIVE_INVALID", "LEVELS_INVALID",
                             "RANGE_INVALID", "CONDITION_INVALID",
                             "SAMPLER_INVALID", "PRUNER_INVALID",
                             "BUDGET_INVALID"],
             "UpdateStudy": ["BUDGET_INVALID", "PRUNER_INVALID",
                             "STUDY_NOT_ACTIVE"],
             "PauseStudy": ["STUDY_NOT_ACTIVE"],
             "ResumeStudy": ["STUDY_NOT_ACTIVE"],
             "StopStudy": ["STUDY_NOT_ACTIVE"],
             "DeleteStudy": ["STUDY_NOT_ACTIVE"],
             "EnqueueTrials": ["STUDY_NOT_ACTIVE", "VALUE_OUT_OF_SPACE"],
             "ImportTrials": ["STUDY_NOT_ACTIVE", "VALUE_OUT_OF_SPACE", *OUTCOME],
             "RetryTrial": ["STUDY_NOT_ACTIVE", "TRIAL_NOT_TERMINAL"],
             "GetReport": ["EVALUATOR_UNKNOWN"],
             "ListPairs": ["EVALUATOR_UNKNOWN"],
             "GetStability": ["EVALUATOR_UNKNOWN"],
             "CompareStudies": ["EVALUATOR_UNKNOWN"],
             "CompareTrials": ["STUDY_NOT_FOUND", "TRIAL_NOT_FOUND"],
             "Report": LEASE, "Finish": [*LEASE, *OUTCOME], "Release": LEASE}
EXPLAINS = ["TARGET_CONSTANT", "TRIALS_TOO_FEW"]
OF_A_LEASE = ("Heartbeat", "Report", "Finish", "Release")
TEXT = 9
OF_A_TRIAL = ("GetTrial", "UpdateTrial", "CancelTrial", "RetryTrial",
              "ListMeasurements", "GetExampleOutcomes", "GetTrialLog",
              "ReadPredictions")
HEAD = """# The API, field by field

<!-- Written by scripts/api_reference.py from proto/frostline/v1, and not kept: change it there. -->

What every call promises is in [contract.md](contract.md), how to call from Python, Go and C++ in
[how-to/grpc-client.md](../how-to/grpc-client.md), each error in [errors.md](errors.md).

A method that *changes something* carries a `request_id`, or names the attempt that it is about. *Roles* are those that may call it
([Role](#role)); what each sees and changes of it is in [security.md](../explanation/security.md). *Errors* are those that
are known of a method and of its request's fields; besides these any call may get REQUEST_INVALID, NAME_INVALID, FIELD_TOO_LARGE,
METHOD_NOT_BUILT, DEADLINE_PASSED, OVERLOADED or COORDINATOR_DRAINING, one that is denied FL-4009 to FL-4013, and one that changes something those of the store (FL-3xxx).
"""


def link(name):
    """A link to a type of ours, a word for any other."""
    if not name.startswith(PACKAGE):
        return f"`{name.lstrip('.')}`"
    short = name[len(PACKAGE):]
    return f"[{short}](#{short.lower().replace('.', '')})"


def rule_words(options):
    """What a field's rule says of sizes and ranges, as sentences."""
    rule = decode(one(options, RULE, b""))
    least, most = (one(rule, number, None) for number in (5, 6))
    words = [f"At most {one(rule, number):,} {unit}." for number, unit in
             ((4, "entries"), (3, "bytes"), (7, "s")) if number in rule]
    if least is not None and most is not None:
        words.append(f"{least:,.10g} … {most:,.10g}.")
    elif least is not None:
        words.append(f"At least {least:g}.")
    return " ".join(words)


class Api:
    def __init__(self, contract, catalogue, roles):
        self.roles = roles
        files = {}
        for raw in decode(contract)[1]:
            file = decode(raw)
            files[pathlib.Path(text(file, 1)).stem] = (file, comments_of(file))
        order = [*PARTS, *sorted(files.keys() - PARTS.keys())]
        self.files = {stem: files[stem] for stem in order if stem in files}
        self.catalogue = catalogue
        self.requests = {}  # type name -> (message, its path, comments)
        for file, said in self.files.values():
            for i, raw in enumerate(file.get(4, [])):
                message = decode(raw)
                self.requests[PACKAGE + text(message, 1)] = (
                    message, (4, i), said)

    # --- services ---

    def known_errors(self, method, comment, request, fields):
        message, path, said = self.requests[request]
        texts = [comment, said.get(path, "")]
        texts += [said.get(path + (2, i), "")
                  for i in range(len(message.get(2, [])))]
        words = set(re.findall(r"\b[A-Z][A-Z_]+[A-Z]\b", " ".join(texts)))
        for field, kind in fields.items():
            words.update(BY_FIELD.get(field, []) if kind == TEXT else [])
        words.update(BY_METHOD.get(method, []))
        if "options" in fields:
            words.update(EXPLAINS)
        if "name" in fields:
            words.add("STUDY_NOT_FOUND")
        if method in OF_A_TRIAL:
            words.add("TRIAL_NOT_FOUND")
        return sorted(words & set(self.catalogue))

    def method(self, service, raw, comment):
        method = decode(raw)
        name, request = text(method, 1), text(method, 2)
        stream = "stream of " if one(method, 6) else ""
        fields = {text(field, 1): one(field, 5) for field in map(
            decode, self.requests[request][0].get(2, []))}
        changes = "request_id" in fields or name in OF_A_LEASE
        yield f"### {service}.{name}"
        yield f"{link(request)} → {stream}{link(text(method, 3))}"
        if comment:
            yield comment
        facts = ["Changes something." if changes else "Reads only."]
        later = text(decode(one(method, 4, b"")), NOT_SERVED)
        if not later:
            facts.append(f"Roles: {self.roles[f'{service}.{name}']}.")
        known = self.known_errors(name, comment, request, fields)
        if known and not later:
            facts.append("Errors: " + ", ".join(
                f"[{reason}](errors.md#{self.catalogue[reason]})"
                for reason in known) + ".")
        yield " ".join(facts)
        if later:
            yield f"**Not served yet**: it comes with {later}."

    def services(self):
        for file, said in self.files.values():
            for i, raw in enumerate(file.get(6, [])):
                service = decode(raw)
                yield f"## {text(service, 1)}"
                yield said.get((12,), "")
                for j, method in enumerate(service.get(2, [])):
                    yield from self.method(text(service, 1), method,
                                           said.get((6, i, 2, j), ""))

    # --- messages and enums ---

    def type_of(self, field, maps):
        name = text(field, 6)
        if name in maps:
            key, value = (decode(raw) for raw in maps[name][2])
            return f"map of {self.type_of(key, {})} to " \
                   f"{self.type_of(value, {})}"
        kind = one(field, 5)
        word = link(name) if kind in (MESSAGE, ENUM) else SCALARS[kind]
        if one(field, 4) == REPEATED:
            return "repeated " + word
        return "optional " + word if one(field, 17) else word

    def field(self, raw, comment, message, maps):
        field = decode(raw)
        what = [" ".join(comment.split())]
        if 9 in field and not one(field, 17):
            group = decode(message[8][one(field, 9)])
            what.insert(0, f"One of `{text(group, 1)}`.")
        options = decode(one(field, 8, b""))
        what.append(rule_words(options))
        later = text(options, NOT_SERVED)
        if later:
            what.insert(0, f"**Not served yet**: comes with {later}.")
        words = " ".join(part for part in what if part)
        return f"| {one(field, 3)} | `{text(field, 1)}` | " \
               f"{self.type_of(field, maps)} | {words} |"

    def enum(self, raw, path, said, outer):
        enum = decode(raw)
        yield f"### {outer}{text(enum, 1)}"
        yield said.get(path, "")
        rows = ["| | value | |", "| --- | --- | --- |"]
        for i, value in enumerate(enum.get(2, [])):
            comment = " ".join(said.get(path + (2, i), "").split())
            rows.append(f"| {one(decode(value), 2)} | "
                        f"`{text(decode(value), 1)}` | {comment} |")
        yield "\n".join(rows)

    def message(self, raw, path, said, outer):
        message = decode(raw)
        name = outer + text(message, 1)
        nested = [decode(n) for n in message.get(3, [])]
        maps = {f"{PACKAGE}{name}.{text(n, 1)}": n for n in nested
                if one(decode(one(n, 7, b"")), 7)}
        yield f"### {name}"
        yield said.get(path, "")
        rows = ["| | field | type | |", "| --- | --- | --- | --- |"]
        rows += [self.field(field, said.get(path + (2, i), ""), message, maps)
                 for i, field in enumerate(message.get(2, []))]
        yield "\n".join(rows) if len(rows) > 2 else "No fields."
        for i, inner in enumerate(message.get(3, [])):
            if f"{PACKAGE}{name}.{text(nested[i], 1)}" not in maps:
                yield from self.message(inner, path + (3, i), said, name + ".")
        for i, inner in enumerate(message.get(4, [])):
            yield from self.enum(inner, path + (4, i), said, name + ".")

    def types(self):
        for stem, (file, said) in self.files.items():
            if not file.get(4) and not file.get(5):
                continue
            yield f"## {PARTS.get(stem, stem)}"
            if not file.get(6):
                yield said.get((12,), "")
            for i, raw in enumerate(file.get(4, [])):
                yield from self.message(raw, (4, i), said, "")
            for i, raw in enumerate(file.get(5, [])):
                yield from self.enum(raw, (5, i), said, "")

    def page(self):
        parts = [HEAD.rstrip(), *self.services(), *self.types()]
        return "\n\n".join(part for part in parts if part) + "\n"


def error_anchors():
    """{reason: its heading's anchor in errors.md}."""
    page = (REFERENCE / "errors.md").read_text()
    found = re.findall(r"^### (FL-\d+) `(\w+)` \((\w+)\)$", page, re.MULTILINE)
    return {reason: f"{number}-{reason}-{code}".lower()
            for number, reason, code in found}


def roles_of_methods():
    """{"AdminService.GetInfo": "VIEWER, RESEARCHER, ADMIN"}."""
    roles = {}
    for line in ROLES.read_text().splitlines():
        method, *who = line.split()
        if method != "#":
            roles[method] = ", ".join(
                WORDS.get(one, one.upper()) for one in who)
    return roles


def reference_page(folder=REFERENCE):
    """The page as it is for a file in that folder."""
    def there(match):
        path = os.path.relpath(REFERENCE / match[1], folder)
        return f"]({path}{match[2] or ''})"
    page = Api(descriptor_set(), error_anchors(), roles_of_methods()).page()
    return re.sub(r"\]\(([\w./-]+\.md)(#[\w-]*)?\)", there, page)


def main(arguments):
    if len(arguments) > 1 or arguments[:1] in (["-h"], ["--help"]):
        print(__doc__, file=sys.stderr)
        return 2
    file = pathlib.Path(arguments[0]).resolve() if arguments else PAGE
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(reference_page(file.parent))
    print(file)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
