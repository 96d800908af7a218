/// A headless Chromium of a test's own, spoken to over its DevTools protocol.
///
/// Threading: one thread.
/// Errors: std::runtime_error, with what was waited for, which is never longer than a minute.
#pragma once

#include <boost/json.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace ringkernel::test {

/// Something that the browser complained about.
struct Complaint {
  std::string source;  ///< "console", "exception", "log" or "network"
  std::string text;
  std::string url;  ///< of what was loaded; empty: nothing was
};
std::ostream& operator<<(std::ostream& out, const Complaint& complaint);

class Chromium {
 public:
  /// The browser's program, or an empty path: there is none.
  [[nodiscard]] static std::filesystem::path find();

  Chromium();
  /// Ends every process of the browser.
  ~Chromium();
  Chromium(const Chromium&) = delete;
  Chromium& operator=(const Chromium&) = delete;

  /// Returns when the page has loaded, its scripts included.
  void navigate(const std::string& url);
  /// The value of an expression of JavaScript; a promise's when it is kept.
  [[nodiscard]] boost::json::value evaluate(const std::string& expression);
  /// True as soon as the expression is; false if it has not become so in half a minute.
  [[nodiscard]] bool await(const std::string& expression);
  void resize(int width, int height);
  /// A picture in PNG's format.
  void screenshot(const std::filesystem::path& path);

  /// Errors and warnings since the last call: on the console, thrown, of the log, and what could
  /// not be loaded.
  [[nodiscard]] std::vector<Complaint> complaints();
  /// Addresses that pages have asked for so far.
  [[nodiscard]] const std::vector<std::string>& requests() const noexcept { return requests_; }

 private:
  class Process;
  class Socket;

  boost::json::object command(const std::string& method, boost::json::object parameters = {});
  boost::json::object wait_for_answer(std::int64_t id, const std::string& method);
  void note(const boost::json::object& event);
  void note_network(const std::string& method, const boost::json::object& parameters);

  std::unique_ptr<Process> process_;
  std::unique_ptr<Socket> socket_;
  std::string session_;  // of the one page
  std::int64_t commands_ = 0;
  bool is_loaded_ = false;
  std::vector<Complaint> complaints_;
  std::vector<std::string> requests_;
};

}  // namespace ringkernel::test
