// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/frame_filter.h"

#include <algorithm>
#include <chrono>

namespace frostline::server {
namespace {

enum FrameType : std::uint8_t {
  kFrameData = 0,
  kFrameHeaders = 1,
  kFrameResetStream = 3,
  kFrameSettings = 4,
  kFramePing = 6,
  kFrameContinuation = 9,
};
constexpr std::uint8_t kFlagAck = 0x1;        // of SETTINGS and PING
constexpr std::uint8_t kFlagEndStream = 0x1;  // of DATA and HEADERS

std::uint32_t FrameNumberIn(const unsigned char* bytes, int count) {
  std::uint32_t number = 0;
  for (int i = 0; i < count; ++i) number = number << 8 | bytes[i];
  return number;
}

}  // namespace

const char* NameOf(FrameVerdict verdict) {
  switch (verdict) {
    case FrameVerdict::kPass:
      return "pass";
    case FrameVerdict::kHeaderBlock:
      return "header";
    case FrameVerdict::kResets:
      return "resets";
    case FrameVerdict::kUnacknowledged:
      return "settings";
    case FrameVerdict::kIdleFrames:
      return "frames";
    case FrameVerdict::kMessages:
      return "messages";
  }
  return "";
}

bool FrameFilter::Bucket::Take(const BucketLimits& limits, SteadyTime now) {
  const std::chrono::duration<float> passed = now - at_;
  held_ = std::max(0.0F, held_ - limits.per_second * passed.count());
  at_ = now;
  if (held_ + 1 > limits.most) return false;
  held_ += 1;
  return true;
}

void FrameFilter::Bucket::GiveBack() { held_ = std::max(0.0F, held_ - 1); }

FrameVerdict FrameFilter::Read(std::string_view bytes, SteadyTime now) {
  while (verdict_ == FrameVerdict::kPass && !bytes.empty()) {
    if (skip_ > 0) {
      const std::size_t skipped = std::min<std::size_t>(skip_, bytes.size());
      skip_ -= static_cast<std::uint32_t>(skipped);
      bytes.remove_prefix(skipped);
      continue;
    }
    const std::size_t taken =
        std::min(kHeaderSize - header_size_, bytes.size());
    std::copy_n(bytes.begin(), taken, header_.begin() + header_size_);
    header_size_ = static_cast<std::uint8_t>(header_size_ + taken);
    bytes.remove_prefix(taken);
    if (header_size_ < kHeaderSize) break;
    header_size_ = 0;
    skip_ = FrameNumberIn(header_.data(), 3);
    verdict_ = Begin(now);
  }
  return verdict_;
}

FrameVerdict FrameFilter::NoteProvokedReset(SteadyTime now) {
  if (verdict_ == FrameVerdict::kPass && !resets_.Take(limits_.resets, now)) {
    verdict_ = FrameVerdict::kResets;
  }
  return verdict_;
}

FrameVerdict FrameFilter::Begin(SteadyTime now) {
  const std::uint32_t length = skip_;
  const std::uint8_t flags = header_[4];
  const std::uint32_t stream = FrameNumberIn(&header_[5], 4) & 0x7fffffff;
  switch (header_[3]) {
    case kFrameData:
      if ((flags & kFlagEndStream) != 0) {
        EndMessage(stream);
        return FrameVerdict::kPass;
      }
      return length == 0 ? TakeIdle(now) : AddToMessage(stream, length);
    case kFrameHeaders:
      if ((flags & kFlagEndStream) != 0) EndMessage(stream);
      if (const FrameVerdict verdict = BeginHeaders(stream, now);
          verdict != FrameVerdict::kPass) {
        return verdict;
      }
      return AddToBlock(length);
    case kFrameContinuation:
      if (++continuations_ > limits_.continuations) {
        return FrameVerdict::kHeaderBlock;
      }
      return AddToBlock(length);
    case kFrameResetStream:
      EndMessage(stream);
      return NoteProvokedReset(now);
    case kFrameSettings:
      if ((flags & kFlagAck) == 0) return TakeAnswered(now);
      is_acknowledged_ = true;
      return TakeIdle(now);
    case kFramePing:
      return (flags & kFlagAck) == 0 ? TakeAnswered(now) : TakeIdle(now);
    default:  // PRIORITY, GOAWAY, WINDOW_UPDATE, and what nobody knows
      return TakeIdle(now);
  }
}

FrameVerdict FrameFilter::BeginHeaders(std::uint32_t stream, SteadyTime now) {
  block_bytes_ = 0;
  continuations_ = 0;
  if (stream <= last_stream_) return TakeAnswered(now);  // no call begins
  last_stream_ = stream;
  answered_.GiveBack();
  if (is_acknowledged_) return FrameVerdict::kPass;
  return ++unacknowledged_ > limits_.streams_unacknowledged
             ? FrameVerdict::kUnacknowledged
             : FrameVerdict::kPass;
}

FrameVerdict FrameFilter::AddToBlock(std::uint32_t length) {
  block_bytes_ += length;  // of so few frames it cannot overflow
  return block_bytes_ > limits_.block_bytes ? FrameVerdict::kHeaderBlock
                                            : FrameVerdict::kPass;
}

FrameVerdict FrameFilter::AddToMessage(std::uint32_t stream,
                                       std::uint32_t length) {
  const auto found = std::find_if(
      open_.begin(), open_.end(),
      [stream](const auto& message) { return message.first == stream; });
  if (found == open_.end()) {
    if (open_.size() >= limits_.open_messages) return FrameVerdict::kMessages;
    open_.emplace_back(stream, length);
  } else {
    found->second += length;
  }
  messages_ += length;
  const std::int64_t all = all_messages_ += length;
  const bool is_full = all > limits_.all_messages;
  return messages_ > (is_full ? limits_.messages_if_full : limits_.messages)
             ? FrameVerdict::kMessages
             : FrameVerdict::kPass;
}

void FrameFilter::EndMessage(std::uint32_t stream) {
  const auto ended = std::find_if(
      open_.begin(), open_.end(),
      [stream](const auto& message) { return message.first == stream; });
  if (ended == open_.end()) return;
  messages_ -= ended->second;
  all_messages_ -= ended->second;
  *ended = open_.back();
  open_.pop_back();
}

FrameVerdict FrameFilter::TakeIdle(SteadyTime now) {
  return idle_.Take(limits_.idle, now) ? FrameVerdict::kPass
                                       : FrameVerdict::kIdleFrames;
}

FrameVerdict FrameFilter::TakeAnswered(SteadyTime now) {
  return answered_.Take(limits_.answered, now) ? TakeIdle(now)
                                               : FrameVerdict::kIdleFrames;
}

}  // namespace frostline::server
