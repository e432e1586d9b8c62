import type { Clock } from '../../../../shared/base/clock.ts';
import type { Random } from '../../../../shared/base/random.ts';
import type { Limits } from './limits.ts';
import type { Profiles } from './profiles.ts';
import type { TableStore } from './rows/table-store.ts';

/** What the RPCs of one server work on. */
export interface Database {
  readonly tables: TableStore;
  readonly profiles: Profiles;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly random: Random;
  /** Whether a filter that names its columns looks at all others too. */
  readonly scansRows: boolean;
}

/** The service's clock in microseconds. */
export const nowMicros = ({ clock }: Database): bigint => BigInt(clock.now()) * 1000n;
