import type { ResolvedPipeline, ResolvedStaging } from '../../shared/config/resolved.ts';

/** What is kept of a staged pipeline, and where. */
export interface StagedPipeline {
  readonly name: string;
  readonly staging: ResolvedStaging;
}

/** Those that stage, and so have checkpoints, among all. */
export const stagedPipelinesOf = (pipelines: Readonly<Record<string, ResolvedPipeline>>): StagedPipeline[] =>
  Object.entries(pipelines).flatMap(([name, pipeline]) =>
    pipeline.kind === 'staged-sink' && pipeline.commit.when === 'on-checkpoint'
      ? [{ name, staging: pipeline.commit }]
      : [],
  );
