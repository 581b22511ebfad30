// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/split.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "worker/trainer/data/row_order.h"

namespace frostline::trainer {
namespace {

using RowList = std::vector<std::uint32_t>;

// The rows of each class in chance order; all in one where there are none.
std::vector<RowList> Strata(const Dataset& data,
                            std::span<const std::uint32_t> rows,
                            std::uint64_t seed, std::uint64_t stream) {
  const bool classes =
      data.task() == TaskKind::kClassification && data.labelled();
  std::vector<RowList> strata(classes ? data.labels().size() : 1);
  for (const std::uint32_t row : ShuffledRows(rows, seed, stream)) {
    const auto label = static_cast<std::size_t>(data[row].label);
    strata[classes ? label : 0].push_back(row);
  }
  return strata;
}

// How many each class gives to `total`: its share rounded down, then one more
// to the greatest remainders. A class keeps at least one row.
std::vector<std::size_t> Quotas(const std::vector<RowList>& strata,
                                double share, std::size_t total) {
  std::vector<std::size_t> quotas(strata.size());
  std::vector<double> remainders(strata.size());
  std::size_t given = 0;
  for (std::size_t c = 0; c < strata.size(); ++c) {
    const double exact = share * static_cast<double>(strata[c].size());
    quotas[c] = static_cast<std::size_t>(exact);
    remainders[c] = exact - std::floor(exact);
    given += quotas[c];
  }
  std::vector<std::size_t> order(strata.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
    return remainders[a] > remainders[b];
  });
  bool progress = true;
  while (given < total && progress) {
    progress = false;
    for (const std::size_t c : order) {
      if (given == total || quotas[c] + 1 >= strata[c].size()) continue;
      ++quotas[c];
      ++given;
      progress = true;
    }
  }
  return quotas;
}

}  // namespace

Expected<HeldOut> HoldOut(const Dataset& data, double share,
                          std::uint64_t seed) {
  const double exact = share * static_cast<double>(data.size());
  if (!(share > 0.0 && share < 1.0)) {
    return Fault{FaultKind::kMisuse, "validation_share is not between 0 and 1",
                 "give a share such as 0.1"};
  }
  const auto total = static_cast<std::size_t>(std::llround(exact));
  const RowList all = data.AllRows();
  const std::vector<RowList> strata = Strata(data, all, seed, kHoldOutStream);
  const std::vector<std::size_t> quotas = Quotas(strata, share, total);
  HeldOut out;
  for (std::size_t c = 0; c < strata.size(); ++c) {
    const auto middle =
        strata[c].begin() + static_cast<std::ptrdiff_t>(quotas[c]);
    out.validation.insert(out.validation.end(), strata[c].begin(), middle);
    out.training.insert(out.training.end(), middle, strata[c].end());
  }
  if (out.validation.empty() || out.training.empty()) {
    return Fault{FaultKind::kMisuse,
                 "validation_share holds out " +
                     std::to_string(out.validation.size()) + " of " +
                     std::to_string(data.size()) + " rows",
                 "give a share that leaves rows on both sides"};
  }
  std::sort(out.training.begin(), out.training.end());
  std::sort(out.validation.begin(), out.validation.end());
  return out;
}

std::vector<std::uint32_t> BalancedSubset(const Dataset& data,
                                          std::span<const std::uint32_t> rows,
                                          std::size_t count,
                                          std::uint64_t seed) {
  // Round robin over the classes: a class that has run dry is passed over, and
  // a smaller sample is the beginning of a greater one.
  const std::vector<RowList> strata = Strata(data, rows, seed, kSubsetStream);
  RowList sample;
  count = std::min(count, rows.size());
  sample.reserve(count);
  for (std::size_t turn = 0; sample.size() < count; ++turn) {
    for (const RowList& stratum : strata) {
      if (turn < stratum.size() && sample.size() < count) {
        sample.push_back(stratum[turn]);
      }
    }
  }
  std::sort(sample.begin(), sample.end());
  return sample;
}

}  // namespace frostline::trainer
