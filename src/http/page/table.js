// The table of kernels: a row for each, sorted by a column, filtered by a text.

import { bytes, count, duration, percent, rate } from "./format.js";
import { recent } from "./history.js";

/** A column: `raw` is what it is sorted by and what tests read, `text` what people read. */
const columns = [
  { figure: "id", label: "Kernel", raw: (kernel) => kernel.id, name: true },
  { figure: "program", label: "Program", raw: programOf },
  { figure: "state", label: "State", raw: (kernel) => kernel.state },
  number("messages_per_second", "Msg/s", (kernel) => kernel.messages_per_second, rate),
  number("p50_ns", "P50", (kernel) => recent(kernel)?.p50_ns, duration),
  number("p99_ns", "P99", (kernel) => recent(kernel)?.p99_ns, duration),
  number("replied", "Replied", (kernel) => kernel.replied, count),
  number("failed", "Failed", (kernel) => kernel.failed, count),
  number("in_flight", "In flight", (kernel) => kernel.in_flight, count),
  number("queued", "Queued", (kernel) => kernel.queued, count),
  ring("input_ring", "Input ring"),
  ring("output_ring", "Output ring"),
];

/** With its version, where it was swapped. */
function programOf({ program, program_version: version }) {
  return version > 1 ? `${program} v${version}` : program;
}

function number(figure, label, raw, text) {
  return { figure, label, raw, text, numeric: true };
}

function ring(name, label) {
  const used = (kernel) => kernel[`${name}_used_bytes`];
  const capacity = (kernel) => kernel[`${name}_bytes`];
  return { figure: `${name}_used_bytes`, label, raw: used, capacity, numeric: true };
}

export class KernelTable {
  #head;
  #body;
  #rows = new Map();
  #sort = { column: columns[0], descending: false };
  #filter = "";
  #kernels = [];
  #onSelect;
  #shown;

  /** `shown`: says how many rows there are; `onSelect(id)`: a row was clicked. */
  constructor({ table, filter, shown, onSelect }) {
    this.#head = table.tHead;
    this.#body = table.tBodies[0];
    this.#onSelect = onSelect;
    this.#shown = shown;
    this.#makeHead();
    filter.addEventListener("input", () => {
      this.#filter = filter.value.trim().toLowerCase();
      this.#arrange();
    });
  }

  /** `look`: {selected(id), colour(id)} of what the charts show. */
  show(kernels, look) {
    this.#kernels = kernels;
    const ids = new Set(kernels.map((kernel) => kernel.id));
    const isGrowing = kernels.some((kernel) => !this.#rows.has(kernel.id));
    for (const [id, row] of this.#rows)
      if (!ids.has(id)) {
        row.remove();
        this.#rows.delete(id);
      }
    for (const kernel of kernels) {
      const row = this.#rows.get(kernel.id) ?? this.#addRow(kernel.id);
      columns.forEach((column, index) => showCell(row.cells[index], column, kernel));
      mark(row, look.selected(kernel.id), look.colour(kernel.id));
    }
    // A row that moves is clicked by mistake, and loses the focus.
    if (isGrowing || !this.#body.matches(":hover, :has(:focus-visible)")) this.#arrange();
  }

  #makeHead() {
    const row = this.#head.insertRow();
    for (const column of columns) {
      const cell = document.createElement("th");
      cell.scope = "col";
      cell.classList.toggle("numeric", column.numeric === true);
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = column.label;
      button.addEventListener("click", () => this.#sortBy(column));
      cell.append(button);
      row.append(cell);
    }
    this.#showSort();
  }

  /** Numbers begin with the largest, names with A; the second click turns it round. */
  #sortBy(column) {
    const isAgain = this.#sort.column === column;
    const descending = isAgain ? !this.#sort.descending : column.numeric === true;
    this.#sort = { column, descending };
    this.#showSort();
    this.#arrange();
  }

  #showSort() {
    columns.forEach((column, index) => {
      const direction = this.#sort.descending ? "descending" : "ascending";
      const cell = this.#head.rows[0].cells[index];
      cell.ariaSort = column === this.#sort.column ? direction : "none";
    });
  }

  #addRow(id) {
    const row = document.createElement("tr");
    row.dataset.kernel = id;
    for (const column of columns) row.append(makeCell(column));
    row.addEventListener("click", () => this.#onSelect(id));
    this.#rows.set(id, row);
    return row;
  }

  /** Puts the rows into order, moving only those that have to. */
  #arrange() {
    const { column, descending } = this.#sort;
    const sign = descending ? -1 : 1;
    const order = (one, other) =>
      sign * compare(column.raw(one), column.raw(other)) || compare(one.id, other.id);
    const sorted = [...this.#kernels].sort(order);
    let place = this.#body.firstElementChild;
    let shown = 0;
    for (const kernel of sorted) {
      const row = this.#rows.get(kernel.id);
      row.hidden = !this.#matches(kernel);
      shown += row.hidden ? 0 : 1;
      if (row === place) place = place.nextElementSibling;
      else this.#body.insertBefore(row, place);
    }
    const all = sorted.length;
    this.#shown.textContent = shown === all ? all : `${shown} of ${all}`;
  }

  #matches({ id, program, state }) {
    return [id, program, state].some((text) => text.toLowerCase().includes(this.#filter));
  }
}

const collator = new Intl.Collator("en", { numeric: true });

/** What is not known is less than anything. */
function compare(one, other) {
  if (typeof one === "string") return collator.compare(one, other);
  return (one ?? -1) - (other ?? -1);
}

function makeCell(column) {
  const cell = document.createElement("td");
  cell.dataset.figure = column.figure;
  cell.classList.toggle("numeric", column.numeric === true);
  if (column.name) {
    const swatch = document.createElement("i");
    swatch.className = "swatch";
    const button = document.createElement("button");
    button.type = "button";
    cell.append(swatch, button);
  }
  if (column.capacity) {
    const bar = document.createElement("span");
    bar.className = "fill";
    bar.append(document.createElement("i"));
    cell.append(document.createElement("span"), bar);
  }
  return cell;
}

function showCell(cell, column, kernel) {
  const value = column.raw(kernel);
  const raw = value === undefined ? "" : String(value);
  if (cell.dataset.value === raw) return;
  cell.dataset.value = raw;
  cell.classList.toggle("nothing", value === 0 || value === undefined);
  if (column.name) cell.lastElementChild.textContent = value;
  else if (column.capacity) showFill(cell, value, column.capacity(kernel));
  else cell.textContent = column.text ? column.text(value) : value;
}

function showFill(cell, used, capacity) {
  cell.firstElementChild.textContent = percent(used, capacity);
  cell.lastElementChild.firstElementChild.style.width = `${(100 * used) / (capacity || 1)}%`;
  cell.title = `${bytes(used)} of ${bytes(capacity)}`;
}

function mark(row, isSelected, colour) {
  row.classList.toggle("selected", isSelected);
  const [swatch, button] = row.cells[0].children;
  button.setAttribute("aria-pressed", String(isSelected));
  swatch.style.background = colour ?? "transparent";
}
