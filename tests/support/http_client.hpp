/// Asks an HTTP server on this machine, one request a connection.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <cstdint>
#include <string>

namespace ringkernel::testing {

using HttpResponse = boost::beast::http::response<boost::beast::http::string_body>;

/// Of `HOST:PORT`, the host a number.
inline boost::asio::ip::tcp::endpoint endpoint(const std::string& address) {
  const auto colon = address.rfind(':');
  return {boost::asio::ip::make_address(address.substr(0, colon)),
          static_cast<std::uint16_t>(std::stoi(address.substr(colon + 1)))};
}

/// One of the loopback on which nobody listens at the moment.
inline std::string free_address() {
  boost::asio::io_context context;
  const boost::asio::ip::tcp::acceptor acceptor(context,
                                                {boost::asio::ip::address_v4::loopback(), 0});
  return "127.0.0.1:" + std::to_string(acceptor.local_endpoint().port());
}

/// Throws boost::system::system_error where there is nobody.
inline HttpResponse ask(const std::string& address, const std::string& target,
                        boost::beast::http::verb method = boost::beast::http::verb::get,
                        const std::string& host = "localhost") {
  namespace http = boost::beast::http;
  boost::asio::io_context context;
  boost::asio::ip::tcp::socket socket(context);
  socket.connect(endpoint(address));
  http::request<http::empty_body> request(method, target, 11);
  request.set(http::field::host, host);
  http::write(socket, request);
  boost::beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(16 * 1024 * 1024);
  parser.skip(method == http::verb::head);
  http::read(socket, buffer, parser);
  return parser.release();
}

}  // namespace ringkernel::testing
