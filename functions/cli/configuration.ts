import { qualify, type PubSubCollection } from '../../shared/model/pubsub-name.ts';
import { loadConfig, loadConfigFile, pipelineNamed, type LoadedConfig } from '../../shared/config/load.ts';
import { isSink, type ResolvedPipeline, type SinkPipeline } from '../../shared/config/resolved.ts';
import { CommandError } from './errors.ts';
import type { CliContext } from './ports.ts';

/** The configuration and the addresses that a command works with. */

/** The named file, else what the environment says. */
export const readConfiguration = (context: CliContext, file: string | undefined): Promise<LoadedConfig> =>
  file === undefined ? loadConfig(context.env) : loadConfigFile(file);

export function noteWarnings({ terminal }: CliContext, warnings: readonly string[]): void {
  for (const warning of warnings) terminal.note(`warning: ${warning}`);
}

export interface NamedPipeline<Pipeline = ResolvedPipeline> {
  readonly pipeline: Pipeline;
  /** Names of all pipelines of the configuration. */
  readonly known: readonly string[];
  /** Absolute path of the directory that relative paths of the pipeline belong to. */
  readonly baseDirectory: string;
}

/** @throws {CommandError} that lists the pipelines there are. */
export async function readPipeline(
  context: CliContext,
  name: string,
  file: string | undefined,
): Promise<NamedPipeline> {
  const { config, source, warnings, baseDirectory } = await readConfiguration(context, file);
  noteWarnings(context, warnings);
  const pipeline = pipelineNamed(config, name);
  const known = Object.keys(config.pipelines);
  if (pipeline) return { pipeline, known, baseDirectory };
  throw new CommandError(`${source} has no pipeline ${JSON.stringify(name)} (there is: ${known.join(', ')})`);
}

/**
 * The same of a sink: what takes records of a topic.
 *
 * @throws {CommandError} that lists the sinks there are, also where the pipeline is none.
 */
export async function readSink(
  context: CliContext,
  name: string,
  file: string | undefined,
): Promise<NamedPipeline<SinkPipeline>> {
  const { pipeline, ...named } = await readPipeline(context, name, file);
  if (isSink(pipeline)) return { ...named, pipeline };
  throw new CommandError(`the pipeline ${name} is a ${pipeline.kind}, which takes no records: name a sink`);
}

/** A full name; a bare id belongs to GOOGLE_CLOUD_PROJECT. @throws {CommandError} where no project is known. */
export function fullName(context: CliContext, name: string, collection: PubSubCollection): string {
  const full = qualify(name, collection, context.env.GOOGLE_CLOUD_PROJECT);
  if (full.includes('/')) return full;
  throw new CommandError(
    `${name} is a bare id: set "project" in the configuration, or GOOGLE_CLOUD_PROJECT, or write projects/p/${collection}/${name}`,
  );
}
