/// A backend that does what a test says, and says what it was asked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/backend.hpp"

namespace ringkernel::test {

/// What the functions of the table answer, and were asked.
struct ScriptedBackend {
  std::int32_t create = 0;
  int created = 0;  ///< executors, or not
  std::int32_t launch = 0;
  std::int32_t slice_wait = 0;
  std::int32_t copy_wait = 0;
  std::int32_t slice_error = 0;
  std::uint64_t ticket = 0;
  std::uint64_t ticket_waited_for = 0;
  std::vector<rk_copy> copies;
  std::string detail;
};
inline ScriptedBackend scripted;

[[nodiscard]] inline std::int32_t code_of(Errc code) { return static_cast<std::int32_t>(code); }

inline const rk_backend scripted_table = [] {
  rk_backend table{};
  table.name = "scripted";
  table.close = [](rk_device*) {};
  table.state = [](rk_device*, rk_device_state* state) -> std::int32_t {
    state->program_cache_hits = 5;
    return 0;
  };
  table.executor_create = [](rk_device*, const rk_program_source*, std::uint64_t, std::uint32_t,
                             rk_executor**) {
    ++scripted.created;
    return scripted.create;
  };
  table.executor_destroy = [](rk_executor*) {};
  table.copies_start = [](rk_device*, const rk_copy* copies, std::uint32_t count,
                          std::uint64_t* ticket) -> std::int32_t {
    scripted.copies.insert(scripted.copies.end(), copies, copies + count);
    *ticket = scripted.ticket;
    return 0;
  };
  table.copies_wait = [](rk_device*, std::uint64_t ticket, std::uint64_t) {
    scripted.ticket_waited_for = ticket;
    return scripted.copy_wait;
  };
  table.slice_launch = [](rk_executor*, std::uint32_t) { return scripted.launch; };
  table.slice_run = [](rk_executor*, std::uint32_t) -> std::int32_t { return 0; };
  table.slice_wait = [](rk_executor*, std::uint64_t) { return scripted.slice_wait; };
  table.slice_error = [](rk_executor*) { return scripted.slice_error; };
  table.last_detail = [] { return scripted.detail.c_str(); };
  return table;
}();

[[nodiscard]] inline backend::OpenDevice scripted_device() {
  return {scripted_table, reinterpret_cast<rk_device*>(&scripted)};
}
[[nodiscard]] inline backend::OpenExecutor scripted_executor() {
  return {scripted_table, reinterpret_cast<rk_executor*>(&scripted)};
}

}  // namespace ringkernel::test
