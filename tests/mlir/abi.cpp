// Every row of api.def against MLIR's own headers, and every type in it against ours: what is
// called through our table gets what it expects. Compiled once for each version that is there.
#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Diagnostics.h>
#include <mlir-c/IR.h>
#include <mlir-c/Pass.h>
#include <mlir-c/RegisterEverything.h>
#include <mlir-c/Support.h>

#include <cstddef>
#include <type_traits>

#include "mlir/handles.hpp"
#include "mlir/library.hpp"

namespace {

namespace ours = ringkernel::mlir;

#define RK_MLIR(result, name, arguments) \
  static_assert(std::is_same_v<decltype(&::name), result(*) arguments>, "the row of " #name);
#include "mlir/api.def"
#undef RK_MLIR

/// Whether both are passed in the same way: the same type; or enums over the same type; or structs
/// of one layout, by their only pointer, or as below.
template <class Theirs, class Ours>
struct Alike : std::is_same<Theirs, Ours> {};

template <class Type>
struct Plain : std::conjunction<std::is_standard_layout<Type>, std::is_trivially_copyable<Type>> {};

template <class Theirs, class Ours>
constexpr bool same_place = std::conjunction_v<Plain<Theirs>, Plain<Ours>> &&
                            sizeof(Theirs) == sizeof(Ours) && alignof(Theirs) == alignof(Ours);

template <class Type>
concept Handle = requires(Type handle) {
  handle.ptr;
};
template <class Type>
concept Enum = std::is_enum_v<Type>;

template <Handle Theirs, Handle Ours>
struct Alike<Theirs, Ours>
    : std::bool_constant<same_place<Theirs, Ours> && sizeof(Ours) == sizeof(void*) &&
                         std::is_same_v<decltype(Theirs::ptr), decltype(Ours::ptr)>> {};

template <Enum Theirs, Enum Ours>
struct Alike<Theirs, Ours>
    : std::is_same<std::underlying_type_t<Theirs>, std::underlying_type_t<Ours>> {};

template <>
struct Alike<MlirStringRef, ours::MlirStringRef>
    : std::bool_constant<
          same_place<MlirStringRef, ours::MlirStringRef> &&
          std::is_same_v<decltype(MlirStringRef::data), decltype(ours::MlirStringRef::data)> &&
          std::is_same_v<decltype(MlirStringRef::length), decltype(ours::MlirStringRef::length)> &&
          offsetof(MlirStringRef, data) == offsetof(ours::MlirStringRef, data) &&
          offsetof(MlirStringRef, length) == offsetof(ours::MlirStringRef, length)> {};

template <>
struct Alike<MlirLogicalResult, ours::MlirLogicalResult>
    : std::bool_constant<same_place<MlirLogicalResult, ours::MlirLogicalResult> &&
                         std::is_same_v<decltype(MlirLogicalResult::value),
                                        decltype(ours::MlirLogicalResult::value)>> {};

template <class Theirs, class Ours>
struct AlikeFunctions : std::false_type {};
template <class Result, class... Parameters, class OurResult, class... OurParameters>
requires(sizeof...(Parameters) ==
         sizeof...(OurParameters)) struct AlikeFunctions<Result (*)(Parameters...),
                                                         OurResult (*)(OurParameters...)>
    : std::conjunction<Alike<Result, OurResult>, Alike<Parameters, OurParameters>...> {
};

/// Callbacks, too.
template <class Result, class... Parameters, class OurResult, class... OurParameters>
struct Alike<Result (*)(Parameters...), OurResult (*)(OurParameters...)>
    : AlikeFunctions<Result (*)(Parameters...), OurResult (*)(OurParameters...)> {};

#define RK_MLIR(result, name, arguments)                                    \
  static_assert(Alike<decltype(&::name), decltype(ours::Api::name)>::value, \
                "the types in the row of " #name);
#include "mlir/api.def"
#undef RK_MLIR

static_assert(int{MlirDiagnosticError} == int{ours::MlirDiagnosticError});
static_assert(int{MlirDiagnosticWarning} == int{ours::MlirDiagnosticWarning});
static_assert(int{MlirDiagnosticNote} == int{ours::MlirDiagnosticNote});
static_assert(int{MlirDiagnosticRemark} == int{ours::MlirDiagnosticRemark});

// What the comparison sees.
struct Wide {
  void* ptr;
  void* more;
};
static_assert(Alike<MlirModule, ours::MlirModule>::value);
static_assert(!Alike<MlirModule, ours::MlirContext>::value, "a pointer to const");
static_assert(!Alike<MlirContext, Wide>::value && !Alike<Wide, ours::MlirContext>::value);
static_assert(!Alike<bool, int>::value);
static_assert(!Alike<MlirStringRef, ours::MlirLogicalResult>::value);
static_assert(!Alike<void (*)(MlirType), void (*)()>::value);
static_assert(!Alike<void (*)(void (*)(int)), void (*)(void (*)(long))>::value);

}  // namespace
