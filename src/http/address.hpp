/// Where a server listens, as people write it.
///
/// Threading: plain functions.
/// Errors: invalid_argument, with what was written and what can be.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <string>
#include <string_view>

#include "ringkernel/error.hpp"
#include "ringkernel/result.hpp"

namespace ringkernel::http {

/// "9464" and "localhost:9464": this machine only. "0.0.0.0:9464", "192.168.1.7:9464",
/// "[::1]:9464": as they say. Port 0: any that is free.
[[nodiscard]] Result<boost::asio::ip::tcp::endpoint> parse_address(std::string_view text);

[[nodiscard]] std::string address_text(const boost::asio::ip::tcp::endpoint& endpoint);

}  // namespace ringkernel::http
