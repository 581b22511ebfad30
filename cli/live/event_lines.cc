// SPDX-License-Identifier: Apache-2.0
#include "cli/live/event_lines.h"

#include <google/protobuf/util/json_util.h>

#include "absl/strings/str_cat.h"
#include "cli/view/format.h"
#include "cli/view/study_view.h"
#include "cli/view/trial_view.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

std::string StudyOf(const v1::Trial& trial) {
  return trial.name().substr(0, trial.name().find("/trials/"));
}

// Of the change that made a trial what it is.
const google::protobuf::Timestamp& WhenOf(const v1::Trial& trial) {
  if (trial.has_end_time()) return trial.end_time();
  return trial.has_start_time() ? trial.start_time() : trial.create_time();
}

const google::protobuf::Timestamp& WhenOf(const v1::StudyEvent& event) {
  return event.has_trial() ? WhenOf(event.trial())
                           : event.study().update_time();
}

std::string Line(const v1::StudyEvent& event, const std::string& study,
                 const std::string& what) {
  return absl::StrCat(FormatTime(WhenOf(event)), "  ", LastPart(study), "  ",
                      proto::CleanText(what, proto::kMaxCauseBytes));
}

}  // namespace

std::string EventJson(const v1::StudyEvent& event) {
  google::protobuf::util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string json;
  const auto status =
      google::protobuf::util::MessageToJsonString(event, &json, options);
  return status.ok() ? json : "{\"error\": \"no JSON\"}";
}

std::int64_t TimeOf(const v1::StudyEvent& event) {
  return WhenOf(event).seconds();
}

void EventLines::Know(const v1::Study& study) {
  specs_[study.name()] = study.spec();
}

bool EventLines::IsNews(const v1::Trial& trial) {
  const auto now = std::make_pair(trial.state(), trial.attempt());
  auto& last = trials_[trial.name()];
  return std::exchange(last, now) != now;
}

std::string EventLines::LineOf(const v1::StudyEvent& event) {
  if (event.has_trial() && IsNews(event.trial())) {
    const std::string study = StudyOf(event.trial());
    return Line(event, study, TrialLine(event.trial(), specs_[study]));
  }
  if (!event.has_study()) return "";
  const v1::Study& study = event.study();
  Know(study);
  auto& last = states_[study.name()];
  if (std::exchange(last, study.state()) == study.state()) return "";
  std::string what =
      absl::StrCat("study  ", NameOf(study.state()), "  ", ProgressText(study));
  if (!study.state_reason().empty()) {
    absl::StrAppend(&what, "  ", study.state_reason());
  }
  return Line(event, study.name(), what);
}

}  // namespace frostline::cli
