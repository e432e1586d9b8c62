import { fileURLToPath } from 'node:url';
import { sleep, systemClock } from '../../../../shared/base/clock.ts';
import { LocalCloudError } from '../../base/local-error.ts';
import { type LocalConnector, startLocalConnector } from '../../run/connector.ts';
import type { Servers } from '../base/platform.ts';
import type { RunOptions } from '../base/run.ts';
import { compareSnapshots, readSnapshot, type Snapshot } from './cells.ts';
import { Letters } from './letters.ts';
import type { ScanState } from './scan-state.ts';
import { startRun } from './start-run.ts';
import { COPY, readerOf, rowsOf } from './stage.ts';
import type { ScanObserved } from './verdict.ts';

/** The second half: the rows as entries, through a topic and a bulk sink, into another table. */

const CONFIG = fileURLToPath(new URL('copy.yaml', import.meta.url));
const RUN = { configFile: CONFIG, pipeline: 'copy', run: 'demo-copy' };
const LOOK_MILLIS = 200;

export interface Copying {
  readonly servers: Servers;
  readonly state: ScanState;
  readonly options: Pick<RunOptions, 'source' | 'functionTimeScale' | 'signal'>;
  readonly onLine: (label: string, line: string) => void;
}

export interface Copied {
  readonly observed: Omit<ScanObserved['copy'], 'difference'> & { readonly snapshot: Snapshot };
  /** From the first row that was written, or a moment later, to the last acknowledgement of the sink. */
  readonly millis: number;
}

/** A second deployment: four slots, a topic, a bulk sink. Resolves when everything is written, and all of it is stopped. */
export async function copyTable({ servers, state, options, onLine }: Copying, largeKey: string): Promise<Copied> {
  const { cloud, pubsub, tableOf } = servers;
  const { source, functionTimeScale, signal } = options;
  await startRun(cloud, RUN);
  const connector = await startLocalConnector({
    ...{ cloud, configFile: CONFIG, onLine },
    ...(functionTimeScale !== undefined && { functionTimeScale }),
    ...(source !== undefined && { source }),
  });
  const letters = new Letters(pubsub, readerOf(connector, 'dead-letters'));
  try {
    const { totals, millis } = await untilCopied(servers, connector, state, signal);
    const about = await letters.read(1, signal);
    const snapshot = await readSnapshot(tableOf(COPY), largeKey);
    return { millis, observed: { totals, rows: snapshot.size, letters: about, snapshot } };
  } finally {
    await letters.stop();
    await connector.stop();
  }
}

async function untilCopied(
  { servers: { bigtable, pubsub } }: Servers,
  connector: LocalConnector,
  state: ScanState,
  signal: AbortSignal,
): Promise<Pick<Copied, 'millis'> & Pick<ScanObserved['copy'], 'totals'>> {
  const input = connector.pipelines.find(({ name }) => name === 'paste')?.input.name ?? '';
  let startedAt: number | undefined;
  for (;;) {
    if (rowsOf(bigtable, COPY) > 0) startedAt ??= systemClock.now();
    const { state: now, isTold, totals, problem } = await state.run(RUN.pipeline, RUN.run);
    // The end is told behind every row, so nothing comes any more.
    if (now === 'done' && isTold && totals && pubsub.counters(input).backlog === 0) {
      return { totals, millis: systemClock.now() - (startedAt ?? systemClock.now()) };
    }
    if (now === 'failed' || now === 'cancelled') throw new LocalCloudError(`the run of the copy ${now}: ${problem}`);
    await sleep(systemClock, LOOK_MILLIS, signal);
  }
}

export const compareCopy = ({ observed: { snapshot, ...seen } }: Copied, table: Snapshot): ScanObserved['copy'] => ({
  ...seen,
  difference: compareSnapshots(table, snapshot),
});
