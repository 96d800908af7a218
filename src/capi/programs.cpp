// Programs of one's own, for C.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "capi/objects.hpp"
#include "foundation/of_thread.hpp"

namespace ringkernel::capi {
namespace {

/// A text, or the file of that name; nothing where both are missing.
Result<Source> read_source(const char* name, const char* text) {
  if (name == nullptr) return null_argument("program->source_name");
  return text == nullptr ? Source::file(name) : Source::text(name, text);
}

Result<ProgramDesc> read_program(const ringkernel_program* given) {
  if (given == nullptr) return null_argument("program");
  RK_TRY(raw, read_options(given));
  if (raw.name == nullptr) return null_argument("program->name");
  if (raw.reserved != 0) return reserved_field(raw.reserved);
  RK_TRY(source, read_source(raw.source_name, raw.source));
  ProgramDesc program{.name = raw.name, .source = source};
  if (raw.schema_name != nullptr)
    program.schema =
        raw.schema == nullptr
            ? Schema::file(raw.schema_name)
            : Schema::binary(raw.schema_name,
                             std::string(static_cast<const char*>(raw.schema), raw.schema_bytes),
                             raw.schema_text != nullptr ? raw.schema_text : "");
  if (raw.header_count != 0 && raw.header_names == nullptr)
    return null_argument("program->header_names");
  for (std::uint64_t i = 0; i < raw.header_count; ++i) {
    const char* const name = raw.header_names[i];
    if (name == nullptr) return null_argument("a name of program->header_names");
    RK_TRY(header, read_source(name, raw.headers != nullptr ? raw.headers[i] : nullptr));
    program.headers.push_back(std::move(header));
  }
  program.state_bytes = raw.state_bytes;
  program.reply_bytes = raw.reply_bytes;
  program.guard = raw.guard != 0;
  program.compiled = raw.compiled;
  return program;
}

/// What a thread was told of a program, as C sees it: structs that point into the same.
struct ToldProgram {
  ProgramInfo info;
  std::vector<ringkernel_method_info> methods;
  std::vector<const ringkernel_method_info*> method_places;
  std::vector<ringkernel_behaviour_info> behaviours;
  std::vector<const ringkernel_behaviour_info*> behaviour_places;

  explicit ToldProgram(ProgramInfo program) : info(std::move(program)) {
    for (const BehaviourInfo& behaviour : info.behaviours)
      for (const MethodInfo& method : behaviour.methods)
        methods.push_back({.name = method.name.c_str(),
                           .request = method.request.c_str(),
                           .reply = method.reply.c_str(),
                           .id = method.id,
                           .reply_bytes = method.reply_bytes});
    for (const ringkernel_method_info& method : methods) method_places.push_back(&method);
    std::size_t first = 0;
    for (const BehaviourInfo& behaviour : info.behaviours) {
      behaviours.push_back({.name = behaviour.name.c_str(),
                            .state = behaviour.state.c_str(),
                            .state_bytes = behaviour.state_bytes,
                            .state_version = behaviour.state_version,
                            .method_count = behaviour.methods.size(),
                            .methods = method_places.data() + first});
      first += behaviour.methods.size();
    }
    for (const ringkernel_behaviour_info& behaviour : behaviours)
      behaviour_places.push_back(&behaviour);
  }
};
using ToldPrograms = std::unique_ptr<const ToldProgram>;

/// What a thread was told of a state.
struct ToldState {
  std::string json;
};

ringkernel_swap to_c(const SwapInfo& swapped) {
  return {.version = swapped.version,
          .migrated = static_cast<std::uint32_t>(swapped.migrated),
          .pause_ns = static_cast<std::uint64_t>(swapped.pause.count())};
}

/// The caller's room for a state, all of it.
Result<std::span<std::byte>> read_room(const ringkernel_bytes* state) {
  if (state == nullptr) return null_argument("state");
  if (state->data == nullptr && state->data_bytes != 0) return null_argument("state->data");
  return std::span(static_cast<std::byte*>(state->data), state->data_bytes);
}

}  // namespace
}  // namespace ringkernel::capi

// NOLINTBEGIN: the names of the C API
using namespace ringkernel;
using namespace ringkernel::capi;

ringkernel_status ringkernel_program_add(ringkernel_runtime* handle,
                                         const ringkernel_program* program) {
  return guarded([&]() -> Result<void> {
    RK_TRY(runtime, Runtimes::table().find(handle, "runtime"));
    RK_TRY(desc, read_program(program));
    RK_TRY_VOID(runtime->add_program(desc));
    return {};
  });
}

ringkernel_status ringkernel_program_swap(ringkernel_runtime* handle,
                                          const ringkernel_program* program,
                                          ringkernel_swap* out_swap) {
  return guarded([&]() -> Result<void> {
    RK_TRY(runtime, Runtimes::table().find(handle, "runtime"));
    RK_TRY(desc, read_program(program));
    RK_TRY(swapped, runtime->swap_program(desc));
    if (out_swap != nullptr) *out_swap = to_c(swapped);
    return {};
  });
}

ringkernel_status ringkernel_program_swap_back(ringkernel_runtime* handle, const char* name,
                                               ringkernel_swap* out_swap) {
  return guarded([&]() -> Result<void> {
    RK_TRY(runtime, Runtimes::table().find(handle, "runtime"));
    if (name == nullptr) return null_argument("name");
    RK_TRY(swapped, runtime->swap_back(name));
    if (out_swap != nullptr) *out_swap = to_c(swapped);
    return {};
  });
}

ringkernel_status ringkernel_program_describe(ringkernel_runtime* handle, const char* name,
                                              ringkernel_program_info* out_info) {
  return with_runtime(handle, [&](const auto& runtime) -> Result<void> {
    if (name == nullptr) return null_argument("name");
    RK_TRY(program, runtime->program(name));
    auto told = std::make_unique<const ToldProgram>(std::move(program));
    ToldPrograms* const kept = of_thread<ToldPrograms>();
    if (kept == nullptr) return no_memory();
    const ringkernel_program_info info{.struct_size = sizeof info,
                                       .version = told->info.version,
                                       .takes_ops = told->info.takes_ops ? 1u : 0u,
                                       .reply_bytes = told->info.reply_bytes,
                                       .reserved = 0,
                                       .behaviour_count = told->behaviours.size(),
                                       .behaviours = told->behaviour_places.data(),
                                       .header = told->info.header.c_str()};
    RK_TRY_VOID(write_info(info, out_info, "out_info"));
    *kept = std::move(told);
    return {};
  });
}

ringkernel_status ringkernel_runtime_restart(ringkernel_runtime* handle, const char* program) {
  return guarded([&]() -> Result<void> {
    RK_TRY(runtime, Runtimes::table().find(handle, "runtime"));
    if (program == nullptr) return null_argument("program");
    return runtime->restart(program);
  });
}

ringkernel_status ringkernel_kernel_method(ringkernel_kernel* kernel, const char* name,
                                           ringkernel_method* out_method) {
  return with_kernel(kernel, [&](KernelObject& object) -> Result<void> {
    if (name == nullptr) return null_argument("name");
    if (out_method == nullptr) return null_argument("out_method");
    RK_TRY(method, object.kernel.method(name));
    *out_method = {.id = method.id, .reply_bytes = method.reply_bytes};
    return {};
  });
}

ringkernel_status ringkernel_kernel_schema(ringkernel_kernel* kernel, ringkernel_bytes* schema,
                                           ringkernel_bytes* behaviour) {
  return with_kernel(kernel, [&](KernelObject& object) -> Result<void> {
    if (schema == nullptr) return null_argument("schema");
    if (behaviour == nullptr) return null_argument("behaviour");
    RK_TRY(known, object.kernel.interface());
    const Bytes binary = std::as_bytes(std::span(known.schema.source().content()));
    const Bytes name = std::as_bytes(std::span(known.behaviour));
    const Result<void> schema_fits = check_room(*schema, binary.size(), "schema");
    const Result<void> name_fits = check_room(*behaviour, name.size(), "behaviour's name");
    if (!schema_fits || !name_fits) {
      schema->data_bytes = binary.size();
      behaviour->data_bytes = name.size();
      return schema_fits ? name_fits : schema_fits;
    }
    copy_reply(binary, *schema);
    copy_reply(name, *behaviour);
    return {};
  });
}

ringkernel_status ringkernel_call_method(ringkernel_kernel* kernel, const ringkernel_method* method,
                                         const ringkernel_bytes* request, uint64_t timeout_ns,
                                         ringkernel_bytes* reply) {
  return with_kernel(kernel, Kind::bytes, [&](KernelObject& object) -> Result<void> {
    if (reply == nullptr) return null_argument("reply");
    RK_TRY(message, read_method_message(method, request));
    RK_TRY_VOID(check_room(*reply, message.method.reply_bytes));
    RK_TRY(answer, object.kernel.call(message, {.timeout = to_duration(timeout_ns)}));
    return take(answer, *reply);
  });
}

ringkernel_status ringkernel_send_method(ringkernel_kernel* kernel, const ringkernel_method* method,
                                         const ringkernel_bytes* request, uint64_t timeout_ns,
                                         uint64_t* out_message) {
  return with_kernel(kernel, Kind::bytes, [&](KernelObject& object) -> Result<void> {
    RK_TRY(message, read_method_message(method, request));
    RK_TRY(id, object.kernel.send(message, {.timeout = to_duration(timeout_ns)}));
    if (out_message != nullptr) *out_message = id;
    return {};
  });
}

ringkernel_status ringkernel_kernel_read_state(ringkernel_kernel* kernel,
                                               const ringkernel_bytes* state) {
  return with_kernel(kernel, [&](KernelObject& object) -> Result<void> {
    RK_TRY(room, read_room(state));
    return object.kernel.read_state(room);
  });
}

ringkernel_status ringkernel_kernel_write_state(ringkernel_kernel* kernel,
                                                const ringkernel_bytes* state) {
  return with_kernel(kernel, [&](KernelObject& object) -> Result<void> {
    RK_TRY(bytes, read_room(state));
    return object.kernel.write_state(Bytes(bytes));
  });
}

ringkernel_status ringkernel_kernel_state_json(ringkernel_kernel* kernel, const char** out_json) {
  return with_kernel(kernel, [&](KernelObject& object) -> Result<void> {
    if (out_json == nullptr) return null_argument("out_json");
    RK_TRY(json, object.kernel.state_json());
    ToldState* const kept = of_thread<ToldState>();
    if (kept == nullptr) return no_memory();
    kept->json = std::move(json);
    *out_json = kept->json.c_str();
    return {};
  });
}

uint32_t ringkernel_last_version(void) { return last_version(); }

uint32_t ringkernel_last_fault(uint64_t* out_detail) { return last_fault(out_detail); }
// NOLINTEND
