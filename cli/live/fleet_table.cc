// SPDX-License-Identifier: Apache-2.0
#include "cli/live/fleet_table.h"

#include <google/protobuf/struct.pb.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>

#include "cli/live/running_trials.h"
#include "cli/view/format.h"
#include "cli/view/study_view.h"
#include "cli/view/trial_view.h"

namespace frostline::cli {
namespace {

std::string FleetStudyOf(const v1::Trial& trial) {
  return trial.name().substr(0, trial.name().find("/trials/"));
}

// Returns the result of each study's best trial, by the study's name.
std::map<std::string, std::string> BestTexts(const FleetAnswers& answers) {
  std::map<std::string, const v1::Study*> studies;
  for (const v1::Study& study : answers.studies) studies[study.name()] = &study;
  std::map<std::string, std::string> texts;
  for (const v1::Trial& trial : answers.best) {
    const auto study = studies.find(FleetStudyOf(trial));
    if (study == studies.end()) continue;
    texts[study->first] = ObjectiveText(trial, study->second->spec());
  }
  return texts;
}

FleetRow RowOf(const v1::Trial& trial, WallMicros now) {
  const v1::TrialProgress& progress = trial.progress();
  FleetRow row;
  row.worker = LastPart(trial.worker());
  row.slot = progress.slot();
  row.state = NameOf(trial.state());
  row.trial = trial.name();
  row.study = LastPart(FleetStudyOf(trial));
  row.number = trial.number();
  row.phase = progress.phase();
  row.epoch = progress.epoch();
  row.total_epochs = progress.total_epochs();
  row.step = trial.has_progress() ? progress.step() : trial.last_step();
  row.total_steps = progress.total_steps();
  row.steps_per_second = progress.steps_per_second();
  row.seconds_left = ToldSecondsLeft(trial, now);
  return row;
}

// Returns the slots of one worker: first the named ones, then the rest.
std::vector<FleetRow> SlotsOf(std::vector<FleetRow> busy, int slots,
                              const std::vector<bool>& names_its_slot,
                              const FleetRow& idle) {
  std::set<int> taken;
  std::vector<std::size_t> homeless;
  for (std::size_t i = 0; i < busy.size(); ++i) {
    const bool has_place =
        names_its_slot[i] && taken.insert(busy[i].slot).second;
    if (!has_place) homeless.push_back(i);
  }
  int next = 0;
  for (const std::size_t i : homeless) {
    while (!taken.insert(next).second) ++next;
    busy[i].slot = next;
  }
  for (int slot = 0; slot < slots; ++slot) {
    if (taken.contains(slot)) continue;
    busy.push_back(idle);
    busy.back().slot = slot;
  }
  std::sort(busy.begin(), busy.end(), [](const FleetRow& a, const FleetRow& b) {
    return a.slot < b.slot;
  });
  return busy;
}

void CountWorker(const v1::Worker& worker, std::int64_t busy,
                 FleetCounts* counts) {
  switch (worker.state()) {
    case v1::WORKER_STATE_ACTIVE:
      ++counts->live;
      counts->slots += worker.slots();
      counts->free += std::max<std::int64_t>(0, worker.slots() - busy);
      break;
    case v1::WORKER_STATE_DRAINING:
      ++counts->draining;
      break;
    case v1::WORKER_STATE_QUARANTINED:
      ++counts->quarantined;
      break;
    default:
      break;
  }
}

void CountStudies(const std::vector<v1::Study>& studies, FleetCounts* counts) {
  for (const v1::Study& study : studies) {
    ++counts->studies;
    counts->active += study.state() == v1::STUDY_STATE_ACTIVE;
    const v1::TrialCounts& trials = study.counts();
    counts->queued += trials.queued();
    counts->ended += EndedTrials(trials);
    counts->outside += OutsideBudget(trials);
  }
}

}  // namespace

FleetTable TableOf(const FleetAnswers& answers) {
  const std::map<std::string, std::string> best = BestTexts(answers);
  std::map<std::string, std::pair<std::vector<FleetRow>, std::vector<bool>>>
      busy;
  for (const v1::Trial& trial : answers.running) {
    auto& [rows, names_its_slot] = busy[LastPart(trial.worker())];
    rows.push_back(RowOf(trial, answers.time));
    names_its_slot.push_back(trial.has_progress());
    const auto text = best.find(FleetStudyOf(trial));
    if (text != best.end()) rows.back().best = text->second;
  }
  FleetTable table;
  CountStudies(answers.studies, &table.counts);
  // Not what studies said before: the head is to count what the rows show.
  table.counts.running = static_cast<std::int64_t>(answers.running.size());
  std::map<std::string, v1::Worker> workers;
  // A worker that the list has no longer still holds its trials.
  for (const auto& [name, held] : busy) workers[name];
  for (const v1::Worker& worker : answers.workers) {
    const std::string name = LastPart(worker.name());
    const bool is_gone = worker.state() == v1::WORKER_STATE_GONE;
    if (!is_gone || busy.contains(name)) workers[name] = worker;
    CountWorker(worker,
                busy.contains(name)
                    ? static_cast<std::int64_t>(busy[name].first.size())
                    : 0,
                &table.counts);
  }
  for (const auto& [name, worker] : workers) {
    FleetRow idle;
    idle.worker = name;
    idle.state = worker.state() == v1::WORKER_STATE_ACTIVE
                     ? "idle"
                     : NameOf(worker.state());
    const int slots =
        worker.state() == v1::WORKER_STATE_GONE ? 0 : worker.slots();
    const auto rows = SlotsOf(busy[name].first, slots, busy[name].second, idle);
    table.rows.insert(table.rows.end(), rows.begin(), rows.end());
  }
  return table;
}

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

// Adds a number, or null when it is unknown, so that nobody takes it for zero.
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
