#include "program/succession.hpp"

#include <functional>
#include <set>
#include <string_view>
#include <utility>

namespace ringkernel::program {
namespace {

class Comparison {
 public:
  Comparison(const Schema& running, const Schema& next, Way way)
      : running_(running), next_(next), way_(way) {}

  void compare(const Behaviour& used) {
    const Behaviour* const successor = next_.find_behaviour(used.full_name);
    if (successor == nullptr) return add(used.full_name + " is missing");
    compare_states(used, *successor);
    for (const Method& method : used.methods) compare_methods(method, *successor);
  }

  std::vector<std::string> obstacles;

 private:
  void add(std::string obstacle) { obstacles.push_back(std::move(obstacle)); }

  /// What an earlier one did not know is what the way back is to be rid of.
  void miss(const std::string& name) {
    if (way_ == Way::on) add(name + " is missing");
  }

  void compare_states(const Behaviour& used, const Behaviour& successor) {
    if (!used.state) return;  // a new one begins as zeros
    // What the new one has added is gone on the way back.
    if (!successor.state && way_ == Way::back) return;
    if (!successor.state) return add(used.full_name + " has no state any more");
    const State& was = *used.state;
    const State& is = *successor.state;
    const std::string version = std::to_string(was.version);
    if (was.version == is.version) {
      if (was.layout_hash != is.layout_hash)
        add(is.name + " has other fields than before: it needs another version than " + version +
            ", and migrates");
      return;
    }
    if (!is.migrates)
      return add(is.name + " has version " + std::to_string(is.version) + ", before it had " +
                 version +
                 (way_ == Way::back ? ": kernels with the new state cannot go back"
                                    : ", and no attribute migrates says what that looked like"));
    if (is.migrates->layout_hash != was.layout_hash)
      add(is.migrates->name + ", which " + is.name + " migrates, has other fields than version " +
          version + " of the state, " + was.name);
  }

  void compare_methods(const Method& was, const Behaviour& successor) {
    const Method* const is = successor.find_method(was.full_name);
    if (is == nullptr) return miss(was.full_name);
    if (is->request != was.request)
      return add(was.full_name + " takes " + is->request + ", before it took " + was.request);
    if (is->reply != was.reply)
      return add(was.full_name + " answers with " + is->reply + ", before it was " + was.reply);
    if (is->reply_bytes > was.reply_bytes)
      add(was.full_name + " has replies of " + std::to_string(is->reply_bytes) +
          " bytes, and its senders have kept room for " + std::to_string(was.reply_bytes) +
          ": add a method instead");
    compare_tables(was.request);
    compare_tables(was.reply);
  }

  void compare_tables(const std::string& name) {
    if (!compared_.insert(name).second) return;
    const auto& was = running_.tables().at(name);
    const auto& is = next_.tables().at(name);
    for (const auto& [slot, field] : was) {
      const auto found = is.find(slot);
      if (found == is.end())
        miss(field.name);
      else if (found->second.type == "deprecated")
        continue;  // who sends it, sends it in vain
      else if (found->second.name != field.name)
        add(found->second.name + " has the place that " + field.name + " had");
      else if (found->second.type != field.type)
        add(found->second.name + " is " + found->second.type + ", before it was " + field.type);
      // What is inside it is a table of this name in both.
      else if (const auto inner = running_.tables().find(table_in(field.type));
               inner != running_.tables().end())
        compare_tables(inner->first);
    }
    for (const auto& [slot, field] : is)
      if (field.required && was.find(slot) == was.end())
        add(field.name + " is required, and those who send do not know it");
  }

  /// What may be the name of one.
  static std::string_view table_in(std::string_view type) {
    constexpr std::string_view vector = "vector of ";
    if (type.substr(0, vector.size()) == vector) type.remove_prefix(vector.size());
    return type.substr(0, type.find(' '));
  }

  const Schema& running_;
  const Schema& next_;
  const Way way_;
  std::set<std::string, std::less<>> compared_;
};

}  // namespace

std::vector<std::string> find_obstacles(const Definition& running, const Definition& next,
                                        const std::vector<const Behaviour*>& used, Way way) {
  if ((running.schema() == nullptr) != (next.schema() == nullptr))
    return {running.schema() == nullptr ? "it has a schema, and before it had none"
                                        : "it has no schema any more"};
  if (running.schema() != nullptr) {
    Comparison comparison(*running.schema(), *next.schema(), way);
    for (const Behaviour* const behaviour : used) comparison.compare(*behaviour);
    return std::move(comparison.obstacles);
  }
  std::vector<std::string> obstacles;
  const auto compare = [&](const char* what, std::uint32_t was, std::uint32_t is) {
    if (was != is)
      obstacles.push_back(std::string(what) + " is " + std::to_string(is) + ", before it was " +
                          std::to_string(was));
  };
  const std::uint32_t state_bytes = running.state_bytes(nullptr);
  const bool is_rid_of = way == Way::back && next.state_bytes(nullptr) == 0;
  if (state_bytes != 0 && !is_rid_of)
    compare("state_bytes", state_bytes, next.state_bytes(nullptr));
  compare("reply_bytes", running.reply_bytes(), next.reply_bytes());
  return obstacles;
}

StateChange state_change(const Definition& running, const Behaviour* was, const Definition& next,
                         const Behaviour* is) {
  if ((running.state_bytes(was) == 0) != (next.state_bytes(is) == 0)) return StateChange::fresh;
  const bool has_versions = was != nullptr && is != nullptr && was->state && is->state;
  if (has_versions && was->state->version != is->state->version) return StateChange::migration;
  return StateChange::none;
}

}  // namespace ringkernel::program
