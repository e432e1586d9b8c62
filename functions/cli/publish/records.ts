import { untilAborted } from '../interruption.ts';
import type { InputFiles } from '../ports.ts';
import { MAX_MESSAGE_BYTES, createSplitter, type Format } from './split.ts';

/** Reads records from files or standard input, one at a time. */

/** Where a record stands in the input, for reports. */
export interface Position {
  readonly source: string;
  readonly line: number;
}

/** One record, or why this part of the input cannot be one. */
export type SourceRecord =
  | { readonly at: Position; readonly data: Buffer; readonly problem?: never }
  | { readonly at: Position; readonly data?: never; readonly problem: string };

/** How much of the input was read, for progress. */
export interface ReadProgress {
  bytesRead: number;
  /** Records, those that cannot be published included. */
  records: number;
}

/**
 * @param files paths, `-` for standard input; none at all is standard input.
 * @throws the reason of `signal` as soon as that aborts, also where no input comes.
 * @throws {CommandError} where a JSON array is broken, because nothing after the break can be told apart.
 */
export async function* readRecords(
  input: InputFiles,
  files: readonly string[],
  format: Format,
  progress: ReadProgress,
  signal: AbortSignal,
): AsyncGenerator<SourceRecord> {
  for (const file of files.length === 0 ? ['-'] : files) {
    const [source, chunks] = file === '-' ? ['standard input', input.stdin] : [file, input.read(file)];
    const splitter = createSplitter(format, source);
    for await (const chunk of untilAborted(chunks, signal)) {
      progress.bytesRead += chunk.length;
      for (const { line, data } of splitter.push(chunk)) {
        progress.records += 1;
        yield toRecord({ source, line }, data, format);
      }
    }
    for (const { line, data } of splitter.end()) {
      progress.records += 1;
      yield toRecord({ source, line }, data, format);
    }
  }
}

function toRecord(at: Position, data: Buffer | undefined, format: Format): SourceRecord {
  if (!data) return { at, problem: `is larger than a message may be (${MAX_MESSAGE_BYTES} bytes)` };
  const mustBeJson = format === 'ndjson' || format === 'json-array';
  if (mustBeJson && !isJson(data)) {
    return { at, problem: 'is not JSON; --format lines publishes a line as it is' };
  }
  return { at, data };
}

function isJson(data: Buffer): boolean {
  try {
    JSON.parse(data.toString());
    return true;
  } catch {
    return false;
  }
}
