import type { Runtime } from '../../shared/base/runtime.ts';
import type { Ticks } from '../../shared/coordinator/tick.ts';
import type { Databases } from './databases.ts';
import type { Environment } from './surroundings.ts';

/** What the ticks of a pipeline run by. */
export interface Ticked {
  readonly name: string;
  readonly runtime: Runtime;
  readonly databases: Databases;
  readonly env: Environment;
  /** Absolute path of the directory that relative paths in the configuration belong to. */
  readonly baseDirectory: string;
}

/** The ticks of a pipeline in this instance, over all invocations. */
export interface OpenedTicks {
  /** Of one invocation. @param owner unique to it. */
  readonly ticks: (owner: string) => Ticks;
  readonly close: () => Promise<void>;
}
