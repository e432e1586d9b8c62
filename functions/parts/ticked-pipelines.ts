import { ConfigError } from '../../shared/base/errors.ts';
import { loadConfig } from '../../shared/config/load.ts';
import type { PipelineKind, PipelineOf } from '../../shared/config/resolved.ts';
import type { Environment } from './surroundings.ts';
import type { OpenedTicks, Ticked } from './ticks.ts';

/** How a pipeline ticks. */
interface Ticking {
  /** For the log. */
  readonly options: object;
  /** Loads what this kind of pipeline needs, and nothing of others. */
  readonly open: (ticked: Ticked) => Promise<OpenedTicks>;
}

/** Kind → how its pipelines tick; undefined for one that needs no ticks. A kind that is not here never does. */
const KINDS: { readonly [Kind in PipelineKind]?: (pipeline: PipelineOf<Kind>) => Ticking | undefined } = {
  'staged-sink': (pipeline) => {
    const { commit } = pipeline;
    return commit.when === 'on-checkpoint'
      ? {
          options: commit,
          open: async (ticked) => (await import('./staged-ticks.ts')).openStagedTicks(pipeline, commit, ticked),
        }
      : undefined;
  },
  'scan-source': (pipeline) => ({
    options: { ...pipeline.slots, ...pipeline.runs },
    open: async (ticked) => (await import('./scan/open-scan-ticks.ts')).openScanTicks(pipeline, ticked),
  }),
  'change-stream-source': (pipeline) => ({
    options: { ...pipeline.slots, ...pipeline.stream },
    open: async (ticked) => (await import('./change-stream/open-stream-ticks.ts')).openStreamTicks(pipeline, ticked),
  }),
};

const tickingOf = <Kind extends PipelineKind>(kind: Kind, pipeline: PipelineOf<Kind>): Ticking | undefined =>
  KINDS[kind]?.(pipeline);

/** A pipeline that a coordinator ticks. */
export interface TickedPipeline extends Ticking {
  readonly name: string;
  readonly metricsFlushIntervalMillis: number;
  /** What works but perhaps not as meant. */
  readonly warnings: readonly string[];
  /** Absolute path of the directory that relative paths in the configuration belong to. */
  readonly baseDirectory: string;
}

/**
 * The pipelines that need ticks, perhaps none: all of the configuration that the environment names, or the one of
 * CONNECTOR_PIPELINE.
 *
 * @throws {ConfigError} where the configuration is wrong, or CONNECTOR_PIPELINE names no pipeline that needs ticks.
 */
export async function loadTickedPipelines(env: Environment): Promise<readonly TickedPipeline[]> {
  const { config, source, warnings, baseDirectory } = await loadConfig(env);
  const wanted = env.CONNECTOR_PIPELINE;
  const ticked = Object.entries(config.pipelines).flatMap(([name, pipeline]) => {
    const ticking = tickingOf(pipeline.kind, pipeline);
    if (!ticking) return [];
    const own = warnings.filter((warning) => warning.startsWith(`pipelines.${name}.`));
    const { metricsFlushIntervalMillis } = pipeline;
    return [{ ...ticking, name, metricsFlushIntervalMillis, warnings: own, baseDirectory }];
  });
  if (wanted === undefined || wanted === '') return ticked;
  const chosen = ticked.filter(({ name }) => name === wanted);
  if (chosen.length > 0) return chosen;
  const names = ticked.map(({ name }) => name).join(', ') || 'none';
  const rule = `must name a pipeline of kind scan-source or change-stream-source, or of kind staged-sink with the commit on-checkpoint (there is: ${names})`;
  throw new ConfigError(source, [{ path: 'CONNECTOR_PIPELINE', rule, got: JSON.stringify(wanted) }]);
}
