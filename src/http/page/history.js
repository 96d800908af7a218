// What the kernels did in the last minutes: a ring of samples, one for each look at the service.
// A look without an answer is a sample without figures, which a chart shows as a gap.

/** Ten minutes of a look a second. */
export const samples_max = 600;

/** The columns that are kept of each kernel, and where they come from. */
export const columns = {
  rate: (kernel) => kernel.messages_per_second,
  p50: (kernel) => recent(kernel)?.p50_ns,
  p99: (kernel) => recent(kernel)?.p99_ns,
  depth: (kernel) => kernel.in_flight,
};

/** The latency since the look before; undefined: no message was measured. */
export function recent(kernel) {
  return kernel.latency_just_now?.count > 0 ? kernel.latency_just_now : undefined;
}

/** How much the latest look counts in what ranks kernels, and how little is nothing. */
const weight = 0.1;
const busy_least = 0.05;

export class History {
  #times = new Float64Array(samples_max);
  #count = 0;
  #kernels = new Map();
  /** When another runtime answered than before. */
  restarts = [];

  /** `kernels`: as in the state; an empty list if there was no answer. */
  push(seconds, kernels) {
    const index = this.#count++ % samples_max;
    this.#times[index] = seconds;
    for (const track of this.#kernels.values())
      for (const name in columns) track[name][index] = NaN;
    for (const kernel of kernels) this.#store(kernel, index);
    this.#forget();
  }

  restarted(seconds) {
    this.restarts.push(seconds);
    if (this.restarts.length > samples_max) this.restarts.shift();
  }

  #store(kernel, index) {
    let track = this.#kernels.get(kernel.id);
    if (track === undefined) {
      track = { busy: 0 };
      for (const name in columns) track[name] = new Float32Array(samples_max).fill(NaN);
      this.#kernels.set(kernel.id, track);
    }
    for (const name in columns) track[name][index] = columns[name](kernel) ?? NaN;
    track.seen = this.#count;
    const busy = (kernel.messages_per_second ?? 0) + kernel.in_flight;
    track.busy += weight * (busy - track.busy);
  }

  /** Kernels that are gone stay for as long as a chart would show them. */
  #forget() {
    for (const [id, track] of this.#kernels)
      if (this.#count - track.seen >= samples_max) this.#kernels.delete(id);
  }

  times() {
    return this.#inOrder(this.#times);
  }

  /** The samples of one kernel, the oldest first; null where there is none. */
  column(id, name) {
    const track = this.#kernels.get(id);
    if (track === undefined) return this.times().fill(null);
    return this.#inOrder(track[name]).map((value) => (Number.isNaN(value) ? null : value));
  }

  #inOrder(ring) {
    if (this.#count <= samples_max) return Array.from(ring.subarray(0, this.#count));
    const first = this.#count % samples_max;
    return [...ring.subarray(first), ...ring.subarray(0, first)];
  }

  /**
   * The ids of the kernels of the latest answer that were the busiest of late; if none was, of the
   * first ones. One of `shown` stays unless another one has clearly more to do, so that charts do
   * not jump.
   */
  busiest(kernels, shown, most) {
    const score = ({ id }) => (this.#kernels.get(id)?.busy ?? 0) * (shown.includes(id) ? 1.5 : 1);
    const ranked = kernels.map((kernel) => ({ id: kernel.id, score: score(kernel) }));
    ranked.sort((one, other) => other.score - one.score);
    const busy = ranked.filter((kernel) => kernel.score > busy_least);
    return (busy.length > 0 ? busy : ranked).slice(0, most).map(({ id }) => id);
  }
}
