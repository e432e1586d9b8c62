import type { BenchCase, BenchSettings, CaseReport } from '../../support/case.ts';
import { runProgram } from '../../support/program.ts';
import { interleave, type Sample } from '../../support/rounds.ts';
import { ratioOf } from '../../support/statistics.ts';
import { startServer } from '../embedded.ts';
import { type StagingArgument, type StagingResult, type Way, WAYS } from './ways.ts';

const ROUNDS = 5;
const QUICK_ROUNDS = 3;

/** Enough for a second of work, so the slow way stores fewer. */
const ENVELOPES: Readonly<Record<Way, number>> = {
  'messages of 100': 48_000,
  'messages of one': 24_000,
  'a document each': 6000,
};
const QUICK_SHARE = 0.25;
const WARM_UP_SHARE = 0.25;

const RATE = 'envelopes per second';

/** The stager against one document for each envelope, on the same kind of server. */
export const stagingCase: BenchCase = {
  name: 'staging',
  title: 'Staging envelopes of 1 KiB from concurrent messages, embedded Firestore',
  async run(settings): Promise<CaseReport> {
    const measured = await interleave(
      settings.runs ?? (settings.isQuick ? QUICK_ROUNDS : ROUNDS),
      WAYS.map((way) => ({ name: way, measure: () => measure(way, settings) })),
      settings,
    );
    const compare = (ours: Way): ReturnType<typeof ratioOf> =>
      ratioOf(
        `${ours} / a document each, ${RATE}`,
        measured.values(ours, RATE),
        measured.values('a document each', RATE),
        {
          atLeast: 20,
        },
      );
    return {
      kind: 'measured',
      series: measured.series(),
      ratios: [compare('messages of 100'), compare('messages of one')],
      notes: [
        '80 messages of 100 records or 1,000 of one at a time; documents 32 at a time, with the same official client.',
        'Server: the embedded one, started empty for every measurement.',
      ],
    };
  },
};

async function measure(way: Way, { isQuick }: BenchSettings): Promise<Sample> {
  await using server = await startServer('firestore');
  const envelopes = ENVELOPES[way] * (isQuick ? QUICK_SHARE : 1);
  const argument: StagingArgument = {
    way,
    address: server.address,
    envelopes,
    warmUpEnvelopes: envelopes * WARM_UP_SHARE,
  };
  const result = await runProgram<StagingResult>(new URL('program.ts', import.meta.url), argument);
  return { [RATE]: result.envelopesPerSecond, 'CPU µs per envelope': result.cpuMicrosPerEnvelope };
}
