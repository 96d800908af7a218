/// What is measured: each case runs alone in a child process, because a baseline's resident kernel
/// or a neighbour's spinning threads would be measured as well.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "measurement.hpp"

namespace bench {

struct Case {
  std::string_view name;
  std::string_view unit;
  std::function<Measurement()> run;
  /// The PoCL device for the child (POCL_DEVICES); empty: the default one.
  std::string_view pocl_device = {};
};

/// Throws std::invalid_argument if there is none.
[[nodiscard]] const Case& find_case(std::string_view name);

// ringkernel_cases.cpp: ours, by the public API.
Measurement call_add16();
Measurement prepared_add16();
Measurement native_call_add16();
Measurement native_call_block();
Measurement native_prepared_block();
Measurement echo64_pipelined();
Measurement vadd1k_pipelined();
Measurement native_vadd1k_pipelined();
Measurement echo64k();
Measurement async_call_add16();
Measurement idle_cpu();
Measurement wake();
Measurement launch_activate();

// graph_cases.cpp: chains of ops, ours by the public API.
Measurement graph20();
Measurement messages20();
Measurement graph_op_overhead();
Measurement chain_op();
Measurement chain_large();
Measurement messages_large();
Measurement get_or_compile_hit();

// opencl_cases.cpp: OpenCL without us.
Measurement plain_add16();
Measurement plain_launches20();
Measurement plain_vadd1k_pipelined();
Measurement bare_flag();

// thread_cases.cpp: two threads and memory.
Measurement two_thread_copy64k();

}  // namespace bench
