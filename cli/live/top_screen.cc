// SPDX-License-Identifier: Apache-2.0
#include "cli/live/top_screen.h"

#include <google/protobuf/struct.pb.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "cli/live/running_trials.h"
#include "cli/term/table.h"
#include "cli/view/format.h"
#include "cli/view/study_view.h"
#include "cli/view/trial_view.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

std::string FleetStudyOf(const v1::Trial& trial) {
  return trial.name().substr(0, trial.name().find("/trials/"));
}

// Returns the result of each study's best trial, by the study's name.
std::map<std::string, std::string> BestTexts(const FleetAnswers& answers) {
  std::map<std::string, const v1::Study*> studies;
  for (const v1::Study& study : answers.studies) studies[study.name()] = &study;
  std::map<std::string, std::string> texts;
  for (const v1::Trial& trial : answers.best) {
    const auto study = studies.find(FleetStudyOf(trial));
    if (study == studies.end()) continue;
    texts[study->first] = ObjectiveText(trial, study->second->spec());
  }
  return texts;
}

FleetRow RowOf(const v1::Trial& trial, WallMicros now) {
  const v1::TrialProgress& progress = trial.progress();
  FleetRow row;
  row.worker = LastPart(trial.worker());
  row.slot = progress.slot();
  row.state = NameOf(trial.state());
  row.trial = trial.name();
  row.study = LastPart(FleetStudyOf(trial));
  row.number = trial.number();
  row.phase = progress.phase();
  row.epoch = progress.epoch();
  row.total_epochs = progress.total_epochs();
  row.step = trial.has_progress() ? progress.step() : trial.last_step();
  row.total_steps = progress.total_steps();
  row.steps_per_second = progress.steps_per_second();
  row.seconds_left = ToldSecondsLeft(trial, now);
  return row;
}

// Returns the slots of one worker: first the named ones, then the rest.
std::vector<FleetRow> SlotsOf(std::vector<FleetRow> busy, int slots,
                              const std::vector<bool>& names_its_slot,
                              const FleetRow& idle) {
  std::set<int> taken;
  std::vector<std::size_t> homeless;
  for (std::size_t i = 0; i < busy.size(); ++i) {
    const bool has_place =
        names_its_slot[i] && taken.insert(busy[i].slot).second;
    if (!has_place) homeless.push_back(i);
  }
  int next = 0;
  for (const std::size_t i : homeless) {
    while (!taken.insert(next).second) ++next;
    busy[i].slot = next;
  }
  for (int slot = 0; slot < slots; ++slot) {
    if (taken.contains(slot)) continue;
    busy.push_back(idle);
    busy.back().slot = slot;
  }
  std::sort(busy.begin(), busy.end(), [](const FleetRow& a, const FleetRow& b) {
    return a.slot < b.slot;
  });
  return busy;
}

void CountWorker(const v1::Worker& worker, std::int64_t busy,
                 FleetCounts* counts) {
  switch (worker.state()) {
    case v1::WORKER_STATE_ACTIVE:
      ++counts->live;
      counts->slots += worker.slots();
      counts->free += std::max<std::int64_t>(0, worker.slots() - busy);
      break;
    case v1::WORKER_STATE_DRAINING:
      ++counts->draining;
      break;
    case v1::WORKER_STATE_QUARANTINED:
      ++counts->quarantined;
      break;
    default:
      break;
  }
}

void CountStudies(const std::vector<v1::Study>& studies, FleetCounts* counts) {
  for (const v1::Study& study : studies) {
    ++counts->studies;
    counts->active += study.state() == v1::STUDY_STATE_ACTIVE;
    const v1::TrialCounts& trials = study.counts();
    counts->queued += trials.queued();
    counts->ended += EndedTrials(trials);
    counts->outside += OutsideBudget(trials);
  }
}

}  // namespace

FleetTable TableOf(const FleetAnswers& answers) {
  const std::map<std::string, std::string> best = BestTexts(answers);
  std::map<std::string, std::pair<std::vector<FleetRow>, std::vector<bool>>>
      busy;
  for (const v1::Trial& trial : answers.running) {
    auto& [rows, names_its_slot] = busy[LastPart(trial.worker())];
    rows.push_back(RowOf(trial, answers.time));
    names_its_slot.push_back(trial.has_progress());
    const auto text = best.find(FleetStudyOf(trial));
    if (text != best.end()) rows.back().best = text->second;
  }
  FleetTable table;
  CountStudies(answers.studies, &table.counts);
  // Not what studies said before: the head is to count what the rows show.
  table.counts.running = static_cast<std::int64_t>(answers.running.size());
  std::map<std::string, v1::Worker> workers;
  // A worker that the list has no longer still holds its trials.
  for (const auto& [name, held] : busy) workers[name];
  for (const v1::Worker& worker : answers.workers) {
    const std::string name = LastPart(worker.name());
    const bool is_gone = worker.state() == v1::WORKER_STATE_GONE;
    if (!is_gone || busy.contains(name)) workers[name] = worker;
    CountWorker(worker,
                busy.contains(name)
                    ? static_cast<std::int64_t>(busy[name].first.size())
                    : 0,
                &table.counts);
  }
  for (const auto& [name, worker] : workers) {
    FleetRow idle;
    idle.worker = name;
    idle.state = worker.state() == v1::WORKER_STATE_ACTIVE
                     ? "idle"
                     : NameOf(worker.state());
    const int slots =
        worker.state() == v1::WORKER_STATE_GONE ? 0 : worker.slots();
    const auto rows = SlotsOf(busy[name].first, slots, busy[name].second, idle);
    table.rows.insert(table.rows.end(), rows.begin(), rows.end());
  }
  return table;
}

namespace {

using Object = google::protobuf::Struct;

void Put(Object* object, const char* name, const std::string& text) {
  (*object->mutable_fields())[name].set_string_value(text);
}

void Put(Object* object, const char* name, double number) {
  (*object->mutable_fields())[name].set_number_value(number);
}

void Put(Object* object, const char* name, std::int64_t number) {
  Put(object, name, static_cast<double>(number));
}

void PutNull(Object* object, const char* name) {
  (*object->mutable_fields())[name].set_null_value(
      google::protobuf::NULL_VALUE);
}

Object* Below(Object* object, const char* name) {
  return (*object->mutable_fields())[name].mutable_struct_value();
}

// Adds a number, or null when it is unknown, so that nobody takes it for zero.
void PutKnown(Object* object, const char* name, double number) {
  if (number > 0.0) {
    Put(object, name, number);
  } else {
    PutNull(object, name);
  }
}

void PutRow(const FleetRow& row, Object* object) {
  Put(object, "worker", row.worker);
  Put(object, "slot", static_cast<std::int64_t>(row.slot));
  Put(object, "state", row.state);
  if (row.trial.empty()) {
    PutNull(object, "trial");
    return;
  }
  Put(object, "trial", row.trial);
  Put(object, "study", row.study);
  Put(object, "number", row.number);
  Put(object, "phase", row.phase);
  Put(object, "epoch", row.epoch);
  PutKnown(object, "total_epochs", row.total_epochs);
  Put(object, "step", row.step);
  PutKnown(object, "total_steps", static_cast<double>(row.total_steps));
  PutKnown(object, "steps_per_second", row.steps_per_second);
  if (row.seconds_left.has_value()) {
    Put(object, "seconds_left", *row.seconds_left);
  } else {
    PutNull(object, "seconds_left");
  }
  Put(object, "best", row.best);
}

}  // namespace

std::string FleetJson(const FleetAnswers& answers) {
  const FleetTable table = TableOf(answers);
  const FleetCounts& counts = table.counts;
  Object all;
  Put(&all, "coordinator", answers.coordinator);
  Put(&all, "version", answers.info.version());
  Put(&all, "time", FormatWall(answers.time));
  Object* const studies = Below(&all, "studies");
  Put(studies, "all", counts.studies);
  Put(studies, "active", counts.active);
  Object* const trials = Below(&all, "trials");
  Put(trials, "running", counts.running);
  Put(trials, "queued", counts.queued);
  Put(trials, "ended", counts.ended);
  Object* const workers = Below(&all, "workers");
  Put(workers, "live", counts.live);
  Put(workers, "draining", counts.draining);
  Put(workers, "quarantined", counts.quarantined);
  Object* const slots = Below(&all, "slots");
  Put(slots, "all", counts.slots);
  Put(slots, "free", counts.free);
  auto* const rows = (*all.mutable_fields())["rows"].mutable_list_value();
  for (const FleetRow& row : table.rows) {
    PutRow(row, rows->add_values()->mutable_struct_value());
  }
  return ToJson(all);
}

namespace {

constexpr char kKeysHelp[] =
    "q quit  s sort  f filter  ↑↓ enter details  space pause";
constexpr char kDetailsHelp[] = "esc back  q quit";
constexpr std::size_t kMaxTrouble = 200;

std::string EpochText(const FleetRow& row) {
  if (row.total_epochs > 0.0) {
    return absl::StrFormat("%.1f/%.4g", row.epoch, row.total_epochs);
  }
  return row.epoch > 0.0 ? absl::StrFormat("%.1f", row.epoch) : "-";
}

std::string StepText(const FleetRow& row) {
  if (row.total_steps > 0) return absl::StrCat(row.step, "/", row.total_steps);
  return row.step > 0 ? absl::StrCat(row.step) : "-";
}

std::string OrDash(const std::string& text) {
  return text.empty() ? "-" : text;
}

Table TableFor(const std::vector<FleetRow>& rows, int selected) {
  Table table({{"  WORKER"},
               {"SLOT", Align::kRight, 2},
               {"TRIAL"},
               {"PHASE", Align::kLeft, 3},
               {"EPOCH", Align::kRight},
               {"STEP", Align::kRight, 5},
               {"STEP/S", Align::kRight, 4},
               {"LEFT", Align::kRight},
               {"BEST", Align::kLeft, 1}});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const FleetRow& row = rows[i];
    const std::string worker =
        absl::StrCat(static_cast<int>(i) == selected ? "> " : "  ", row.worker);
    if (row.trial.empty()) {
      table.AddRow({worker, absl::StrCat(row.slot), row.state});
      continue;
    }
    table.AddRow(
        {worker, absl::StrCat(row.slot),
         absl::StrCat(row.study, "/", row.number), OrDash(row.phase),
         EpochText(row), StepText(row),
         row.steps_per_second > 0.0 ? FormatNumber(row.steps_per_second) : "-",
         row.seconds_left.has_value() ? FormatSeconds(*row.seconds_left) : "-",
         OrDash(row.best)});
  }
  return table;
}

// Adds the lines of a text that ends with a newline.
void AddLines(const std::string& text, std::vector<std::string>* lines) {
  for (const absl::string_view line :
       absl::StrSplit(absl::StripAsciiWhitespace(text), '\n')) {
    lines->emplace_back(line);
  }
}

std::string ClockText(WallMicros time) {
  const std::string text = FormatWall(time);  // 2026-11-21T06:07:34.123456Z
  return text.size() < 19 ? text : text.substr(11, 8) + "Z";
}

std::string HeadText(const FleetAnswers& answers, const FleetCounts& counts,
                     const TopState& state, int width) {
  const std::string title = absl::StrCat(
      "frostline ", answers.info.version(), " at ", answers.coordinator, ", ",
      ClockText(answers.time), state.is_paused ? ", PAUSED" : "");
  const std::string studies = absl::StrCat(
      counts.active, " of ", counts.studies,
      " studies active; trials: ", counts.running, " running, ", counts.queued,
      " queued, ", counts.ended, " ended",
      counts.outside > 0
          ? absl::StrCat(", ", counts.outside, " of them outside the budget")
          : "");
  const std::string workers =
      absl::StrCat("workers: ", counts.live, " live, ", counts.draining,
                   " draining, ", counts.quarantined, " quarantined; ",
                   counts.free, " of ", counts.slots, " slots free");
  return absl::StrCat(WrapText(title, width), WrapText(studies, width),
                      WrapText(workers, width));
}

std::string OrderText(TopOrder order) {
  if (order == TopOrder::kWorker) return "worker";
  return order == TopOrder::kStudy ? "study" : "time left";
}

std::string ChoiceText(const TopState& state) {
  std::string text = absl::StrCat("by ", OrderText(state.order));
  if (state.is_typing || !state.filter.empty()) {
    absl::StrAppend(&text, ", with \"", state.filter,
                    state.is_typing ? "_" : "", "\"");
  }
  return text;
}

// Returns everything known about one running trial.
std::vector<std::string> DetailLines(const FleetAnswers& answers,
                                     const std::string& name) {
  std::vector<std::string> lines;
  for (const v1::Trial& trial : answers.running) {
    if (trial.name() != name) continue;
    v1::StudySpec spec;
    for (const v1::Study& study : answers.studies) {
      if (absl::StartsWith(name, study.name() + "/")) spec = study.spec();
    }
    AddLines(RenderTrial(trial, spec), &lines);
    return lines;
  }
  return {absl::StrCat(name, " runs no more")};
}

// Returns the part of the table with the selected row; the titles stay.
std::vector<std::string> TableLines(const FleetTable& table,
                                    const TopState& state, int width,
                                    int room) {
  const std::vector<FleetRow> rows = RowsShown(table, state);
  const int count = static_cast<int>(rows.size());
  const int selected = std::clamp(state.selected, 0, std::max(0, count - 1));
  std::vector<std::string> lines =
      absl::StrSplit(TableFor(rows, selected).Render(width), '\n');
  lines.pop_back();  // behind the last newline
  const int visible = std::max(1, room - 1);
  const int hidden = std::max(0, selected + 1 - visible);
  if (hidden < static_cast<int>(lines.size())) {
    lines.erase(lines.begin() + 1, lines.begin() + 1 + hidden);
  }
  if (rows.empty()) {
    lines.push_back(table.rows.empty() ? "  no workers"
                                       : "  nothing has what you typed");
  }
  return lines;
}

auto OrderKey(const FleetRow& row, TopOrder order) {
  const double left =
      order == TopOrder::kTimeLeft
          ? row.seconds_left.value_or(std::numeric_limits<double>::infinity())
          : 0.0;
  const bool by_study = order == TopOrder::kStudy;
  return std::make_tuple(order != TopOrder::kWorker && row.trial.empty(), left,
                         by_study ? row.study : "", by_study ? row.number : 0,
                         row.worker, row.slot);
}

}  // namespace

std::vector<FleetRow> RowsShown(const FleetTable& table,
                                const TopState& state) {
  std::vector<FleetRow> rows;
  const std::string wanted = absl::AsciiStrToLower(state.filter);
  for (const FleetRow& row : table.rows) {
    const std::string text = absl::AsciiStrToLower(absl::StrCat(
        row.worker, " ", row.study, " ", row.phase, " ", row.state));
    if (absl::StrContains(text, wanted)) rows.push_back(row);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [&state](const FleetRow& a, const FleetRow& b) {
                     return OrderKey(a, state.order) < OrderKey(b, state.order);
                   });
  return rows;
}

std::vector<std::string> TopLines(const FleetAnswers& answers,
                                  const TopState& state, ScreenSize size,
                                  const std::string& trouble) {
  const FleetTable table = TableOf(answers);
  const auto height = static_cast<std::size_t>(std::max(1, size.height));
  std::vector<std::string> lines;
  AddLines(HeadText(answers, table.counts, state, size.width), &lines);
  lines.push_back(
      trouble.empty()
          ? ChoiceText(state)
          : proto::CleanText(absl::StrCat("OLD: ", trouble), kMaxTrouble));
  lines.emplace_back();
  const int room = size.height - static_cast<int>(lines.size()) - 1;
  const auto body = state.trial.empty()
                        ? TableLines(table, state, size.width, room)
                        : DetailLines(answers, state.trial);
  lines.insert(lines.end(), body.begin(), body.end());
  lines.resize(height);
  lines.back() = state.trial.empty() ? kKeysHelp : kDetailsHelp;
  for (std::string& line : lines) line = FitToWidth(line, size.width);
  return lines;
}

std::string TopText(const FleetAnswers& answers, int width) {
  const FleetTable table = TableOf(answers);
  constexpr int kNone = -1;
  return absl::StrCat(HeadText(answers, table.counts, TopState(), width), "\n",
                      table.rows.empty()
                          ? "no workers\n"
                          : TableFor(table.rows, kNone).Render(width));
}

// The actions of the keys of `frostline top`.

namespace {

// Removes the last character, not the last byte.
void EraseLast(std::string* text) {
  const auto is_inside = [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
  };
  while (!text->empty() && is_inside(text->back())) text->pop_back();
  if (!text->empty()) text->pop_back();
}

TopState AfterTyping(TopState state, const Key& key) {
  state.selected = 0;
  switch (key.kind) {
    case KeyKind::kText:
      state.filter += key.text;
      break;
    case KeyKind::kErase:
      EraseLast(&state.filter);
      break;
    case KeyKind::kEscape:
      state.filter.clear();
      state.is_typing = false;
      break;
    case KeyKind::kEnter:
      state.is_typing = false;
      break;
    default:
      break;
  }
  return state;
}

TopOrder Next(TopOrder order) {
  if (order == TopOrder::kWorker) return TopOrder::kStudy;
  return order == TopOrder::kStudy ? TopOrder::kTimeLeft : TopOrder::kWorker;
}

TopState AfterLetter(TopState state, const std::string& letter) {
  if (letter == "q") state.is_done = true;
  if (letter == " ") state.is_paused = !state.is_paused;
  if (letter == "s") state.order = Next(state.order);
  if (letter == "f" || letter == "/") state.is_typing = true;
  return state;
}

}  // namespace

TopState AfterKey(TopState state, const Key& key, const FleetTable& table) {
  if (key.kind == KeyKind::kEnd) {
    state.is_done = true;
    return state;
  }
  if (!state.trial.empty()) {
    if (key.kind == KeyKind::kEscape) state.trial.clear();
    if (key.kind == KeyKind::kText && key.text == "q") state.is_done = true;
    return state;
  }
  if (state.is_typing) return AfterTyping(std::move(state), key);
  const std::vector<FleetRow> rows = RowsShown(table, state);
  const int last = std::max(0, static_cast<int>(rows.size()) - 1);
  state.selected = std::clamp(state.selected, 0, last);
  switch (key.kind) {
    case KeyKind::kUp:
      state.selected = std::max(0, state.selected - 1);
      break;
    case KeyKind::kDown:
      state.selected = std::min(last, state.selected + 1);
      break;
    case KeyKind::kEnter:
      if (!rows.empty()) {
        state.trial = rows[static_cast<std::size_t>(state.selected)].trial;
      }
      break;
    case KeyKind::kEscape:
      if (!state.filter.empty()) state.selected = 0;
      state.filter.clear();
      break;
    case KeyKind::kText:
      return AfterLetter(std::move(state), key.text);
    default:
      break;
  }
  return state;
}

}  // namespace frostline::cli
