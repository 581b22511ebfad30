// SPDX-License-Identifier: Apache-2.0
//
// File: safetensors_writer.h
//
// Writes what safetensors.h reads, whole or not at all, as the reference writer
// does: larger elements first, then by name, data on a multiple of 8.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_SAFETENSORS_WRITER_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_SAFETENSORS_WRITER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/model/dtype.h"

namespace frostline::trainer {

// It is in C order, and does not own `data`.
struct TensorBytes {
  std::string name;
  Dtype dtype = Dtype::kF32;
  std::vector<std::int64_t> shape;
  const void* data = nullptr;

  std::size_t bytes() const;
};

// Returns kMisuse when a name comes twice.
Expected<Done> WriteSafetensors(
    const std::string& path, std::vector<TensorBytes> tensors,
    const std::map<std::string, std::string>& metadata);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_SAFETENSORS_WRITER_H_
