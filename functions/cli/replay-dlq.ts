import type { Command } from 'commander';
import { readPipeline } from './configuration.ts';
import { CommandError, type ExitCode } from './errors.ts';
import { positiveNumber, positiveWhole, repeated } from './option-values.ts';
import type { CliContext } from './ports.ts';
import { planReplay, type ReplayOptions } from './replay/plan.ts';
import { MAX_HELD } from './replay/read.ts';
import { republishLetters } from './replay/republish.ts';
import { showLetters } from './replay/show.ts';

export function addReplayDlq(program: Command, context: CliContext, done: (code: ExitCode) => void): void {
  program
    .command('replay-dlq')
    .summary('look at the dead letters of a pipeline, or publish them again')
    .description(
      'Pulls the dead letters of a pipeline. Without --apply it only shows them, by reason, and gives them back. ' +
        'With --apply it publishes data and original attributes to a topic, and acknowledges a letter only after its ' +
        'publish is confirmed: a letter may come twice, and none is lost. Payloads are never shown.',
    )
    .argument('<pipeline>', 'name of the pipeline in the configuration')
    .option(
      '-c, --config <file>',
      'configuration (default: what CONNECTOR_CONFIG or CONNECTOR_CONFIG_FILE says, else connector.yaml)',
    )
    .option('-s, --subscription <name>', 'pull subscription of the dead-letter topic (default: <topic id>-reader)')
    .option('--dry-run', 'show and give back; this is the default')
    .option('--apply', 'publish and acknowledge')
    .option('--to <topic>', 'with --apply: topic to publish to, a bare id or a full name')
    .option('-w, --where <name=value>', 'only letters with this attribute (repeatable, all must match)', repeated)
    .option('-m, --max <count>', 'letters to take at most', positiveWhole, MAX_HELD)
    .option('-r, --rate <per second>', 'most letters to publish per second', positiveNumber)
    .option('--idle <seconds>', 'end when nothing came for this long', positiveNumber, 5)
    .addHelpText(
      'after',
      `
Examples:
  $ npm run connector -- replay-dlq orders
  $ npm run connector -- replay-dlq orders --where dlq-reason=rejected
  $ npm run connector -- replay-dlq orders --apply --to orders --rate 100

Attributes of a letter: dlq-connector, dlq-pipeline, dlq-destination, dlq-reason (serializer or rejected), dlq-error,
dlq-timestamp, dlq-payload (entry or record), dlq-original-message-id, dlq-record-index. All but
dlq-original-message-id are taken off when it is published again. A letter with dlq-payload=entry holds a row entry:
publish it to the topic of a pipeline with serializer entry and framing single. A letter has no ordering key.`,
    )
    .action(async (name: string, options: ReplayOptions & { readonly dryRun?: true }) => {
      if (options.apply && options.dryRun) throw new CommandError('--apply and --dry-run exclude each other');
      done(await replayDlq(context, name, options));
    });
}

/** Options → pulled letters → shown or published → account. */
export async function replayDlq(context: CliContext, name: string, options: ReplayOptions): Promise<ExitCode> {
  const { pipeline } = await readPipeline(context, name, options.config);
  const plan = planReplay(context, name, pipeline, options);
  const puller = await context.pubsub.puller(plan.subscription);
  try {
    return plan.target === undefined
      ? await showLetters(context, puller, plan)
      : await republishLetters(context, puller, plan, plan.target);
  } finally {
    context.terminal.status('');
    await puller.close();
  }
}
