#include "http/server.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <exception>
#include <new>
#include <utility>

#include "http/address.hpp"

namespace ringkernel::http {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::ip::tcp;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t connections_max = 64;
constexpr std::uint32_t header_bytes_max = 8 * 1024;
constexpr std::uint64_t body_bytes_max = 1024;
constexpr auto client_timeout = 30s;  // for a request, or an answer
constexpr auto accept_again = 100ms;  // where there is no descriptor for another connection

constexpr auto without_throwing = asio::as_tuple(asio::use_awaitable);

using Request = beast::http::request<beast::http::string_body>;
using Response = beast::http::response<beast::http::string_body>;

/// Whether a Host field names this machine, in a way that no name server has a say in.
bool is_local_name(std::string_view host) {
  host = host.substr(0, host.ends_with(']') ? host.size() : host.rfind(':'));
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host == "localhost") return true;
  beast::error_code error;
  const auto address = asio::ip::make_address(host, error);
  return !error && address.is_loopback();
}

Answer answer(const Request& request, Content& content, bool is_local) {
  const auto host = request.find(beast::http::field::host);
  if (is_local && host != request.end() && !is_local_name(host->value()))
    return {.status = 403, .body = "this server is for its own machine: ask localhost\n"};
  const auto method = request.method();
  if (method != beast::http::verb::get && method != beast::http::verb::head)
    return {.status = 405, .body = "there are GET and HEAD\n"};
  const std::string_view target = request.target();
  return content.get(target.substr(0, target.find('?')));
}

Response response(const Request& request, Answer answer) {
  Response response(beast::http::int_to_status(answer.status), request.version());
  response.set(beast::http::field::content_type, answer.type);
  response.set(beast::http::field::cache_control, "no-store");
  response.set("X-Content-Type-Options", "nosniff");
  response.set("Content-Security-Policy",
               "default-src 'self'; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'");
  if (answer.status == 405) response.set(beast::http::field::allow, "GET, HEAD");
  response.body() = std::move(answer.body);
  response.keep_alive(request.keep_alive());
  response.prepare_payload();
  return response;
}

/// The status for a request that is none; 0: nobody is there to be told.
unsigned fault_of(const beast::error_code& error) {
  const auto ours = make_error_code(beast::http::error::bad_method);
  if (error == beast::http::error::header_limit) return 431;
  if (error == beast::http::error::body_limit) return 413;
  if (error.category() != ours.category() || error == beast::http::error::end_of_stream) return 0;
  return 400;
}

/// Of a coroutine. What it threw, for lack of memory, must not end the service.
void ended(const std::exception_ptr&) {}

}  // namespace

Result<std::unique_ptr<Server>> Server::open(const tcp::endpoint& endpoint,
                                             std::filesystem::path counters_file) {
  std::unique_ptr<Server> server(new Server(std::move(counters_file)));
  RK_TRY_VOID(server->listen(endpoint));
  asio::co_spawn(server->context_, server->accept(), ended);
  server->thread_ = std::thread([context = &server->context_] { context->run(); });
  return server;
}

Server::Server(std::filesystem::path counters_file) : content_(std::move(counters_file)) {}

Server::~Server() {
  context_.stop();
  if (thread_.joinable()) thread_.join();
}

Result<void> Server::listen(const tcp::endpoint& endpoint) {
  beast::error_code error;
  (void)acceptor_.open(endpoint.protocol(), error);
  // A service that starts again need not wait for the connections of the one before.
  if (!error) (void)acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) (void)acceptor_.bind(endpoint, error);
  if (!error) (void)acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (error)
    return Error(Errc::backend_unavailable,
                 "HTTP at " + address_text(endpoint) + ": " + error.message());
  address_ = address_text(acceptor_.local_endpoint());
  is_local_ = endpoint.address().is_loopback();
  return {};
}

asio::awaitable<void> Server::accept() {
  for (;;) {
    auto [error, socket] = co_await acceptor_.async_accept(without_throwing);
    if (error) {
      asio::steady_timer timer(context_, accept_again);
      co_await timer.async_wait(without_throwing);
    } else if (connections_ < connections_max) {  // else it is closed
      try {
        asio::co_spawn(context_, serve(std::move(socket)), ended);
      } catch (const std::bad_alloc&) {  // so is this one
      }
    }
  }
}

/// Counts who is there.
class Server::Presence {
 public:
  explicit Presence(std::size_t& count) noexcept : count_(count) { ++count_; }
  Presence(const Presence&) = delete;
  Presence& operator=(const Presence&) = delete;
  ~Presence() { --count_; }

 private:
  std::size_t& count_;
};

asio::awaitable<void> Server::serve(tcp::socket socket) {
  const Presence presence(connections_);
  beast::tcp_stream stream(std::move(socket));
  beast::flat_buffer buffer;
  for (bool goes_on = true; goes_on;) {
    beast::http::request_parser<beast::http::string_body> parser;
    parser.header_limit(header_bytes_max);
    parser.body_limit(body_bytes_max);
    stream.expires_after(client_timeout);
    const auto [read_error, request_bytes] =
        co_await beast::http::async_read(stream, buffer, parser, without_throwing);
    const unsigned fault = fault_of(read_error);
    if (read_error && fault == 0) break;
    Response reply =
        fault != 0 ? response(parser.get(), {.status = fault, .body = read_error.message() + "\n"})
                   : response(parser.get(), answer(parser.get(), content_, is_local_));
    if (fault != 0) reply.keep_alive(false);
    goes_on = reply.keep_alive();
    beast::http::response_serializer<beast::http::string_body> serializer(reply);
    const bool is_head = parser.get().method() == beast::http::verb::head;
    stream.expires_after(client_timeout);
    const auto [write_error, response_bytes] =
        is_head ? co_await beast::http::async_write_header(stream, serializer, without_throwing)
                : co_await beast::http::async_write(stream, serializer, without_throwing);
    if (write_error) break;
  }
  beast::error_code ignored;
  (void)stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
}

}  // namespace ringkernel::http
