import type { EntryAnswer } from '../../shared/bulk/answer.ts';
import type { MutateRows, MutateRowsCall, MutateRowsReply } from '../../shared/bulk/ports.ts';
import { entrySize } from '../../shared/google/bigtable/encode.ts';

/** One request that a test holds in its hands until it answers. */
export interface HeldRequest {
  readonly call: MutateRowsCall;
  readonly rows: readonly string[];
  reply(reply: Partial<MutateRowsReply>): void;
  applyAll(): void;
  fail(error: Error): void;
}

/** Holds every request until the test answers it: nothing completes by itself. */
export class ScriptedMutateRows implements MutateRows {
  readonly requests: HeldRequest[] = [];
  sizeOf = entrySize;

  send(call: MutateRowsCall): Promise<MutateRowsReply> {
    return new Promise((resolve, reject) => {
      const applied = (): EntryAnswer[] => call.entries.map(() => ({ kind: 'applied' }));
      this.requests.push({
        call,
        rows: call.entries.map(({ entry }) => entry.rowKey.toString()),
        reply: (reply) => {
          resolve({ answers: applied(), isHeard: true, ...reply });
        },
        applyAll: () => {
          resolve({ answers: applied(), isHeard: true });
        },
        fail: reject,
      });
    });
  }
}
