import { setTimeout as wait } from 'node:timers/promises';
import { load } from '../../support/http-load.ts';
import { endWith, programArgument } from '../../support/program.ts';
import { pushOfLines, preparedPushes } from '../pushes.ts';
import { keyOf } from '../rows.ts';

export interface LinesArgument {
  readonly port: number;
  /** Whether the lines are what the pipeline takes, or CSV. */
  readonly kind: 'good' | 'bad';
  readonly linesPerMessage: number;
  /** One after the other. */
  readonly messages: number;
}

export interface LinesResult {
  /** From the first message to the answer of the last. */
  readonly millis: number;
  /** Of a good message of one record, sent beside them again and again. */
  readonly longestBesideMillis: number;
}

const PAUSE_MILLIS = 20;
const VALUE = 'v'.repeat(40);
const [beside] = preparedPushes(1, { recordsPerMessage: 1, valueBytes: VALUE.length }) as [Buffer];

const { port, kind, linesPerMessage, messages } = programArgument() as LinesArgument;
const lineOf = (row: number): string =>
  kind === 'good' ? JSON.stringify({ key: keyOf(row), value: VALUE }) : `${keyOf(row)},${VALUE},padded,as,json`;
const prepared = [
  pushOfLines(
    'many',
    Array.from({ length: linesPerMessage }, (_, row) => lineOf(row)),
  ),
];
let isOver = false;
const working = load({ port, concurrency: 1, requests: messages, prepared }).finally(() => {
  isOver = true;
});
const [{ millis }, longestBesideMillis] = await Promise.all([working, longestBeside()]);
endWith({ millis, longestBesideMillis } satisfies LinesResult);

/** How long a message took at most that came while the others were worked on. */
async function longestBeside(): Promise<number> {
  let longest = 0;
  while (!isOver) {
    await wait(PAUSE_MILLIS);
    const { millis: latency } = await load({ port, concurrency: 1, requests: 1, prepared: [beside] });
    longest = Math.max(longest, latency);
  }
  return longest;
}
