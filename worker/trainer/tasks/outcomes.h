// SPDX-License-Identifier: Apache-2.0
//
// File: outcomes.h
//
// Packs what became of each validation example (the contract's
// ExampleOutcomes): right or wrong as a bit, or a score as a float16.
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

// Example i is bit i % 8 of byte i / 8. Returns kTooLarge above 512 KiB, four
// million examples.
Expected<std::string> PackBits(const std::vector<bool>& right);
// Packs them little-endian; 512 KiB hold 262,144.
Expected<std::string> PackFloat16(std::span<const float> scores);

// Rounds to nearest, ties to even; what is too large becomes infinite.
std::uint16_t ToFloat16(float value);

std::string EncodeBase64(std::string_view bytes);  // RFC 4648, with padding

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TASKS_OUTCOMES_H_
