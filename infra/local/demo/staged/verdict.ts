import { atLeast, exactly, type Check } from '../base/verdict.ts';
import type { MarkedTable } from './read-back.ts';
import type { Truth } from './truth.ts';

export type StagedTables = Readonly<Record<keyof Truth['tables'], MarkedTable>>;

/** What happened, from every side that can see some of it. */
export interface StagedObserved {
  /** Publishes that were confirmed, copies counted. */
  readonly messages: number;
  /** Messages that are not acknowledged. */
  readonly waitingMessages: number;
  readonly segments: number;
  readonly openCheckpoints: number;
  readonly tables: StagedTables;
  /** Conditional writes that were applied and not answered when their committer was killed. */
  readonly unanswered: number;
  /** What the functions counted. */
  readonly deduplicated: number;
  /** Pipelines that a coordinator left to another that was at work. */
  readonly held: number;
}

/** Holds what happened against what must have. Pure. */
export function judgeStaged(truth: Truth, messages: number, observed: StagedObserved): Check[] {
  return [
    exactly('messages published, copies counted', observed.messages, messages),
    exactly('messages left', observed.waitingMessages, 0),
    exactly('segments left', observed.segments, 0),
    exactly('checkpoints not committed', observed.openCheckpoints, 0),
    ...(['airports', 'departures'] as const).flatMap((name) => {
      const { rowsRead, rowsExpected, missingRows, unexpectedRows, differentCells, markers } = observed.tables[name];
      return [
        exactly(`${name}: rows read back`, rowsRead, rowsExpected),
        exactly(`${name}: rows missing or unexpected`, missingRows + unexpectedRows, 0),
        exactly(`${name}: cells different`, differentCells, 0),
        exactly(`${name}: markers`, markers, truth.effects),
      ];
    }),
    exactly('pipelines that a second coordinator left alone', observed.held, 2),
    atLeast('effects found applied already', observed.deduplicated, observed.unanswered),
  ];
}
