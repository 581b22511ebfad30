// SPDX-License-Identifier: Apache-2.0
#include "server/search/sampler_choice.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "sampler/auto.h"
#include "sampler/factory.h"
#include "server/search/answers.h"
#include "study/freezing.h"

namespace frostline::server {
namespace {

constexpr const char* kAuto = "auto";

sampler::SamplerChoice ChoiceFor(const CheckedStudy& study) {
  return sampler::ChooseSampler(study.space, study.objectives,
                                study.settings.budget().trials());
}

// Says whether the sampler does what the study asks for, so that nothing better
// has to be advised. `qmc` gives an even overview, which no search does. `grid`
// and `brute` try every point, if the budget allows it. With several objectives
// every sampler that learns is motpe.
bool DoesItsJob(const CheckedStudy& study, const std::string& running) {
  const double points = study.space.CountPoints();
  if (points <= 1.0 || running == "qmc") return true;
  if (running == "grid" || running == "brute") {
    return points <= static_cast<double>(study.settings.budget().trials());
  }
  return study.objectives.size() > 1 &&
         (running == "tpe" || running == "levels-gp");
}

bool LearnsFromEarlierStudies(const CheckedStudy& study,
                              const std::string& running) {
  return study.sampler.options.count("compat") == 0 &&
         (running == "tpe" || running == "motpe" || running == "levels-gp");
}

// Returns advice about the sampler; empty when there is nothing to say.
std::string SamplerAdvice(const CheckedStudy& study,
                          const std::string& running) {
  const sampler::SamplerChoice choice = ChoiceFor(study);
  if (study.sampler.name == kAuto) {
    return absl::StrCat("auto is ", running, " here",
                        running == choice.name ? ": " + choice.why : "");
  }
  if (running == choice.name || !choice.is_measured ||
      DoesItsJob(study, running)) {
    return "";
  }
  return absl::StrCat("sampler: auto would be ", choice.name,
                      " here, better than ", running, ": ", choice.why);
}

}  // namespace

bool WritePick(const CheckedStudy& study, v1::StudySpec& spec) {
  if (spec.sampler().name() != kAuto) return false;
  return spec.mutable_sampler()
      ->mutable_options()
      ->insert({sampler::kPickOption, ChoiceFor(study).name})
      .second;  // false when a pick is there
}

bool WritePurpose(const CheckedStudy& study, v1::StudySpec& spec) {
  if (spec.purpose() != v1::PURPOSE_UNSPECIFIED) return false;
  sampler::SamplerSpec asked = study.sampler;
  asked.purpose = Purpose::kBoth;
  spec.set_purpose(sampler::ServesPurpose(asked, study.space, study.objectives)
                       ? v1::PURPOSE_BOTH
                       : v1::PURPOSE_BEST);
  return true;
}

std::int64_t TeachingParallelismOf(const CheckedStudy& study,
                                   const v1::TrialCounts& counts) {
  return sampler::TeachingParallelism(study.sampler, study.space,
                                      study.objectives,
                                      counts.succeeded() + counts.pruned());
}

std::int64_t UsefulParallelismOf(const CheckedStudy& study,
                                 const v1::TrialCounts& counts) {
  return sampler::UsefulParallelism(
      study.sampler, study.space, study.objectives,
      {.results = counts.succeeded() + counts.pruned(),
       .ended = counts.budget_used(),
       .budget = study.settings.budget().trials()});
}

std::string ResolvedSampler(const CheckedStudy& study) {
  const sampler::SamplerSpec& sampler = study.sampler;
  // A study stored before picks were kept does not name its pick.
  if (sampler.name == kAuto &&
      sampler.options.count(sampler::kPickOption) == 0) {
    return sampler.name;
  }
  return sampler::ResolveSampler(sampler.name, sampler.options, study.space,
                                 study.objectives);
}

std::vector<std::string> AdviceFor(const CheckedStudy& study) {
  const std::string running = ResolvedSampler(study);
  std::vector<std::string> advice;
  if (std::string about = SamplerAdvice(study, running); !about.empty()) {
    advice.push_back(std::move(about));
  }
  if (study.spec.warm_start_size() > 0 &&
      !LearnsFromEarlierStudies(study, running)) {
    advice.push_back(absl::StrCat("warm_start changes nothing: ", running,
                                  " does not learn from earlier studies"));
  }
  const sampler::SamplerSpec& sampler = study.sampler;
  if (sampler.purpose == Purpose::kBest) return advice;
  const std::int64_t needed = TrialsToTell(study.space);
  const std::int64_t budget = study.settings.budget().trials();
  if (!sampler::ServesPurpose(sampler, study.space, study.objectives)) {
    advice.push_back(absl::StrCat(
        "purpose: ", NameOf(sampler.purpose),
        " changes nothing here; it is for one objective and samplers that "
        "learn (levels-gp, tpe without compat)"));
  } else if (needed > kFirstAnswer && budget < needed) {
    advice.push_back(absl::StrCat(
        budget,
        " trials find good rates; to say which modules can stay frozen "
        "takes about ",
        needed));
  }
  return advice;
}

}  // namespace frostline::server
