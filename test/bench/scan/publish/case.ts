import type { BenchCase, BenchSettings, CaseReport } from '../../support/case.ts';
import { startNullServer } from '../../support/null-server.ts';
import { runProgram } from '../../support/program.ts';
import { interleave } from '../../support/rounds.ts';
import { ratioOf } from '../../support/statistics.ts';
import type { Keys, LayerArgument, LayerResult } from './layers.ts';

const FULL_ROUNDS = 5;
const QUICK_ROUNDS = 1;

/** Messages of one measurement: seconds of work. */
const MESSAGES = 300_000;
/** A request for each message takes as long with so many. */
const MESSAGES_WITH_A_KEY_EACH = 20_000;
const WARM_UP_SHARE = 0.25;
const QUICK_SHARE = 0.1;

const CPU = 'CPU µs per message';

interface Subject {
  readonly name: string;
  readonly client: LayerArgument['client'];
  readonly keys: Keys;
}

const SUBJECTS = {
  none: { name: 'ours, no key', client: 'ours', keys: 'none' },
  officialNone: { name: 'official, no key', client: 'official', keys: 'none' },
  groups: { name: 'ours, 64 groups', client: 'ours', keys: 64 },
  officialEach: { name: 'official, a key each', client: 'official', keys: 'each' },
  officialGroups: { name: 'official, 64 groups', client: 'official', keys: 64 },
  each: { name: 'ours, a key each', client: 'ours', keys: 'each' },
  groups16: { name: 'ours, 16 groups', client: 'ours', keys: 16 },
  groups256: { name: 'ours, 256 groups', client: 'ours', keys: 256 },
  groups1024: { name: 'ours, 1,024 groups', client: 'ours', keys: 1024 },
} as const satisfies Record<string, Subject>;

/** CPU of the publisher's process for one message of 1 KiB, to a topic in another process that stores nothing. */
export const publishCase: BenchCase = {
  name: 'publish',
  title: 'Publishing: CPU per message of 1 KiB, null server',
  async run(settings): Promise<CaseReport> {
    await using server = await startNullServer();
    const measured = await interleave(
      settings.runs ?? (settings.isQuick ? QUICK_ROUNDS : FULL_ROUNDS),
      Object.values(SUBJECTS).map((subject) => ({
        name: subject.name,
        measure: () => measure(subject, server.address, settings),
      })),
      settings,
    );
    const cpu = (subject: Subject): number[] => measured.values(subject.name, CPU);
    const { none, officialNone, groups, officialEach } = SUBJECTS;
    return {
      kind: 'measured',
      series: measured.series(),
      ratios: [
        ratioOf('official / ours without key', cpu(officialNone), cpu(none), { atLeast: 1.5 }),
        ratioOf('official with a key each / ours with 64 groups', cpu(officialEach), cpu(groups), { atLeast: 10 }),
        ratioOf('ours with 64 groups / without key', cpu(groups), cpu(none), { atMost: 1.2 }),
      ],
      notes: [
        'CPU is user and system time of the publishing process with all its threads.',
        'The official client gathers up to 1,000 messages, 9 MiB or 10 ms; every message has five attributes.',
      ],
    };
  },
};

async function measure(
  { client, keys }: Subject,
  address: string,
  { isQuick }: BenchSettings,
): Promise<Readonly<Record<string, number>>> {
  const messages = (keys === 'each' ? MESSAGES_WITH_A_KEY_EACH : MESSAGES) * (isQuick ? QUICK_SHARE : 1);
  const argument: LayerArgument = { client, keys, address, messages, warmUpMessages: messages * WARM_UP_SHARE };
  const result = await runProgram<LayerResult>(new URL('program.ts', import.meta.url), argument);
  return {
    [CPU]: result.cpuMicrosPerMessage,
    'messages per second': result.messagesPerSecond,
    'peak RSS MiB': result.peakRssMiB,
  };
}
