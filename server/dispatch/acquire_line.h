// SPDX-License-Identifier: Apache-2.0
//
// File: acquire_line.h
//
// The line of workers that wait for trials, first come, first served. Who could
// take trials of a study is found by the rarest label that the study asks for,
// so that a look costs what it finds, not all who wait.
//
//   study asks gpu=h100, team=nlp; 900 waiting carry the first, 2 the second:
//   two are looked at
//
// Workers with the same models and data stand together, so that a study passes
// over all of those that lack its own at one look.
//
// Whoever leaves the line is handed to the caller, so that every call is
// answered.
#ifndef FROSTLINE_SERVER_DISPATCH_ACQUIRE_LINE_H_
#define FROSTLINE_SERVER_DISPATCH_ACQUIRE_LINE_H_

#include <cstdint>
#include <iterator>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "base/clock.h"
#include "frostline/v1/worker.pb.h"
#include "frostline/v1/worker_service.pb.h"
#include "server/ledger/study_book.h"
#include "server/ledger/worker_book.h"
#include "server/loop/call_context.h"

namespace frostline::server {

// Calls that wait, each with a deadline. Whoever leaves is handed to the
// caller, so that every call is answered. Ten thousand may wait: no function
// goes through all of them except TakeAll().
// TakeAll().
//
// T has `SteadyTime deadline` and a `Key()` that several may share; neither
// changes while it waits. Not thread-safe.
template <typename T>
class WaitingRoom {
 public:
  void Enter(T waiter) {
    waiters_.push_back(Entry{std::move(waiter), {}});
    const Place place = std::prev(waiters_.end());
    place->due = due_.emplace(place->waiter.deadline, place);
    by_key_.emplace(place->waiter.Key(), place);
  }

  // Takes out those with this key for which `leaves` holds.
  template <typename Key, typename Leaves>
  std::list<T> Take(const Key& key, Leaves leaves) {
    std::list<T> taken;
    const auto [begin, end] = by_key_.equal_range(key);
    for (auto found = begin; found != end;) {
      const auto place = (found++)->second;
      if (leaves(place->waiter)) taken.push_back(Remove(place));
    }
    return taken;
  }

  std::list<T> TakeDue(SteadyTime now) {
    std::list<T> due;
    while (!due_.empty() && due_.begin()->first <= now) {
      due.push_back(Remove(due_.begin()->second));
    }
    return due;
  }

  std::list<T> TakeAll() { return TakeDue(SteadyTime::max()); }

  std::optional<SteadyTime> NextDue() const {
    if (due_.empty()) return std::nullopt;
    return due_.begin()->first;
  }

  template <typename Key>
  bool Has(const Key& key) const {
    return by_key_.find(key) != by_key_.end();
  }
  std::size_t size() const { return waiters_.size(); }

 private:
  struct Entry;
  using Place = typename std::list<Entry>::iterator;
  using KeyOf = std::decay_t<decltype(std::declval<const T&>().Key())>;
  struct Entry {
    T waiter;
    typename std::multimap<SteadyTime, Place>::iterator due;
  };

  T Remove(Place place) {
    due_.erase(place->due);
    auto found = by_key_.find(place->waiter.Key());
    while (found->second != place) ++found;
    by_key_.erase(found);
    T waiter = std::move(place->waiter);
    waiters_.erase(place);
    return waiter;
  }

  std::list<Entry> waiters_;
  std::multimap<SteadyTime, Place> due_;
  std::multimap<KeyOf, Place> by_key_;
};

// Returns a key that is different for any two pairs of label and value.
std::string LabelKey(const std::string& label, const std::string& value);

// A worker that waits for trials.
struct ParkedAcquire {
  explicit ParkedAcquire(CallContext who) : caller(std::move(who)) {}

  v1::AcquireRequest request;
  std::string worker;  // id
  v1::Worker info;     // its labels, as last registered
  StockPtr stock = {};
  SteadyTime came{};
  SteadyTime deadline{};
  CallContext caller;
  Reply<v1::AcquireReply> reply;
  v1::AcquireReply granted = {};  // so far in this turn
  bool is_aside = false;

  // Says whether studies can find it. One that asks for a single study is found
  // even when set aside, since it is still to be told when that study ends.
  bool is_found() const { return !is_aside || !request.study().empty(); }
  std::int64_t slots_left() const {
    return request.max_leases() - granted.leases_size();
  }
};

// A place in the line; later ones are larger.
using Ticket = std::int64_t;

// The line of workers that wait for a trial, the one that came first in front.
// Not thread-safe.
class AcquireLine {
 public:
  void Enter(ParkedAcquire parked);

  // Returns the first place after `after` whose worker carries the study's
  // labels, has its model and data, and asks for this study or for any.
  std::optional<Ticket> NextFor(const StudyBook& book, Ticket after = 0);
  // Returns the first such place of this worker.
  std::optional<Ticket> NextOf(const std::string& worker,
                               const StudyBook& book);
  // REQUIRES: the ticket's holder waits.
  ParkedAcquire& At(Ticket ticket) { return waiting_.at(ticket); }
  ParkedAcquire Take(Ticket ticket);
  // Makes NextFor() pass over this place until its worker is in service again.
  void SetAside(Ticket ticket);
  void Resume(const std::string& worker);
  void ResumeAll();
  // Notes that the worker has registered again, perhaps with other labels,
  // models and data.
  void Renew(const WorkerEntry& worker);

  // Take out calls for which `leaves` holds: those of one worker, and those
  // that ask for a single study.
  std::list<ParkedAcquire> TakeOf(
      const std::string& worker,
      absl::FunctionRef<bool(const ParkedAcquire&)> leaves);
  std::list<ParkedAcquire> TakeAskingFor(
      absl::FunctionRef<bool(const std::string& study)> leaves);
  std::list<ParkedAcquire> TakeDue(SteadyTime now);
  std::list<ParkedAcquire> TakeAll() { return TakeDue(SteadyTime::max()); }

  std::optional<SteadyTime> NextDue() const {
    if (due_.empty()) return std::nullopt;
    return due_.begin()->first;
  }
  std::size_t size() const { return waiting_.size(); }
  // Returns how many workers wait; each counts once, however many of its slots
  // ask.
  std::size_t workers() const { return of_worker_.size(); }
  // Says whether anybody has come since the last call.
  bool TakeSomebodyCame() { return std::exchange(somebody_came_, false); }
  // Returns how many places and stocks NextFor() has looked at.
  std::int64_t visits() const { return visits_; }

 private:
  using Places = std::set<Ticket>;
  static std::vector<std::string> KeysOf(const ParkedAcquire& parked);
  void PutBack(Ticket ticket);
  void AddToIndex(Ticket ticket, const ParkedAcquire& parked);
  void DropFromIndex(Ticket ticket, const ParkedAcquire& parked);
  // Those that ask for any study and have the same stock.
  struct Alike {
    StockPtr stock;
    std::map<std::string, Places> of_key;  // by each label; "": all
  };
  static std::string MarkOf(const StockPtr& stock);
  // Returns the smallest set that holds everybody who could take trials of the
  // study.
  static const Places* Rarest(const Alike& alike, const StudyBook& book);
  std::optional<Ticket> NextIn(const Places* places, Ticket after,
                               const StudyBook& book);

  std::map<Ticket, ParkedAcquire> waiting_;
  std::set<std::pair<SteadyTime, Ticket>> due_;
  std::map<std::string, Places> of_worker_;
  // who asks for one study, by its name
  std::map<std::string, Places> of_study_;
  std::map<std::string, Alike> alike_;  // the others, by their stock's mark
  Ticket last_ = 0;
  bool somebody_came_ = false;
  std::int64_t visits_ = 0;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_DISPATCH_ACQUIRE_LINE_H_
