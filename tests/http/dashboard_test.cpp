// Grafana's dashboard asks for metrics that there are, by labels that they have, and a Prometheus
// server has an answer to each of its questions.
#include <gmock/gmock.h>

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "integration/telemetry_fixture.hpp"
#include "support/prometheus.hpp"
#include "support/skip.hpp"
#include "support/traffic.hpp"

namespace ringkernel::test {
namespace {

namespace json = boost::json;
using ::testing::Contains;

class Dashboard : public Publishing {
 protected:
  static std::string text() {
    std::ostringstream text;
    text << std::ifstream(RK_DASHBOARD).rdbuf();
    return text.str();
  }
  /// Every match of a pattern's first group.
  static std::set<std::string> all(const std::string& text, const std::string& pattern) {
    const std::regex regex(pattern);
    std::set<std::string> found;
    for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at)
      found.insert((*at)[1]);
    return found;
  }
  /// Of every panel.
  static std::vector<std::string> expressions(const json::object& dashboard) {
    std::vector<std::string> found;
    for (const json::value& panel : dashboard.at("panels").as_array())
      if (const json::value* const targets = panel.as_object().if_contains("targets"))
        for (const json::value& target : targets->as_array())
          found.emplace_back(target.at("expr").as_string());
    return found;
  }
};

INSTANTIATE_TEST_SUITE_P(Backends, Dashboard, ::testing::ValuesIn(backend_names()), backend_label);

TEST_P(Dashboard, AsksForMetricsThatThereAre) {
  auto runtime = open_on(GetParam(), often()).value();
  Kernel kernel = active(runtime, "worker");
  ASSERT_TRUE(kernel.call(numbered(1)));
  EXPECT_FALSE(kernel.call(ops::relu(std::vector<float>(4))));
  std::string metrics;
  ASSERT_TRUE(await([&] {
    metrics = rkstat({"--prometheus"}).output;
    return metrics.find("ringkernel_kernel_errors_total{") != std::string::npos;
  }));
  const std::set<std::string> there = all(metrics, "\n(ringkernel_[a-z_]+)\\{");
  const std::set<std::string> asked = all(text(), "(ringkernel_[a-z_]+)");
  EXPECT_GT(asked.size(), 15u);
  for (const std::string& name : asked) {
    if (!has_device_clock(runtime) && name.find("_executor_seconds") != std::string::npos) continue;
    EXPECT_THAT(there, Contains(name));
  }
}

TEST_P(Dashboard, LetsTheReaderChoose) {
  const json::object dashboard = json::parse(text()).as_object();
  EXPECT_EQ(dashboard.at("schemaVersion").to_number<int>(), 39);
  std::set<std::string> variables;
  for (const json::value& variable : dashboard.at("templating").at("list").as_array())
    variables.emplace(variable.at("name").as_string());
  EXPECT_EQ(variables, (std::set<std::string>{"datasource", "kernel", "runtime"}));
  const std::vector<std::string> asked = expressions(dashboard);
  EXPECT_GT(asked.size(), 15u);
  for (const std::string& expression : asked) {
    EXPECT_NE(expression.find("runtime=~\"$runtime\""), std::string::npos) << expression;
    const bool is_of_kernels = expression.find("ringkernel_kernel_") != std::string::npos;
    EXPECT_EQ(expression.find("kernel=~\"$kernel\"") != std::string::npos, is_of_kernels)
        << expression;
  }
}

/// As Grafana does, with its own variables of time and everything chosen.
TEST_P(Dashboard, AsksWhatPrometheusAnswers) {
  if (!std::filesystem::exists(RK_PROMETHEUS))
    RK_SKIP_WITHOUT("prometheus", "./rk test unpacks it");
  RuntimeOptions options = often();
  options.http_address = "localhost:0";
  auto runtime = open_on(GetParam(), options).value();
  Kernel worker = active(runtime, "worker");
  EXPECT_FALSE(worker.call(ops::relu(std::vector<float>(4))));
  const Traffic traffic(worker);
  const testing::Prometheus prometheus(RK_PROMETHEUS, root().parent_path(),
                                       runtime.metrics().http_address);
  for (std::string expression : expressions(json::parse(text()).as_object())) {
    if (!has_device_clock(runtime) && expression.find("_executor_") != std::string::npos) continue;
    expression = std::regex_replace(expression, std::regex("\\$(runtime|kernel)"), ".*");
    expression = std::regex_replace(expression, std::regex("\\$__rate_interval"), "5s");
    EXPECT_TRUE(await([&] {
      const auto values = prometheus.query(expression);
      return values && !values->empty();
    })) << expression;
  }
}

}  // namespace
}  // namespace ringkernel::test
