// SPDX-License-Identifier: Apache-2.0
//
// File: safetensors.h
//
// Reads a safetensors file that strangers wrote: 8 bytes with the length of a
// header, the header as JSON, then the tensors without gaps. No data is read
// before the whole header was checked: no size may overflow, and every byte of
// the data must be in exactly one tensor.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_SAFETENSORS_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_SAFETENSORS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/plain/file.h"
#include "base/plain/result.h"

namespace frostline::trainer {

// The types that published encoders and our checkpoints use. Any other type is
// refused by its name.
enum class Dtype : std::uint8_t { kF32, kF16, kBF16, kI64, kI32, kU8, kBool };

// Returns "F32", as safetensors writes it.
std::string_view NameOf(Dtype dtype);
std::optional<Dtype> DtypeOf(std::string_view name);
std::size_t BytesOf(Dtype dtype);

// A tensor of a file, as its header describes it.
struct StoredTensor {
  std::string name;
  Dtype dtype = Dtype::kF32;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;  // from the first byte after the header
  std::uint64_t end = 0;

  std::size_t bytes() const { return static_cast<std::size_t>(end - begin); }
};

// The header of a file.
struct SafetensorsHeader {
  std::vector<StoredTensor> tensors;  // in the order of the data
  std::map<std::string, std::string> metadata;
};

// Parses and checks a header; `data_bytes` follow it in the file. Returns
// kTooLarge above the limits of model/limits.h, kUnsupported for an unknown
// dtype, kSyntax for what is not JSON, and kInconsistent for all that does not
// add up.
Expected<SafetensorsHeader> ParseSafetensorsHeader(std::string_view json,
                                                   std::uint64_t data_bytes);

// A safetensors file, open for reading. Any thread may read.
class Safetensors {
 public:
  static Expected<Safetensors> Open(const std::string& path);

  const std::string& path() const { return file_.path(); }
  const std::vector<StoredTensor>& tensors() const { return header_.tensors; }
  const std::map<std::string, std::string>& metadata() const {
    return header_.metadata;
  }
  const StoredTensor* Find(std::string_view name) const;
  // `into` has room for tensor.bytes().
  Expected<Done> Read(const StoredTensor& tensor, void* into) const;

 private:
  Safetensors(SourceFile file, SafetensorsHeader header, std::uint64_t data);

  SourceFile file_;
  SafetensorsHeader header_;
  std::uint64_t data_;  // where the data begin
  std::map<std::string, std::size_t, std::less<>> places_;
};

// Writing: a file is written whole or not at all, in the order of the reference
// writer, which is larger elements first, then by name, with data on a multiple
// of 8.

// A tensor to be written, in C order. It does not own `data`.
struct TensorBytes {
  std::string name;
  Dtype dtype = Dtype::kF32;
  std::vector<std::int64_t> shape;
  const void* data = nullptr;

  std::size_t bytes() const;
};

// Writes a file. Returns kMisuse if a name comes twice.
Expected<Done> WriteSafetensors(
    const std::string& path, std::vector<TensorBytes> tensors,
    const std::map<std::string, std::string>& metadata);

// The weight files of one folder: one file, or several shards.
class WeightFiles {
 public:
  // Opens model.safetensors, or the shards of model.safetensors.index.json.
  // Returns kUnsupported for a folder of pickles, which run code when they are
  // loaded: the fix is the command that converts them.
  static Expected<WeightFiles> Open(const std::string& folder);

  struct Place {
    std::size_t file;
    const StoredTensor* tensor;
  };
  const std::map<std::string, Place>& places() const { return places_; }
  const Safetensors& file(const Place& place) const {
    return files_[place.file];
  }

 private:
  Expected<Done> Add(const std::string& path);

  std::vector<Safetensors> files_;
  std::map<std::string, Place> places_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_SAFETENSORS_H_
