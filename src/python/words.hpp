/// Words that stand for values of ours: 'same', 'drop_oldest', 'gpu'.
///
/// Errors: MessageError with the words that there are; TypeError where it is no text.
#pragma once

#include <string>
#include <string_view>

#include "python/errors.hpp"

namespace ringkernel::python {

/// The value of the row with this word.
template <class Value>
struct Word {
  std::string_view word;
  Value value;
};
template <class Value, std::size_t count>
Value look_up(const Word<Value> (&rows)[count], nb::handle object, const char* what) {
  const auto given = word_as<std::string>(what, object);
  std::string known;
  for (const Word<Value>& row : rows) {
    if (row.word == given) return row.value;
    known += (known.empty() ? "'" : ", '") + std::string(row.word) + "'";
  }
  raise(
      Error(Errc::invalid_argument, std::string(what) + " '" + given + "' is not one of " + known));
}

}  // namespace ringkernel::python
