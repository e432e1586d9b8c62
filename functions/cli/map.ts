import type { Command } from 'commander';
import { RecordError } from '../../shared/base/errors.ts';
import type { ResolvedFraming } from '../../shared/config/resolved.ts';
import { recordsOf } from '../../shared/records/framing.ts';
import { type MappingPreview, previewRecord } from '../../shared/mapping/preview.ts';
import type { InputRecord, PushedMessage } from '../../shared/model/record.ts';
import { readSink } from './configuration.ts';
import { CommandError, EXIT, type ExitCode } from './errors.ts';
import { loadPreparation } from './map/preparation.ts';
import { readSample, type SampleOptions } from './map/sample.ts';
import { repeated } from './option-values.ts';
import type { CliContext } from './ports.ts';

export interface MapOptions extends SampleOptions {
  readonly config?: string;
}

export function addMap(program: Command, context: CliContext, done: (code: ExitCode) => void): void {
  program
    .command('map')
    .summary('show what a pipeline makes of sample records')
    .description(
      'Reads one message body from a file, or from standard input, and shows for each record in it the table, the row ' +
        'key and the mutations, or why it is refused; then the exit code is 1. Needs no network and writes nothing.',
    )
    .argument('<pipeline>', 'name of the pipeline in the configuration')
    .argument('[file]', 'body of the message, framed as the pipeline says; "-" for standard input (default: "-")')
    .option(
      '-c, --config <file>',
      'configuration (default: what CONNECTOR_CONFIG or CONNECTOR_CONFIG_FILE says, else connector.yaml)',
    )
    .option('-a, --attribute <name=value>', 'attribute of the message (repeatable)', repeated)
    .option('--ordering-key <text>', 'ordering key of the message')
    .option('--message-id <text>', 'id of the message', 'sample')
    .option('--publish-time <time>', 'when it was published, such as 2026-01-31T12:00:00Z (default: now)')
    .addHelpText(
      'after',
      `
Examples:
  $ npm run connector -- map orders sample.ndjson
  $ echo '{"id": 1}' | npm run --silent connector -- map orders --attribute region=eu --publish-time 2026-01-31T12:00:00Z

Row keys and cells are shown as they would be written: bytes that are not printable as \\xNN, long ones cut.`,
    )
    .action(async (name: string, file: string | undefined, options: MapOptions) => {
      done(await map(context, name, file, options));
    });
}

/** Sample → records → what each becomes → account. */
export async function map(
  context: CliContext,
  name: string,
  file: string | undefined,
  options: MapOptions,
): Promise<ExitCode> {
  const { pipeline, baseDirectory } = await readSink(context, name, options.config);
  const preparation = await loadPreparation(pipeline, baseDirectory);
  const message = await readSample(context, file, options);
  const previews = framed(message, pipeline.input.framing).map((record) =>
    'outcome' in record ? record : previewRecord(preparation, record),
  );
  if (previews.length === 0) throw new CommandError('the input holds no record');
  for (const [index, { lines }] of previews.entries()) {
    context.terminal.print([`record ${index}`, ...lines.map((line) => `  ${line}`)].join('\n'));
  }
  const count = (outcome: MappingPreview['outcome']): number =>
    previews.filter((preview) => preview.outcome === outcome).length;
  context.terminal.note(`written ${count('write')}, skipped ${count('skipped')}, refused ${count('refused')}`);
  return count('refused') > 0 ? EXIT.failed : EXIT.ok;
}

/** The records, or the refusal of a message whose frame is broken: then the whole message is the bad record. */
function framed(message: PushedMessage, framing: ResolvedFraming): readonly (InputRecord | MappingPreview)[] {
  try {
    return recordsOf(message, framing);
  } catch (error) {
    if (!(error instanceof RecordError)) throw error;
    return [{ outcome: 'refused', lines: [`refused  ${error.message}`] }];
  }
}
