import { rowKeyAttribute } from '../emission/messages/attributes.ts';
import { CONNECTOR, SCAN_LETTER_ATTRIBUTES } from '../letters/attributes.ts';
import type { OutgoingMessage } from '../model/publishing.ts';

/** Letters of a scan: what tells of a row, or of a message, that could not be handed on. Pure. */

/** Why a row is told of in place of being handed on. */
export type LetterReason =
  /** The service will not read it for its size. */
  | 'oversized-row'
  /** No message holds it. */
  | 'oversized-message'
  /** The topic refuses its message for its own sake. */
  | 'refused'
  /** The form cannot be made of it, or a module threw at it. */
  | 'form';

export interface ScanLetter {
  readonly run: string;
  readonly split: string;
  readonly reason: LetterReason;
  /** The rule that decided. Holds no data of the row. */
  readonly problem: string;
  /** Absent where one message holds several rows. */
  readonly rowKey?: Buffer;
  /** What could not be handed on, as much of it as fits; empty where it was never read. */
  readonly data: Buffer;
}

/** The first bytes of what fits in no letter; the row itself is still in the table. */
const MAX_DATA_BYTES = 1_000_000;
const MAX_PROBLEM_BYTES = 1024;

export function letterMessage(
  pipeline: string,
  { run, split, reason, problem, rowKey, data }: ScanLetter,
): OutgoingMessage {
  const names = SCAN_LETTER_ATTRIBUTES;
  return {
    data: data.subarray(0, MAX_DATA_BYTES),
    attributes: {
      [names.connector.name]: CONNECTOR,
      [names.pipeline.name]: pipeline,
      [names.run.name]: run,
      [names.split.name]: split,
      [names.reason.name]: reason,
      [names.problem.name]: cut(problem),
      ...(rowKey && rowKeyAttribute(rowKey)),
      ...(data.length > MAX_DATA_BYTES && { [names.bytes.name]: String(data.length) }),
    },
  };
}

/** As much of a text as an attribute holds, without half a character at its end. */
const cut = (text: string): string => {
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_PROBLEM_BYTES) return text;
  return new TextDecoder().decode(bytes.subarray(0, MAX_PROBLEM_BYTES), { stream: true });
};
