import type { FrozenRun } from '../../../shared/scan/run-options.ts';
import { bareId, projectOf } from '../../../shared/model/pubsub-name.ts';
import { commandOf } from './pipeline.ts';

/** What is said of the problem of a split or a run, and the command that fixes it. Pure. */

/** A run that has a problem. */
export interface ProblemPlace {
  readonly pipeline: string;
  readonly run: string;
  /** What the run goes by; undefined where it cannot be read. */
  readonly frozen: FrozenRun | undefined;
}

interface Fix {
  /** What is wrong, in a few words. */
  readonly cause: string;
  /** The call and the status that say so, as a problem names them. */
  readonly tells: RegExp;
  readonly fix: (frozen: FrozenRun, place: ProblemPlace) => string;
}

const tableFlags = ({ table: { project, instance } }: FrozenRun): string =>
  `--instance ${instance} --project ${project}`;

const topicOf = ({ emission: { topic = '' } }: FrozenRun): string => {
  const project = projectOf(topic);
  return `${bareId(topic)}${project === undefined ? '' : ` --project ${project}`}`;
};

/** The run keeps what it was started with: another configuration needs another run. */
const startAnew = (change: string, { pipeline, run }: ProblemPlace): string =>
  `${change}, then ${commandOf('cancel', pipeline, run)} && ${commandOf('start', pipeline)}`;

const ACCOUNT = 'serviceAccount:ACCOUNT_OF_READ_SCAN';

/** What a run can meet that nobody but people can change. The first one that a problem tells of is meant. */
export const FIXES: readonly Fix[] = [
  {
    cause: 'unknown app profile',
    tells:
      /^(ReadRows|SampleRowKeys) of \S+ ended with (NOT_FOUND|INVALID_ARGUMENT|FAILED_PRECONDITION): .*app.?profile/is,
    fix: (frozen) =>
      `gcloud bigtable app-profiles create ${frozen.appProfileId || 'default'} ${tableFlags(frozen)} --route-any --description scans`,
  },
  {
    cause: 'unknown family in a filter',
    tells: /^(ReadRows|SampleRowKeys) of \S+ ended with (NOT_FOUND|INVALID_ARGUMENT): .*famil/is,
    fix: (_frozen, place) =>
      startAnew('name families that the table has in families, excludeFamilies and filter', place),
  },
  {
    cause: 'missing table',
    tells: /^(ReadRows|SampleRowKeys) of \S+ ended with NOT_FOUND/i,
    fix: (frozen) =>
      `gcloud bigtable tables undelete ${frozen.table.table} ${tableFlags(frozen)}, within seven days of its deletion`,
  },
  {
    cause: 'missing permission on the table',
    tells: /^(ReadRows|SampleRowKeys) of \S+ ended with (PERMISSION_DENIED|UNAUTHENTICATED)/i,
    fix: (frozen) =>
      `gcloud bigtable tables add-iam-policy-binding ${frozen.table.table} ${tableFlags(frozen)} --member ${ACCOUNT} --role roles/bigtable.reader`,
  },
  {
    cause: 'missing topic',
    tells: /^Publish to \S+?:? .*NOT_FOUND/is,
    fix: (frozen) =>
      `gcloud pubsub topics create ${topicOf(frozen)}, and its subscriptions at once: a topic without one keeps nothing`,
  },
  {
    cause: 'missing permission on the topic',
    tells: /^Publish to \S+?:? .*(PERMISSION_DENIED|UNAUTHENTICATED)/is,
    fix: (frozen) =>
      `gcloud pubsub topics add-iam-policy-binding ${topicOf(frozen)} --member ${ACCOUNT} --role roles/pubsub.publisher`,
  },
];

/** The cause of a problem that people can fix, and how; undefined where the problem says itself what to do. */
export function fixOf(
  problem: string,
  place: ProblemPlace,
): { readonly cause: string; readonly fix: string } | undefined {
  const { frozen } = place;
  const found = FIXES.find(({ tells }) => tells.test(problem));
  return found && frozen && { cause: found.cause, fix: found.fix(frozen, place) };
}

/** Beginnings of problems that name no row key, up to where the text of a service or a module begins. */
const KEYLESS: readonly RegExp[] = [
  /^(ReadRows|SampleRowKeys) of \S+ ended with [A-Z_]+/,
  /^Publish to \S+?: [A-Z_]+/,
  /^one split failed too often.*/,
  /^\d+ splits failed too often.*/,
];

/**
 * A problem without any text that may name a row key: those of services and modules are left out, and so is the key of a
 * row that stops a run.
 */
export function withoutKeys(problem: string): string {
  if (/^the row .* is too large for the service to read/s.test(problem)) {
    return 'a row is too large for the service to read: delete cells of it, read fewer families or versions, or set oversizedRow to quarantine';
  }
  if (/^the row .* has no form/s.test(problem)) return 'a row has no form: its key and the reason are not shown';
  const known = KEYLESS.map((pattern) => pattern.exec(problem)?.[0]).find((text) => text !== undefined);
  return known ?? 'not shown, as it may name a row key';
}
