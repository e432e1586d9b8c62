import type { Submitted } from '../../../../shared/bulk/batcher.ts';
import { programArgument, endWith } from '../../support/program.ts';
import { createBatcher, openDataPlane } from '../data-plane/our-layers.ts';
import { entryOf, TABLE } from '../rows.ts';
import { readCsv } from './csv.ts';

export interface ImportArgument {
  readonly address: string;
  readonly file: string;
}

export interface ImportResult {
  readonly rows: number;
}

/** Imports a CSV file through the batcher: 500 rows a request, 4 requests in flight. */
const { address, file } = programArgument() as ImportArgument;
const { mutateRows, pool } = openDataPlane(address);
const batcher = createBatcher(mutateRows);
const { signal } = new AbortController();
let imported = 0;
/** Of the chunk before: its answers are waited for while the next one is read and admitted. */
let pending: Promise<void> = Promise.resolve();
for await (const rows of readCsv(file)) {
  const submitted: Submitted[] = [];
  for (const { key, value } of rows) {
    const handedOver = batcher.submit(TABLE, entryOf(key, value), signal);
    submitted.push(handedOver instanceof Promise ? await handedOver : handedOver);
  }
  await pending;
  pending = settle(submitted);
}
await pending;
pool.close();
endWith({ rows: imported } satisfies ImportResult);

async function settle(submitted: readonly Submitted[]): Promise<void> {
  for (const { kind } of await Promise.all(submitted.map(({ outcome }) => outcome))) {
    if (kind !== 'applied') throw new Error(`a row was ${kind}`);
    imported += 1;
  }
}
