// The three charts, on one axis of time, of the same kernels in the same colours.

import { clock, count, duration, rate, short, tick } from "./format.js";

/** Colours that can be told apart: --series-0 ... of page.css. */
export const series_max = 8;

const height_px = 210;
const window_min_seconds = 60;

/** What each chart draws for a kernel. */
const kinds = [
  { place: "rate-chart", lines: [{ column: "rate" }], text: rate, tick: short, least: 10 },
  {
    place: "latency-chart",
    lines: [{ column: "p99" }, { column: "p50", dotted: true }],
    text: duration,
    tick,
    logarithmic: true,
  },
  { place: "depth-chart", lines: [{ column: "depth" }], text: count, tick: short, least: 5 },
];

export class Charts {
  #history;
  #ids = [];
  #colours = new Map();
  #charts;

  constructor(history) {
    this.#history = history;
    this.#charts = kinds.map((kind) => new Chart(kind, history));
    const rebuild = () => this.#build();
    matchMedia("(prefers-color-scheme: light)").addEventListener("change", rebuild);
  }

  /** The kernels that the charts are of. */
  get ids() {
    return this.#ids;
  }

  /** A CSS colour, or undefined for a kernel that is not shown. */
  colour(id) {
    const number = this.#colours.get(id);
    return number === undefined ? undefined : `var(--series-${number})`;
  }

  show(ids) {
    const isSame = ids.length === this.#ids.length && ids.every((id) => this.#colours.has(id));
    if (isSame) return;
    this.#ids = ids;
    this.#colour(ids);
    this.#build();
  }

  /** A kernel keeps its colour for as long as it is shown. */
  #colour(ids) {
    for (const id of this.#colours.keys()) if (!ids.includes(id)) this.#colours.delete(id);
    for (const id of ids) {
      if (this.#colours.has(id)) continue;
      const taken = [...this.#colours.values()];
      let number = 0;
      while (taken.includes(number)) ++number;
      this.#colours.set(id, number);
    }
  }

  #build() {
    const kernels = this.#ids.map((id) => ({ id, colour: resolved(this.colour(id)) }));
    for (const chart of this.#charts) chart.build(kernels);
    this.draw();
  }

  draw() {
    const times = this.#history.times();
    for (const chart of this.#charts) chart.draw(times);
  }
}

class Chart {
  #kind;
  #history;
  #place;
  #tip;
  #plot = null;
  #lines = [];

  constructor(kind, history) {
    this.#kind = kind;
    this.#history = history;
    this.#place = document.getElementById(kind.place);
    this.#tip = document.createElement("div");
    this.#tip.className = "tip";
    this.#place.after(this.#tip);
    new ResizeObserver(() => this.#plot?.setSize(this.#size())).observe(this.#place);
  }

  #size() {
    return { width: Math.max(this.#place.clientWidth, 100), height: height_px };
  }

  build(kernels) {
    this.#plot?.destroy();
    this.#lines = kernels.flatMap(({ id, colour }) =>
      this.#kind.lines.map((line) => ({ ...line, id, colour })),
    );
    this.#plot = new uPlot(this.#options(), [[], ...this.#lines.map(() => [])], this.#place);
    this.#place.querySelector("canvas").setAttribute("aria-hidden", "true");
  }

  draw(times) {
    if (this.#plot === null) return;
    const data = this.#lines.map((line) => this.#history.column(line.id, line.column));
    this.#plot.setData([times, ...data]);
    this.#place.dataset.samples = times.length;
    this.#place.dataset.points = data.flat().filter((value) => value !== null).length;
  }

  #options() {
    const ink = resolved("var(--quiet)");
    const grid = { stroke: resolved("var(--grid)"), width: 1 };
    const axis = { stroke: ink, grid, ticks: { ...grid, size: 4 }, font: "11px system-ui" };
    const texts = (format) => (_, splits) => splits.map((at) => (at === null ? "" : format(at)));
    return {
      ...this.#size(),
      legend: { show: false },
      cursor: { sync: { key: "time" }, drag: { x: false, y: false }, points: { size: 6 } },
      scales: { x: { range: timeRange }, y: this.#scale() },
      axes: [
        { ...axis, values: texts(clock), space: 90, size: 30 },
        { ...axis, values: texts(this.#kind.tick), size: 56, ...this.#splits() },
      ],
      series: [{}, ...this.#lines.map(series)],
      hooks: {
        setCursor: [(plot) => this.#showTip(plot)],
        drawClear: [(plot) => drawRestarts(plot, this.#history.restarts, ink)],
      },
    };
  }

  #scale() {
    const { logarithmic, least } = this.#kind;
    if (!logarithmic)
      return { range: (_, low, high) => uPlot.rangeNum(0, Math.max(high ?? 0, least), 0.1, true) };
    const range = (_, low, high) =>
      low === null ? [100, 1e6] : uPlot.rangeLog(Math.max(low, 1), Math.max(high, 10), 10, true);
    return { distr: 3, range };
  }

  /** Of a logarithmic axis the powers of ten only. */
  #splits() {
    if (!this.#kind.logarithmic) return {};
    const power = (value) => Math.round(Math.log10(value));
    const all = (_, __, low, high) =>
      Array.from({ length: power(high) - power(low) + 1 }, (___, at) => 10 ** (power(low) + at));
    return { splits: all, filter: (_, splits) => splits };
  }

  /** The figures under the cursor, the largest first. */
  #showTip(plot) {
    const { left, idx } = plot.cursor;
    const isThere = left >= 0 && idx !== null && idx !== undefined && plot.data[0].length > 0;
    this.#tip.hidden = !isThere;
    if (!isThere) return;
    const rows = this.#lines.map((line, number) => ({ line, value: plot.data[number + 1][idx] }));
    rows.sort((one, other) => (other.value ?? -1) - (one.value ?? -1));
    const time = document.createElement("b");
    time.textContent = clock(plot.data[0][idx]);
    this.#tip.replaceChildren(time, ...rows.map(({ line, value }) => this.#tipRow(line, value)));
    const isRight = left > plot.over.clientWidth / 2;
    this.#tip.classList.toggle("at-left", isRight);
  }

  #tipRow(line, value) {
    const row = document.createElement("div");
    const mark = document.createElement("i");
    mark.style.background = line.colour;
    const name = document.createElement("span");
    name.textContent = this.#kind.lines.length > 1 ? `${line.column} ${line.id}` : line.id;
    const text = document.createElement("span");
    text.textContent = this.#kind.text(value);
    row.append(mark, name, text);
    return row;
  }
}

/** Ten minutes at most; what has not been seen yet takes no room. */
function timeRange(_, low, high) {
  const end = high ?? Date.now() / 1000;
  return [Math.min(low ?? end, end - window_min_seconds), end];
}

function series(line) {
  return {
    stroke: line.colour,
    width: line.dotted ? 1 : 1.5,
    dash: line.dotted ? [2, 3] : undefined,
    points: { size: 4, fill: line.colour, filter: lonely },
  };
}

/** Samples between two gaps, of which a line would show nothing. */
function lonely(plot, number) {
  const values = plot.data[number];
  const isGap = (index) => values[index] === null || values[index] === undefined;
  return values.flatMap((_, index) =>
    !isGap(index) && isGap(index - 1) && isGap(index + 1) ? [index] : [],
  );
}

/** An upright line where another runtime answered. */
function drawRestarts(plot, restarts, colour) {
  const { ctx } = plot;
  const { left, top, width, height } = plot.bbox;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.setLineDash([6, 4]);
  for (const seconds of restarts) {
    const x = Math.round(plot.valToPos(seconds, "x", true));
    if (!(x >= left && x <= left + width)) continue;
    ctx.beginPath();
    ctx.moveTo(x, top);
    ctx.lineTo(x, top + height);
    ctx.stroke();
  }
  ctx.restore();
}

/** A canvas knows no variables of CSS. */
function resolved(colour) {
  const name = colour.slice("var(".length, -1);
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
