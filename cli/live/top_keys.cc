// SPDX-License-Identifier: Apache-2.0
//
// What each key of `frostline top` does.
#include <algorithm>
#include <cstddef>

#include "cli/live/top_screen.h"

namespace frostline::cli {
namespace {

// Takes the last character, not the last byte.
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
