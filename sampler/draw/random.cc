// SPDX-License-Identifier: Apache-2.0
#include "sampler/draw/random.h"

#include <optional>
#include <utility>
#include <variant>

#include "base/status_macros.h"
#include "sampler/draw/numeric_range.h"

namespace frostline::sampler {
namespace {

class RandomSampler final : public Sampler {
 public:
  RandomSampler(Space space, double frozen_share)
      : space_(std::move(space)), frozen_share_(frozen_share) {}

 private:
  absl::StatusOr<Point> ProposeUntil(const std::stop_token& /*stop*/,
                                     const History& /*history*/,
                                     std::int64_t /*number*/,
                                     Rng& rng) override {
    return DrawPoint(space_, frozen_share_, rng);
  }

  Space space_;
  double frozen_share_;
};

}  // namespace

double DrawValue(const Domain& domain, double frozen_share, Rng& rng) {
  if (const auto* d = std::get_if<Categorical>(&domain)) {
    return static_cast<double>(rng.Below(d->choices.size()));
  }
  const auto* const rate = std::get_if<LogUniform>(&domain);
  if (rate != nullptr && rate->freeze && rng.Uniform() < frozen_share) {
    return 0.0;
  }
  const NumericRange range = *NumericRangeOf(domain);
  return range.FromBox(range.box_lo +
                       rng.Uniform() * (range.box_hi - range.box_lo));
}

Point DrawPoint(const Space& space, double frozen_share, Rng& rng) {
  Point point(static_cast<std::size_t>(space.size()), kAbsent);
  for (int i = 0; i < space.size(); ++i) {
    if (!space.IsActive(i, point)) continue;
    const auto index = static_cast<std::size_t>(i);
    point[index] =
        DrawValue(space.parameters()[index].domain, frozen_share, rng);
  }
  return point;
}

absl::StatusOr<std::unique_ptr<Sampler>> MakeRandomSampler(
    const SamplerInput& input) {
  OptionReader reader(ErrorId::kSamplerInvalid, "sampler random",
                      "sampler.options", input.options);
  const double frozen_share =
      reader.Number("frozen_share", kFrozenShare, 0.0, 1.0);
  RETURN_IF_ERROR(reader.Finish());
  return std::make_unique<RandomSampler>(input.space, frozen_share);
}

}  // namespace frostline::sampler
