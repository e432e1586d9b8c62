import { Option, type Command } from 'commander';
import { abortable } from '../../shared/base/abort.ts';
import { toError } from '../../shared/base/errors.ts';
import type { SinkPipeline } from '../../shared/config/resolved.ts';
import { grouped } from './amounts.ts';
import { fullName, readSink } from './configuration.ts';
import { EXIT, UsageError, type ExitCode } from './errors.ts';
import { closed, interruptedExit } from './interruption.ts';
import { positiveNumber, positiveWhole, repeated } from './option-values.ts';
import { createPace } from './pace.ts';
import type { Publisher } from '../../shared/model/publishing.ts';
import { MAX_RECORDS } from '../../shared/model/record.ts';
import type { CliContext } from './ports.ts';
import { parseAttributes } from './publish/attributes.ts';
import { orderingKeys } from './publish/ordering.ts';
import { createPacker, type PackOptions, type Packed } from './publish/pack.ts';
import { readRecords, type ReadProgress, type SourceRecord } from './publish/records.ts';
import { sendAll } from './publish/send.ts';
import { FORMATS, type Format } from './publish/split.ts';
import { createTally, failureLines, progressLine, type Tally } from './publish/tally.ts';

export interface PublishOptions {
  readonly config?: string;
  readonly format: Format;
  readonly attribute?: readonly string[];
  readonly orderingKey?: string;
  readonly orderingField?: string;
  readonly recordsPerMessage: number;
  readonly rate?: number;
  readonly dryRun?: true;
}

export function addPublish(program: Command, context: CliContext, done: (code: ExitCode) => void): void {
  program
    .command('publish')
    .summary('publish records to the topic of a pipeline')
    .description(
      'Publishes the records of files, or of standard input, to the topic of a pipeline, packed as its framing says. ' +
        'Reads no faster than Pub/Sub confirms. Records that fail are named by line; then the exit code is 1. ' +
        'After a message of an ordering key has failed, none of that key is published any more.',
    )
    .argument('<pipeline>', 'name of the pipeline in the configuration')
    .argument('[files...]', 'files to read, "-" for standard input (default: standard input)')
    .option(
      '-c, --config <file>',
      'configuration (default: what CONNECTOR_CONFIG or CONNECTOR_CONFIG_FILE says, else connector.yaml)',
    )
    .addOption(
      new Option(
        '-f, --format <format>',
        'how records stand in the input: one JSON per line, elements of one JSON array, lines as they are, or each file as one message',
      )
        .choices(FORMATS)
        .default('ndjson'),
    )
    .option('-a, --attribute <name=value>', 'attribute of every message (repeatable)', repeated)
    .option('--ordering-key <text>', 'ordering key of every message')
    .option('--ordering-field <field>', 'field of each JSON record that holds its ordering key, such as user.id')
    .option(
      '-n, --records-per-message <count>',
      'records in one message; needs a framing that tells them apart',
      positiveWhole,
      1,
    )
    .option('-r, --rate <per second>', 'most records per second', positiveNumber)
    .option('--dry-run', 'read, check and pack everything, publish nothing')
    .addHelpText(
      'after',
      `
Examples:
  $ npm run connector -- publish orders orders.ndjson
  $ npm run connector -- publish orders data.json --format json-array --records-per-message 100
  $ tail -f app.log | npm run --silent connector -- publish logs --format lines --rate 500

Pub/Sub is the local one where PUBSUB_EMULATOR_HOST says so. A bare topic id belongs to the project of the
pipeline, else to GOOGLE_CLOUD_PROJECT.

The exit code is 0 where every record was published and confirmed, 1 where one failed or the topic takes none. Ctrl-C
(130) and SIGTERM (143) end the command within a second: the last line counts the records that were confirmed, and apart
from them those that were on their way. A record that was only read counts as nothing.`,
    )
    .action(async (name: string, files: readonly string[], options: PublishOptions) => {
      done(await publish(context, name, files, options));
    });
}

/** Options → packed messages → publishes → account. */
export async function publish(
  context: CliContext,
  name: string,
  files: readonly string[],
  options: PublishOptions,
): Promise<ExitCode> {
  const { signal, ending } = context;
  const { pipeline } = await readSink(context, name, options.config);
  const packing = packOptions(pipeline, options);
  noteOrdering(context, pipeline, options);
  const topic = fullName(context, pipeline.input.topic, 'topics');
  const totalBytes = await inputSize(context, files);

  const tally = createTally();
  const read: ReadProgress = { bytesRead: 0, records: 0 };
  const startedAt = context.clock.now();
  const elapsedMillis = (): number => context.clock.now() - startedAt;
  const isOrdered = options.orderingKey !== undefined || options.orderingField !== undefined;
  const publisher = options.dryRun
    ? publishNothing
    : await abortable(context.pubsub.publisher(topic, { isOrdered }), signal);
  let stopped: string | undefined;
  let failure: Error | undefined;
  try {
    stopped = await sendAll(packAll(readRecords(context.input, files, options.format, read, signal), packing), {
      publisher,
      pace: createPace(context.clock, options.dryRun ? undefined : options.rate),
      signal,
      ending,
      tally,
      hasOneKey: options.orderingKey !== undefined,
      onAdvance: () => {
        context.terminal.status(() => progressLine({ tally, read, elapsedMillis: elapsedMillis(), totalBytes }));
      },
    });
  } catch (error) {
    // Told once the account of what was published until then is printed.
    [failure, stopped] = [toError(error), 'the input cannot be read further'];
  } finally {
    context.terminal.status('');
    await closed(publisher.close(), ending);
  }

  for (const line of failureLines(tally)) context.terminal.note(line);
  if (stopped !== undefined) context.terminal.note(`stopped before the end of the input: ${stopped}`);
  const seconds = Math.max(elapsedMillis(), 1) / 1_000;
  context.terminal.print(
    [
      `${options.dryRun ? 'would publish' : 'published'} ${grouped(tally.publishedRecords)} records`,
      `in ${grouped(tally.publishedMessages)} messages (${grouped(tally.publishedBytes)} bytes)`,
      `to ${topic} in ${seconds.toFixed(1)} s; failed ${grouped(tally.failedRecords)}${unconfirmedText(tally)}`,
    ].join(' '),
  );
  if (failure) throw failure;
  // All that was asked for may be done by the time of the signal: then nothing was interrupted.
  if (signal.aborted && (stopped !== undefined || tally.unconfirmedRecords > 0)) return interruptedExit(signal);
  return tally.failedRecords > 0 || stopped !== undefined ? EXIT.failed : EXIT.ok;
}

const unconfirmedText = ({ unconfirmedRecords }: Tally): string =>
  unconfirmedRecords === 0
    ? ''
    : `; ${grouped(unconfirmedRecords)} on their way unconfirmed, which may or may not have been published`;

/** @throws {UsageError} where the options cannot go together. */
function packOptions({ input: { framing } }: SinkPipeline, options: PublishOptions): PackOptions {
  const { format, recordsPerMessage } = options;
  if (recordsPerMessage > 1 && framing === 'single') {
    throw new UsageError('--records-per-message: the framing of the pipeline is single, one record per message');
  }
  if (recordsPerMessage > MAX_RECORDS) {
    throw new UsageError(
      `--records-per-message: must be at most ${MAX_RECORDS}, the most that a sink reads of one message`,
    );
  }
  if (recordsPerMessage > 1 && format === 'raw') {
    throw new UsageError('--records-per-message: with --format raw each file is one message');
  }
  if (format === 'lines' && framing === 'json-array') {
    throw new UsageError('--format lines: the framing of the pipeline is json-array, which holds only JSON');
  }
  return {
    framing,
    recordsPerMessage,
    attributes: parseAttributes(options.attribute ?? []),
    orderingKeyOf: orderingKeys(options),
    isFramed: format === 'raw',
  };
}

/** Ordering needs both sides; one alone does nothing, which nobody would notice. */
function noteOrdering(context: CliContext, { input }: SinkPipeline, options: PublishOptions): void {
  const hasKey = options.orderingKey !== undefined || options.orderingField !== undefined;
  if (input.ordering === 'row' && !hasKey) {
    context.terminal.note('warning: the pipeline is ordered, but without an ordering key messages have no order');
  }
  if (input.ordering === 'none' && hasKey) {
    context.terminal.note('warning: messages have an ordering key, but the pipeline is not ordered (ordering: row)');
  }
}

async function* packAll(records: AsyncIterable<SourceRecord>, options: PackOptions): AsyncGenerator<Packed> {
  const packer = createPacker(options);
  for await (const record of records) yield* packer.add(record);
  yield* packer.end();
}

/** Undefined where standard input is read. */
async function inputSize({ input }: CliContext, files: readonly string[]): Promise<number | undefined> {
  if (files.length === 0 || files.includes('-')) return undefined;
  const sizes = await Promise.all(files.map((file) => input.size(file)));
  return sizes.reduce((sum, size) => sum + size, 0);
}

const publishNothing: Publisher = { publish: () => Promise.resolve(), close: () => Promise.resolve() };
