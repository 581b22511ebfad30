// SPDX-License-Identifier: Apache-2.0
#include "sampler/draw/qmc.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "sampler/draw/random.h"

namespace frostline::sampler {
namespace {

// This lists for each dimension after the first its primitive polynomial (bit i
// is the coefficient of x^i) and as many initial numbers as its degree.
#include "sampler/draw/sobol_table.inc"

using Directions = std::array<std::uint32_t, 32>;

// Returns the directions of the next dimension in the table (Bratley and Fox,
// "Algorithm 659", 1988, eq. 2).
Directions ReadDirections(const std::uint16_t*& next) {
  const std::uint32_t polynomial = *next++;
  const auto degree = static_cast<std::size_t>(std::bit_width(polynomial)) - 1;
  Directions v{};
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (i < degree) {
      v[i] = std::uint32_t{*next++} << (31 - i);
      continue;
    }
    v[i] = v[i - degree] ^ (v[i - degree] >> degree);
    for (std::size_t k = 1; k < degree; ++k) {
      if ((polynomial >> (degree - k) & 1u) != 0u) v[i] ^= v[i - k];
    }
  }
  return v;
}

// The finaliser of SplitMix64: every bit of `x` decides about every bit.
std::uint64_t Mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

SobolSequence::SobolSequence(int dimensions) {
  const std::uint16_t* next = kDirectionNumbers;
  for (int d = 0; d < dimensions; ++d) {
    Directions first{};  // of the first dimension: van der Corput's sequence
    for (std::size_t i = 0; i < first.size(); ++i) first[i] = 1u << (31 - i);
    directions_.push_back(d == 0 ? first : ReadDirections(next));
  }
}

std::uint32_t SobolSequence::At(std::uint32_t n, std::size_t dimension) const {
  const Directions& v = directions_[dimension];
  std::uint32_t bits = 0;
  for (std::uint32_t gray = n ^ (n >> 1); gray != 0; gray &= gray - 1) {
    bits ^= v[static_cast<std::size_t>(std::countr_zero(gray))];
  }
  return bits;
}

double Scrambled(std::uint32_t coordinate, std::uint64_t key) {
  std::uint64_t bits = 0;
  for (int i = 31; i >= 0; --i) {
    // The bits above bit i behind a leading one: a name for where we are.
    const std::uint64_t node = ((std::uint64_t{1} << 32) | coordinate) >>
                               (static_cast<unsigned>(i) + 1);
    const std::uint64_t coin = Mix(key + node * 0x9e3779b97f4a7c15u) >> 63;
    bits |= ((coordinate >> i & 1u) ^ coin) << i;
  }
  const std::uint64_t leaf = (std::uint64_t{1} << 32) | coordinate;
  const std::uint64_t tail = Mix(key + leaf * 0x9e3779b97f4a7c15u) >> 43;
  return static_cast<double>(bits << 21 | tail) * 0x1.0p-53;
}

namespace {

// Stored numbers may have lost their last digit.
bool IsAlmost(const Point& a, const Point& b) {
  constexpr double kRelative = 1e-9;
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double x, double y) {
                      if (IsAbsent(x) || IsAbsent(y))
                        return IsAbsent(x) && IsAbsent(y);
                      return std::abs(x - y) <=
                             kRelative * std::max(std::abs(x), std::abs(y));
                    });
}

}  // namespace

SequencePlace::SequencePlace(std::function<Point(std::int64_t)> point_at)
    : point_at_(std::move(point_at)) {}

std::int64_t SequencePlace::CountForeign(std::int64_t number) const {
  return std::lower_bound(foreign_.begin(), foreign_.end(), number) -
         foreign_.begin();
}

bool SequencePlace::IsForeign(const Observation& trial) const {
  const std::int64_t place = trial.number - CountForeign(trial.number);
  return !IsAlmost(trial.point, point_at_(place));
}

void SequencePlace::JudgeAgain(const Observation& trial) {
  if (trial.number >= judged_) return;
  const auto found =
      std::lower_bound(foreign_.begin(), foreign_.end(), trial.number);
  const bool was_foreign = found != foreign_.end() && *found == trial.number;
  if (IsForeign(trial) == was_foreign) return;
  // Everybody after it is due another point.
  foreign_.erase(found, foreign_.end());
  judged_ = trial.number;
}

void SequencePlace::CatchUp(const History& history) {
  if (history.revision() < revision_) {
    revision_ = end_ = judged_ = 0;
    foreign_.clear();
  }
  for (; revision_ < history.revision(); ++revision_) {
    const auto i = history.changes()[static_cast<std::size_t>(revision_)];
    end_ = std::max(end_, history.trials()[i].number + 1);
    JudgeAgain(history.trials()[i]);
  }
}

std::int64_t SequencePlace::PlaceOf(const History& history,
                                    std::int64_t number) {
  CatchUp(history);
  for (; judged_ < std::min(number, end_); ++judged_) {
    const Observation* const trial = history.Find(judged_);
    if (trial != nullptr && IsForeign(*trial)) foreign_.push_back(judged_);
  }
  return number - CountForeign(number);
}

namespace {

// Maps [0, 1) to a domain, so that even numbers become evenly spread values.
// Levels, choices and steps are cells of equal width in their order,
// logarithmic domains are even in the logarithm, and a rate that can be frozen
// is frozen in the first `frozen_share` of the way.
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
