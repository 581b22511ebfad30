// SPDX-License-Identifier: Apache-2.0
//
// File: checkpoint_writer.h
//
// Writes checkpoints beside training, one after the other, so that no step
// waits for a disk.
#ifndef FROSTLINE_WORKER_TRAINER_TRAIN_CHECKPOINT_WRITER_H_
#define FROSTLINE_WORKER_TRAINER_TRAIN_CHECKPOINT_WRITER_H_

#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <string>

#include "base/plain/result.h"

namespace frostline::trainer {

struct WrittenCheckpoint {
  std::string name;
  std::int64_t step = 0;
  Expected<Done> done;
};

// One thread uses it, and it has one of its own while it writes. Its end waits
// for that one.
class CheckpointWriter {
 public:
  // Nobody writes. `write` runs in the other thread and shares nothing with
  // this one.
  void Begin(const std::string& name, std::int64_t step,
             std::function<Expected<Done>()> write);

  bool writes() const { return written_.valid(); }
  // What was begun, once it has ended; nothing while it is written, or where
  // nothing is.
  std::optional<WrittenCheckpoint> Take();
  // Waits for the end.
  std::optional<WrittenCheckpoint> Await();

 private:
  std::string name_;
  std::int64_t step_ = 0;
  std::future<Expected<Done>> written_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRAIN_CHECKPOINT_WRITER_H_
