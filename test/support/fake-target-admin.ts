import { abortable } from '../../shared/base/abort.ts';
import { formatTableName, type TableName } from '../../shared/model/table-name.ts';
import type { TargetAdmin } from '../../shared/markers/ports.ts';
import type { ProfileReading, TargetFamily } from '../../shared/markers/target.ts';

const FOR_EVER: TargetFamily = { type: 'raw', keptMillis: Infinity };

/** The admin APIs of an instance that a test describes: by default a transactional profile, and a table as it should be. */
export class FakeTargetAdmin implements TargetAdmin {
  profile: ProfileReading = { kind: 'found', isSingleCluster: true, isTransactional: true, cluster: 'c1' };
  families = new Map<string, TargetFamily>([
    ['markers', FOR_EVER],
    ['f', FOR_EVER],
    ['sums', { type: 'int64-sum', keptMillis: Infinity }],
  ]);
  /** Tables that do not exist. */
  readonly missing = new Set<string>();
  /** What both calls are refused with. */
  failure: Error | undefined;
  /** Whether no call is answered until its signal aborts. */
  isSilent = false;
  /** Tables that were read, in order. */
  readonly reads: string[] = [];

  readProfile(_instance: unknown, _appProfileId: string, signal: AbortSignal): Promise<ProfileReading> {
    return this.#answer(this.profile, signal);
  }

  readFamilies(table: TableName, signal: AbortSignal): Promise<ReadonlyMap<string, TargetFamily> | undefined> {
    this.reads.push(formatTableName(table));
    return this.#answer(this.missing.has(table.table) ? undefined : new Map(this.families), signal);
  }

  #answer<Answer>(answer: Answer, signal: AbortSignal): Promise<Answer> {
    if (this.isSilent) return abortable(Promise.withResolvers<never>().promise, signal);
    return this.failure ? Promise.reject(this.failure) : Promise.resolve(answer);
  }
}
