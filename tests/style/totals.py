# SPDX-License-Identifier: Apache-2.0
"""Runs the unittest cases of the calling program and prints the line that
scripts/count_tests.py reads."""
import unittest


def run_and_count():
    result = unittest.main(exit=False, verbosity=0).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed, "
          f"{len(result.skipped)} skipped")
    return 1 if failed else 0
