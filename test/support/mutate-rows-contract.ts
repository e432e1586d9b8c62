import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EffectOf } from '../../infra/local/servers/bigtable/faults.ts';
import type { EntryAnswer } from '../../shared/bulk/answer.ts';
import type { MutateRows, MutateRowsReply } from '../../shared/bulk/ports.ts';
import type { RowEntry } from '../../shared/model/mutation.ts';
import { type StatusName } from '../../shared/model/status.ts';
import { tableName } from '../../shared/model/table-name.ts';

/** An implementation of the port before the table `p.i.t` with the family `f`, and what can be done to it. */
export interface MutateRowsSubject {
  readonly mutateRows: MutateRows;
  /** What goes wrong with the next call. */
  next(effect: EffectOf<'MutateRows'>): void;
  /** Keys of the rows that are there, sorted. */
  rowKeys(): Promise<string[]>;
  close(): Promise<void>;
}

export const rowEntry = (rowKey: string, { timestampMicros = 1000n, family = 'f' } = {}): RowEntry => ({
  rowKey: Buffer.from(rowKey),
  mutations: [{ kind: 'setCell', family, qualifier: Buffer.from('q'), timestampMicros, value: Buffer.from('v') }],
});

/** Statuses of a whole request that leave open what was applied; all others are a judgement on every entry. */
const OPEN: readonly StatusName[] = [
  'CANCELLED',
  'UNKNOWN',
  'DEADLINE_EXCEEDED',
  'ABORTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
];
const JUDGEMENTS: readonly StatusName[] = [
  'INVALID_ARGUMENT',
  'NOT_FOUND',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'UNAUTHENTICATED',
];

/** What every implementation of the port promises: one answer per entry, by index, and never success for the unheard. */
export function mutateRowsContract(name: string, start: () => Promise<MutateRowsSubject>): void {
  describe(`the contract of MutateRows: ${name}`, () => {
    let subject: MutateRowsSubject;
    let prefixes = 0;
    beforeAll(async () => {
      subject = await start();
    });
    afterAll(() => subject.close());

    const send = (entries: readonly RowEntry[], timeoutMillis = 5000, table = 't'): Promise<MutateRowsReply> =>
      subject.mutateRows.send({
        table: tableName('p', 'i', table),
        entries: entries.map((entry) => ({ entry, bytes: subject.mutateRows.sizeOf(entry) })),
        timeoutMillis,
      });

    /** Sends rows `a`, `b`, `c` … under a prefix of their own; tells what was answered and which of them are there. */
    async function sendRows(letters: string): Promise<MutateRowsReply & { readonly rows: string }> {
      const prefix = `${(prefixes += 1)}-`;
      const reply = await send(Array.from(letters, (letter) => rowEntry(`${prefix}${letter}`)));
      const keys = (await subject.rowKeys()).filter((key) => key.startsWith(prefix));
      return { ...reply, rows: keys.map((key) => key.slice(prefix.length)).join('') };
    }

    const kinds = (answers: readonly EntryAnswer[]): string[] =>
      answers.map((answer) => ('status' in answer ? `${answer.kind} ${answer.status.code}` : answer.kind));

    test('every entry of a request that goes well is applied', async () => {
      const { answers, isHeard, rows } = await sendRows('abc');
      expect(kinds(answers)).toEqual(['applied', 'applied', 'applied']);
      expect([isHeard, rows]).toEqual([true, 'abc']);
    });

    test.each([
      ['an empty row key', rowEntry('')],
      ['a timestamp of no whole millisecond', rowEntry('row', { timestampMicros: 1001n })],
    ])('%s refuses every entry of the request, and nothing is applied', async (_, bad) => {
      const before = await subject.rowKeys();
      const { answers } = await send([rowEntry('x'), bad, rowEntry('y')]);
      expect(kinds(answers)).toEqual(Array(3).fill('refused INVALID_ARGUMENT'));
      expect(await subject.rowKeys()).toEqual(before);
    });

    test('a missing table refuses every entry', async () => {
      const { answers, isHeard } = await send([rowEntry('x'), rowEntry('y')], 5000, 'nowhere');
      expect(kinds(answers)).toEqual(['refused NOT_FOUND', 'refused NOT_FOUND']);
      expect(isHeard).toBe(true);
    });

    test('a missing family refuses every entry in words of its own', async () => {
      const { answers } = await send([rowEntry('x'), rowEntry('y', { family: 'nowhere' })]);
      expect(kinds(answers)).toEqual(['refused NOT_FOUND', 'refused NOT_FOUND']);
      for (const answer of answers) {
        expect('status' in answer && answer.status.message).toContain('Requested column family not found');
      }
    });

    test.each(JUDGEMENTS)('%s of the request refuses every entry', async (code) => {
      subject.next({ kind: 'refuse', status: { code, message: 'no' } });
      const { answers, isHeard, rows } = await sendRows('ab');
      expect(kinds(answers)).toEqual([`refused ${code}`, `refused ${code}`]);
      expect([isHeard, rows]).toEqual([true, '']);
    });

    test.each(OPEN)('%s of the request leaves every entry unanswered', async (code) => {
      subject.next({ kind: 'lose-answer', status: { code, message: 'lost' } });
      const { answers, rows } = await sendRows('ab');
      expect(kinds(answers)).toEqual([`unanswered ${code}`, `unanswered ${code}`]);
      expect(rows).toBe('ab');
    });

    test('each entry gets its own status, by index', async () => {
      const statuses = new Map([
        [0, { code: 'UNAVAILABLE', message: 'tablet' } as const],
        [2, { code: 'PERMISSION_DENIED', message: 'no' } as const],
      ]);
      subject.next({ kind: 'entry-statuses', statuses });
      const { answers, rows } = await sendRows('abc');
      expect(kinds(answers)).toEqual(['refused UNAVAILABLE', 'applied', 'refused PERMISSION_DENIED']);
      expect(rows).toBe('b');
    });

    test('a stream that ends with OK leaves what it did not name unanswered, however much that is', async () => {
      await fc.assert(
        fc.asyncProperty(fc.nat(12), fc.nat(12), fc.boolean(), async (count, cut, isRestApplied) => {
          const letters = 'abcdefghijklm'.slice(0, count + 1);
          subject.next({ kind: 'cut', entries: cut, isRestApplied });
          const { answers, rows } = await sendRows(letters);
          expect(kinds(answers)).toEqual(Array.from(letters, (_, index) => (index < cut ? 'applied' : 'unanswered')));
          expect(rows).toBe(isRestApplied ? letters : letters.slice(0, cut));
        }),
        { numRuns: 25, seed: 20_260_102 },
      );
    });

    test('a stream that is cut keeps what it told and leaves the rest unanswered', async () => {
      const status = { code: 'UNAVAILABLE', message: 'cut' } as const;
      subject.next({ kind: 'cut', entries: 1, isRestApplied: false, status });
      const { answers, rows } = await sendRows('abc');
      expect(kinds(answers)).toEqual(['applied', 'unanswered UNAVAILABLE', 'unanswered UNAVAILABLE']);
      expect(rows).toBe('a');
    });

    test('an answer without a status is none', async () => {
      subject.next({ kind: 'omit-status', index: 1 });
      expect(kinds((await sendRows('abc')).answers)).toEqual(['applied', 'unanswered', 'applied']);
    });

    test.each([0, 3, 1_000_000])('a stray answer for index %d of three changes nothing', async (index) => {
      subject.next({ kind: 'stray-answer', index, status: { code: 'INVALID_ARGUMENT', message: 'stray' } });
      expect(kinds((await sendRows('abc')).answers)).toEqual(['applied', 'applied', 'applied']);
    });

    test.each([{ isApplied: false }, { isApplied: true }])(
      'silence until the timeout is unanswered and unheard, applied ($isApplied) or not',
      async ({ isApplied }) => {
        subject.next({ kind: 'never-answer', isApplied });
        const { answers, isHeard } = await send([rowEntry(`silent-${isApplied}`)], 100);
        expect(kinds(answers)).toEqual(['unanswered DEADLINE_EXCEEDED']);
        expect(isHeard).toBe(false);
        expect((await subject.rowKeys()).includes(`silent-${isApplied}`)).toBe(isApplied);
      },
    );

    test('a late answer within the timeout is an answer', async () => {
      subject.next({ kind: 'delay', delayMillis: 30 });
      expect(kinds((await sendRows('a')).answers)).toEqual(['applied']);
    });

    test('the rate that the service asks for comes beside the answers, to the fraction of a second', async () => {
      subject.next({ kind: 'rate-limit', factor: 0.75, periodMillis: 1500 });
      const { answers, rateLimit } = await sendRows('ab');
      expect(kinds(answers)).toEqual(['applied', 'applied']);
      expect(rateLimit).toEqual({ factor: 0.75, periodMillis: 1500 });
      expect((await sendRows('a')).rateLimit).toBeUndefined();
    });
  });
}
