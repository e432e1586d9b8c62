import type { Backlog, CheckpointState, PipelineState, SegmentHead } from '../../../shared/staged/state.ts';
import { textTable } from '../../../shared/base/text-table.ts';
import { isUnattended, type PipelineFacts } from './facts.ts';

/** The report of one pipeline as lines of text. Pure. */
export function statusReport(facts: PipelineFacts, now: number): string {
  const { pipeline, state, staged, checkpoints, problems } = facts;
  return [
    `${pipeline}: ${state ? coordinatorText(state, now) : 'no coordinator has run yet'}`,
    ...(isUnattended(facts, now)
      ? [
          '  nobody ticks it, so nothing that is staged becomes visible: is the scheduler job of coordinate there, and not paused?',
        ]
      : []),
    ...(state ? [`  uncommitted: ${backlogText(state.backlog)}, counted ${ago(state.countedAt, now)}`] : []),
    `  staged, not in a checkpoint: ${backlogText(staged)}`,
    ...(checkpoints.length > 0 ? [indented(checkpointTable(checkpoints, now))] : ['  no checkpoint yet']),
    ...(problems.length > 0 ? ['  given back by a committer:', indented(problemTable(problems, now))] : []),
  ].join('\n');
}

const coordinatorText = ({ lease }: PipelineState, now: number): string =>
  lease.owner === ''
    ? `no coordinator at the moment (epoch ${lease.epoch}, given back ${ago(lease.expiresAt, now)})`
    : `coordinator ${lease.owner} (epoch ${lease.epoch}, lease ${lease.expiresAt < now ? `ran out ${ago(lease.expiresAt, now)}` : `for ${duration(lease.expiresAt - now)} more`})`;

const backlogText = ({ segments, envelopes, bytes }: Backlog): string =>
  `${counted(envelopes, 'envelope')} in ${counted(segments, 'segment')}, ${size(bytes)}`;

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

const checkpointTable = (checkpoints: readonly CheckpointState[], now: number): string =>
  textTable([
    ['CHECKPOINT', 'STATE', 'SEGMENTS', 'ENVELOPES', 'STAGED→COMPLETED', 'COMPLETED→COMMITTED', 'VISIBLE AFTER'],
    ...checkpoints.map((checkpoint) => checkpointRow(checkpoint, now)),
  ]);

function checkpointRow(checkpoint: CheckpointState, now: number): string[] {
  const { number, segments, remainingSegments, envelopes, oldestStagedAt, completedAt, committedAt } = checkpoint;
  const isOpen = committedAt === undefined;
  const end = committedAt ?? now;
  const unfinished = isOpen ? '…' : '';
  return [
    String(number),
    isOpen ? `${segments - remainingSegments} of ${segments} done` : 'committed',
    String(segments),
    String(envelopes),
    duration(completedAt - oldestStagedAt),
    `${duration(end - completedAt)}${unfinished}`,
    `${duration(end - oldestStagedAt)}${unfinished}`,
  ];
}

const problemTable = (problems: readonly SegmentHead[], now: number): string =>
  textTable([
    ['SEGMENT', 'CHECKPOINT', 'ENVELOPES', 'ATTEMPTS', 'STAGED', 'PROBLEM'],
    ...problems.map(({ id, checkpoint, envelopes, lease, stagedAt, problem = '' }) => [
      id,
      String(checkpoint ?? ''),
      String(envelopes),
      String(lease?.attempts ?? 0),
      ago(stagedAt, now),
      problem,
    ]),
  ]);

const indented = (text: string): string =>
  text
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');

const ago = (at: number, now: number): string => `${duration(now - at)} ago`;

/** Clocks differ a little: what seems to lie ahead is now. */
function duration(millis: number): string {
  const seconds = Math.max(0, millis) / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
