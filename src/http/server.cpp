#include "http/server.hpp"

#include <algorithm>
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
#include <tuple>
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
  // Which of two would count is a guess, and others may guess otherwise. Before HTTP/1.1 there may
  // be none.
  const std::size_t hosts = request.count(beast::http::field::host);
  if (hosts > 1 || (hosts == 0 && request.version() >= 11))
    return {.status = 400, .body = "a request has one Host field\n"};
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

Result<std::unique_ptr<Server>> Server::open(asio::io_context& context,
                                             const tcp::endpoint& endpoint,
                                             std::filesystem::path counters_file) {
  std::unique_ptr<Server> server(new Server(context, std::move(counters_file)));
  RK_TRY(acceptor, server->listen(endpoint));
  asio::co_spawn(context, server->accept(std::move(acceptor)), ended);
  return server;
}

/// One that has a socket, until a later one takes its place or its client is done.
class Server::Connection {
 public:
  Connection(Server& server, tcp::socket socket)
      : server_(server), stream_(std::move(socket)), since_(++server.turns_) {
    server.connections_.push_back(this);  // there is room for connections_max
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { std::erase(server_.connections_, this); }

  [[nodiscard]] beast::tcp_stream& stream() noexcept { return stream_; }

  /// It is the client's turn from now on: to ask, or to take an answer.
  void wait(bool is_asked) noexcept {
    is_asked_ = is_asked;
    since_ = ++server_.turns_;
    stream_.expires_after(client_timeout);
  }

  /// Whether this is the one to go: who has asked stays before who has not, else who came later.
  [[nodiscard]] bool goes_before(const Connection& other) const noexcept {
    return std::tie(is_asked_, since_) < std::tie(other.is_asked_, other.since_);
  }

  /// Closes the socket now; who serves it finds that out in its next turn.
  void give_way() {
    stream_.close();
    std::erase(server_.connections_, this);
  }

 private:
  Server& server_;
  beast::tcp_stream stream_;
  std::uint64_t since_;    // the turn that the client has had last
  bool is_asked_ = false;  // a complete request, whose answer is not out yet
};

Server::Server(asio::io_context& context, std::filesystem::path counters_file)
    : context_(context), content_(std::move(counters_file)) {
  connections_.reserve(connections_max);
}

Result<tcp::acceptor> Server::listen(const tcp::endpoint& endpoint) {
  beast::error_code error;
  tcp::acceptor acceptor(context_);
  (void)acceptor.open(endpoint.protocol(), error);
  // A service that starts again need not wait for the connections of the one before.
  if (!error) (void)acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) (void)acceptor.bind(endpoint, error);
  if (!error) (void)acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error)
    return Error(Errc::backend_unavailable,
                 "HTTP at " + address_text(endpoint) + ": " + error.message());
  address_ = address_text(acceptor.local_endpoint());
  is_local_ = endpoint.address().is_loopback();
  return acceptor;
}

asio::awaitable<void> Server::accept(tcp::acceptor acceptor) {
  for (;;) {
    auto [error, socket] = co_await acceptor.async_accept(without_throwing);
    if (error) {
      asio::steady_timer timer(context_, accept_again);
      co_await timer.async_wait(without_throwing);
    } else {
      try {
        admit(std::move(socket));
      } catch (const std::bad_alloc&) {  // it is closed
      }
    }
  }
}

void Server::admit(tcp::socket socket) {
  if (connections_.size() == connections_max)
    (*std::ranges::min_element(connections_, [](const Connection* a, const Connection* b) {
      return a->goes_before(*b);
    }))->give_way();
  asio::co_spawn(context_, serve(std::make_unique<Connection>(*this, std::move(socket))), ended);
}

asio::awaitable<void> Server::serve(std::unique_ptr<Connection> connection) {
  beast::tcp_stream& stream = connection->stream();
  beast::flat_buffer buffer;
  for (bool goes_on = true; goes_on;) {
    beast::http::request_parser<beast::http::string_body> parser;
    parser.header_limit(header_bytes_max);
    parser.body_limit(body_bytes_max);
    connection->wait(false);
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
    connection->wait(true);
    const auto [write_error, response_bytes] =
        is_head ? co_await beast::http::async_write_header(stream, serializer, without_throwing)
                : co_await beast::http::async_write(stream, serializer, without_throwing);
    if (write_error) break;
  }
  beast::error_code ignored;
  (void)stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
}

}  // namespace ringkernel::http
