// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/study_memory.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "cli/commands/registry.h"
#include "cli/term/table.h"
#include "cli/view/format.h"
#include "study/freezing.h"
#include "worker/registry/check.h"

namespace frostline::cli {
namespace {

using registry::TrainedModules;
using registry::TrainingMemory;

constexpr char kBoundedMetric[] = "peak_memory_mib";

ModelShape ShapeOf(const v1::StudySpec& spec) {
  return {.num_layers = spec.model().layers(),
          .heads_per_layer = spec.model().heads(),
          .has_pooler = !spec.model().no_pooler()};
}

// Whether what has this domain trains.
template <typename Domains>
bool Trains(const Domains& domains, HowMuch how, bool otherwise) {
  const bool most = how == HowMuch::kMost;
  if (domains.has_levels()) {
    const auto& rates = domains.levels().rates();
    return most ? std::ranges::any_of(rates, [](double r) { return r > 0.0; })
                : std::ranges::none_of(rates, [](double r) { return r == 0; });
  }
  if (domains.has_log_uniform()) return most || !domains.log_uniform().freeze();
  return otherwise;
}

template <typename Domains>
bool HasAdapter(const Domains& domains, HowMuch how) {
  const auto& ranks = domains.rank().ranks();
  return how == HowMuch::kMost
             ? std::ranges::any_of(ranks, [](int rank) { return rank > 0; })
             : std::ranges::none_of(ranks, [](int rank) { return rank == 0; });
}

// Collects the modules of a space by what is said of them.
class Collector {
 public:
  Collector(const v1::StudySpec& spec, HowMuch how)
      : spec_(spec), how_(how), shape_(ShapeOf(spec)) {}

  TrainedModules Collect() {
    for (const v1::ModuleSpace& module : spec_.space().modules()) {
      const bool fixed = module.domain_case() == v1::ModuleSpace::kFixed &&
                         module.fixed() > 0.0;
      Add({module.select()}, Trains(module, how_, fixed),
          module.has_rank() ? &module : nullptr);
    }
    for (const v1::Tie& tie : spec_.space().ties()) {
      Add({tie.modules().begin(), tie.modules().end()},
          Trains(tie, how_, false), tie.has_rank() ? &tie : nullptr);
    }
    AddTheRest();
    if (how_ == HowMuch::kLeast && spec_.space().has_prefix_depth()) {
      Freeze("embeddings");
      for (int i = 0; i < spec_.space().prefix_depth().hi(); ++i) {
        Freeze(absl::StrCat("layer.", i));
      }
    }
    return std::move(trained_);
  }

 private:
  template <typename Ranked>
  void Add(const std::vector<std::string>& selectors, bool trains,
           const Ranked* ranked) {
    for (const std::string& selector : selectors) {
      const auto modules = SelectModules(shape_, selector, "");
      if (!modules.ok()) continue;  // the coordinator says what is wrong
      for (const std::string& module : *modules) {
        named_.insert(module);
        // A head is a little of its half.
        const std::size_t head = module.find(".head.");
        if (head != std::string::npos && how_ == HowMuch::kLeast) continue;
        const std::string name =
            head == std::string::npos
                ? module
                : absl::StrCat(module.substr(0, head), ".attention");
        if (ranked != nullptr) adapted_.insert(module);
        if (adapted_.contains(module)) {
          if (ranked != nullptr && HasAdapter(*ranked, how_)) {
            trained_.adapted.insert(name);
          }
          trained_.whole.erase(name);
        } else if (trains) {
          trained_.whole.insert(name);
        }
      }
    }
  }

  // What nothing names trains as the default says.
  void AddTheRest() {
    const v1::SearchSpace& space = spec_.space();
    const std::string& strategy = space.default_().name();
    for (const std::string& module : TopModules(shape_)) {
      if (std::ranges::any_of(named_, [&](const std::string& named) {
            return Overlap(named, module);
          })) {
        continue;
      }
      const bool on_top = LayerOf(module) < 0 && module != "embeddings";
      const bool surely = space.has_layerwise_decay() || strategy == "full" ||
                          strategy == "decay" || (on_top && !strategy.empty());
      const bool perhaps = !strategy.empty() && strategy != "head_only";
      if (surely || (perhaps && how_ == HowMuch::kMost)) {
        trained_.whole.insert(module);
      }
    }
  }

  void Freeze(const std::string& module) {
    for (auto* const names : {&trained_.whole, &trained_.adapted}) {
      std::erase_if(*names, [&](const std::string& name) {
        return name == module || absl::StartsWith(name, module + ".");
      });
    }
  }

  const v1::StudySpec& spec_;
  HowMuch how_;
  ModelShape shape_;
  TrainedModules trained_;
  std::set<std::string> named_;
  std::set<std::string> adapted_;
};

// The largest or the smallest value of a searched number, else what is set.
std::int64_t SearchedOr(const v1::StudySpec& spec, const std::string& name,
                        std::int64_t set, HowMuch how) {
  const auto pick = [how](double a, double b) {
    return how == HowMuch::kMost ? std::max(a, b) : std::min(a, b);
  };
  for (const v1::ParameterSpace& parameter : spec.space().parameters()) {
    if (parameter.name() != name) continue;
    if (parameter.has_int_()) {
      return how == HowMuch::kMost ? parameter.int_().hi()
                                   : parameter.int_().lo();
    }
    std::optional<double> value;
    for (const auto& choice : parameter.choices().values()) {
      if (choice.kind_case() != google::protobuf::Value::kNumberValue) continue;
      value =
          pick(value.value_or(choice.number_value()), choice.number_value());
    }
    for (const double level : parameter.levels().rates()) {
      value = pick(value.value_or(level), level);
    }
    if (value.has_value()) return std::llround(*value);
  }
  return set;
}

// Returns the task as the study says it, else as its data set does.
std::string TaskOf(const v1::StudySpec& spec,
                   const registry::Registry& registry) {
  if (!spec.data().task().empty()) return spec.data().task();
  const auto set = registry.data_sets.find(spec.data().id());
  if (set == registry.data_sets.end()) return "";
  return registry::NameOf(registry::TaskOfSet(set->second));
}

absl::StatusOr<std::optional<TrainingMemory>> StudyMemoryOf(
    const v1::StudySpec& spec, const std::string& folder, HowMuch how) {
  ASSIGN_OR_RETURN(const auto registry, FindRegistry(folder));
  if (!registry.has_value() || spec.tasks_size() > 0 ||
      !registry->models.contains(spec.model().id())) {
    return std::nullopt;
  }
  const v1::Training& training = spec.training();
  registry::TrainingUse use;
  use.model = spec.model().id();
  use.batch_size = SearchedOr(spec, "batch_size", training.batch_size(), how);
  use.max_length = SearchedOr(spec, "max_length", training.max_length(), how);
  if (training.optimizer() == "sgd") {
    use.moments = training.extra().fields().contains("momentum") ? 1 : 0;
  }
  const bool once = SearchedOr(spec, "epochs", training.epochs(), how) == 1 &&
                    training.evaluate_every_steps() == 0;
  use.keeps_best = !once && training.keep() != "last";
  const std::string task = TaskOf(spec, *registry);
  use.reads_all = training.head().pooling() == "mean" ||
                  training.head().pooling() == "max" || task == "tagging";
  use.half = training.precision() == "bf16" || training.precision() == "fp16";
  const auto& extra = training.extra().fields();
  const auto recompute = extra.find("recompute");
  use.recomputes =
      recompute != extra.end() && recompute->second.string_value() == "layers";
  use.answers = task == "answers" || task == "choices";  // by one head
  ASSIGN_OR_RETURN(TrainingMemory memory, TrainingMemory::Of(*registry, use));
  return std::optional(std::move(memory));
}

std::string MibText(double mib) {
  return absl::StrCat(FormatCount(std::llround(mib)), " MiB");
}

}  // namespace

TrainedModules TrainedOf(const v1::StudySpec& spec, HowMuch how) {
  return Collector(spec, how).Collect();
}

absl::Status CheckStudyMemory(const StudyFile& study,
                              const std::string& folder) {
  for (int i = 0; i < study.spec.constraints_size(); ++i) {
    const v1::MetricConstraint& bound = study.spec.constraints(i);
    if (bound.metric() != kBoundedMetric) continue;
    ASSIGN_OR_RETURN(const auto memory,
                     StudyMemoryOf(study.spec, folder, HowMuch::kLeast));
    if (!memory.has_value()) continue;
    const double least = memory->Least(TrainedOf(study.spec, HowMuch::kLeast));
    if (bound.upper_bound() >= least) continue;
    return PlaceError(
        MakeError(
            ErrorId::kTrainerMismatch,
            absl::StrCat("no point of this space fits ",
                         MibText(bound.upper_bound()), ": the weights of ",
                         study.spec.model().id(),
                         ", and what training the least of them keeps, "
                         "take ",
                         MibText(std::ceil(least))),
            "raise the bound or take a smaller model; or let more modules "
            "be frozen",
            absl::StrCat("constraints[", i, "].upper_bound")),
        study);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> RenderStudyMemory(const v1::StudySpec& spec,
                                              const std::string& folder,
                                              int width) {
  ASSIGN_OR_RETURN(const auto most,
                   StudyMemoryOf(spec, folder, HowMuch::kMost));
  ASSIGN_OR_RETURN(const auto least,
                   StudyMemoryOf(spec, folder, HowMuch::kLeast));
  if (!most.has_value() || !least.has_value()) return std::string();
  const TrainedModules all = TrainedOf(spec, HowMuch::kMost);
  const TrainedModules few = TrainedOf(spec, HowMuch::kLeast);
  std::string text =
      absl::StrCat("memory: about ", MibText(least->MostAtOnce(few)),
                   " at most at once where the least trains, ",
                   MibText(most->MostAtOnce(all)), " where all does, of which ",
                   MibText(most->Optimizer(all)),
                   " are the optimizer's; on a processor, with batches of ",
                   FormatCount(most->texts()), " texts of ",
                   FormatCount(most->longest()), " tokens");
  for (const v1::MetricConstraint& bound : spec.constraints()) {
    if (bound.metric() != kBoundedMetric) continue;
    absl::StrAppend(&text, "; bounded at ", MibText(bound.upper_bound()));
  }
  return WrapText(text, width);
}

}  // namespace frostline::cli
