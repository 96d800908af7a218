#include "mlir/ir.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <limits>

#include "foundation/memory_error.hpp"

namespace ringkernel::mlir {
namespace {

std::string_view view_of(MlirStringRef text) { return {text.data, text.length}; }
MlirStringRef ref_of(std::string_view text) { return {text.data(), text.size()}; }

/// Collects what MLIR prints.
void append(MlirStringRef text, void* to) noexcept {
  // MLIR's code is not made for exceptions. Without memory the text is cut, and reading fails.
  (void)with_memory([&] { static_cast<std::string*>(to)->append(text.data, text.length); });
}

/// A number from 1 on, which is taken off.
std::uint32_t take_number(std::string_view& text) {
  std::uint32_t number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(end.ptr - text.data()));
  return number;
}

/// The first FILE:LINE:COLUMN of a place as MLIR prints it, however it is nested.
SourcePosition first_position(std::string_view text) {
  for (std::size_t end = text.find("\":"); end != std::string_view::npos;
       end = text.find("\":", end + 1)) {
    std::string_view rest = text.substr(end + 2);
    const std::uint32_t line = take_number(rest);
    if (line == 0 || !rest.starts_with(':')) continue;
    rest.remove_prefix(1);
    const std::uint32_t column = take_number(rest);
    const std::size_t begin = text.rfind('"', end - 1);
    if (begin == std::string_view::npos || end == 0) continue;
    return {std::string(text.substr(begin + 1, end - begin - 1)), line, column, {}};
  }
  return {};
}

/// Two hexadecimal digits for each byte; the first four bytes are an alignment. All that is asked
/// for, and no more.
bool take_bytes(std::string_view digits, std::vector<std::byte>& bytes) {
  constexpr std::size_t alignment = 8;
  if (digits.size() != alignment + 2 * bytes.size()) return false;
  digits.remove_prefix(alignment);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::uint8_t number = 0;
    const char* const end = digits.data() + 2 * i + 2;
    if (std::from_chars(end - 2, end, number, 16).ptr != end) return false;
    bytes[i] = std::byte{number};
  }
  return true;
}

template <class T>
void put(std::vector<std::byte>& bytes, std::size_t index, T element) {
  std::memcpy(bytes.data() + index * sizeof element, &element, sizeof element);
}

}  // namespace

std::string_view Ir::name(MlirOperation operation) const {
  return view_of(api_.mlirIdentifierStr(api_.mlirOperationGetName(operation)));
}

SourcePosition Ir::position(MlirLocation location) const {
  std::string text;
  api_.mlirLocationPrint(location, append, &text);
  SourcePosition position = first_position(text);
  if (position.file.empty() || position.file == "-") position.file = file_;
  return position;
}

SourcePosition Ir::position(MlirOperation operation) const {
  return position(api_.mlirOperationGetLocation(operation));
}

std::string Ir::place(MlirOperation operation) const {
  const SourcePosition at = position(operation);
  return "'" + std::string(name(operation)) + "' at " + at.file + ":" + std::to_string(at.line) +
         ":" + std::to_string(at.column);
}

std::string Ir::text(MlirType type) const {
  std::string text;
  api_.mlirTypePrint(type, append, &text);
  return text;
}

std::string Ir::text(MlirAttribute attribute) const {
  std::string text;
  api_.mlirAttributePrint(attribute, append, &text);
  return text;
}

std::vector<MlirValue> Ir::operands(MlirOperation operation) const {
  std::vector<MlirValue> values;
  for (std::intptr_t i = 0; i < api_.mlirOperationGetNumOperands(operation); ++i)
    values.push_back(api_.mlirOperationGetOperand(operation, i));
  return values;
}

std::vector<MlirValue> Ir::results(MlirOperation operation) const {
  std::vector<MlirValue> values;
  for (std::intptr_t i = 0; i < api_.mlirOperationGetNumResults(operation); ++i)
    values.push_back(api_.mlirOperationGetResult(operation, i));
  return values;
}

std::vector<MlirValue> Ir::arguments(MlirBlock block) const {
  std::vector<MlirValue> values;
  for (std::intptr_t i = 0; i < api_.mlirBlockGetNumArguments(block); ++i)
    values.push_back(api_.mlirBlockGetArgument(block, i));
  return values;
}

std::vector<MlirOperation> Ir::operations(MlirBlock block) const {
  std::vector<MlirOperation> all;
  for (MlirOperation one = api_.mlirBlockGetFirstOperation(block); !one.is_null();
       one = api_.mlirOperationGetNextInBlock(one))
    all.push_back(one);
  return all;
}

MlirBlock Ir::block(MlirOperation operation, std::intptr_t region) const {
  if (region >= api_.mlirOperationGetNumRegions(operation)) return {};
  return api_.mlirRegionGetFirstBlock(api_.mlirOperationGetRegion(operation, region));
}

bool Ir::is_used(MlirValue value) const { return !api_.mlirValueGetFirstUse(value).is_null(); }

MlirOperation Ir::maker(MlirValue value) const {
  if (!api_.mlirValueIsAOpResult(value)) return {};
  return api_.mlirOpResultGetOwner(value);
}

bool Ir::is_used_once(MlirValue value) const {
  return is_used(value) && api_.mlirOpOperandGetNextUse(api_.mlirValueGetFirstUse(value)).is_null();
}

std::optional<ValueType> Ir::type(MlirType type) const {
  ValueType result;
  MlirType element = type;
  if (api_.mlirTypeIsARankedTensor(type) || api_.mlirTypeIsAMemRef(type)) {
    result.is_memory = api_.mlirTypeIsAMemRef(type);
    element = api_.mlirShapedTypeGetElementType(type);
    for (std::intptr_t dim = 0; dim < api_.mlirShapedTypeGetRank(type); ++dim)
      result.dims.push_back(api_.mlirShapedTypeIsDynamicDim(type, dim)
                                ? -1
                                : api_.mlirShapedTypeGetDimSize(type, dim));
  } else if (api_.mlirTypeIsAShaped(type)) {
    return std::nullopt;
  }
  if (api_.mlirTypeIsAF32(element)) {
    result.dtype = DType::f32;
  } else if (api_.mlirTypeIsAIndex(element)) {
    result.dtype = DType::i64;
  } else if (api_.mlirTypeIsAInteger(element)) {
    const unsigned width = api_.mlirIntegerTypeGetWidth(element);
    result.is_truth = width == 1;
    if (api_.mlirIntegerTypeIsSignless(element))
      result.dtype = width == 1 || width == 32 ? DType::i32
                     : width == 64             ? DType::i64
                                               : DType::none;
  }
  return result;
}

std::optional<ValueType> Ir::type(MlirValue value) const {
  return type(api_.mlirValueGetType(value));
}

MlirAttribute Ir::attribute(MlirOperation operation, std::string_view name) const {
  return api_.mlirOperationGetAttributeByName(operation, ref_of(name));
}

std::optional<std::string> Ir::string(MlirOperation operation, std::string_view name) const {
  const MlirAttribute found = attribute(operation, name);
  if (found.is_null()) return std::nullopt;
  if (api_.mlirAttributeIsAString(found))
    return std::string(view_of(api_.mlirStringAttrGetValue(found)));
  if (api_.mlirAttributeIsAFlatSymbolRef(found))
    return std::string(view_of(api_.mlirFlatSymbolRefAttrGetValue(found)));
  return std::nullopt;
}

std::optional<std::int64_t> Ir::integer(MlirOperation operation, std::string_view name) const {
  const MlirAttribute found = attribute(operation, name);
  if (found.is_null() || !api_.mlirAttributeIsAInteger(found)) return std::nullopt;
  return api_.mlirIntegerAttrGetValueInt(found);
}

std::optional<Integers> Ir::integers(MlirOperation operation, std::string_view name) const {
  const MlirAttribute found = attribute(operation, name);
  if (found.is_null() || !api_.mlirAttributeIsADenseI64Array(found)) return std::nullopt;
  Integers all;
  for (std::intptr_t i = 0; i < api_.mlirDenseArrayGetNumElements(found); ++i) {
    all.push_back(api_.mlirDenseI64ArrayGetElement(found, i));
    if (all.back() == std::numeric_limits<std::int64_t>::min()) return std::nullopt;
  }
  return all;
}

void Ir::print_resources() const {
  if (has_printed_) return;
  has_printed_ = true;
  api_.mlirOperationPrint(module_, append, &printed_);
  // {-# dialect_resources: { builtin: { KEY: "0xDIGITS", ... } } #-}, at the end.
  constexpr std::string_view begin = "builtin: {";
  const std::string_view all = printed_;
  const std::size_t section = all.rfind("{-#");
  if (section == std::string_view::npos) return;
  std::size_t at = all.find(begin, section);
  if (at == std::string_view::npos) return;
  at += begin.size();
  for (;;) {
    at = all.find_first_not_of(" \n,", at);
    if (at == std::string_view::npos || all[at] == '}') return;
    constexpr std::string_view separator = ": \"0x";
    const std::size_t key_end = all.find(separator, at);
    if (key_end == std::string_view::npos) return;
    const std::size_t digits = key_end + separator.size();
    const std::size_t digits_end = all.find('"', digits);
    if (digits_end == std::string_view::npos) return;
    resources_.emplace(all.substr(at, key_end - at), all.substr(digits, digits_end - digits));
    at = digits_end + 1;
  }
}

// MLIR's own functions read a resource that is not there, or is too short.
bool Ir::resource(std::string_view printed, std::vector<std::byte>& bytes) const {
  const std::size_t open = printed.find('<');
  const std::size_t close = printed.find("> :");
  if (open == std::string_view::npos || close == std::string_view::npos) return false;
  const auto found = resources_.find(printed.substr(open + 1, close - open - 1));
  return found != resources_.end() && take_bytes(found->second, bytes);
}

std::optional<Value> Ir::elements(MlirAttribute attribute) const {
  const auto of = type(api_.mlirAttributeGetType(attribute));
  if (!of || of->dtype == DType::none) return std::nullopt;
  Value value{of->dtype, of->is_truth, of->dims, of->dims, {}, {}, {}};
  const bool is_number =
      api_.mlirAttributeIsAFloat(attribute) || api_.mlirAttributeIsAInteger(attribute);
  const bool is_dense = api_.mlirAttributeIsADenseElements(attribute);
  const bool is_splat = is_dense && api_.mlirDenseElementsAttrIsSplat(attribute);
  if (is_number || is_splat) value.held.assign(value.rank(), 1);
  // The text is longer than the elements that it has.
  const bool is_resource = api_.mlirAttributeIsADenseResourceElements(attribute);
  if (is_resource) print_resources();
  std::size_t room = printed_.size();
  if (is_resource)
    for (const std::int64_t extent : value.held)
      if (room /= static_cast<std::size_t>(std::max<std::int64_t>(extent, 1)); room == 0)
        return std::nullopt;
  const auto count = static_cast<std::size_t>(element_count(value.held));
  std::vector<std::byte> bytes(count * element_bytes(value.dtype));
  if (is_number && value.dtype == DType::f32) {
    put(bytes, 0, static_cast<float>(api_.mlirFloatAttrGetValueDouble(attribute)));
  } else if (is_number) {
    const std::int64_t number = api_.mlirIntegerAttrGetValueInt(attribute);
    if (value.is_truth)
      put(bytes, 0, number != 0 ? std::int32_t{1} : std::int32_t{0});
    else if (value.dtype == DType::i32)
      put(bytes, 0, static_cast<std::int32_t>(number));
    else
      put(bytes, 0, number);
  } else if (is_dense && value.is_truth) {  // packed in bits
    for (std::size_t i = 0; i < count; ++i) {
      const bool is_set =
          api_.mlirDenseElementsAttrGetBoolValue(attribute, static_cast<std::intptr_t>(i));
      put(bytes, i, is_set ? std::int32_t{1} : std::int32_t{0});
    }
  } else if (is_dense) {
    if (!bytes.empty())
      std::memcpy(bytes.data(), api_.mlirDenseElementsAttrGetRawData(attribute), bytes.size());
  } else if (is_resource && !value.is_truth) {
    if (!resource(text(attribute), bytes)) return std::nullopt;
  } else {
    return std::nullopt;
  }
  value.known = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return value;
}

}  // namespace ringkernel::mlir
