// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/imported_point.h"

#include <algorithm>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "cli/commands/imported_lines.h"
#include "cli/view/space_names.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

constexpr std::size_t kMostNamed = 8;
constexpr std::size_t kMaxImportedName = 100;

// Parameters that are absent from some trials of the study.
std::set<std::string> Conditional(const v1::SearchSpace& space) {
  std::set<std::string> names;
  for (const v1::ParameterSpace& one : space.parameters()) {
    if (one.has_when()) names.insert(one.name());
  }
  if (space.has_prefix_depth()) {
    for (const v1::Tie& tie : space.ties()) names.insert(tie.name());
    names.insert({"base_rate", "decay"});
  }
  return names;
}

std::string Named(const std::vector<std::string>& names) {
  const auto shown =
      static_cast<std::ptrdiff_t>(std::min(names.size(), kMostNamed));
  std::string text =
      absl::StrJoin(names.begin(), names.begin() + shown, ", ",
                    [](std::string* out, const std::string& name) {
                      out->append(proto::CleanText(name, kMaxImportedName));
                    });
  if (names.size() > kMostNamed) {
    absl::StrAppend(&text, " and ", names.size() - kMostNamed, " more");
  }
  return text;
}

absl::Status BadParameter(const std::string& file, std::size_t line,
                          const std::string& name, const std::string& what,
                          const std::string& fix) {
  return MakeError(
      ErrorId::kValueOutOfSpace,
      absl::StrCat(file, ":", line, ": parameter ",
                   proto::CleanText(name, kMaxImportedName), " ", what),
      fix, absl::StrCat("parameters.", name));
}

}  // namespace

PointCheck::PointCheck(const v1::StudySpec& spec) : spec_(spec) {
  const std::set<std::string> conditional = Conditional(spec.space());
  for (const std::string& name : ParameterNames(spec)) {
    known_.insert(name);
    const bool is_below_depth =
        spec.space().has_prefix_depth() && absl::StartsWith(name, "layer.");
    if (is_below_depth || conditional.contains(name)) continue;
    always_active_.push_back(name);
  }
}

absl::Status PointCheck::Columns(const std::vector<std::string>& columns,
                                 const std::string& file,
                                 std::size_t line) const {
  std::vector<std::string> missing;
  for (const std::string& name : always_active_) {
    if (std::ranges::count(columns, name) == 0) missing.push_back(name);
  }
  if (missing.empty()) return absl::OkStatus();
  std::vector<std::string> wanted;
  for (const v1::Objective& one : spec_.objectives()) {
    wanted.push_back(one.metric());
  }
  wanted.insert(wanted.end(), always_active_.begin(), always_active_.end());
  return BadLine(
      file, line,
      absl::StrCat("the line is no JSON object, and as the header of a table "
                   "it has no column for ",
                   Named(missing)),
      absl::StrCat("begin a table with a row of names, here ", Named(wanted),
                   "; or write lines as `frostline study export` does"));
}

absl::Status PointCheck::Point(const v1::ImportedTrial& trial,
                               const std::string& file,
                               std::size_t line) const {
  for (const auto& [name, value] : trial.parameters()) {
    if (!known_.contains(name)) return absl::OkStatus();
  }
  for (const std::string& name : always_active_) {
    if (trial.parameters().contains(name)) continue;
    return BadParameter(file, line, name, "has no value",
                        "give every active parameter a value of its domain");
  }
  return absl::OkStatus();
}

absl::Status CheckOnce(const v1::Trial& trial, const std::string& file,
                       std::size_t line) {
  std::set<std::string> seen;
  for (const v1::ParameterValue& one : trial.parameters()) {
    if (seen.insert(one.name()).second) continue;
    return BadParameter(file, line, one.name(), "is there twice",
                        "keep the value that the trial ran with");
  }
  return absl::OkStatus();
}

}  // namespace frostline::cli
