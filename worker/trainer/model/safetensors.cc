// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/safetensors.h"

#include <algorithm>
#include <array>
#include <utility>

#include "worker/trainer/model/limits.h"

namespace frostline::trainer {
namespace {

constexpr std::size_t kLengthBytes = 8;

Fault Broken(FaultKind kind, const std::string& path,
             const std::string& cause) {
  return {kind, path + ": " + cause,
          "copy the file again, or convert the weights again"};
}

// Little-endian, whatever this machine is.
std::uint64_t LengthOf(const std::array<unsigned char, kLengthBytes>& bytes) {
  std::uint64_t length = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;) length = length << 8 | bytes[i];
  return length;
}

}  // namespace

Expected<Safetensors> Safetensors::Open(const std::string& path) {
  Expected<SourceFile> opened = SourceFile::Open(path);
  if (!opened.ok()) return opened.fault();
  const SourceFile& file = opened.value();
  if (file.size() < kLengthBytes) {
    return Broken(FaultKind::kInconsistent, path, "shorter than 8 bytes");
  }
  std::array<unsigned char, kLengthBytes> length_bytes = {};
  Expected<Done> read = file.ReadAt(0, length_bytes.data(), kLengthBytes);
  if (!read.ok()) return read.fault();
  const std::uint64_t length = LengthOf(length_bytes);
  if (length > kMaxHeaderBytes) {
    return Broken(FaultKind::kTooLarge, path,
                  "a header of " + std::to_string(length) + " bytes");
  }
  if (length > file.size() - kLengthBytes) {
    return Broken(FaultKind::kInconsistent, path, "the header is cut off");
  }
  std::string json(static_cast<std::size_t>(length), '\0');
  read = file.ReadAt(kLengthBytes, json.data(), json.size());
  if (!read.ok()) return read.fault();
  const std::uint64_t data = kLengthBytes + length;
  Expected<SafetensorsHeader> header =
      ParseSafetensorsHeader(json, file.size() - data);
  if (!header.ok()) {
    return Broken(header.fault().kind, path, header.fault().cause);
  }
  return Safetensors(std::move(opened).value(), std::move(header).value(),
                     data);
}

Safetensors::Safetensors(SourceFile file, SafetensorsHeader header,
                         std::uint64_t data)
    : file_(std::move(file)), header_(std::move(header)), data_(data) {
  for (std::size_t i = 0; i < header_.tensors.size(); ++i) {
    places_.emplace(header_.tensors[i].name, i);
  }
}

const StoredTensor* Safetensors::Find(std::string_view name) const {
  const auto place = places_.find(name);
  return place == places_.end() ? nullptr : &header_.tensors[place->second];
}

Expected<Done> Safetensors::Read(const StoredTensor& tensor, void* into) const {
  return file_.ReadAt(data_ + tensor.begin, into, tensor.bytes());
}

}  // namespace frostline::trainer
