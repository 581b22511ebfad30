// SPDX-License-Identifier: Apache-2.0
//
// File: dtype.h
//
// Published encoders and our checkpoints use these; any other type is refused
// by name.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_DTYPE_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_DTYPE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace frostline::trainer {

enum class Dtype : std::uint8_t { kF32, kF16, kBF16, kI64, kI32, kU8, kBool };

// It is "F32", as safetensors writes it.
std::string_view NameOf(Dtype dtype);
std::optional<Dtype> DtypeOf(std::string_view name);
std::size_t BytesOf(Dtype dtype);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_DTYPE_H_
