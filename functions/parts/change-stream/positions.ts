import type { StartPosition } from '../../../shared/change-stream/ledger/start-position.ts';
import type { ResolvedPosition } from '../../../shared/config/resolved.ts';

/** A position of the configuration, which is JSON, as the ledger takes it. */
export const startPositionOf = (position: ResolvedPosition): StartPosition =>
  position.kind === 'at' ? { kind: 'at', time: BigInt(position.nanos) } : position;
