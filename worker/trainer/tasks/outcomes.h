// SPDX-License-Identifier: Apache-2.0
//
// File: outcomes.h
//
// What became of each validation example (the contract's ExampleOutcomes): a
// bit, right or wrong, or a float16, a score. Pure functions.
#ifndef FROSTLINE_WORKER_TRAINER_TASKS_OUTCOMES_H_
#define FROSTLINE_WORKER_TRAINER_TASKS_OUTCOMES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/plain/result.h"

namespace frostline::trainer {

inline constexpr std::size_t kMaxOutcomeBytes = std::size_t{512} << 10;

// Example i is bit i % 8 of byte i / 8. kTooLarge above 512 KiB, four million
// examples.
Expected<std::string> PackBits(const std::vector<bool>& right);
// Little-endian; 262,144 examples.
Expected<std::string> PackFloat16(std::span<const float> scores);

// To nearest, ties to even; what is too large becomes infinite.
std::uint16_t ToFloat16(float value);

// RFC 4648, with padding.
std::string EncodeBase64(std::string_view bytes);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TASKS_OUTCOMES_H_
