// SPDX-License-Identifier: Apache-2.0
//
// File: stock.h
//
// The stock: the models and data sets of a registry that a trainer could open
// now. An entry is in the stock while every file that a trial needs of it is
// there, below the registry's folder, may be read, and has the sum that the
// registry says.
#ifndef FROSTLINE_WORKER_AGENT_NODE_STOCK_H_
#define FROSTLINE_WORKER_AGENT_NODE_STOCK_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "frostline/v1/worker.pb.h"
#include "worker/registry/registry.h"

namespace frostline::agent {

// What one look at a registry found.
struct StockLook {
  v1::Stock stock;
  int generation = 0;  // StockReader::generation()
};

// Looks once. With `anew` it reads the registry's files again, even if they
// look unchanged.
using LookAtStock = std::function<StockLook(bool anew)>;

// Reads the stock of one registry. One thread at a time may use it.
class StockReader {
 public:
  // `registry` is a folder. One look reads `most_bytes` for sums, or one larger
  // file. Other files wait for the next look, and their entries are not in the
  // stock before.
  explicit StockReader(std::string registry,
                       std::uint64_t most_bytes = std::uint64_t{1} << 30);

  // Looks at every file that the registry names. models.yaml and datasets.yaml
  // are read again when they have changed, or with `anew`. If one of them is
  // absent or malformed, it has no entries, and the log says why. The first
  // 1,024 models and the first 1,024 data sets count. If the disk does not say
  // whether a file is there, the last answer for its entry holds; at first that
  // is yes.
  v1::Stock Read(bool anew);

  // Returns how often a registry file was read.
  int reads() const { return reads_; }
  // Returns how many sums were computed.
  int sums() const { return sums_.computed(); }

  // Returns a number that rises when a registry file says something else. A
  // trainer reads the registry once, so one that was started before the change
  // knows only the old one.
  int generation() const { return generation_; }

 private:
  // models.yaml or datasets.yaml, as it was read last.
  struct RegistryFile {
    std::string file;
    std::string stamp;  // of the file when it was read
    std::string text;
    std::vector<registry::StockEntry> entries;
    std::map<std::string, bool> answers;  // of the last look, by id
  };
  // A model's bounds, and the stamp of the config.json that says them.
  struct ReadBounds {
    std::string stamp;
    std::optional<v1::ModelBounds> bounds;  // nothing: it cannot be read
  };
  using Items = google::protobuf::RepeatedPtrField<v1::StockItem>;

  void Refresh(bool anew, RegistryFile& file_read);
  void List(RegistryFile& file_read, Items* items, std::string* lacking);
  // Adds what each model bounds. A config.json that cannot be read leaves its
  // model without bounds: the trainer says what is wrong with it.
  void AddBounds(Items& models);

  const std::string registry_;
  const std::uint64_t most_bytes_;
  registry::KnownSums sums_;
  RegistryFile models_{"models.yaml", "", "", {}, {}};
  RegistryFile data_sets_{"datasets.yaml", "", "", {}, {}};
  std::map<std::string, ReadBounds> bounds_;  // by id of the model
  std::string lacking_;                       // as it was logged last
  int reads_ = 0;
  int generation_ = 0;
};

// Says whether the stock has the model and the data sets that `spec` names,
// those of `also_evaluate` too.
bool HasStockFor(const v1::Stock& stock, const v1::TrialSpec& spec);

// Looks at the registry again and again, on a thread of its own: a disk that
// does not answer may hold that thread for ever, but nobody else. It is
// thread-safe.
class StockWatch {
 public:
  // It looks at once, then every `interval`. The thread calls `look`, which may
  // refer to nothing that ends before the process. It calls `looked` after each
  // look, under a lock, until the watch is destroyed.
  StockWatch(LookAtStock look, Duration interval, std::function<void()> looked);
  // Waits 2 s at most for a look under way, then leaves the thread to itself.
  ~StockWatch();
  StockWatch(const StockWatch&) = delete;
  StockWatch& operator=(const StockWatch&) = delete;

  // Asks for a look that begins now and reads the registry's files anew.
  // Returns its number; the first look is number 1.
  std::int64_t Ask();
  // Waits for look `number`, at most `most`. Returns whether it is over.
  bool Await(std::int64_t number, Duration most) const;
  // Returns what the last finished look found.
  StockLook last() const;

 private:
  struct State;
  static void Loop(State& state, const LookAtStock& look, Duration interval);

  // Shared with the thread, which may outlive this object.
  const std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_NODE_STOCK_H_
