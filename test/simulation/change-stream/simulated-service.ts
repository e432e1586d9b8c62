import { onAbort } from '../../../shared/base/abort.ts';
import type { Clock } from '../../../shared/base/clock.ts';
import type { Random } from '../../../shared/base/random.ts';
import type { Token } from '../../../shared/change-stream/ledger/partition.ts';
import type {
  ChangeMessage,
  ChangeMessages,
  ReadChangeStream,
  ReadChangeStreamCall,
} from '../../../shared/change-stream/reading/ports.ts';
import { nanosOf } from '../../../shared/change-stream/ledger/position-of.ts';
import { wirePartition, wireTime } from '../../../shared/change-stream/reading/wire-rules.ts';
import type { Nanos } from '../../../shared/model/change.ts';
import {
  containsKey,
  formatRange,
  intersect as intersectAll,
  isEmptyRange,
  type RowRange,
} from '../../../shared/model/row-range.ts';
import type { StatusName } from '../../../shared/model/status.ts';
import {
  chunk,
  closeMessage,
  continuedMessage,
  dataMessage,
  heartbeatMessage,
  openEnd,
  piece,
  rangeOf,
  setCell,
  wireToken,
} from '../../support/change-messages.ts';

/** One change of the log. The sequence numbers changes and closes together. */
export interface Logged {
  readonly sequence: number;
  readonly key: string;
  readonly commitTime: Nanos;
  readonly tieBreaker: number;
}

interface Part {
  /** The partition that goes on. */
  readonly target: RowRange;
  /** What it takes of the one that was closed. */
  readonly range: RowRange;
}

interface Closed {
  readonly range: RowRange;
  readonly at: number;
  /** Nanoseconds since the epoch. */
  readonly time: Nanos;
  readonly parts: readonly Part[];
  /** What the next reader is told in place of it. */
  fault: 'no-successors' | 'lost' | 'partial' | undefined;
}

/** What goes wrong with a stream, drawn anew at each of its messages. */
export type StreamFault =
  /** It ends with a status that passes, perhaps in the middle of a change. */
  | 'cut'
  | 'cut-inside'
  /** It ends with one that does not. */
  | 'refused'
  /** It says nothing any more. */
  | 'silence'
  /** It ends with OK and without a close. */
  | 'early-ok';

export interface SimulatedServiceOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** First keys of partitions, in order, but for the first partition. */
  readonly boundaries: readonly string[];
  readonly fault: () => StreamFault | undefined;
}

/** How far a part of a partition was read. */
interface Read {
  readonly range: RowRange;
  readonly at: number;
}

const intersect = (left: RowRange, right: RowRange): RowRange | undefined => intersectAll([left], [right])[0];

type Network = <Result>(effect: () => Promise<Result> | Result) => Promise<Result>;

const HEARTBEAT_MILLIS = 5_000;

/** The change stream of a table: a log, partitions that split, merge and move, and reads that are told how it goes on. */
export class SimulatedService {
  reads = 0;
  readonly log: Logged[] = [];
  readonly #options: SimulatedServiceOptions;
  readonly #closed: Closed[] = [];
  readonly #waiting = new Set<() => void>();
  readonly #tokens = new Map<string, { readonly range: RowRange; readonly parts: readonly Read[] }>();
  #live: RowRange[];
  #sequence = 0;

  constructor(options: SimulatedServiceOptions) {
    this.#options = options;
    const starts = ['', ...options.boundaries];
    this.#live = starts.map((start, place) => rangeOf(start, starts[place + 1] ?? ''));
  }

  get partitions(): readonly RowRange[] {
    return this.#live;
  }

  write(key: string): void {
    this.#sequence += 1;
    const commitTime = nanosOf(this.#options.clock.now());
    const last = this.log.at(-1);
    const tieBreaker = last?.commitTime === commitTime ? last.tieBreaker + 1 : 0;
    this.log.push({ sequence: this.#sequence, key, commitTime, tieBreaker });
    this.#wake();
  }

  split(place: number, key: string): void {
    const range = this.#live[place];
    if (!range || !containsKey(range, Buffer.from(key))) return;
    const left = intersect(range, rangeOf('', key));
    const right = intersect(range, rangeOf(key, ''));
    if (!left || !right || isEmptyRange(left)) return;
    this.#become(place, 1, [left, right]);
  }

  merge(place: number): void {
    const [left, right] = [this.#live[place], this.#live[place + 1]];
    if (left && right) this.#become(place, 2, [{ start: left.start, end: right.end }]);
  }

  /** Two neighbours meet at another key from now on. */
  shift(place: number, key: string): void {
    const [left, right] = [this.#live[place], this.#live[place + 1]];
    if (!left || !right) return;
    const both = { start: left.start, end: right.end };
    if (!containsKey(both, Buffer.from(key))) return;
    const [first, second] = [intersect(both, rangeOf('', key)), intersect(both, rangeOf(key, ''))];
    if (!first || !second || isEmptyRange(first)) return;
    this.#become(place, 2, [first, second]);
  }

  move(place: number): void {
    const range = this.#live[place];
    if (range) this.#become(place, 1, [range]);
  }

  /** What the next reader of the last close is told in place of it. */
  spoilClose(fault: Closed['fault']): void {
    const last = this.#closed.at(-1);
    if (last) last.fault = fault;
  }

  /** As a process reads, which may die at every message. @param network takes each message there and back. */
  readAs(network: Network): ReadChangeStream {
    return (call) => {
      this.reads += 1;
      return new SimulatedRead(call, this, this.#options, network);
    };
  }

  /** Where a read begins: how far each part of its range was read. Undefined: the service refuses the tokens. */
  begin({ range, position }: ReadChangeStreamCall): readonly Read[] | undefined {
    if (position.tokens.length === 0) {
      const { lowWatermark } = position;
      const change = this.log.find(({ commitTime }) => commitTime >= lowWatermark)?.sequence ?? Infinity;
      const close = this.#closed.find(({ time }) => time >= lowWatermark)?.at ?? Infinity;
      return [{ range, at: Math.min(change, close, this.#sequence + 1) - 1 }];
    }
    if (!tiles(range, position.tokens)) return undefined;
    const parts: Read[] = [];
    for (const token of position.tokens) {
      const issued = this.#tokens.get(token.token);
      // A token is good for its partition alone.
      if (!issued || formatRange(issued.range) !== formatRange(token.range)) return undefined;
      parts.push(...issued.parts);
    }
    return parts;
  }

  /** A token of a partition that says how far each part of it was read. */
  issue(range: RowRange, parts: readonly Read[]): string {
    const token = `token-${this.#tokens.size}`;
    this.#tokens.set(token, { range, parts });
    return token;
  }

  nextAfter(parts: readonly Read[], before: number): Logged | undefined {
    return this.log.find(
      ({ sequence, key }) =>
        sequence < before && parts.some(({ range, at }) => sequence > at && containsKey(range, Buffer.from(key))),
    );
  }

  /** Where the partition ends, for who has read so far; undefined: it goes on. */
  closeOf(range: RowRange, at: number): Closed | undefined {
    const name = formatRange(range);
    const closed = this.#closed.find((one) => one.at > at && formatRange(one.range) === name);
    if (closed || this.#live.some((one) => formatRange(one) === name)) return closed;
    // Nobody's partition: whoever reads it is given what is there up to now, and then told whose it is.
    const parts = this.#live.flatMap((target) => {
      const part = intersect(range, target);
      return part && !isEmptyRange(part) ? [{ target, range: part }] : [];
    });
    const time = nanosOf(this.#options.clock.now());
    return { range, at: Math.max(at, this.#sequence) + 0.5, time, parts, fault: undefined };
  }

  /** Resolves with the next change of anything, or after so long. */
  changed(millis: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#waiting.delete(done);
        cancel();
        resolve();
      };
      const cancel = this.#options.clock.after(millis, done);
      this.#waiting.add(done);
    });
  }

  #become(place: number, count: number, targets: RowRange[]): void {
    this.#sequence += 1;
    for (const range of this.#live.slice(place, place + count)) {
      const parts = targets.flatMap((target) => {
        const part = intersect(range, target);
        return part && !isEmptyRange(part) ? [{ target, range: part }] : [];
      });
      const time = nanosOf(this.#options.clock.now());
      this.#closed.push({ range, at: this.#sequence, time, parts, fault: undefined });
    }
    this.#live = [...this.#live.slice(0, place), ...targets, ...this.#live.slice(place + count)];
    this.#wake();
  }

  #wake(): void {
    for (const done of [...this.#waiting]) done();
  }
}

class SimulatedRead implements ChangeMessages {
  readonly #call: ReadChangeStreamCall;
  readonly #service: SimulatedService;
  readonly #options: SimulatedServiceOptions;
  readonly #network: Network;
  readonly #cancelled = Promise.withResolvers<ChangeMessage>();
  #parts: readonly Read[] | undefined;
  readonly #forgets: readonly (() => void)[];
  #end: ChangeMessage | undefined;
  /** The second half of a change. */
  #rest: Buffer | undefined;
  #hasClosed = false;

  constructor(
    call: ReadChangeStreamCall,
    service: SimulatedService,
    options: SimulatedServiceOptions,
    network: Network,
  ) {
    this.#call = call;
    this.#service = service;
    this.#options = options;
    this.#network = network;
    this.#parts = service.begin(call);
    this.#forgets = call.signals.map((signal) =>
      onAbort(signal, () => {
        this.#cancel();
      }),
    );
  }

  async next(): Promise<ChangeMessage> {
    if (this.#end) return this.#end;
    const told = this.#network(() => this.#message());
    const message = await Promise.race([told, this.#cancelled.promise]);
    if (message.kind !== 'message') this.#finish(message);
    // Cancelled meanwhile: an end stays the end.
    return this.#ended() ?? message;
  }

  close(): Promise<void> {
    this.#cancel();
    return Promise.resolve();
  }

  #cancel(): void {
    this.#finish(failed('CANCELLED'));
    this.#cancelled.resolve(failed('CANCELLED'));
  }

  /** Asked anew after every wait. */
  #ended(): ChangeMessage | undefined {
    return this.#end;
  }

  #finish(end: ChangeMessage): void {
    this.#end ??= end;
    for (const forget of this.#forgets) forget();
  }

  async #message(): Promise<ChangeMessage> {
    const parts = this.#parts;
    if (!parts) return failed('INVALID_ARGUMENT');
    // The call ends behind a close, and may fail there too.
    if (this.#hasClosed) return this.#options.fault() ? failed('UNAVAILABLE') : { kind: 'finished' };
    if (this.#rest) {
      const rest = this.#rest;
      this.#rest = undefined;
      return { kind: 'message', message: rest };
    }
    const { range, endTime } = this.#call;
    const { clock, fault } = this.#options;
    for (const latest = clock.now() + HEARTBEAT_MILLIS; ;) {
      const read = Math.max(...parts.map(({ at }) => at));
      const closed = this.#service.closeOf(range, read);
      const next = this.#service.nextAfter(parts, closed?.at ?? Infinity);
      const drawn = fault();
      if (drawn === 'silence') await new Promise<void>(() => undefined);
      if (drawn === 'cut') return failed('UNAVAILABLE');
      if (drawn === 'refused') return failed('INTERNAL');
      if (drawn === 'early-ok') return { kind: 'finished' };
      const isAtEnd = (time: Nanos): boolean => endTime !== undefined && time >= endTime;
      if (isAtEnd(next?.commitTime ?? closed?.time ?? nanosOf(clock.now()))) {
        this.#hasClosed = true;
        return { kind: 'message', message: closeMessage({ status: { code: 0, message: '', details: [] } }) };
      }
      if (next) return this.#give(next, parts, closed, drawn === 'cut-inside');
      if (closed) return this.#close(closed);
      if (clock.now() >= latest) {
        return {
          kind: 'message',
          message: heartbeatMessage(this.#service.issue(range, parts), this.#lowWatermark(parts, undefined)),
        };
      }
      await this.#service.changed(latest - clock.now());
    }
  }

  #give(
    { sequence, key, commitTime, tieBreaker }: Logged,
    before: readonly Read[],
    closed: Closed | undefined,
    isCut: boolean,
  ): ChangeMessage {
    const parts = before.map(({ range, at }) => ({ range, at: Math.max(at, sequence) }));
    this.#parts = parts;
    const value = `${key}@${sequence}`;
    const head = { rowKey: Buffer.from(key), commitTimestamp: wireTime(commitTime), tiebreaker: tieBreaker };
    const told = {
      token: this.#service.issue(this.#call.range, parts),
      estimatedLowWatermark: wireTime(this.#lowWatermark(parts, closed)),
    };
    if (!isCut && this.#options.random() < 0.8) {
      return { kind: 'message', message: dataMessage({ ...head, ...told, chunks: [chunk(setCell('f', 'q', value))] }) };
    }
    const half = Math.ceil(value.length / 2);
    const first = dataMessage({ ...head, ...openEnd, chunks: [piece(value.slice(0, half), 0, value.length)] });
    if (!isCut) {
      this.#rest = continuedMessage({
        ...told,
        chunks: [piece(value.slice(half), half, value.length, true)],
      });
    }
    return { kind: 'message', message: first };
  }

  #close(closed: Closed): ChangeMessage {
    const { fault } = closed;
    closed.fault = undefined;
    if (fault === 'lost') return failed('UNAVAILABLE');
    this.#hasClosed = true;
    if (fault === 'no-successors') return { kind: 'message', message: closeMessage({ ...WITH_TOKENLESS_STATUS }) };
    const at = Math.floor(closed.at);
    const tokens = [...closed.parts];
    // Of a token that is lost nobody hears any more: what it was for is to be recovered.
    if (fault === 'partial' && tokens.length > 1) tokens.pop();
    return {
      kind: 'message',
      message: closeMessage({
        continuationTokens: tokens.map(({ range }) => wireToken(range, this.#service.issue(range, [{ range, at }]))),
        newPartitions: tokens.map(({ target }) => wirePartition(target)),
      }),
    };
  }

  /** Nothing that was committed before it is still to come, here or in what comes after the close. */
  #lowWatermark(parts: readonly Read[], closed: Closed | undefined): Nanos {
    const next = this.#service.nextAfter(parts, closed?.at ?? Infinity);
    return next?.commitTime ?? closed?.time ?? nanosOf(this.#options.clock.now());
  }
}

const WITH_TOKENLESS_STATUS = { status: { code: 11, message: 'the partition ended', details: [] } };

function tiles(range: RowRange, tokens: readonly Token[]): boolean {
  const inOrder = tokens.map((token) => token.range).toSorted((left, right) => compare(left, right));
  const [first, last] = [inOrder[0], inOrder.at(-1)];
  if (!first || !last) return false;
  if (formatRange({ start: first.start, end: last.end }) !== formatRange(range)) return false;
  return inOrder.every((one, place) => {
    const next = inOrder[place + 1];
    return !next || (one.end.kind === 'open' && next.start.kind === 'closed' && one.end.key.equals(next.start.key));
  });
}

const keyOf = ({ start }: RowRange): Buffer => (start.kind === 'unbounded' ? Buffer.alloc(0) : start.key);
const compare = (left: RowRange, right: RowRange): number => Buffer.compare(keyOf(left), keyOf(right));

const failed = (code: StatusName): ChangeMessage => ({ kind: 'failed', status: { code, message: 'simulated' } });
