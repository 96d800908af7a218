// The live page in a headless Chromium, against a service at work, at rest, gone and back.
// RK_SCREENSHOTS=FOLDER keeps a picture of the page at the end of each test.
#include <flatbuffers/flatbuffers.h>
#include <gmock/gmock.h>

#include <boost/json.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "http/chromium.hpp"
#include "integration/telemetry_fixture.hpp"
#include "shop_program.hpp"
#include "support/background.hpp"
#include "support/http_client.hpp"
#include "support/skip.hpp"
#include "support/traffic.hpp"

namespace ringkernel::test {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::StartsWith;

/// Figures by name, as the numbers that they were made of.
using Figures = std::map<std::string, std::string>;

/// A string of JavaScript.
std::string literal(std::string_view text) { return json::serialize(json::string(text)); }

/// What the page says of a kernel, but for an age that never stands still.
Figures figures_of(const KernelMetrics& metrics) {
  Figures figures;
#define RK_KERNEL_METRIC(name, kind, help) figures[#name] = std::to_string(metrics.name);
#include "ringkernel/metrics.def"
  figures.erase("oldest_call_age_ns");
  return figures;
}

Figures figures_of(const RuntimeMetrics& metrics) {
  Figures figures;
#define RK_RUNTIME_METRIC(name, kind, help) figures[#name] = std::to_string(metrics.name);
#include "ringkernel/metrics.def"
  return figures;
}

Figures figures_of(const LatencySummary& latency) {
  return {{"p50_ns", std::to_string(latency.p50_ns)},
          {"p90_ns", std::to_string(latency.p90_ns)},
          {"p99_ns", std::to_string(latency.p99_ns)},
          {"p999_ns", std::to_string(latency.p999_ns)},
          {"max_ns", std::to_string(latency.max_ns)}};
}

class Page : public Publishing {
 protected:
  static void TearDownTestSuite() { browser_.reset(); }

  void SetUp() override {
    if (Chromium::find().empty()) RK_SKIP_WITHOUT("chromium", "./rk test installs it");
    Publishing::SetUp();
    if (!browser_) browser_ = std::make_unique<Chromium>();
    browser_->resize(1600, 1000);
  }

  void TearDown() override {
    if (!browser_) return;
    keep_picture();
    const std::vector<Complaint> complaints = browser_->complaints();
    browser_->navigate("about:blank");
    for (const Complaint& complaint : complaints)
      if (!may_be_lost_ || !is_asked_for_late(complaint.url)) ADD_FAILURE() << complaint;
  }

  /// Opens the one runtime of the test, which is there until the page has been judged.
  RingKernelRuntime& serve(const std::string& address = "127.0.0.1:0") {
    RuntimeOptions options = often();
    options.http_address = address;
    return runtime_.emplace(open_on(GetParam(), options).value());
  }
  void end_service() { runtime_.reset(); }
  static void show(const RingKernelRuntime& runtime) {
    browser_->navigate("http://" + runtime.metrics().http_address + "/");
    ASSERT_TRUE(browser_->await("document.querySelector('#health').className === 'pill good'"));
  }

  /// Whether a service of another process is ready, sooner or later.
  static bool answers(const std::string& address) {
    return await([&] {
      try {
        return testing::ask(address, "/readyz").result_int() == 200;
      } catch (const boost::system::system_error&) {
        return false;
      }
    });
  }

  /// An expression: the row of a kernel, or undefined.
  static std::string row(std::string_view kernel) {
    return "[...document.querySelectorAll('#kernels tbody tr')].find(row => row.dataset.kernel "
           "=== " +
           literal(kernel) + ")";
  }
  /// An expression: the raw figure in a cell of a kernel's row, "" if there is no row.
  static std::string cell(std::string_view kernel, const std::string& figure) {
    return "(" + row(kernel) + "?.querySelector('[data-figure=" + figure +
           "]').dataset.value ?? '')";
  }
  /// Of the elements that a selector finds.
  static Figures figures_at(const std::string& selector) {
    return figures_in("document.querySelectorAll(" + literal(selector + " [data-figure]") + ")");
  }
  static Figures figures_in(const std::string& elements) {
    const json::value found =
        browser_->evaluate("Object.fromEntries([..." + elements +
                           "].map(of => [of.dataset.figure, of.dataset.value]))");
    Figures figures;
    for (const auto& [name, value] : found.as_object())
      figures[name] = std::string(value.as_string());
    return figures;
  }
  static std::string text_at(const std::string& selector) {
    const json::value text =
        browser_->evaluate("document.querySelector(" + literal(selector) + ").textContent");
    return std::string(text.as_string());
  }

  static Chromium& browser() { return *browser_; }
  void expect_lost_connections() { may_be_lost_ = true; }

 private:
  /// What a page that is there already still wants of the service.
  static bool is_asked_for_late(const std::string& url) {
    return url.ends_with("/api/state") || url.ends_with("/icon.svg");
  }
  static void keep_picture() {
    const char* const folder = std::getenv("RK_SCREENSHOTS");
    if (folder == nullptr) return;
    const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
    const std::string name = test->name();
    browser_->screenshot(std::filesystem::path(folder) / (name.substr(0, name.find('/')) + ".png"));
  }

  static std::unique_ptr<Chromium> browser_;
  std::optional<RingKernelRuntime> runtime_;
  bool may_be_lost_ = false;
};

std::unique_ptr<Chromium> Page::browser_;

INSTANTIATE_TEST_SUITE_P(Backends, Page, ::testing::ValuesIn(backend_names()), backend_label);

TEST_P(Page, ShowsEveryFigureAsItIsCounted) {
  RingKernelRuntime& runtime = serve();
  Kernel worker = resting(runtime, "worker");
  EXPECT_EQ(worker.call(numbered(1), 20ms).error(), Errc::deadline_exceeded);
  ASSERT_TRUE(worker.activate());
  for (std::uint64_t i = 0; i < 25; ++i) ASSERT_TRUE(worker.call(numbered(i)));
  EXPECT_FALSE(worker.call(ops::relu(std::vector<float>(4))));
  EXPECT_EQ(worker.metrics().failed, 1u);
  show(runtime);
  Figures shown;
  EXPECT_TRUE(await([&] {
    shown = figures_at("#detail-figures");
    shown.erase("oldest_call_age_ns");
    return shown == figures_of(worker.metrics());
  }));
  const KernelMetrics metrics = worker.metrics();
  EXPECT_EQ(shown, figures_of(metrics));
  EXPECT_EQ(text_at("#detail-name"), "worker");
  const Figures in_table = figures_in(row("worker") + ".cells");
  for (const char* const figure :
       {"replied", "failed", "in_flight", "queued", "input_ring_used_bytes"})
    EXPECT_EQ(in_table.at(figure), shown.at(figure)) << figure;
  EXPECT_EQ(in_table.at("id"), "worker");
  EXPECT_EQ(in_table.at("program"), "echo");
  EXPECT_EQ(in_table.at("state"), "active");
#define RK_KERNEL_LATENCY(name, help)                                                             \
  if (metrics.name.count != 0) {                                                                  \
    EXPECT_THAT(figures_at("#hops [data-hop=" #name "]"), IsSupersetOf(figures_of(metrics.name))) \
        << #name;                                                                                 \
  }
#include "ringkernel/metrics.def"
  EXPECT_TRUE(await([&] {
    shown = figures_at("#runtime-figures");
    return shown == figures_of(runtime.metrics());
  }));
  EXPECT_EQ(shown, figures_of(runtime.metrics()));
  EXPECT_EQ(text_at("#device"), runtime.metrics().device);
  EXPECT_EQ(text_at("#transfer"), runtime.metrics().transfer);
}

TEST_P(Page, ShowsTheMethodsOfAProgram) {
  RingKernelRuntime& runtime = serve();
  ASSERT_TRUE(runtime.add_program(shop_program()));
  Kernel till = active(runtime, "till", {.program = "shop", .behaviour = "Till"});
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(flatbuffers::Offset<flatbuffers::Table>(builder.EndTable(builder.StartTable())));
  const Bytes empty(reinterpret_cast<const std::byte*>(builder.GetBufferPointer()),
                    builder.GetSize());
  show(runtime);
  EXPECT_TRUE(browser().await("document.querySelector('#methods').hidden"));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(till.call("Buy", empty));
  ASSERT_TRUE(till.call("Total", empty));
  EXPECT_TRUE(await([&] {
    const Figures total = figures_at("#methods [data-method=Total]");
    return total.contains("answered") && total.at("answered") == "1";
  }));
  const Figures buy = figures_at("#methods [data-method=Buy]");
  EXPECT_EQ(buy.at("answered"), "3");
  EXPECT_EQ(buy.at("faults"), "3");
  EXPECT_NE(buy.at("p50_ns"), "0");
  EXPECT_EQ(text_at("#detail-program"), "program shop version 1, behaviour Till");
  ASSERT_TRUE(runtime.swap_program(shop_program()));
  EXPECT_TRUE(await([&] {
    return text_at("#detail-program") == "program shop version 2, behaviour Till" &&
           text_at("[data-kernel=till] [data-figure=program]") == "shop v2";
  }));
}

TEST_P(Page, ShowsWhatWaits) {
  RingKernelRuntime& runtime = serve();
  Kernel little = runtime.launch("little", {.program = "echo"}).value();
  Kernel much = runtime.launch("much", {.program = "echo", .input_bytes = 4096}).value();
  ASSERT_TRUE(little.send(numbered(1)));
  for (std::uint64_t i = 0; i < 40; ++i) ASSERT_TRUE(much.send(numbered(i)));
  show(runtime);
  EXPECT_TRUE(browser().await(cell("little", "in_flight") + " === '1'"));
  EXPECT_TRUE(browser().await(cell("much", "in_flight") + " === '40'"));
  EXPECT_TRUE(browser().await(cell("much", "queued") + " === '" +
                              std::to_string(much.metrics().queued) + "'"));
  EXPECT_GT(much.metrics().queued, 0u);
  EXPECT_TRUE(browser().await("document.querySelector('#depth').dataset.value === '41'"));
  EXPECT_TRUE(browser().await(row("much") + ".querySelector('.fill i').style.width === '100%'"));
  EXPECT_EQ(text_at("#kernel-count"), "2");
}

TEST_P(Page, DrawsTheTraffic) {
  RingKernelRuntime& runtime = serve();
  Kernel worker = active(runtime, "worker");
  const Traffic traffic(worker);
  show(runtime);
  EXPECT_TRUE(browser().await("Number(" + cell("worker", "messages_per_second") + ") > 0"));
  EXPECT_TRUE(browser().await("Number(document.querySelector('#rate').dataset.value) > 0"));
  EXPECT_TRUE(browser().await("Number(document.querySelector('#p99').dataset.value) > 0"));
  EXPECT_THAT(text_at("#p99 + .note"), HasSubstr("worker"));
  for (const char* const chart : {"rate-chart", "latency-chart", "depth-chart"}) {
    const std::string place = std::string("document.querySelector('#") + chart + "')";
    EXPECT_TRUE(browser().await("Number(" + place + ".dataset.points) >= 4")) << chart;
    // A pixel of the first line's colour.
    EXPECT_TRUE(browser().await(R"((() => {
        const canvas = )" + place +
                                R"(.querySelector("canvas");
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        for (let at = 0; at < data.length; at += 4)
          if (data[at] === 0x57 && data[at + 1] === 0xa8 && data[at + 2] === 0xff) return true;
        return false;
      })())"))
        << chart;
  }
}

TEST_P(Page, GoesOnAfterARestartOfTheService) {
  expect_lost_connections();
  std::string address;
  {
    RingKernelRuntime& runtime = serve();
    Kernel before = active(runtime, "before");
    ASSERT_TRUE(before.call(numbered(1)));
    address = runtime.metrics().http_address;
    show(runtime);
    ASSERT_TRUE(browser().await(row("before")));
    EXPECT_FALSE(browser().evaluate("document.body.classList.contains('lost')").as_bool());
  }
  end_service();
  EXPECT_TRUE(browser().await("!document.querySelector('#banner').hidden"));
  EXPECT_THAT(text_at("#banner"), StartsWith("No answer since "));
  EXPECT_TRUE(browser().evaluate("document.body.classList.contains('lost')").as_bool());
  RingKernelRuntime& runtime = serve(address);
  Kernel after = active(runtime, "after");
  ASSERT_TRUE(after.call(numbered(1)));
  EXPECT_TRUE(browser().await(cell("after", "replied") + " === '1'"));
  EXPECT_TRUE(browser().await("!" + row("before")));
  EXPECT_TRUE(browser().evaluate("document.querySelector('#banner').hidden").as_bool());
  EXPECT_FALSE(browser().evaluate("document.body.classList.contains('lost')").as_bool());
  EXPECT_EQ(text_at("#legend"), "after");
}

/// Of the same name: in a container every first process has the same id.
TEST_P(Page, NoticesARestartByTheTimeOfTheFile) {
  RingKernelRuntime& runtime = serve();
  Kernel kernel = active(runtime, "a");
  show(runtime);
  (void)browser().evaluate(
      "import('/history.js').then(({History}) => {"
      "  window.looks = window.restarts = 0;"
      "  const {push, restarted} = History.prototype;"
      "  History.prototype.push = function(...of) { ++looks; return push.apply(this, of); };"
      "  History.prototype.restarted = function(...of) { ++restarts; return restarted.apply(this, "
      "of); };"
      "})");
  EXPECT_TRUE(browser().await("looks >= 2"));
  EXPECT_TRUE(browser().evaluate("restarts === 0").as_bool());
  (void)browser().evaluate(
      "{ const ask = fetch; window.fetch = async (...of) => {"
      "  const state = await (await ask(...of)).json();"
      "  state.runtimes[0].created_unix_ns += 1e9;"
      "  return new Response(JSON.stringify(state)); } }");
  EXPECT_TRUE(browser().await("restarts === 1"));
  EXPECT_TRUE(browser().evaluate("looks = 0, true").as_bool());
  EXPECT_TRUE(browser().await("looks >= 2"));
  EXPECT_TRUE(browser().evaluate("restarts === 1").as_bool()) << "noticed once";
}

TEST_P(Page, GoesOnAfterTheServiceWasKilled) {
  expect_lost_connections();
  const std::string address = testing::free_address();
  const testing::Variable variable("RINGKERNEL_HTTP", address);
  {
    const testing::Background service({RK_PAGE_SERVICE, GetParam(), "before"});
    ASSERT_TRUE(answers(address));
    browser().navigate("http://" + address + "/");
    ASSERT_TRUE(browser().await(cell("before", "replied") + " === '1'"));
  }
  EXPECT_TRUE(browser().await("!document.querySelector('#banner').hidden"));
  const testing::Background service({RK_PAGE_SERVICE, GetParam(), "after"});
  EXPECT_TRUE(browser().await(cell("after", "replied") + " === '1'"));
  EXPECT_TRUE(browser().await("!" + row("before")));
  EXPECT_TRUE(browser().await("document.querySelector('#banner').hidden"));
}

TEST_P(Page, TakesNamesForText) {
  const std::string script = "<script>alert(1)</script>";
  const std::string image = "<img src=x onerror=alert(1)>";
  RingKernelRuntime& runtime = serve();
  const Kernel quiet = active(runtime, script);
  Kernel loud = active(runtime, image);
  EXPECT_FALSE(loud.call(ops::relu(std::vector<float>(4))));
  EXPECT_FALSE(runtime.launch("x", {.program = script}));
  show(runtime);
  ASSERT_TRUE(browser().await("document.querySelectorAll('#error-list [data-code]').length === 2"));
  EXPECT_TRUE(
      browser().evaluate(row(script) + ".cells[0].textContent === " + literal(script)).as_bool());
  EXPECT_TRUE(
      browser().evaluate(row(image) + ".cells[0].textContent === " + literal(image)).as_bool());
  EXPECT_THAT(text_at("#error-list"), HasSubstr(script));
  EXPECT_EQ(browser().evaluate("document.scripts.length").to_number<int>(), 2);
  EXPECT_EQ(browser().evaluate("document.images.length").to_number<int>(), 0);
}

TEST_P(Page, ListsErrorsTheLatestFirst) {
  RingKernelRuntime& runtime = serve();
  EXPECT_FALSE(runtime.launch("x", {.program = "no such program"}));
  Kernel worker = active(runtime, "worker");
  show(runtime);
  ASSERT_TRUE(browser().await("document.querySelector('#errors').dataset.value === '1'"));
  const std::string first = "document.querySelector('#error-list li:first-child')";
  EXPECT_THAT(text_at("#error-list li:first-child .what"), HasSubstr("no such program"));
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(worker.call(ops::relu(std::vector<float>(4))));
  EXPECT_TRUE(browser().await(first + ".dataset.kernel === 'worker'"));
  EXPECT_TRUE(browser().await(first + ".dataset.count === '2'"));
  EXPECT_THAT(text_at("#error-list li:first-child .what"), HasSubstr("takes plain bytes"));
  EXPECT_TRUE(browser().await("document.querySelector('#errors').dataset.value === '3'"));
}

TEST_P(Page, IsUsableWithManyKernels) {
  constexpr int kernels = 200;
  RingKernelRuntime& runtime = serve();
  for (int i = 0; i < kernels; ++i) {
    const KernelOptions small{
        .program = "echo", .input_bytes = 4096, .output_bytes = 4096, .auto_activate = true};
    ASSERT_TRUE(runtime.launch("kernel-" + std::to_string(i), small));
  }
  Kernel busy = runtime.kernel("kernel-137").value();
  for (std::uint64_t i = 0; i < 9; ++i) ASSERT_TRUE(busy.call(numbered(i)));
  show(runtime);
  const std::string rows = "[...document.querySelectorAll('#kernels tbody tr:not([hidden])')]";
  ASSERT_TRUE(browser().await(rows + ".length === 200"));
  ASSERT_TRUE(browser().await(cell("kernel-137", "replied") + " === '9'"));
  EXPECT_TRUE(browser().evaluate(rows + "[2].dataset.kernel === 'kernel-2'").as_bool()) << "not 10";
  EXPECT_TRUE(
      browser().evaluate("document.querySelector('#legend').children.length <= 8").as_bool());

  const std::string replied = "document.querySelectorAll('#kernels thead button')[6]";
  (void)browser().evaluate(replied + ".click()");
  EXPECT_TRUE(browser().await(rows + "[0].dataset.kernel === 'kernel-137'"));
  EXPECT_TRUE(browser().evaluate(replied + ".parentElement.ariaSort === 'descending'").as_bool());

  (void)browser().evaluate(R"((() => {
      const filter = document.querySelector("#filter");
      filter.value = "EL-19";
      filter.dispatchEvent(new Event("input"));
    })())");
  EXPECT_TRUE(browser().await(rows + ".length === 11")) << "19, 190 to 199";
  EXPECT_EQ(text_at("#kernel-count"), "11 of 200");

  (void)browser().evaluate(row("kernel-190") + ".querySelector('button').click()");
  EXPECT_EQ(text_at("#legend"), "kernel-190");
  EXPECT_EQ(text_at("#detail-name"), "kernel-190");
  const Traffic traffic(busy);
  (void)browser().evaluate("document.querySelector('#show-busiest').click()");
  EXPECT_TRUE(
      browser().await("document.querySelector('#detail-name').textContent === 'kernel-137'"));
}

TEST_P(Page, AsksNobodyElse) {
  RingKernelRuntime& runtime = serve();
  const Kernel worker = active(runtime, "worker");
  const std::size_t earlier = browser().requests().size();
  show(runtime);
  ASSERT_TRUE(browser().await(row("worker")));
  const std::vector<std::string> requests(
      browser().requests().begin() + static_cast<std::ptrdiff_t>(earlier),
      browser().requests().end());
  const std::string origin = "http://" + runtime.metrics().http_address + "/";
  EXPECT_THAT(requests, Each(StartsWith(origin)));
  EXPECT_THAT(requests, Contains(origin + "api/state"));
}

}  // namespace
}  // namespace ringkernel::test
