// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/prefix/segment.h"

#include <bit>
#include <cstring>
#include <utility>

#include "base/plain/sums.h"

namespace frostline::trainer {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view kMagic = "FLPREFIX";
constexpr std::uint32_t kSegmentVersion = 1;
constexpr std::size_t kHeaderBytes = 80;
constexpr std::size_t kIndexBytes = 32;  // of a row
constexpr std::size_t kFooterBytes = 24;
// An index of this many rows has 512 MiB: no writer makes one.
constexpr std::uint64_t kMostRows = 1U << 24U;

template <typename Number>
void Put(std::string& bytes, Number number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

template <typename Number>
Number Get(const char* at) {
  Number number{};
  std::memcpy(&number, at, sizeof(number));
  return number;
}

std::string HeaderOf(const std::string& group) {
  std::string header(kMagic);
  Put(header, kSegmentVersion);
  Put(header, std::uint32_t{0});
  return header + group;
}

Fault Spoilt(const std::string& path, const std::string& what) {
  return {FaultKind::kInconsistent, path + " " + what,
          "none is needed: its rows are computed anew"};
}

}  // namespace

Expected<SegmentWriter> SegmentWriter::Create(const std::string& path,
                                              const std::string& group) {
  Expected<AtomicFile> file = AtomicFile::Create(path);
  if (!file.ok()) return file.fault();
  SegmentWriter writer(std::move(file).value());
  const std::string header = HeaderOf(group);
  if (auto put = writer.file_.Append(header.data(), header.size()); !put.ok()) {
    return put.fault();
  }
  writer.at_ = header.size();
  return writer;
}

Expected<Done> SegmentWriter::Append(const RowKey& key,
                                     std::span<const float> row) {
  if (auto put = file_.Append(row.data(), row.size_bytes()); !put.ok()) {
    return put;
  }
  places_.push_back({key, at_, static_cast<std::uint32_t>(row.size_bytes()),
                     Crc32c(0, row.data(), row.size_bytes())});
  at_ += row.size_bytes();
  return Done{};
}

Expected<Done> SegmentWriter::Commit() {
  std::string index;
  index.reserve(places_.size() * kIndexBytes + kFooterBytes);
  for (const RowPlace& place : places_) {
    Put(index, place.key.high);
    Put(index, place.key.low);
    Put(index, place.at);
    Put(index, place.bytes);
    Put(index, place.crc);
  }
  const std::uint32_t crc = Crc32c(0, index.data(), index.size());
  Put(index, std::uint64_t{places_.size()});
  Put(index, at_);
  Put(index, crc);
  Put(index, std::uint32_t{0});
  if (auto put = file_.Append(index.data(), index.size()); !put.ok()) {
    return put;
  }
  return file_.Commit();
}

Expected<Segment> Segment::Open(const std::string& path,
                                const std::string& group) {
  Expected<SourceFile> file = SourceFile::Open(path);
  if (!file.ok()) return file.fault();
  Segment segment(std::move(file).value());
  const std::uint64_t size = segment.size();
  if (size < kHeaderBytes + kFooterBytes) return Spoilt(path, "is too short");
  std::string header(kHeaderBytes, '\0');
  std::string footer(kFooterBytes, '\0');
  auto read = segment.file_.ReadAt(0, header.data(), header.size());
  if (!read.ok()) return read.fault();
  read = segment.file_.ReadAt(size - kFooterBytes, footer.data(), kFooterBytes);
  if (!read.ok()) return read.fault();
  if (header != HeaderOf(group)) return Spoilt(path, "is another group's");
  const auto rows = Get<std::uint64_t>(footer.data());
  const auto at = Get<std::uint64_t>(footer.data() + 8);
  if (rows > kMostRows || at < kHeaderBytes || at > size ||
      size - at != rows * kIndexBytes + kFooterBytes) {
    return Spoilt(path, "has an index of another size");
  }
  std::string index(static_cast<std::size_t>(rows * kIndexBytes), '\0');
  read = segment.file_.ReadAt(at, index.data(), index.size());
  if (!read.ok()) return read.fault();
  if (Crc32c(0, index.data(), index.size()) !=
      Get<std::uint32_t>(footer.data() + 16)) {
    return Spoilt(path, "has an index with a wrong sum");
  }
  segment.rows_.reserve(static_cast<std::size_t>(rows));
  for (const char* row = index.data(); row != index.data() + index.size();
       row += kIndexBytes) {
    segment.rows_.push_back(
        {{Get<std::uint64_t>(row), Get<std::uint64_t>(row + 8)},
         Get<std::uint64_t>(row + 16),
         Get<std::uint32_t>(row + 24),
         Get<std::uint32_t>(row + 28)});
  }
  return segment;
}

Expected<Done> Segment::Read(const RowPlace& place,
                             std::span<float> into) const {
  if (place.bytes != into.size_bytes()) {
    return Spoilt(file_.path(), "has a row of another length");
  }
  if (auto read = file_.ReadAt(place.at, into.data(), into.size_bytes());
      !read.ok()) {
    return read;
  }
  if (Crc32c(0, into.data(), into.size_bytes()) != place.crc) {
    return Spoilt(file_.path(), "has a row with a wrong sum");
  }
  return Done{};
}

}  // namespace frostline::trainer
