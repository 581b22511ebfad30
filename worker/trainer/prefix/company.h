// SPDX-License-Identifier: Apache-2.0
//
// File: company.h
//
// How many texts of one length go through the model at once, so that each gets
// the bits that it has in the largest batch, B. What is left over takes halves:
//
//   sizes B, B / 2, B / 4 ... 1      B = 12: 40 texts are 3 x 12, 3 and 1
//
// Kernels may compute a row in another order by its place in the batch, or by
// the batch's size. So a size is looked at when it is first wanted: all its
// places get one text, whose bits must be those of B. Where B's own places
// differ, texts are computed one by one. That depends on the shapes of a model
// and its kernels, not on weights: a trainer looks once for all its trials.
#ifndef FROSTLINE_WORKER_TRAINER_PREFIX_COMPANY_H_
#define FROSTLINE_WORKER_TRAINER_PREFIX_COMPANY_H_

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace frostline::trainer {

// One text in all places of a batch.
struct CompanySample {
  at::Tensor layer;  // behind a layer: [B, N, H]
  at::Tensor top;    // behind the top one, if it gives one token: [B, 1, H]
};

// What was seen of texts of one length.
struct KnownCompany {
  bool looked_at = false;
  bool alone = false;                            // B's places differ
  bool top_alone = false;                        // behind the top layer they do
  std::map<std::size_t, bool> has_bits_of_most;  // by size
};

// By tokens of a text.
using KnownCompanies = std::map<std::size_t, KnownCompany>;

// By what decides: shapes, precision, kernels.
using CompanyBook = std::map<std::string, KnownCompanies>;

// One thread uses it, for texts of one length. `known` outlives it.
class Company {
 public:
  using Compute = std::function<CompanySample(std::size_t size)>;

  Company(KnownCompany& known, std::size_t most, Compute compute);

  // For so many texts, at least one: the largest that they fill; where there is
  // none, the smallest.
  std::size_t SizeFor(std::size_t texts);
  bool top_alone() const { return known_.top_alone; }

 private:
  const CompanySample& OfMost();
  bool HasBitsOfMost(std::size_t size);

  KnownCompany& known_;
  const std::size_t most_;
  const Compute compute_;
  std::optional<CompanySample> of_most_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_PREFIX_COMPANY_H_
