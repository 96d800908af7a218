#include "http/address.hpp"

#include <boost/asio/ip/address.hpp>
#include <charconv>
#include <cstdint>
#include <optional>

namespace ringkernel::http {
namespace {

using boost::asio::ip::tcp;

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, port);
  if (error != std::errc() || at != end) return std::nullopt;
  return port;
}

}  // namespace

Result<tcp::endpoint> parse_address(std::string_view text) {
  const auto colon = text.rfind(':');
  std::string_view host = colon == std::string_view::npos ? "" : text.substr(0, colon);
  const std::optional<std::uint16_t> port = parse_port(text.substr(colon + 1));  // npos + 1 is 0
  const bool is_loopback = colon == std::string_view::npos || host == "localhost";
  const bool has_brackets = host.starts_with('[') && host.ends_with(']');
  if (has_brackets) host = host.substr(1, host.size() - 2);
  boost::system::error_code error;
  auto address = boost::asio::ip::make_address(is_loopback ? "127.0.0.1" : host, error);
  if (!port || error || address.is_v6() != has_brackets)
    return Error(Errc::invalid_argument,
                 "HTTP address '" + std::string(text) +
                     "'; there are PORT, localhost:PORT, IPV4:PORT and [IPV6]:PORT");
  return tcp::endpoint(address, *port);
}

std::string address_text(const tcp::endpoint& endpoint) {
  std::string host = endpoint.address().to_string();
  if (endpoint.address().is_v6()) host = "[" + host + "]";
  return host + ":" + std::to_string(endpoint.port());
}

}  // namespace ringkernel::http
