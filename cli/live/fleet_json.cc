// SPDX-License-Identifier: Apache-2.0
#include <google/protobuf/struct.pb.h>

#include "cli/live/fleet_table.h"
#include "cli/view/format.h"

namespace frostline::cli {
namespace {

using Object = google::protobuf::Struct;

void Put(Object* object, const char* name, const std::string& text) {
  (*object->mutable_fields())[name].set_string_value(text);
}

void Put(Object* object, const char* name, double number) {
  (*object->mutable_fields())[name].set_number_value(number);
}

void Put(Object* object, const char* name, std::int64_t number) {
  Put(object, name, static_cast<double>(number));
}

void PutNull(Object* object, const char* name) {
  (*object->mutable_fields())[name].set_null_value(
      google::protobuf::NULL_VALUE);
}

Object* Below(Object* object, const char* name) {
  return (*object->mutable_fields())[name].mutable_struct_value();
}

// What is not known is null, so that nobody takes it for a zero.
void PutKnown(Object* object, const char* name, double number) {
  if (number > 0.0) {
    Put(object, name, number);
  } else {
    PutNull(object, name);
  }
}

void PutRow(const FleetRow& row, Object* object) {
  Put(object, "worker", row.worker);
  Put(object, "slot", static_cast<std::int64_t>(row.slot));
  Put(object, "state", row.state);
  if (row.trial.empty()) {
    PutNull(object, "trial");
    return;
  }
  Put(object, "trial", row.trial);
  Put(object, "study", row.study);
  Put(object, "number", row.number);
  Put(object, "phase", row.phase);
  Put(object, "epoch", row.epoch);
  PutKnown(object, "total_epochs", row.total_epochs);
  Put(object, "step", row.step);
  PutKnown(object, "total_steps", static_cast<double>(row.total_steps));
  PutKnown(object, "steps_per_second", row.steps_per_second);
  if (row.seconds_left.has_value()) {
    Put(object, "seconds_left", *row.seconds_left);
  } else {
    PutNull(object, "seconds_left");
  }
  Put(object, "best", row.best);
}

}  // namespace

std::string FleetJson(const FleetAnswers& answers) {
  const FleetTable table = TableOf(answers);
  const FleetCounts& counts = table.counts;
  Object all;
  Put(&all, "coordinator", answers.coordinator);
  Put(&all, "version", answers.info.version());
  Put(&all, "time", FormatWall(answers.time));
  Object* const studies = Below(&all, "studies");
  Put(studies, "all", counts.studies);
  Put(studies, "active", counts.active);
  Object* const trials = Below(&all, "trials");
  Put(trials, "running", counts.running);
  Put(trials, "queued", counts.queued);
  Put(trials, "ended", counts.ended);
  Object* const workers = Below(&all, "workers");
  Put(workers, "live", counts.live);
  Put(workers, "draining", counts.draining);
  Put(workers, "quarantined", counts.quarantined);
  Object* const slots = Below(&all, "slots");
  Put(slots, "all", counts.slots);
  Put(slots, "free", counts.free);
  auto* const rows = (*all.mutable_fields())["rows"].mutable_list_value();
  for (const FleetRow& row : table.rows) {
    PutRow(row, rows->add_values()->mutable_struct_value());
  }
  return ToJson(all);
}

}  // namespace frostline::cli
