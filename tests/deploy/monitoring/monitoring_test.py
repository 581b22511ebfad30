#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""monitoring_test.py PROGRAMS: deploy/monitoring against a real coordinator, a
real promtool and a real Prometheus."""
import json
import re
import shutil
import subprocess
import sys
import unittest

from world import DEPLOY, ROOT, TRIALS, World, until

PROGRAMS = sys.argv[1]
RULES = DEPLOY / "frostline.rules.yaml"
RULES_TEST = DEPLOY / "frostline.rules.test.yaml"
REFERENCE = ROOT / "docs" / "reference" / "metrics.md"
NAME = re.compile(r"\b(?:frostline|process)_\w+")
PART = re.compile(r"_(?:bucket|sum|count)$")


def alerts():
    return re.findall(r"- alert: (\w+)", RULES.read_text())


def rule_expressions():
    """Of each alert; a folded one is put together."""
    found = re.findall(r"expr: (?:>-\n)?(.*?)\n {8}(?:for|labels):",
                       RULES.read_text(), re.DOTALL)
    return [" ".join(one.split()) for one in found]


def dashboard_expressions():
    """As Grafana would ask them of one coordinator."""
    panels = json.loads((DEPLOY / "dashboard.json").read_text())["panels"]
    found = [target["expr"] for panel in panels
             for target in panel.get("targets", [])]
    return [one.replace("$__rate_interval", "5m").replace("$instance", ".*")
            for one in found]


def needs(tool):
    return unittest.skipUnless(shutil.which(tool), f"{tool} is missing")


def promtool(*arguments, text=None):
    return subprocess.run(["promtool", *arguments], input=text, cwd=DEPLOY,
                          capture_output=True, text=True, timeout=60,
                          check=False)


class FilesTest(unittest.TestCase):
    """What can be said without running anything of ours."""

    def succeeds(self, *arguments):
        done = promtool(*arguments)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @needs("promtool")
    def test_prometheus_takes_the_configuration_and_the_rules(self):
        self.succeeds("check", "config", "prometheus.yaml")

    @needs("promtool")
    def test_each_alert_comes_and_stays_away_when_it_should(self):
        self.succeeds("test", "rules", RULES_TEST.name)

    def test_each_alert_has_a_case_that_fires_and_one_that_does_not(self):
        cases = RULES_TEST.read_text()
        self.assertEqual(len(alerts()), len(set(alerts())))
        for alert in alerts():
            with self.subTest(alert):
                self.assertEqual(cases.count(f"alertname: {alert}\n"), 2)
                self.assertRegex(
                    cases, f"alertname: {alert}\n +exp_alerts: \\[\\]")
        self.assertEqual(len(rule_expressions()), len(alerts()))

    @needs("promtool")
    def test_every_expression_of_the_dashboard_parses(self):
        expressions = dashboard_expressions()
        self.assertGreater(len(expressions), 50)
        rules = [{"record": f"panel:{number}", "expr": one}
                 for number, one in enumerate(expressions)]
        file = {"groups": [{"name": "dashboard", "rules": rules}]}
        # JSON is YAML.
        done = promtool("check", "rules", "/dev/stdin", text=json.dumps(file))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(f"{len(expressions)} rules found", done.stdout)


class LiveTest(unittest.TestCase):
    """A coordinator that has run a study of twelve trials, and has another that
    nobody runs."""

    @classmethod
    def setUpClass(cls):
        cls.world = World(PROGRAMS)
        cls.addClassCleanup(cls.world.end)
        cls.world.start_coordinator()
        cls.world.run_study()
        cls.page = cls.world.scrape()
        cls.families = set(re.findall(r"^# TYPE (\S+)", cls.page, re.M))

    def check_names(self, expressions):
        for expression in expressions:
            for name in NAME.findall(expression):
                with self.subTest(expression):
                    self.assertTrue(
                        name in self.families or
                        PART.sub("", name) in self.families,
                        f"no scrape has {name}")

    def test_counts_what_was_done(self):
        line = re.search(
            r'^frostline_trials_ended_total{state="SUCCEEDED"} (\S+)$',
            self.page, re.M)
        self.assertEqual(float(line.group(1)), TRIALS)

    @needs("promtool")
    def test_the_page_is_as_promtool_likes_it(self):
        done = promtool("check", "metrics", text=self.page)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (0, "", ""))

    def test_every_metric_of_the_dashboard_exists(self):
        self.check_names(dashboard_expressions())

    def test_every_metric_of_the_rules_exists(self):
        self.check_names(rule_expressions())

    def test_the_reference_names_what_a_scrape_has(self):
        named = set(re.findall(r"^\| `((?:frostline|process)_\w+)` \|", REFERENCE.read_text(), re.M))
        self.assertEqual(named, self.families)

    def test_every_metric_is_on_the_dashboard(self):
        shown = {PART.sub("", name) for one in dashboard_expressions()
                 for name in NAME.findall(one)}
        self.assertEqual(self.families - shown, set())

    def test_knows_its_files(self):
        for series in ('frostline_store_bytes{file="database"}',
                       'frostline_certificate_expiry_timestamp_seconds'
                       '{certificate="coordinator"}'):
            value = re.search(re.escape(series) + r" (\S+)$", self.page, re.M)
            self.assertGreater(float(value.group(1)), 0, series)

    def test_a_trace_leads_from_the_worker_to_the_coordinator(self):
        started = [line["trace_id"] for line in self.world.log_of("worker")
                   if line["event"] == "trial_started"]
        self.assertEqual(len(set(started)), TRIALS)
        finished = [line["trace_id"] for line in self.world.log_of("coordinator")
                    if line["event"] == "call" and line["code"] == "OK" and
                    line["method"] == "frostline.v1.WorkerService.Finish"]
        self.assertEqual(sorted(finished), sorted(started))

    @needs("prometheus")
    def test_prometheus_scrapes_it_and_knows_every_expression(self):
        world = self.world
        world.start_prometheus()
        ended = until("Prometheus has scraped", lambda: (
            world.ask_prometheus("query", query="frostline_trials_ended_total"
                                 '{state="SUCCEEDED"}') or {}).get("result"))
        self.assertEqual(float(ended[0]["value"][1]), TRIALS)
        for expression in dashboard_expressions():
            with self.subTest(expression):
                self.assertIsNotNone(
                    world.ask_prometheus("query", query=expression))
        groups = until("the rules were evaluated", lambda: [
            group for group in (world.ask_prometheus("rules") or
                                {"groups": []})["groups"]
            if all(rule["health"] != "unknown" for rule in group["rules"])])
        self.assertEqual(len(groups[0]["rules"]), len(alerts()))
        for rule in groups[0]["rules"]:
            with self.subTest(rule["name"]):
                self.assertEqual(rule["health"], "ok")
                self.assertNotEqual(rule["state"], "firing")


if __name__ == "__main__":
    outcome = unittest.main(argv=sys.argv[:1], exit=False, verbosity=2).result
    bad = len(outcome.failures) + len(outcome.errors)
    skipped = len(outcome.skipped)
    print(f"{max(outcome.testsRun - bad - skipped, 0)} passed, {bad} failed, "
          f"{skipped} skipped", file=sys.stderr)
    sys.exit(1 if bad else 0)
