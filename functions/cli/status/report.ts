import type { Amount, CheckpointState, PipelineState, RestHead, SegmentHead } from '../../../shared/staged/state.ts';
import { textTable } from '../../../shared/base/text-table.ts';
import { ago, counted, duration, grouped, indented, size } from '../amounts.ts';
import { isUnattended, type PipelineFacts } from './facts.ts';

/** The report of one pipeline as lines of text. Pure. */
export function statusReport(facts: PipelineFacts, now: number): string {
  const { pipeline, state, backlog, rests, checkpoints, oldest, setApart } = facts;
  return [
    `${pipeline}: ${state ? coordinatorText(state, now) : 'no coordinator has run yet'}`,
    ...(isUnattended(facts, now)
      ? [
          '  nobody ticks it, so nothing that is staged becomes visible: is the scheduler job of coordinate there, and not paused?',
        ]
      : []),
    ...(state ? [`  ${progressText(state, now)}`] : []),
    `  not in their rows yet: ${amountText(backlog)}`,
    ...(oldest ? [`  ${oldestText(oldest, now)}`] : []),
    ...(checkpoints.length > 0 ? [indented(checkpointTable(checkpoints, state, now))] : ['  no checkpoint yet']),
    ...(setApart.length > 0
      ? [`  set apart, and tried again: ${amountText(rests)}`, indented(restTable(setApart, now))]
      : []),
  ].join('\n');
}

const progressText = ({ completed, committed, lastCompletedAt }: PipelineState, now: number): string =>
  completed === 0
    ? 'no checkpoint is complete yet'
    : `completed ${completed} ${ago(lastCompletedAt, now)}, committed ${committed ?? 'not known yet'}`;

const oldestText = ({ id, createdAt, number }: SegmentHead, now: number): string =>
  `oldest of a completed checkpoint: ${id}, stored ${ago(createdAt, now)}${number > 0 ? '' : ', of an earlier format'}`;

const coordinatorText = ({ lease }: PipelineState, now: number): string =>
  lease.owner === ''
    ? `no coordinator at the moment (epoch ${lease.epoch}, given back ${ago(lease.expiresAt, now)})`
    : `coordinator ${lease.owner} (epoch ${lease.epoch}, lease ${lease.expiresAt < now ? `ran out ${ago(lease.expiresAt, now)}` : `for ${duration(lease.expiresAt - now)} more`})`;

const amountText = ({ segments, envelopes, bytes }: Amount): string =>
  `${counted(envelopes, 'envelope')} in ${counted(segments, 'segment')}, ${size(bytes)}`;

const checkpointTable = (
  checkpoints: readonly CheckpointState[],
  state: PipelineState | undefined,
  now: number,
): string =>
  textTable([
    ['CHECKPOINT', 'STATE', 'SEGMENTS', 'ENVELOPES', 'STAGED→COMPLETED', 'COMPLETED→COMMITTED', 'VISIBLE AFTER'],
    ...checkpoints.map((checkpoint) => checkpointRow(checkpoint, state?.committed ?? 0, now)),
  ]);

function checkpointRow(checkpoint: CheckpointState, committed: number, now: number): string[] {
  const { number, amount, oldestStagedAt, completedAt, sentAt, committedAt } = checkpoint;
  const isOpen = committedAt === undefined && number > committed;
  const end = committedAt ?? now;
  const unfinished = isOpen ? '…' : '';
  return [
    String(number),
    isOpen ? (sentAt === undefined ? 'completed' : 'sent') : 'committed',
    `about ${grouped(amount.segments)}`,
    `about ${grouped(amount.envelopes)}`,
    duration(completedAt - oldestStagedAt),
    `${duration(end - completedAt)}${unfinished}`,
    `${duration(end - oldestStagedAt)}${unfinished}`,
  ];
}

const restTable = (rests: readonly RestHead[], now: number): string =>
  textTable([
    ['SEGMENT', 'ENVELOPES', 'ATTEMPTS', 'STAGED', 'NEXT ATTEMPT', 'PROBLEM'],
    ...rests.map(({ id, envelopes, attempts, stagedAt, tryAt, problem }) => [
      id,
      grouped(envelopes),
      String(attempts),
      ago(stagedAt, now),
      tryAt <= now ? 'now' : `in ${duration(tryAt - now)}`,
      problem,
    ]),
  ]);
