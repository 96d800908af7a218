// The live page: looks at /api/state once a second and shows what it says.

import { Charts, series_max } from "./charts.js";
import { age, clock, rate } from "./format.js";
import { History } from "./history.js";
import { showDetail, showErrors, showRuntime, showTiles } from "./panels.js";
import { KernelTable } from "./table.js";

const period_ms = 1000;
const patience_ms = 3000;
const pause_max_ms = 4000;
/** A look that comes so much later than the one before leaves a gap in the charts. */
const gap_seconds = 5;
const old_heartbeat_ns = 2e9;

const element = (id) => document.getElementById(id);
const history = new History();
const charts = new Charts(history);
const table = new KernelTable({
  table: element("kernels"),
  filter: element("filter"),
  shown: element("kernel-count"),
  onSelect: select,
});

let reading;
let selected = [];
let focus;
let answered_at;
let lost_since;

/** What one look brings, or an Error that says why it brought nothing. */
async function ask() {
  const signal = AbortSignal.timeout(patience_ms);
  const answer = await fetch("/api/state", { cache: "no-store", signal });
  if (!answer.ok) throw new Error(`it answers with status ${answer.status}`);
  const [first] = (await answer.json()).runtimes;
  if (first?.runtime === undefined) throw new Error(first?.problem ?? "it has no figures yet");
  return first;
}

async function look() {
  let next;
  try {
    next = await ask();
  } catch (error) {
    lose(error);
    return false;
  }
  try {
    take(next);
  } catch (error) {
    console.error(error); // a fault of the page, which goes on all the same
  }
  return true;
}

/** Looks never overlap; after failures they come less often. */
async function run() {
  for (let failures = 0; ; ) {
    const begun = performance.now();
    failures = (await look()) ? 0 : failures + 1;
    const pause = Math.min(period_ms * Math.max(1, failures), pause_max_ms);
    await new Promise((resume) => setTimeout(resume, begun + pause - performance.now()));
  }
}

function take(next) {
  const now = Date.now() / 1000;
  if (answered_at !== undefined && now - answered_at > gap_seconds) history.push(now, []);
  // Names come again: process ids are used anew, in a container the same one each time.
  const isAnother =
    reading?.name !== next.name || reading.created_unix_ns !== next.created_unix_ns;
  if (reading !== undefined && isAnother) history.restarted(now);
  history.push(now, next.kernels);
  answered_at = now;
  lost_since = undefined;
  reading = next;
  show();
}

function lose(error) {
  const now = Date.now() / 1000;
  lost_since ??= answered_at ?? now;
  history.push(now, []);
  const isSilence = error instanceof TypeError || error.name === "TimeoutError";
  const why = isSilence ? "" : `: ${error.message}`;
  element("banner").textContent = `No answer since ${clock(lost_since)} – retrying${why}`;
  showConnection();
  element("health").textContent = "no answer";
  element("health").className = "pill";
  document.title = "no answer · ringkernel";
  charts.draw();
}

function showConnection() {
  const isLost = lost_since !== undefined;
  element("banner").hidden = !isLost;
  document.body.classList.toggle("lost", isLost);
}

function show() {
  const { kernels, errors, runtime, moment_ns } = reading;
  showConnection();
  showHeader(reading);
  const there = new Set(kernels.map((kernel) => kernel.id));
  selected = selected.filter((id) => there.has(id));
  const charted = selected.length > 0 ? selected : history.busiest(kernels, charts.ids, series_max);
  charts.show(charted);
  if (!document.hidden) charts.draw();
  showLegend();
  showTiles(reading, selected);
  document.title = `${rate(Number(element("rate").dataset.value))}/s · ringkernel ${reading.name}`;
  table.show(kernels, {
    selected: (id) => selected.includes(id),
    colour: (id) => charts.colour(id),
  });
  focus = selected.at(-1) ?? history.busiest(kernels, [focus], 1)[0];
  const why = selected.length > 0 ? "selected" : "the busiest";
  showDetail(kernels.find((kernel) => kernel.id === focus), why);
  showErrors(errors, moment_ns);
  showRuntime(runtime);
}

function showHeader(of) {
  const { device, backend, transfer } = of.runtime;
  for (const [id, text] of Object.entries({ device, backend, transfer, "runtime-name": of.name }))
    element(id).textContent = text;
  const pill = element("health");
  const failed = of.kernels.filter((kernel) => kernel.state === "failed").map(({ id }) => id);
  const trouble = failed.length > 0 ? `kernel failed: ${failed.join(", ")}` : of.problem;
  pill.textContent = of.healthy ? "healthy" : `${of.health}${trouble ? `; ${trouble}` : ""}`;
  pill.className = `pill ${of.healthy ? "good" : "bad"}`;
  element("heartbeat").textContent = `${age(of.heartbeat_age_ns)} ago`;
  element("heartbeat").classList.toggle("bad", of.heartbeat_age_ns > old_heartbeat_ns);
  element("uptime").textContent = age(Date.now() * 1e6 - of.created_unix_ns);
}

function showLegend() {
  const { length } = charts.ids;
  const title = selected.length > 0 ? "selected:" : `the busiest of ${reading.kernels.length}:`;
  element("legend-title").textContent = length === 0 ? "no kernels yet" : title;
  element("show-busiest").hidden = selected.length === 0;
  element("legend").replaceChildren(
    ...charts.ids.map((id) => {
      const item = document.createElement("li");
      const swatch = document.createElement("i");
      swatch.className = "swatch";
      swatch.style.background = charts.colour(id);
      item.append(swatch, id);
      return item;
    }),
  );
}

/** A click selects a kernel for the charts, or lets go of it; the first ones give way. */
function select(id) {
  if (selected.includes(id)) selected = selected.filter((other) => other !== id);
  else selected = [...selected, id].slice(-series_max);
  show();
}

element("show-busiest").addEventListener("click", () => {
  selected = [];
  show();
});

run();
