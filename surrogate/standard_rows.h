// SPDX-License-Identifier: Apache-2.0
//
// File: standard_rows.h
#ifndef FROSTLINE_SURROGATE_STANDARD_ROWS_H_
#define FROSTLINE_SURROGATE_STANDARD_ROWS_H_

#include <cstddef>
#include <stop_token>
#include <vector>

#include "surrogate/evidence.h"
#include "surrogate/rows.h"

namespace frostline::surrogate {

struct Standardised {
  StandardRows rows;
  std::vector<std::size_t> used;  // rising places among the rows given
  double middle = 0.0;            // value = middle + scale * standard value
  double scale = 1.0;
};

// After a stop it takes whatever was found by then, and at least one.
Standardised Standardise(const Rows& rows, std::size_t most_rows,
                         const std::stop_token& stop = {});

// Returns rising rows that tell most: each next one is that of which the others
// know least (pivoted Cholesky; Foster et al., 2009), under usual scales.
std::vector<std::size_t> SpreadRows(const Rows& rows, std::size_t count,
                                    const std::stop_token& stop = {});

// Finds how far off each row is, up to a bound: (nu + r² / noise) / (nu + 1),
// one over its weight under Student-t noise of nu degrees (Lange, Little and
// Taylor, 1989, §3), so that a diverged run is no evidence about its
// neighbours.
void SpreadByResiduals(const Evidence& evidence, StandardRows& rows);

// Returns expected squares of rows' distances to the function; their mean is
// the variance of noise, tails included.
VectorXd SquaresOff(const Evidence& evidence);

}  // namespace frostline::surrogate

#endif  // FROSTLINE_SURROGATE_STANDARD_ROWS_H_
