// SPDX-License-Identifier: Apache-2.0
#include "server/dispatch/acquire_line.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/ids.h"
#include "server/ledger/worker_book.h"

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

void AcquireLine::AddToIndex(Ticket ticket, const ParkedAcquire& parked) {
  const std::string& only = parked.request.study();
  if (!only.empty()) {
    of_study_[only].insert(ticket);
    return;
  }
  for (const std::string& key : KeysOf(parked)) of_key_[key].insert(ticket);
}

void AcquireLine::DropFromIndex(Ticket ticket, const ParkedAcquire& parked) {
  const std::string& only = parked.request.study();
  if (!only.empty()) return Drop(of_study_, only, ticket);
  for (const std::string& key : KeysOf(parked)) Drop(of_key_, key, ticket);
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
  const bool is_indexed = !parked.is_aside || !parked.request.study().empty();
  if (is_indexed) DropFromIndex(ticket, parked);
  return parked;
}

void AcquireLine::SetAside(Ticket ticket) {
  ParkedAcquire& parked = At(ticket);
  if (std::exchange(parked.is_aside, true)) return;
  // Who asks for one study alone is still to be told when that ends.
  if (parked.request.study().empty()) DropFromIndex(ticket, parked);
}

void AcquireLine::PutBack(Ticket ticket) {
  ParkedAcquire& parked = At(ticket);
  if (!std::exchange(parked.is_aside, false)) return;
  if (parked.request.study().empty()) AddToIndex(ticket, parked);
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

const AcquireLine::Places* AcquireLine::Rarest(const StudyBook& book) const {
  const auto all = of_key_.find("");
  if (all == of_key_.end()) return nullptr;
  const Places* rarest = &all->second;
  const auto& settings = book.checked().settings;
  for (const auto& [label, value] : settings.required_worker_labels()) {
    const auto found = of_key_.find(LabelKey(label, value));
    if (found == of_key_.end()) return nullptr;
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
    if (!parked.is_aside && CarriesLabels(parked.info, required)) return *place;
  }
  return std::nullopt;
}

std::optional<Ticket> AcquireLine::NextFor(const StudyBook& book,
                                           Ticket after) {
  const auto asking = of_study_.empty()
                          ? of_study_.end()
                          : of_study_.find(StudyNameOf(book.row().id));
  const std::optional<Ticket> any = NextIn(Rarest(book), after, book);
  if (asking == of_study_.end()) return any;
  const std::optional<Ticket> own = NextIn(&asking->second, after, book);
  if (!any.has_value() || !own.has_value()) return any.has_value() ? any : own;
  return std::min(*any, *own);
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
