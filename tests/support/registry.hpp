/// The backends and strategies under test: one list for all tests, and what the environment makes
/// of it.
///
///   RINGKERNEL_TEST_BACKENDS  names of backends, or paths of plugins, with commas between: these
///                             are tested, and must serve. Default: the registered ones that have
///                             the strategy
///   RINGKERNEL_TRANSFER       the strategy, as for every program. Default: each backend's own;
///                             those with two memories alone wait until theirs is named
///
/// Threading: any thread, while nobody changes the environment.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ringkernel/options.hpp"

namespace ringkernel::test {

struct RegisteredBackend {
  const char* name;  ///< as RuntimeBuilder::backend takes it: a plugin's path
  std::vector<Transfer> strategies;
  bool is_of_host_threads;  ///< sanitizers see what it executes; it serves everywhere
};

/// RK_TWO_MEMORIES: the plugin of tests/plugins/two_memories.
inline const std::vector<RegisteredBackend>& registered_backends() {
  static const std::vector<RegisteredBackend> all = {
      {"native", {Transfer::zero_copy}, true},
      {"opencl", {Transfer::zero_copy, Transfer::dma, Transfer::sliced}, false},
      {RK_TWO_MEMORIES, {Transfer::dma, Transfer::sliced}, true},
  };
  return all;
}

/// For the names of tests.
inline const char* label_of(Transfer transfer) {
  switch (transfer) {
    case Transfer::zero_copy: return "zero_copy";
    case Transfer::dma: return "dma";
    case Transfer::sliced: return "sliced";
    case Transfer::automatic: break;
  }
  return "automatic";
}

/// For the names of tests, and as metrics call it: of a path .../librk_backend_NAME.so NAME.
inline std::string label_of(std::string_view backend) {
  constexpr std::string_view prefix = "librk_backend_";
  std::string label(backend.substr(backend.rfind('/') + 1));
  if (label.starts_with(prefix)) label.erase(0, prefix.size());
  label.erase(std::min(label.find(".so"), label.size()));
  for (char& letter : label)
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
  return label;
}

/// Null: none of ours. `backend` is a name, a path or a label.
inline const RegisteredBackend* find_registered(std::string_view backend) {
  const auto& all = registered_backends();
  const auto found = std::ranges::find(all, label_of(backend), [](const RegisteredBackend& one) {
    return label_of(std::string_view(one.name));
  });
  return found != all.end() ? &*found : nullptr;
}

/// Whether it may have that strategy: one that is none of ours may have any.
inline bool may_have(std::string_view backend, Transfer transfer) {
  const RegisteredBackend* const known = find_registered(backend);
  return known == nullptr || transfer == Transfer::automatic ||
         std::ranges::find(known->strategies, transfer) != known->strategies.end();
}

/// Whether its slices are run by threads of the host, whose code is compiled as the test's is.
inline bool is_of_host_threads(std::string_view backend) {
  const RegisteredBackend* const known = find_registered(backend);
  return known != nullptr && known->is_of_host_threads;
}

/// What the environment asks for.
inline Transfer strategy_under_test() {
  const char* const text = std::getenv("RINGKERNEL_TRANSFER");
  for (const Transfer transfer : {Transfer::zero_copy, Transfer::dma, Transfer::sliced})
    if (text != nullptr && std::string_view(text) == label_of(transfer)) return transfer;
  return Transfer::automatic;
}

/// The words of a list with commas between.
inline std::vector<std::string> words_of(const char* list) {
  std::vector<std::string> words;
  for (std::string_view rest = list != nullptr ? list : ""; !rest.empty();) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    if (end != 0) words.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return words;
}

/// Whether the environment names them, and none of them may be missing.
inline bool are_named() { return !words_of(std::getenv("RINGKERNEL_TEST_BACKENDS")).empty(); }

/// As RINGKERNEL_TEST_BACKENDS and the strategy say.
inline std::vector<std::string> choose_backends(const char* named, Transfer strategy) {
  std::vector<std::string> chosen = words_of(named);
  if (!chosen.empty()) return chosen;
  const Transfer wanted = strategy == Transfer::automatic ? Transfer::zero_copy : strategy;
  for (const RegisteredBackend& backend : registered_backends())
    if (may_have(backend.name, wanted)) chosen.emplace_back(backend.name);
  return chosen;
}

/// Those under test, for the life of the process.
inline const std::vector<std::string>& backends_under_test() {
  static const std::vector<std::string> all =
      choose_backends(std::getenv("RINGKERNEL_TEST_BACKENDS"), strategy_under_test());
  return all;
}
/// As parameters of tests.
inline std::vector<const char*> backend_names() {
  std::vector<const char*> names;
  for (const std::string& name : backends_under_test()) names.push_back(name.c_str());
  return names;
}

/// For tests that name a strategy themselves: each backend with each that it may have, of those
/// that the environment names or, without, of all.
inline std::vector<std::pair<const char*, Transfer>> backends_with_strategies() {
  std::vector<std::pair<const char*, Transfer>> all;
  const auto add = [&](const char* name) {
    for (const Transfer transfer : {Transfer::zero_copy, Transfer::dma, Transfer::sliced})
      if (may_have(name, transfer)) all.emplace_back(name, transfer);
  };
  if (are_named())
    for (const char* const name : backend_names()) add(name);
  else
    for (const RegisteredBackend& backend : registered_backends()) add(backend.name);
  return all;
}

/// The backend of host threads that has this strategy, for tests that need only one backend.
inline const char* host_backend(Transfer transfer = strategy_under_test()) {
  const Transfer wanted = transfer == Transfer::automatic ? Transfer::zero_copy : transfer;
  for (const RegisteredBackend& backend : registered_backends())
    if (backend.is_of_host_threads && may_have(backend.name, wanted)) return backend.name;
  std::fprintf(stderr, "no backend of host threads has %s\n", label_of(wanted));
  std::abort();
}

}  // namespace ringkernel::test
