import { formatTableName, type TableName } from '../model/table-name.ts';
import type { ChangeStreamAdmin, RoutingReading, StreamReading } from './reading/ports.ts';

/** A partition that is started anew begins a minute inside the retention, and positions are up to a minute old. */
export const LEAST_RETENTION_MILLIS = 120_000;

export interface StreamSource {
  readonly table: TableName;
  /** Empty is the instance's default profile. */
  readonly appProfileId: string;
}

/** What a source stands on, as sentences that name the call, the table and the command that changes it. */
export interface Preflight {
  /** The source must not start. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
  /** So long the table keeps its changes, where it told. */
  readonly retentionMillis?: number;
}

/**
 * Looks before a source starts whether its table has a change stream, and its app profile routes to a single cluster.
 * What may not be asked is a warning in any case. Rejects with a `TableAdminError` where a call says nothing.
 *
 * @param policy `warn`: problems are warnings, and the source may start.
 */
export async function preflight(
  admin: ChangeStreamAdmin,
  source: StreamSource,
  policy: 'strict' | 'warn',
  signal: AbortSignal,
): Promise<Preflight> {
  const [stream, routing] = await Promise.all([
    admin.readStream(source.table, signal),
    admin.readRouting(source.table, source.appProfileId, signal),
  ]);
  const problems = [streamProblem(stream, source), routingProblem(routing, source)].filter(isThere);
  const doubts = [streamDoubt(stream), routingDoubt(routing, source)].filter(isThere);
  return {
    problems: policy === 'strict' ? problems : [],
    warnings: policy === 'strict' ? doubts : [...problems, ...doubts],
    ...(stream.kind === 'on' && { retentionMillis: stream.retentionMillis }),
  };
}

const isThere = (text: string | undefined): text is string => text !== undefined;

function streamProblem(stream: StreamReading, { table }: StreamSource): string | undefined {
  const name = formatTableName(table);
  switch (stream.kind) {
    case 'on':
      return stream.retentionMillis < LEAST_RETENTION_MILLIS
        ? `GetTable: the change stream of ${name} keeps changes for ${stream.retentionMillis} ms, and the least is ${LEAST_RETENTION_MILLIS} ms; raise it with ${turnOn(table)}`
        : undefined;
    case 'off':
      return `GetTable: ${name} has no change stream; turn it on with ${turnOn(table)}`;
    case 'missing':
      return `GetTable: ${name} is not there; create it with a change stream, or correct the name`;
    case 'denied':
      return undefined;
  }
}

const turnOn = ({ project, instance, table }: TableName): string =>
  `gcloud bigtable instances tables update ${table} --instance=${instance} --project=${project} --change-stream-retention-period=7d`;

function routingProblem(routing: RoutingReading, { table, appProfileId }: StreamSource): string | undefined {
  const profile = profileName(appProfileId);
  switch (routing.kind) {
    case 'multi-cluster':
      return `GetAppProfile: ${profile} of ${table.project}.${table.instance} routes to any cluster, and a change stream is read through a single one; ${route('update', table, appProfileId)}`;
    case 'missing':
      return `GetAppProfile: ${profile} of ${table.project}.${table.instance} is not there; ${route('create', table, appProfileId)}`;
    case 'single-cluster':
    case 'unknown':
    case 'denied':
      return undefined;
  }
}

const profileName = (appProfileId: string): string =>
  `the app profile ${appProfileId === '' ? 'default' : appProfileId}`;

const route = (verb: 'create' | 'update', { project, instance }: TableName, appProfileId: string): string =>
  `gcloud bigtable app-profiles ${verb} ${appProfileId === '' ? 'default' : appProfileId} --instance=${instance} --project=${project} --route-to=CLUSTER`;

const streamDoubt = (stream: StreamReading): string | undefined =>
  stream.kind === 'denied' ? `${stream.problem}: whether there is a change stream was not looked at` : undefined;

function routingDoubt(routing: RoutingReading, { appProfileId }: StreamSource): string | undefined {
  if (routing.kind === 'denied') return `${routing.problem}: whether it routes to a single cluster was not looked at`;
  return routing.kind === 'unknown'
    ? `GetAppProfile: where ${profileName(appProfileId)} sends calls is not known; it has to be a single cluster`
    : undefined;
}
