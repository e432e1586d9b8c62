import type { WriteOutcome } from '../../../../shared/bulk/outcome.ts';
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
const { promise: allImported, resolve, reject } = Promise.withResolvers<undefined>();
let submitted = 0;
let imported = 0;
let isRead = false;
const onOutcome = ({ kind }: WriteOutcome): void => {
  if (kind !== 'applied') reject(new Error(`a row was ${kind}`));
  imported += 1;
  if (isRead && imported === submitted) resolve(undefined);
};
for await (const rows of readCsv(file)) {
  for (const { key, value } of rows) {
    submitted += 1;
    const admitted = batcher.submit(TABLE, entryOf(key, value), signal, onOutcome);
    if (admitted) await admitted;
  }
}
isRead = true;
if (imported < submitted) await allImported;
pool.close();
endWith({ rows: imported } satisfies ImportResult);
