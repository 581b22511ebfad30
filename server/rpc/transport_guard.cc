// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/transport_guard.h"

#include <dlfcn.h>
#include <grpc/slice.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/version_info.h>
#include <sys/socket.h>

#include <array>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/known_holes.h"

namespace frostline::server {
namespace {

constexpr std::size_t kMostCutsTold = 1024;

}  // namespace

std::vector<TransportGuard::Cut> TransportGuard::TakeCuts() {
  const MutexLock lock(&mutex_);
  return std::exchange(cuts_, {});
}

void TransportGuard::NoteCut(const Cut& cut) {
  const MutexLock lock(&mutex_);
  if (cuts_.size() < kMostCutsTold) cuts_.push_back(cut);
}

bool TransportGuard::IsNeeded() {
  return IsBefore(grpc::Version(), "1.59.2");  // CVE-2023-44487
}

}  // namespace frostline::server

#if GRPC_CPP_VERSION_MAJOR == 1 && GRPC_CPP_VERSION_MINOR == 51

// Functions of gRPC that no header of it shows, by their names for the linker.
#define GUARD_CONSTRUCT \
  "_ZN21grpc_chttp2_transportC1ERKN9grpc_core11ChannelArgsEP13grpc_endpointb"
#define GUARD_DESTROY "_ZN21grpc_chttp2_transportD1Ev"
#define GUARD_READ \
  "_Z24grpc_chttp2_perform_readP21grpc_chttp2_transportRK10grpc_slice"
#define GUARD_RESET                              \
  "_Z40grpc_chttp2_add_rst_stream_to_next_write" \
  "P21grpc_chttp2_transportjjP28grpc_transport_one_way_stats"
#define GUARD_FD "_Z20grpc_endpoint_get_fdP13grpc_endpoint"

namespace frostline::server {
namespace {

using TheirConstruct = void (*)(void*, const void*, void*, bool);
using TheirDestroy = void (*)(void*);
using TheirRead = absl::Status (*)(void*, const grpc_slice&);
using TheirReset = void (*)(void*, std::uint32_t, std::uint32_t, void*);
using TheirEndpointFd = int (*)(void*);

template <typename Function>
Function TheirsOf(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

struct TheirTransport {
  const TheirConstruct construct = TheirsOf<TheirConstruct>(GUARD_CONSTRUCT);
  const TheirDestroy destroy = TheirsOf<TheirDestroy>(GUARD_DESTROY);
  const TheirRead read = TheirsOf<TheirRead>(GUARD_READ);
  const TheirReset reset = TheirsOf<TheirReset>(GUARD_RESET);
  const TheirEndpointFd fd = TheirsOf<TheirEndpointFd>(GUARD_FD);

  static const TheirTransport& Get() {
    static const TheirTransport theirs;
    return theirs;
  }
};

// One guarded connection. gRPC makes one call for it at a time, so the lock is
// only for tools that cannot see that.
class GuardedTransport {
 public:
  GuardedTransport(int fd, std::shared_ptr<TransportGuard> guard)
      : fd_(fd),
        guard_(std::move(guard)),
        filter_(guard_->limits(), &guard_->messages()) {}

  FrameVerdict Read(std::string_view bytes) {
    const MutexLock lock(&mutex_);
    const FrameVerdict verdict = filter_.Read(bytes, clock_.Steady());
    if (verdict != FrameVerdict::kPass) Tell(verdict);
    return verdict;
  }
  void NoteProvokedReset() {
    const MutexLock lock(&mutex_);
    filter_.NoteProvokedReset(clock_.Steady());
  }

 private:
  void Tell(FrameVerdict why) const {
    sockaddr_storage from{};
    socklen_t size = sizeof(from);
    // A peer that has gone meanwhile has no name.
    if (getpeername(fd_, reinterpret_cast<sockaddr*>(&from), &size) != 0) {
      from.ss_family = AF_UNSPEC;
    }
    guard_->NoteCut({.from = PeerAddressOf(from), .why = why});
  }

  const SystemClock clock_;
  const int fd_;
  const std::shared_ptr<TransportGuard> guard_;
  Mutex mutex_;
  FrameFilter filter_ ABSL_GUARDED_BY(mutex_);
};

// The guarded connections, by gRPC's own object.
class GuardedTransports {
 public:
  static GuardedTransports& Get() {
    static auto* const all = new GuardedTransports;
    return *all;
  }

  void Expect(int fd, std::shared_ptr<TransportGuard> guard) {
    const MutexLock lock(&expected_mutex_);
    expected_[fd] = std::move(guard);
  }

  void Add(const void* transport, int fd) {
    std::shared_ptr<TransportGuard> guard;
    {
      const MutexLock lock(&expected_mutex_);
      const auto found = expected_.find(fd);
      if (found == expected_.end()) return;
      guard = std::move(found->second);
      expected_.erase(found);
    }
    Shard& shard = ShardOf(transport);
    const MutexLock lock(&shard.mutex);
    shard.transports.erase(transport);
    shard.transports.try_emplace(transport, fd, std::move(guard));
  }

  void Remove(const void* transport) {
    Shard& shard = ShardOf(transport);
    const MutexLock lock(&shard.mutex);
    shard.transports.erase(transport);
  }

  // Returns null when it is not guarded. The object does not move until it is
  // removed.
  GuardedTransport* Find(const void* transport) {
    Shard& shard = ShardOf(transport);
    const MutexLock lock(&shard.mutex);
    const auto found = shard.transports.find(transport);
    return found == shard.transports.end() ? nullptr : &found->second;
  }

 private:
  struct Shard {
    Mutex mutex;
    std::unordered_map<const void*, GuardedTransport> transports
        ABSL_GUARDED_BY(mutex);
  };

  // Objects lie thousands of bytes apart.
  Shard& ShardOf(const void* transport) {
    return shards_[(reinterpret_cast<std::uintptr_t>(transport) >> 12) %
                   shards_.size()];
  }

  Mutex expected_mutex_;
  std::unordered_map<int, std::shared_ptr<TransportGuard>> expected_
      ABSL_GUARDED_BY(expected_mutex_);
  std::array<Shard, 16> shards_;
};

bool IsGuardOf(const char* name, void* ours) {
  return dlsym(RTLD_DEFAULT, name) == ours;
}

}  // namespace

void TransportGuard::Expect(int fd, std::shared_ptr<TransportGuard> guard) {
  GuardedTransports::Get().Expect(fd, std::move(guard));
}

}  // namespace frostline::server

// What gRPC calls in place of its own functions.

using frostline::server::FrameVerdict;
using frostline::server::GuardedTransports;
using frostline::server::TheirTransport;

void GuardedConstruct(void* transport, const void* arguments, void* endpoint,
                      bool is_client) asm(GUARD_CONSTRUCT);
void GuardedConstruct(void* transport, const void* arguments, void* endpoint,
                      bool is_client) {
  const TheirTransport& theirs = TheirTransport::Get();
  if (!is_client && theirs.fd != nullptr) {
    GuardedTransports::Get().Add(transport, theirs.fd(endpoint));
  }
  theirs.construct(transport, arguments, endpoint, is_client);
}

void GuardedDestroy(void* transport) asm(GUARD_DESTROY);
void GuardedDestroy(void* transport) {
  GuardedTransports::Get().Remove(transport);
  TheirTransport::Get().destroy(transport);
}

absl::Status GuardedRead(void* transport,
                         const grpc_slice& slice) asm(GUARD_READ);
absl::Status GuardedRead(void* transport, const grpc_slice& slice) {
  auto* const guarded = GuardedTransports::Get().Find(transport);
  if (guarded != nullptr) {
    const FrameVerdict verdict = guarded->Read(
        {reinterpret_cast<const char*>(GRPC_SLICE_START_PTR(slice)),
         GRPC_SLICE_LENGTH(slice)});
    if (verdict != FrameVerdict::kPass) {
      return absl::ResourceExhaustedError(
          absl::StrCat("more than a connection may have: ",
                       frostline::server::NameOf(verdict)));
    }
  }
  return TheirTransport::Get().read(transport, slice);
}

void GuardedReset(void* transport, std::uint32_t stream, std::uint32_t code,
                  void* stats) asm(GUARD_RESET);
void GuardedReset(void* transport, std::uint32_t stream, std::uint32_t code,
                  void* stats) {
  constexpr std::uint32_t kNoError = 0;  // the call is over, that is all
  auto* const guarded =
      code == kNoError ? nullptr : GuardedTransports::Get().Find(transport);
  if (guarded != nullptr) guarded->NoteProvokedReset();
  TheirTransport::Get().reset(transport, stream, code, stats);
}

namespace frostline::server {

bool TransportGuard::InPlace() {
  const TheirTransport& theirs = TheirTransport::Get();
  return theirs.construct != nullptr && theirs.destroy != nullptr &&
         theirs.read != nullptr && theirs.reset != nullptr &&
         theirs.fd != nullptr &&
         IsGuardOf(GUARD_CONSTRUCT,
                   reinterpret_cast<void*>(&GuardedConstruct)) &&
         IsGuardOf(GUARD_DESTROY, reinterpret_cast<void*>(&GuardedDestroy)) &&
         IsGuardOf(GUARD_READ, reinterpret_cast<void*>(&GuardedRead)) &&
         IsGuardOf(GUARD_RESET, reinterpret_cast<void*>(&GuardedReset));
}

}  // namespace frostline::server

#else  // another version, whose functions nobody has looked at

namespace frostline::server {

void TransportGuard::Expect(int, std::shared_ptr<TransportGuard>) {}
bool TransportGuard::InPlace() { return false; }

}  // namespace frostline::server

#endif
