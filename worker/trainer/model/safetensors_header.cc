// SPDX-License-Identifier: Apache-2.0
//
// Other readers were broken by: a product of dimensions that overflowed,
// offsets that were not tied to the shape, offsets the wrong way round, and
// tensors that share bytes. Each has its check below.
#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include "base/plain/json.h"
#include "worker/trainer/model/limits.h"
#include "worker/trainer/model/safetensors.h"

namespace frostline::trainer {
namespace {

// Three a tensor, its dimensions, its offsets.
constexpr std::size_t kMaxHeaderValues = kMaxTensors * (6 + kMaxRank);
constexpr std::uint64_t kMaxOffset = std::uint64_t{1} << 62;

Fault Wrong(FaultKind kind, const std::string& cause) {
  return {kind, cause, "convert the weights again"};
}

Fault Wrong(const std::string& name, const std::string& cause) {
  return Wrong(FaultKind::kInconsistent, "tensor \"" + name + "\" " + cause);
}

// Digits alone: a double would lose the last bits of a large offset.
std::optional<std::uint64_t> Whole(const JsonValue& value) {
  if (!value.is(JsonKind::kNumber)) return std::nullopt;
  const std::string_view text = value.text;
  std::uint64_t whole = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), whole);
  if (error != std::errc() || end != text.data() + text.size() ||
      whole > kMaxOffset) {
    return std::nullopt;
  }
  return whole;
}

// How many bytes a shape takes; nothing when that has no 64-bit answer.
std::optional<std::uint64_t> SizeOf(const StoredTensor& tensor) {
  std::uint64_t bytes = BytesOf(tensor.dtype);
  for (const std::int64_t dimension : tensor.shape) {
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(dimension),
                               &bytes)) {
      return std::nullopt;
    }
  }
  return bytes;
}

Expected<Done> ReadShape(const JsonValue* shape, StoredTensor& tensor) {
  if (shape == nullptr || !shape->is(JsonKind::kArray)) {
    return Wrong(tensor.name, "has no shape");
  }
  if (shape->count > kMaxRank) {
    return Wrong(FaultKind::kTooLarge, "tensor \"" + tensor.name + "\" has " +
                                           std::to_string(shape->count) +
                                           " dimensions");
  }
  for (const JsonValue* at = shape->first; at != nullptr; at = at->next) {
    const std::optional<std::uint64_t> dimension = Whole(*at);
    if (!dimension) return Wrong(tensor.name, "has a shape that is none");
    tensor.shape.push_back(static_cast<std::int64_t>(*dimension));
  }
  return Done{};
}

Expected<Done> ReadOffsets(const JsonValue* offsets, std::uint64_t data_bytes,
                           StoredTensor& tensor) {
  if (offsets == nullptr || !offsets->is(JsonKind::kArray) ||
      offsets->count != 2) {
    return Wrong(tensor.name, "has no two data_offsets");
  }
  const std::optional<std::uint64_t> begin = Whole(*offsets->first);
  const std::optional<std::uint64_t> end = Whole(*offsets->first->next);
  if (!begin || !end || *begin > *end || *end > data_bytes) {
    return Wrong(tensor.name, "has data_offsets outside of the data");
  }
  tensor.begin = *begin;
  tensor.end = *end;
  const std::optional<std::uint64_t> size = SizeOf(tensor);
  if (!size || *size != tensor.end - tensor.begin) {
    return Wrong(tensor.name, "has data_offsets that do not fit its shape");
  }
  return Done{};
}

Expected<StoredTensor> ReadTensorEntry(const JsonValue& member,
                                       std::uint64_t data_bytes) {
  StoredTensor tensor;
  tensor.name = member.key;
  if (tensor.name.empty()) return Wrong(tensor.name, "has no name");
  if (!member.is(JsonKind::kObject) || member.count != 3) {
    return Wrong(tensor.name, "is not dtype, shape and data_offsets");
  }
  const JsonValue* dtype = member.Find("dtype");
  if (dtype == nullptr || !dtype->is(JsonKind::kString)) {
    return Wrong(tensor.name, "has no dtype");
  }
  const std::optional<Dtype> known = DtypeOf(dtype->text);
  if (!known) {
    return Wrong(FaultKind::kUnsupported, "tensor \"" + tensor.name +
                                              "\" is of the dtype " +
                                              std::string(dtype->text));
  }
  tensor.dtype = *known;
  Expected<Done> shape = ReadShape(member.Find("shape"), tensor);
  if (!shape.ok()) return shape.fault();
  Expected<Done> offsets =
      ReadOffsets(member.Find("data_offsets"), data_bytes, tensor);
  if (!offsets.ok()) return offsets.fault();
  return tensor;
}

Expected<Done> ReadMetadata(const JsonValue& member,
                            std::map<std::string, std::string>& metadata) {
  if (!member.is(JsonKind::kObject)) {
    return Wrong(FaultKind::kInconsistent, "__metadata__ is not an object");
  }
  for (const JsonValue* at = member.first; at != nullptr; at = at->next) {
    if (!at->is(JsonKind::kString)) {
      return Wrong(FaultKind::kInconsistent,
                   "__metadata__ holds more than strings");
    }
    metadata.emplace(at->key, at->text);
  }
  return Done{};
}

// Every byte of the data belongs to exactly one tensor.
Expected<Done> CheckTiling(std::vector<StoredTensor>& tensors,
                           std::uint64_t data_bytes) {
  std::sort(tensors.begin(), tensors.end(),
            [](const StoredTensor& a, const StoredTensor& b) {
              return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
            });
  std::uint64_t covered = 0;
  for (const StoredTensor& tensor : tensors) {
    if (tensor.begin != covered) {
      return Wrong(tensor.name, tensor.begin < covered
                                    ? "overlaps the one before it"
                                    : "leaves a hole before it");
    }
    covered = tensor.end;
  }
  if (covered != data_bytes) {
    return Wrong(FaultKind::kInconsistent,
                 std::to_string(data_bytes - covered) +
                     " bytes at the end belong to no tensor");
  }
  return Done{};
}

}  // namespace

Expected<SafetensorsHeader> ParseSafetensorsHeader(std::string_view json,
                                                   std::uint64_t data_bytes) {
  if (json.size() > kMaxHeaderBytes) {
    return Wrong(FaultKind::kTooLarge, "the header is too long");
  }
  if (json.empty() || json.front() != '{') {
    return Wrong(FaultKind::kSyntax, "the header does not begin with {");
  }
  Expected<Json> parsed = Json::Parse(json, kMaxHeaderValues);
  if (!parsed.ok()) return parsed.fault();
  SafetensorsHeader header;
  const JsonValue& root = parsed.value().root();
  for (const JsonValue* at = root.first; at != nullptr; at = at->next) {
    if (at->key == "__metadata__") {
      Expected<Done> read = ReadMetadata(*at, header.metadata);
      if (!read.ok()) return read.fault();
      continue;
    }
    if (header.tensors.size() == kMaxTensors) {
      return Wrong(FaultKind::kTooLarge,
                   "more than " + std::to_string(kMaxTensors) + " tensors");
    }
    Expected<StoredTensor> tensor = ReadTensorEntry(*at, data_bytes);
    if (!tensor.ok()) return tensor.fault();
    header.tensors.push_back(std::move(tensor).value());
  }
  Expected<Done> tiled = CheckTiling(header.tensors, data_bytes);
  if (!tiled.ok()) return tiled.fault();
  return header;
}

}  // namespace frostline::trainer
