#include "strategy_cases.hpp"

#include <utility>

#include "figures.hpp"
#include "names.hpp"

namespace bench {
namespace {

std::string_view case_name(std::string_view who, std::string_view what, const Payload& payload) {
  return keep(std::string(who) + std::string(what) + std::string(payload.name));
}

std::vector<Case> make_strategy_cases() {
  std::vector<Case> cases;
  for (const Payload& payload : payloads) {
    const std::size_t bytes = payload.bytes;
    for (const std::string_view strategy : strategies) {
      cases.push_back({case_name(strategy, "_rtt_", payload), "us",
                       [=] { return strategy_round_trip(strategy, bytes); }});
      cases.push_back({case_name(strategy, "_batch64_", payload), "M/s",
                       [=] { return strategy_batch(strategy, bytes); }});
    }
    cases.push_back({case_name("handwritten", "_rtt_", payload), "us",
                     [=] { return handwritten_round_trip(bytes); }});
    cases.push_back({case_name("plain_opencl", "_rtt_", payload), "us",
                     [=] { return plain_round_trip(bytes); }});
    cases.push_back({case_name("plain_opencl", "_batch64_", payload), "M/s",
                     [=] { return plain_batch(bytes); }});
  }
  return cases;
}

/// A figure without a bar: what it costs, whoever is faster.
Figure shown(std::string_view measured, std::vector<std::string_view> baselines) {
  const bool rate = measured.find("_batch64_") != std::string_view::npos;
  return {keep(std::string(measured) + (rate ? "_mps" : "_us")),
          rate ? "M/s" : "us",
          rate ? Better::higher : Better::lower,
          Figure::no_bar,
          measured,
          std::move(baselines)};
}

std::vector<Figure> make_strategy_figures() {
  std::vector<Figure> figures = {
      {"dma_rtt_vs_handwritten", "x", Better::higher, 0.77, "dma_rtt_64b", {"handwritten_rtt_64b"}},
      {"sliced_rtt_vs_plain",
       "x",
       Better::higher,
       0.77,
       "sliced_rtt_64b",
       {"plain_opencl_rtt_64b"}},
      {"sliced_batch64_vs_plain",
       "x",
       Better::higher,
       10,
       "sliced_batch64_64b",
       {"plain_opencl_batch64_64b"}},
  };
  for (const Payload& payload : payloads) {
    const std::string_view handwritten = case_name("handwritten", "_rtt_", payload);
    const std::string_view plain = case_name("plain_opencl", "_rtt_", payload);
    for (const std::string_view strategy : strategies)
      figures.push_back(shown(case_name(strategy, "_rtt_", payload), {plain, handwritten}));
    figures.push_back(shown(handwritten, {}));
    figures.push_back(shown(plain, {}));
  }
  for (const Payload& payload : payloads) {
    const std::string_view plain = case_name("plain_opencl", "_batch64_", payload);
    for (const std::string_view strategy : strategies)
      figures.push_back(shown(case_name(strategy, "_batch64_", payload), {plain}));
    figures.push_back(shown(plain, {}));
  }
  return figures;
}

}  // namespace

std::span<const Case> strategy_cases() {
  static const std::vector<Case> cases = make_strategy_cases();
  return cases;
}

std::span<const Figure> strategy_figures() {
  static const std::vector<Figure> figures = make_strategy_figures();
  return figures;
}

}  // namespace bench
