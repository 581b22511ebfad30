// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/train/checkpoint_writer.h"

#include <chrono>
#include <utility>

namespace frostline::trainer {

void CheckpointWriter::Begin(const std::string& name, std::int64_t step,
                             std::function<Expected<Done>()> write) {
  name_ = name;
  step_ = step;
  written_ = std::async(std::launch::async, std::move(write));
}

std::optional<WrittenCheckpoint> CheckpointWriter::Take() {
  if (!writes() ||
      written_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    return std::nullopt;
  }
  return WrittenCheckpoint{name_, step_, written_.get()};
}

std::optional<WrittenCheckpoint> CheckpointWriter::Await() {
  if (writes()) written_.wait();
  return Take();
}

}  // namespace frostline::trainer
