// SPDX-License-Identifier: Apache-2.0
//
// File: side.h
//
// One way to run the trials of a study: a program that speaks the trainer's
// protocol (docs/reference/trainer-protocol.md), which is ours or another.
#ifndef FROSTLINE_TESTS_BENCH_STUDY_SIDE_H_
#define FROSTLINE_TESTS_BENCH_STUDY_SIDE_H_

#include <sys/types.h>

#include <cstdio>
#include <string>
#include <vector>

#include "tests/bench/study/sweeps.h"

namespace frostline::bench {

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
