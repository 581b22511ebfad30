// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/prefix/resident_rows.h"

#include <ATen/ops/zeros.h>

#include <algorithm>
#include <utility>

namespace frostline::trainer {
namespace {

// Of a group that is new: small sets need no more.
constexpr std::int64_t kFirstRows = 4096;

std::uint64_t ResidentBytesOf(std::int64_t rows, std::int64_t hidden) {
  return static_cast<std::uint64_t>(rows * hidden) * sizeof(float);
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
  Grow(held, group, held.used + wanted, boundary.size(2));
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
                        std::int64_t wanted, std::int64_t hidden) {
  const std::int64_t now = group.rows.defined() ? group.rows.size(0) : 0;
  if (wanted <= now) return;
  std::int64_t rows = std::max({wanted, 2 * now, kFirstRows});
  // Where there is no room to double there may be for what is wanted.
  if (!MakeRoom(name, ResidentBytesOf(rows, hidden))) {
    rows = wanted;
    if (!MakeRoom(name, ResidentBytesOf(rows, hidden))) return;
  }
  at::Tensor larger =
      at::zeros({rows, hidden}, at::TensorOptions(at::kFloat).device(device_));
  if (now > 0) {
    larger.narrow(0, 0, group.used).copy_(group.rows.narrow(0, 0, group.used));
  }
  group.rows = std::move(larger);  // [capacity, H]
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

}  // namespace frostline::trainer
