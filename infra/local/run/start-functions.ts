import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ENTRY_POINTS } from '../../../shared/deployment/entry-points.ts';
import type { DeploymentPlan, PlannedFunction } from '../../../shared/deployment/plan.ts';
import { LocalCloudError } from '../base/local-error.ts';
import type { LocalCloud } from '../cloud/cloud.ts';
import {
  type FasterClock,
  type FunctionProcess,
  type FunctionProcessOptions,
  startFunctionHostProcess,
  startFunctionProcess,
} from './function-process.ts';

/** The root of this repository: where package.json names the functions. */
export const REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url));

export interface FunctionsOptions {
  readonly cloud: Pick<LocalCloud, 'env'>;
  /** The connector.yaml to run. */
  readonly configFile: string;
  /** Where the functions come from. Default: this repository. */
  readonly source?: string;
  /** `process-each`, as deployed: one process per function. `one-process`: all in one, for a debugger. */
  readonly functions?: 'process-each' | 'one-process';
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Takes the log lines of the functions. */
  readonly onLine?: (label: string, line: string) => void;
}

/** A function of the plan and the process that serves it. */
export interface RunningFunction extends PlannedFunction {
  /** What people know it by: its pipeline, or what it is to all of them. */
  readonly label: string;
  readonly process: FunctionProcess;
  /** Where the attempts of each of its slots go, each a process of its own; `process` is the first. Empty without slots. */
  readonly slots: readonly FunctionProcess[];
}

/** Starts the functions of a plan, in its order. Each is told to drain when `started` is disposed of. */
export async function startFunctions(
  { functions, schedules }: DeploymentPlan,
  options: FunctionsOptions,
  clock: FasterClock | undefined,
  started: AsyncDisposableStack,
): Promise<RunningFunction[]> {
  const labelled = functions.map((planned) => ({
    ...planned,
    label: labelOf(planned),
    slotCount: schedules.filter((job) => job.function === planned.name && job.slot !== undefined).length,
  }));
  if (options.functions === 'one-process') return startTogether(labelled, options, clock, started);
  const running: RunningFunction[] = [];
  for (const planned of labelled) {
    const { entryPoint, label, slotCount } = planned;
    const start = (name: string): Promise<FunctionProcess> =>
      startFunctionProcess(entryPoint, processOptions(environmentOf(planned), name, options, clock));
    const first = await start(slotCount > 1 ? `${label} 0` : label);
    const processes = [first];
    started.defer(async () => {
      await Promise.all(processes.map(stop));
    });
    while (processes.length < slotCount) processes.push(await start(`${label} ${processes.length}`));
    running.push({ ...planned, process: first, slots: slotCount > 0 ? processes : [] });
  }
  return running;
}

interface LabelledFunction extends Omit<RunningFunction, 'process' | 'slots'> {
  readonly slotCount: number;
}

/** A session of a slot is as long as its function's time allows, which Cloud Run tells in this variable. */
const environmentOf = ({ environment, slotCount, size }: LabelledFunction): PlannedFunction['environment'] => ({
  ...environment,
  ...(slotCount > 0 && { CLOUD_RUN_TIMEOUT_SECONDS: String(size.timeoutSeconds) }),
});

const labelOf = ({ pipeline, entryPoint }: PlannedFunction): string => pipeline ?? ENTRY_POINTS[entryPoint].title;

const stop = async (running: FunctionProcess): Promise<void> => {
  await running.stop();
};

/** One process for all; it has one environment, so it can serve one pipeline. */
async function startTogether(
  functions: readonly LabelledFunction[],
  options: FunctionsOptions,
  clock: FasterClock | undefined,
  started: AsyncDisposableStack,
): Promise<RunningFunction[]> {
  const [first] = functions;
  if (!first) return [];
  const pipelines = new Set(functions.flatMap(({ pipeline }) => pipeline ?? [])).size;
  if (pipelines > 1) {
    throw new LocalCloudError(
      `one process serves one pipeline of a kind, and ${options.configFile} has ${pipelines}: run a process for each`,
    );
  }
  const environment = Object.fromEntries(functions.flatMap((planned) => Object.entries(environmentOf(planned))));
  const inHost = await startFunctionHostProcess(processOptions(environment, first.label, options, clock));
  started.defer(() => stop(inHost(first.entryPoint)));
  return functions.map((planned) => {
    const one = inHost(planned.entryPoint);
    return { ...planned, process: one, slots: new Array<FunctionProcess>(planned.slotCount).fill(one) };
  });
}

function processOptions(
  environment: PlannedFunction['environment'],
  label: string,
  { cloud, configFile, source = REPOSITORY, env, onLine }: FunctionsOptions,
  clock: FasterClock | undefined,
): FunctionProcessOptions {
  return {
    source,
    ...(clock && { clock }),
    env: {
      ...cloud.env,
      CONNECTOR_CONFIG_FILE: resolve(configFile),
      // Inherited from a shell they would contradict the file and the plan.
      CONNECTOR_CONFIG: undefined,
      CONNECTOR_PIPELINE: undefined,
      ...environment,
      ...env,
    },
    ...(onLine && {
      onLine: (line: string) => {
        onLine(label, line);
      },
    }),
  };
}
