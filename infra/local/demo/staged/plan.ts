import type { Departure } from '../base/departures.ts';

/** Whose table refuses some of the records. */
export type Refusing = 'airports' | 'flights' | 'remarks';

/** What the publisher does, as a value: which flights go into which message, and which messages it publishes twice. */
export interface StagedMessage {
  readonly flights: readonly Departure[];
  /** The publisher's id of the message; without one Pub/Sub's own tells messages apart. */
  readonly id?: string;
  /** How often the publisher publishes it. */
  readonly copies: 1 | 2;
  /**
   * The index of the record that a table refuses: `airports` and `flights` whenever it is written, `remarks` as long as
   * a family is missing that only this record names.
   */
  readonly refused: Readonly<Partial<Record<Refusing, number>>>;
}

/** All messages of a run. Two pipelines read `steady` and `hot`, the third reads the others. */
export interface StagedPlan {
  /** The busiest airport, and so the hottest row. */
  readonly hub: string;
  /** All flights but those of the hub: published steadily. */
  readonly steady: readonly StagedMessage[];
  /** Those of the hub: published while nobody writes their row. */
  readonly hot: readonly StagedMessage[];
  /** Every tenth flight once more, for `remarks`: published while the family is missing. */
  readonly early: readonly StagedMessage[];
  /** Published once the family is there. */
  readonly late: readonly StagedMessage[];
}

export const FLIGHTS_PER_MESSAGE = 10;
const REMARKED_EVERY = 10;

/** Pure: equal flights give equal messages. */
export function planMessages(flights: readonly Departure[]): StagedPlan {
  const hub = busiest(flights);
  const remarks = messagesOf(
    flights.filter((_, index) => index % REMARKED_EVERY === 0),
    'remark',
    (own) => ({ remarks: own.length - 1 }),
  );
  const half = Math.ceil(remarks.length / 2);
  return {
    hub,
    steady: messagesOf(
      flights.filter(({ origin }) => origin !== hub),
      'batch',
      (own, index) => ({ flights: own.length - 1, ...(index % 10 === 5 && { airports: 0 }) }),
    ),
    hot: messagesOf(
      flights.filter(({ origin }) => origin === hub),
      'hub',
      (own) => ({ flights: own.length - 1 }),
    ),
    early: remarks.slice(0, half),
    late: remarks.slice(half),
  };
}

/** Those that two pipelines read, in the order in which they are published. */
export const departuresOf = ({ steady, hot }: StagedPlan): readonly StagedMessage[] => [...steady, ...hot];
export const remarksOf = ({ early, late }: StagedPlan): readonly StagedMessage[] => [...early, ...late];

/** How often each record of the message must count, whatever happens to its copies. */
export const effectsOf = ({ id, copies }: Pick<StagedMessage, 'id' | 'copies'>): number =>
  id === undefined ? copies : 1;

/** Effects that the pipeline's table refuses. */
export const refusedBy = (pipeline: Refusing, messages: readonly StagedMessage[]): number =>
  messages.reduce((sum, message) => sum + (message.refused[pipeline] === undefined ? 0 : effectsOf(message)), 0);

export const copiesOf = (messages: readonly StagedMessage[]): number =>
  messages.reduce((sum, { copies }) => sum + copies, 0);

/** Of ten messages one is published twice under its id, which counts once, and one twice without an id: that counts twice. */
function messagesOf(
  flights: readonly Departure[],
  prefix: string,
  refusedOf: (own: readonly Departure[], index: number) => StagedMessage['refused'],
): StagedMessage[] {
  const count = Math.ceil(flights.length / FLIGHTS_PER_MESSAGE);
  return Array.from({ length: count }, (_, index): StagedMessage => {
    const own = flights.slice(index * FLIGHTS_PER_MESSAGE, (index + 1) * FLIGHTS_PER_MESSAGE);
    const refused = refusedOf(own, index);
    const rest = index % 10;
    if (rest === 7) return { flights: own, copies: 2, refused };
    return { flights: own, id: `${prefix}-${index}`, copies: rest === 3 ? 2 : 1, refused };
  });
}

function busiest(flights: readonly Departure[]): string {
  const counts = new Map<string, number>();
  for (const { origin } of flights) counts.set(origin, (counts.get(origin) ?? 0) + 1);
  return [...counts].reduce<[string, number]>((most, each) => (each[1] > most[1] ? each : most), ['', 0])[0];
}
