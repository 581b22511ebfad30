// SPDX-License-Identifier: Apache-2.0
//
// File: data_fixture.h
//
// A small language for tests of data: writes files, reads them, and says what
// came out or which fault.
#ifndef FROSTLINE_TESTS_WORKER_TRAINER_DATA_DATA_FIXTURE_H_
#define FROSTLINE_TESTS_WORKER_TRAINER_DATA_DATA_FIXTURE_H_

#include <sys/mman.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "tests/support/temp_folder.h"
#include "worker/trainer/data/dataset.h"
#include "worker/trainer/data/input_file.h"
#include "worker/trainer/data/row_source.h"

namespace frostline::trainer {

class DataFolder {
 public:
  std::string Write(const std::string& name, std::string_view bytes) {
    std::filesystem::create_directories((folder_.path() / name).parent_path());
    std::ofstream file(folder_.path() / name, std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return folder_.File(name);
  }
  // A file called "file", in memory.
  InputFile Open(std::string_view bytes) {
    const int fd = memfd_create("file", MFD_CLOEXEC);
    EXPECT_EQ(write(fd, bytes.data(), bytes.size()),
              static_cast<ssize_t>(bytes.size()));
    EXPECT_EQ(lseek(fd, 0, SEEK_SET), 0);
    return InputFile(fd, "file");
  }
  DataRoot Root() { return DataRoot::Open(folder_.path().string()).value(); }
  const std::filesystem::path& path() const { return folder_.path(); }
  std::string File(const std::string& name) const { return folder_.File(name); }

  // "a|b;c|d" of these columns, and "a,b" for a list. A fault: its cause.
  std::string Rows(std::string_view bytes, const FileFormat& format,
                   const std::vector<std::string>& columns) {
    auto source = OpenRows(Open(bytes), format, columns);
    if (!source.ok()) return source.fault().cause;
    std::string all;
    Row row;
    while (true) {
      const Expected<bool> more = source.value()->Next(row);
      if (!more.ok()) return more.fault().cause;
      if (!more.value()) return all;
      if (!all.empty()) all += ';';
      for (std::size_t i = 0; i < row.cells.size(); ++i) {
        all += (i > 0 ? "|" : "") + TextOf(row.cells[i]);
      }
    }
  }

  Expected<Dataset> Read(const DatasetReader& reader, std::string_view bytes,
                         const FileFormat& format, const ColumnMap& columns) {
    return reader.Read(Open(bytes), format, columns);
  }

 private:
  static std::string TextOf(const Cell& cell) {
    if (!cell.present) return "(absent)";
    if (!cell.is_list) return std::string(cell.text);
    std::string list;
    for (const std::string_view item : cell.items) {
      list += (list.empty() ? "" : ",") + std::string(item);
    }
    return list;
  }

  TempFolder folder_;
};

inline FileFormat Tsv(bool header = true) { return {.header = header}; }
inline FileFormat Csv(char delimiter = ',') {
  return {.kind = FileFormat::Kind::kCsv, .delimiter = delimiter};
}
inline FileFormat Jsonl() { return {.kind = FileFormat::Kind::kJsonl}; }
inline FileFormat ConlluFile() { return {.kind = FileFormat::Kind::kConllu}; }

// The fault of what must have failed.
template <typename T>
Fault FaultOf(const Expected<T>& outcome) {
  EXPECT_FALSE(outcome.ok());
  return outcome.ok() ? Fault{} : outcome.fault();
}

// EXPECT_THAT(FaultOf(x), IsFault(FaultKind::kSyntax, "line 3"));
MATCHER_P2(IsFault, kind, part, "") {
  *result_listener << arg.cause << " (" << arg.fix << ")";
  return arg.kind == kind && arg.cause.find(part) != std::string::npos &&
         !arg.fix.empty();
}

}  // namespace frostline::trainer

#endif  // FROSTLINE_TESTS_WORKER_TRAINER_DATA_DATA_FIXTURE_H_
