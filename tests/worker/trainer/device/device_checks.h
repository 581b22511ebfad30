// SPDX-License-Identifier: Apache-2.0
//
// File: device_checks.h
//
// What a run of checks found, printed line by line: for machines that have no
// test library.
#ifndef FROSTLINE_TESTS_WORKER_TRAINER_DEVICE_DEVICE_CHECKS_H_
#define FROSTLINE_TESTS_WORKER_TRAINER_DEVICE_DEVICE_CHECKS_H_

#include <ostream>
#include <string>

#include "tests/parity/figures/figures.h"
#include "worker/trainer/device/device.h"
#include "worker/trainer/model/layers.h"

namespace frostline::trainer {

// One line for each: PASS, FAIL or SKIP.
class Verdicts {
 public:
  explicit Verdicts(std::ostream& out) : out_(&out) {}

  // Passes when `off` <= `limit`; a NaN does not.
  void Near(const std::string& what, double off, double limit,
            const std::string& otherwise = "");
  void True(const std::string& what, bool holds,
            const std::string& otherwise = "");
  void Skip(const std::string& what, const std::string& why);
  void Say(const std::string& line);

  int failed() const { return failed_; }
  // "N passed, N failed, N skipped"
  std::string Totals() const;

 private:
  std::ostream* out_;
  int passed_ = 0;
  int failed_ = 0;
  int skipped_ = 0;
};

// What no recording tells of a device: its dice, its memory, going on from a
// checkpoint, and that it agrees with the processor where attention heads are
// frozen one by one.

void CheckDice(const Device& device, Verdicts& verdicts);
void CheckMemory(Device device, Verdicts& verdicts);
void CheckEnergy(const Device& device, Verdicts& verdicts);
void CheckCheckpoint(const Device& device, const test::Limits& limits,
                     Verdicts& verdicts);
void CheckFrozenHeads(const Device& device, const test::Limits& limits,
                      Verdicts& verdicts);

// The adversary draws, where a recording brings its beginning.
void CheckSmart(const Device& device, const Kernels& kernels,
                const test::Limits& limits, Verdicts& verdicts);

// Prints milliseconds a step of a model of BERT's shape with random weights,
// in fp32 and bf16: all of it training, then the embeddings and two thirds of
// the layers at rate 0, frozen, and frozen with what they gave in the device's
// memory. `size`: "small" (6 layers of 384, 16 texts of 64 tokens), "base" (12
// of 768, 32 of 128).
void TimeSteps(const std::string& size, Device device, Verdicts& verdicts);

}  // namespace frostline::trainer

#endif  // FROSTLINE_TESTS_WORKER_TRAINER_DEVICE_DEVICE_CHECKS_H_
