#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/mutate.py must change what is code, and nothing else."""
import pathlib
import sys
import unittest

from totals import run_and_count

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import mutate  # noqa: E402

SOURCE = """// Not == this.
#include <a==b>
int Sum(int a, int b) {
  const std::string said = "a == b";
  if (a == b && !done) {
    count_ += a;
    Tell(said, 1);
    ++calls_;
  }
  std::string other = said;
  return a + b;  // or a - b
}
"""


def made(source):
    return [(one.line, one.kind, one.after.strip())
            for one in mutate.mutants_of("x.cc", source)]


class Mutants(unittest.TestCase):
    def test_each_rule_is_tried_at_each_place(self):
        self.assertEqual([
            (5, "equality", "if (a != b && !done) {"),
            (5, "logic", "if (a == b || !done) {"),
            (5, "turned round", "if (!(a == b && !done)) {"),
            (6, "sign", "count_ -= a;"), (6, "left out", ""),
            (7, "constant", "Tell(said, 2);"), (7, "left out", ""),
            (8, "left out", ""), (11, "sign", "return a - b;  // or a - b")], made(SOURCE))

    def test_nothing_is_made_of_comments_directives_texts_and_logs(self):
        for line in ("// a == b", "#if A == B", '  Tell("a == b");', "  LOG(INFO) << a == b;",
                     "  FROSTLINE_FAILPOINT(kBefore);"):
            self.assertEqual([], [one for one in made(f"{{\n{line}\n") if one[1] != "left out"],
                             line)

    def test_a_line_that_goes_on_from_the_one_above_is_no_statement(self):
        self.assertEqual([], made("int n =\n    Count(x);\n"))

    def test_what_gives_a_name_or_ends_a_function_stays(self):
        for line in ("int n = Count(x);", "return Count(x);", "const auto n = Count(x);",
                     "std::vector<int> all(x);", "break;"):
            self.assertEqual([], made(f"{{\n  {line}\n"), line)

    def test_rooms_of_this_tree_have_some(self):
        for room in ("server/ledger", "storage/sqlite", "worker/agent"):
            files = mutate.sources(room, [])
            self.assertTrue(all(file.startswith(room) for file in files))
            self.assertGreater(sum(1 for file in files for _ in mutate.mutants_of(
                file, (ROOT / file).read_text())), 100, room)

    def test_a_room_that_is_not_there_is_named(self):
        with self.assertRaisesRegex(SystemExit, "attic has no source"):
            mutate.sources("attic", [])


if __name__ == "__main__":
    run_and_count()
