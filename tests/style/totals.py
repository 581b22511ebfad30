# SPDX-License-Identifier: Apache-2.0
"""Runs the unittest cases of the calling program and prints the line that
scripts/count_tests.py reads."""
import unittest


def run_and_count():
    result = unittest.main(exit=False, verbosity=0).result
    failed = len(result.failures) + len(result.errors)
    skipped = len(result.skipped)
    # A class that cannot be set up has failed without having run.
    passed = max(0, result.testsRun - failed - skipped)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0
