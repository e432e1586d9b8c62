import { textTable } from '../../../../shared/base/text-table.ts';
import { DEPARTURES } from '../base/departures.ts';
import type { Platform } from '../base/platform.ts';
import { count, describeChecks, introduction } from '../base/report.ts';
import { type Check, conclude } from '../base/verdict.ts';
import type { Checkpoint } from './checkpoints.ts';
import { departuresOf, effectsOf, refusedBy, remarksOf, type StagedPlan } from './plan.ts';
import type { Trouble } from './trouble.ts';
import { type Truth, TABLES } from './truth.ts';
import type { StagedObserved } from './verdict.ts';

/** The words of the run: what it is about to do, and what came of it. */

export function introduceStaged({ cloud, connector }: Platform, plan: StagedPlan, truth: Truth): string {
  const departures = departuresOf(plan);
  const messages = [...departures, ...remarksOf(plan)];
  const twice = messages.filter(({ copies }) => copies === 2);
  const once = twice.filter((message) => effectsOf(message) === 1);
  return introduction(DEPARTURES.title, cloud, connector.functions, [
    `${count(messages.length)} messages. ${once.length} are published twice under one id and count once; ${twice.length - once.length} twice without an id and count twice.`,
    `Records must count, each once, whatever goes wrong: ${TABLES.map((name) => `${count(truth[name].effects)} in ${name}`).join(', ')}.`,
    `Bigtable refuses ${count(refusedBy('airports', departures))} records of airports, which become dead letters, and one in every message of flights, ${count(refusedBy('flights', departures))},`,
    `which stay set apart: that pipeline fails what is refused. Half of remarks comes before a column family that ${count(refusedBy('remarks', plan.early))} of its records name.`,
  ]);
}

export interface StagedReport {
  readonly checks: readonly Check[];
  readonly checkpoints: readonly Checkpoint[];
  readonly observed: Pick<StagedObserved, 'letters' | 'forever' | 'withoutFamily'>;
  readonly trouble: Trouble;
  readonly platform: Platform;
}

export function describeStaged({ checks, checkpoints, observed, trouble, platform }: StagedReport): string {
  const { metrics, servers } = platform;
  const { bigtable, firestore } = servers;
  const { letters, forever, withoutFamily } = observed;
  const writes = bigtable.requestCounts().CheckAndMutateRow ?? 0;
  const { reads, writes: stored, deletes } = firestore.billed();
  return [
    '',
    textTable(
      [
        ['pipeline', 'checkpoint', 'segments', 'envelopes', 'completed → committed, ms', 'staged → committed, ms'],
        ...checkpoints.map((one) => [
          ...[one.pipeline, String(one.number), count(one.segments), count(one.envelopes)],
          ...[count(committedAt(one) - one.completedAt), count(committedAt(one) - one.stagedAt)],
        ]),
      ],
      { numbersToTheRight: true },
    ),
    '',
    `time to visibility (oldest envelope staged → last one committed): ${visibility(checkpoints)}`,
    '',
    'What went wrong, on purpose:',
    ...trouble.counts().map(([what, times]) => `  ${count(times)} ${what}`),
    'What came of records that were refused (a message that is delivered again brings its record again):',
    `  ${count(letters.copies)} dead letters of airports, about ${count(letters.refused)} records`,
    `  ${count(forever.copies)} records of flights set apart, ${count(forever.refused)} of them different; they stay until their cause is fixed`,
    `  ${count(withoutFamily.copies)} records of remarks set apart until their family was there, ${count(withoutFamily.refused)} of them different`,
    'What the functions counted (a process that is killed takes its last second with it):',
    `  ${count(metrics.total('envelopesStaged'))} envelopes staged in ${count(metrics.total('segmentsStaged'))} segments; ${count(metrics.total('requestsDeduplicated'))} found applied already`,
    `  ${count(writes)} conditional writes; ${count(metrics.total('coalescedWrites'))} envelopes shared theirs with others of their row; ${count(metrics.total('writesRetried'))} were sent again`,
    `  ${count(metrics.total('checkpointsResent'))} checkpoints sent again by the coordinator`,
    `  ${count(metrics.total('envelopesSetApart'))} envelopes set apart; ${count(metrics.total('restsFinished'))} segments of which nothing is set apart any more`,
    `  Firestore would have billed ${count(reads)} reads, ${count(stored)} writes, ${count(deletes)} deletes`,
    '',
    describeChecks(checks),
    conclude(checks),
    '',
  ].join('\n');
}

const committedAt = ({ committedAt: at, completedAt }: Checkpoint): number => at ?? completedAt;
const millisText = (millis: number): string => `${count(millis)} ms`;

function visibility(checkpoints: readonly Checkpoint[]): string {
  const sorted = checkpoints.map((one) => committedAt(one) - one.stagedAt).toSorted((left, right) => left - right);
  const median = sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
  return `p50 ${millisText(median)}, max ${millisText(sorted.at(-1) ?? 0)}`;
}
