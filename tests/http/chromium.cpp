#include "http/chromium.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/core/detail/base64.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/json/src.hpp>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace ringkernel::test {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace json = boost::json;
using asio::ip::tcp;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::seconds patience = 60s;
constexpr std::chrono::seconds condition_patience = 30s;

std::string contents(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::string text_at(const json::object& object, std::string_view name) {
  const json::value* const value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
}

const json::object& object_at(const json::object& object, std::string_view name) {
  static const json::object none;
  const json::value* const value = object.if_contains(name);
  return value != nullptr && value->is_object() ? value->as_object() : none;
}

bool is_complaint(std::string_view level) {
  return level == "error" || level == "warning" || level == "assert";
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Complaint& complaint) {
  return out << complaint.source << ": " << complaint.text << ' ' << complaint.url;
}

/// The browser's processes, one group, and the folder that they write to.
class Chromium::Process {
 public:
  explicit Process(const std::filesystem::path& program) {
    std::string folder = std::filesystem::temp_directory_path() / "ringkernel-chromium-XXXXXX";
    folder_ = mkdtemp(folder.data());
    const std::string profile = "--user-data-dir=" + folder_.string();
    // Without a sandbox it works for root and in containers; it shows nothing but our own page.
    const std::vector<std::string> words{program.string(),
                                         profile,
                                         "--headless=new",
                                         "--remote-debugging-port=0",
                                         "--no-sandbox",
                                         "--disable-gpu",
                                         "--disable-dev-shm-usage",
                                         "--disable-background-networking",
                                         "--disable-component-update",
                                         "--no-first-run",
                                         "--hide-scrollbars",
                                         "--window-size=1600,1000",
                                         "about:blank"};
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    process_ = fork();
    if (process_ == 0) become(arguments.data(), folder_);
  }

  ~Process() {
    kill(-process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    // Its helpers are not our children and end a little later.
    for (int tries = 0; tries < 200 && kill(-process_, 0) == 0; ++tries)
      std::this_thread::sleep_for(10ms);
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Where it listens, which it writes into a file: the port, then the path of the whole browser.
  [[nodiscard]] std::pair<std::uint16_t, std::string> address() const {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (std::chrono::steady_clock::now() < deadline) {
      std::istringstream lines(contents(folder_ / "DevToolsActivePort"));
      std::uint16_t port = 0;
      std::string path;
      if (lines >> port >> path) return {port, path};
      if (waitpid(process_, nullptr, WNOHANG) == process_) break;
      std::this_thread::sleep_for(10ms);
    }
    throw std::runtime_error("Chromium does not start: " + contents(folder_ / "output.txt"));
  }

 private:
  /// In the child.
  [[noreturn]] static void become(char** arguments, const std::filesystem::path& folder) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (const char* const place : {"HOME", "TMPDIR"}) setenv(place, folder.c_str(), 1);
    const int file = open((folder / "output.txt").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    close_range(STDERR_FILENO + 1, ~0U, 0);  // a server's socket would stay open as long as it
    execv(arguments[0], arguments);
    _exit(127);
  }

  std::filesystem::path folder_;
  pid_t process_ = -1;
};

/// A WebSocket whose operations end in time.
class Chromium::Socket {
 public:
  Socket(std::uint16_t port, const std::string& path) : stream_(context_) {
    constexpr std::size_t picture_bytes_max = 64 * 1024 * 1024;
    stream_.read_message_max(picture_bytes_max);
    beast::get_lowest_layer(stream_).connect({asio::ip::address_v4::loopback(), port});
    stream_.handshake("127.0.0.1:" + std::to_string(port), path);
  }

  void send(const std::string& text) { stream_.write(asio::buffer(text)); }

  [[nodiscard]] json::object receive(const std::string& awaited) {
    bool is_done = false;
    beast::error_code error;
    beast::flat_buffer buffer;
    stream_.async_read(buffer, [&](beast::error_code result, std::size_t) {
      error = result;
      is_done = true;
    });
    context_.restart();
    context_.run_for(patience);
    if (!is_done) {
      beast::get_lowest_layer(stream_).close();
      context_.run();
      throw std::runtime_error("Chromium does not answer to " + awaited);
    }
    if (error) throw std::runtime_error("Chromium is gone at " + awaited + ": " + error.message());
    return json::parse(beast::buffers_to_string(buffer.data())).as_object();
  }

 private:
  asio::io_context context_;
  beast::websocket::stream<tcp::socket> stream_;
};

std::filesystem::path Chromium::find() {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/usr/bin");
  for (std::string folder; std::getline(folders, folder, ':');)
    for (const char* const name : {"chromium", "chromium-browser", "google-chrome"})
      if (const std::filesystem::path program = std::filesystem::path(folder) / name;
          access(program.c_str(), X_OK) == 0)
        return program;
  return {};
}

Chromium::Chromium() : process_(std::make_unique<Process>(find())) {
  const auto [port, path] = process_->address();
  socket_ = std::make_unique<Socket>(port, path);
  const json::object target = command("Target.createTarget", {{"url", "about:blank"}});
  const json::object attached =
      command("Target.attachToTarget", {{"targetId", target.at("targetId")}, {"flatten", true}});
  session_ = text_at(attached, "sessionId");
  for (const char* const domain : {"Page", "Runtime", "Log", "Network"})
    command(std::string(domain) + ".enable");
  // Whatever the machine prefers.
  const json::array dark{{{"name", "prefers-color-scheme"}, {"value", "dark"}}};
  command("Emulation.setEmulatedMedia", {{"features", dark}});
}

Chromium::~Chromium() = default;

json::object Chromium::command(const std::string& method, json::object parameters) {
  const std::int64_t id = ++commands_;
  json::object message{{"id", id}, {"method", method}, {"params", std::move(parameters)}};
  if (!session_.empty()) message["sessionId"] = session_;
  socket_->send(json::serialize(message));
  return wait_for_answer(id, method);
}

json::object Chromium::wait_for_answer(std::int64_t id, const std::string& method) {
  for (;;) {
    json::object message = socket_->receive(method);
    if (message.contains("method")) {
      note(message);
    } else if (message.at("id").to_number<std::int64_t>() == id) {
      if (message.contains("error"))
        throw std::runtime_error(method + ": " + json::serialize(message.at("error")));
      return std::move(message.at("result").as_object());
    }
  }
}

void Chromium::note(const json::object& event) {
  const std::string method = text_at(event, "method");
  const json::object& parameters = object_at(event, "params");
  if (method == "Page.loadEventFired") {
    is_loaded_ = true;
  } else if (method == "Runtime.exceptionThrown") {
    complaints_.push_back({"exception", json::serialize(parameters.at("exceptionDetails")), ""});
  } else if (method == "Runtime.consoleAPICalled") {
    if (is_complaint(text_at(parameters, "type")))
      complaints_.push_back({"console", json::serialize(parameters.at("args")), ""});
  } else if (method == "Log.entryAdded") {
    const json::object& entry = object_at(parameters, "entry");
    if (is_complaint(text_at(entry, "level")))
      complaints_.push_back({"log", text_at(entry, "text"), text_at(entry, "url")});
  } else {
    note_network(method, parameters);
  }
}

void Chromium::note_network(const std::string& method, const json::object& parameters) {
  if (method == "Network.requestWillBeSent")
    requests_.push_back(text_at(object_at(parameters, "request"), "url"));
  if (method != "Network.responseReceived") return;
  const json::object& response = object_at(parameters, "response");
  const auto status = response.at("status").to_number<int>();
  if (status >= 400)
    complaints_.push_back({"network", std::to_string(status), text_at(response, "url")});
}

void Chromium::navigate(const std::string& url) {
  is_loaded_ = false;
  const json::object answer = command("Page.navigate", {{"url", url}});
  if (answer.contains("errorText"))
    throw std::runtime_error(url + ": " + text_at(answer, "errorText"));
  while (!is_loaded_) note(socket_->receive("the loading of " + url));
}

json::value Chromium::evaluate(const std::string& expression) {
  const json::object answer =
      command("Runtime.evaluate",
              {{"expression", expression}, {"returnByValue", true}, {"awaitPromise", true}});
  if (answer.contains("exceptionDetails"))
    throw std::runtime_error(expression + ": " + json::serialize(answer.at("exceptionDetails")));
  const json::object& result = object_at(answer, "result");
  return result.contains("value") ? result.at("value") : json::value();
}

bool Chromium::await(const std::string& expression) {
  const auto deadline = std::chrono::steady_clock::now() + condition_patience;
  while (std::chrono::steady_clock::now() < deadline) {
    if (evaluate("Boolean(" + expression + ")").as_bool()) return true;
    std::this_thread::sleep_for(20ms);
  }
  return false;
}

void Chromium::resize(int width, int height) {
  command("Emulation.setDeviceMetricsOverride",
          {{"width", width}, {"height", height}, {"deviceScaleFactor", 1}, {"mobile", false}});
}

void Chromium::screenshot(const std::filesystem::path& path) {
  const std::string encoded = text_at(command("Page.captureScreenshot"), "data");
  std::string bytes(beast::detail::base64::decoded_size(encoded.size()), '\0');
  bytes.resize(beast::detail::base64::decode(bytes.data(), encoded.data(), encoded.size()).first);
  std::ofstream(path, std::ios::binary) << bytes;
}

std::vector<Complaint> Chromium::complaints() {
  (void)evaluate("0");  // what was reported before it
  return std::exchange(complaints_, {});
}

}  // namespace ringkernel::test
