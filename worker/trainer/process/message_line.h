// SPDX-License-Identifier: Apache-2.0
//
// File: message_line.h
//
// The messages of the trainer protocol that the trainer writes.
#ifndef FROSTLINE_WORKER_TRAINER_PROCESS_MESSAGE_LINE_H_
#define FROSTLINE_WORKER_TRAINER_PROCESS_MESSAGE_LINE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "worker/trainer/trial/trial_end.h"

namespace frostline::trainer {

// A builder of one message of the trainer protocol, as one line of JSON.
//
//   MessageLine("report").Add("step", 3).Add("metrics", metrics).Take()
class MessageLine {
 public:
  explicit MessageLine(std::string_view type);

  MessageLine& Add(std::string_view name, std::string_view text);
  MessageLine& Add(std::string_view name, std::int64_t number);
  MessageLine& Add(std::string_view name, const std::vector<std::string>& list);
  // The members of a report that say how far the trial is.
  MessageLine& Add(const TrialPace& pace);
  MessageLine& Add(std::string_view name, const Metrics& metrics);
  MessageLine& Add(std::string_view name, const TrialUsage& usage,
                   std::string_view software);
  MessageLine& Add(std::string_view name,
                   const std::vector<ExampleOutcomes>& sets);
  // Marks alone.
  MessageLine& Add(std::string_view name, const ExampleOutcomes& examples);

  std::string Take();  // with its newline

 private:
  void AddNumber(std::string_view name, double number);

  std::string text_;
};

std::string FinishLine(const TrialEnd& end, std::string_view software);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_PROCESS_MESSAGE_LINE_H_
