// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/stream_census.h"

#include <grpc/grpc.h>
#include <grpc/support/alloc.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "base/plain/json.h"

namespace frostline::server {
namespace {

// What gRPC writes before a peer's name.
constexpr char kTransport[] = "chttp2 ";
constexpr std::intptr_t kPage = 500;

struct FreeText {
  void operator()(char* text) const { gpr_free(text); }
};
using Text = std::unique_ptr<char, FreeText>;
using Path = std::initializer_list<const char*>;

// The path of names from `value`; null where one is missing.
const JsonValue* At(const JsonValue* value, Path path) {
  for (const char* name : path) {
    if (value == nullptr) return nullptr;
    value = value->Find(name);
  }
  return value;
}

// Its numbers are texts, and those that are 0 are left out.
std::int64_t NumberAt(const JsonValue* value, Path path) {
  const JsonValue* const found = At(value, path);
  std::int64_t number = 0;
  if (found != nullptr && absl::SimpleAtoi(std::string(found->text), &number))
    return number;
  return 0;
}

// Calls `see(element, id)` with each element of the lists `name` in the pages
// that `ask(first id)` answers.
template <typename Ask, typename See>
void ForEachPage(const char* name, Ask ask, Path id_at, See see) {
  std::int64_t next = 0;
  bool is_last = false;
  while (!is_last) {
    const Text text = ask(static_cast<std::intptr_t>(next));
    if (text == nullptr) return;
    const Expected<Json> json = Json::Parse(text.get());
    if (!json.ok()) return;
    const JsonValue* const end = json.value().root().Find("end");
    is_last = end == nullptr || end->truth;
    const JsonValue* const list = json.value().root().Find(name);
    if (list == nullptr || list->first == nullptr) return;
    for (const JsonValue* v = list->first; v != nullptr; v = v->next) {
      const std::int64_t id = NumberAt(v, id_at);
      next = id + 1;
      see(*v, static_cast<std::intptr_t>(id));
    }
  }
}

template <typename See>
void ForEachServer(See see) {
  ForEachPage(
      "server",
      [](std::intptr_t next) { return Text(grpc_channelz_get_servers(next)); },
      {"ref", "serverId"}, see);
}

}  // namespace

StreamCounts StreamCensus::Total() {
  StreamCounts total;
  ForEachServer([&total](const JsonValue& server, std::intptr_t) {
    total.started += NumberAt(&server, {"data", "callsStarted"});
    total.answered += NumberAt(&server, {"data", "callsSucceeded"});
  });
  return total;
}

std::optional<StreamCounts> StreamCensus::Of(const std::string& peer) const {
  const auto found = sockets_.find(peer);
  if (found == sockets_.end()) return std::nullopt;
  const Text text(grpc_channelz_get_socket(found->second));
  if (text == nullptr) return std::nullopt;
  const Expected<Json> json = Json::Parse(text.get());
  if (!json.ok()) return std::nullopt;
  const JsonValue* const data = At(&json.value().root(), {"socket", "data"});
  return StreamCounts{.started = NumberAt(data, {"streamsStarted"}),
                      .answered = NumberAt(data, {"streamsSucceeded"})};
}

template <typename See>
void StreamCensus::ForEachSocket(std::intptr_t first, See see) {
  ForEachServer([&](const JsonValue&, std::intptr_t server) {
    ForEachPage(
        "socketRef",
        [&](std::intptr_t next) {
          return Text(grpc_channelz_get_server_sockets(
              server, std::max(first, next), kPage));
        },
        {"socketId"},
        [&see](const JsonValue& socket, std::intptr_t id) {
          const JsonValue* const name = socket.Find("name");
          if (name == nullptr) return;
          const std::string full(name->text);
          see(std::string(absl::StripPrefix(full, kTransport)), id);
        });
  });
}

void StreamCensus::ListAll() {
  sockets_.clear();
  ForEachSocket(0, [this](std::string peer, std::intptr_t id) {
    sockets_[std::move(peer)] = id;
  });
}

std::vector<std::string> StreamCensus::Newcomers() {
  std::vector<std::string> peers;
  std::intptr_t last = next_newcomer_ - 1;
  ForEachSocket(next_newcomer_, [&](std::string peer, std::intptr_t id) {
    peers.push_back(std::move(peer));
    last = std::max(last, id);
  });
  next_newcomer_ = last + 1;
  return peers;
}

}  // namespace frostline::server
