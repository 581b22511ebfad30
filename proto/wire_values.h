// SPDX-License-Identifier: Apache-2.0
//
// File: wire_values.h
//
// Reads the packed numbers of an ExampleOutcomes, the lowest byte first.
#ifndef FROSTLINE_PROTO_WIRE_VALUES_H_
#define FROSTLINE_PROTO_WIRE_VALUES_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

#include "frostline/v1/trial.pb.h"

namespace frostline::proto {

// A list of packed numbers. Borrows the bytes.
class PackedNumbers {
 public:
  PackedNumbers(const std::string& bytes, std::size_t width)
      : bytes_(bytes), width_(width) {}

  bool Holds(std::size_t count) const {
    return count > 0 && bytes_.size() == count * width_;
  }
  std::uint32_t At(std::size_t i) const {
    std::uint32_t value = 0;
    for (std::size_t b = width_; b-- > 0;) {
      value = value << 8 | static_cast<std::uint8_t>(bytes_[i * width_ + b]);
    }
    return value;
  }
  float FloatAt(std::size_t i) const { return std::bit_cast<float>(At(i)); }

 private:
  const std::string& bytes_;
  std::size_t width_;
};

// Returns how many bytes each class takes.
inline std::size_t ClassWidth(const v1::ExampleOutcomes& outcomes) {
  return outcomes.classes_size() > 255 ? 2 : 1;
}

// Returns the value of a binary16 number (IEEE 754).
float FromHalf(std::uint32_t bits);

}  // namespace frostline::proto

#endif  // FROSTLINE_PROTO_WIRE_VALUES_H_
