// SPDX-License-Identifier: Apache-2.0
#include "server/importance/outcome_rows.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "base/status_macros.h"
#include "frostline/v1/trial.pb.h"

namespace frostline::server {
namespace {

// How far the mean of what is stored of the rows may be from the metric.
constexpr double kNearBits = 1e-6;
constexpr double kNearHalves = 1e-3;
constexpr int kLookedAt = 4;

}  // namespace

float FromHalf(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const auto fraction = static_cast<float>(bits & 1023);
  const float sign = (bits & 0x8000) != 0 ? -1.0f : 1.0f;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  if (exponent < 31)
    return sign * std::ldexp(1024.0f + fraction, exponent - 25);
  return fraction == 0.0f ? sign * std::numeric_limits<float>::infinity()
                          : std::numeric_limits<float>::quiet_NaN();
}

std::vector<float> RowsOf(const storage::OutcomeRow& outcome) {
  if (outcome.count < 1) return {};
  const auto count = static_cast<std::size_t>(outcome.count);
  const auto byte = [&outcome](std::size_t i) {
    return static_cast<std::uint8_t>(outcome.data[i]);
  };
  std::vector<float> rows;
  if (outcome.encoding == v1::ExampleOutcomes::PACKED_BITS &&
      outcome.data.size() == (count + 7) / 8) {
    for (std::size_t i = 0; i < count; ++i) {
      rows.push_back(static_cast<float>(byte(i / 8) >> i % 8 & 1));
    }
  } else if (outcome.encoding == v1::ExampleOutcomes::FLOAT16 &&
             outcome.data.size() == 2 * count) {
    for (std::size_t i = 0; i < count; ++i) {
      rows.push_back(FromHalf(
          static_cast<std::uint16_t>(byte(2 * i) | byte(2 * i + 1) << 8)));
    }
  }
  return rows;
}

std::vector<float> RowsOfMean(const storage::OutcomeRow& outcome,
                              double value) {
  std::vector<float> rows = RowsOf(outcome);
  const double mean = std::accumulate(rows.begin(), rows.end(), 0.0) /
                      static_cast<double>(rows.size());
  const bool bits = outcome.encoding == v1::ExampleOutcomes::PACKED_BITS;
  // False for NaN.
  if (!(std::abs(mean - value) <= (bits ? kNearBits : kNearHalves))) {
    rows.clear();
  }
  return rows;
}

absl::StatusOr<std::int64_t> CountEvaluationRows(
    const storage::TrialStore& store, storage::StudyKey study,
    const History& history) {
  int looked_at = 0;
  const std::vector<Observation>& trials = history.trials();
  for (auto trial = trials.rbegin(); trial != trials.rend(); ++trial) {
    if (trial->values.empty()) continue;
    if (++looked_at > kLookedAt) break;
    ASSIGN_OR_RETURN(const std::optional<storage::OutcomeRow> outcome,
                     store.FindOutcome(study, trial->number));
    if (!outcome.has_value()) continue;
    return static_cast<std::int64_t>(
        RowsOfMean(*outcome, trial->values[0]).size());
  }
  return 0;
}

}  // namespace frostline::server
