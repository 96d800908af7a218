#include "program/names.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>

namespace ringkernel::program {
namespace {

// C11, C++20 and OpenCL C, the macros that compilers and our headers define, the types of headers
// that ours include, and what a handler's parameters are called.
constexpr std::string_view words = R"(
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t
char32_t class co_await co_return co_yield compl concept const const_cast consteval constexpr
constinit continue decltype default delete do double dynamic_cast else enum explicit export extern
false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr
operator or or_eq private protected public register reinterpret_cast requires restrict return short
signed sizeof static static_assert static_cast struct switch template this thread_local throw true
try typedef typeid typename typeof union unsigned using virtual void volatile wchar_t while xor
xor_eq
kernel global local constant generic private pipe read_only write_only read_write
uniform half quad complex imaginary uchar ushort uint ulong image1d_t image1d_array_t
image1d_buffer_t image2d_t image2d_array_t image2d_depth_t image2d_array_depth_t image3d_t
sampler_t event_t queue_t ndrange_t clk_event_t reserve_id_t cl_mem_fence_flags memory_order
memory_scope atomic_int atomic_uint atomic_long atomic_ulong atomic_float atomic_double atomic_flag
atomic_intptr_t atomic_uintptr_t atomic_size_t atomic_ptrdiff_t
NULL NAN INFINITY HUGE_VAL MAXFLOAT EOF offsetof size_t ptrdiff_t intptr_t uintptr_t max_align_t
nullptr_t linux unix i386 main errno assert
self state request reply
)";

// Functions of OpenCL C, or of compilers, that no type can be called as. Members can.
constexpr std::string_view functions = R"(
abs abs_diff acos acosh add_sat all any asin asinh atan atan2 atanh barrier bitselect cbrt ceil
clamp clz cos cosh cospi cross ctz degrees distance dot erf erfc exp exp2 exp10 expm1 fabs fdim
floor fma fmax fmin fmod fract frexp hadd hypot ilogb isequal isfinite isgreater isinf isless isnan
isnormal isordered isunordered ldexp length lgamma log log10 log1p log2 logb mad mad24 mad_hi
mad_sat max maxmag mem_fence min minmag mix modf mul24 mul_hi nan nextafter normalize popcount pow
pown powr prefetch radians read_mem_fence remainder remquo rhadd rint rootn rotate round
rsqrt select shuffle shuffle2 sign signbit sin sincos sinh sinpi smoothstep sqrt step sub_sat tan
tanh tanpi tgamma trunc upsample vec_step wait_group_events write_mem_fence
malloc free calloc realloc memcpy memset memcmp memmove strlen strcmp strcpy abort exit
)";

// Families of such names.
constexpr std::array<std::string_view, 19> beginnings{
    "rk_",         "RK_",         "as_",   "convert_",    "atomic_",          "atom_",
    "get_",        "work_group_", "vload", "sub_group_",  "native_",          "read_image",
    "write_image", "vstore",      "_",     "no_handler_", "async_work_group", "CL_",
    "CLK_"};

std::unordered_set<std::string_view> split(std::string_view list) {
  std::unordered_set<std::string_view> set;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find_first_of(" \n", at), list.size());
    if (end > at) set.insert(list.substr(at, end - at));
    at = end + 1;
  }
  return set;
}

/// "float4".
bool is_vector_type(std::string_view name) {
  const std::size_t digits = name.find_first_of("123468");
  if (digits == std::string_view::npos) return false;
  static const auto widths = split("2 3 4 8 16");
  static const auto elements =
      split("char uchar short ushort int uint long ulong half float double bool");
  return widths.count(name.substr(digits)) != 0 && elements.count(name.substr(0, digits)) != 0;
}

/// "uint8_t".
bool is_sized_integer(std::string_view name) {
  if (name.size() < 5 || name.substr(name.size() - 2) != "_t") return false;
  return name.substr(0, 3) == "int" || name.substr(0, 4) == "uint";
}

bool is_word(std::string_view name) {
  static const auto set = split(words);
  return set.count(name) != 0 || is_vector_type(name) || is_sized_integer(name);
}

}  // namespace

bool is_reserved(std::string_view c_name) {
  static const auto set = split(functions);
  if (is_word(c_name) || set.count(c_name) != 0) return true;
  if (c_name.find("__") != std::string_view::npos) return true;
  return std::any_of(beginnings.begin(), beginnings.end(), [&](std::string_view beginning) {
    return c_name.substr(0, beginning.size()) == beginning;
  });
}

std::string member_name(const Field& field) {
  std::string name(field.short_name());
  if (is_word(name)) name += '_';
  return name;
}

std::string type_name(const Entity& type, std::string_view name_space) {
  if (type.name_space() == name_space) return std::string(type.short_name());
  std::string name = type.name;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

Result<void> NameTable::take(const std::string& c_name, const std::string& full_name) {
  if (is_reserved(c_name))
    return refusal(source_, full_name,
                   "its name on the device, '" + c_name + "', is a reserved one");
  const auto [owner, taken] = owners_.emplace(c_name, full_name);
  if (!taken)
    return refusal(source_, full_name,
                   "its name on the device, '" + c_name + "', is that of " + owner->second);
  return {};
}

}  // namespace ringkernel::program
