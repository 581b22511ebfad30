// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/prefix/boundaries.h"

#include <ATen/ops/zeros.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace frostline::trainer {
namespace {

// The room that a new group begins with; small sets need no more.
constexpr std::int64_t kFirstRows = 4096;

std::uint64_t ResidentBytesOf(std::int64_t rows, const at::Tensor& like) {
  return static_cast<std::uint64_t>(rows * like.size(2)) * like.element_size();
}

}  // namespace

bool ResidentRows::Has(const std::string& group, const RowKey& key) const {
  const auto found = groups_.find(group);
  return found != groups_.end() && found->second.begins.contains(key);
}

at::Tensor ResidentRows::Gather(const std::string& group,
                                std::span<const ResidentRow> rows,
                                std::int64_t width) {
  Group& held = groups_.at(group);
  held.last_use = ++uses_;
  const auto texts = static_cast<std::int64_t>(rows.size());
  at::Tensor places = at::zeros({texts, width}, at::kLong);  // [B, N]
  auto* place = places.mutable_data_ptr<std::int64_t>();
  for (const ResidentRow& row : rows) {
    const auto begin = held.begins.find(row.key);
    if (begin != held.begins.end()) {
      ++gathered_;
      for (std::int64_t j = 0; j < row.tokens; ++j) {
        place[j] = begin->second + j;
      }
    }
    place += width;
  }
  if (!device_.is_cpu()) places = places.pin_memory();
  return held.rows
      .index_select(0, places.view({-1}).to(device_, at::kLong,
                                            /*non_blocking=*/true))
      .view({texts, width, held.rows.size(1)});  // [B, N, H]
}

void ResidentRows::Keep(const std::string& group,
                        std::span<const ResidentRow> rows,
                        const at::Tensor& boundary) {
  std::int64_t wanted = 0;
  for (const ResidentRow& row : rows) {
    if (!Has(group, row.key)) wanted += row.tokens;
  }
  if (wanted == 0) return;
  Group& held = groups_[group];
  held.last_use = ++uses_;
  Grow(held, group, held.used + wanted, boundary);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ResidentRow& row = rows[i];
    if (held.begins.contains(row.key)) continue;
    if (!held.rows.defined() || held.used + row.tokens > held.rows.size(0)) {
      return;
    }
    held.rows.narrow(0, held.used, row.tokens)
        .copy_(boundary[static_cast<std::int64_t>(i)].narrow(0, 0, row.tokens));
    held.begins.emplace(row.key, held.used);
    held.used += row.tokens;
  }
}

void ResidentRows::Grow(Group& group, const std::string& name,
                        std::int64_t wanted, const at::Tensor& like) {
  const std::int64_t now = group.rows.defined() ? group.rows.size(0) : 0;
  if (wanted <= now) return;
  std::int64_t rows = std::max({wanted, 2 * now, kFirstRows});
  // If there is no room to double, there may be room for what is wanted.
  if (!MakeRoom(name, ResidentBytesOf(rows, like))) {
    rows = wanted;
    if (!MakeRoom(name, ResidentBytesOf(rows, like))) return;
  }
  at::Tensor larger = at::zeros(
      {rows, like.size(2)}, like.options().device(device_));  // [capacity, H]
  if (now > 0) {
    larger.narrow(0, 0, group.used).copy_(group.rows.narrow(0, 0, group.used));
  }
  group.rows = std::move(larger);
}

bool ResidentRows::MakeRoom(const std::string& but, std::uint64_t bytes) {
  const auto own = groups_.find(but);
  const std::uint64_t kept =
      own->second.rows.defined() ? own->second.rows.nbytes() : 0;
  if (kept + bytes > most_bytes_) return false;  // others would go for nothing
  while (this->bytes() + bytes > most_bytes_) {
    auto oldest = groups_.end();
    for (auto each = groups_.begin(); each != groups_.end(); ++each) {
      if (each->first == but) continue;
      if (oldest == groups_.end() ||
          each->second.last_use < oldest->second.last_use) {
        oldest = each;
      }
    }
    groups_.erase(oldest);
  }
  return true;
}

void ResidentRows::Clear() { groups_.clear(); }

std::uint64_t ResidentRows::bytes() const {
  std::uint64_t all = 0;
  for (const auto& [name, group] : groups_) {
    if (group.rows.defined()) all += group.rows.nbytes();
  }
  return all;
}

namespace {

// What a trial without a store may hold in main memory.
constexpr std::size_t kMostHeldBytes = std::size_t{512} << 20U;
// Memory for batches to come, enough for many texts of each length.
constexpr std::size_t kMostForeseenBytes = std::size_t{256} << 20U;

}  // namespace

Boundaries::Boundaries(const Model& model, Precision precision,
                       const PrefixStore* store, const BoundarySpec& wanted,
                       PrefixWork work)
    : maker_(model, wanted.blocks, precision, wanted.noise, wanted.known),
      store_(store),
      work_(std::move(work)),
      noisy_(wanted.noise.has_value()),
      key_(wanted.group.key),
      resident_(wanted.resident),
      device_(model.device()) {
  if (store_ == nullptr) return;
  Expected<PrefixGroup> group =
      store_->Group(wanted.group.key, wanted.group.about);
  if (!group.ok()) {
    GoOnWithout(group.fault());
    return;
  }
  group_.emplace(std::move(group).value());
  for (const LowerGroup& lower : wanted.lower) {
    if (auto known = store_->Existing(lower.group.key, lower.group.about)) {
      lower_.emplace_back(lower.blocks, *std::move(known));
    }
  }
}

Boundaries::~Boundaries() {
  if (group_) group_->Note(worth_);
}

void Boundaries::GoOnWithout(const Fault& fault) {
  work_.log("goes on without the prefix store: " + fault.cause + "; " +
            fault.fix);
  store_ = nullptr;
}

RowKey Boundaries::KeyOf(const TokenStore& tokens, std::uint32_t row) const {
  return noisy_ ? tokens.drawer(row) : tokens.key(row);
}

bool Boundaries::IsThere(const RowKey& key) const {
  return (group_ && group_->Has(key)) ||
         (resident_ != nullptr && resident_->Has(key_, key));
}

bool Boundaries::Has(const TokenStore& tokens,
                     std::span<const std::uint32_t> rows) const {
  return std::ranges::all_of(rows, [&](std::uint32_t row) {
    const RowKey key = KeyOf(tokens, row);
    return IsThere(key) || held_.contains(key);
  });
}

Expected<Done> Boundaries::Foresee(const TokenStore& tokens,
                                   std::span<const std::uint32_t> next) {
  held_.clear();
  held_bytes_ = 0;
  RowsByLength lacking;
  std::set<RowKey> seen;
  std::size_t bytes = 0;
  for (const std::uint32_t row : next) {
    const std::size_t length = tokens.ids(row).size();
    const RowKey key = KeyOf(tokens, row);
    if (IsThere(key) || !seen.insert(key).second) continue;
    bytes += maker_.BytesOf(length);
    if (bytes > kMostForeseenBytes) break;
    lacking[length].push_back(row);
  }
  return ComputeMany(tokens, lacking,
                     [&](std::uint32_t row,
                         std::span<const std::byte> made) -> Expected<Done> {
                       Hold(KeyOf(tokens, row), made);
                       return Done{};
                     });
}

bool Boundaries::Find(const RowKey& key, std::span<std::byte> into) {
  if (group_ && group_->Read(key, into)) return true;
  const auto held = held_.find(key);
  if (held == held_.end() || held->second.size() != into.size()) return false;
  std::ranges::copy(held->second, into.begin());
  return true;
}

void Boundaries::Hold(const RowKey& key, std::span<const std::byte> row) {
  if (held_bytes_ + row.size() > kMostHeldBytes) return;
  if (!held_.try_emplace(key, row.begin(), row.end()).second) return;
  held_bytes_ += row.size();
}

Expected<at::Tensor> Boundaries::FromHost(const TokenStore& tokens,
                                          std::span<const std::uint32_t> rows,
                                          std::int64_t width) {
  return CatchTorch([&]() -> Expected<at::Tensor> {
    const std::int64_t kept =
        maker_.TokensKept(static_cast<std::size_t>(width));
    const at::Tensor boundary = at::zeros(
        {static_cast<std::int64_t>(rows.size()), kept, maker_.hidden()},
        maker_.kind());  // [B, N, H]
    const std::size_t one = maker_.BytesOf(static_cast<std::size_t>(width));
    auto* const begin = static_cast<std::byte*>(boundary.mutable_data_ptr());
    RowsByLength lacking;
    std::map<std::uint32_t, std::vector<std::size_t>> places;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::size_t length = tokens.ids(rows[i]).size();
      const std::span<std::byte> into(begin + i * one, maker_.BytesOf(length));
      if (Find(KeyOf(tokens, rows[i]), into)) {
        ++counts_.hits;
        worth_.taken += 1.0;
        continue;
      }
      std::ranges::fill(into, std::byte{0});
      std::vector<std::size_t>& here = places[rows[i]];
      if (here.empty()) lacking[length].push_back(rows[i]);
      here.push_back(i);
    }
    const Expected<Done> computed =
        Compute(tokens, lacking,
                [&](std::uint32_t row,
                    std::span<const std::byte> made) -> Expected<Done> {
                  for (const std::size_t i : places[row]) {
                    std::ranges::copy(made, begin + i * one);
                  }
                  Hold(KeyOf(tokens, row), made);
                  return Done{};
                });
    if (!computed.ok()) return computed.fault();
    return boundary;
  });
}

std::vector<ComputedTexts> Boundaries::TakeComputed() {
  std::vector<ComputedTexts> taken;
  for (const auto& [which, texts] : std::exchange(computed_, {})) {
    taken.push_back(texts);
  }
  return taken;
}

// How missing rows are computed, and stored for others.

namespace {

// The time between two signs of life, so that there is no line for every few
// texts.
constexpr double kToldSeconds = 10.0;
// A process that has not stored a row for so long hangs, or is stopped.
constexpr double kPatienceSeconds = 120.0;
constexpr std::chrono::milliseconds kPause(20);

}  // namespace

Boundaries::RowsByLength Boundaries::Lacking(const TokenStore& tokens) const {
  RowsByLength lacking;
  std::set<RowKey> seen;
  for (std::uint32_t row = 0; row < tokens.size(); ++row) {
    const RowKey key = KeyOf(tokens, row);
    if (group_->Has(key) || !seen.insert(key).second) continue;
    lacking[tokens.ids(row).size()].push_back(row);
  }
  return lacking;
}

Expected<Done> Boundaries::Prepare(const TokenStore& tokens) {
  if (store_ == nullptr || !group_ || prepared_.contains(&tokens)) {
    return Done{};
  }
  while (!Lacking(tokens).empty()) {
    if (std::optional<GroupFiller> filler = GroupFiller::Try(*group_)) {
      const Expected<Done> filled = Fill(tokens, *filler);
      if (!filled.ok()) return filled;
      break;
    }
    ASSIGN_OR_FAULT(bool came, AwaitOther(tokens));
    if (!came) {
      GoOnWithout({FaultKind::kUnreadable,
                   "another trainer has been filling it without a result",
                   "look for one that hangs"});
      break;
    }
  }
  prepared_.insert(&tokens);
  return Done{};
}

Expected<bool> Boundaries::AwaitOther(const TokenStore& tokens) {
  const std::size_t before = group_->size();
  const double begun = work_.seconds();
  double told = begun;
  while (work_.seconds() - begun < kPatienceSeconds) {
    RETURN_IF_FAULT(work_.stop.Check());
    std::this_thread::sleep_for(kPause);
    group_->Refresh();
    if (group_->size() > before) return true;
    // The other process may have ended, with or without a result.
    if (LockedFile::Try(group_->folder() + "/filling", LockKind::kShared)) {
      return true;
    }
    if (work_.seconds() - told < kToldSeconds) continue;
    told = work_.seconds();
    work_.told(group_->size(), tokens.size());
  }
  return false;
}

Expected<Done> Boundaries::Fill(const TokenStore& tokens, GroupFiller& filler) {
  const RowsByLength lacking = Lacking(tokens);
  std::uint64_t bytes = 0;
  for (const auto& [length, rows] : lacking) {
    bytes += rows.size() * maker_.BytesOf(length);
  }
  if (auto room = store_->MakeRoom(bytes); !room.ok()) {
    GoOnWithout(room.fault());
    return Done{};
  }
  const double begun = work_.seconds();
  const std::int64_t before = counts_.misses;
  std::optional<Fault> full;
  Expected<Done> computed = ComputeMany(
      tokens, lacking, [&](std::uint32_t row, std::span<const std::byte> made) {
        Expected<Done> added = filler.Add(KeyOf(tokens, row), made);
        if (!added.ok()) full = added.fault();
        return added;
      });
  if (!computed.ok() && !full) return computed;
  if (!full) {
    if (auto finished = filler.Finish(); !finished.ok()) {
      full = finished.fault();
    }
  }
  worth_.seconds += work_.seconds() - begun;
  worth_.rows += static_cast<double>(counts_.misses - before);
  counts_.bytes += static_cast<std::int64_t>(full ? 0 : bytes);
  if (full) GoOnWithout(*full);
  return Done{};
}

Expected<Done> Boundaries::ComputeMany(const TokenStore& tokens,
                                       const RowsByLength& rows,
                                       const Take& take) {
  std::size_t all = 0;
  for (const auto& [length, some] : rows) all += some.size();
  std::size_t done = 0;
  double told = work_.seconds();
  return Compute(tokens, rows,
                 [&](std::uint32_t row,
                     std::span<const std::byte> made) -> Expected<Done> {
                   if (auto go_on = work_.stop.Check(); !go_on.ok())
                     return go_on;
                   if (work_.seconds() - told >= kToldSeconds) {
                     told = work_.seconds();
                     work_.told(done, all);
                   }
                   ++done;
                   return take(row, made);
                 });
}

Expected<Done> Boundaries::Compute(const TokenStore& tokens,
                                   const RowsByLength& rows, const Take& take) {
  const BoundaryMaker::Take counted = [&](std::uint32_t row,
                                          std::span<const std::byte> made,
                                          const BoundaryMaker::Origin& origin) {
    ++counts_.misses;
    const std::size_t length = tokens.ids(row).size();
    ComputedTexts& computed = computed_[{origin.from, length}];
    computed.from = origin.from;
    computed.tokens = length;
    ++computed.texts;
    if (origin.opens_batch) ++computed.batches;
    return take(row, made);
  };
  for (const auto& [length, some] : rows) {
    ASSIGN_OR_FAULT(const Rows rest, GoOnFromLower(tokens, some, counted));
    const Expected<Done> made = maker_.Make(tokens, rest, nullptr, counted);
    if (!made.ok()) return made;
  }
  return Done{};
}

Expected<Boundaries::Rows> Boundaries::GoOnFromLower(
    const TokenStore& tokens, Rows rows, const BoundaryMaker::Take& take) {
  for (auto& [blocks, group] : lower_) {
    PrefixGroup& stored = group;
    const auto lacks = std::ranges::stable_partition(
        rows,
        [&](std::uint32_t row) { return stored.Has(KeyOf(tokens, row)); });
    const Rows here(rows.begin(), lacks.begin());
    const BoundaryMaker::Lower lower = {
        blocks, [&](std::uint32_t row, std::span<std::byte> into) {
          return stored.Read(KeyOf(tokens, row), into);
        }};
    RETURN_IF_FAULT(maker_.Make(tokens, here, &lower, take));
    if (!here.empty()) {
      stored.Note({.taken = static_cast<double>(here.size())});
    }
    rows.erase(rows.begin(), lacks.begin());
  }
  return rows;
}

// Rows that stay on the device, and those that are sent there.

Expected<at::Tensor> Boundaries::Of(const TokenStore& tokens,
                                    std::span<const std::uint32_t> rows,
                                    std::int64_t width) {
  if (resident_ == nullptr) return FromHost(tokens, rows, width);
  std::vector<ResidentRow> all;
  std::vector<ResidentRow> lacking;
  Rows lacking_rows;
  std::vector<std::int64_t> places;
  for (const std::uint32_t row : rows) {
    const ResidentRow one = {KeyOf(tokens, row),
                             maker_.TokensKept(tokens.ids(row).size())};
    if (!resident_->Has(key_, one.key)) {
      places.push_back(static_cast<std::int64_t>(all.size()));
      lacking.push_back(one);
      lacking_rows.push_back(row);
    }
    all.push_back(one);
  }
  const auto held = static_cast<std::int64_t>(all.size() - lacking.size());
  counts_.hits += held;
  worth_.taken += static_cast<double>(held);
  return CatchTorch([&]() -> Expected<at::Tensor> {
    at::Tensor batch;
    if (held > 0) {
      batch = resident_->Gather(
          key_, all, maker_.TokensKept(static_cast<std::size_t>(width)));
    }
    if (lacking.empty()) return batch;  // [B, N, H]
    ASSIGN_OR_FAULT(at::Tensor read, FromHost(tokens, lacking_rows, width));
    const at::Tensor sent = std::move(read).to(device_);
    if (held > 0) {
      const at::Tensor index =
          at::from_blob(places.data(),
                        {static_cast<std::int64_t>(places.size())}, at::kLong)
              .to(device_);  // [M]
      batch.index_copy_(0, index, sent);
    } else {
      batch = sent;
    }
    Reside(lacking, sent);
    return batch;  // [B, N, H]
  });
}

void Boundaries::Reside(std::span<const ResidentRow> lacking,
                        const at::Tensor& boundary) {
  const Expected<Done> kept = CatchTorch([&]() -> Expected<Done> {
    resident_->Keep(key_, lacking, boundary);
    return Done{};
  });
  if (kept.ok()) return;
  work_.log("goes on without frozen layers' results on the device: " +
            kept.fault().cause);
  resident_->Clear();
  resident_ = nullptr;
}

}  // namespace frostline::trainer
