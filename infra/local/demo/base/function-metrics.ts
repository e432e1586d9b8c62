/**
 * Adds up what a function reports of itself: the structured lines of its log, each with the increments since the one
 * before. Takes any line, and passes over what is not one of them.
 */
export class FunctionMetrics {
  readonly #counters = new Map<string, number>();

  add(line: string): void {
    const entry = parseLine(line);
    if (entry?.message === 'metrics' && isRecord(entry.metrics)) {
      for (const [name, value] of Object.entries(entry.metrics)) {
        if (typeof value === 'number') this.#add(name, value);
      }
    }
    if (entry?.message === 'metric' && typeof entry.value === 'number') {
      this.#add(`${String(entry.metric)}:${String(entry.label)}`, entry.value);
    }
  }

  /** A counter's sum; with a label, that series alone. Gauges make no sense here: they are added up too. */
  total(name: string, label?: string): number {
    return this.#counters.get(label === undefined ? name : `${name}:${label}`) ?? 0;
  }

  /** The labels that a counter was seen with, and their sums. */
  byLabel(name: string): ReadonlyMap<string, number> {
    const series = [...this.#counters].filter(([key]) => key.startsWith(`${name}:`));
    return new Map(series.map(([key, value]) => [key.slice(name.length + 1), value]));
  }

  #add(name: string, value: number): void {
    this.#counters.set(name, (this.#counters.get(name) ?? 0) + value);
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

function parseLine(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const entry: unknown = JSON.parse(line);
    return isRecord(entry) ? entry : undefined;
  } catch {
    return undefined;
  }
}
