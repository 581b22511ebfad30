// SPDX-License-Identifier: Apache-2.0
#include "server/sampler_choice.h"

#include "absl/strings/str_cat.h"
#include "sampler/auto.h"

namespace frostline {
namespace {

constexpr const char* kAuto = "auto";

SamplerChoice ChoiceFor(const CheckedStudy& study) {
  return ChooseSampler(study.space, study.objectives,
                       study.settings.budget().trials());
}

// Whoever wants every point tried gets that, where the budget allows it.
bool Covers(const CheckedStudy& study) {
  const std::string& name = study.sampler.name;
  return (name == "grid" || name == "brute") &&
         study.space.CountPoints() <=
             static_cast<double>(study.settings.budget().trials());
}

}  // namespace

void WritePick(const CheckedStudy& study, v1::StudySpec& spec) {
  if (spec.sampler().name() != kAuto) return;
  // Nothing happens when a pick is there.
  spec.mutable_sampler()->mutable_options()->insert(
      {kPickOption, ChoiceFor(study).name});
}

std::string ResolvedSampler(const CheckedStudy& study) {
  const auto pick = study.sampler.options.find(kPickOption);
  return study.sampler.name == kAuto && pick != study.sampler.options.end()
             ? pick->second
             : study.sampler.name;
}

std::vector<std::string> AdviceFor(const CheckedStudy& study) {
  const SamplerChoice choice = ChoiceFor(study);
  const std::string running = ResolvedSampler(study);
  if (study.sampler.name == kAuto) {
    return {absl::StrCat("auto is ", running, " here",
                         running == choice.name ? ": " + choice.why : "")};
  }
  if (running == choice.name || Covers(study)) return {};
  return {absl::StrCat("sampler: auto would be ", choice.name,
                       " here, better than ", running, ": ", choice.why)};
}

}  // namespace frostline
