// SPDX-License-Identifier: Apache-2.0
#include "cli/view/log_view.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/view/format.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

std::string QuotedLogText(const std::string& text) {
  google::protobuf::Value value;
  value.set_string_value(text);
  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(value, &json);
  return status.ok() ? json : "null";
}

std::string Number(std::int64_t number) {
  return QuotedLogText(absl::StrCat(number));  // as protobuf's JSON has 64 bits
}

std::string Clean(const std::string& text) {
  return proto::CleanText(text, proto::kMaxCauseBytes);
}

std::string WhetherKept(const v1::LogPlace& place) {
  if (!place.has_kept()) return "if it is still there";
  return place.kept() ? "where it is kept"
                      : "which went with the trial's end (the worker's --keep)";
}

}  // namespace

std::string DescribeLogPlace(const std::string& trial,
                             const v1::GetTrialLogReply& log) {
  const v1::LogPlace& place = log.place();
  std::string text = absl::StrCat(trial, ": attempt ", log.attempt(), " ",
                                  NameOf(log.state()));
  if (place.path().empty()) {
    absl::StrAppend(&text, "; no path of its whole log is known");
    if (!log.worker().empty()) {
      absl::StrAppend(&text, ", only its worker, ", LastPart(log.worker()));
    }
    if (!place.host().empty()) {
      absl::StrAppend(&text, " on ", Clean(place.host()));
    }
    return text + "\n";
  }
  return absl::StrCat(text, "; its whole log: ", Clean(place.host()), ":",
                      Clean(place.path()), ", ", WhetherKept(place), "\n");
}

std::string DescribeNoLog(const v1::Trial& trial) {
  if (!IsEnded(trial.state())) return trial.name() + " has not begun\n";
  if (trial.origin() == v1::TRIAL_ORIGIN_IMPORTED) {
    return trial.name() + " was imported, so it did not run here\n";
  }
  return absl::StrCat(trial.name(), " is ", NameOf(trial.state()),
                      " without having run\n");
}

std::string LogToJson(const std::string& trial, const v1::GetTrialLogReply& log,
                      bool is_line) {
  const v1::LogPlace& place = log.place();
  std::string kept = "null";
  if (place.has_kept()) kept = place.kept() ? "true" : "false";
  const std::vector<std::pair<std::string, std::string>> members = {
      {"trial", QuotedLogText(trial)},
      {"attempt", Number(log.attempt())},
      {"state", QuotedLogText(v1::AttemptState_Name(log.state()))},
      {"worker", QuotedLogText(log.worker())},
      {"live", log.live() ? "true" : "false"},
      {"host", QuotedLogText(place.host())},
      {"path", QuotedLogText(place.path())},
      {"kept", kept},
      {"end", Number(place.end())},
      {"log", QuotedLogText(log.tail())}};
  const std::string indent = is_line ? "" : "\n ";
  std::string json = "{";
  for (const auto& [name, value] : members) {
    absl::StrAppend(&json,
                    json.size() == 1 ? ""
                    : is_line        ? ", "
                                     : ",",
                    indent, "\"", name, "\": ", value);
  }
  return absl::StrCat(json, is_line ? "" : "\n", "}\n");
}

std::string DescribeOutcome(const v1::Trial& trial, const v1::StudySpec& spec) {
  std::vector<std::string> parts;
  for (int i = 0; i < std::min(trial.values_size(), spec.objectives_size());
       ++i) {
    parts.push_back(absl::StrCat(spec.objectives(i).metric(), " ",
                                 FormatNumber(trial.values(i))));
  }
  if (!trial.cause().empty()) parts.push_back(Clean(trial.cause()));
  return absl::StrCat(trial.name(), " is ", NameOf(trial.state()),
                      parts.empty() ? "" : ": ", absl::StrJoin(parts, ", "),
                      "\n");
}

// Finds the longest end of `before` with which `now` begins (Knuth, Morris and
// Pratt 1977): the matched length of `now` grows by one byte, or falls back to
// its next shorter border.
std::string BeyondTail(const std::string& before, const std::string& now) {
  std::vector<std::size_t> border(now.size() + 1, 0);
  std::size_t matched = 0;
  for (std::size_t i = 1; i < now.size(); ++i) {
    while (matched > 0 && now[i] != now[matched]) matched = border[matched];
    if (now[i] == now[matched]) ++matched;
    border[i + 1] = matched;
  }
  matched = 0;
  for (const char byte : before) {
    if (matched == now.size()) matched = border[matched];
    while (matched > 0 && byte != now[matched]) matched = border[matched];
    if (matched < now.size() && byte == now[matched]) ++matched;
  }
  return now.substr(matched);
}

}  // namespace frostline::cli
