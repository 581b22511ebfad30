#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants violations in a small clean tree: each rule must find its own and
leave the clean tree alone."""
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

import arrows
import hygiene
import names
import shape
import style
from totals import run_and_count
from tree import read_tree

SPDX = "// SPDX-License-Identifier: Apache-2.0\n"
HASH_SPDX = SPDX.replace("//", "#")

CLEAN = {
    "base/README.md": "# base\n",
    "base/clock.h": SPDX + "int Now();\n",
    "base/clock.cc": SPDX + '#include "base/clock.h"\nint Now() { return 1; }\n',
    "base/CMakeLists.txt": HASH_SPDX +
        "frostline_library(base HDRS clock.h SRCS clock.cc)\n",
    "study/README.md": "# study\n",
    "study/space.cc": SPDX + '#include "base/clock.h"\n',
    "study/CMakeLists.txt": HASH_SPDX +
        "frostline_library(study SRCS space.cc DEPS frostline::base)\n",
}


class Rules(unittest.TestCase):
    def findings(self, rule, planted):
        """What `rule` says about the clean tree with `planted` laid over it."""
        with tempfile.TemporaryDirectory() as folder:
            for path, text in {**CLEAN, **planted}.items():
                full = pathlib.Path(folder, path)
                full.parent.mkdir(parents=True, exist_ok=True)
                full.write_text(text)
            return list(rule(read_tree(folder)))

    def assert_finds(self, rule, planted, *words):
        found = self.findings(rule, planted)
        self.assertEqual(len(found), 1, found)
        for word in words:
            self.assertIn(word, found[0])

    def test_every_rule_is_content_with_the_clean_tree(self):
        for rule in style.RULES:
            self.assertEqual(self.findings(rule, {}), [], rule.__name__)

    def test_a_name_that_python_was_never_given_is_found(self):
        self.assert_finds(
            hygiene.check_python_names,
            {"scripts/a.py": HASH_SPDX + "import os\n\n\ndef f(x):\n"
                "    return [pathlib.Path(y) for y in os.listdir(x)]\n"},
            "scripts/a.py", "pathlib")

    def test_an_include_against_the_arrow_is_found(self):
        self.assert_finds(
            arrows.check_arrows,
            {"base/clock.cc": SPDX + '\n#include "study/space.h"\n',
             "study/space.h": SPDX}, "base/clock.cc:3", "study/space.h")

    def test_a_generated_message_in_the_sampler_is_found(self):
        self.assert_finds(
            arrows.check_arrows,
            {"sampler/tpe.cc": '#include "frostline/v1/study.pb.h"\n'},
            "sampler may not include")

    def test_the_innermost_room_decides(self):
        self.assert_finds(
            arrows.check_arrows,
            {"worker/trainer/main.cc": '#include "worker/agent/loop.h"\n',
             "worker/agent/loop.h": SPDX}, "worker/trainer may not include")

    def test_a_foundation_that_includes_a_roof_is_found(self):
        self.assert_finds(
            arrows.check_floors,
            {"sampler/draw/grid.cc": SPDX + '#include "sampler/tpe/tpe.h"\n',
             "sampler/tpe/tpe.h": SPDX}, "sampler/draw/grid.cc:2",
            "draw of sampler may not include sampler/tpe/tpe.h")

    def test_a_file_at_the_top_has_the_floor_of_its_stem(self):
        self.assertEqual([], self.findings(arrows.check_floors, {
            "sampler/factory.cc": '#include "sampler/tpe/tpe.h"\n'}))
        self.assert_finds(
            arrows.check_floors,
            {"sampler/options.cc": '#include "sampler/tpe/tpe.h"\n'},
            "the top of sampler")

    def test_a_folder_without_a_floor_is_found(self):
        self.assert_finds(arrows.check_floors, {"sampler/attic/box.h": SPDX},
                          "sampler/attic/box.h", "no such folder")

    def test_a_floor_that_stands_on_a_later_one_is_found(self):
        with unittest.mock.patch.dict(
                arrows.FLOORS, {"storage": {"memory": ("",), "": ()}}):
            self.assert_finds(arrows.check_order_of_floors, {},
                              "memory of storage")

    def test_an_include_of_a_missing_file_is_found(self):
        self.assert_finds(arrows.check_arrows,
                          {"study/space.cc": '#include "base/gone.h"\n'},
                          "there is no base/gone.h")

    def test_only_tests_include_tests(self):
        self.assert_finds(
            arrows.check_arrows,
            {"base/clock.cc": '#include "tests/support/fake.h"\n',
             "tests/support/fake.h": SPDX}, "only tests include tests")

    def test_a_link_against_the_arrow_is_found(self):
        self.assert_finds(
            arrows.check_links,
            {"base/CMakeLists.txt":
             "frostline_library(base SRCS clock.cc DEPS frostline::study)\n"},
            "base may not link frostline::study")

    def test_a_library_outside_its_room_is_found(self):
        for text, library in (("#include <grpcpp/grpcpp.h>\n", "gRPC"),
                              ("#include <sqlite3.h>\n", "SQLite"),
                              ("#include <ATen/ATen.h>\n", "Torch"),
                              ("grpc::Status ok;\n", "gRPC"),
                              ("at::Tensor weights;\n", "Torch")):
            self.assert_finds(arrows.check_fences,
                              {"study/space.cc": text}, library)

    def test_a_library_linked_outside_its_room_is_found(self):
        self.assert_finds(
            arrows.check_fences,
            {"study/CMakeLists.txt": "frostline_library(study DEPS SQLite::SQLite3)"},
            "links SQLite")

    def test_a_library_in_its_room_or_in_a_comment_is_fine(self):
        self.assertEqual([], self.findings(arrows.check_fences, {
            "worker/trainer/main.cc": "#include <ATen/ATen.h>\nat::Tensor t;\n",
            "study/space.cc": "// unlike grpc::Status\nauto s = \"torch::x\";\n"}))

    def test_two_types_of_one_name_are_found(self):
        for text in ("namespace frostline {\nclass Cell final : Base {\n};\n}",
                     "namespace frostline {\nenum class Cell : int { kOne };\n}",
                     "namespace frostline { struct ABSL_X(\"y\") Cell {}; }"):
            self.assert_finds(
                names.check_names,
                {"study/cell.h": "namespace frostline {\nstruct Cell {\n"
                                 "  enum Kind { kA };\n};\n}\n",
                 "base/cell.h": text},
                "frostline::Cell: defined in base/cell.h:", "study/cell.h:2")

    def test_types_that_cannot_meet_may_share_a_name(self):
        self.assertEqual([], self.findings(names.check_names, {
            "base/cell.h": "namespace frostline { struct Cell { char c = '{'; };"
                           " struct Other; enum Kind Of(struct Cell c) {} }",
            "study/cell.h": "namespace frostline::study { struct Cell {}; }\n"
                            "#define X struct Cell {\n"
                            "namespace frostline { struct Other {}; }",
            "study/a.cc": "namespace frostline { namespace { struct Cell {}; }\n"
                          "void F() { struct Cell {}; } }",
            "study/b.cc": "namespace frostline { class Row { struct Cell {}; };\n"
                          "template <class T> void G(T t) { struct Other {}; }"
                          "// struct Cell {\n}"}))

    def test_a_namespace_of_another_room_is_found(self):
        for path, opened in (("sampler/a.cc", "frostline"),
                             ("storage/a.cc", "frostline::server"),
                             ("base/a.cc", "frostline::base"),
                             ("tests/cli/a.cc", "frostline::test"),
                             ("tests/flow/a.cc", "frostline")):
            self.assert_finds(names.check_namespaces,
                              {path: f"// one\nnamespace {opened} {{\n}}"},
                              f"{path}:2: opens {opened}, not")

    def test_the_namespace_of_the_room_is_fine(self):
        self.assertEqual([], self.findings(names.check_namespaces, {
            "base/a.cc": "namespace frostline {\nnamespace {\n}\n}",
            "storage/sqlite/a.h": "namespace frostline::storage::sql {\n}",
            "worker/trainer/text/a.cc": "namespace frostline::trainer {\n}",
            "tests/server/a.cc": "namespace frostline::server {\n}",
            "tests/support/a.h": "namespace frostline {\n}",
            "tests/flow/a.cc": "namespace frostline::test {\n}",
            "server/rpc/a.h": "namespace grpc {\nclass Server;\n}"}))

    def test_a_source_that_is_not_built_is_found(self):
        self.assert_finds(hygiene.check_dead_files,
                          {"study/forgotten.cc": SPDX}, "forgotten.cc")

    def test_a_header_that_nobody_includes_is_found(self):
        self.assert_finds(hygiene.check_dead_files,
                          {"study/forgotten.h": SPDX}, "forgotten.h")

    def test_a_script_that_nobody_calls_is_found(self):
        self.assert_finds(hygiene.check_dead_files,
                          {"scripts/lost.sh": "# scripts/lost.sh\n"}, "lost.sh")

    def test_a_source_named_through_a_variable_is_built(self):
        self.assertEqual([], self.findings(hygiene.check_dead_files, {
            "study/one_parity.cc": SPDX,
            "study/CMakeLists.txt": "add(space.cc ${ROOM}_parity.cc)\n"}))

    def test_leftovers_are_found(self):
        for line in ("// TO" "DO: later", "// good enough for " "now",
                     '// #inc' 'lude "x.h"', "#if 0",
                     'std::cerr << "here";', 'printf("%d", x);'):
            self.assert_finds(hygiene.check_leftovers,
                              {"study/space.cc": SPDX + line + "\n"}, ":2:")

    def test_a_lock_that_thread_sanitizer_does_not_see_is_found(self):
        self.assert_finds(hygiene.check_leftovers,
                          {"study/space.cc": SPDX + "absl::Mutex mutex;\n"},
                          "take base/mutex.h")

    def test_main_may_print(self):
        self.assertEqual([], self.findings(
            hygiene.check_leftovers,
            {"server/main.cc": 'std::cerr << "usage";\n'}))

    def test_a_refusal_that_fails_no_test_is_found(self):
        self.assert_finds(hygiene.check_refusals,
                          {"tests/a.bats": SPDX + "  ! is_up\n"}, "tests/a.bats")

    def test_a_missing_licence_line_is_found(self):
        self.assert_finds(hygiene.check_licence_lines,
                          {"study/space.cc": "int x;\n"}, "study/space.cc")

    def test_a_folder_without_readme_is_found(self):
        self.assert_finds(hygiene.check_readmes, {"sampler/tpe.cc": SPDX},
                          "sampler")

    def test_registry_hosts_and_home_folders_are_found(self):
        for line in ("https://files.python" "hosted.org/x", "py" "pi.org",
                     "registry.npm" "js.org", "/ho" "me/ada/frostline",
                     "cd /ro" "ot", "/Us" "ers/ada"):
            self.assert_finds(hygiene.check_places,
                              {"docs/index.md": line + "\n"}, ":1:")

    def test_other_paths_and_words_are_no_home_folders(self):
        self.assertEqual([], self.findings(hygiene.check_places, {
            "docs/index.md": "$HOME/.cache ~/x a/ro" "ot rootless pypi wheel\n"}))

    def test_weights_and_large_files_are_found(self):
        self.assert_finds(hygiene.check_data, {"recipes/m.safetensors": "x"},
                          "m.safetensors")
        self.assert_finds(hygiene.check_data, {"recipes/m.csv": "1\n" * 60_000},
                          "m.csv")
        self.assert_finds(hygiene.check_data, {"docs/m.svg": "x" * 600_000},
                          "m.svg")


class Shape(unittest.TestCase):
    def read(self, planted):
        with tempfile.TemporaryDirectory() as folder:
            for path, text in planted.items():
                full = pathlib.Path(folder, path)
                full.parent.mkdir(parents=True, exist_ok=True)
                full.write_text(text)
            return read_tree(folder)

    def test_a_small_pair_is_reported(self):
        guard = "#ifndef X_H_\n#define X_H_\n\n#include <string>\n"
        files = self.read({
            "study/small.h": SPDX + guard + "int Small();\n" * 29,
            "study/small.cc": SPDX + "int Small();\n" * 30,
            "study/large.h": SPDX + guard + "int Large();\n" * 30,
            "study/large.cc": SPDX + "int Large();\n" * 30,
            "study/alone.h": SPDX + "int Alone();\n"})
        self.assertEqual([("study/small.h", 59)],
                         [(f.path, said) for f, said in shape.small_pairs(files)])

    def test_a_class_over_several_sources_is_reported(self):
        files = self.read({
            "study/a.cc": "int Space::Size() const { return 1; }\n",
            "study/b.cc": "std::vector<int>\nSpace::All() {\n  Point::Make();\n}\n",
            "study/c.cc": "Point::Point() {}\nint Free() { return Space::kOne; }\n",
            "sampler/a.cc": "Space::~Space() {}\n"})
        self.assertEqual([("study: Space", ["a.cc", "b.cc"])],
                         list(shape.scattered_classes(files)))

    def test_a_full_folder_is_reported(self):
        files = self.read({f"study/f{i}.h": SPDX for i in range(41)} |
                          {f"base/f{i}.h": SPDX for i in range(40)})
        self.assertEqual([("study", 41)], list(shape.full_folders(files)))

    def test_nothing_fails_on_length(self):
        files = self.read({"study/README.md": "# study\n",
                           "study/long.cc": SPDX + "int x;\n" * 5_000})
        self.assertEqual([], list(shape.check_readme_names(files)))

    def test_a_readme_that_names_no_file_is_found(self):
        files = self.read({
            "study/README.md": "Start at `point.h`, then `gone.h`.\n",
            "study/point.h": SPDX})
        self.assertEqual(["study/README.md:1: there is no gone.h"],
                         list(shape.check_readme_names(files)))

    def test_a_readme_may_name_files_above_and_below(self):
        files = self.read({
            "cli/view/README.md": "`main.cc`, `term/table.h`, `base/clock.h`,"
                                  " `deep/tree.h` and `tree.h`\n",
            "cli/main.cc": SPDX, "cli/term/table.h": SPDX,
            "base/clock.h": SPDX, "cli/view/deep/tree.h": SPDX})
        self.assertEqual([], list(shape.check_readme_names(files)))

    def test_a_readme_that_names_a_file_twice_is_found(self):
        for text in ("| `point.h` | a point |\n| `space.h`, `point.h` | b |\n",
                     "- `point.h`: a point.\n- `point.h` and `space.h`: b.\n",
                     "`point.h` is a point.\nStart reading at `point.h`.\n"):
            files = self.read({"study/README.md": text,
                               "study/point.h": SPDX, "study/space.h": SPDX})
            self.assertEqual(["study/README.md:2: names point.h again"],
                             list(shape.check_readme_names(files)))

    def test_a_readme_may_name_a_header_and_its_source(self):
        files = self.read({
            "study/README.md": "`point.h` and `point.cc`, as in `../a/point.h`\n",
            "study/point.h": SPDX, "study/point.cc": SPDX, "a/point.h": SPDX})
        self.assertEqual([], list(shape.check_readme_names(files)))

    def test_long_functions_are_measured_to_the_line(self):
        body = "int Long(int a,\n         int b) {\n" + "  a++;\n" * 70 + "}\n"
        files = self.read({"base/x.cc": SPDX + "int Declared(int);\n"
                           "int Short() { return 1; }\n" + body})
        self.assertIn((4, 73), list(shape.functions(files[0])))
        self.assertTrue(any("base/x.cc:4" in line
                            for line in shape.report(files)))


if __name__ == "__main__":
    sys.exit(run_and_count())
