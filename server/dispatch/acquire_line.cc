// SPDX-License-Identifier: Apache-2.0
#include "server/dispatch/acquire_line.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/ids.h"
#include "server/dispatch/supply.h"

namespace frostline::server {
namespace {

template <typename Index>
void Drop(Index& index, const std::string& key, Ticket ticket) {
  const auto found = index.find(key);
  found->second.erase(ticket);
  if (found->second.empty()) index.erase(found);
}

}  // namespace

std::string LabelKey(const std::string& label, const std::string& value) {
  return absl::StrCat(label.size(), ":", label, value);
}

std::vector<std::string> AcquireLine::KeysOf(const ParkedAcquire& parked) {
  std::vector<std::string> keys = {""};
  for (const auto& [label, value] : parked.info.labels()) {
    keys.push_back(LabelKey(label, value));
  }
  return keys;
}

// Returns the stock's mark, which is never empty.
std::string AcquireLine::MarkOf(const StockPtr& stock) {
  return stock == nullptr ? "" : stock->mark();
}

void AcquireLine::AddToIndex(Ticket ticket, const ParkedAcquire& parked) {
  const std::string& only = parked.request.study();
  if (!only.empty()) {
    of_study_[only].insert(ticket);
    return;
  }
  Alike& alike = alike_[MarkOf(parked.stock)];
  alike.stock = parked.stock;
  for (const std::string& key : KeysOf(parked)) {
    alike.of_key[key].insert(ticket);
  }
}

void AcquireLine::DropFromIndex(Ticket ticket, const ParkedAcquire& parked) {
  const std::string& only = parked.request.study();
  if (!only.empty()) return Drop(of_study_, only, ticket);
  const auto alike = alike_.find(MarkOf(parked.stock));
  for (const std::string& key : KeysOf(parked)) {
    Drop(alike->second.of_key, key, ticket);
  }
  if (alike->second.of_key.empty()) alike_.erase(alike);
}

void AcquireLine::Enter(ParkedAcquire parked) {
  const Ticket ticket = ++last_;
  due_.emplace(parked.deadline, ticket);
  of_worker_[parked.worker].insert(ticket);
  AddToIndex(ticket, parked);
  waiting_.emplace(ticket, std::move(parked));
  somebody_came_ = true;
}

ParkedAcquire AcquireLine::Take(Ticket ticket) {
  const auto found = waiting_.find(ticket);
  ParkedAcquire parked = std::move(found->second);
  waiting_.erase(found);
  due_.erase({parked.deadline, ticket});
  Drop(of_worker_, parked.worker, ticket);
  if (parked.is_found()) DropFromIndex(ticket, parked);
  return parked;
}

void AcquireLine::SetAside(Ticket ticket) {
  ParkedAcquire& parked = At(ticket);
  if (std::exchange(parked.is_aside, true)) return;
  if (!parked.is_found()) DropFromIndex(ticket, parked);
}

void AcquireLine::PutBack(Ticket ticket) {
  ParkedAcquire& parked = At(ticket);
  const bool was_found = parked.is_found();
  if (!std::exchange(parked.is_aside, false)) return;
  if (!was_found) AddToIndex(ticket, parked);
  somebody_came_ = true;
}

void AcquireLine::Resume(const std::string& worker) {
  const auto found = of_worker_.find(worker);
  if (found == of_worker_.end()) return;
  for (const Ticket ticket : found->second) PutBack(ticket);
}

void AcquireLine::ResumeAll() {
  for (const auto& [ticket, parked] : waiting_) PutBack(ticket);
}

void AcquireLine::Renew(const WorkerEntry& worker) {
  const auto found = of_worker_.find(worker.row.id);
  if (found == of_worker_.end()) return;
  for (const Ticket ticket : found->second) {
    ParkedAcquire& parked = At(ticket);
    if (parked.is_found()) DropFromIndex(ticket, parked);
    *parked.info.mutable_labels() = worker.info.labels();
    parked.stock = worker.stock;
    if (parked.is_found()) AddToIndex(ticket, parked);
  }
  somebody_came_ = true;
}

const AcquireLine::Places* AcquireLine::Rarest(const Alike& alike,
                                               const StudyBook& book) {
  const auto& of_key = alike.of_key;
  const Places* rarest = &of_key.at("");
  const auto& settings = book.checked().settings;
  for (const auto& [label, value] : settings.required_worker_labels()) {
    const auto found = of_key.find(LabelKey(label, value));
    if (found == of_key.end()) return nullptr;
    if (found->second.size() < rarest->size()) rarest = &found->second;
  }
  return rarest;
}

std::optional<Ticket> AcquireLine::NextIn(const Places* places, Ticket after,
                                          const StudyBook& book) {
  if (places == nullptr) return std::nullopt;
  const auto& required = book.checked().settings.required_worker_labels();
  for (auto place = places->upper_bound(after); place != places->end();
       ++place) {
    ++visits_;
    const ParkedAcquire& parked = waiting_.at(*place);
    const bool could = !parked.is_aside &&
                       CarriesLabels(parked.info, required) &&
                       WhatBookLacks(parked.stock, book).empty();
    if (could) return *place;
  }
  return std::nullopt;
}

std::optional<Ticket> AcquireLine::NextFor(const StudyBook& book,
                                           Ticket after) {
  std::optional<Ticket> next;
  const auto look_in = [&](const Places* places) {
    const std::optional<Ticket> found = NextIn(places, after, book);
    if (found.has_value() && found < next.value_or(last_ + 1)) next = found;
  };
  for (const auto& [mark, alike] : alike_) {
    if (alike.stock != nullptr) {
      ++visits_;
      if (!WhatBookLacks(alike.stock, book).empty()) continue;
    }
    look_in(Rarest(alike, book));
  }
  if (of_study_.empty()) return next;
  const auto asking = of_study_.find(StudyNameOf(book.row().id));
  if (asking != of_study_.end()) look_in(&asking->second);
  return next;
}

std::optional<Ticket> AcquireLine::NextOf(const std::string& worker,
                                          const StudyBook& book) {
  const auto found = of_worker_.find(worker);
  if (found == of_worker_.end()) return std::nullopt;
  std::optional<Ticket> place = NextIn(&found->second, 0, book);
  while (place.has_value()) {
    const std::string& only = At(*place).request.study();
    if (only.empty() || only == StudyNameOf(book.row().id)) return place;
    place = NextIn(&found->second, *place, book);
  }
  return std::nullopt;
}

std::list<ParkedAcquire> AcquireLine::TakeOf(
    const std::string& worker,
    absl::FunctionRef<bool(const ParkedAcquire&)> leaves) {
  std::list<ParkedAcquire> taken;
  const auto found = of_worker_.find(worker);
  if (found == of_worker_.end()) return taken;
  for (const Ticket ticket : Places(found->second)) {
    if (leaves(At(ticket))) taken.push_back(Take(ticket));
  }
  return taken;
}

std::list<ParkedAcquire> AcquireLine::TakeAskingFor(
    absl::FunctionRef<bool(const std::string& study)> leaves) {
  Places over;
  for (const auto& [study, places] : of_study_) {
    if (leaves(study)) over.insert(places.begin(), places.end());
  }
  std::list<ParkedAcquire> taken;
  for (const Ticket ticket : over) taken.push_back(Take(ticket));
  return taken;
}

std::list<ParkedAcquire> AcquireLine::TakeDue(SteadyTime now) {
  std::list<ParkedAcquire> due;
  while (!due_.empty() && due_.begin()->first <= now) {
    due.push_back(Take(due_.begin()->second));
  }
  return due;
}

}  // namespace frostline::server
