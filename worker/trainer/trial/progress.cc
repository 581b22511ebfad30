// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/trial/progress.h"

#include <charconv>
#include <string>
#include <string_view>

namespace frostline::trainer {
namespace {

constexpr std::string_view kMetric = "metric.";

// The shortest digits that read back as the same number; also inf and nan.
std::string Print(auto number) {
  char text[64];
  const auto [end, error] = std::to_chars(text, text + sizeof text, number);
  return {text, end};
}

// Reads notes by name; one that does not fit is remembered.
class NoteReader {
 public:
  explicit NoteReader(const Notes& notes) : notes_(notes) {}

  template <typename Number>
  void Read(const std::string& name, Number& into) {
    const auto found = notes_.find(name);
    if (found == notes_.end()) return Miss(name);
    Parse(name, found->second, into);
  }

  template <typename Number>
  void Parse(const std::string& name, const std::string& text, Number& into) {
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, into);
    if (error != std::errc() || stop != end) Miss(name);
  }

  const std::string& missed() const { return missed_; }

 private:
  void Miss(const std::string& name) {
    if (missed_.empty()) missed_ = name;
  }

  const Notes& notes_;
  std::string missed_;
};

}  // namespace

Notes PrintProgress(const TrialProgress& progress) {
  Notes notes = {{"epoch", Print(progress.position.epoch)},
                 {"batch", Print(progress.position.batch)},
                 {"loss_sum", Print(progress.loss_sum)},
                 {"loss_steps", Print(progress.loss_steps)},
                 {"worse", Print(progress.early_stopping.worse)},
                 {"train_seconds", Print(progress.train_seconds)},
                 {"flops_spent", Print(progress.flops_spent)},
                 {"flops_skipped", Print(progress.flops_skipped)},
                 {"flops_shared", Print(progress.flops_shared)}};
  if (progress.early_stopping.best) {
    notes["best"] = Print(*progress.early_stopping.best);
  }
  for (const auto& [name, value] : progress.last) {
    notes[std::string(kMetric) + name] = Print(value);
  }
  return notes;
}

Expected<TrialProgress> ParseProgress(const Notes& notes) {
  NoteReader reader(notes);
  TrialProgress progress;
  reader.Read("epoch", progress.position.epoch);
  reader.Read("batch", progress.position.batch);
  reader.Read("loss_sum", progress.loss_sum);
  reader.Read("loss_steps", progress.loss_steps);
  reader.Read("worse", progress.early_stopping.worse);
  reader.Read("train_seconds", progress.train_seconds);
  reader.Read("flops_spent", progress.flops_spent);
  reader.Read("flops_skipped", progress.flops_skipped);
  if (notes.contains("flops_shared")) {  // older ones shared nothing
    reader.Read("flops_shared", progress.flops_shared);
  }
  if (notes.contains("best")) {
    reader.Read("best", progress.early_stopping.best.emplace());
  }
  for (const auto& [name, text] : notes) {
    if (!name.starts_with(kMetric)) continue;
    reader.Parse(name, text, progress.last[name.substr(kMetric.size())]);
  }
  if (reader.missed().empty()) return progress;
  return Fault{FaultKind::kInconsistent,
               "the checkpoint's note \"" + reader.missed() + "\" is no number",
               "begin this trial anew"};
}

}  // namespace frostline::trainer
