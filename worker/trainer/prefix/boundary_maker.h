// SPDX-License-Identifier: Apache-2.0
//
// File: boundary_maker.h
//
// Computes what the leading blocks give for a text. The bits depend on that
// text alone, not on the texts beside it nor on the lower boundary from which
// it starts. Texts of one length go through the model without padding, in
// batches of a few sizes that give a text the same bits. The largest size is
//
//   B = max(1, min(64, kTokens * threads / N))     N = 20, one thread: B = 12
//
// All layers have the same shapes, except a top layer that gives one token; it
// is checked on its own.
//
// In bf16 each block's result is rounded to bf16, and kept so: in transformers'
// bf16 the sums along the layers are of that kind, too. Every trial of a depth
// reads the rounded numbers, whether it computes them or finds them.
#ifndef FROSTLINE_WORKER_TRAINER_PREFIX_BOUNDARY_MAKER_H_
#define FROSTLINE_WORKER_TRAINER_PREFIX_BOUNDARY_MAKER_H_

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

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

// What the key of a group is made of. Rows are shared only if the same bits
// would be computed again: with the same weights and configuration, the same
// blocks, and the same arithmetic on the same kind of processor. Whatever could
// change a bit is part of the key.
struct GroupParts {
  std::string weights_sha256;  // of the model's files
  std::string config_json;
  std::string adapters;      // of frozen layers; they change no number but -0
  std::int64_t blocks = 0;   // 1 the embeddings, 1 + k also k layers
  bool first_token = false;  // the last of them gives no more
  Precision precision = Precision::kFp32;
  // The noise, if rows have dropout, so that each epoch has its own group; else
  // "".
  std::string noise;
};

// Returns the kind of the numbers of a boundary that is kept.
at::ScalarType KindOfBoundary(Precision precision);

// Returns a text that names LibTorch, the processor or GPU, its kernels and the
// number of threads.
std::string KernelFingerprint(const Device& device);

// Returns the group's key, 64 hexadecimal digits.
std::string GroupKeyOf(const GroupParts& parts, const std::string& kernels);

// How many texts of one length go through the model at once, so that each gets
// the bits that it has in the largest batch, B. The rest takes halves of B:
//
//   sizes B, B / 2, B / 4 ... 1      B = 12: 40 texts are 3 x 12, 3 and 1
//
// Kernels may compute a row in another order at another place in the batch, or
// in a batch of another size. So each size is checked when it is first wanted:
// all its places get the same text, and its bits must be those of B. If B's own
// places differ, texts are computed one by one. This depends on the shapes of a
// model and on kernels, not on weights, so a trainer checks once for all its
// trials.

// The output of a batch that has the same text in all its places.
struct SizeSample {
  at::Tensor layer;  // after a layer: [B, N, H]
  at::Tensor top;    // after the top one, if it gives one token: [B, 1, H]
};

// What is known about the batch sizes for texts of one length.
struct KnownSizes {
  bool looked_at = false;
  bool alone = false;                            // B's places differ
  bool top_alone = false;                        // they do after the top layer
  std::map<std::size_t, bool> has_bits_of_most;  // by size
};

// What is known for each length, by tokens of a text.
using SizesByLength = std::map<std::size_t, KnownSizes>;

// What is known for each model, by what decides: shapes, precision, kernels.
using SizeBook = std::map<std::string, SizesByLength>;

// A chooser of batch sizes for texts of one length. One thread uses it. `known`
// outlives it.
class BatchSizes {
 public:
  using Compute = std::function<SizeSample(std::size_t size)>;

  BatchSizes(KnownSizes& known, std::size_t most, Compute compute);

  // Returns the size of the next batch when `texts` are left, at least one: the
  // largest size that they fill, or the smallest if they fill none.
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

// The noise that rows of a token store have in an epoch. It depends on the
// row's text, so that trials of one seed see the same. A text that occurs twice
// has two noises.

struct RowNoise {
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
};

// Returns the rows' noise for Batch::noise, [B]. Throws what LibTorch throws.
at::Tensor NoiseOfRows(const TokenStore& tokens,
                       std::span<const std::uint32_t> rows,
                       const RowNoise& noise);

// A maker of boundaries for the rows of a token store. One thread uses it. The
// model outlives it, and its first `blocks` do not change.
class BoundaryMaker {
 public:
  struct Origin {
    std::int64_t from = 0;     // blocks it started after; 0: from the text
    bool opens_batch = false;  // the first of its batch
  };
  // Receives the boundary of one of the rows that were asked for.
  using Take = std::function<Expected<Done>(std::uint32_t row,
                                            std::span<const std::byte> boundary,
                                            const Origin& origin)>;
  // Boundaries of all tokens after fewer blocks, from which to go on. A row
  // that cannot be read is computed from its text.
  struct Lower {
    std::int64_t blocks = 0;
    std::function<bool(std::uint32_t row, std::span<std::byte> into)> read;
  };

  // `blocks` is 1 for the embeddings, or 1 + k for k layers more. With `noise`
  // they have dropout, as in training. `known` is what is known about models of
  // the same shapes. It may be null, and outlives this.
  BoundaryMaker(const Model& model, std::int64_t blocks, Precision precision,
                const std::optional<RowNoise>& noise = {},
                SizesByLength* known = nullptr);
  BoundaryMaker(const BoundaryMaker&) = delete;
  BoundaryMaker& operator=(const BoundaryMaker&) = delete;

  // Returns how many tokens the boundary of a text has: 1 if no more is read,
  // else all.
  std::int64_t TokensKept(std::size_t tokens) const;
  // Returns how many bytes the boundary of a text has.
  std::size_t BytesOf(std::size_t tokens) const;
  at::ScalarType kind() const { return KindOfBoundary(precision_); }
  std::int64_t hidden() const { return model_.config().hidden; }

  // Computes the boundaries of `rows`, which have one length, and gives them to
  // `take` one after the other. `lower` may be null. Returns a fault of `take`
  // or of LibTorch.
  Expected<Done> Make(const TokenStore& tokens,
                      std::span<const std::uint32_t> rows, const Lower* lower,
                      const Take& take);

  // Returns how many texts of this length may go through the model at once.
  std::size_t MostTextsOf(std::size_t tokens) const;

 private:
  using Rows = std::span<const std::uint32_t>;

  Batch BatchOf(const TokenStore& tokens, Rows rows, std::size_t sizes,
                const at::Tensor& start) const;
  // Runs blocks, and rounds after each of them to what is kept.
  at::Tensor RunRounded(const at::Tensor& start, const Batch& batch,
                        const Pass& pass, std::int64_t from,
                        std::int64_t to) const;
  // `start` is undefined, or what `from` blocks gave.
  at::Tensor Run(const TokenStore& tokens, Rows rows, std::size_t sizes,
                 bool top_alone, const at::Tensor& start,
                 std::int64_t from) const;
  at::Tensor RunTop(const at::Tensor& hidden, const Batch& batch,
                    bool alone) const;
  SizeSample SampleOf(const TokenStore& tokens, std::uint32_t row,
                      std::size_t sizes) const;
  // Reads lower boundaries into `start`, one after the other, with zeros at the
  // end. Returns the rows that could be read; the others go to `unread`.
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
