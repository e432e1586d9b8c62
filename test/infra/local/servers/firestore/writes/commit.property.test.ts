import fc from 'fast-check';
import { expect, test } from 'vitest';
import { commit } from '../../../../../../infra/local/servers/firestore/writes/commit.ts';
import { GrpcError } from '../../../../../../infra/local/servers/rpc/grpc.ts';
import { microsOfTimestamp, timestampOfMicros } from '../../../../../../infra/local/servers/rpc/proto-time.ts';
import { statusName } from '../../../../../../shared/model/status.ts';
import type { Precondition } from '../../../../../../shared/proto/google/firestore/v1/common.ts';
import type { Write } from '../../../../../../shared/proto/google/firestore/v1/write.ts';
import { DATABASE, integer, remove, ROOT, set } from '../../../../../support/firestore-raw-client.ts';
import { ManualClock } from '../../../../../support/manual-clock.ts';
import { emptyState } from '../state.ts';

/** A write of the model: a number set or a document deleted, and what must be so before. */
interface Step {
  readonly id: string;
  readonly action: 'set' | 'delete';
  readonly n: bigint;
  readonly requires: 'nothing' | 'there' | 'absent' | 'version' | 'other version';
}

interface Kept {
  readonly n: bigint;
  readonly micros: bigint;
}
/** Of a commit that was refused: no version of anything. */
const NO_TIME = -1n;
type Model = ReadonlyMap<string, Kept>;

const steps = fc.array(
  fc.record({
    id: fc.constantFrom('a', 'b', 'c'),
    action: fc.constantFrom('set' as const, 'set' as const, 'delete' as const),
    n: fc.bigInt(0n, 3n),
    requires: fc.constantFrom<Step['requires'][]>('nothing', 'nothing', 'there', 'absent', 'version', 'other version'),
  }),
  { minLength: 1, maxLength: 4 },
);

const nameOf = (id: string): string => `${ROOT}/c/${id}`;

function preconditionOf({ id, requires }: Step, model: Model): Precondition | undefined {
  const micros = model.get(id)?.micros ?? 1n;
  switch (requires) {
    case 'nothing':
      return undefined;
    case 'there':
      return { conditionType: { $case: 'exists', value: true } };
    case 'absent':
      return { conditionType: { $case: 'exists', value: false } };
    case 'version':
      return { conditionType: { $case: 'updateTime', value: timestampOfMicros(micros) } };
    case 'other version':
      return { conditionType: { $case: 'updateTime', value: timestampOfMicros(micros + 7n) } };
  }
}

function writeOf(step: Step, model: Model): Write {
  const write = step.action === 'set' ? set(nameOf(step.id), { n: integer(step.n) }) : remove(nameOf(step.id));
  return { ...write, currentDocument: preconditionOf(step, model) };
}

/** What the commit must make of the model, by the simplest means: a copy that is thrown away at the first refusal. */
function expectation(before: Model, commitSteps: readonly Step[], micros: bigint): { status: string; after: Model } {
  const after = new Map(before);
  for (const { id, action, n, requires } of commitSteps) {
    const current = after.get(id);
    const versionAtStart = before.get(id)?.micros ?? 1n;
    if (requires === 'there' && !current) return { status: 'NOT_FOUND', after: before };
    if (requires === 'absent' && current) return { status: 'ALREADY_EXISTS', after: before };
    if (requires === 'other version') return { status: 'FAILED_PRECONDITION', after: before };
    if (requires === 'version' && current?.micros !== versionAtStart) {
      return { status: 'FAILED_PRECONDITION', after: before };
    }
    if (action === 'delete') after.delete(id);
    else if (current?.n !== n) after.set(id, { n, micros });
  }
  return { status: 'OK', after };
}

test('a commit happens as a whole, as its preconditions say, or not at all; times only grow', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { maxLength: 12 }), async (commits) => {
      const state = emptyState(new ManualClock());
      let model: Model = new Map();
      let lastMicros = 0n;
      let billed = 0;
      for (const commitSteps of commits) {
        const writes = commitSteps.map((step) => writeOf(step, model));
        const request = {
          database: DATABASE,
          writes,
          transaction: Buffer.alloc(0),
          requestOptions: undefined,
          bytes: 0,
        };
        const answer = await commit(state, request, new AbortController().signal).catch((error: unknown) => {
          if (!(error instanceof GrpcError)) throw error;
          return statusName(error.code);
        });
        const micros = typeof answer === 'string' ? NO_TIME : microsOfTimestamp(answer.commitTime!);
        const { status, after } = expectation(model, commitSteps, micros);
        expect(typeof answer === 'string' ? answer : 'OK').toBe(status);
        if (typeof answer !== 'string') {
          expect(micros).toBeGreaterThan(lastMicros);
          lastMicros = micros;
          billed += writes.length;
        }
        model = after;
        expect(stored(state.store)).toEqual([...model].toSorted(([a], [b]) => (a < b ? -1 : 1)));
      }
      const { writes, deletes } = state.counters.billed;
      expect(writes + deletes).toBe(billed);
    }),
    { numRuns: 300 },
  );
});

const stored = (store: ReturnType<typeof emptyState>['store']): [string, Kept][] =>
  [...store.documents(`${ROOT}/c`, 'ascending')].map(({ name, fields, updateTimeMicros }) => {
    const n = fields.n?.valueType;
    if (n?.$case !== 'integerValue') throw new Error(`${name} has no integer n`);
    return [name.slice(`${ROOT}/c/`.length), { n: n.value, micros: updateTimeMicros }];
  });
