// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/row_source.h"

#include <utility>

#include "worker/trainer/data/conllu.h"
#include "worker/trainer/data/delimited.h"
#include "worker/trainer/data/jsonl.h"

namespace frostline::trainer {

Expected<std::unique_ptr<RowSource>> OpenRows(
    InputFile file, const FileFormat& format,
    const std::vector<std::string>& columns) {
  LineReader lines(std::move(file));
  switch (format.kind) {
    case FileFormat::Kind::kJsonl:
      return OpenJsonl(std::move(lines), columns);
    case FileFormat::Kind::kConllu:
      return OpenConllu(std::move(lines), columns);
    case FileFormat::Kind::kTsv:
    case FileFormat::Kind::kCsv:
      break;
  }
  return OpenDelimited(std::move(lines), format, columns);
}

}  // namespace frostline::trainer
