import { atLeast, atMost, exactly, type Check } from '../base/verdict.ts';
import { copiesOf, departuresOf, effectsOf, refusedBy, remarksOf, type StagedPlan } from './plan.ts';
import type { MarkedTable } from './read-back.ts';
import type { Tally } from './tally.ts';
import { type TableId, TABLES, type Truth } from './truth.ts';

export type StagedTables = Readonly<Record<TableId, MarkedTable>>;

/** What happened, from every side that can see some of it. */
export interface StagedObserved {
  /** Publishes that were confirmed, copies counted. */
  readonly messages: number;
  /** Messages that are not acknowledged. */
  readonly waitingMessages: number;
  readonly segments: number;
  readonly openCheckpoints: number;
  readonly tables: StagedTables;
  /** Dead letters of `airports`. */
  readonly letters: Tally;
  /** What is set apart of `flights` at the end, and stays so until somebody decides about it. */
  readonly forever: Tally;
  /** Checkpoints of `flights` of which nothing is set apart. */
  readonly checkpointsWithoutPoison: number;
  /** What was set apart of `remarks` when the family was made. */
  readonly withoutFamily: Tally;
  /** Segments of the other pipelines of which something is set apart at the end. */
  readonly passingRests: number;
  /** Conditional writes that were applied and not answered when their committer was killed. */
  readonly unanswered: number;
  /** Requests for the hub's row, whose records all waited for the killed committer. */
  readonly hotRequests: number;
  /** What the functions counted. */
  readonly deduplicated: number;
  /** Pipelines that a coordinator left to another that was at work. */
  readonly held: number;
}

/** Effects of the hub's row. */
export const hotEffects = ({ hot }: StagedPlan): number =>
  hot.reduce((sum, message) => sum + effectsOf(message) * message.flights.length, 0);

/** Of so many effects of the hub's row there is one request at most; and so many beside, for what is delivered later. */
const EFFECTS_PER_REQUEST = 20;
const REQUESTS_BESIDE = 15;
const mostHotRequests = (plan: StagedPlan): number =>
  Math.ceil(hotEffects(plan) / EFFECTS_PER_REQUEST) + REQUESTS_BESIDE;

/** Holds what happened against what must have. Pure. */
export function judgeStaged(plan: StagedPlan, truth: Truth, observed: StagedObserved): Check[] {
  const departures = departuresOf(plan);
  const { letters, forever, withoutFamily } = observed;
  return [
    exactly('messages published, copies counted', observed.messages, copiesOf([...departures, ...remarksOf(plan)])),
    exactly('messages left', observed.waitingMessages, 0),
    exactly('segments left', observed.segments, 0),
    exactly('checkpoints not committed', observed.openCheckpoints, 0),
    ...TABLES.flatMap((name) => {
      const { rowsRead, rowsExpected, missingRows, unexpectedRows, differentCells, markers } = observed.tables[name];
      return [
        exactly(`${name}: rows read back`, rowsRead, rowsExpected),
        exactly(`${name}: rows missing or unexpected`, missingRows + unexpectedRows, 0),
        exactly(`${name}: cells different`, differentCells, 0),
        exactly(`${name}: markers`, markers, truth[name].effects),
      ];
    }),
    exactly('airports: poison records with a dead letter', letters.refused, refusedBy('airports', departures)),
    exactly('airports: dead letters of other records', letters.others, 0),
    exactly('flights: poison records set apart, and so they stay', forever.refused, refusedBy('flights', departures)),
    exactly('flights: other records set apart', forever.others, 0),
    exactly('flights: checkpoints without a poison record', observed.checkpointsWithoutPoison, 0),
    exactly('remarks: records set apart for their family', withoutFamily.refused, refusedBy('remarks', plan.early)),
    exactly('remarks: other records set apart', withoutFamily.others, 0),
    exactly('airports, remarks: segments set apart at the end', observed.passingRests, 0),
    atMost(`requests for the hot row, ${hotEffects(plan)} records`, observed.hotRequests, mostHotRequests(plan)),
    exactly('pipelines that a second coordinator left alone', observed.held, 3),
    atLeast('effects found applied already', observed.deduplicated, observed.unanswered),
  ];
}
