// SPDX-License-Identifier: Apache-2.0
//
// File: boundaries.h
//
// What a trial reads instead of running its frozen layers: the boundary of each
// text. It comes from the device if it stays there, else from the node's store
// or from main memory, else it is computed again. All of these give the same
// bits (boundary_maker.h).
#ifndef FROSTLINE_WORKER_TRAINER_PREFIX_BOUNDARIES_H_
#define FROSTLINE_WORKER_TRAINER_PREFIX_BOUNDARIES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/data/token_store.h"
#include "worker/trainer/model/torch.h"
#include "worker/trainer/prefix/boundary_maker.h"
#include "worker/trainer/prefix/prefix_store.h"

namespace frostline::trainer {

// Boundaries that stay on the model's device. A batch of them is gathered
// there, and not read, copied and sent again in each epoch and trial. The rows
// of a group (prefix_store.h) lie unpadded, one after the other, in one tensor
// [T, H]. Its first row is zeros. A batch is one selection:
//
//   place(i, j) = begin(i) + j, or 0 behind the end of text i
//   batch = rows[place]                 [B * N, H], seen as [B, N, H]
//
//   texts of 2 and 1 tokens, N = 2: places 1 2 | 3 0
//
// Numbers are copied and never computed, so a batch has the bits that the store
// would have given. On a processor they are where the store's pages are.

// One row of a batch: its key and length.
struct ResidentRow {
  RowKey key;
  std::int64_t tokens = 0;  // of its boundary
};

// The boundaries that stay on the device. One thread uses it. It throws what
// LibTorch throws, and then still holds what it held before.
class ResidentRows {
 public:
  // Holds at most `most_bytes`, including the second copy of a group while it
  // grows.
  ResidentRows(at::Device device, std::uint64_t most_bytes)
      : device_(device), most_bytes_(most_bytes) {}

  bool Has(const std::string& group, const RowKey& key) const;

  // Returns a batch, [B, `width`, H], on the device. Rows that it does not have
  // are zeros. REQUIRES: it has one of the rows.
  at::Tensor Gather(const std::string& group, std::span<const ResidentRow> rows,
                    std::int64_t width);

  // Copies the rows of `boundary`, [B, N, H], that it does not have, as far as
  // there is room. To make room it drops the groups that were not used for
  // longest.
  void Keep(const std::string& group, std::span<const ResidentRow> rows,
            const at::Tensor& boundary);

  // Drops everything, for when memory is short or the weights have gone.
  void Clear();

  std::uint64_t bytes() const;
  std::int64_t gathered() const { return gathered_; }  // rows so far

 private:
  struct Group {
    at::Tensor rows;        // [capacity, H]
    std::int64_t used = 1;  // the first is zeros
    std::int64_t last_use = 0;
    std::unordered_map<RowKey, std::int64_t, RowKeyHash> begins;
  };

  // Makes the group hold `wanted` rows in all, if there is room, of numbers as
  // those of `like`, [B, N, H].
  void Grow(Group& group, const std::string& name, std::int64_t wanted,
            const at::Tensor& like);
  // Drops groups other than `but` until `bytes` more fit. Returns false, and
  // drops none, if they cannot.
  bool MakeRoom(const std::string& but, std::uint64_t bytes);

  at::Device device_;
  std::uint64_t most_bytes_;
  std::int64_t uses_ = 0;
  std::int64_t gathered_ = 0;
  std::unordered_map<std::string, Group> groups_;
};

// How much work the store saved a trial.
struct PrefixCounts {
  std::int64_t hits = 0;    // rows taken that had been computed before
  std::int64_t misses = 0;  // rows computed
  std::int64_t bytes = 0;   // put into the store

  PrefixCounts& operator+=(const PrefixCounts& more) {
    hits += more.hits;
    misses += more.misses;
    bytes += more.bytes;
    return *this;
  }
};

// The name of a group, for programs and for people.
struct GroupName {
  std::string key;    // boundary_maker.h
  std::string about;  // for people
};

// A group of boundaries after fewer blocks.
struct LowerGroup {
  std::int64_t blocks = 0;
  GroupName group;
};

// The boundary that is wanted, and what may help to compute it.
struct BoundarySpec {
  std::int64_t blocks = 0;  // frozen
  GroupName group;
  // Groups after fewer blocks, the deepest first. A row that they have is
  // computed from there.
  std::vector<LowerGroup> lower;
  std::optional<RowNoise> noise;  // if set, with the dropout of one epoch
  // What is known about models of the same shapes. It outlives the boundaries,
  // and may be null.
  SizesByLength* known = nullptr;
  // Rows that stay on the device. They outlive the boundaries, and may be null.
  ResidentRows* resident = nullptr;
};

// A count of texts of one length that were computed from what `from` blocks
// gave, and of the batches that they took.
struct ComputedTexts {
  std::int64_t from = 0;
  std::size_t tokens = 0;
  std::int64_t texts = 0;
  std::int64_t batches = 0;
};

// What the work on boundaries needs from its trial: a clock, stops, and where
// to report.
struct PrefixWork {
  std::function<double()> seconds;  // of a steady clock
  StopSign stop;
  // Hears now and then how many of all rows are there.
  std::function<void(std::size_t done, std::size_t all)> told;
  std::function<void(const std::string&)> log;
};

// The boundaries that one trial reads. One thread uses it. The model and the
// store outlive it.
class Boundaries {
 public:
  // `store` may be null. Trouble with it goes to `work.log`, and costs time but
  // not the trial.
  Boundaries(const Model& model, Precision precision, const PrefixStore* store,
             const BoundarySpec& wanted, PrefixWork work);
  ~Boundaries();  // notes what the store's rows were worth
  Boundaries(const Boundaries&) = delete;
  Boundaries& operator=(const Boundaries&) = delete;

  // Makes sure that all rows are stored: computes those that are missing, or
  // waits for another process that does. Returns kStopped, or LibTorch's fault.
  // Rows that could not be stored are computed when they are asked for.
  Expected<Done> Prepare(const TokenStore& tokens);

  // Computes the rows of the next batches that are not stored, as many as main
  // memory may hold. Drops those that it held.
  Expected<Done> Foresee(const TokenStore& tokens,
                         std::span<const std::uint32_t> next);
  bool Has(const TokenStore& tokens, std::span<const std::uint32_t> rows) const;

  // Returns a batch, [B, `width`, H] with 0 after a text's end, or [B, 1, H],
  // of numbers as they are kept (KindOfBoundary).
  // It is on the model's device if rows stay there, else in main memory.
  Expected<at::Tensor> Of(const TokenStore& tokens,
                          std::span<const std::uint32_t> rows,
                          std::int64_t width);

  const PrefixCounts& counts() const { return counts_; }
  // Returns what was computed since the last call.
  std::vector<ComputedTexts> TakeComputed();

 private:
  using Rows = std::vector<std::uint32_t>;
  using RowsByLength = std::map<std::size_t, Rows>;

  // Like Of, but in main memory and without rows that stay on the device.
  Expected<at::Tensor> FromHost(const TokenStore& tokens,
                                std::span<const std::uint32_t> rows,
                                std::int64_t width);
  // Keeps the rows on the device, unless its memory is short.
  void Reside(std::span<const ResidentRow> lacking, const at::Tensor& boundary);
  // Returns the key of the text, or of the text and whoever draws its noise.
  RowKey KeyOf(const TokenStore& tokens, std::uint32_t row) const;
  bool IsThere(const RowKey& key) const;  // stored, or on the device
  bool Find(const RowKey& key, std::span<std::byte> into);
  // Returns the rows that are not stored, each text once however often it
  // occurs.
  RowsByLength Lacking(const TokenStore& tokens) const;
  Expected<Done> Fill(const TokenStore& tokens, GroupFiller& filler);
  // Waits for rows of another process. Returns false if none has come for a
  // long time.
  Expected<bool> AwaitOther(const TokenStore& tokens);
  using Take = std::function<Expected<Done>(
      std::uint32_t row, std::span<const std::byte> boundary)>;
  Expected<Done> Compute(const TokenStore& tokens, const RowsByLength& rows,
                         const Take& take);
  // Like Compute, but obeys stops and tells how far it is.
  Expected<Done> ComputeMany(const TokenStore& tokens, const RowsByLength& rows,
                             const Take& take);
  // Computes the rows that lower groups have, and returns those that none has.
  Expected<Rows> GoOnFromLower(const TokenStore& tokens, Rows rows,
                               const BoundaryMaker::Take& take);
  void Hold(const RowKey& key, std::span<const std::byte> row);
  void GoOnWithout(const Fault& fault);

  BoundaryMaker maker_;
  const PrefixStore* store_;
  PrefixWork work_;
  const bool noisy_;
  const std::string key_;  // the group's
  ResidentRows* resident_;
  const at::Device device_;
  std::optional<PrefixGroup> group_;
  std::vector<std::pair<std::int64_t, PrefixGroup>> lower_;
  std::set<const TokenStore*> prepared_;
  std::unordered_map<RowKey, std::vector<std::byte>, RowKeyHash> held_;
  std::size_t held_bytes_ = 0;
  PrefixCounts counts_;
  GroupWorth worth_;
  std::map<std::pair<std::int64_t, std::size_t>, ComputedTexts> computed_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_PREFIX_BOUNDARIES_H_
