// SPDX-License-Identifier: Apache-2.0
#include "cli/live/top_screen.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <tuple>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "cli/term/table.h"
#include "cli/term/utf8.h"
#include "cli/view/format.h"
#include "cli/view/trial_view.h"
#include "proto/wire_error.h"

namespace frostline::cli {
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
