import type { Command } from 'commander';
import { ConfigError } from '../../shared/base/errors.ts';
import {
  isSink,
  type ResolvedConfig,
  type ResolvedDestination,
  type ResolvedPipeline,
  type SourcePipeline,
  type SinkPipeline,
} from '../../shared/config/resolved.ts';
import { formatTableName } from '../../shared/model/table-name.ts';
import { noteWarnings } from './configuration.ts';
import { EXIT, type ExitCode } from './errors.ts';
import type { CliContext } from './ports.ts';
import { textTable } from '../../shared/base/text-table.ts';
import { readChecked } from './validate/modules.ts';

export interface ValidateOptions {
  readonly resolved?: true;
  readonly json?: true;
}

export function addValidate(program: Command, context: CliContext, done: (code: ExitCode) => void): void {
  program
    .command('validate')
    .summary('check a configuration and show its pipelines')
    .description(
      'Checks a configuration without a network or credentials, and loads the modules of its serializers, whose code ' +
        'then runs, to see that each has the right export. Prints every problem, or a table of the pipelines; warnings ' +
        'go to standard error. The exit code is 1 where there is a problem.',
    )
    .argument(
      '[file]',
      'configuration (default: what CONNECTOR_CONFIG or CONNECTOR_CONFIG_FILE says, else connector.yaml)',
    )
    .option('--resolved', 'print the document that a bundle carries: defaults filled in, units plain, JSON')
    .option('--json', 'print the outcome as JSON: {"ok", "problems", "warnings", "pipelines"}')
    .addHelpText(
      'after',
      `
Examples:
  $ npm run connector -- validate
  $ npm run --silent connector -- validate connector.yaml --resolved > resolved.json

The resolved document holds the path of a service account key where one is configured. A function takes it by
CONNECTOR_CONFIG or CONNECTOR_CONFIG_FILE like any other, and starts faster with it.`,
    )
    .action(async (file: string | undefined, options: ValidateOptions) => {
      done(await validate(context, file, options));
    });
}

export async function validate(
  context: CliContext,
  file: string | undefined,
  options: ValidateOptions,
): Promise<ExitCode> {
  if (options.json) return validateAsJson(context, file);
  const { config, warnings } = await readChecked(context, file);
  noteWarnings(context, warnings);
  context.terminal.print(options.resolved ? JSON.stringify(config, undefined, 2) : summary(config));
  return EXIT.ok;
}

async function validateAsJson(context: CliContext, file: string | undefined): Promise<ExitCode> {
  const report = (outcome: Readonly<Record<string, unknown>>): void => {
    context.terminal.print(JSON.stringify(outcome, undefined, 2));
  };
  try {
    const { config, warnings } = await readChecked(context, file);
    const pipelines = Object.entries(config.pipelines).map(([name, { kind }]) => ({ name, kind }));
    report({ ok: true, problems: [], warnings, pipelines });
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    report({ ok: false, problems: error.problems, warnings: [], pipelines: [] });
    return EXIT.failed;
  }
}

const summary = ({ pipelines }: ResolvedConfig): string =>
  textTable([
    ['PIPELINE', 'KIND', 'TOPIC', 'TABLE', 'SERIALIZER', 'FRAMING', 'ON FAILURE'],
    ...Object.entries(pipelines).map(([name, pipeline]) => row(name, pipeline)),
  ]);

const row = (name: string, pipeline: ResolvedPipeline): string[] =>
  isSink(pipeline) ? sinkRow(name, pipeline) : sourceRow(name, pipeline);

const sourceRow = (name: string, pipeline: SourcePipeline): string[] => {
  const { kind, emission, table } = pipeline;
  return [
    name,
    kind,
    emission.topic ?? '-',
    formatTableName(table),
    pipeline.kind === 'scan-source' ? pipeline.form.kind : 'envelope',
    emission.maxRecordsPerMessage > 1 ? 'ndjson' : 'single',
    emission.failurePolicy === 'dead-letter'
      ? `dead-letter to ${emission.deadLetterTopic ?? ''}`
      : emission.failurePolicy,
  ];
};

const sinkRow = (name: string, pipeline: SinkPipeline): string[] => [
  name,
  pipeline.kind,
  pipeline.input.topic,
  tableText(pipeline.destination),
  pipeline.serializer.kind === 'module' ? pipeline.serializer.module : pipeline.serializer.kind,
  pipeline.input.framing,
  failureText(pipeline),
];

/** A staged sink has a second policy, for what Bigtable refuses once the message is acknowledged. */
function failureText(pipeline: SinkPipeline): string {
  const own = policyText(pipeline.failure);
  return pipeline.kind === 'staged-sink' ? `${own}; rejected: ${policyText(pipeline.onRejected)}` : own;
}

const policyText = (failure: SinkPipeline['failure']): string =>
  failure.policy === 'dead-letter' ? `dead-letter to ${failure.deadLetter.topic}` : failure.policy;

function tableText({ table, attribute }: ResolvedDestination): string {
  const fixed = table ? [formatTableName(table)] : [];
  return (
    [...(attribute === undefined ? [] : [`attribute ${attribute}`]), ...fixed].join(', else ') ||
    'named by the serializer'
  );
}
