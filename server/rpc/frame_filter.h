// SPDX-License-Identifier: Apache-2.0
//
// File: frame_filter.h
//
// Reads the frames of one HTTP/2 connection (RFC 9113) as a client sends them,
// in pieces of any size, and decides when the connection has to end. It decodes
// no header: it limits what a peer may send.
//
//   header block   bytes, and frames. gRPC 1.51 looks at the size of each frame
//                  alone (CVE-2023-33953), so a block may take as much as its
//                  frames together.
//   resets         in a leaky bucket (CVE-2023-44487): RST_STREAM of the
//                  client, and those of the server that the client provoked.
//   streams        before the client has acknowledged our SETTINGS: until then
//                  gRPC knows no limit on them.
//   idle frames    that carry nothing of a call, in buckets as well; gRPC keeps
//                  6 KiB of each PING that comes too soon.
//   messages       that have begun and not ended, which gRPC keeps: of one
//                  connection, and of all of them together.
//
// Frames that no client may send at all are left to gRPC.
#ifndef FROSTLINE_SERVER_RPC_FRAME_FILTER_H_
#define FROSTLINE_SERVER_RPC_FRAME_FILTER_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace frostline::server {

// A bucket that holds `most` and loses `per_second`.
struct BucketLimits {
  float most = 0;
  float per_second = 0;
};

// What one connection may send.
struct FrameLimits {
  // With up to 64 KiB a client is told that its header is too large; beyond
  // this size the connection ends.
  std::uint32_t block_bytes = 80 * 1024;
  // Frames may hold 16 KiB at least, and clients fill them.
  std::uint8_t continuations = 4;
  // All calls of a full connection may be cancelled at once.
  BucketLimits resets = {.most = 300, .per_second = 100};
  std::uint16_t streams_unacknowledged = 100;
  // Some clients send two WINDOW_UPDATE for each 16 KiB of a large reply.
  BucketLimits idle = {.most = 20'000, .per_second = 20'000};
  // Those among them that are answered (PING and SETTINGS), and HEADERS that
  // begin no call. Some clients ping with each reply, so each call allows one
  // more.
  BucketLimits answered = {.most = 1'000, .per_second = 1'000};
  // Twice what gRPC allows, in case it has ended some calls itself.
  std::size_t open_messages = 512;
  // Bytes of messages that have not ended. A connection may have `messages`
  // bytes of them, or `messages_if_full` when all connections together have
  // more than `all_messages`.
  std::int64_t messages = 32 * 1024 * 1024;
  std::int64_t all_messages = 128 * 1024 * 1024;
  std::int64_t messages_if_full = 2 * 1024 * 1024;
};

enum class FrameVerdict {
  kPass,
  kHeaderBlock,
  kResets,
  kUnacknowledged,
  kIdleFrames,
  kMessages,
};

// Returns a word for metrics and logs.
const char* NameOf(FrameVerdict verdict);

// The filter of one connection. Thread-compatible. Times must not decrease.
class FrameFilter {
 public:
  // Both outlive this object. `all_messages` is what all connections hold
  // together.
  FrameFilter(const FrameLimits& limits,
              std::atomic<std::int64_t>* all_messages)
      : limits_(limits), all_messages_(*all_messages) {}
  ~FrameFilter() { all_messages_ -= messages_; }
  FrameFilter(const FrameFilter&) = delete;
  FrameFilter& operator=(const FrameFilter&) = delete;

  // Takes the next bytes. Once a verdict is not kPass, every later one is the
  // same.
  FrameVerdict Read(std::string_view bytes, SteadyTime now);
  // Notes that the server resets a stream because the client did something
  // forbidden.
  FrameVerdict NoteProvokedReset(SteadyTime now);

 private:
  static constexpr std::size_t kHeaderSize = 9;

  class Bucket {
   public:
    // Takes one unit from the bucket; false when it has no room.
    bool Take(const BucketLimits& limits, SteadyTime now);
    void GiveBack();

   private:
    SteadyTime at_{};
    float held_ = 0;
  };

  FrameVerdict Begin(SteadyTime now);  // reads a frame's header
  FrameVerdict BeginHeaders(std::uint32_t stream, SteadyTime now);
  FrameVerdict AddToBlock(std::uint32_t length);
  FrameVerdict AddToMessage(std::uint32_t stream, std::uint32_t length);
  void EndMessage(std::uint32_t stream);
  FrameVerdict TakeIdle(SteadyTime now);
  FrameVerdict TakeAnswered(SteadyTime now);

  const FrameLimits& limits_;
  std::atomic<std::int64_t>& all_messages_;
  Bucket resets_;
  Bucket idle_;
  Bucket answered_;
  // The bytes of unfinished messages, by stream.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> open_;
  std::int64_t messages_ = 0;
  std::uint32_t skip_ = 24;  // bytes to skip: the preface, then payloads
  std::uint32_t block_bytes_ = 0;
  std::uint32_t last_stream_ = 0;
  std::uint16_t unacknowledged_ = 0;
  std::uint8_t continuations_ = 0;
  bool is_acknowledged_ = false;
  std::uint8_t header_size_ = 0;
  std::array<unsigned char, kHeaderSize> header_{};
  FrameVerdict verdict_ = FrameVerdict::kPass;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_FRAME_FILTER_H_
