import type { Clock } from '../../shared/base/clock.ts';
import type { MarkerQuestion, MarkerReply, ReadMarkers } from '../../shared/markers/ports.ts';
import type { RowCall, RowReply, SendRowCall } from '../../shared/model/row-call.ts';
import type { StatusName } from '../../shared/model/status.ts';
import { CheckAndMutateRowRequest } from '../../shared/proto/google/bigtable/v2/bigtable.ts';
import type { Mutation, RowFilter } from '../../shared/proto/google/bigtable/v2/data.ts';
import { conditionalReply, failure } from './fake-row-calls.ts';

/** What goes wrong with one request. */
export interface Mishap {
  /** Answered in place of the effect (`before`) or in place of the answer, the effect being there (`after`). */
  readonly when: 'before' | 'after';
  readonly code: StatusName;
  readonly message?: string;
}

export interface FakeTableOptions {
  readonly clock: Clock;
  /** Time until the answer; default: at once. */
  readonly delayMillis?: () => number;
  readonly mishap?: (request: CheckAndMutateRowRequest) => Mishap | undefined;
  /** Answered in place of the markers that were asked for. */
  readonly lookMishap?: (question: MarkerQuestion) => StatusName | undefined;
  /** The maxAge of the marker family: older markers are not seen any more. */
  readonly markerMaxAgeMillis?: number;
  /** Told of each request whose effects are applied here, and not of those that are received. */
  readonly onApplied?: (request: CheckAndMutateRowRequest) => void;
}

interface Row {
  /** Timestamps of the markers, in milliseconds, by identity. */
  readonly markers: Map<string, number>;
  /** Of all cells that were added to. */
  sum: bigint;
  /** Values of the cells that were set, in order. */
  readonly written: string[];
}

/**
 * One table as conditional writes see it: rows with markers, a sum that counts every effect as often as it is applied,
 * and the values in the order they came. Models what the service does and no more: a request is applied whole or not at
 * all, an answer may be lost after that, one bad mutation (a cell of value `bad`) refuses its whole request, and what
 * garbage collection may take is taken.
 */
export class FakeMarkedTable {
  readonly rows = new Map<string, Row>();
  readonly requests: CheckAndMutateRowRequest[] = [];
  readonly looks: MarkerQuestion[] = [];
  /** Breaches of what the engine promises. */
  readonly violations: string[] = [];
  mostInFlight = 0;
  readonly #options: FakeTableOptions;
  readonly #onTheWire = new Set<string>();

  constructor(options: FakeTableOptions) {
    this.#options = options;
  }

  readonly send: SendRowCall = (call: RowCall) => {
    const request = CheckAndMutateRowRequest.decode(call.request);
    const key = request.rowKey.toString();
    this.requests.push(request);
    return this.#onWire(key, () => this.#answer(request, key));
  };

  readonly readMarkers: ReadMarkers = (question) => {
    const key = question.rowKey.toString();
    this.looks.push(question);
    return this.#onWire(key, () => this.#tell(question, key));
  };

  /** Writes and looks, as the service is billed for them. */
  get calls(): number {
    return this.requests.length + this.looks.length;
  }

  get sum(): bigint {
    return [...this.rows.values()].reduce((sum, row) => sum + row.sum, 0n);
  }

  row(key: string): Row {
    let row = this.rows.get(key);
    if (!row) this.rows.set(key, (row = { markers: new Map(), sum: 0n, written: [] }));
    return row;
  }

  async #onWire<Reply>(key: string, answer: () => Reply): Promise<Reply> {
    if (this.#onTheWire.has(key)) this.violations.push(`two requests of row ${key} are in flight`);
    this.#onTheWire.add(key);
    this.mostInFlight = Math.max(this.mostInFlight, this.#onTheWire.size);
    const delayMillis = this.#options.delayMillis?.() ?? 0;
    if (delayMillis > 0) await new Promise<void>((resolve) => this.#options.clock.after(delayMillis, resolve));
    const reply = answer();
    this.#onTheWire.delete(key);
    return reply;
  }

  #tell(question: MarkerQuestion, key: string): MarkerReply {
    const code = this.#options.lookMishap?.(question);
    if (code) return { kind: 'failed', status: { code, message: 'words of the service' } };
    const { markers } = this.row(key);
    const present = question.identities.filter((identity) => this.#isThere(markers.get(identity)));
    return { kind: 'answered', present: new Set(present) };
  }

  /** What another cluster has applied: its condition is decided. */
  receive({ rowKey, predicateFilter, falseMutations }: CheckAndMutateRowRequest): void {
    const row = this.row(rowKey.toString());
    const { family } = asked(predicateFilter);
    for (const mutation of falseMutations) apply(mutation, row, family);
  }

  #answer(request: CheckAndMutateRowRequest, key: string): RowReply {
    const mishap = this.#options.mishap?.(request);
    if (mishap?.when === 'before') return failure(mishap.code, mishap.message);
    if (request.falseMutations.some(isBad)) return failure('INVALID_ARGUMENT');
    const row = this.row(key);
    const { family, identities } = asked(request.predicateFilter);
    const predicateMatched = identities.some((identity) => this.#isThere(row.markers.get(identity)));
    if (!predicateMatched) {
      for (const mutation of request.falseMutations) apply(mutation, row, family);
      this.#options.onApplied?.(request);
    }
    if (mishap) return failure(mishap.code, mishap.message);
    return conditionalReply(predicateMatched);
  }

  /** Collected as soon as it may be: the service may keep it longer, and then nothing can go wrong. */
  #isThere(stampedAt: number | undefined): boolean {
    const { clock, markerMaxAgeMillis } = this.#options;
    if (stampedAt === undefined) return false;
    return markerMaxAgeMillis === undefined || clock.now() - stampedAt <= markerMaxAgeMillis;
  }
}

/** The family and identities of a marker predicate, read as text: the patterns are plain but for quoted points. */
function asked(filter: RowFilter | undefined): { family: string; identities: readonly string[] } {
  const [family, qualifier] = filter?.filter?.$case === 'chain' ? filter.filter.value.filters : [];
  if (family?.filter?.$case !== 'familyNameRegexFilter' || qualifier?.filter?.$case !== 'columnQualifierRegexFilter') {
    throw new Error('a conditional write must ask for its marker');
  }
  return {
    family: family.filter.value.replaceAll('\\', ''),
    identities: qualifier.filter.value.toString('latin1').split('|'),
  };
}

function apply({ mutation }: Mutation, row: Row, markerFamily: string): void {
  if (mutation?.$case === 'addToCell' && mutation.value.input?.kind?.$case === 'intValue') {
    row.sum += mutation.value.input.kind.value;
  }
  if (mutation?.$case !== 'setCell') return;
  const { familyName, columnQualifier, timestampMicros, value } = mutation.value;
  if (familyName === markerFamily) row.markers.set(columnQualifier.toString(), Number(timestampMicros / 1000n));
  else row.written.push(value.toString());
}

const isBad = ({ mutation }: Mutation): boolean =>
  mutation?.$case === 'setCell' && mutation.value.value.toString() === 'bad';
