#include "cases.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "async_cases.hpp"
#include "choose_cases.hpp"
#include "idle_cases.hpp"
#include "mind_cases.hpp"
#include "model_cases.hpp"
#include "program_cases.hpp"
#include "strategy_cases.hpp"
#include "telemetry_cases.hpp"
#include "turns_cases.hpp"

namespace bench {
namespace {

const Case all[] = {
    {"call_add16", "us", call_add16},
    {"plain_opencl_add16", "us", plain_add16},
    {"plain_opencl_add16_basic", "us", plain_add16, "basic"},
    {"bare_flag", "us", bare_flag},
    {"prepared_add16", "us", prepared_add16},
    {"native_call_add16", "us", native_call_add16},
    {"native_call_block", "ns", native_call_block},
    {"native_prepared_block", "ns", native_prepared_block},
    {"echo64_pipelined", "M/s", echo64_pipelined},
    {"vadd1k_pipelined", "M/s", vadd1k_pipelined},
    {"plain_opencl_vadd1k", "M/s", plain_vadd1k_pipelined},
    {"plain_opencl_vadd1k_basic", "M/s", plain_vadd1k_pipelined, "basic"},
    {"echo64k", "us", echo64k},
    {"two_thread_copy64k", "us", two_thread_copy64k},
    {"async_call_add16", "us", async_call_add16},
    {"idle_cpu", "%", idle_cpu},
    {"wake", "us", wake},
    {"launch_activate", "us", launch_activate},
    {"graph20", "us", graph20},
    {"messages20", "us", messages20},
    {"plain_opencl_launches20", "us", plain_launches20},
    {"graph_op_overhead", "ns", graph_op_overhead},
    {"chain_op", "ns", chain_op},
    {"chain_large", "us", chain_large},
    {"messages_large", "us", messages_large},
    {"get_or_compile_hit", "us", get_or_compile_hit},
};

}  // namespace

const Case& find_case(std::string_view name) {
  for (const std::span<const Case> cases :
       {std::span<const Case>(all), async_cases(), mind_cases(), strategy_cases(), idle_cases(),
        telemetry_cases(), choose_cases(), program_cases(), turns_cases(), model_cases()})
    if (const auto found = std::ranges::find(cases, name, &Case::name); found != cases.end())
      return *found;
  throw std::invalid_argument("no case '" + std::string(name) + "'");
}

}  // namespace bench
