// SPDX-License-Identifier: Apache-2.0
//
// File: stock.h
//
// Says which models and data sets of a registry a trainer could open now: an
// entry counts while every file that a trial needs of it is there, below the
// registry's folder, may be read and has the sum that the registry says.
#ifndef FROSTLINE_WORKER_AGENT_NODE_STOCK_H_
#define FROSTLINE_WORKER_AGENT_NODE_STOCK_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "frostline/v1/worker.pb.h"
#include "worker/registry/registry.h"

namespace frostline::agent {

struct StockLook {
  v1::Stock stock;
  int generation = 0;  // of the registry's files
};

// Reads the registry's files anew if told so.
using LookAtStock = std::function<StockLook(bool anew)>;

// Reads the stock of one registry. One thread at a time may use it.
class StockReader {
 public:
  // `registry` is a folder.
  // So many bytes are read for sums in one look, or one file; the rest waits
  // for the next, and its entries do not count before.
  explicit StockReader(std::string registry,
                       std::uint64_t most_bytes = std::uint64_t{1} << 30);

  // Looks at every file that is named. A registry file is read again when it is
  // another one than before, or `anew`; one that is absent or malformed
  // declares nothing, and is logged with its line. The first 1,024 models and
  // data sets count.
  // Where a disk does not say whether a file is there, the last answer for its
  // entry counts; at first it is there.
  v1::Stock Read(bool anew);

  // Counts the registry files that were read.
  int reads() const { return reads_; }
  // Counts the files whose sums were computed.
  int sums() const { return sums_.computed(); }

  // Differs once a registry file was read that says something else: a trainer
  // started before has read the old one, and reads it once.
  int generation() const { return generation_; }

 private:
  struct RegistryFile {
    std::string file;
    std::string stamp;  // of the file when it was read
    std::string text;
    std::vector<registry::StockEntry> entries;
    std::map<std::string, bool> answers;  // of the last look, by id
  };
  using Items = google::protobuf::RepeatedPtrField<v1::StockItem>;

  void Refresh(bool anew, RegistryFile& file_read);
  void List(RegistryFile& file_read, Items* items, std::string* lacking);

  const std::string registry_;
  const std::uint64_t most_bytes_;
  registry::KnownSums sums_;
  RegistryFile models_{"models.yaml", "", "", {}, {}};
  RegistryFile data_sets_{"datasets.yaml", "", "", {}, {}};
  std::string lacking_;  // as it was logged last
  int reads_ = 0;
  int generation_ = 0;
};

// The stock has the model and the data sets that `spec` names, those of
// `also_evaluate` too.
bool HasStockFor(const v1::Stock& stock, const v1::TrialSpec& spec);

// Looks at the registry again and again, on a thread of its own: a disk that
// does not answer may hold that thread for ever, and nobody else. It is
// thread-safe.
class StockWatch {
 public:
  // It looks at once, and every `interval`. The thread calls `look`, which may
  // refer to nothing that ends before the process; and `looked` after each
  // look, under a lock, until the watch is destroyed.
  StockWatch(LookAtStock look, Duration interval, std::function<void()> looked);
  // Waits 2 s at most for a look under way, then leaves the thread to itself.
  ~StockWatch();
  StockWatch(const StockWatch&) = delete;
  StockWatch& operator=(const StockWatch&) = delete;

  // Wants a look that begins now, and reads the registry's files anew. The
  // answer is its number; the first look is number 1.
  std::int64_t Ask();
  // False when look `number` is not over after `most`.
  bool Await(std::int64_t number, Duration most) const;
  // Returns what the last finished look found.
  StockLook last() const;

 private:
  struct State;
  static void Loop(State& state, const LookAtStock& look, Duration interval);

  // The thread has a share of it.
  const std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_NODE_STOCK_H_
