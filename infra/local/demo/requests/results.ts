import { readFile } from 'node:fs/promises';
import type { PubSub } from '@google-cloud/pubsub';
import { z } from 'zod';
import { Collector } from '../base/collector.ts';

/** What a result says of a conditional request. */
export interface Result {
  /** The id of the message that asked. */
  readonly correlationId: string;
  /** The row was written by this attempt. */
  readonly hasWritten: boolean;
  /** It may have been written by an earlier attempt of the same request. */
  readonly mayBeReplayed: boolean;
}

const document = z.object({
  correlationId: z.string(),
  outcome: z.object({
    conditional: z.object({ selectedBranch: z.enum(['then', 'otherwise']), selectedBranchHasMutations: z.boolean() }),
  }),
  mayBeReplayed: z.literal(true).optional(),
});

export function readResult(data: Buffer): Result {
  const { correlationId, outcome, mayBeReplayed } = document.parse(JSON.parse(data.toString('utf8')));
  const { selectedBranchHasMutations: hasWritten } = outcome.conditional;
  return { correlationId, hasWritten, mayBeReplayed: mayBeReplayed ?? false };
}

/** Collects the results of a pipeline, in the background, until it is stopped. */
export class ResultReader {
  readonly #results: Result[] = [];
  readonly #ids = new Set<string>();
  readonly #collector: Collector;

  constructor(pubsub: PubSub, subscription: string) {
    this.#collector = new Collector(pubsub, subscription, ({ data }) => {
      const result = readResult(data);
      this.#results.push(result);
      this.#ids.add(result.correlationId);
    });
  }

  get results(): readonly Result[] {
    return this.#results;
  }

  /** Requests that were answered, however often. */
  get answered(): ReadonlySet<string> {
    return this.#ids;
  }

  /** Waits until so many requests are answered, or 30 s are over. */
  until(requests: number, signal: AbortSignal): Promise<void> {
    return this.#collector.until(() => this.#ids.size >= requests, signal);
  }

  stop(): Promise<void> {
    return this.#collector.stop();
  }
}

const httpAnswer = z.object({
  outcome: z.object({
    readModifyWrite: z.object({ cells: z.array(z.object({ value: z.object({ int64: z.string() }) })).length(1) }),
  }),
});

/** Sends the increment that stands in `request.json` over HTTP; the value that the answer holds, as digits. */
export async function incrementOverHttp(url: string, requestFile: string, signal: AbortSignal): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: await readFile(requestFile),
    signal,
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`the row request was answered ${response.status}: ${text}`);
  const [cell] = httpAnswer.parse(JSON.parse(text)).outcome.readModifyWrite.cells;
  return cell?.value.int64 ?? '';
}
