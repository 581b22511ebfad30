#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/changed_rooms.py must name all that a change may break, and say
everything where it cannot know."""
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from totals import run_and_count

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import changed_rooms  # noqa: E402
from tree import read_tree  # noqa: E402

TREE = {
    "README.md": "# Frostline\n",
    "CMakeLists.txt": "project(frostline)\n",
    "base/clock.h": "int Now();\n",
    "study/space.h": '#include "base/clock.h"\n',
    "sampler/tpe.h": '#include "study/space.h"\n',
    "sampler/CMakeLists.txt": "frostline_library(sampler HDRS tpe.h)\n",
    "storage/store.h": "class Store;\n",
    "storage/CMakeLists.txt": "frostline_library(storage HDRS store.h)\n",
    "server/CMakeLists.txt": "frostline_binary(frostline-coordinator)\n",
    "cli/CMakeLists.txt": "# The frostline-coordinator is another's.\n"
                          "frostline_binary(frostline SRCS main.cc)\n"
                          "set(FILE ${CMAKE_SOURCE_DIR}/recipes/demo/a.yaml)\n",
    "recipes/demo/a.yaml": "budget: 1\n",
    "docs/index.md": "# Docs\n",
    "tests/CMakeLists.txt": "add_subdirectory(sampler)\n",
    "tests/README.md": "# tests\n",
    "tests/support/clock.h": '#include "base/clock.h"\n',
    "tests/contract/rows.h": "int Rows();\n",
    "tests/contract/rows.cc": '#include "tests/contract/rows.h"\n',
    "tests/sampler/CMakeLists.txt":
        "frostline_test(sampler SRCS tpe_test.cc DEPS frostline::sampler)\n",
    "tests/sampler/tpe_test.cc": '#include "sampler/tpe.h"\n',
    "tests/storage/CMakeLists.txt":
        "frostline_test(storage SRCS ../contract/rows.cc)\n",
    "tests/cli/CMakeLists.txt": "frostline_test(cli DEPS frostline::cli)\n",
    "tests/parity/CMakeLists.txt":
        "foreach(ROOM sampler)\n  link(frostline::${ROOM})\nendforeach()\n",
    "tests/parity/data/one.json": "{}\n",
    "tests/worker/CMakeLists.txt": "frostline_test(worker_agent)\n",
    "tests/worker/agent_test.cc": '// Reads\nOpen("tests/parity/data/one");\n',
    "tests/fault/CMakeLists.txt":
        "add_dependencies(fault_test frostline-coordinator)\n",
}


class ChangedRooms(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        for name in ("FROSTLINE_CI_ALL", "FROSTLINE_CI_BASE"):
            before = os.environ.pop(name, None)
            if before is not None:
                self.addCleanup(os.environ.__setitem__, name, before)
        self.git("init", "--quiet")
        for path, text in TREE.items():
            self.write(path, text)
        self.green = self.commit()
        self.write(".ci/verified", self.green + " all of it, 45 minutes\n")
        self.commit()

    def git(self, *arguments):
        return subprocess.run(
            ["git", "-C", self.root, "-c", "user.name=t", "-c",
             "user.email=t@t", *arguments],
            check=True, capture_output=True, text=True).stdout.strip()

    def write(self, path, text):
        full = self.root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_text(text)

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "c")
        return self.git("rev-parse", "HEAD")

    def broken(self):
        chains, _ = changed_rooms.broken(self.root)
        return chains if chains is None else set(chains)

    @contextlib.contextmanager
    def setting(self, name, value):
        os.environ[name] = value
        try:
            yield
        finally:
            del os.environ[name]

    def test_a_room_breaks_those_above_it_and_their_tests(self):
        self.write("sampler/tpe.h", "changed\n")
        self.assertEqual(self.broken(), {
            "sampler", "server", "tests/sampler", "tests/parity",
            "tests/fault"})

    def test_a_committed_change_counts_as_one_that_is_not(self):
        self.write("storage/store.h", "changed\n")
        self.commit()
        self.assertEqual(self.broken(), {
            "storage", "server", "tests/storage", "tests/fault"})

    def test_a_new_file_that_git_does_not_know_yet_counts(self):
        self.write("cli/new.cc", "int x;\n")
        self.assertEqual(self.broken(), {"cli", "tests/cli"})

    def test_a_file_that_moved_breaks_where_it_was_and_where_it_is(self):
        self.git("mv", "storage/store.h", "cli/store.h")
        self.assertLessEqual({"cli", "storage", "tests/storage"},
                             self.broken())

    def test_a_deleted_file_breaks_its_room(self):
        self.git("rm", "--quiet", "sampler/tpe.h")
        self.commit()
        self.assertIn("tests/sampler", self.broken())

    def test_tests_alone_break_no_room(self):
        self.write("tests/sampler/tpe_test.cc", "changed\n")
        self.assertEqual(self.broken(), {"tests/sampler"})

    def test_a_shared_source_breaks_the_tests_that_compile_it(self):
        self.write("tests/contract/rows.h", "changed\n")
        self.assertEqual(self.broken(), {
            "tests/contract/rows", "tests/storage"})

    def test_data_breaks_those_who_read_it(self):
        self.write("tests/parity/data/one.json", "[]\n")
        self.assertEqual(self.broken(), {
            "tests/parity/data", "tests/parity", "tests/worker"})

    def test_a_recipe_breaks_the_program_that_carries_it(self):
        self.write("recipes/demo/a.yaml", "budget: 2\n")
        self.assertEqual(self.broken(), {"recipes", "cli", "tests/cli"})

    def test_a_page_whose_code_is_run_breaks_who_runs_it(self):
        for path in ("docs/how-to/client.md", "docs/how-to/client/client.go"):
            self.write(path, "changed\n")
            self.assertEqual(self.broken(), {"tests/clients"}, path)
            (self.root / path).unlink()

    def test_words_for_people_break_nothing(self):
        for path in ("docs/index.md", "README.md", "sampler/README.md",
                     "docs/one.svg", ".ci/verified"):
            self.write(path, self.green + "\n")
        self.assertEqual(self.broken(), set())
        self.assertEqual(changed_rooms.pattern({}),
                         "^at:(tests/docs|tests/style)$")

    def test_a_page_inside_a_program_breaks_it(self):
        self.write("docs/glossary.md", "changed\n")
        self.assertEqual(self.broken(), {"cli", "tests/cli"})

    def test_what_all_stands_on_breaks_everything(self):
        for path in ("base/clock.h", "proto/a.proto", "cmake/a.cmake",
                     "scripts/test.sh", ".ci/run", "dev", "CMakeLists.txt",
                     "CMakePresets.json", "tests/CMakeLists.txt",
                     "tests/support/clock.h", "tests/style/arrows.py",
                     "a_new_folder/a.cc", "a_new_file"):
            self.write(path, "changed\n")
            self.assertIsNone(self.broken(), path)
            self.git("checkout", "--quiet", ".")
            self.git("clean", "--quiet", "--force", "-d")
            self.assertEqual(self.broken(), set(), path)

    def test_everything_where_the_green_commit_cannot_be_known(self):
        for note in ("", "yesterday\n", "0" * 40 + "\n", "--help\n"):
            self.write(".ci/verified", note)
            self.assertIsNone(self.broken(), note)

    def test_everything_where_the_green_commit_is_of_another_line(self):
        self.git("checkout", "--quiet", "--orphan", "other")
        self.commit()
        self.assertIsNone(self.broken())

    def test_everything_in_a_clone_that_is_too_shallow(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(
                ["git", "clone", "--quiet", "--depth", "1",
                 self.root.as_uri(), folder], check=True)
            chains, why = changed_rooms.broken(folder)
            self.assertIsNone(chains)
            self.assertIn("not in this clone", why[0])

    def test_everything_outside_of_a_checkout(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIsNone(changed_rooms.broken(folder)[0])

    def test_everything_when_it_is_asked_for(self):
        with self.setting("FROSTLINE_CI_ALL", "1"):
            self.assertIsNone(self.broken())

    def test_another_commit_may_be_named(self):
        self.write("sampler/tpe.h", "changed\n")
        with self.setting("FROSTLINE_CI_BASE", self.commit()):
            self.assertEqual(self.broken(), set())
        with self.setting("FROSTLINE_CI_BASE", "no-such-branch"):
            self.assertIsNone(self.broken())

    def test_each_break_is_explained_by_a_chain_and_a_file(self):
        self.write("sampler/tpe.h", "changed\n")
        _, lines = changed_rooms.broken(self.root)
        self.assertIn("tests/fault: sampler < server < tests/fault, "
                      "sampler/tpe.h", lines)


class ThisTree(unittest.TestCase):
    """What the graph says of the real tree, where a mistake would cost."""

    @classmethod
    def setUpClass(cls):
        cls.graph = changed_rooms.Graph(read_tree(ROOT))

    def test_faults_stand_on_the_whole_service(self):
        for room in ("base", "proto", "study", "storage", "sampler", "server",
                     "worker/agent", "worker/demo_trainer"):
            self.assertIn("tests/fault", self.graph.above([room]), room)

    def test_each_room_has_tests_above_it(self):
        for room in changed_rooms.arrows.ROOMS:
            self.assertTrue(any(n.startswith("tests/") and n != "tests/style"
                                for n in self.graph.above([room])), room)

    def test_a_change_of_the_commands_starts_no_fault(self):
        self.assertNotIn("tests/fault", self.graph.above(["cli"]))

    def test_every_test_carries_its_folder(self):
        for file in read_tree(ROOT):
            if file.is_cmake() and file.path != "cmake/Library.cmake":
                self.assertNotIn("add_test" "(", file.text, file.path)


if __name__ == "__main__":
    sys.exit(run_and_count())
