// The HTTP server in a service: what it answers, to whom, and that Prometheus takes it.
#include <gmock/gmock.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http.hpp>
#include <boost/json.hpp>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <future>
#include <iterator>
#include <memory>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "integration/telemetry_fixture.hpp"
#include "support/http_client.hpp"
#include "support/prometheus.hpp"
#include "support/skip.hpp"

namespace ringkernel::test {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
namespace json = boost::json;
using asio::ip::tcp;
using testing::ask;
using testing::endpoint;
using Response = testing::HttpResponse;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

class Http : public Publishing {
 protected:
  [[nodiscard]] RingKernelRuntime open() {
    RuntimeOptions options = often();
    options.http_address = "localhost:0";
    return open_on(GetParam(), options).value();
  }

  /// Everything that is answered to `bytes` until the server closes the connection.
  static std::string exchange(const std::string& address, const std::string& bytes) {
    asio::io_context context;
    tcp::socket socket(context);
    socket.connect(endpoint(address));
    boost::system::error_code error;
    asio::write(socket, asio::buffer(bytes), error);
    std::string answer;
    asio::read(socket, asio::dynamic_buffer(answer), error);
    return answer;
  }

  /// A connection with half a request.
  static tcp::socket slow(asio::io_context& context, const std::string& address) {
    tcp::socket socket(context);
    socket.connect(endpoint(address));
    asio::write(socket, asio::buffer(half_request));
    return socket;
  }
  static constexpr std::string_view half_request = "GET /healthz HTTP/1.1\r\nHost: local";

  static std::size_t count(const std::string& text, std::string_view what) {
    std::size_t count = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
    return count;
  }

  static constexpr std::size_t connections_max = 64;
};

INSTANTIATE_TEST_SUITE_P(Backends, Http, ::testing::ValuesIn(backend_names()), backend_label);

TEST_P(Http, IsOffUnlessAskedFor) {
  auto runtime = open_on(GetParam(), often()).value();
  EXPECT_EQ(runtime.metrics().http_address, "");
}

TEST_P(Http, TheEnvironmentCanAskForIt) {
  const testing::Variable variable("RINGKERNEL_HTTP", "0");
  auto runtime = open_on(GetParam(), often()).value();
  EXPECT_THAT(runtime.metrics().http_address, ContainsRegex("^127\\.0\\.0\\.1:[0-9]+$"));
  EXPECT_EQ(ask(runtime.metrics().http_address, "/healthz").result_int(), 200u);
}

TEST_P(Http, SaysWhatTheMetricsSay) {
  auto runtime = open();
  const std::string address = runtime.metrics().http_address;
  Kernel kernel = active(runtime, "a \"quoted\" name");
  for (std::uint64_t i = 0; i < 7; ++i) ASSERT_TRUE(kernel.call(numbered(i)));
  std::string body;
  ASSERT_TRUE(await([&] {
    body = ask(address, "/metrics").body();
    return body.find("kernel_replied_total{runtime=") != std::string::npos &&
           std::regex_search(body, std::regex("kernel_replied_total\\{[^}]*\\} 7\n")) &&
           std::regex_search(body, std::regex("latency_seconds_count\\{[^}]*\\} 7\n"));
  })) << body;
  EXPECT_THAT(body, HasSubstr(R"(kernel="a \"quoted\" name")"));
  EXPECT_THAT(body, ContainsRegex("kernel_latency_seconds_bucket\\{[^}]*le=\"\\+Inf\"\\} 7\n"));
  json::object state;
  ASSERT_TRUE(await([&] {
    state = json::parse(ask(address, "/api/state").body()).at("runtimes").at(0).as_object();
    return state.contains("kernels") && !state.at("kernels").as_array().empty() &&
           state.at("kernels").at(0).at("replied").to_number<int>() == 7;
  }));
  EXPECT_EQ(state.at("kernels").at(0).at("state").as_string(), "active");
  EXPECT_EQ(state.at("runtime").at("backend").as_string(), label_of(std::string_view(GetParam())));
}

/// Of a rising number of buckets, the last of which holds all.
TEST_P(Http, LatencyIsAHistogram) {
  auto runtime = open();
  const std::string address = runtime.metrics().http_address;
  Kernel kernel = active(runtime, "a");
  for (std::uint64_t i = 0; i < 50; ++i) ASSERT_TRUE(kernel.call(numbered(i)));
  std::string body;
  ASSERT_TRUE(await([&] {
    body = ask(address, "/metrics").body();
    std::smatch sum;  // which is stored behind the counts
    return std::regex_search(body, std::regex("latency_seconds_count\\{[^}]*\\} 50\n")) &&
           std::regex_search(body, sum, std::regex("[^y]latency_seconds_sum\\{[^}]*\\} (.*)\n")) &&
           std::abs(std::stod(sum[1]) -
                    static_cast<double>(kernel.metrics().latency.sum_ns) / 1e9) < 1e-9;
  })) << body;
  const std::regex bucket("latency_seconds_bucket\\{[^}]*le=\"([^\"]+)\"\\} ([0-9]+)");
  double bound_before = 0;
  std::uint64_t count_before = 0;
  int buckets = 0;
  for (std::sregex_iterator at(body.begin(), body.end(), bucket), end; at != end; ++at, ++buckets) {
    const double bound = std::stod((*at)[1]);  // "+Inf" too
    const std::uint64_t count = std::stoull((*at)[2]);
    EXPECT_GT(bound, bound_before);
    EXPECT_GE(count, count_before);
    bound_before = bound;
    count_before = count;
  }
  EXPECT_EQ(buckets, 26);
  EXPECT_EQ(count_before, 50u);
}

TEST_P(Http, TellsHealthAndReadiness) {
  auto runtime = open();
  const std::string address = runtime.metrics().http_address;
  EXPECT_EQ(ask(address, "/healthz").body(), "ok\n");
  const Response before = ask(address, "/readyz");
  EXPECT_EQ(before.result_int(), 503u);
  EXPECT_EQ(before.body(), "no kernel is active\n");
  Kernel kernel = active(runtime, "a");
  ASSERT_TRUE(await([&] { return ask(address, "/readyz").result_int() == 200; }));
  ASSERT_TRUE(kernel.deactivate());
  ASSERT_TRUE(await([&] { return ask(address, "/readyz").result_int() == 503; }));
}

TEST_P(Http, HasThePageWithAllItsParts) {
  auto runtime = open();
  const std::string address = runtime.metrics().http_address;
  const Response page = ask(address, "/");
  EXPECT_EQ(page.result_int(), 200u);
  EXPECT_EQ(page[http::field::content_type], "text/html; charset=utf-8");
  EXPECT_THAT(std::string(page["Content-Security-Policy"]), HasSubstr("default-src 'self'"));
  const std::string body = page.body();
  const std::regex part("(?:src|href)=\"([^\"#]+)\"");
  int parts = 0;
  for (std::sregex_iterator at(body.begin(), body.end(), part), end; at != end; ++at) {
    if ((*at)[1].str().find("data:") == 0) continue;
    ++parts;
    EXPECT_EQ(
        ask(address, "/" + std::regex_replace((*at)[1].str(), std::regex("^/"), "")).result_int(),
        200u)
        << (*at)[1];
  }
  EXPECT_GE(parts, 3);
}

TEST_P(Http, RefusesWhatItIsNotFor) {
  auto runtime = open();
  const std::string address = runtime.metrics().http_address;
  const Response unknown = ask(address, "/../../etc/passwd");
  EXPECT_EQ(unknown.result_int(), 404u);
  EXPECT_THAT(unknown.body(), HasSubstr("/metrics"));
  const Response post = ask(address, "/metrics", http::verb::post);
  EXPECT_EQ(post.result_int(), 405u);
  EXPECT_EQ(post[http::field::allow], "GET, HEAD");
  const Response head = ask(address, "/", http::verb::head);
  EXPECT_EQ(head.result_int(), 200u);
  EXPECT_EQ(head.body(), "");
  EXPECT_GT(std::stoul(std::string(head[http::field::content_length])), 0u);
  for (const char* const local : {"localhost:1", "127.0.0.1", "[::1]:7", "127.1.2.3:80"})
    EXPECT_EQ(ask(address, "/healthz", http::verb::get, local).result_int(), 200u) << local;
  for (const char* const foreign : {"evil.example", "localhost.evil.example:80", "10.0.0.1", ""})
    EXPECT_EQ(ask(address, "/healthz", http::verb::get, foreign).result_int(), 403u) << foreign;
  EXPECT_THAT(exchange(address, "GET ?x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"),
              HasSubstr("404 Not Found"));
  EXPECT_THAT(exchange(address, "gibberish\r\n\r\n"), HasSubstr("400 Bad Request"));
  EXPECT_THAT(exchange(address, "GET / HTTP/1.1\r\nX: " + std::string(10'000, 'x') + "\r\n\r\n"),
              HasSubstr("431 Request Header Fields Too Large"));
  EXPECT_THAT(exchange(address, "GET / HTTP/1.1\r\nContent-Length: 10000\r\n\r\n"),
              HasSubstr("413 Payload Too Large"));
  EXPECT_EQ(ask(address, "/healthz").result_int(), 200u) << "it goes on";
}

/// RFC 9112, section 3.2: two are a disagreement about whom the request is for.
TEST_P(Http, WantsOneHost) {
  auto runtime = open();
  const std::string address = runtime.metrics().http_address;
  const auto ask_with = [&](const std::string& version, const std::string& hosts) {
    return exchange(address,
                    "GET /healthz HTTP/" + version + "\r\n" + hosts + "Connection: close\r\n\r\n");
  };
  const std::string local = "Host: localhost\r\n";
  for (const std::string& hosts : {std::string(), local + local, local + "Host: evil.example\r\n",
                                   "Host: evil.example\r\n" + local})
    EXPECT_THAT(ask_with("1.1", hosts), HasSubstr("400 Bad Request")) << hosts;
  EXPECT_THAT(ask_with("1.0", local + local), HasSubstr("400 Bad Request"));
  EXPECT_THAT(ask_with("1.0", ""), HasSubstr("200 OK")) << "it knows no Host";
  EXPECT_THAT(ask_with("1.1", local), HasSubstr("200 OK"));
}

TEST_P(Http, KeepsAConnectionThatAsksAgain) {
  auto runtime = open();
  const std::string request = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n";
  const std::string answers =
      exchange(runtime.metrics().http_address,
               request + "\r\n" + request + "\r\n" + request + "Connection: close\r\n\r\n");
  EXPECT_EQ(count(answers, "200 OK"), 3u);
}

/// However many are slow, and however often they come back: who asks is answered.
TEST_P(Http, LetsTheOldestIdleConnectionGoForANewOne) {
  auto runtime = open();
  const std::string address = runtime.metrics().http_address;
  asio::io_context context;
  std::vector<tcp::socket> all;
  for (std::size_t i = 0; i < connections_max; ++i) all.push_back(slow(context, address));
  EXPECT_EQ(ask(address, "/healthz").result_int(), 200u);
  char byte = 0;
  boost::system::error_code error;
  EXPECT_EQ(all.front().read_some(asio::buffer(&byte, 1), error), 0u);
  EXPECT_TRUE(error) << "the oldest one is closed";
  asio::write(all.back(), asio::buffer(std::string("host\r\nConnection: close\r\n\r\n")));
  std::string answer;
  asio::read(all.back(), asio::dynamic_buffer(answer), error);
  EXPECT_THAT(answer, HasSubstr("200 OK")) << "a later one is not";
  for (int round = 0; round < 10; ++round) {
    for (tcp::socket& socket : all) socket = slow(context, address);
    EXPECT_EQ(ask(address, "/healthz").result_int(), 200u) << round;
  }
}

/// The client that takes its time over answers is the one that came first.
TEST_P(Http, CutsNoAnswerOffWhileAnotherConnectionIsIdle) {
  auto runtime = open();
  const std::string address = runtime.metrics().http_address;
  constexpr std::size_t requests = 500;  // whose answers no buffers between the two can hold
  const std::string request = "GET /uPlot.iife.min.js HTTP/1.1\r\nHost: localhost\r\n";
  std::string pipelined;
  for (std::size_t i = 1; i < requests; ++i) pipelined += request + "\r\n";
  pipelined += request + "Connection: close\r\n\r\n";
  asio::io_context context;
  tcp::socket busy(context, tcp::v4());
  busy.set_option(asio::socket_base::receive_buffer_size(4096));
  busy.connect(endpoint(address));
  asio::write(busy, asio::buffer(pipelined));
  std::string answers(1, '\0');
  asio::read(busy, asio::buffer(answers));
  // The server serves all in turn: after these its answers to the other one fill every buffer.
  for (int i = 0; i < 200; ++i) EXPECT_EQ(ask(address, "/healthz").result_int(), 200u);
  std::vector<tcp::socket> idle;
  for (std::size_t i = 1; i < connections_max; ++i) idle.push_back(slow(context, address));
  EXPECT_EQ(ask(address, "/healthz").result_int(), 200u);
  boost::system::error_code error;
  asio::read(busy, asio::dynamic_buffer(answers), error);
  EXPECT_EQ(error, asio::error::eof) << error.message();
  EXPECT_EQ(count(answers, "HTTP/1.1 200 OK"), requests);
}

TEST_P(Http, GoesWithTheRuntimeAndItsPortIsFree) {
  std::string address;
  {
    auto runtime = open();
    address = runtime.metrics().http_address;
    EXPECT_EQ(ask(address, "/healthz").result_int(), 200u);
  }
  EXPECT_THROW(ask(address, "/healthz"), boost::system::system_error);
  RuntimeOptions options = often();
  options.http_address = address;
  auto runtime = open_on(GetParam(), options).value();
  EXPECT_EQ(runtime.metrics().http_address, address);
  EXPECT_EQ(ask(address, "/healthz").result_int(), 200u);
}

TEST_P(Http, RefusesAddressesThatAreNone) {
  for (const char* const wrong : {"nowhere", "localhost", "127.0.0.1:", "127.0.0.1:65536", "::1:80",
                                  "[127.0.0.1]:80", "example.com:80", "-1"}) {
    const auto refused = open_on(GetParam(), {.http_address = wrong});
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(refused.error(), Errc::invalid_argument) << wrong;
    EXPECT_THAT(refused.error().text(), HasSubstr(std::string("'") + wrong + "'"));
  }
  auto quiet = open_on(GetParam(), {.telemetry = false, .http_address = "0"}).value();
  EXPECT_THAT(quiet.metrics().telemetry_failure, HasSubstr("HTTP"));
}

/// One that hangs, until it is let go.
class HangingSink : public LogSink {
 public:
  void write(const LogRecord&) override {
    if (!std::exchange(is_called_, true)) begun.set_value();
    go_on_.wait();
  }
  std::promise<void> begun;
  std::promise<void> go_on;

 private:
  bool is_called_ = false;
  const std::shared_future<void> go_on_ = go_on.get_future().share();
};

std::size_t threads_of_this_process() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

/// The bridge's thread and two more, whatever is asked for.
TEST_P(Http, IsServedByOneOfTwoThreadsWhichNoSinkHoldsUp) {
  const auto sink = std::make_shared<HangingSink>();
  const std::size_t before = threads_of_this_process();
  RuntimeOptions options = often();
  options.http_address = "localhost:0";
  auto runtime =
      RingKernelRuntime::builder().backend(GetParam()).options(options).log(sink).build().value();
  const std::string address = runtime.metrics().http_address;
  std::promise<Result<Kernel>> launched;
  runtime.async_launch("later", {.program = "echo"}, as_result([&](Result<Kernel> kernel) {
                         launched.set_value(std::move(kernel));
                       }));
  sink->begun.get_future().get();
  if (std::string(GetParam()) == "native") {  // drivers have threads of their own
    // No more than that: a thread that was joined may be counted for a moment yet.
    EXPECT_TRUE(await([&] { return threads_of_this_process() <= before + 3; }))
        << threads_of_this_process() << " threads, " << before << " before";
  }
  EXPECT_EQ(ask(address, "/healthz").body(), "ok\n");
  (void)runtime.launch("worker", {.program = "echo", .auto_activate = true}).value();
  EXPECT_TRUE(await([&] { return ask(address, "/readyz").result_int() == 200; }))
      << "the counters file goes on as well";
  sink->go_on.set_value();
  EXPECT_TRUE(launched.get_future().get());
}

/// A real server, which finds the service and keeps what it says.
TEST_P(Http, IsScrapedByPrometheus) {
  if (!std::filesystem::exists(RK_PROMETHEUS))
    RK_SKIP_WITHOUT("prometheus", "./rk test unpacks it");
  auto runtime = open();
  Kernel kernel = active(runtime, "scraped");
  for (std::uint64_t i = 0; i < 7; ++i) ASSERT_TRUE(kernel.call(numbered(i)));
  const testing::Prometheus prometheus(RK_PROMETHEUS, root().parent_path(),
                                       runtime.metrics().http_address);
  json::array answer;
  EXPECT_TRUE(await([&] {
    answer = prometheus.query("ringkernel_kernel_replied_total == 7").value_or(json::array());
    return !answer.empty();
  }));
  ASSERT_EQ(answer.size(), 1u);
  EXPECT_EQ(answer[0].at("metric").at("kernel"), "scraped");
}

}  // namespace
}  // namespace ringkernel::test
