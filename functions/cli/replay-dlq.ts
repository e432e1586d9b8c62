import type { Command } from 'commander';
import { abortable } from '../../shared/base/abort.ts';
import { letterAttributes } from '../../shared/letters/attributes.ts';
import { readSink } from './configuration.ts';
import { UsageError, type ExitCode } from './errors.ts';
import { positiveNumber, positiveWhole, repeated } from './option-values.ts';
import { closed } from './interruption.ts';
import type { CliContext } from './ports.ts';
import { LEASE_SECONDS } from './replay/ending.ts';
import { IDLE_SECONDS, planReplay, type ReplayOptions } from './replay/plan.ts';
import { MAX_HELD } from './replay/read.ts';
import { republishLetters } from './replay/republish.ts';
import { showLetters } from './replay/show.ts';

export function addReplayDlq(program: Command, context: CliContext, done: (code: ExitCode) => void): void {
  program
    .command('replay-dlq')
    .summary('look at the dead letters of a pipeline, or publish them again')
    .description(
      'Pulls the dead letters of a pipeline. Without --apply it only shows them, by reason, and gives them back. ' +
        'With --apply it publishes them to the topic by which letters come back to the sink, and acknowledges a letter ' +
        'only after its publish is confirmed: a letter may come twice, and none is lost. Payloads are never shown.',
    )
    .argument('<pipeline>', 'name of the pipeline in the configuration')
    .option(
      '-c, --config <file>',
      'configuration (default: what CONNECTOR_CONFIG or CONNECTOR_CONFIG_FILE says, else connector.yaml)',
    )
    .option('-s, --subscription <name>', 'pull subscription of the dead-letter topic (default: <topic id>-reader)')
    .option('--dry-run', 'show and give back; this is the default')
    .option('--apply', 'publish and acknowledge')
    .option(
      '--to <topic>',
      'with --apply: another topic to publish to, a bare id or a full name (default: deadLetter.replayTopic)',
    )
    .option('-w, --where <name=value>', 'only letters with this attribute (repeatable, all must match)', repeated)
    .option('-m, --max <count>', 'letters to take at most', positiveWhole, MAX_HELD)
    .option('-r, --rate <per second>', 'most letters to publish per second', positiveNumber)
    .option(
      '--idle <seconds>',
      `end when nothing came for this long (default: ${IDLE_SECONDS}; ${LEASE_SECONDS} where nothing at all is visible, so that letters which an earlier run held are seen)`,
      positiveNumber,
    )
    .addHelpText(
      'after',
      `
Examples:
  $ npm run connector -- replay-dlq orders
  $ npm run connector -- replay-dlq orders --where dlq-reason=rejected
  $ npm run connector -- replay-dlq orders --apply --rate 100

The exit code is 0 where every letter that was seen was shown, or published and acknowledged; also where none was
visible, which the report then says. It is 1 where one was not, or could not be given back; 130 after Ctrl-C, 143 after
SIGTERM. Letters are leased for ${LEASE_SECONDS} s at a time while the command runs, and given back when it ends, whatever ends it.

${attributesHelp()}`,
    )
    .action(async (name: string, options: ReplayOptions & { readonly dryRun?: true }) => {
      if (options.apply && options.dryRun) throw new UsageError('--apply and --dry-run exclude each other');
      done(await replayDlq(context, name, options));
    });
}

/** What a letter says of itself, and what of it a replay takes off. */
function attributesHelp(): string {
  const width = Math.max(...letterAttributes.map(({ name }) => name.length));
  const lines = letterAttributes.map(
    ({ name, meaning, atReplay }) =>
      `  ${name.padEnd(width)}  ${meaning.replaceAll('`', '')}${atReplay === 'taken-off' ? ' (taken off at replay)' : ''}`,
  );
  return `Attributes of a letter, beside those of its message:
${lines.join('\n')}

The sink takes a letter back as it is, whatever the framing and the serializer. A letter has no ordering key. Letters of
other pipelines in the same topic are left, but for those that deadLetter.acceptLettersOf names.`;
}

/** Options → pulled letters → shown or published → account. */
export async function replayDlq(context: CliContext, name: string, options: ReplayOptions): Promise<ExitCode> {
  const { pipeline, known } = await readSink(context, name, options.config);
  const plan = planReplay(context, name, pipeline, known, options);
  const puller = await abortable(context.pubsub.puller(plan.subscription), context.signal);
  try {
    return plan.target === undefined
      ? await showLetters(context, puller, plan)
      : await republishLetters(context, puller, plan, plan.target);
  } finally {
    context.terminal.status('');
    await closed(puller.close(), context.ending);
  }
}
