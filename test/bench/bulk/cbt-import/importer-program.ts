import type { MutateRows } from '../../../../shared/bulk/ports.ts';
import type { Outcome } from '../../../../shared/bulk/outcome.ts';
import type { SizedEntry } from '../../../../shared/model/mutation.ts';
import { programArgument, endWith } from '../../support/program.ts';
import { BATCH_ROWS, REQUESTS_IN_FLIGHT } from '../data-plane/layers.ts';
import { createBatcher, openDataPlane } from '../data-plane/our-layers.ts';
import { entryOf, TABLE } from '../rows.ts';
import { readCsv } from './csv.ts';

export interface ImportArgument {
  readonly address: string;
  readonly file: string;
  readonly through: 'data plane' | 'batcher';
}

export interface ImportResult {
  readonly rows: number;
}

/** Imports a CSV file: 500 rows a request, 4 requests in flight. */
const { address, file, through } = programArgument() as ImportArgument;
const { mutateRows, pool } = openDataPlane(address);
const rows = await (through === 'batcher' ? importThroughBatcher(mutateRows) : importThroughDataPlane(mutateRows));
pool.close();
endWith({ rows } satisfies ImportResult);

async function importThroughDataPlane(plane: MutateRows): Promise<number> {
  let imported = 0;
  const inFlight = new Set<Promise<void>>();
  const send = async (entries: readonly SizedEntry[]): Promise<void> => {
    const { answers } = await plane.send({ table: TABLE, entries, timeoutMillis: 20_000 });
    for (const { kind } of answers) if (kind !== 'applied') throw new Error(`a row was ${kind}`);
    imported += answers.length;
  };
  const start = async (entries: readonly SizedEntry[]): Promise<void> => {
    const sending: Promise<void> = send(entries).finally(() => inFlight.delete(sending));
    inFlight.add(sending);
    if (inFlight.size >= REQUESTS_IN_FLIGHT) await Promise.race(inFlight);
  };
  let batch: SizedEntry[] = [];
  for await (const lines of readCsv(file)) {
    for (const { key, value } of lines) {
      const entry = entryOf(key, value);
      batch.push({ entry, bytes: plane.sizeOf(entry) });
      if (batch.length < BATCH_ROWS) continue;
      await start(batch);
      batch = [];
    }
  }
  if (batch.length > 0) await start(batch);
  await Promise.all(inFlight);
  return imported;
}

async function importThroughBatcher(plane: MutateRows): Promise<number> {
  const batcher = createBatcher(plane);
  const { signal } = new AbortController();
  const { promise: allImported, resolve, reject } = Promise.withResolvers<undefined>();
  let submitted = 0;
  let imported = 0;
  let isRead = false;
  const onOutcome = ({ kind }: Outcome): void => {
    if (kind !== 'applied') reject(new Error(`a row was ${kind}`));
    imported += 1;
    if (isRead && imported === submitted) resolve(undefined);
  };
  for await (const lines of readCsv(file)) {
    for (const { key, value } of lines) {
      submitted += 1;
      const admitted = batcher.submit(TABLE, entryOf(key, value), signal, onOutcome);
      if (admitted) await admitted;
    }
  }
  isRead = true;
  if (imported < submitted) await allImported;
  return imported;
}
