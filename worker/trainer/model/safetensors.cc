// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/plain/file.h"
#include "base/plain/json.h"
#include "worker/trainer/model/limits.h"

namespace frostline::trainer {
namespace {

struct DtypeRow {
  Dtype dtype;
  std::string_view name;
  std::size_t bytes;
};

// In the order of the enumeration.
constexpr DtypeRow kRows[] = {
    {Dtype::kF32, "F32", 4},   {Dtype::kF16, "F16", 2},
    {Dtype::kBF16, "BF16", 2}, {Dtype::kI64, "I64", 8},
    {Dtype::kI32, "I32", 4},   {Dtype::kU8, "U8", 1},
    {Dtype::kBool, "BOOL", 1},
};

const DtypeRow& RowOf(Dtype dtype) {
  return kRows[static_cast<std::size_t>(dtype)];
}

}  // namespace

std::string_view NameOf(Dtype dtype) { return RowOf(dtype).name; }

std::size_t BytesOf(Dtype dtype) { return RowOf(dtype).bytes; }

std::optional<Dtype> DtypeOf(std::string_view name) {
  for (const DtypeRow& row : kRows) {
    if (row.name == name) return row.dtype;
  }
  return std::nullopt;
}

namespace {

constexpr std::size_t kLengthBytes = 8;

Fault Broken(FaultKind kind, const std::string& path,
             const std::string& cause) {
  return {kind, path + ": " + cause,
          "copy the file again, or convert the weights again"};
}

// Returns the length, which is little-endian whatever this machine is.
std::uint64_t LengthOf(const std::array<unsigned char, kLengthBytes>& bytes) {
  std::uint64_t length = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;) length = length << 8 | bytes[i];
  return length;
}

}  // namespace

Expected<Safetensors> Safetensors::Open(const std::string& path) {
  ASSIGN_OR_FAULT(SourceFile opened, SourceFile::Open(path));
  const SourceFile& file = opened;
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
  return Safetensors(std::move(opened), std::move(header).value(), data);
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

// What has broken other readers: a product of dimensions that overflows,
// offsets that do not match the shape, offsets the wrong way round, and tensors
// that share bytes. Each has its check below.

namespace {

// For each tensor: three values, its dimensions and its offsets.
constexpr std::size_t kMaxHeaderValues = kMaxTensors * (6 + kMaxRank);
constexpr std::uint64_t kMaxOffset = std::uint64_t{1} << 62;

Fault Wrong(FaultKind kind, const std::string& cause) {
  return {kind, cause, "convert the weights again"};
}

Fault Wrong(const std::string& name, const std::string& cause) {
  return Wrong(FaultKind::kInconsistent, "tensor \"" + name + "\" " + cause);
}

// Returns a number that is written in digits alone. A double would lose the
// last bits of a large offset.
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

// Returns how many bytes a shape takes, or nothing if 64 bits cannot hold that.
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
  RETURN_IF_FAULT(ReadShape(member.Find("shape"), tensor));
  RETURN_IF_FAULT(ReadOffsets(member.Find("data_offsets"), data_bytes, tensor));
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

// Checks that every byte of the data belongs to exactly one tensor.
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
  ASSIGN_OR_FAULT(Json parsed,
                  Json::Parse(json, {.max_values = kMaxHeaderValues}));
  SafetensorsHeader header;
  const JsonValue& root = parsed.root();
  for (const JsonValue* at = root.first; at != nullptr; at = at->next) {
    if (at->key == "__metadata__") {
      RETURN_IF_FAULT(ReadMetadata(*at, header.metadata));
      continue;
    }
    if (header.tensors.size() == kMaxTensors) {
      return Wrong(FaultKind::kTooLarge,
                   "more than " + std::to_string(kMaxTensors) + " tensors");
    }
    ASSIGN_OR_FAULT(StoredTensor tensor, ReadTensorEntry(*at, data_bytes));
    header.tensors.push_back(std::move(tensor));
  }
  RETURN_IF_FAULT(CheckTiling(header.tensors, data_bytes));
  return header;
}

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
  ASSIGN_OR_FAULT(AtomicFile file, AtomicFile::Create(path));
  const std::string header = HeaderOf(tensors, metadata);
  std::array<char, 8> length = {};
  for (std::size_t i = 0; i < length.size(); ++i) {
    length[i] = static_cast<char>(header.size() >> (8 * i) & 0xFF);
  }
  Expected<Done> put = file.Append(length.data(), length.size());
  if (put.ok()) put = file.Append(header.data(), header.size());
  for (const TensorBytes& tensor : tensors) {
    if (put.ok()) put = file.Append(tensor.data, tensor.bytes());
  }
  if (!put.ok()) return put.fault();
  return file.Commit();
}

namespace {

constexpr char kSingle[] = "/model.safetensors";
constexpr char kIndex[] = "/model.safetensors.index.json";

bool Exists(const std::string& path) {
  std::error_code ignored;  // what cannot be examined is not there
  return std::filesystem::exists(path, ignored);
}

Fault NoWeights(const std::string& folder) {
  if (!Exists(folder + "/pytorch_model.bin")) {
    return {FaultKind::kUnreadable,
            "there is no model.safetensors in " + folder,
            "name a folder with config.json and model.safetensors"};
  }
  return {FaultKind::kUnsupported,
          folder +
              " holds pytorch_model.bin alone, a pickle: loading one can "
              "run any code that is in it",
          "where you trust it, convert it once: cd " + folder +
              " && python3 -c \"import torch, safetensors.torch as s; "
              "w = torch.load('pytorch_model.bin', weights_only=True); "
              "s.save_file({k: v.clone().contiguous() for k, v in w.items()}, "
              "'model.safetensors')\""};
}

Fault BadIndex(const std::string& path, const std::string& cause) {
  return {FaultKind::kInconsistent, path + ": " + cause,
          "copy the model's files again"};
}

// Returns whether the name is a file beside the index. An index must not lead
// elsewhere.
bool IsPlainName(std::string_view name) {
  return !name.empty() && name.front() != '.' &&
         name.ends_with(".safetensors") &&
         name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

// Reads {"weight_map": {tensor: file}} as a map from files to their tensors.
Expected<std::map<std::string, std::set<std::string>>> ReadIndex(
    const std::string& path) {
  ASSIGN_OR_FAULT(std::string bytes, ReadWholeFile(path, kMaxHeaderBytes));
  Expected<Json> json = Json::Parse(bytes);
  if (!json.ok()) return BadIndex(path, json.fault().cause);
  const JsonValue* map = json.value().root().Find("weight_map");
  if (map == nullptr || !map->is(JsonKind::kObject)) {
    return BadIndex(path, "there is no weight_map");
  }
  std::map<std::string, std::set<std::string>> shards;
  for (const JsonValue* at = map->first; at != nullptr; at = at->next) {
    if (!at->is(JsonKind::kString) || !IsPlainName(at->text)) {
      return BadIndex(path, "\"" + std::string(at->key) +
                                "\" is not in a .safetensors file beside it");
    }
    shards[std::string(at->text)].emplace(at->key);
  }
  if (shards.size() > kMaxShards || map->count > kMaxTensors) {
    return BadIndex(path, "too many files or tensors");
  }
  return shards;
}

}  // namespace

Expected<Done> WeightFiles::Add(const std::string& path) {
  ASSIGN_OR_FAULT(Safetensors file, Safetensors::Open(path));
  files_.push_back(std::move(file));
  for (const StoredTensor& tensor : files_.back().tensors()) {
    if (!places_.emplace(tensor.name, Place{files_.size() - 1, &tensor})
             .second) {
      return BadIndex(path, "\"" + tensor.name + "\" is in another shard, too");
    }
  }
  return Done{};
}

Expected<WeightFiles> WeightFiles::Open(const std::string& folder) {
  WeightFiles weights;
  if (Exists(folder + kSingle)) {
    RETURN_IF_FAULT(weights.Add(folder + kSingle));
    return weights;
  }
  if (!Exists(folder + kIndex)) return NoWeights(folder);
  ASSIGN_OR_FAULT(auto shards, ReadIndex(folder + kIndex));
  for (const auto& [name, tensors] : shards) {
    RETURN_IF_FAULT(weights.Add(folder + "/" + name));
    std::set<std::string> found;
    for (const StoredTensor& tensor : weights.files_.back().tensors()) {
      found.insert(tensor.name);
    }
    if (found != tensors) {
      return BadIndex(
          folder + kIndex,
          name + " does not hold exactly the tensors listed for it");
    }
  }
  return weights;
}

}  // namespace frostline::trainer
