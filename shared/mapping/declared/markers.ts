import { memberPath, type Report } from './problems.ts';
import type { ResolvedMutation, ResolvedWrite, WriteMode } from './resolved.ts';

/** What a mapping must leave alone where a marker in the row says that a record was applied. Pure. */

/** Why no marker can protect a mode, or undefined. The service has to test the marker and write in one atomic step. */
export function protectedModeProblem(mode: WriteMode): string | undefined {
  switch (mode) {
    case 'append':
    case 'increment':
      return 'cannot be protected from replays: a read-modify-write request takes no marker. Count in a family of an aggregate type with the mode aggregate, or leave replayProtection out';
    case 'upsert':
    case 'keep-latest':
      return 'must be a mode of request-sink (insert-if-absent, replace-if-newest, aggregate, conditional), or the pipeline a staged-sink';
    case 'aggregate':
    case 'insert-if-absent':
    case 'replace-if-newest':
    case 'conditional':
      return undefined;
    default:
      return mode satisfies never;
  }
}

/** Problems of a write beside markers: their family is the sink's alone, and a deleted row would forget them. */
export function addMarkerProblems(
  write: ResolvedWrite,
  markerFamily: string,
  mappingPath: string,
  report: Report,
): void {
  const rule = 'must not be the family of the markers';
  if (write.mode !== 'conditional') {
    if (!write.families.some(({ family }) => family === markerFamily)) return;
    report.add(memberPath(mappingPath, 'families', markerFamily), rule, markerFamily);
    return;
  }
  const { then, otherwise } = write.conditional;
  const path = memberPath(mappingPath, 'conditional');
  if (then.length > 0) {
    const reason =
      'must be empty with replayProtection: the service cannot test the predicate and the marker in one step. Write what is to happen once in otherwise, or leave replayProtection out';
    report.add(memberPath(path, 'then'), reason, then);
  }
  for (const [index, mutation] of otherwise.entries()) {
    const at = memberPath(path, 'otherwise', index);
    if (mutation.kind === 'delete-row') {
      report.add(at, 'must not delete the row with replayProtection: its markers live in the row', mutation.kind);
    } else if (familyOf(mutation) === markerFamily) {
      report.add(at, rule, markerFamily);
    }
  }
}

const familyOf = (mutation: Exclude<ResolvedMutation, { readonly kind: 'delete-row' }>): string =>
  mutation.kind === 'delete-family' ? mutation.family : mutation.column.family;
