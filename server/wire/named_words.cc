// SPDX-License-Identifier: Apache-2.0
#include "server/wire/named_words.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/plain/text.h"
#include "base/plain/training_table.h"
#include "server/wire/settings.h"

namespace frostline::server {
namespace {

absl::Status WrongWord(const std::string& field, const std::string& cause,
                       const std::string& fix) {
  return MakeError(ErrorId::kRequestInvalid, cause, fix, field);
}

absl::Status CheckWordKind(const v1::DataRef& data, const std::string& field) {
  static const SettingRow kTask = {
      .key = "task", .kind = SettingKind::kWord, .words = kTaskKinds};
  return CheckWord(kTask, data.task(), field);
}

// Our words, then the others: "query, key, …", "q_lin, …".
std::pair<std::vector<std::string>, std::vector<std::string>> MapWords() {
  std::vector<std::string> ours;
  std::vector<std::string> others;
  for (const LoraWord& each : LoraWords()) {
    (each.word == each.map ? ours : others).emplace_back(each.word);
  }
  return {std::move(ours), std::move(others)};
}

// Which of them a model's layers have, only a worker knows.
absl::Status CheckMaps(const v1::LoraSpec& lora) {
  const std::span<const LoraWord> known = LoraWords();
  for (int i = 0; i < lora.modules_size(); ++i) {
    const std::string& name = lora.modules(i);
    const bool is_known = std::ranges::any_of(
        known, [&](const LoraWord& each) { return each.word == name; });
    if (is_known) continue;
    auto [ours, others] = MapWords();
    std::vector<std::string> all = ours;
    all.insert(all.end(), others.begin(), others.end());
    const std::string near = Nearest(name, all);
    return WrongWord(
        absl::StrCat("training.lora.modules[", i, "]"),
        absl::StrCat("training.lora.modules names ", Shown(name),
                     ", which is no map of a layer"),
        absl::StrCat(near.empty() ? "" : "did you mean '" + near + "'? ",
                     "name some of ", absl::StrJoin(ours, ", "),
                     ", or as transformers has them ",
                     absl::StrJoin(others, ", ")));
  }
  return absl::OkStatus();
}

absl::Status CheckFrozen(const v1::TaskSpec& task, const std::string& field) {
  for (int i = 0; i < task.freeze_size(); ++i) {
    const std::string& selector = task.freeze(i);
    const bool of_head = absl::StartsWith(selector, "layer.") &&
                         absl::StrContains(selector, ".head.");
    if (!of_head) continue;
    return WrongWord(
        absl::StrCat(field, ".freeze[", i, "]"),
        absl::StrCat("the task ", Shown(task.name()), " freezes ",
                     Shown(selector),
                     ", and a task freezes no single attention heads"),
        "freeze whole layers, or their attention");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckNamedWords(const v1::StudySpec& spec) {
  const v1::Training& training = spec.training();
  if (training.warmup_share() > 0.0 && training.warmup_steps() > 0) {
    return WrongWord("training.warmup_share",
                     "training.warmup_share and training.warmup_steps are both "
                     "given",
                     "give one of them");
  }
  if (std::cmp_greater(training.also_evaluate_size(), kMostOtherSets)) {
    return WrongWord("training.also_evaluate",
                     absl::StrCat("training.also_evaluate names ",
                                  training.also_evaluate_size(), " data sets"),
                     absl::StrCat("name at most ", kMostOtherSets));
  }
  RETURN_IF_ERROR(CheckMaps(training.lora()));
  RETURN_IF_ERROR(CheckWordKind(spec.data(), "data.task"));
  for (int i = 0; i < spec.tasks_size(); ++i) {
    const std::string field = absl::StrCat("tasks[", i, "]");
    RETURN_IF_ERROR(CheckWordKind(spec.tasks(i).data(), field + ".data.task"));
    RETURN_IF_ERROR(CheckFrozen(spec.tasks(i), field));
  }
  return absl::OkStatus();
}

}  // namespace frostline::server
