#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sobol_table.py DIRECTION_NUMBERS.npz: writes sampler/draw/sobol_table.inc.

The input is SciPy's copy (scipy/stats/_sobol_direction_numbers.npz) of the
direction numbers of S. Joe and F. Y. Kuo, "Constructing Sobol sequences with
better two-dimensional projections", SIAM J. Sci. Comput. 30, 2008. Needs numpy.

For every dimension after the first one: its primitive polynomial, bit i being
the coefficient of x^i, and as many initial numbers as the polynomial has
degrees.
"""
import pathlib
import sys

import numpy

DIMENSIONS = 512
TARGET = pathlib.Path(__file__).resolve().parent.parent / \
    "sampler/draw/sobol_table.inc"


def numbers(table):
    for poly, initial in list(zip(table["poly"], table["vinit"]))[1:DIMENSIONS]:
        degree = int(poly).bit_length() - 1
        yield int(poly)
        yield from (int(number) for number in initial[:degree])


def main():
    lines, line = [], " "
    for number in numbers(numpy.load(sys.argv[1])):
        if len(line) + len(f" {number},") > 80:
            lines.append(line)
            line = " "
        line += f" {number},"
    TARGET.write_text(
        "// SPDX-License-Identifier: Apache-2.0\n"
        "// Made by scripts/sobol_table.py; do not edit.\n"
        "constexpr std::uint16_t kDirectionNumbers[] = {\n"
        + "\n".join(lines + [line]) + "\n};\n")


if __name__ == "__main__":
    main()
