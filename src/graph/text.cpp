// Graphs from the text of the public Core IR grammar: a list of definitions, then the outputs.
#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

#include "foundation/memory_error.hpp"
#include "ops/ir_text.hpp"
#include "ringkernel/function_result.hpp"
#include "ringkernel/graph.hpp"

namespace ringkernel {
namespace {

using ops::IrCursor;

/// The elements of a constant, in the type that is declared behind them.
struct Literal {
  std::vector<std::string_view> numbers;
  std::vector<std::int64_t> extents;
};

/// Prefixes an error that does not know its place.
Error at(IrCursor place, Error error) {
  (void)place.peek();  // blanks do not belong to the place
  error.detail = place.where() + ": " + error.detail;
  return error;
}

Error too_many(std::size_t most, const char* things) {
  return {Errc::limit_exceeded, "a graph has at most " + std::to_string(most) + " " + things};
}

/// `[`, elements or lists of the same form with commas in between or behind, `]`. Lists of one
/// depth have the length of the first of them.
Result<void> read_literal(IrCursor& cursor, std::size_t depth, Literal& literal) {
  if (cursor.peek() != '[') {
    if (depth < literal.extents.size()) return cursor.expected("a list");
    RK_TRY(number, cursor.number("a number or a list"));
    literal.numbers.push_back(number);
    return {};
  }
  if (depth == rank_max) return cursor.expected("at most 8 lists in each other");
  const bool is_first = depth == literal.extents.size();
  if (is_first && !literal.numbers.empty()) return cursor.expected("a number");
  if (is_first) literal.extents.push_back(0);
  IrCursor place = cursor;
  RK_TRY_VOID(cursor.expect('['));
  std::int64_t count = 0;
  while (!cursor.accept(']')) {
    RK_TRY_VOID(read_literal(cursor, depth + 1, literal));
    ++count;
    if (cursor.accept(',')) continue;
    RK_TRY_VOID(cursor.expect(']', "','"));
    break;
  }
  if (is_first)
    literal.extents[depth] = count;
  else if (literal.extents[depth] != count)
    return at(place,
              Error(Errc::ragged_literal, "a list of " + std::to_string(count) + " beside one of " +
                                              std::to_string(literal.extents[depth])));
  return {};
}

/// `Tensor<f32, [2, 3]>`.
Result<TensorDesc> read_type(IrCursor& cursor) {
  IrCursor before = cursor;
  RK_TRY(word, cursor.identifier("'Tensor'"));
  if (word != "Tensor") return before.expected("'Tensor'");
  RK_TRY_VOID(cursor.expect('<'));
  TensorDesc desc;
  RK_TRY(dtype, ops::read_dtype(cursor));
  desc.dtype = dtype;
  RK_TRY_VOID(cursor.expect(','));
  before = cursor;
  RK_TRY(extents, cursor.integers("an extent"));
  if (!extents.fits())
    return at(before, Error(Errc::rank_mismatch, std::to_string(extents.count()) + " extents"));
  Result<Shape> shape = Shape::make(extents.values());
  if (!shape) return at(before, shape.error());
  desc.shape = *shape;
  RK_TRY_VOID(cursor.expect('>'));
  return desc;
}

/// What is between the quotes of a string, in which `\\` takes the next character along.
std::string unescaped(std::string_view string) {
  std::string text;
  for (std::size_t i = 0; i < string.size(); ++i)
    text += string[i] == '\\' && i + 1 < string.size() ? string[++i] : string[i];
  return text;
}

/// `{name: value, ...}`: notes of whoever wrote the text. What counts is the string behind `name`,
/// if there is one.
Result<std::string> read_notes(IrCursor& cursor) {
  std::string noted;
  if (!cursor.accept('{')) return noted;
  while (!cursor.accept('}')) {
    RK_TRY(note, cursor.identifier("the name of an attribute"));
    RK_TRY_VOID(cursor.expect(':'));
    const char first = cursor.peek();
    if (first == '"') {
      RK_TRY(string, cursor.string("a string"));
      if (note == "name") noted = unescaped(string);
    } else if (first == '[')
      RK_TRY_VOID(cursor.integers("an integer"));
    else if (first == 't' || first == 'f')
      RK_TRY_VOID(ops::read_bool(cursor));
    else
      RK_TRY_VOID(cursor.number("a value"));
    if (cursor.accept(',')) continue;
    RK_TRY_VOID(cursor.expect('}', "','"));
    break;
  }
  return noted;
}

/// Whether a number that is out of range is too small for it: nearer to zero than to anything else.
bool is_next_to_zero(std::string_view number) {
  if (number.starts_with('-')) number.remove_prefix(1);
  const std::size_t e = std::min(number.find_first_of("eE"), number.size());
  const std::string_view digits = number.substr(0, e);
  const std::size_t point = std::min(digits.find('.'), digits.size());
  const std::size_t first = digits.find_first_of("123456789");
  if (first == std::string_view::npos) return true;
  // How many places the first digit that is not zero stands before the point, or behind it.
  const auto places = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first);
  std::string_view exponent = number.substr(std::min(e + 1, number.size()));
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  std::int64_t power = 0;
  const auto [end, status] =
      std::from_chars(exponent.data(), exponent.data() + exponent.size(), power);
  if (status == std::errc::result_out_of_range) return exponent.starts_with('-');
  return power < -places;
}

/// The element that `number` is: the nearest one there is, of which zero is one.
template <class T>
bool read_element(std::string_view number, T& element) {
  const auto [end, status] = std::from_chars(number.data(), number.data() + number.size(), element);
  if (std::is_floating_point_v<T> && status == std::errc::result_out_of_range &&
      is_next_to_zero(number)) {
    element = number.starts_with('-') ? T(-0.0) : T(0);
    return true;
  }
  return status == std::errc() && end == number.data() + number.size();
}

template <class T>
Result<Graph::Value> make_constant(Graph& graph, const Literal& literal, const TensorDesc& desc) {
  std::vector<T> elements(literal.numbers.size());
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const std::string_view number = literal.numbers[i];
    if (!read_element(number, elements[i]))
      return Error(Errc::constant_mismatch,
                   ops::excerpt(number) + " as an element of " + desc.text());
  }
  return graph.constant(TensorView(desc.shape, elements));
}

class ModuleReader {
 public:
  ModuleReader(std::string name, std::string_view text) : cursor_(text), graph_(std::move(name)) {}

  Result<Graph> read() {
    while (cursor_.peek() == '%') RK_TRY_VOID(read_definition());
    RK_TRY_VOID(read_outputs());
    if (!cursor_.at_end()) return cursor_.expected("the end");
    return std::move(graph_);
  }

 private:
  /// A value, and what it is called outside of the text; empty: it has no name.
  struct Named {
    Graph::Value value;
    std::string name;
  };

  /// `%name = operation {notes} : type`, or `%name = %other`.
  Result<void> read_definition() {
    const IrCursor place = cursor_;
    RK_TRY(name, cursor_.value());
    if (values_.contains(name))
      return at(place, Error(Errc::redefined_value, "%" + ops::excerpt(name)));
    RK_TRY_VOID(cursor_.expect('='));
    const bool is_number = name.front() >= '0' && name.front() <= '9';
    if (cursor_.peek() == '%') {
      RK_TRY(other, read_use(Errc::undefined_value));
      values_.emplace(name, is_number ? other : Named{other.value, std::string(name)});
      return {};
    }
    name_ = is_number ? std::string() : std::string(name);
    RK_TRY(value, read_value());
    if (!graph_.status()) return at(place, graph_.status().error());
    values_.emplace(name, Named{value, std::move(name_)});
    return {};
  }

  Result<Graph::Value> read_value() {
    const IrCursor place = cursor_;
    IrCursor ahead = cursor_;
    RK_TRY(word, ahead.identifier("an operation", true));
    if (word == "Input") {
      cursor_ = ahead;
      RK_TRY_VOID(cursor_.expect('('));
      RK_TRY_VOID(cursor_.expect(')'));
      RK_TRY(desc, read_declared());
      if (input_count_++ == graph_inputs_max)
        return at(place, too_many(graph_inputs_max, "inputs"));
      return graph_.input(desc, name_);
    }
    if (word.starts_with("Const")) {
      cursor_ = ahead;
      return read_constant(word, place);
    }
    // Before it is looked at: what no compiler takes shall cost nothing.
    if (graph_.op_count() == RK_GRAPH_COMMANDS_MAX)
      return at(place, too_many(RK_GRAPH_COMMANDS_MAX, "ops"));
    RK_TRY(operation, ops::read_operation(cursor_));
    Request request{.op = operation.op, .input_count = operation.operand_count};
    request.attributes = operation.attributes;
    for (std::size_t i = 0; i < operation.operand_count; ++i) {
      const auto value = values_.find(operation.operands[i]);
      if (value == values_.end())
        return at(place, Error(Errc::undefined_value, "%" + ops::excerpt(operation.operands[i])));
      request.inputs[i] = value->second.value;
    }
    RK_TRY(desc, read_declared());
    const Graph::Value value = graph_.add(request);
    if (graph_.status() && value.desc() != desc)
      return at(place, Error(value.desc().dtype != desc.dtype ? Errc::dtype_mismatch
                                                              : Errc::dimension_mismatch,
                             "declared " + desc.text() + ", is " + value.desc().text()));
    return value;
  }

  /// ConstTensor(elements), ConstF32(x), ConstI32(x), ConstI64(x).
  Result<Graph::Value> read_constant(std::string_view word, const IrCursor& place) {
    IrCursor before = place;
    const bool is_tensor = word == "ConstTensor";
    const DType scalar = word == "ConstF32"   ? DType::f32
                         : word == "ConstI32" ? DType::i32
                         : word == "ConstI64" ? DType::i64
                                              : DType::none;
    if (!is_tensor && scalar == DType::none)
      return before.expected("'ConstTensor', 'ConstF32', 'ConstI32' or 'ConstI64'");
    RK_TRY_VOID(cursor_.expect('('));
    if (is_tensor && cursor_.peek() != '[') return cursor_.expected("'['");
    if (!is_tensor && cursor_.peek() == '[') return cursor_.expected("a number");
    Literal literal;
    RK_TRY_VOID(read_literal(cursor_, 0, literal));
    RK_TRY_VOID(cursor_.expect(')'));
    RK_TRY(desc, read_declared());
    const Result<Shape> shape = Shape::make(literal.extents);
    if (!shape) return at(place, shape.error());
    if (*shape != desc.shape)
      return at(place, Error(Errc::constant_mismatch,
                             "elements of shape " + shape->text() + " for " + desc.text()));
    if (!is_tensor && desc.dtype != scalar)
      return at(place, Error(Errc::constant_mismatch, std::string(word) + " for " + desc.text()));
    const auto constant = [&]() -> Result<Graph::Value> {
      switch (desc.dtype) {
        case DType::i32: return make_constant<std::int32_t>(graph_, literal, desc);
        case DType::i64: return make_constant<std::int64_t>(graph_, literal, desc);
        default: return make_constant<float>(graph_, literal, desc);
      }
    };
    Result<Graph::Value> value = constant();
    if (!value) return at(place, value.error());
    return value;
  }

  /// Notes, `:`, and the type. A name in the notes is that of the value.
  Result<TensorDesc> read_declared() {
    RK_TRY(noted, read_notes(cursor_));
    if (!noted.empty()) name_ = std::move(noted);
    RK_TRY_VOID(cursor_.expect(':'));
    return read_type(cursor_);
  }

  /// A value that has been defined.
  Result<Named> read_use(Errc undefined) {
    const IrCursor place = cursor_;
    RK_TRY(name, cursor_.value());
    const auto value = values_.find(name);
    if (value == values_.end()) return at(place, Error(undefined, "%" + ops::excerpt(name)));
    return value->second;
  }

  /// `outputs: %a, %b`. Where two have one name, the first of them keeps it.
  Result<void> read_outputs() {
    IrCursor before = cursor_;
    RK_TRY(word, cursor_.identifier("a definition or 'outputs'"));
    if (word != "outputs") return before.expected("a definition or 'outputs'");
    RK_TRY_VOID(cursor_.expect(':'));
    do {
      const IrCursor place = cursor_;
      RK_TRY(output, read_use(Errc::undefined_output));
      if (graph_.outputs().size() == graph_outputs_max)
        return at(place, too_many(graph_outputs_max, "outputs"));
      const bool is_new = output_names_.insert(output.name).second;
      graph_.output(output.value, is_new ? output.name : std::string());
    } while (cursor_.accept(',') && cursor_.peek() == '%');
    return {};
  }

  IrCursor cursor_;
  Graph graph_;
  std::size_t input_count_ = 0;
  std::string name_;  // of the value that is being read
  std::map<std::string_view, Named, std::less<>> values_;
  std::set<std::string> output_names_;
};

}  // namespace

Result<Graph> Graph::parse(std::string name, std::string_view text) {
  return or_no_memory([&] { return ModuleReader(std::move(name), text).read(); });
}

}  // namespace ringkernel
