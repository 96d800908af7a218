// Prepared calls, for C.
#include <boost/container/static_vector.hpp>
#include <span>
#include <utility>

#include "capi/objects.hpp"
#include "capi/requests.hpp"

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

Result<void> call(PreparedObject& prepared, std::span<const ringkernel_tensor> inputs,
                  std::uint64_t timeout_ns, std::span<ringkernel_tensor> results) {
  if (inputs.size() != prepared.input_count)
    return count_mismatch("input", prepared.input_count, inputs.size());
  if (results.size() != prepared.results.size())
    return count_mismatch("result", prepared.results.size(), results.size());
  RK_TRY_VOID(check_rooms(results, prepared.results));
  boost::container::static_vector<Elements, graph_inputs_max> operands;
  for (const std::uint8_t number : prepared.operands) {
    RK_TRY(elements, read_elements(inputs[number], {"inputs", number}));
    operands.push_back(elements);
  }
  boost::container::static_vector<ElementsOut, graph_outputs_max> places;
  for (std::size_t i = 0; i < results.size(); ++i)
    places.emplace_back(prepared.results[i], results[i].data);
  RK_TRY_VOID(prepared.call.call_into(places, operands, {.timeout = to_duration(timeout_ns)}));
  for (std::size_t i = 0; i < results.size(); ++i) describe(prepared.results[i], results[i]);
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
  return guarded([&]() -> Result<void> {
    RK_TRY(object, Prepareds::table().find(prepared, "prepared"));
    if (inputs == nullptr && input_count != 0) return null_argument("inputs");
    if (results == nullptr && result_count != 0) return null_argument("results");
    return call(*object, std::span(inputs, input_count), timeout_ns,
                std::span(results, result_count));
  });
}

ringkernel_status ringkernel_prepared_close(ringkernel_prepared* prepared) {
  return guarded([&]() -> Result<void> {
    RK_TRY_VOID(Prepareds::table().remove(prepared, "prepared"));
    return {};
  });
}
// NOLINTEND
