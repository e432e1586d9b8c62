import { RedeliverError } from '../../shared/base/errors.ts';
import type { ResolvedRequestSink } from '../../shared/config/resolved.ts';
import { ClientPool } from '../../shared/google/bigtable/clients.ts';
import { createRowCalls } from '../../shared/google/bigtable/row-calls.ts';
import type { TableName } from '../../shared/model/table-name.ts';
import type { ReplayProtection } from '../../shared/single-row/delivery.ts';
import { type ClosableRowExecutor, createRowExecutor } from '../../shared/single-row/execute.ts';
import type { Instance } from './instance.ts';
import { letterRightsOf } from './letters.ts';
import { requestSerializerOf } from './request-serializer.ts';
import { openTargetCheck } from './target-check.ts';

/** The executor of an instance with the clients it sends by. */
export interface OpenedExecutor {
  readonly executor: ClosableRowExecutor;
  /** Closes clients that have long been idle. Cheap. */
  readonly sweep: () => void;
  readonly close: () => void;
}

/** @param countsRecords a sink's requests are its records, and count as such. */
export function openRowExecutor(
  { pipeline, access, runtime }: Instance<ResolvedRequestSink>,
  { countsRecords }: { readonly countsRecords: boolean },
): OpenedExecutor {
  const { requestOptions, appProfileId = '' } = pipeline;
  const clients = new ClientPool({ ...access, ...requestOptions }, runtime);
  const options = { ...requestOptions, appProfileId, countsRecords };
  const executor = createRowExecutor(options, { send: createRowCalls(clients), runtime });
  return {
    executor,
    sweep: () => {
      clients.sweep();
    },
    close: () => {
      executor.close();
      clients.close();
    },
  };
}

/**
 * The tables that a caller may name: those that a record of the pipeline may, in the pipeline's own instance. A function
 * reaches what its account does, and who may call it is not who may write there.
 */
export async function nameableTables({
  pipeline,
  baseDirectory,
}: Instance<ResolvedRequestSink>): Promise<(table: TableName) => boolean> {
  const { mayWriteTo } = letterRightsOf(pipeline, await requestSerializerOf(pipeline, baseDirectory));
  const { table, home = table } = pipeline.destination;
  const isAtHome = ({ project, instance }: TableName): boolean =>
    home === undefined || (project === home.project && instance === home.instance);
  return (named) => isAtHome(named) && mayWriteTo(named);
}

/**
 * Markers for the requests of an instance. A table is checked before its first request, as a staged sink checks it: its
 * profile must allow single-row transactions, and its marker family must keep what it is given.
 */
export function replayProtectionOf(markerFamily: string, instance: Instance<ResolvedRequestSink>): ReplayProtection {
  const targets = openTargetCheck(instance);
  const { appProfileId = '' } = instance.pipeline;
  return {
    markerFamily,
    async check(table, families, signal) {
      const unsound = await targets.check({ table, appProfileId, markerFamily }, families, signal);
      if (!unsound) return undefined;
      // Its families are those of this one request.
      const [unfit] = unsound.kind === 'target' ? [unsound.refusal] : unsound.refusals.values();
      return unfit && new RedeliverError(unfit.reason, unfit.message);
    },
  };
}
