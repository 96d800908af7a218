/// An HTTP server in the service, for those who look: browsers, Prometheus, health checks.
///
/// Threading: any thread opens it; it works on the one that runs its context, which is not the
/// bridge and its messages.
/// Ownership: borrows the context, whose end closes what is open, and goes before this does.
/// Errors: `open`: backend_unavailable with the address and the reason. A client's errors are
/// answered, or end its connection. Of more connections than it keeps, a new one takes the place of
/// the one that has waited longest for its client.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "http/content.hpp"
#include "ringkernel/result.hpp"

namespace ringkernel::http {

class Server {
 public:
  /// Listens at `endpoint` and answers what can be read in `counters_file`. Who listens on the
  /// loopback only answers only who calls it by a name of this machine, so that a page from
  /// elsewhere cannot ask in its visitor's place.
  [[nodiscard]] static Result<std::unique_ptr<Server>> open(
      boost::asio::io_context& context, const boost::asio::ip::tcp::endpoint& endpoint,
      std::filesystem::path counters_file);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() = default;

  /// With the port that it got.
  [[nodiscard]] const std::string& address() const noexcept { return address_; }

 private:
  class Connection;
  using Acceptor = boost::asio::ip::tcp::acceptor;

  Server(boost::asio::io_context& context, std::filesystem::path counters_file);
  Result<Acceptor> listen(const boost::asio::ip::tcp::endpoint& endpoint);
  /// Owns the acceptor: all that is open is the context's, in its coroutines.
  boost::asio::awaitable<void> accept(Acceptor acceptor);
  void admit(boost::asio::ip::tcp::socket socket);
  boost::asio::awaitable<void> serve(std::unique_ptr<Connection> connection);

  boost::asio::io_context& context_;
  Content content_;
  std::vector<Connection*> connections_;  // those whose sockets are open
  std::uint64_t turns_ = 0;               // of a client: to ask, or to take an answer
  bool is_local_ = false;
  std::string address_;
};

}  // namespace ringkernel::http
