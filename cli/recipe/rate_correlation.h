// SPDX-License-Identifier: Apache-2.0
//
// File: rate_correlation.h
//
// How each module's rate goes with the score over a search's trials: Spearman's
// correlation with its 95 % interval by Fisher's z, tanh(atanh(r) ± 1.96 · 1.06
// / sqrt(n - 3)) (Fieller et al. 1957). A sampler's trials are no random
// sample, so it describes them and proves nothing; importance is what counts.
#ifndef FROSTLINE_CLI_RECIPE_RATE_CORRELATION_H_
#define FROSTLINE_CLI_RECIPE_RATE_CORRELATION_H_

#include <cstddef>
#include <string>
#include <vector>

#include "cli/report/report_page.h"
#include "cli/report/study_record.h"

namespace frostline::cli {

struct RateCorrelation {
  std::string module;
  double correlation = 0.0;
  double lo95 = 0.0;
  double hi95 = 0.0;
  std::size_t trials = 0;
};

// In depth order; modules whose rate never differs are left out.
std::vector<RateCorrelation> CorrelateRates(const StudyRecord& record);

ReportTable CorrelationTable(const std::vector<RateCorrelation>& all,
                             const std::string& name);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_RECIPE_RATE_CORRELATION_H_
