import { ConfigError } from '../../shared/base/errors.ts';
import { loadConfig } from '../../shared/config/load.ts';
import type { ResolvedPipeline, ResolvedStaging } from '../../shared/config/resolved.ts';
import type { Environment } from './surroundings.ts';

/** What of a staged pipeline its coordinator runs by. */
export interface StagedPipeline {
  readonly name: string;
  readonly staging: ResolvedStaging;
  readonly metricsFlushIntervalMillis: number;
  /** What works but perhaps not as meant. */
  readonly warnings: readonly string[];
}

/**
 * The pipelines that stage: all of the configuration that the environment names, or the one of CONNECTOR_PIPELINE.
 *
 * @throws {ConfigError} where the configuration is wrong, or there is nothing to coordinate.
 */
export async function loadStagedPipelines(env: Environment): Promise<StagedPipeline[]> {
  const { config, source, warnings } = await loadConfig(env);
  const wanted = env.CONNECTOR_PIPELINE;
  const staged = stagedPipelinesOf(config.pipelines).map((pipeline) => ({
    ...pipeline,
    warnings: warnings.filter((warning) => warning.startsWith(`pipelines.${pipeline.name}.`)),
  }));
  const names = staged.map(({ name }) => name).join(', ') || 'none';
  if (wanted === undefined || wanted === '') {
    if (staged.length > 0) return staged;
    const rule = 'must hold a pipeline of kind staged-sink with the commit on-checkpoint: no other needs a coordinator';
    throw new ConfigError(source, [{ path: 'pipelines', rule, got: 'none' }]);
  }
  const chosen = staged.filter(({ name }) => name === wanted);
  if (chosen.length > 0) return chosen;
  const rule = `must name a pipeline of kind staged-sink with the commit on-checkpoint (there is: ${names})`;
  throw new ConfigError(source, [{ path: 'CONNECTOR_PIPELINE', rule, got: JSON.stringify(wanted) }]);
}

/** Those that stage, and so have checkpoints, among all. */
export const stagedPipelinesOf = (
  pipelines: Readonly<Record<string, ResolvedPipeline>>,
): Omit<StagedPipeline, 'warnings'>[] =>
  Object.entries(pipelines).flatMap(([name, pipeline]) =>
    pipeline.kind === 'staged-sink' && pipeline.commit.when === 'on-checkpoint'
      ? [{ name, staging: pipeline.commit, metricsFlushIntervalMillis: pipeline.metricsFlushIntervalMillis }]
      : [],
  );
