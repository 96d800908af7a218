// Prepared calls, for C.
#include <boost/container/static_vector.hpp>
#include <span>
#include <utility>

#include "capi/objects.hpp"
#include "capi/requests.hpp"
#include "ringkernel/ringkernel_async.h"

namespace ringkernel::capi {
namespace {

Error count_mismatch(const char* what, std::size_t prepared, std::size_t given) {
  return {Errc::arity_mismatch, "it was prepared for " + std::to_string(prepared) + " " + what +
                                    (prepared == 1 ? "" : "s") + "; the call gives " +
                                    std::to_string(given)};
}

Result<void> prepare(KernelObject& kernel, const ringkernel_request* request,
                     ringkernel_prepared** out_prepared) {
  if (out_prepared == nullptr) return null_argument("out_prepared");
  Asked asked;
  RK_TRY_VOID(read_request(request, asked, Contents::later));
  RK_TRY(call, kernel.kernel.prepare(asked.request));
  auto object = std::make_shared<PreparedObject>(PreparedObject{
      .runtime = kernel.runtime, .call = std::move(call), .input_count = asked.input_count});
  for (std::size_t i = 0; i < asked.request.input_count; ++i)
    if (asked.request.inputs[i].tensor == 0) object->operands.push_back(asked.numbers[i]);
  if (asked.reply.dtype != DType::none) object->results.push_back(asked.reply);
  *out_prepared = Prepareds::table().add(std::move(object));
  return {};
}

/// `make(places, operands)` makes the call, and says whether it has.
template <class Make>
Result<void> call(const ringkernel_prepared* handle, const ringkernel_tensor* given_inputs,
                  std::size_t input_count, ringkernel_tensor* given_results,
                  std::size_t result_count, Make&& make) {
  RK_TRY(prepared, Prepareds::table().find(handle, "prepared"));
  if (given_inputs == nullptr && input_count != 0) return null_argument("inputs");
  if (given_results == nullptr && result_count != 0) return null_argument("results");
  const std::span inputs(given_inputs, input_count);
  const std::span results(given_results, result_count);
  if (inputs.size() != prepared->input_count)
    return count_mismatch("input", prepared->input_count, inputs.size());
  if (results.size() != prepared->results.size())
    return count_mismatch("result", prepared->results.size(), results.size());
  RK_TRY_VOID(check_rooms(results, prepared->results));
  boost::container::static_vector<Elements, graph_inputs_max> operands;
  for (const std::uint8_t number : prepared->operands) {
    RK_TRY(elements, read_elements(inputs[number], {"inputs", number}));
    operands.push_back(elements);
  }
  boost::container::static_vector<ElementsOut, graph_outputs_max> places;
  for (std::size_t i = 0; i < results.size(); ++i)
    places.emplace_back(prepared->results[i], results[i].data);
  Result<bool> made = make(prepared->call, places, operands);
  if (!made) return std::move(made).error();
  for (std::size_t i = 0; *made && i < results.size(); ++i)
    describe(prepared->results[i], results[i]);
  return {};
}

}  // namespace
}  // namespace ringkernel::capi

// NOLINTBEGIN: the names of the C API
using namespace ringkernel;
using namespace ringkernel::capi;

ringkernel_status ringkernel_kernel_prepare(ringkernel_kernel* kernel,
                                            const ringkernel_request* request,
                                            ringkernel_prepared** out_prepared) {
  return with_kernel(kernel, Kind::ops,
                     [&](KernelObject& object) { return prepare(object, request, out_prepared); });
}

ringkernel_status ringkernel_prepared_call(ringkernel_prepared* prepared,
                                           const ringkernel_tensor* inputs, size_t input_count,
                                           uint64_t timeout_ns, ringkernel_tensor* results,
                                           size_t result_count) {
  return guarded([&] {
    return call(
        prepared, inputs, input_count, results, result_count,
        [&](PreparedCall& made, const auto& places, const auto& operands) -> Result<bool> {
          RK_TRY_VOID(made.call_into(places, operands, {.timeout = to_duration(timeout_ns)}));
          return true;
        });
  });
}

ringkernel_status ringkernel_prepared_try_call(ringkernel_prepared* prepared,
                                               const ringkernel_tensor* inputs, size_t input_count,
                                               ringkernel_tensor* results, size_t result_count,
                                               int32_t* out_made) {
  return guarded([&]() -> Result<void> {
    if (out_made == nullptr) return null_argument("out_made");
    return call(prepared, inputs, input_count, results, result_count,
                [&](PreparedCall& made, const auto& places, const auto& operands) -> Result<bool> {
                  RK_TRY(was_made, made.try_call_into(places, operands));
                  *out_made = was_made ? 1 : 0;
                  return was_made;
                });
  });
}

ringkernel_status ringkernel_prepared_close(ringkernel_prepared* prepared) {
  return guarded([&]() -> Result<void> {
    RK_TRY_VOID(Prepareds::table().remove(prepared, "prepared"));
    return {};
  });
}
// NOLINTEND
