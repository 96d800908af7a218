// Figures as text for people. Nothing here knows the page.

export const absent = "–";

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** A number of things, exactly. */
export function count(value) {
  return value == null ? absent : whole.format(value);
}

/** Messages a second. */
export function rate(value) {
  if (value == null) return absent;
  return value > 0 && value < 10 ? value.toFixed(1) : whole.format(value);
}

/** For the ticks of an axis: 1500 -> "1.5k". */
export function short(value) {
  const units = ["", "k", "M", "G"];
  let unit = 0;
  while (Math.abs(value) >= 1000 && unit + 1 < units.length) {
    value /= 1000;
    ++unit;
  }
  return Number(value.toPrecision(3)) + units[unit];
}

/** A duration: three digits and a unit. */
export function duration(ns) {
  if (ns == null) return absent;
  if (ns < 1000) return `${Math.round(ns)} ns`;
  if (ns < 1e6) return `${threeDigits(ns / 1e3)} µs`;
  if (ns < 1e9) return `${threeDigits(ns / 1e6)} ms`;
  return age(ns);
}

/** How long ago, or for how long: coarse from a minute on. */
export function age(ns) {
  if (ns == null) return absent;
  const seconds = ns / 1e9;
  if (seconds < 0.1) return "<0.1 s";
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.floor(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** For the ticks of a logarithmic axis: 10 µs, 1 s. */
export function tick(ns) {
  if (ns < 1e3) return `${ns} ns`;
  if (ns < 1e6) return `${ns / 1e3} µs`;
  return ns < 1e9 ? `${ns / 1e6} ms` : `${ns / 1e9} s`;
}

export function bytes(value) {
  if (value == null) return absent;
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (value >= 1024 && unit + 1 < units.length) {
    value /= 1024;
    ++unit;
  }
  return `${unit === 0 ? value : threeDigits(value)} ${units[unit]}`;
}

export function percent(part, of) {
  if (!(of > 0)) return absent;
  const share = (100 * part) / of;
  return share > 0 && share < 1 ? "<1 %" : `${Math.round(share)} %`;
}

/** The time of day, of seconds since 1970. */
export function clock(seconds) {
  return new Date(seconds * 1000).toLocaleTimeString("en-GB");
}

/** A figure by its name, which ends with its unit if it has one. */
export function figure(name, value) {
  if (name.endsWith("_ns")) return value === 0 ? absent : duration(value);
  return /(^|_)bytes(_|$)/.test(name) ? bytes(value) : count(value);
}

function threeDigits(value) {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
