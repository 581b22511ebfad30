#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""live_test.py PROGRAMS: how a study goes, in a terminal and in a notebook's kernel, both
real; and that a script which shows it ends."""
import os
import pty
import re
import subprocess
import sys
import termios
import textwrap
import time
import unittest

import nbclient
import nbformat

from world import ROOT, coordinator, run_python, scratch

from totals import run_and_count

LOOP = """
import time, frostline
client = frostline.connect(ADDRESS)
toy = client.create_study("toy", maximize="score", budget=4, seed=1,
                          space={"parameters": {"x": {"float": [0, 1]}}})
for trial in toy.trials():
    with trial:
        if trial.number == 2:
            trial.fail("of no use")
            continue
        for step in range(3):
            trial.report(step, total_steps=3, score=trial["x"])
            time.sleep(0.15)
"""


def terminal(text, columns=120):
    """What a Python writes whose stderr is a terminal, and how it ended."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(ours, (24, columns))
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(text)], stderr=theirs, stdout=theirs,
        env={**os.environ, "COLUMNS": str(columns)})
    os.close(theirs)
    said = b""
    while True:
        try:
            more = os.read(ours, 65536)
        except OSError:  # the terminal's other side is closed
            break
        if not more:
            break
        said += more
    os.close(ours)
    return said.decode(), process.wait(20)


def screen(said):
    """The lines that a terminal shows once it has taken this."""
    lines, row, column = [""], 0, 0
    for part in re.findall(r"\x1b\[[AK]|\x1b\[[0-9;]*m|[\r\n]|[^\r\n\x1b]+", said):
        if part == "\x1b[A":
            row -= 1
        elif part == "\x1b[K":
            lines[row] = lines[row][:column]
        elif part == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif part == "\r":
            column = 0
        elif not part.startswith("\x1b"):
            line = lines[row].ljust(column)
            lines[row] = line[:column] + part + line[column + len(part):]
            column += len(part)
    return lines


def notebook_of(*cells):
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(
        textwrap.dedent(cell)) for cell in cells])


def run_notebook(folder, page):
    """The cells with their outputs, and every message that the kernel sent of them."""
    spec = folder / "kernels" / "python3"
    spec.mkdir(parents=True)
    spec.joinpath("kernel.json").write_text(
        '{"argv": ["%s", "-m", "ipykernel_launcher", "-f", "{connection_file}"], '
        '"display_name": "Python", "language": "python"}' % sys.executable)
    os.environ["JUPYTER_PATH"] = str(folder)
    sent = []

    class Client(nbclient.NotebookClient):
        def process_message(self, msg, cell, cell_index):
            sent.append(msg)
            return super().process_message(msg, cell, cell_index)

    Client(page, timeout=120, kernel_name="python3",
           resources={"metadata": {"path": str(folder)}}).execute()
    return page.cells, sent


class Terminal(unittest.TestCase):
    def test_one_line_is_written_over_and_stays_with_the_result(self):
        with coordinator() as (address, _):
            said, code = terminal(LOOP.replace("ADDRESS", repr(address)))
        self.assertEqual(0, code, said)
        self.assertEqual(1, said.count("\n"), said)
        shown = said.strip().split("\r")
        self.assertGreater(len(shown), 5)
        self.assertTrue(any(re.search(r"trial 1: step \d/3 score 0\.\d+", line)
                            for line in shown), said)
        self.assertRegex(shown[-1], r"^toy 100%\|█{10}\| 4/4 \[0:\d\d<0:00\] best score "
                         r"0\.\d+ \(trial \d\), 1 failed *$")

    def test_bars_of_the_training_stay_apart(self):
        text = LOOP.replace("import time, frostline", "import time, frostline\nLOAD").replace(
            "for step in range(3):", "for step in bars.tqdm(range(3), desc='training'):")
        # tqdm is loaded before the line is there, and by the first training.
        late = text.replace("LOAD", "").replace(
            "        if trial.number", "        import tqdm.auto as bars\n        if trial.number")
        for name, script in (("early", text.replace("LOAD", "import tqdm.auto as bars")),
                             ("late", late)):
            with self.subTest(name), coordinator() as (address, _):
                said, code = terminal(script.replace("ADDRESS", repr(address)))
                self.assertEqual(0, code, said)
                lines = [line.rstrip() for line in screen(said) if line.strip()]
                self.assertEqual(3, sum(bool(re.fullmatch(
                    r"training: 100%\|█+\| 3/3 \[.*\]", line)) for line in lines), lines)
                ours = [line for line in lines if not line.startswith("training")]
                self.assertEqual(1, len(ours), lines)
                self.assertRegex(ours[0], r"^toy 100%\|█{10}\| 4/4 \[0:\d\d<0:00\] best "
                                 r"score 0\.\d+ \(trial \d\), 1 failed$")

    def test_a_line_is_never_wider_than_the_terminal(self):
        with coordinator() as (address, _):
            said, _ = terminal(LOOP.replace("ADDRESS", repr(address)), columns=40)
        self.assertEqual([], [one for one in re.split("[\r\n]+", said) if len(one) > 39])

    def test_wait_shows_what_others_train(self):
        with coordinator() as (address, _):
            other = subprocess.Popen(
                [sys.executable, "-c", LOOP.replace("ADDRESS", repr(address))],
                stderr=subprocess.DEVNULL)
            said, code = terminal(f"""
                import time, frostline
                client = frostline.connect({address!r})
                while not client.studies():
                    time.sleep(0.05)
                client.study("toy").wait(every=0.1)
                """)
            self.assertEqual((0, 0), (code, other.wait(20)), said)
        self.assertIn("4/4", said)

    def test_a_pipe_gets_nothing_unless_it_is_asked_for(self):
        with coordinator() as (address, _):
            text = LOOP.replace("ADDRESS", repr(address))
            self.assertEqual("", run_python(text).stderr)
            asked = run_python(text.replace("trials()", "trials(progress=True)").replace(
                '"toy"', '"other"'))
            self.assertIn("other 100%", asked.stderr)

    def test_a_coordinator_that_goes_away_leaves_no_hanging_script(self):
        with coordinator() as (address, process):
            started = time.monotonic()
            text = LOOP.replace("ADDRESS", repr(address)).replace(
                "for step in", "import os, signal\n"
                f"        os.kill({process.pid}, signal.SIGKILL)\n"
                "        raise KeyboardInterrupt\n        for step in")
            said, code = terminal(text)
        self.assertIn("KeyboardInterrupt", said)
        self.assertNotEqual(0, code)
        self.assertLess(time.monotonic() - started, 20)


class Notebook(unittest.TestCase):
    def test_one_table_is_written_anew_in_its_place(self):
        with coordinator() as (address, _), scratch() as folder:
            cells, sent = run_notebook(folder, notebook_of(
                LOOP.replace("ADDRESS", repr(address)), "toy"))
        tables = [one for one in cells[0].outputs if "text/html" in one.get("data", {})]
        self.assertEqual(1, len(tables), cells[0].outputs)
        html = tables[0].data["text/html"]
        for word in ("4 of 4", "completed", "newest trials here", "succeeded", "failed"):
            self.assertIn(word, html)
        updates = [m for m in sent if m["msg_type"] == "update_display_data"]
        self.assertGreater(len(updates), 5)
        self.assertIn("toy: 4 of 4 trials, best score", tables[0].data["text/plain"])
        self.assertIn(">study toy<", cells[1].outputs[0].data["text/html"])

    def test_the_tutorial_s_notebook_runs_from_top_to_bottom(self):
        page = nbformat.read(ROOT / "docs/tutorials/python.ipynb", as_version=4)
        self.assertEqual([], [one for one in page.cells if one.get("outputs")],
                         "it is kept without outputs")
        with scratch() as folder:
            cells, _ = run_notebook(folder, page)
        shown = {cell.source: cell.outputs[-1].data for cell in cells
                 if cell.get("outputs") and "data" in cell.outputs[-1]}
        self.assertIn("completed", shown["study"]["text/html"])
        importance = shown["study.importance()"]["text/plain"]
        self.assertTrue(importance.startswith("layer.2 "), importance)
        plan = shown["study.plan()"]["text/plain"]
        self.assertRegex(plan, r"layer\.2 +0\.001")


if __name__ == "__main__":
    sys.exit(run_and_count())
