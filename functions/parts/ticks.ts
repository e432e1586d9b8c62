import type { Runtime } from '../../shared/base/runtime.ts';
import type { Ticks } from '../../shared/coordinator/tick.ts';
import type { Databases } from './databases.ts';

/** What the ticks of a pipeline run by. */
export interface Ticked {
  readonly name: string;
  readonly runtime: Runtime;
  readonly databases: Databases;
}

/** The ticks of a pipeline in this instance, over all invocations. */
export interface OpenedTicks {
  /** Of one invocation. @param owner unique to it. */
  readonly ticks: (owner: string) => Ticks;
  readonly close: () => Promise<void>;
}
