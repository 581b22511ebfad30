// SPDX-License-Identifier: Apache-2.0
#include "storage/row_columns.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace frostline::storage {
namespace {

template <typename Unsigned>
void Append(Unsigned value, std::string& bytes) {
  for (std::size_t i = 0; i < sizeof(value); ++i) {
    bytes.push_back(static_cast<char>((value >> (8 * i)) & 0xff));
  }
}

void AppendDouble(double value, std::string& bytes) {
  Append(std::bit_cast<std::uint64_t>(value), bytes);
}

// Takes a number from the front of `bytes`; false when they are too few.
template <typename Unsigned>
bool Take(std::string_view& bytes, Unsigned& value) {
  if (bytes.size() < sizeof(value)) return false;
  value = 0;
  for (std::size_t i = 0; i < sizeof(value); ++i) {
    const Unsigned byte = static_cast<unsigned char>(bytes[i]);
    value |= byte << (8 * i);
  }
  bytes.remove_prefix(sizeof(value));
  return true;
}

bool TakeDouble(std::string_view& bytes, double& value) {
  std::uint64_t bits = 0;
  if (!Take(bytes, bits)) return false;
  value = std::bit_cast<double>(bits);
  return true;
}

bool TakeMetrics(std::string_view bytes, Metrics& metrics) {
  metrics.clear();
  while (!bytes.empty()) {
    std::uint32_t length = 0;
    if (!Take(bytes, length) || bytes.size() < length) return false;
    const std::string name(bytes.substr(0, length));
    bytes.remove_prefix(length);
    if (!TakeDouble(bytes, metrics[name])) return false;
  }
  return true;
}

}  // namespace

std::string EncodeDoubles(const std::vector<double>& values) {
  std::string bytes;
  bytes.reserve(values.size() * sizeof(double));
  for (const double value : values) AppendDouble(value, bytes);
  return bytes;
}

std::string EncodeMetrics(const Metrics& metrics) {
  std::string bytes;
  for (const auto& [name, value] : metrics) {
    Append(static_cast<std::uint32_t>(name.size()), bytes);
    bytes.append(name);
    AppendDouble(value, bytes);
  }
  return bytes;
}

std::string EncodeMeasurement(const Measurement& measurement) {
  std::string bytes;
  AppendDouble(measurement.elapsed_s, bytes);
  return bytes + EncodeMetrics(measurement.metrics);
}

bool DecodeDoubles(const std::string& bytes, std::vector<double>& values) {
  std::string_view rest = bytes;
  values.clear();
  values.reserve(bytes.size() / sizeof(double));
  while (!rest.empty()) {
    double value = 0;
    if (!TakeDouble(rest, value)) return false;
    values.push_back(value);
  }
  return true;
}

bool DecodeMetrics(const std::string& bytes, Metrics& metrics) {
  return TakeMetrics(bytes, metrics);
}

bool DecodeMeasurement(const std::string& bytes, Measurement& measurement) {
  std::string_view rest = bytes;
  return TakeDouble(rest, measurement.elapsed_s) &&
         TakeMetrics(rest, measurement.metrics);
}

}  // namespace frostline::storage
