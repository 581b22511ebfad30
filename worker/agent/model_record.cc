// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/model_record.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/plain/file.h"
#include "worker/agent/file.h"

namespace frostline::agent {
namespace {

constexpr std::size_t kMostModelRecordBytes = std::size_t{64} << 10;
constexpr char kExport[] = "export";
constexpr char kBest[] = "best";

// Adds a line's value to the record; false where it has no business there.
bool Take(const std::vector<std::string>& words, ModelRecord& record) {
  const std::string& key = words.front();
  if (key == "losses") {
    for (std::size_t i = 1; i < words.size(); ++i) {
      double loss = 0.0;
      if (!absl::SimpleAtod(words[i], &loss)) return false;
      record.losses.push_back(loss);
    }
    return true;
  }
  if (words.size() != 2) return false;
  if (key == "agent") record.agent = words[1];
  if (key == "study") return absl::SimpleAtoi(words[1], &record.study);
  if (key == "violation") return absl::SimpleAtod(words[1], &record.violation);
  if (key == "revision") return absl::SimpleAtoi(words[1], &record.revision);
  return key == "agent";
}

// At least as good in all, and better in one.
bool IsNoWorse(const std::vector<double>& a, const std::vector<double>& b) {
  bool is_better = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i]) return false;
    is_better = is_better || a[i] < b[i];
  }
  return is_better;
}

}  // namespace

bool ExportsBestOnly(const v1::TrialSpec& spec) {
  const auto& fields = spec.training().extra().fields();
  const auto word = fields.find(kExport);
  if (word == fields.end()) return false;
  return word->second.string_value() == kBest || word->second.bool_value();
}

void Score(const v1::TrialSpec& spec,
           const google::protobuf::Map<std::string, double>& metrics,
           ModelRecord& record) {
  record.losses.clear();
  for (const v1::Objective& objective : spec.objectives()) {
    const double value = metrics.at(objective.metric());
    record.losses.push_back(
        objective.direction() == v1::DIRECTION_MAXIMIZE ? -value : value);
  }
  record.violation = 0.0;
  for (const v1::MetricConstraint& constraint : spec.constraints()) {
    const auto metric = metrics.find(constraint.metric());
    const double above = metric == metrics.end()
                             ? std::numeric_limits<double>::infinity()
                             : metric->second - constraint.upper_bound();
    record.violation += std::isnan(above)
                            ? std::numeric_limits<double>::infinity()
                            : std::max(0.0, above);
  }
}

bool Beats(const ModelRecord& better, const ModelRecord& other) {
  if (better.study != other.study ||
      better.losses.size() != other.losses.size()) {
    return false;  // another study of this name, whose trials say nothing
  }
  if (better.violation != other.violation) {
    return better.violation < other.violation;
  }
  if (IsNoWorse(better.losses, other.losses)) return true;
  const bool is_twin =
      better.losses.size() == 1 && better.losses == other.losses;
  if (!is_twin || !better.IsSettled()) return false;
  return !other.IsSettled() || better.revision < other.revision;
}

std::string RecordPathOf(const std::string& attempt_folder) {
  return attempt_folder + ".model";
}

std::optional<ModelRecord> ReadRecord(const std::string& path) {
  const Expected<std::string> text = ReadWholeFile(path, kMostModelRecordBytes);
  if (!text.ok()) return std::nullopt;
  ModelRecord record;
  for (const absl::string_view line :
       absl::StrSplit(text.value(), '\n', absl::SkipEmpty())) {
    if (!Take(absl::StrSplit(line, ' '), record)) return std::nullopt;
  }
  return record;
}

absl::Status WriteRecord(const std::string& path, const ModelRecord& record) {
  std::string text =
      absl::StrCat("agent ", record.agent, "\nstudy ", record.study, "\n");
  if (record.IsScored()) {
    absl::StrAppend(&text, "losses");
    for (const double loss : record.losses) {
      absl::StrAppendFormat(&text, " %.17g", loss);
    }
    absl::StrAppendFormat(&text, "\nviolation %.17g\nrevision %d\n",
                          record.violation, record.revision);
  }
  const Expected<Done> written = WriteFileAtomically(path, text);
  if (written.ok()) return absl::OkStatus();
  errno = EIO;
  return FileError("write", path);
}

}  // namespace frostline::agent
