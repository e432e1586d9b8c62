import type { PushedMessage } from '../../../shared/model/record.ts';
import { parseRfc3339 } from '../../../shared/mapping/values/time.ts';
import { CommandError, UsageError } from '../errors.ts';
import { untilAborted } from '../interruption.ts';
import type { CliContext } from '../ports.ts';
import { parseAttributes } from '../publish/attributes.ts';
import { MAX_MESSAGE_BYTES } from '../publish/split.ts';

/** What stands around the sample's data, as the command line says it. */
export interface SampleOptions {
  readonly attribute?: readonly string[];
  readonly orderingKey?: string;
  readonly messageId: string;
  /** RFC 3339. */
  readonly publishTime?: string;
}

/**
 * A message as Pub/Sub would push it, with the bytes of a file or of standard input as its data.
 *
 * @throws {CommandError} where no message can be like that; the reason of the signal where it aborts meanwhile.
 */
export async function readSample(
  { input, clock, signal }: Pick<CliContext, 'input' | 'clock' | 'signal'>,
  file: string | undefined,
  options: SampleOptions,
): Promise<PushedMessage> {
  const attributes = parseAttributes(options.attribute ?? [], 'pubsub');
  const { publishTime, messageId, orderingKey = '' } = options;
  return {
    messageId,
    publishTimeMicros: publishTime === undefined ? BigInt(clock.now()) * 1000n : micros(publishTime),
    attributes,
    orderingKey,
    subscription: '',
    data: await readAll(untilAborted(file === undefined || file === '-' ? input.stdin : input.read(file), signal)),
  };
}

const NANOS_PER_MICRO = 1000n;

function micros(text: string): bigint {
  const nanos = parseRfc3339(text);
  if (nanos !== undefined) return nanos / NANOS_PER_MICRO;
  throw new UsageError(`--publish-time: must be an RFC 3339 time with an offset, got ${JSON.stringify(text)}`);
}

async function readAll(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const read: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > MAX_MESSAGE_BYTES) {
      throw new CommandError(`the input is larger than a message may be (${MAX_MESSAGE_BYTES} bytes)`);
    }
    read.push(chunk);
  }
  return Buffer.concat(read);
}
