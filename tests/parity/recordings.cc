// SPDX-License-Identifier: Apache-2.0
#include "tests/parity/recordings.h"

#include <algorithm>
#include <array>
#include <filesystem>

namespace frostline::test {
namespace {

struct KnownKind {
  const char* kind;
  const char* pattern;
};

// Kinds of recordings that exist. A row stays when its room registers a check.
constexpr std::array kKnownKinds = {
    KnownKind{"tpe_density", R"(tpe_density_.*\.json)"},
    KnownKind{"tpe_split", R"(tpe_split_.*\.json)"},
    KnownKind{"tpe_replay", R"(tpe_replay_.*\.json)"},
    KnownKind{"truncnorm", R"(truncnorm.*\.json)"},
    KnownKind{"hypervolume", R"(hypervolume_.*\.json)"},
    KnownKind{"pareto_rank", R"(pareto_rank_.*\.json)"},
    KnownKind{"pruner", R"(pruner_.*\.json)"},
    KnownKind{"fanova_native", R"(fanova_native_.*\.json)"},
    KnownKind{"fanova", R"(fanova_[0-9].*\.json)"},
    KnownKind{"ped_anova", R"(ped_anova_.*\.json)"},
    KnownKind{"journal", R"(journal_[0-9]+\.log)"},
    KnownKind{"objectives", R"(objectives_checks.*\.json)"},
    KnownKind{"convergence", R"(convergence.*\.json)"},
    KnownKind{"truths", R"(truths.*\.json)"},
    KnownKind{"model", R"((.*/)?models/[^/]+/expected\.json)"},
    KnownKind{"trajectory", R"((.*/)?trajectories/[^/]+\.json)"},
    KnownKind{"tokenizer", R"((.*/)?tokenizers/[^/]+/[^/]+\.jsonl)"},
    KnownKind{"sentence_model", R"((.*/)?minilm/sentences\.json)"},
    KnownKind{"metrics", R"((.*/)?metrics/[^/]+\.json)"},
};

// Read by a check next to the recording, or meant for people.
constexpr std::array kCompanions = {
    R"((.*/)?[^/]+\.(md|py|txt|safetensors|model))",
    R"((.*/)?SHA256SUMS)",
    R"(journal_[0-9]+_summary\.json)",
    R"((.*/)?models/(index|[^/]+/config)\.json)",
    R"((.*/)?tokenizers/[^/]+/(vocab|tokenizer|tokenizer_config)\.json)",
};

bool Matches(const std::string& name, const std::regex& pattern) {
  const std::string base = name.substr(name.find_last_of('/') + 1);
  return std::regex_match(base, pattern) || std::regex_match(name, pattern);
}

}  // namespace

Recording Classify(const std::string& name) {
  Recording recording;
  recording.name = name;
  for (const ParityKind& registered : ParityRegistry()) {
    if (!Matches(name, registered.pattern)) continue;
    recording.state = RecordingState::kChecked;
    recording.kind = registered.kind;
    recording.checker = &registered;
    return recording;
  }
  for (const KnownKind& known : kKnownKinds) {
    if (!Matches(name, std::regex(known.pattern))) continue;
    recording.state = RecordingState::kNotBuilt;
    recording.kind = known.kind;
    return recording;
  }
  for (const char* pattern : kCompanions) {
    if (!Matches(name, std::regex(pattern))) continue;
    recording.state = RecordingState::kCompanion;
  }
  return recording;
}

std::vector<Recording> FindRecordings(const std::string& folder) {
  namespace fs = std::filesystem;
  std::vector<Recording> found;
  for (const fs::directory_entry& entry :
       fs::recursive_directory_iterator(folder)) {
    const std::string base = entry.path().filename().string();
    if (!entry.is_regular_file() || base.starts_with('.')) continue;
    Recording recording =
        Classify(entry.path().lexically_relative(folder).generic_string());
    recording.path = entry.path().string();
    found.push_back(std::move(recording));
  }
  std::sort(
      found.begin(), found.end(),
      [](const Recording& a, const Recording& b) { return a.name < b.name; });
  return found;
}

}  // namespace frostline::test
