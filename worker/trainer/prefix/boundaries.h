// SPDX-License-Identifier: Apache-2.0
//
// File: boundaries.h
//
// What a trial takes in the place of its frozen prefix: the boundary of each
// text, from the device itself where it stays there, from the node's store
// where there is one, else held in main memory, else computed again. All of
// them give the same bits (boundary_maker.h).
#ifndef FROSTLINE_WORKER_TRAINER_PREFIX_BOUNDARIES_H_
#define FROSTLINE_WORKER_TRAINER_PREFIX_BOUNDARIES_H_

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

// Boundaries that stay on the device of the model, so that a batch of them is
// gathered there and not read, copied and sent again in each epoch and trial.
// The rows of a group (prefix_store.h) lie unpadded behind each other in one
// tensor [T, H], whose first is zeros; a batch is one selection:
//
//   place(i, j) = begin(i) + j, or 0 behind the end of text i
//   batch = rows[place]                 [B * N, H], seen as [B, N, H]
//
//   texts of 2 and 1 tokens, N = 2: places 1 2 | 3 0
//
// Numbers are copied and never computed, so that a batch has the bits that the
// store would have given. On a processor they are where the store's pages are.

struct ResidentRow {
  RowKey key;
  std::int64_t tokens = 0;  // of its boundary
};

// The boundaries that stay on the device. One thread uses it. Where it throws
// what LibTorch throws, it still holds what it held before.
class ResidentRows {
 public:
  // Holds at most so many bytes, those included that a group takes twice while
  // it grows.
  ResidentRows(at::Device device, std::uint64_t most_bytes)
      : device_(device), most_bytes_(most_bytes) {}

  bool Has(const std::string& group, const RowKey& key) const;

  // [B, `width`, H] on the device. Rows that it does not have are zeros.
  // REQUIRES: it has one of them.
  at::Tensor Gather(const std::string& group, std::span<const ResidentRow> rows,
                    std::int64_t width);

  // Takes up those of `boundary`, [B, N, H], that it does not have, as far as
  // there is room. Groups that were not used for longest make it.
  void Keep(const std::string& group, std::span<const ResidentRow> rows,
            const at::Tensor& boundary);

  // Memory is short, or the weights have gone.
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

  // Makes it hold so many rows in all, where there is room.
  void Grow(Group& group, const std::string& name, std::int64_t wanted,
            std::int64_t hidden);
  // Drops others until so many bytes more are free.
  bool MakeRoom(const std::string& but, std::uint64_t bytes);

  at::Device device_;
  std::uint64_t most_bytes_;
  std::int64_t uses_ = 0;
  std::int64_t gathered_ = 0;
  std::unordered_map<std::string, Group> groups_;
};

struct PrefixCounts {
  std::int64_t hits = 0;    // rows taken that had been computed before
  std::int64_t misses = 0;  // rows computed
  std::int64_t bytes = 0;   // that it put into the store

  PrefixCounts& operator+=(const PrefixCounts& more) {
    hits += more.hits;
    misses += more.misses;
    bytes += more.bytes;
    return *this;
  }
};

struct GroupName {
  std::string key;    // boundary_maker.h
  std::string about;  // for people
};

struct LowerGroup {
  std::int64_t blocks = 0;
  GroupName group;
};

// Says which boundary is wanted, and what may help to compute it.
struct BoundarySpec {
  std::int64_t blocks = 0;  // frozen
  GroupName group;
  // What fewer blocks gave, the deepest first: it is gone on from where it is
  // stored.
  std::vector<LowerGroup> lower;
  std::optional<RowNoise> noise;  // they drop, in one epoch
  // What others of the same shapes saw, which outlives it. May be null.
  SizesByLength* known = nullptr;
  // Rows that stay on the device, which outlive it. May be null.
  ResidentRows* resident = nullptr;
};

// A count of texts that were computed, from what `from` blocks gave, and of the
// batches that they took.
struct ComputedTexts {
  std::int64_t from = 0;
  std::size_t tokens = 0;
  std::int64_t texts = 0;
  std::int64_t batches = 0;
};

struct PrefixWork {
  std::function<double()> seconds;  // of a steady clock
  StopSign stop;
  // Hears how many rows of how many are there, now and then.
  std::function<void(std::size_t done, std::size_t all)> told;
  std::function<void(const std::string&)> log;
};

// The boundaries that one trial reads. One thread uses it. The model and the
// store outlive it.
class Boundaries {
 public:
  // `store` may be null. Trouble with it is told to `work.log`, and costs time,
  // not the trial.
  Boundaries(const Model& model, Precision precision, const PrefixStore* store,
             const BoundarySpec& wanted, PrefixWork work);
  ~Boundaries();  // notes what the store's rows were worth
  Boundaries(const Boundaries&) = delete;
  Boundaries& operator=(const Boundaries&) = delete;

  // Sees to it that all rows are stored: computes those that lack, or waits for
  // another process that does. Returns kStopped, or what LibTorch says. Rows
  // that could not be stored are computed when they are asked for.
  Expected<Done> Prepare(const TokenStore& tokens);

  // Where rows of the next batches are not stored: computes as many as main
  // memory may hold, and drops those that it held.
  Expected<Done> Foresee(const TokenStore& tokens,
                         std::span<const std::uint32_t> next);
  bool Has(const TokenStore& tokens, std::span<const std::uint32_t> rows) const;

  // [B, `width`, H], 0 behind a text's end, or [B, 1, H]: on the model's device
  // where rows stay there, else in main memory.
  Expected<at::Tensor> Of(const TokenStore& tokens,
                          std::span<const std::uint32_t> rows,
                          std::int64_t width);

  const PrefixCounts& counts() const { return counts_; }
  // Since the last call.
  std::vector<ComputedTexts> TakeComputed();

 private:
  using Rows = std::vector<std::uint32_t>;
  using RowsByLength = std::map<std::size_t, Rows>;

  // As Of, without rows that stay on the device: in main memory.
  Expected<at::Tensor> FromHost(const TokenStore& tokens,
                                std::span<const std::uint32_t> rows,
                                std::int64_t width);
  // From here on they stay on the device, unless its memory is short.
  void Reside(std::span<const ResidentRow> lacking, const at::Tensor& boundary);
  // Returns the key of the text, or of the text and whoever draws its noise.
  RowKey KeyOf(const TokenStore& tokens, std::uint32_t row) const;
  bool IsThere(const RowKey& key) const;  // stored, or on the device
  bool Find(const RowKey& key, std::span<float> into);
  // Each text once, however often it occurs.
  RowsByLength Lacking(const TokenStore& tokens) const;
  Expected<Done> Fill(const TokenStore& tokens, GroupFiller& filler);
  // False: nothing has come for long.
  Expected<bool> AwaitOther(const TokenStore& tokens);
  using Take = std::function<Expected<Done>(std::uint32_t row,
                                            std::span<const float> boundary)>;
  Expected<Done> Compute(const TokenStore& tokens, const RowsByLength& rows,
                         const Take& take);
  // As Compute, of many: hears stops, tells how far it is.
  Expected<Done> ComputeMany(const TokenStore& tokens, const RowsByLength& rows,
                             const Take& take);
  // Those of `rows` that lack below, too.
  Expected<Rows> GoOnFromLower(const TokenStore& tokens, Rows rows,
                               const BoundaryMaker::Take& take);
  void Hold(const RowKey& key, std::span<const float> row);
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
  std::unordered_map<RowKey, std::vector<float>, RowKeyHash> held_;
  std::size_t held_bytes_ = 0;
  PrefixCounts counts_;
  GroupWorth worth_;
  std::map<std::pair<std::int64_t, std::size_t>, ComputedTexts> computed_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_PREFIX_BOUNDARIES_H_
