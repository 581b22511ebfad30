// SPDX-License-Identifier: Apache-2.0
#include "cli/slurm/fleet_view.h"

#include <google/protobuf/struct.pb.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/term/table.h"
#include "cli/view/format.h"

namespace frostline::cli {
namespace {

std::string FleetLabelOf(const v1::Worker& worker, const char* key) {
  const auto label = worker.labels().find(key);
  return label == worker.labels().end() ? "" : label->second;
}

// The match of tasks and workers. A restarted task gets a worker of the same
// name, so each task has one worker.
class Matched {
 public:
  explicit Matched(const FleetFacts& facts) {
    std::map<std::tuple<std::string, std::string, std::string>,
             const v1::Worker*>
        by_task;
    for (const v1::Worker& worker : facts.workers) {
      if (worker.state() == v1::WORKER_STATE_GONE) continue;
      by_task[{FleetLabelOf(worker, "slurm_cluster"),
               FleetLabelOf(worker, "slurm_job"),
               FleetLabelOf(worker, "slurm_task")}] = &worker;
    }
    std::set<const v1::Worker*> taken;
    for (const ArrayTask& task : facts.tasks) {
      const auto found = by_task.find(
          {facts.cluster, absl::StrCat(task.array), absl::StrCat(task.index)});
      of_task_.push_back(found == by_task.end() ? nullptr : found->second);
      taken.insert(of_task_.back());
    }
    for (const v1::Worker& worker : facts.workers) {
      if (worker.state() != v1::WORKER_STATE_GONE && !taken.contains(&worker)) {
        others_.push_back(&worker);
      }
    }
  }

  // Null where the coordinator knows none.
  const std::vector<const v1::Worker*>& of_task() const { return of_task_; }
  const std::vector<const v1::Worker*>& others() const { return others_; }

 private:
  std::vector<const v1::Worker*> of_task_;
  std::vector<const v1::Worker*> others_;
};

std::string FleetOriginOf(const v1::Worker& worker) {
  const std::string job = FleetLabelOf(worker, "slurm_job");
  if (job.empty()) return "no Slurm";
  return absl::StrCat("array ", job, " of cluster ",
                      FleetLabelOf(worker, "slurm_cluster"));
}

// Returns "3 of array 17 of cluster west, 1 of no Slurm".
std::string OriginsOf(const std::vector<const v1::Worker*>& workers) {
  std::map<std::string, int> counts;
  for (const v1::Worker* worker : workers) ++counts[FleetOriginOf(*worker)];
  return absl::StrJoin(counts, ", ", [](std::string* out, const auto& entry) {
    absl::StrAppend(out, entry.second, " of ", entry.first);
  });
}

}  // namespace

int SlotsOfFleet(const FleetFacts& facts) {
  std::set<std::string> arrays;
  for (const ArrayTask& task : facts.tasks) {
    arrays.insert(absl::StrCat(task.array));
  }
  int slots = 1;
  for (const v1::Worker& worker : facts.workers) {
    if (FleetLabelOf(worker, "slurm_cluster") == facts.cluster &&
        arrays.contains(FleetLabelOf(worker, "slurm_job"))) {
      slots = std::max(slots, worker.slots());
    }
  }
  return slots;
}

std::string RenderFleet(const FleetFacts& facts, int width) {
  const Matched matched(facts);
  Table table({{"TASK"},
               {"JOB"},
               {"NODE"},
               {"WORKER"},
               {"WORKER IS"},
               {"TRIALS", Align::kRight, 1},
               {"LAST SEEN", Align::kLeft, 2},
               {"WAITS FOR", Align::kLeft, 1}});
  for (std::size_t i = 0; i < facts.tasks.size(); ++i) {
    const ArrayTask& task = facts.tasks[i];
    const v1::Worker* const worker = matched.of_task()[i];
    const bool is_there = worker != nullptr;
    table.AddRow({absl::StrCat(task.array, "_", task.index), task.state,
                  task.node, is_there ? LastPart(worker->name()) : "-",
                  is_there ? NameOf(worker->state()) : "not there",
                  absl::StrCat(is_there ? worker->trials_size() : 0),
                  is_there ? FormatTime(worker->last_seen_time()) : "",
                  task.waits() ? task.reason : ""});
  }
  std::string text = facts.tasks.empty()
                         ? absl::StrCat("no task of ", facts.job_name,
                                        " on cluster ", facts.cluster, "\n")
                         : table.Render(width);
  if (!matched.others().empty()) {
    absl::StrAppend(&text, "other workers of this coordinator: ",
                    OriginsOf(matched.others()), "\n");
  }
  return text;
}

std::string SlurmFleetJson(const FleetFacts& facts) {
  const Matched matched(facts);
  google::protobuf::Struct fields;
  auto& map = *fields.mutable_fields();
  map["job_name"].set_string_value(facts.job_name);
  map["cluster"].set_string_value(facts.cluster);
  auto* const tasks = map["tasks"].mutable_list_value();
  for (std::size_t i = 0; i < facts.tasks.size(); ++i) {
    const ArrayTask& task = facts.tasks[i];
    auto& row = *tasks->add_values()->mutable_struct_value()->mutable_fields();
    row["array"].set_number_value(static_cast<double>(task.array));
    row["task"].set_number_value(task.index);
    row["state"].set_string_value(task.state);
    row["node"].set_string_value(task.node);
    row["reason"].set_string_value(task.reason);
    const v1::Worker* const worker = matched.of_task()[i];
    if (worker == nullptr) continue;
    row["worker"].set_string_value(worker->name());
    row["worker_state"].set_string_value(NameOf(worker->state()));
    row["trials"].set_number_value(worker->trials_size());
  }
  auto* const others = map["other_workers"].mutable_list_value();
  for (const v1::Worker* worker : matched.others()) {
    auto& row = *others->add_values()->mutable_struct_value()->mutable_fields();
    row["worker"].set_string_value(worker->name());
    row["state"].set_string_value(NameOf(worker->state()));
    row["cluster"].set_string_value(FleetLabelOf(*worker, "slurm_cluster"));
    row["array"].set_string_value(FleetLabelOf(*worker, "slurm_job"));
  }
  return ToJson(fields);
}

}  // namespace frostline::cli
