import fc from 'fast-check';
import { expect, test } from 'vitest';
import type {
  ChangeStream,
  OpenRead,
} from '../../../../../../infra/local/servers/bigtable/change-stream/change-stream.ts';
import { changeTopology } from '../../../../../../infra/local/servers/bigtable/change-stream/seeded-topology.ts';
import type { Span } from '../../../../../../infra/local/servers/bigtable/change-stream/span.ts';
import {
  joinPositions,
  type OfferedToken,
} from '../../../../../../infra/local/servers/bigtable/change-stream/tokens.ts';
import { seededTrouble } from '../../../../../../infra/local/servers/bigtable/change-stream/trouble.ts';
import {
  ReadChangeStreamResponse_DataChange_Type,
  type ReadChangeStreamResponse_DataChange,
} from '../../../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import type { Random } from '../../../../../../shared/base/random.ts';
import {
  drain,
  lastToken,
  localStream,
  SECOND,
  START,
  successors,
  write,
} from '../../../../../support/local-stream.ts';
import { seededRandom } from '../../../../../support/seeded-random.ts';

const KEYS = 'abcdefghijklmnop'.split('');

/** A partition that is read, or waits for the tokens of its other parents. */
interface Held {
  readonly span: Span;
  readonly tokens: OfferedToken[];
  read?: OpenRead;
  begun?: string;
}

/** A reader as a client is one: it knows partitions, tokens and responses, and nothing of the stream behind them. */
class Follower {
  readonly seen: string[] = [];
  readonly #stream: ChangeStream;
  readonly #random: Random;
  #held: Held[];

  constructor(stream: ChangeStream, random: Random, now: bigint) {
    this.#stream = stream;
    this.#random = random;
    // The first heartbeat's token: from a time alone, a partition that has come back since is read as it is now.
    this.#held = stream.partitions().map((span) => {
      const read = stream.open({ span, from: { startTime: START } }, START);
      const [heartbeat] = drain(read, now).responses;
      return { span, read, tokens: [{ span, text: lastToken([heartbeat!])! }] };
    });
  }

  /** Reads some responses of one partition, and sometimes loses the call between two of them. */
  step(now: bigint, most: number): boolean {
    const ready = this.#held.filter((held) => held.read ?? covers(held));
    const held = ready[Math.floor(this.#random() * ready.length)];
    if (!held) return false;
    held.read ??= this.#stream.open({ span: held.span, from: { tokens: held.tokens } }, now);
    for (let count = 0; count < most; count += 1) {
      const step = held.read.next(now);
      if (step.kind === 'nothing') return false;
      if (step.kind === 'end') {
        delete held.read;
        return true;
      }
      const { response } = step;
      const next = successors(response);
      // Some closes never arrive: they must be given once more to who opens the partition anew.
      if (next && this.#random() < 0.3) {
        delete held.read;
        return true;
      }
      if (next?.length === 0) {
        delete held.read;
        return true;
      }
      if (next) {
        this.#close(held, next);
        return true;
      }
      if (response.streamRecord?.$case === 'dataChange') this.#gather(held, response.streamRecord.value);
      const text = lastToken([response]);
      if (text !== undefined) held.tokens.splice(0, Infinity, { span: held.span, text });
    }
    return true;
  }

  /** A change counts when it is whole. */
  #gather(held: Held, part: ReadChangeStreamResponse_DataChange): void {
    if (part.type !== ReadChangeStreamResponse_DataChange_Type.CONTINUATION) held.begun = idOf(part);
    if (part.done && held.begun !== undefined) this.seen.push(held.begun);
  }

  #close(held: Held, next: NonNullable<ReturnType<typeof successors>>): void {
    this.#held = this.#held.filter((each) => each !== held);
    for (const { target, token } of next) {
      const waiting = this.#held.find(
        (each) => !each.read && each.span.start === target.start && each.span.end === target.end && !covers(each),
      );
      if (waiting) waiting.tokens.push(token);
      else this.#held.push({ span: target, tokens: [token] });
    }
  }
}

const covers = ({ span, tokens }: Held): boolean =>
  joinPositions(
    span,
    tokens.map((token) => ({ span: token.span, pieces: [], change: 0, since: 0n, at: 0n })),
  ) !== undefined;

const idOf = ({ rowKey, tiebreaker, commitTimestamp }: ReadChangeStreamResponse_DataChange): string =>
  `${rowKey.toString()} ${commitTimestamp?.seconds}.${commitTimestamp?.nanos} ${tiebreaker}`;

test('who follows tokens through splits, merges, moved boundaries, failures and lost closes sees every record once, and those of a row in order', () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const random = seededRandom(seed);
      const stream = localStream({ boundaries: ['f', 'k'] });
      let now = START + 5n * SECOND;
      const follower = new Follower(stream, random, now);
      for (let at = 0; at < 300; at += 1) {
        if (random() < 0.3) now += BigInt(Math.floor(random() * 4)) * SECOND;
        const choice = random();
        if (choice < 0.4) write(stream, KEYS[Math.floor(random() * KEYS.length)]!, now);
        else if (choice < 0.5) changeTopology(stream, random, KEYS, now);
        else if (choice < 0.55) stream.troubles.add(seededTrouble(random));
        else follower.step(now, 1 + Math.floor(random() * 5));
      }
      stream.troubles.clear();
      now += 200n * SECOND;
      for (let quiet = 0; quiet < 200; quiet = follower.step(now, 100) ? 0 : quiet + 1) now += 1n;
      const log = stream.log.records().map(({ rowKey, commitTime, tieBreaker }) => ({
        rowKey,
        id: `${rowKey} ${commitTime / SECOND}.${commitTime % SECOND} ${tieBreaker}`,
      }));
      expect(follower.seen.toSorted()).toEqual(log.map(({ id }) => id).toSorted());
      for (const key of KEYS) {
        expect(follower.seen.filter((id) => id.startsWith(`${key} `))).toEqual(
          log.filter(({ rowKey }) => rowKey === key).map(({ id }) => id),
        );
      }
    }),
    { numRuns: 300 },
  );
});

test('whatever happens by seed, the partitions tile the key space', () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const random = seededRandom(seed);
      const stream = localStream();
      for (let at = 0; at < 50; at += 1) changeTopology(stream, random, KEYS, START);
      const { partitions } = stream.topology;
      expect(partitions.map(({ start }) => start)).toEqual(['', ...partitions.slice(0, -1).map(({ end }) => end)]);
      expect(partitions.at(-1)?.end).toBe('');
    }),
    { numRuns: 100 },
  );
});
