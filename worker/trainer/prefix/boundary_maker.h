// SPDX-License-Identifier: Apache-2.0
//
// File: boundary_maker.h
//
// Computes what the leading blocks give for a text, with bits that depend on
// that text alone, whatever it is asked together with. Texts of one length go
// through the model in batches of a fixed shape, [B, N] with B from N:
//
//   B = max(1, min(64, kTokens / N))     N = 20 on a processor: B = 25
//
// without padding; a batch that is not full repeats its last text. Kernels of a
// shape may still compute a row in another order by its place in the batch:
// once for each N all places get the same text, and if their bits differ, texts
// of that length are computed one by one.
#ifndef FROSTLINE_WORKER_TRAINER_PREFIX_BOUNDARY_MAKER_H_
#define FROSTLINE_WORKER_TRAINER_PREFIX_BOUNDARY_MAKER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>

#include "base/plain/result.h"
#include "worker/trainer/data/token_store.h"
#include "worker/trainer/device/precision.h"
#include "worker/trainer/model/model.h"

namespace frostline::trainer {

// One thread uses it. The model outlives it, and its first `blocks` do not
// change.
class BoundaryMaker {
 public:
  // `row` is one of those that were asked for.
  using Take = std::function<Expected<Done>(std::uint32_t row,
                                            std::span<const float> boundary)>;

  // `blocks` is at least 1: the embeddings; 1 + k has k layers, too.
  BoundaryMaker(const Model& model, std::int64_t blocks, Precision precision);

  // A boundary's tokens, of a text of so many: 1 where no more is read.
  std::int64_t TokensKept(std::size_t tokens) const;
  // A boundary's numbers.
  std::size_t NumbersOf(std::size_t tokens) const;

  // `rows` have one length and are given to `take` in this order. Returns its
  // fault, or LibTorch's.
  Expected<Done> Make(const TokenStore& tokens,
                      std::span<const std::uint32_t> rows, const Take& take);

  // Texts that go through the model at once.
  std::size_t CompanyOf(std::size_t tokens) const;

 private:
  at::Tensor Run(const TokenStore& tokens, std::span<const std::uint32_t> rows,
                 std::size_t company) const;
  std::size_t SafeCompany(const TokenStore& tokens, std::uint32_t row);

  const Model& model_;
  const std::int64_t blocks_;
  const Precision precision_;
  const bool first_token_;
  std::map<std::size_t, std::size_t> company_;  // by tokens, once known
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_PREFIX_BOUNDARY_MAKER_H_
