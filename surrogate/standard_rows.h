// SPDX-License-Identifier: Apache-2.0
//
// File: standard_rows.h
//
// Rows as the Gaussian process sees them: values of mean 0 and variance 1, and
// of very many rows a part of them.
#ifndef FROSTLINE_SURROGATE_STANDARD_ROWS_H_
#define FROSTLINE_SURROGATE_STANDARD_ROWS_H_

#include <cstddef>
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

Standardised Standardise(const Rows& rows, std::size_t most_rows);

// So many rows that tell most together: each next one is that of which the
// others know least (pivoted Cholesky; Foster et al., 2009), under the usual
// scales. Rising.
std::vector<std::size_t> SpreadRows(const Rows& rows, std::size_t count);

// How far off each row is given all: (nu + r² / noise) / (nu + 1), that is 1
// over the weight which a Student-t noise of nu degrees gives it (Lange, Little
// and Taylor, 1989, §3). A run that diverged is so no evidence about its
// neighbours.
void SpreadByResiduals(const Evidence& evidence, StandardRows& rows);

// Expected squares of what each row is off the function, itself having been
// seen: their mean is the variance of noise, tails and all.
VectorXd SquaresOff(const Evidence& evidence);

}  // namespace frostline::surrogate

#endif  // FROSTLINE_SURROGATE_STANDARD_ROWS_H_
