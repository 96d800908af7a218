/// A real Prometheus server that scrapes one service.
#pragma once

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "support/background.hpp"
#include "support/http_client.hpp"

namespace ringkernel::testing {

class Prometheus {
 public:
  /// `program` scrapes `service`, five times a second, and keeps what it needs in `folder`.
  Prometheus(const std::string& program, const std::filesystem::path& folder,
             const std::string& service)
      : address_(free_address()),
        server_({program, "--config.file=" + configuration(folder, service),
                 "--storage.tsdb.path=" + (folder / "data").string(),
                 "--web.listen-address=" + address_}) {}

  /// The values that an expression has now; nullopt: the server does not answer, not yet perhaps,
  /// or says that the expression is wrong.
  [[nodiscard]] std::optional<boost::json::array> query(std::string_view expression) const {
    try {
      const boost::json::value answer =
          boost::json::parse(ask(address_, "/api/v1/query?query=" + escaped(expression)).body());
      if (answer.at("status") != "success") return std::nullopt;
      return answer.at("data").at("result").as_array();
    } catch (const boost::system::system_error&) {
      return std::nullopt;
    }
  }

 private:
  static std::string configuration(const std::filesystem::path& folder,
                                   const std::string& service) {
    const std::filesystem::path file = folder / "prometheus.yml";
    std::ofstream(file) << "scrape_configs: [{job_name: ringkernel, scrape_interval: 200ms, "
                           "scrape_timeout: 200ms, static_configs: [{targets: ['"
                        << service << "']}]}]\n";
    return file.string();
  }

  /// For a query of an address.
  static std::string escaped(std::string_view text) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string escaped;
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      escaped += {'%', digits[byte >> 4], digits[byte & 15]};
    }
    return escaped;
  }

  std::string address_;
  Background server_;
};

}  // namespace ringkernel::testing
