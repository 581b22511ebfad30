// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/prefix/company.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace frostline::trainer {
namespace {

bool AreAll(const at::Tensor& rows, const at::Tensor& row) {
  for (std::int64_t i = 0; i < rows.size(0); ++i) {
    if (!rows[i].equal(row)) return false;
  }
  return true;
}

}  // namespace

Company::Company(KnownCompany& known, std::size_t most, Compute compute)
    : known_(known), most_(most), compute_(std::move(compute)) {
  if (known_.looked_at) return;
  const CompanySample& full = OfMost();
  known_.alone = !AreAll(full.layer, full.layer[0]);
  known_.top_alone = full.top.defined() && !AreAll(full.top, full.top[0]);
  known_.looked_at = true;
}

const CompanySample& Company::OfMost() {
  if (!of_most_) of_most_ = compute_(most_);
  return *of_most_;
}

bool Company::HasBitsOfMost(std::size_t size) {
  if (size == most_) return true;
  const auto [found, is_new] = known_.has_bits_of_most.try_emplace(size);
  if (!is_new) return found->second;
  const CompanySample less = compute_(size);
  const CompanySample& full = OfMost();
  const bool reads_top = less.top.defined() && !known_.top_alone;
  found->second = AreAll(less.layer, full.layer[0]) &&
                  (!reads_top || AreAll(less.top, full.top[0]));
  return found->second;
}

std::size_t Company::SizeFor(std::size_t texts) {
  if (known_.alone) return 1;
  std::vector<std::size_t> sizes;
  for (std::size_t size = most_; size > 0; size /= 2) sizes.push_back(size);
  const auto filled = std::ranges::find_if(
      sizes, [&](std::size_t size) { return size <= texts; });
  const auto has = [this](std::size_t size) { return HasBitsOfMost(size); };
  const auto largest = std::find_if(filled, sizes.end(), has);
  if (largest != sizes.end()) return *largest;
  return *std::find_if(std::reverse_iterator(filled), sizes.rend(), has);
}

}  // namespace frostline::trainer
