// SPDX-License-Identifier: Apache-2.0
#include "server/wire/predicted_sets.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/plain/text.h"

namespace frostline::server {
namespace {

using Names = std::vector<std::string>;

bool Has(const Names& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

// What a trial evaluates of one data set.
Names SetsOf(const v1::DataRef& data, const v1::Training& training) {
  Names names = {"validation", "train"};
  names.insert(names.end(), training.also_evaluate().begin(),
               training.also_evaluate().end());
  if (!data.test_split().empty()) names.emplace_back("test");
  return names;
}

// `data_field` names the data set in the study, `whose` its task in the cause.
absl::Status CheckPredicted(const v1::Training& training,
                            const v1::DataRef& data,
                            const std::string& data_field,
                            const std::string& whose) {
  const Names known = SetsOf(data, training);
  for (int i = 0; i < training.predictions_size(); ++i) {
    const std::string& name = training.predictions(i);
    if (Has(known, name) || name == "dev") continue;
    const std::string field = absl::StrCat("training.predictions[", i, "]");
    if (name == "test") {
      return MakeError(
          ErrorId::kRequestInvalid,
          absl::StrCat("training.predictions names 'test', and ", whose,
                       " no test split"),
          absl::StrCat("give ", data_field, ".test_split, or name some of ",
                       absl::StrJoin(known, ", ")),
          field);
    }
    const std::string near = Nearest(name, known);
    return MakeError(
        ErrorId::kRequestInvalid,
        absl::StrCat("training.predictions names ", Shown(name),
                     ", which no trial would evaluate"),
        absl::StrCat(near.empty() ? "" : "did you mean '" + near + "'? ",
                     "name some of ", absl::StrJoin(known, ", "),
                     data_field == "data"
                         ? "; for more give training.also_evaluate"
                         : ""),
        field);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckPredictedSets(const v1::StudySpec& spec) {
  const v1::Training& training = spec.training();
  if (spec.tasks_size() == 0) {
    return CheckPredicted(training, spec.data(), "data", "data has");
  }
  for (int i = 0; i < spec.tasks_size(); ++i) {
    const v1::TaskSpec& task = spec.tasks(i);
    RETURN_IF_ERROR(CheckPredicted(
        training, task.data(), absl::StrCat("tasks[", i, "].data"),
        absl::StrCat("the task ", Shown(task.name()), " has")));
  }
  return absl::OkStatus();
}

}  // namespace frostline::server
