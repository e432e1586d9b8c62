import type { ChangeStreamStatusStore } from '../../../shared/change-stream/ports.ts';
import { readPipeline } from '../configuration.ts';
import { usingDatabases } from '../databases.ts';
import { CommandError } from '../errors.ts';
import type { CliContext } from '../ports.ts';

export interface ChangeStreamOptions {
  readonly config?: string;
}

/**
 * Opens the source of a pipeline for as long as `use` takes.
 *
 * @throws {CommandError} where there is no such pipeline, or it is no change stream.
 */
export async function withChangeStream<Result>(
  context: CliContext,
  name: string,
  { config }: ChangeStreamOptions,
  use: (store: ChangeStreamStatusStore) => Promise<Result>,
): Promise<Result> {
  const { pipeline } = await readPipeline(context, name, config);
  if (pipeline.kind !== 'change-stream-source') {
    throw new CommandError(
      `the pipeline ${name} is a ${pipeline.kind}, which reads no change stream: name a change-stream-source`,
    );
  }
  const database = context.store.database(pipeline.firestore);
  return usingDatabases(context, [database], () => use(database.changeStream(name).status));
}

/** How a verb is written for this pipeline. */
export const commandOf = (verb: string, name: string): string => `npm run connector -- change-stream ${verb} ${name}`;

/** Nobody has written its document. */
export const notStarted = (name: string): string =>
  `${name} is not started yet: coordinate starts it within a minute of its deployment; are its scheduler jobs there, and not paused?`;
