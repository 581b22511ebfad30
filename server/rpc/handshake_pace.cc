// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/handshake_pace.h"

namespace frostline::server {
namespace {

// Each one that leaves makes those before it count for so much less.
constexpr double kFade = 0.98;
// So few forgotten ones may be a slow network.
constexpr double kFew = 8;

}  // namespace

void HandshakePace::NoteBegun(const std::string& peer, SteadyTime now) {
  under_way_[peer] = now;
}

void HandshakePace::NoteOver(const std::string& peer) {
  if (under_way_.erase(peer) == 0) return;
  ended_ = ended_ * kFade + 1;
  forgotten_ *= kFade;
}

void HandshakePace::Forget(SteadyTime now) {
  const SteadyTime before = now - Patience();
  const std::size_t forgotten = std::erase_if(
      under_way_,
      [before](const auto& handshake) { return handshake.second <= before; });
  for (std::size_t i = 0; i < forgotten; ++i) {
    forgotten_ = forgotten_ * kFade + 1;
    ended_ *= kFade;
  }
}

Duration HandshakePace::Patience() const {
  const bool is_siege = forgotten_ > kFew && forgotten_ > ended_;
  return is_siege ? limits_.little_patience : limits_.patience;
}

}  // namespace frostline::server
