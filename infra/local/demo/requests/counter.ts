import { readFile } from 'node:fs/promises';
import { z } from 'zod';

const answer = z.object({
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
  const [cell] = answer.parse(JSON.parse(text)).outcome.readModifyWrite.cells;
  return cell?.value.int64 ?? '';
}
