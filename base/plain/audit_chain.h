// SPDX-License-Identifier: Apache-2.0
//
// File: audit_chain.h
//
// The form of the audit. Each entry is a line of JSON that ends with a sum of
// itself and of the sum before, so that a line which is changed, missing or
// moved shows:
//
//   chain(n) = SHA-256(the 32 bytes of chain(n - 1), text(n));  chain(0) = 0
//   line(n)  = text(n) + `,"chain_sha256":"…"}`
//
//   {"sequence":1,…,"outcome":"OK"          text(1)
//   {"sequence":1,…,"outcome":"OK","chain_sha256":"4be1…"}
//
// If the end of the file was cut off, the database shows it, since it has the
// last entries. Whoever can write the database too can write everything anew;
// only a sum that is kept elsewhere shows that.
#ifndef FROSTLINE_BASE_PLAIN_AUDIT_CHAIN_H_
#define FROSTLINE_BASE_PLAIN_AUDIT_CHAIN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace frostline {

// The folder of the audit within the data folder, and the file that grows.
inline constexpr char kAuditFolder[] = "audit";
inline constexpr char kAuditFile[] = "audit.jsonl";

// Returns the name of a full file: "audit-000000000101.jsonl" begins with entry
// 101.
std::string AuditFileName(std::int64_t first_sequence);

// Returns the chain before the first entry: 64 times "0".
std::string FirstChain();

// Returns the chain of an entry. `previous` is a result of this function or
// FirstChain(), or was read by ReadChainedLine(); anything else counts as
// FirstChain().
std::string NextChain(const std::string& previous, std::string_view text);

// Returns the line of an entry, without a newline.
std::string ChainedLine(std::string_view text, const std::string& chain);

// The two parts of a line.
struct ChainedText {
  std::string_view text;
  std::string_view chain;
};

// Takes a ChainedLine() apart; returns nothing for any other line. The result
// points into `line`.
std::optional<ChainedText> ReadChainedLine(std::string_view line);

}  // namespace frostline

#endif  // FROSTLINE_BASE_PLAIN_AUDIT_CHAIN_H_
