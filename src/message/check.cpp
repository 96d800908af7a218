#include <string>

#include "message/codec.hpp"

namespace ringkernel::codec {
namespace {

/// What `infer` does not see: whether the elements are there.
Result<void> check_operand(const TensorView& view, std::size_t index) {
  if (view.tensor != 0) return {};  // where its elements lie is the runtime's to know
  const std::string operand = "operand " + std::to_string(index) + " is " + view.desc.text();
  if (view.data == nullptr) return Error(Errc::invalid_argument, operand + " without elements");
  if (view.element_count != view.desc.element_count())
    return Error(Errc::invalid_argument,
                 operand + " but " + std::to_string(view.element_count) + " elements were given");
  return {};
}

}  // namespace

Result<Inference> check(const Request& request) {
  if (request.input_count > inputs_max)
    return Error(Errc::arity_mismatch, std::to_string(request.input_count) +
                                           " operands, no op takes more than " +
                                           std::to_string(inputs_max));
  std::array<TensorDesc, inputs_max> descs;
  for (std::size_t i = 0; i < request.input_count; ++i) descs[i] = request.inputs[i].desc;
  RK_TRY(inference,
         infer(request.op, std::span(descs).first(request.input_count), request.attributes));
  for (std::size_t i = 0; i < request.input_count; ++i)
    RK_TRY_VOID(check_operand(request.inputs[i], i));
  return inference;
}

}  // namespace ringkernel::codec
