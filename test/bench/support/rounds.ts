import type { BenchSettings, Series } from './case.ts';

/** Quantities of one measurement, by name with unit. */
export type Sample = Readonly<Record<string, number>>;

export interface Subject {
  readonly name: string;
  /** One measurement, in processes of its own that are gone when it resolves. */
  measure(): Promise<Sample>;
}

/**
 * Measures all subjects one after another, again and again: A B C A B C. What the machine does meanwhile then falls on
 * all of them alike, and the ratio of one round compares neighbours.
 */
export async function interleave(
  rounds: number,
  subjects: readonly Subject[],
  { progress }: Pick<BenchSettings, 'progress'>,
): Promise<Measured> {
  const samples = new Map<string, Sample[]>(subjects.map(({ name }) => [name, []]));
  for (let round = 1; round <= rounds; round += 1) {
    for (const subject of subjects) {
      const { name } = subject;
      const sample = await subject.measure();
      samples.get(name)?.push(sample);
      progress(`round ${round}/${rounds}, ${name}: ${describe(sample)}`);
    }
  }
  return new Measured(samples);
}

export class Measured {
  readonly #samples: ReadonlyMap<string, readonly Sample[]>;

  constructor(samples: ReadonlyMap<string, readonly Sample[]>) {
    this.#samples = samples;
  }

  values(subject: string, quantity: string): number[] {
    const values = this.#samples.get(subject)?.map((sample) => sample[quantity]);
    if (!values?.every((value) => value !== undefined)) throw new Error(`nothing measured ${quantity} of ${subject}`);
    return values;
  }

  series(): Series[] {
    return [...this.#samples].flatMap(([subject, samples]) =>
      Object.keys(samples[0] ?? {}).map((quantity) => ({ subject, quantity, values: this.values(subject, quantity) })),
    );
  }
}

const describe = (sample: Sample): string =>
  Object.entries(sample)
    .map(([quantity, value]) => `${quantity} ${formatNumber(value)}`)
    .join(', ');

/** Three significant digits, or whole. */
export const formatNumber = (value: number): string =>
  Math.abs(value) >= 100
    ? Math.round(value).toLocaleString('en-US')
    : Number(value.toPrecision(3)).toLocaleString('en-US');
