// SPDX-License-Identifier: Apache-2.0
//
// File: format_name.h
#ifndef FROSTLINE_WORKER_TRAINER_DATA_FORMAT_NAME_H_
#define FROSTLINE_WORKER_TRAINER_DATA_FORMAT_NAME_H_

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "worker/trainer/data/row_source.h"

namespace frostline::trainer {

inline constexpr std::array<std::pair<std::string_view, FileFormat::Kind>, 4>
    kFormatNames = {{{"tsv", FileFormat::Kind::kTsv},
                     {"csv", FileFormat::Kind::kCsv},
                     {"jsonl", FileFormat::Kind::kJsonl},
                     {"conllu", FileFormat::Kind::kConllu}}};

inline std::optional<FileFormat::Kind> ParseFormatName(std::string_view name) {
  for (const auto& [known, kind] : kFormatNames) {
    if (known == name) return kind;
  }
  return std::nullopt;
}

constexpr std::string_view NameOf(FileFormat::Kind kind) {
  for (const auto& [name, known] : kFormatNames) {
    if (known == kind) return name;
  }
  return "";
}

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_FORMAT_NAME_H_
