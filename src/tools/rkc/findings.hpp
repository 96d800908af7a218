/// What `rkc check` has found, and what it reads it from: the words of sanitizers and of Oclgrind.
///
/// Threading: one thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rkc {

/// One complaint about one message.
struct Complaint {
  std::string place;  ///< "book.rk.cl:12", as far as it is known
  std::string what;
  bool is_difference = false;  ///< of results; else of what the handler did
};

/// One mistake, however many messages and runs have shown it.
struct Finding : Complaint {
  std::size_t message = 0;        ///< the first one
  std::vector<std::string> runs;  ///< "natively", "8 lanes"
  std::vector<std::size_t> messages;
};

class Findings {
 public:
  void add(std::size_t message, const std::string& run, const Complaint& complaint);
  [[nodiscard]] const std::vector<Finding>& all() const noexcept { return all_; }

 private:
  std::vector<Finding> all_;
};

/// Of the words about one message. `source` is what the handlers' file is called: where a report
/// names several places, the first one in it counts.
[[nodiscard]] std::vector<Complaint> sanitizer_complaints(std::string_view words,
                                                          const std::string& source);
[[nodiscard]] std::vector<Complaint> oclgrind_complaints(std::string_view words,
                                                         const std::string& source);

/// The words behind the mark of each message (harness/record.h), by message.
struct Words {
  std::size_t message;
  std::string_view text;
};
[[nodiscard]] std::vector<Words> by_message(std::string_view log);

}  // namespace rkc
