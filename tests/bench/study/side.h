// SPDX-License-Identifier: Apache-2.0
//
// File: side.h
//
// The model and the rows that every side trains on.
#ifndef FROSTLINE_TESTS_BENCH_STUDY_SIDE_H_
#define FROSTLINE_TESTS_BENCH_STUDY_SIDE_H_

#include <sys/types.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace frostline::bench {

// The demo's model, MiniLM, where ./dev setup put it; empty where it did not.
std::string FindMiniLm();

// A folder that goes when it does.
class Sample {
 public:
  // Takes 256 sentences of reviews to train and 80 to validate: of SST-2 below
  // $FROSTLINE_SHARED_DATA/data, else of the demo's own. Throws
  // std::runtime_error, as all here.
  explicit Sample(const std::string& model);
  ~Sample();
  Sample(const Sample&) = delete;
  Sample& operator=(const Sample&) = delete;

  std::string folder() const { return folder_; }
  std::string registry() const { return folder_ + "/registry"; }
  // TSV with the columns text and label.
  std::string train() const { return folder_ + "/train.tsv"; }
  std::string validation() const { return folder_ + "/validation.tsv"; }
  const std::string& model() const { return model_; }
  const std::string& about() const { return about_; }

 private:
  const std::string model_;
  std::string folder_;
  std::string about_;  // "SST-2"
};

// The points of two studies, the same for every side: how deep the frozen
// prefix is, and the rate of each layer above it.
//
// The first asks how much can be frozen, after Lee, Tang and Lin ("What would
// Elsa do?", 2019): half of the layers to all of them, one rate above. The
// second is a search over all depths, with a rate of its own for each layer.
struct SweepTrial {
  int depth = 0;
  int seed = 0;
  std::vector<std::pair<std::string, double>> rates;  // 0 is frozen
};

// In the order of depths, every seed at each.
std::vector<SweepTrial> ElsaSweep(int layers, int seeds);
std::vector<SweepTrial> MixedSweep(int layers, int seeds);

// One way to run the trials of a study: a program that speaks the trainer's
// protocol (docs/reference/trainer-protocol.md), which is ours or another.
struct SideResult {
  double seconds = 0.0;  // of the processor, all threads
  double accuracy = 0.0;
};

class Side {
 public:
  struct Spec {
    std::string name;                  // "ours", "peer_lr0"
    std::vector<std::string> command;  // what it begins with is a path
    bool lr0 = false;                  // else hard, with dropout off
    std::string folder;                // attempts have folders below it
  };

  // Starts it with one thread and waits until it says hello: what it loads to
  // begin with is nobody's. Throws std::runtime_error, as all here.
  explicit Side(Spec spec);
  ~Side();
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  const std::string& name() const { return spec_.name; }
  SideResult Train(const SweepTrial& trial);

 private:
  void Send(const std::string& line);
  std::string ReadLine();
  double ProcessorSeconds() const;
  std::string MessageOf(const SweepTrial& trial);

  const Spec spec_;
  pid_t pid_ = -1;
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
  int trials_ = 0;
};

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_STUDY_SIDE_H_
