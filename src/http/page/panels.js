// What stands beside the charts and the table: the numbers at the top, one kernel with its hops,
// the errors, the runtime.

import { absent, age, bytes, clock, count, duration, figure, percent, rate } from "./format.js";
import { recent } from "./history.js";

/** An error is news for a minute. */
const fresh_ns = 60e9;

const element = (id) => document.getElementById(id);

/** The numbers at the top. `selected`: ids, empty if none are. */
export function showTiles({ runtime, kernels, errors, moment_ns }, selected) {
  const active = kernels.filter((kernel) => kernel.state === "active").length;
  const rates = kernels.map((kernel) => kernel.messages_per_second);
  const isKnown = rates.some((value) => value !== undefined);
  const total = isKnown ? sum(rates) : undefined;
  tile("rate", total, rate(total), `all kernels; ${active} of ${kernels.length} active`);
  for (const percentile of ["p50", "p99"]) showSlowest(percentile, kernels, selected);
  const inFlight = sum(kernels.map((kernel) => kernel.in_flight));
  const oldest = Math.max(0, ...kernels.map((kernel) => kernel.oldest_call_age_ns));
  const waiting = `${count(sum(kernels.map((kernel) => kernel.queued)))} queued on the host`;
  const since = oldest > 0 ? `; oldest ${duration(oldest)}` : "";
  tile("depth", inFlight, count(inFlight), waiting + since);
  const last = Math.max(0, ...errors.map((error) => error.last_ns));
  const since_ns = Math.max(0, moment_ns - last);
  const ago = last > 0 ? `last ${age(since_ns)} ago` : "none so far";
  tile("errors", runtime.errors, count(runtime.errors), ago);
  element("errors").classList.toggle("bad", last > 0 && since_ns < fresh_ns);
  const used = runtime.arena_bytes - runtime.arena_free_bytes;
  const share = percent(used, runtime.arena_bytes);
  tile("arena", used, share, `${bytes(used)} of ${bytes(runtime.arena_bytes)}`);
}

/** Percentiles of several kernels have no sum: this is the worst one's, and says whose. */
function showSlowest(percentile, kernels, selected) {
  const name = `${percentile}_ns`;
  const of = kernels.filter(({ id }) => selected.length === 0 || selected.includes(id));
  let worst;
  for (const kernel of of)
    if (recent(kernel) && !(worst && recent(worst)[name] >= recent(kernel)[name])) worst = kernel;
  const value = worst && recent(worst)[name];
  let note = "no message was measured";
  if (worst) note = `${of.length > 1 ? "slowest kernel" : "kernel"}: ${worst.id}`;
  tile(percentile, value, duration(value), note);
}

function tile(id, value, text, note) {
  const big = element(id);
  big.textContent = text;
  big.dataset.value = value ?? "";
  big.nextElementSibling.textContent = note;
  big.nextElementSibling.title = note;
}

function sum(values) {
  return values.reduce((total, value) => total + (value ?? 0), 0);
}

/** Figures that have a place of their own. */
const shown_elsewhere = new Set(["published_ns", "messages_per_second"]);

/** One kernel: percentiles of each hop, then every figure. */
export function showDetail(kernel, why) {
  const panel = element("detail");
  panel.hidden = kernel === undefined;
  if (kernel === undefined) return;
  panel.dataset.kernel = kernel.id;
  element("detail-name").textContent = kernel.id;
  element("detail-why").textContent = why;
  const behaviour = kernel.behaviour === "" ? "" : `, behaviour ${kernel.behaviour}`;
  element("detail-program").textContent =
    `program ${kernel.program} version ${kernel.program_version}${behaviour}`;
  showHops(kernel);
  showMethods(kernel.methods);
  showFigures(element("detail-figures"), kernel);
}

const hops = [
  { name: "host_queue", label: "host queue" },
  { name: "device", label: "device" },
  { name: "to_device", label: "to it", part: true },
  { name: "executor", label: "executor", part: true },
  { name: "to_host", label: "from it", part: true },
  { name: "delivery", label: "delivery" },
];
/** Of a device whose clock nobody knows, the parts of its hop are absent. */
const unmeasured = { count: 0, sum_ns: 0 };
const percentiles = ["p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns"];

/** Means add up, so they make the bar; percentiles do not, so they make a table. */
function showHops(kernel) {
  const place = element("hops");
  if (place.childElementCount === 0) makeHops(place);
  const [bar, table, note] = place.children;
  const { count: measured, sum_ns: total } = kernel.latency;
  hops.forEach(({ name, label }, index) => {
    const { sum_ns: its } = name === "device" && kernel.executor ? unmeasured : hopOf(kernel, name);
    const share = total > 0 ? (100 * its) / total : 0;
    bar.children[index].style.width = `${share}%`;
    bar.children[index].title = `${label}: ${share.toFixed(1)} % of the mean`;
  });
  const rows = [...hops.map(({ name }) => name), "latency"];
  rows.forEach((name, index) => showHop(table.tBodies[0].rows[index], hopOf(kernel, name)));
  hops.forEach(({ name, part }, index) => {
    table.tBodies[0].rows[index].hidden = part === true && kernel[name] === undefined;
  });
  note.textContent =
    measured > 0
      ? `of ${count(measured)} measured messages since the start, not just now`
      : "no message was measured";
}

function hopOf(kernel, name) {
  return kernel[name] ?? unmeasured;
}

function makeHops(place) {
  const bar = document.createElement("div");
  bar.className = "hop-bar";
  for (const { name } of hops) bar.append(marked("span", name));
  const table = document.createElement("table");
  const head = table.createTHead().insertRow();
  for (const text of ["hop", "mean", "P50", "P90", "P99", "P99.9", "max"])
    head.append(withText("th", text));
  const body = table.createTBody();
  for (const { name, label, part } of [...hops, { name: "latency", label: "all" }]) {
    const row = body.insertRow();
    row.dataset.hop = name;
    row.classList.toggle("part", part === true);
    const first = document.createElement("th");
    first.scope = "row";
    first.append(marked("i", name), label);
    row.append(first);
    for (const figureName of ["mean_ns", ...percentiles])
      row.insertCell().dataset.figure = figureName;
  }
  const note = withText("p", "");
  note.className = "quiet";
  place.append(bar, table, note);
}

function showHop(row, summary) {
  const mean = summary.count > 0 ? summary.sum_ns / summary.count : undefined;
  const values = [mean, ...percentiles.map((name) => summary[name])];
  values.forEach((value, index) => {
    const cell = row.cells[index + 1];
    cell.dataset.value = value ?? "";
    cell.textContent = summary.count > 0 ? duration(value) : absent;
  });
}

/** Of a program with a schema: its methods that were called. */
function showMethods(methods) {
  const place = element("methods");
  place.hidden = methods.length === 0;
  const table = place.firstElementChild ?? place.appendChild(makeMethods());
  const body = table.tBodies[0];
  while (body.rows.length > methods.length) body.deleteRow(-1);
  methods.forEach((method, index) => {
    const row = body.rows[index] ?? makeMethod(body);
    const { answered, faults, latency } = method;
    row.dataset.method = method.name;
    row.cells[0].textContent = method.name;
    [answered, faults].forEach((value, at) => showCell(row.cells[at + 1], value, count(value)));
    ["p50_ns", "p99_ns"].forEach((name, at) =>
      showCell(row.cells[at + 3], latency[name], latency.count > 0 ? duration(latency[name]) : absent),
    );
  });
}

function makeMethods() {
  const table = document.createElement("table");
  const head = table.createTHead().insertRow();
  for (const text of ["method", "answered", "faults", "P50", "P99"]) head.append(withText("th", text));
  table.createTBody();
  return table;
}

function makeMethod(body) {
  const row = body.insertRow();
  const first = document.createElement("th");
  first.scope = "row";
  row.append(first);
  for (const name of ["answered", "faults", "p50_ns", "p99_ns"])
    row.insertCell().dataset.figure = name;
  return row;
}

function showCell(cell, value, text) {
  cell.dataset.value = value;
  cell.textContent = text;
}

/** Every number of `object`, whatever it is called: a new figure needs no change here. */
function showFigures(list, object) {
  const names = Object.keys(object).filter(
    (name) => typeof object[name] === "number" && !shown_elsewhere.has(name),
  );
  while (list.childElementCount > names.length) list.lastElementChild.remove();
  names.forEach((name, index) => {
    const item = list.children[index] ?? list.appendChild(makeFigure());
    const [label, value] = item.children;
    if (value.dataset.figure !== name) label.textContent = labelOf(name);
    value.dataset.figure = name;
    value.dataset.value = object[name];
    value.textContent = figure(name, object[name]);
    value.classList.toggle("nothing", object[name] === 0);
  });
}

function labelOf(name) {
  return name.replace(/_(ns|count)$/, "").replaceAll("_", " ");
}

function makeFigure() {
  const item = document.createElement("div");
  item.append(document.createElement("dt"), document.createElement("dd"));
  return item;
}

export function showRuntime(runtime) {
  showFigures(element("runtime-figures"), runtime);
}

/** The latest first. Texts come from the service: they are never taken for markup. */
export function showErrors(errors, moment_ns) {
  const list = element("error-list");
  const sorted = [...errors].sort((one, other) => other.last_ns - one.last_ns);
  if (sorted.length === 0) return list.replaceChildren(withText("li", "none"));
  while (list.childElementCount > sorted.length) list.lastElementChild.remove();
  sorted.forEach((error, index) => {
    let item = list.children[index];
    if (item?.dataset.count === undefined) {
      const made = makeError();
      if (item) item.replaceWith(made);
      else list.append(made);
      item = made;
    }
    showError(item, error, moment_ns);
  });
  return undefined;
}

function makeError() {
  const item = document.createElement("li");
  item.dataset.count = "";
  for (const part of ["times", "where", "what", "when"]) item.append(marked("span", part));
  return item;
}

function showError(item, error, moment_ns) {
  const [times, where, what, when] = item.children;
  item.dataset.kernel = error.kernel;
  item.dataset.code = error.code;
  item.dataset.count = error.count;
  times.textContent = `${count(error.count)}×`;
  where.textContent = error.kernel || "runtime";
  when.textContent = `${age(Math.max(0, moment_ns - error.last_ns))} ago`;
  when.title = clock(Date.now() / 1000 - (moment_ns - error.last_ns) / 1e9);
  what.textContent = error.text;
}

function marked(tag, className) {
  const made = document.createElement(tag);
  made.className = className;
  return made;
}

function withText(tag, text) {
  const made = document.createElement(tag);
  made.textContent = text;
  return made;
}
