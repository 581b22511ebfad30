// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/load/history.h"

#include <array>
#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "base/error.h"

namespace frostline::bench {
namespace {

using nlohmann::json;

constexpr std::array kOps = {"register", "acquire", "heartbeat",
                             "report",   "finish",  "release"};
constexpr std::array kKinds = {"invoke", "ok", "fail", "unknown"};

json ToJson(const HistoryEvent& event) {
  json line = {{"t", event.time.count()},
               {"op", NameOf(event.op)},
               {"kind", NameOf(event.kind)},
               {"worker", event.worker},
               {"id", event.id}};
  if (!event.trial.empty()) {
    line["trial"] = event.trial;
    line["attempt"] = event.attempt;
  }
  if (event.ttl.count() != 0) line["ttl"] = event.ttl.count();
  if (!event.steps.empty()) line["steps"] = event.steps;
  if (event.value != 0.0) line["value"] = event.value;
  if (!event.said.empty()) line["said"] = event.said;
  return line;
}

template <typename Names>
int IndexOf(const Names& names, const std::string& name) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (name == names[i]) return static_cast<int>(i);
  }
  return -1;
}

bool FromJson(const json& line, HistoryEvent* event) {
  if (!line.is_object()) return false;
  const int op = IndexOf(kOps, line.value("op", ""));
  const int kind = IndexOf(kKinds, line.value("kind", ""));
  if (op < 0 || kind < 0) return false;
  event->op = static_cast<HistoryEvent::Op>(op);
  event->kind = static_cast<HistoryEvent::Kind>(kind);
  event->time = SteadyTime(line.value("t", std::int64_t{0}));
  event->worker = line.value("worker", "");
  event->id = line.value("id", "");
  event->trial = line.value("trial", "");
  event->attempt = line.value("attempt", std::int64_t{0});
  event->ttl = Duration(line.value("ttl", std::int64_t{0}));
  event->steps = line.value("steps", decltype(event->steps)());
  event->value = line.value("value", 0.0);
  event->said = line.value("said", "");
  return true;
}

// What the JSON library throws ends here.
bool ParseLine(const std::string& text, HistoryEvent* event) {
  try {
    return FromJson(json::parse(text), event);
  } catch (const json::exception&) {
    return false;
  }
}

}  // namespace

const char* NameOf(HistoryEvent::Op op) {
  return kOps[static_cast<std::size_t>(op)];
}

const char* NameOf(HistoryEvent::Kind kind) {
  return kKinds[static_cast<std::size_t>(kind)];
}

void WriteHistory(const History& history, std::ostream& out) {
  for (const HistoryEvent& event : history) out << ToJson(event) << '\n';
}

absl::StatusOr<History> ReadHistory(std::istream& in) {
  History history;
  for (std::string line; std::getline(in, line);) {
    HistoryEvent event;
    if (!ParseLine(line, &event)) {
      return MakeError(
          ErrorId::kRequestInvalid,
          absl::StrCat("line ", history.size() + 1, " is no event"),
          "give a file that frostline-load --history wrote", "history");
    }
    history.push_back(std::move(event));
  }
  return history;
}

}  // namespace frostline::bench
