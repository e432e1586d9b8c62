import { tablePath, type TableName } from '../../../../shared/model/table-name.ts';
import { onTable } from '../../servers/bigtable/faults.ts';
import type { Servers } from '../base/platform.ts';

/** What goes wrong in a run, on purpose, and how often it did. */
export interface Trouble {
  /** In the order in which it is told. */
  counts(): readonly (readonly [what: string, times: number])[];
  readonly moves: number;
  readonly refusals: number;
  /** Cuts the table anew, while it is read. */
  moveTablets(): void;
  /** From now on the topic refuses what is published to it. @returns what ends that. */
  refusePublishes(): () => void;
  /** Scans are as fast as they go from now on. */
  speedUp(): void;
}

/** Tablets after a move. */
const TABLETS = 48;

/** The table is read back around the row that is too large, which is not slowed down; a scan asks for one range. */
const RANGES_AROUND = 2;

/**
 * @param topic `projects/p/topics/t`
 * @param rowsPerSecond what a stream of the table gives, so that a small one is read long enough for trouble.
 */
export function makeTrouble(
  { servers: { bigtable, pubsub } }: Servers,
  table: TableName,
  topic: string,
  rowsPerSecond: number,
): Trouble {
  const path = tablePath(table);
  const isOfTable = onTable(table.table);
  const slow = bigtable.faults.add({
    method: 'ReadRows',
    where: (request) => isOfTable(request) && (request.rows?.rowRanges.length ?? 0) < RANGES_AROUND,
    times: Infinity,
    effect: { kind: 'slow-scan', rowsPerSecond },
  });
  const trouble = { moves: 0, refusals: 0 };
  return {
    get moves() {
      return trouble.moves;
    },
    get refusals() {
      return trouble.refusals;
    },
    counts: () => [
      ['times the tablets of the table were moved, and every stream that was open broke', trouble.moves],
      ['publishes refused by the topic', trouble.refusals],
    ],
    moveTablets() {
      trouble.moves += 1;
      bigtable.moveTablets(path, boundaries(trouble.moves));
    },
    refusePublishes() {
      const rule = pubsub.faults.add({
        method: 'Publish',
        where: (request) => request.topic === topic,
        times: Infinity,
        effect: { kind: 'refuse', status: { code: 'UNAVAILABLE', message: 'the topic is away on purpose' } },
      });
      return () => {
        trouble.refusals += rule.hits;
        rule.remove();
      };
    },
    speedUp: () => {
      slow.remove();
    },
  };
}

/** Elsewhere after each move. */
const boundaries = (moves: number): Buffer[] =>
  Array.from({ length: TABLETS - 1 }, (_, index) => {
    const at = (Math.floor(((index + 1) * 256) / TABLETS) + moves) % 256;
    return Buffer.from(at.toString(16).padStart(2, '0'));
  });
