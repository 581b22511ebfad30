// SPDX-License-Identifier: Apache-2.0
#include "server/wire/example_outcomes.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "server/wire/field_checks.h"
#include "server/wire/limits.h"

namespace frostline::server {
namespace {

constexpr char kValidation[] = "validation";
constexpr char kDev[] = "dev";  // the validation set's other name

using Evaluations = google::protobuf::RepeatedPtrField<v1::ExampleOutcomes>;

// Reads whichever of the two forms the outcome has.
Evaluations EvaluationsOf(const v1::Outcome& outcome) {
  Evaluations all = outcome.evaluations();
  if (outcome.has_examples()) *all.Add() = outcome.examples();
  for (v1::ExampleOutcomes& one : all) one.set_set(SetNamed(one.set()));
  return all;
}

bool IsPlainValidation(const v1::ExampleOutcomes& one) {
  return one.set() == kValidation && one.task().empty();
}

// Says whether the columns can hold all of it.
bool FitsColumns(v1::ExampleOutcomes one) {
  one.clear_data_fingerprint();
  one.clear_encoding();
  one.clear_count();
  one.clear_data();
  one.clear_set();
  return one.ByteSizeLong() == 0;
}

// Returns all sets of the row, whole.
Evaluations AllOf(const storage::OutcomeRow& row) {
  v1::Outcome outcome;
  outcome.ParseFromString(row.evaluations);
  Evaluations all = outcome.evaluations();
  v1::ExampleOutcomes* validation = nullptr;
  for (v1::ExampleOutcomes& one : all) {
    if (IsPlainValidation(one)) validation = &one;
  }
  if (validation == nullptr && !row.evaluations.empty()) return all;
  if (validation == nullptr) validation = all.Add();
  validation->set_set(kValidation);
  validation->set_data_fingerprint(row.data_fingerprint);
  validation->set_encoding(
      static_cast<v1::ExampleOutcomes::Encoding>(row.encoding));
  validation->set_count(row.count);
  validation->set_data(row.data);
  return all;
}

const v1::ExampleOutcomes* Find(const Evaluations& all, const std::string& set,
                                const std::string& task) {
  for (const v1::ExampleOutcomes& one : all) {
    if (one.set() == set && one.task() == task) return &one;
  }
  return nullptr;
}

}  // namespace

std::string SetNamed(const std::string& set) {
  return set.empty() ? kValidation : set;
}

std::string DescribeSet(const std::string& set, const std::string& task) {
  return task.empty() ? SetNamed(set) : absl::StrCat(task, "/", SetNamed(set));
}

std::string MetricPrefix(const std::string& set, const std::string& task) {
  const bool is_validation = set.empty() || set == kValidation || set == kDev;
  return absl::StrCat(task, task.empty() ? "" : ".", is_validation ? "" : set,
                      is_validation ? "" : ".");
}

std::string CanonicalSet(const std::string& set, const v1::Training& training) {
  const auto& others = training.also_evaluate();
  const bool is_own =
      std::find(others.begin(), others.end(), set) != others.end();
  return set.empty() || (set == kDev && !is_own) ? kValidation : set;
}

absl::Status CheckExamples(const v1::Outcome& outcome) {
  if (outcome.has_examples() && !outcome.evaluations().empty()) {
    return BadField("outcome.evaluations", "is there beside outcome.examples",
                    "send one of them");
  }
  RETURN_IF_ERROR(CheckBytes(outcome.examples().data(), kMaxExamplesBytes,
                             "outcome.examples.data"));
  RETURN_IF_ERROR(CheckCount(outcome.evaluations_size(), kMaxEvaluations,
                             "outcome.evaluations"));
  std::size_t bytes = outcome.examples().ByteSizeLong();
  std::set<std::pair<std::string, std::string>> seen;
  for (const v1::ExampleOutcomes& one : outcome.evaluations()) {
    RETURN_IF_ERROR(
        CheckBytes(one.data(), kMaxExamplesBytes, "outcome.evaluations.data"));
    RETURN_IF_ERROR(
        CheckBytes(one.set(), kMaxSetNameBytes, "outcome.evaluations.set"));
    RETURN_IF_ERROR(
        CheckBytes(one.task(), kMaxSetNameBytes, "outcome.evaluations.task"));
    if (!seen.emplace(one.task(), SetNamed(one.set())).second) {
      return BadField("outcome.evaluations",
                      "has " + DescribeSet(one.set(), one.task()) + " twice",
                      "send each set once");
    }
    bytes += one.ByteSizeLong();
  }
  if (bytes <= kMaxEvaluationsBytes) return absl::OkStatus();
  return BadField(
      "outcome.evaluations",
      absl::StrCat("takes ", bytes, " bytes, more than ", kMaxEvaluationsBytes),
      "leave out confidences, or sets");
}

std::optional<storage::OutcomeRow> OutcomeRowOf(const v1::Outcome& outcome) {
  Evaluations all = EvaluationsOf(outcome);
  if (all.empty()) return std::nullopt;
  storage::OutcomeRow row;
  const bool only_columns =
      all.size() == 1 && IsPlainValidation(all[0]) && FitsColumns(all[0]);
  for (v1::ExampleOutcomes& one : all) {
    if (!IsPlainValidation(one)) continue;
    row.data_fingerprint = one.data_fingerprint();
    row.encoding = one.encoding();
    row.count = one.count();
    row.data = one.data();
    one.clear_data_fingerprint();
    one.clear_encoding();
    one.clear_count();
    one.clear_data();
  }
  if (only_columns) return row;
  v1::Outcome kept;
  kept.mutable_evaluations()->Swap(&all);
  row.evaluations = kept.SerializeAsString();
  return row;
}

void NoteEvaluations(const v1::Outcome& outcome, storage::TrialRow& row) {
  v1::Trial kept;
  kept.ParseFromString(row.labels);
  kept.clear_evaluations();
  for (const v1::ExampleOutcomes& one : EvaluationsOf(outcome)) {
    v1::EvaluationSet& noted = *kept.add_evaluations();
    noted.set_task(one.task());
    noted.set_set(one.set());
    noted.set_data_fingerprint(one.data_fingerprint());
    noted.set_count(one.count());
  }
  row.labels = kept.SerializeAsString();
}

void ForgetEvaluations(storage::TrialRow& row) {
  v1::Trial kept;
  kept.ParseFromString(row.labels);
  kept.clear_evaluations();
  row.labels = kept.SerializeAsString();
}

std::optional<v1::ExampleOutcomes> OutcomesOfSet(const storage::OutcomeRow& row,
                                                 const std::string& set,
                                                 const std::string& task) {
  const Evaluations all = AllOf(row);
  const std::string wanted = SetNamed(set);
  const v1::ExampleOutcomes* found = Find(all, wanted, task);
  if (found == nullptr && wanted == kDev) found = Find(all, kValidation, task);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

std::string DescribeSets(const storage::OutcomeRow& row) {
  return absl::StrJoin(AllOf(row), ", ",
                       [](std::string* out, const v1::ExampleOutcomes& one) {
                         out->append(DescribeSet(one.set(), one.task()));
                       });
}

absl::Status NoOutcomes(const std::string& trial, const std::string& set,
                        const std::string& task, const storage::OutcomeRow* row,
                        const std::string& field) {
  if (row == nullptr) {
    return MakeError(
        ErrorId::kOutcomesMissing, trial + " brought no outcomes of examples",
        "run it in a study with training.report_example_outcomes: true", field);
  }
  return MakeError(
      ErrorId::kOutcomesMissing,
      absl::StrCat(trial, " brought no outcomes of ", DescribeSet(set, task)),
      "ask for one that it has: " + DescribeSets(*row), field);
}

}  // namespace frostline::server
