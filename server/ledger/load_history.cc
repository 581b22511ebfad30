// SPDX-License-Identifier: Apache-2.0
#include "server/ledger/load_history.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "proto/wire_values.h"

namespace frostline::server {
namespace {

std::int64_t MicrosIn(Duration step) {
  return std::chrono::duration_cast<std::chrono::microseconds>(step).count();
}

}  // namespace

std::int64_t MeansOverTime::StepOf(WallMicros time) const {
  return std::max<std::int64_t>(time, 0) / MicrosIn(step_);
}

std::uint8_t& MeansOverTime::At(std::int64_t step) {
  return means_[static_cast<std::size_t>(step) % means_.size()];
}

void MeansOverTime::Add(double part, WallMicros now) {
  std::int64_t step = StepOf(now);
  const auto count = static_cast<std::int64_t>(means_.size());
  if (numbers_ == 0 || step + 1 < last_ || step - last_ >= count) {
    std::fill(means_.begin(), means_.end(), kNotKnown);
    sum_ = numbers_ = 0;
    last_ = step;
  }
  step = std::max(step, last_);
  for (; last_ < step; sum_ = numbers_ = 0) At(++last_) = kNotKnown;
  sum_ += std::clamp(part, 0.0, 1.0);
  ++numbers_;
  At(step) = static_cast<std::uint8_t>(std::lround(100.0 * sum_ / numbers_));
}

std::string MeansOverTime::Latest(std::size_t count, WallMicros now) const {
  count = std::min(count, means_.size());
  std::string latest(count, static_cast<char>(kNotKnown));
  const std::int64_t end = StepOf(now) + 1;
  const auto kept = static_cast<std::int64_t>(means_.size());
  for (std::size_t k = 0; k < count; ++k) {
    const std::int64_t step = end - static_cast<std::int64_t>(count - k);
    if (numbers_ == 0 || step < 0 || step > last_ || step <= last_ - kept) {
      continue;
    }
    latest[k] = static_cast<char>(
        means_[static_cast<std::size_t>(step) % means_.size()]);
  }
  return latest;
}

LoadBoard::Gpu& LoadBoard::Place(Gpus& gpus, const std::string& uuid) {
  if (gpus.size() >= kMostGpus && !gpus.contains(uuid)) {
    gpus.erase(std::min_element(gpus.begin(), gpus.end(),
                                [](const auto& a, const auto& b) {
                                  return a.second.heard < b.second.heard;
                                }));
  }
  return gpus[uuid];
}

void LoadBoard::Post(const std::string& worker, const v1::NodeLoad& said,
                     WallMicros now) {
  const MutexLock lock(&mutex_);
  for (const v1::GpuLoad& one : said.gpus()) {
    if (!one.has_utilization()) continue;
    Gpu& gpu = Place(workers_[worker], one.uuid());
    gpu.heard = now;
    gpu.fine.Add(one.utilization(), now);
    gpu.coarse.Add(one.utilization(), now);
  }
}

void LoadBoard::Remove(const std::string& worker) {
  const MutexLock lock(&mutex_);
  workers_.erase(worker);
}

std::optional<v1::LoadHistory> LoadBoard::Of(const std::string& worker,
                                             Duration over,
                                             WallMicros now) const {
  const bool is_fine = over <= kFineStep * static_cast<int>(kFineSteps);
  const Duration step = is_fine ? kFineStep : kCoarseStep;
  const auto count =
      static_cast<std::size_t>((over + step - Duration(1)) / step);
  v1::LoadHistory history;
  {
    const MutexLock lock(&mutex_);
    const auto found = workers_.find(worker);
    if (found == workers_.end()) return std::nullopt;
    for (const auto& [uuid, gpu] : found->second) {
      std::string busy = (is_fine ? gpu.fine : gpu.coarse).Latest(count, now);
      const bool is_known = std::any_of(busy.begin(), busy.end(), [](char one) {
        return static_cast<std::uint8_t>(one) != MeansOverTime::kNotKnown;
      });
      if (!is_known) continue;
      v1::GpuHistory* const told = history.add_gpus();
      told->set_uuid(uuid);
      told->set_busy(std::move(busy));
    }
  }
  if (history.gpus().empty()) return std::nullopt;
  const std::int64_t micros = MicrosIn(step);
  const auto kept = static_cast<std::int64_t>(history.gpus(0).busy().size());
  *history.mutable_start_time() = proto::TimestampToProto(
      (std::max<std::int64_t>(now, 0) / micros + 1 - kept) * micros);
  *history.mutable_step() = proto::DurationToProto(step);
  return history;
}

}  // namespace frostline::server
