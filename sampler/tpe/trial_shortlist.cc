// SPDX-License-Identifier: Apache-2.0
#include "sampler/tpe/trial_shortlist.h"

#include <algorithm>
#include <tuple>

#include "base/rng.h"

namespace frostline::sampler {
namespace {

bool IsBetterTrial(const RankedTrial& a, const RankedTrial& b) {
  return std::tie(a.group, a.first, a.second, a.number) <
         std::tie(b.group, b.first, b.second, b.number);
}

// Which trials are in the sample depends on their numbers alone.
std::uint64_t Lot(std::int64_t number) {
  return Rng(static_cast<std::uint64_t>(number)).Next();
}

}  // namespace

void TrialShortlist::AddToSample(std::int64_t number, std::uint32_t index) {
  const std::pair lot{Lot(number), index};
  sample_.insert(std::upper_bound(sample_.begin(), sample_.end(), lot), lot);
  if (sample_.size() > kSample + kBest) sample_.pop_back();
}

void TrialShortlist::Rank(const RankedTrial& trial) {
  best_.insert(
      std::upper_bound(best_.begin(), best_.end(), trial, IsBetterTrial),
      trial);
  if (best_.size() > kBest) best_.pop_back();
}

void TrialShortlist::Clear() {
  best_.clear();
  sample_.clear();
}

std::vector<std::uint32_t> TrialShortlist::Sample() const {
  std::vector<std::uint32_t> sample;
  sample.reserve(sample_.size());
  for (const auto& [lot, index] : sample_) sample.push_back(index);
  return sample;
}

}  // namespace frostline::sampler
