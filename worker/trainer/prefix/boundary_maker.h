// SPDX-License-Identifier: Apache-2.0
//
// File: boundary_maker.h
//
// Computes what the leading blocks give for a text, with bits that depend on
// that text alone, whatever it is asked together with, and from whichever lower
// boundary. Texts of one length go through the model without padding, in
// batches of a few sizes that give a text the same bits. The
// largest of them is
//
//   B = max(1, min(64, kTokens * threads / N))     N = 20, one thread: B = 12
//
// All layers are of the same shapes, but the top one where it gives one token:
// it is looked at apart.
#ifndef FROSTLINE_WORKER_TRAINER_PREFIX_BOUNDARY_MAKER_H_
#define FROSTLINE_WORKER_TRAINER_PREFIX_BOUNDARY_MAKER_H_

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/data/token_store.h"
#include "worker/trainer/device/device.h"
#include "worker/trainer/device/precision.h"
#include "worker/trainer/model/model.h"
#include "worker/trainer/model/torch.h"

namespace frostline::trainer {

// Rows are shared where the same bits would be computed again: the same weights
// and configuration, the same blocks, the same arithmetic on the same kind of
// processor. Whatever could change a bit is part of the key.

struct GroupParts {
  std::string weights_sha256;  // of the model's files
  std::string config_json;
  std::string adapters;      // of frozen layers; they change no number but -0
  std::int64_t blocks = 0;   // 1 the embeddings, 1 + k also k layers
  bool first_token = false;  // the last of them gives no more
  Precision precision = Precision::kFp32;
  // Epochs whose noise is part of the rows are apart; "" has none.
  std::string noise;
};

// The LibTorch, the processor or GPU, its kernels and the number of threads.
std::string KernelFingerprint(const Device& device);

// 64 hexadecimal digits.
std::string GroupKeyOf(const GroupParts& parts, const std::string& kernels);

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

// What a batch gives that has one text in all its places.
struct SizeSample {
  at::Tensor layer;  // behind a layer: [B, N, H]
  at::Tensor top;    // behind the top one, if it gives one token: [B, 1, H]
};

// What is known about the batch sizes for texts of one length.
struct KnownSizes {
  bool looked_at = false;
  bool alone = false;                            // B's places differ
  bool top_alone = false;                        // behind the top layer they do
  std::map<std::size_t, bool> has_bits_of_most;  // by size
};

// By tokens of a text.
using SizesByLength = std::map<std::size_t, KnownSizes>;

// By what decides: shapes, precision, kernels.
using SizeBook = std::map<std::string, SizesByLength>;

// Chooses batch sizes for texts of one length. One thread uses it. `known`
// outlives it.
class BatchSizes {
 public:
  using Compute = std::function<SizeSample(std::size_t size)>;

  BatchSizes(KnownSizes& known, std::size_t most, Compute compute);

  // For so many texts, at least one: the largest that they fill; where there is
  // none, the smallest.
  std::size_t SizeFor(std::size_t texts);
  bool top_alone() const { return known_.top_alone; }

 private:
  const SizeSample& OfMost();
  bool HasBitsOfMost(std::size_t size);

  KnownSizes& known_;
  const std::size_t most_;
  const Compute compute_;
  std::optional<SizeSample> of_most_;
};

// Which noise the rows of a token store have in an epoch. Each row's is its
// text's, so that trials of one seed see the same; a text that occurs twice has
// two.

struct RowNoise {
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
};

// What Batch::noise wants, [B]. Throws what LibTorch throws.
at::Tensor NoiseOfRows(const TokenStore& tokens,
                       std::span<const std::uint32_t> rows,
                       const RowNoise& noise);

// Computes boundaries of the rows of a token store. One thread uses it. The
// model outlives it, and its first `blocks` do not change.
class BoundaryMaker {
 public:
  struct Origin {
    std::int64_t from = 0;     // what so many blocks gave, 0: the text
    bool opens_batch = false;  // the first of those computed together
  };
  // `row` is one of those that were asked for.
  using Take = std::function<Expected<Done>(std::uint32_t row,
                                            std::span<const float> boundary,
                                            const Origin& origin)>;
  // Boundaries after fewer blocks, of all tokens, from which to go on. A row
  // that cannot be read is computed from its text.
  struct Lower {
    std::int64_t blocks = 0;
    std::function<bool(std::uint32_t row, std::span<float> into)> read;
  };

  // `blocks` is at least 1: the embeddings; 1 + k has k layers, too. With
  // `noise` they drop, as in training. `known`, which may be null and else
  // outlives it, is what others of the same shapes saw.
  BoundaryMaker(const Model& model, std::int64_t blocks, Precision precision,
                const std::optional<RowNoise>& noise = {},
                SizesByLength* known = nullptr);
  BoundaryMaker(const BoundaryMaker&) = delete;
  BoundaryMaker& operator=(const BoundaryMaker&) = delete;

  // A boundary's tokens, of a text of so many: 1 where no more is read.
  std::int64_t TokensKept(std::size_t tokens) const;
  // A boundary's numbers.
  std::size_t NumbersOf(std::size_t tokens) const;

  // `rows` have one length and are given to `take` one after the other.
  // `lower` may be null. Returns its fault, or LibTorch's.
  Expected<Done> Make(const TokenStore& tokens,
                      std::span<const std::uint32_t> rows, const Lower* lower,
                      const Take& take);

  // Texts that go through the model at once.
  std::size_t MostTextsOf(std::size_t tokens) const;

 private:
  using Rows = std::span<const std::uint32_t>;

  Batch BatchOf(const TokenStore& tokens, Rows rows, std::size_t sizes,
                const at::Tensor& start) const;
  // `start` is undefined, or behind `from` blocks.
  at::Tensor Run(const TokenStore& tokens, Rows rows, std::size_t sizes,
                 bool top_alone, const at::Tensor& start,
                 std::int64_t from) const;
  at::Tensor RunTop(const at::Tensor& hidden, const Batch& batch,
                    bool alone) const;
  SizeSample SampleOf(const TokenStore& tokens, std::uint32_t row,
                      std::size_t sizes) const;
  // Those of `rows` that could be read, behind each other in `start`, which
  // zeros fill up. The others go to `unread`.
  std::vector<std::uint32_t> Start(const TokenStore& tokens, Rows rows,
                                   const Lower& lower, std::size_t sizes,
                                   at::Tensor& start,
                                   std::vector<std::uint32_t>& unread) const;

  const Model& model_;
  const std::int64_t blocks_;
  const Precision precision_;
  const std::optional<RowNoise> noise_;
  const bool first_token_;
  SizesByLength own_;
  SizesByLength& known_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_PREFIX_BOUNDARY_MAKER_H_
