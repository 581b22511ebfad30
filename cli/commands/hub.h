// SPDX-License-Identifier: Apache-2.0
//
// File: hub.h
//
// `frostline registry add --model NAME` and `--data NAME`: what the Hugging
// Face Hub has, put into a registry by its name. The Python package's
// frostline-hub does it (python/frostline/hub.py), as the Hub's own client is
// in Python; this finds and runs it, and says how it is done by hand where it
// is not on this machine.
#ifndef FROSTLINE_CLI_COMMANDS_HUB_H_
#define FROSTLINE_CLI_COMMANDS_HUB_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/commands/command.h"

namespace frostline::cli {

// What is to be fetched; `model` or `data` is empty.
struct HubOrder {
  std::string model;  // bert-base-uncased, owner/name
  std::string data;   // imdb, glue/sst2, owner/name/part
  std::string id;     // empty: from the name
  std::string revision;
  std::string folder;              // the registry's
  std::vector<std::string> flags;  // of `registry add model` or `dataset`
};

// Makes the noun `registry add` take a name where no verb follows it.
void AddFromHub(CLI::App& add, Invocation& invocation);

// Returns the two lines that fetch and add it without frostline-hub, each
// indented. They are the ones that frostline-hub says when it has no network.
std::string ByHand(const HubOrder& order);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_HUB_H_
