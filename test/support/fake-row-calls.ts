import { onAbort } from '../../shared/base/abort.ts';
import type { RowCall, RowReply, SendRowCall } from '../../shared/model/row-call.ts';
import type { StatusName } from '../../shared/model/status.ts';
import {
  CheckAndMutateRowResponse,
  ReadModifyWriteRowResponse,
} from '../../shared/proto/google/bigtable/v2/bigtable.ts';

/** A call that a test answers when it likes. A cancelled one ends as CANCELLED, as the channel would end it. */
export interface HeldCall extends RowCall {
  answer(reply: RowReply): void;
}

/** The port of single-row calls with the test as the service. */
export class FakeRowCalls {
  /** Calls made so far, answered ones included. */
  readonly calls: HeldCall[] = [];
  /** Answers every call at once where it is given. */
  reply: ((call: RowCall) => RowReply) | undefined;

  readonly send: SendRowCall = (call) => {
    const { promise, resolve } = Promise.withResolvers<RowReply>();
    this.calls.push({ ...call, answer: resolve });
    for (const signal of call.signals) {
      // Of one listener: a test may hold very many calls of one signal.
      onAbort(signal, () => {
        resolve(failure('CANCELLED', 'Cancelled on client'));
      });
    }
    if (this.reply) resolve(this.reply(call));
    return promise;
  };
}

export const failure = (code: StatusName, message = 'words of the service', isUnsent = false): RowReply => ({
  kind: 'failed',
  status: { code, message },
  isUnsent,
});

export const conditionalReply = (predicateMatched: boolean): RowReply => ({
  kind: 'answered',
  answer: Buffer.from(CheckAndMutateRowResponse.encode({ predicateMatched }).finish()),
});

/** The answer to an increment of `f:q`. */
export function counterReply(value: bigint): RowReply {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  const cells = [{ timestampMicros: 1000n, value: bytes, labels: [] }];
  const row = {
    key: Buffer.from('k'),
    families: [{ name: 'f', columns: [{ qualifier: Buffer.from('q'), cells }] }],
  };
  return { kind: 'answered', answer: Buffer.from(ReadModifyWriteRowResponse.encode({ row }).finish()) };
}
