// SPDX-License-Identifier: Apache-2.0
#include "sampler/draw/qmc.h"

#include <cmath>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "base/status_macros.h"
#include "sampler/draw/numeric_range.h"
#include "sampler/draw/random.h"
#include "sampler/draw/sequence_place.h"
#include "sampler/draw/sobol.h"

namespace frostline::sampler {
namespace {

// From [0, 1) to a domain, so that even numbers become evenly spread values:
// levels, choices and steps are cells of equal width in their order,
// logarithmic domains are even in the logarithm, and a rate that can be frozen
// is so in the first `frozen_share` of the way.
double ValueAt(const Domain& domain, double frozen_share, double u) {
  const auto* const rate = std::get_if<LogUniform>(&domain);
  if (rate != nullptr && rate->freeze) {
    if (u < frozen_share) return 0.0;
    u = (u - frozen_share) / (1.0 - frozen_share);
  }
  if (const auto* d = std::get_if<Categorical>(&domain)) {
    return std::floor(u * static_cast<double>(d->choices.size()));
  }
  const NumericRange range = *NumericRangeOf(domain);
  return range.FromBox(std::lerp(range.box_lo, range.box_hi, u));
}

class QmcSampler final : public Sampler {
 public:
  QmcSampler(const SamplerInput& input, bool scramble, double frozen_share)
      : space_(input.space),
        frozen_share_(frozen_share),
        sequence_(space_.size()),
        place_([this](std::int64_t n) { return PointAt(n); }) {
    for (int d = 0; scramble && d < space_.size(); ++d) {
      // Trials have the streams that count up from 0.
      keys_.push_back(
          Rng(input.study_seed, ~static_cast<std::uint64_t>(d)).Next());
    }
  }

 private:
  absl::StatusOr<Point> ProposeUntil(const std::stop_token& /*stop*/,
                                     const History& history,
                                     std::int64_t number,
                                     Rng& /*rng*/) override {
    return PointAt(place_.PlaceOf(history, number));
  }

  double Coordinate(std::int64_t n, std::size_t dimension) const {
    const std::uint32_t bits =
        sequence_.At(static_cast<std::uint32_t>(n), dimension);
    // The middle of a cell, lest rounding moves it into the next one.
    if (keys_.empty()) return (bits + 0.5) * 0x1.0p-32;
    return Scrambled(bits, keys_[dimension]);
  }

  Point PointAt(std::int64_t n) const {
    Point point(static_cast<std::size_t>(space_.size()), kAbsent);
    for (int i = 0; i < space_.size(); ++i) {
      if (!space_.IsActive(i, point)) continue;
      const auto index = static_cast<std::size_t>(i);
      point[index] = ValueAt(space_.parameters()[index].domain, frozen_share_,
                             Coordinate(n, index));
    }
    return point;
  }

  Space space_;
  double frozen_share_;
  SobolSequence sequence_;
  std::vector<std::uint64_t> keys_;  // of each dimension; none: unscrambled
  SequencePlace place_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Sampler>> MakeQmcSampler(
    const SamplerInput& input) {
  OptionReader reader(ErrorId::kSamplerInvalid, "sampler qmc",
                      "sampler.options", input.options);
  const bool scramble = reader.Bool("scramble", true);
  const double frozen_share =
      reader.Number("frozen_share", kFrozenShare, 0.0, 1.0);
  RETURN_IF_ERROR(reader.Finish());
  return std::make_unique<QmcSampler>(input, scramble, frozen_share);
}

}  // namespace frostline::sampler
