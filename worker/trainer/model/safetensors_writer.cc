// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/safetensors_writer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <set>
#include <string_view>
#include <utility>

#include "base/plain/file.h"
#include "base/plain/json.h"

namespace frostline::trainer {
namespace {

static_assert(std::endian::native == std::endian::little,
              "tensors are written as they lie in memory");

std::string EntryOf(const TensorBytes& tensor, std::size_t begin) {
  std::string shape;
  for (const std::int64_t dimension : tensor.shape) {
    if (!shape.empty()) shape += ',';
    shape += std::to_string(dimension);
  }
  return JsonString(tensor.name) + ":{\"dtype\":\"" +
         std::string(NameOf(tensor.dtype)) + "\",\"shape\":[" + shape +
         "],\"data_offsets\":[" + std::to_string(begin) + "," +
         std::to_string(begin + tensor.bytes()) + "]}";
}

std::string HeaderOf(const std::vector<TensorBytes>& tensors,
                     const std::map<std::string, std::string>& metadata) {
  std::string header = "{";
  if (!metadata.empty()) {
    header += "\"__metadata__\":{";
    for (const auto& [key, value] : metadata) {
      if (header.back() != '{') header += ',';
      header += JsonString(key) + ":" + JsonString(value);
    }
    header += '}';
  }
  std::size_t begin = 0;
  for (const TensorBytes& tensor : tensors) {
    if (header.size() > 1) header += ',';
    header += EntryOf(tensor, begin);
    begin += tensor.bytes();
  }
  header += '}';
  header.append((8 - header.size() % 8) % 8, ' ');
  return header;
}

}  // namespace

std::size_t TensorBytes::bytes() const {
  std::size_t bytes = BytesOf(dtype);
  for (const std::int64_t dimension : shape) {
    bytes *= static_cast<std::size_t>(dimension);
  }
  return bytes;
}

Expected<Done> WriteSafetensors(
    const std::string& path, std::vector<TensorBytes> tensors,
    const std::map<std::string, std::string>& metadata) {
  std::set<std::string_view> names;
  for (const TensorBytes& tensor : tensors) {
    if (!names.insert(tensor.name).second) {
      return Fault{FaultKind::kMisuse, "two tensors \"" + tensor.name + "\"",
                   "give each its own name"};
    }
  }
  std::sort(tensors.begin(), tensors.end(),
            [](const TensorBytes& a, const TensorBytes& b) {
              const std::size_t left = BytesOf(a.dtype);
              const std::size_t right = BytesOf(b.dtype);
              return left != right ? left > right : a.name < b.name;
            });
  Expected<AtomicFile> file = AtomicFile::Create(path);
  if (!file.ok()) return file.fault();
  const std::string header = HeaderOf(tensors, metadata);
  std::array<char, 8> length = {};
  for (std::size_t i = 0; i < length.size(); ++i) {
    length[i] = static_cast<char>(header.size() >> (8 * i) & 0xFF);
  }
  Expected<Done> put = file.value().Append(length.data(), length.size());
  if (put.ok()) put = file.value().Append(header.data(), header.size());
  for (const TensorBytes& tensor : tensors) {
    if (put.ok()) put = file.value().Append(tensor.data, tensor.bytes());
  }
  if (!put.ok()) return put.fault();
  return file.value().Commit();
}

}  // namespace frostline::trainer
