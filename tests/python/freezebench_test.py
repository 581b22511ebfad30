#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""freezebench_test.py PROGRAMS: tables of fine-tunings as a package of its own, with the real
Optuna and the real OptunaHub."""
import contextlib
import io
import json
import os
import statistics
import subprocess
import sys
import unittest
import venv

from world import PACKAGE, ROOT, coordinator, scratch

import optuna
import optunahub

import freezebench
import frostline
import wheel
from freezebench import leaderboard
from totals import run_and_count

optuna.logging.set_verbosity(optuna.logging.ERROR)
SMALL = """# frostline-table 1
# name small
# metric loss minimize
# parameter a 0 0.1 0.2
# parameter b 0 0.1
# module x a
# module head 0.5
a,b,seed,state,loss
0,0,1,succeeded,3
0,0,2,succeeded,5
0.1,0,1,succeeded,1
0.1,0,2,infeasible,
0.2,0.1,1,succeeded,2
"""


RANKS = """# frostline-table 1
# name ranked
# metric accuracy maximize
# parameter rate 0.1 0.2
# ranks low 0 8
# ranks high 0 8
# module layer.0 low rate
# module layer.1 high rate
# module layer.2 high rate
# module head rate
# module embeddings 0
rate,low,high,seed,state,accuracy
0.1,0,8,1,succeeded,0.5
0.2,8,8,1,succeeded,0.75
"""
DEPTHS = """rate,batch_size,accuracy@0,seconds@0,accuracy@2,seconds@2
0.1,8,0.5,4,0.25,2
0.3,8,0.75,5,0.5,3
0.1,8,0.625,6,0.125,1
"""


@contextlib.contextmanager
def small(text=SMALL, name="small.table"):
    with scratch() as folder:
        path = folder / name
        path.write_text(text)
        yield str(path)


def main(*arguments):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = leaderboard.main(list(arguments))
    return code, out.getvalue(), err.getvalue()


class Tables(unittest.TestCase):
    def test_all_that_was_recorded_is_there(self):
        tables = [freezebench.load(name) for name in freezebench.names()]
        self.assertEqual(9, len(tables))
        self.assertEqual(9668, sum(len(one.runs) for one in tables))
        self.assertEqual({"reviews-levels", "tagging-levels"},
                         {one.name for one in tables if not one.is_complete})
        said = (ROOT / "docs/measured/tables.md").read_text()
        readme = (PACKAGE / "freezebench/README.md").read_text()
        for table in tables:  # the page's "best of all cells"
            best = f"{table.truth(table.best):.3f}".lstrip("0")
            if not table.name.endswith("-depths"):
                self.assertIn(best, said, table.name)
            self.assertRegex(readme, rf"{table.name}`.*\| {len(table.values):,} \|"
                             rf".*{len(table.runs):,}.* \| {best} \|")

    def test_a_point_has_its_mean_over_seeds(self):
        table = freezebench.load("reviews-groups")
        rows = [line.split(",") for line in (
            ROOT / "tests/bench/tables/data/reviews-groups.table").read_text().splitlines()
            if line.startswith("0.001,0.001,0.001,0.001,")]
        self.assertEqual(5, len(rows))
        self.assertAlmostEqual(statistics.fmean(float(row[6]) for row in rows),
                               table.truth((0.001,) * 4), 12)

    def test_a_file_of_ones_own_is_read_and_what_is_missing_is_the_nearest(self):
        with small() as path:
            table = freezebench.load(path)
            self.assertEqual({"x": "a", "head": 0.5}, table.modules)
            self.assertEqual((0.1, 0.0), table.best)
            self.assertEqual(4, table.truth((0.0, 0.0)))
            self.assertEqual(1, table.cells["runs"].loc[(0.1, 0.0)])
            self.assertEqual((0.2, 0.1), table.nearest({"a": 0.1, "b": 0.1}))
            self.assertEqual((0.1, 0.0), table.nearest({"a": 0.2, "b": 0}))

    def test_ranks_are_levels_that_say_so(self):
        with small(RANKS) as path:
            table = freezebench.load(path)
            self.assertEqual({"low": ["layer.0"], "high": ["layer.1", "layer.2"]}, table.ranks)
            self.assertEqual({"layer.0": "rate", "layer.1": "rate", "layer.2": "rate",
                              "head": "rate", "embeddings": 0.0}, table.modules)
            self.assertEqual((0.2, 8.0, 8.0), table.best)
            self.assertEqual((0.1, 0.0, 8.0), table.nearest({"rate": 0.1, "low": 0, "high": 0}))
        self.assertEqual({}, freezebench.load("reviews-groups").ranks)
        recorded = freezebench.load("reviews-ranks")
        self.assertEqual(["lower", "middle", "upper"], list(recorded.ranks))
        self.assertEqual([0, 4, 8, 16, 32], recorded.levels["upper"])
        adapted = recorded.runs.groupby(["lower", "middle", "upper"]).trained_parameters
        self.assertEqual(148610, adapted.first()[0, 0, 0])  # the head alone
        self.assertLess(148610, adapted.first()[0, 0, 4])

    def test_a_depth_is_a_parameter_and_a_line_a_training_seed(self):
        with small(DEPTHS, "own.csv") as path:
            table = freezebench.load(path)
            self.assertEqual("own", table.name)
            self.assertEqual({"rate": [0.1, 0.3], "batch_size": [8], "prefix_depth": [0, 2]},
                             table.levels)
            self.assertEqual([0.5, 0.625], table.values[0.1, 8.0, 0.0])
            self.assertEqual(0.1875, table.truth((0.1, 8, 2)))
            self.assertEqual((0.3, 8.0, 0.0), table.best)
            last = table.runs.iloc[-1]
            self.assertEqual((0.1, 2, 2, 1), (last.rate, last.prefix_depth, last.seed,
                                              last.total_seconds))
            space = freezebench.Problem(path).search_space
            self.assertEqual(optuna.distributions.IntDistribution(0, 1), space["prefix_depth"])
        recorded = freezebench.load("tagging-depths")
        self.assertEqual({2}, set(recorded.cells["runs"]))
        # Where all is frozen below the head a decay changes nothing.
        deep = recorded.runs[recorded.runs.prefix_depth == 5]
        self.assertEqual({1}, set(deep.groupby(["base_rate", "batch_size", "seed"])
                                  .accuracy.nunique()))
        self.assertEqual(1248, len(recorded.runs) - len(deep) * 4 // 5)

    def test_what_is_no_table_is_said_to_be_none(self):
        with self.assertRaisesRegex(ValueError, "no table 'imdb': take reviews-groups, "):
            freezebench.load("imdb")
        for text, said in ((SMALL.replace("# name small\n", ""), "no line '# name"),
                           (SMALL.replace("seed,state", "seed,was"), "no column state"),
                           ("a,b\n1,2\n", "no line '# metric"),
                           (RANKS.replace("# ranks low 0 8\n", ""), "no line '# ranks low ")):
            with small(text) as path, self.assertRaisesRegex(ValueError, said):
                freezebench.load(path)
        for text, said in (("a,b\n1,2\n", "no column accuracy@0"),
                           (DEPTHS.replace("seconds@2", "s"), "no column seconds@2"),
                           ("accuracy@0,seconds@0\n1,2\n", "no column before accuracy@0")):
            with small(text, "own.csv") as path, self.assertRaisesRegex(ValueError, said):
                freezebench.load(path)
        with self.assertRaisesRegex(ValueError, "0.5 is no level of lower .*take 0, 0.0001"):
            freezebench.load("reviews-groups").nearest(
                {"lower": 0.5, "middle": 0, "upper": 0, "head": 0})


class Problems(unittest.TestCase):
    def test_optunahub_loads_it_from_a_registry(self):
        with scratch() as folder:
            made = folder / wheel.build_freezebench(folder)
            subprocess.run([sys.executable, "-m", "zipfile", "-e", made,
                            folder / "package/benchmarks"], check=True)
            module = optunahub.load_local_module("benchmarks/freezebench",
                                                 registry_root=str(folder / "package"))
            problem = module.Problem("tagging-levels", seed=3)
            self.assertIsInstance(problem, optunahub.benchmarks.BaseProblem)
            study = optuna.create_study(directions=problem.directions,
                                        sampler=optuna.samplers.TPESampler(seed=1))
            study.optimize(problem, n_trials=12)
            self.assertEqual(12, len(study.trials))
            self.assertGreater(study.best_value, 0.3)

    def test_each_run_of_a_point_comes_once_before_any_comes_again(self):
        problem = freezebench.Problem("reviews-groups", seed=5)
        point = {"lower": 3, "middle": 3, "upper": 3, "head": 3}
        seen = [problem.evaluate(point) for _ in range(10)]
        runs = sorted(problem.table.values[(0.001,) * 4])
        self.assertEqual([runs, runs], [sorted(seen[:5]), sorted(seen[5:])])
        again = freezebench.Problem("reviews-groups", seed=5)
        self.assertEqual(seen, [again.evaluate(point) for _ in range(10)])
        other = freezebench.Problem("reviews-groups", seed=6)
        self.assertNotEqual(seen, [other.evaluate(point) for _ in range(10)])

    def test_both_forms_ask_for_the_same_points(self):
        levels = freezebench.Problem("tagging-modules")
        rates = freezebench.Problem("tagging-modules", form="rates")
        names = levels.table.parameters
        self.assertEqual(levels.truth(dict.fromkeys(names, 1)),
                         rates.truth(dict.fromkeys(names, 0.0003)))
        with self.assertRaisesRegex(ValueError, "take levels or rates"):
            freezebench.Problem("tagging-modules", form="ranks")

    def test_a_run_that_diverged_prunes_its_trial(self):
        with small() as path:
            study = optuna.create_study(direction="minimize")
            for _ in range(2):
                study.enqueue_trial({"a": 1, "b": 0})
            study.optimize(freezebench.Problem(path), n_trials=2)
            self.assertEqual(["COMPLETE", "PRUNED"],
                             sorted(one.state.name for one in study.trials))


class Leaderboard(unittest.TestCase):
    def test_the_best_sampler_is_first_and_equal_seeds_are_equal(self):
        with coordinator() as (address, _), frostline.connect(address) as client:
            asked = (("optuna:RandomSampler", "frostline:auto"), ["tagging-groups"],
                     [10, 40], range(3))
            rows = leaderboard.run(*asked, client)
            self.assertEqual(12, len(rows))
            found = leaderboard.gaps(rows)
            self.assertLess(statistics.fmean(found[40]["frostline:auto"]),
                            statistics.fmean(found[40]["optuna:RandomSampler"]))
            said = leaderboard.render(rows).split("after 40 trials, 3 seeds\n")[1]
            self.assertTrue(said.splitlines()[1].startswith("frostline:auto"), said)
        self.assertEqual(rows[:6], leaderboard.run(("optuna:RandomSampler",), *asked[1:]))

    def test_ranks_and_depths_are_searched_too(self):
        with coordinator() as (address, _), frostline.connect(address) as client:
            rows = leaderboard.run(("frostline:tpe", "optuna:TPESampler"),
                                   ["reviews-ranks", "tagging-depths"], [12], range(1), client)
        for row in rows:
            table = freezebench.load(row.table)
            self.assertIn(row.truth, set(table.cells["mean"]))
            self.assertGreater(row.truth, table.cells["mean"].median())

    def test_a_search_is_judged_by_the_truth_of_what_it_recommends(self):
        table = freezebench.load("reviews-modules")
        name = "optuna:RandomSampler"
        row, = leaderboard.search(name, table, 4, [30])
        problem = freezebench.Problem(table, 4)
        study = optuna.create_study(direction="maximize", sampler=leaderboard.make(
            name, 4, problem, 30, None))
        study.optimize(problem, n_trials=30)
        self.assertEqual(problem.truth(study.best_params), row.truth)

    def test_the_command_prints_it_and_keeps_each_search(self):
        with scratch() as folder:
            code, out, _ = main(
                "leaderboard", "--samplers", "optuna:RandomSampler", "optuna.samplers:TPESampler",
                "--tables", "tagging-modules", "--budgets", "5", "9", "--seeds", "2",
                "--rows", str(folder / "rows"))
            self.assertEqual(0, code)
            self.assertEqual(2, out.count("best point"))
            rows = [json.loads(line) for line in (folder / "rows").read_text().splitlines()]
            self.assertEqual(8, len(rows))
            self.assertEqual({"sampler", "table", "seed", "budget", "truth"}, set(rows[0]))

    def test_what_cannot_run_is_said_before_anything_runs(self):
        for flags, said in ((["--samplers", "optuna:Magic"], "optuna:Magic"),
                            (["--tables", "imdb"], "no table 'imdb'"),
                            (["--budgets", "200", "--tables", "reviews-modules"],
                             "take budgets up to 128")):
            code, out, err = main("leaderboard", "--samplers", "optuna:RandomSampler", *flags)
            self.assertEqual((2, ""), (code, out))
            self.assertIn(said, err)
            self.assertEqual(1, err.count("\n"))


class Wheel(unittest.TestCase):
    def test_it_installs_alone_with_its_tables(self):
        with scratch() as folder:
            made = wheel.build_freezebench(folder)
            venv.create(folder / "env", with_pip=True)
            subprocess.run([folder / "env/bin/python", "-m", "pip", "--isolated", "install",
                            "--quiet", "--no-index", "--no-deps", folder / made], check=True)
            packages = next((folder / "env/lib").iterdir()) / "site-packages"
            self.assertEqual(9, len(list((packages / "freezebench/data").iterdir())))
            self.assertEqual(str(freezebench.names()), subprocess.run(
                [sys.executable, "-c", "import freezebench; print(freezebench.names())"],
                env=os.environ | {"PYTHONPATH": os.pathsep.join(
                    [str(packages), os.environ["PYTHONPATH"]])},
                check=True, capture_output=True, text=True).stdout.strip())
            self.assertFalse((packages / "frostline").exists())
            self.assertTrue((folder / "env/bin/freezebench").exists())
            self.assertIn("pandas", next(packages.glob("freezebench*/METADATA")).read_text())
        self.assertFalse((PACKAGE / "freezebench" / "data").exists())


if __name__ == "__main__":
    run_and_count()
