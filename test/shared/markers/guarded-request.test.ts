import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RecordError } from '../../../shared/base/errors.ts';
import type { ConditionalRequest } from '../../../shared/model/conditional.ts';
import { cellExists, familyEquals, interleave, noCell, type RowFilter } from '../../../shared/model/filter.ts';
import type { Mutation } from '../../../shared/model/mutation.ts';
import type { RowRequest } from '../../../shared/model/row-request.ts';
import { guarded, type Marker } from '../../../shared/markers/guarded-request.ts';
import { addToQ, conditional, hasQ, increment, setQ } from '../../support/row-requests.ts';

const marker: Marker = { family: 'm', identity: '0123456789abcdef0123456789abcdef' };

const refusalOf = (request: RowRequest): string => {
  try {
    guarded(request, marker);
  } catch (error) {
    if (error instanceof RecordError) return error.message;
    throw error;
  }
  return expect.unreachable('the request was guarded');
};

describe('a guarded request', () => {
  const cell = {
    kind: 'setCell',
    family: 'm',
    qualifier: Buffer.from(marker.identity),
    timestampMicros: 0n,
    value: Buffer.from('1'),
  };
  const isThere = cellExists('m', cell.qualifier);

  test('asks for its predicate or its marker, and leaves the marker last in either branch', () => {
    expect(guarded(conditional({ predicate: hasQ }), marker)).toEqual({
      rowKey: Buffer.from('k'),
      predicate: interleave(hasQ, isThere),
      then: [cell],
      otherwise: [setQ, cell],
    });
  });

  test('whose predicate lets nothing through asks for its marker alone', () => {
    expect(guarded(conditional({ predicate: noCell() }), marker).predicate).toEqual(isThere);
  });

  test('without a predicate asks for any cell, which the marker is', () => {
    expect(guarded(conditional({}), marker).predicate).toBeUndefined();
  });

  test.each<[string, RowRequest, string]>([
    ['a read-modify-write', increment(), 'keep the counter in an aggregate family and send AddToCell'],
    ['mutations in then', conditional({ predicate: hasQ, then: [setQ] }), 'state the condition the other way round'],
    ['a deletion of the row', conditional({ otherwise: [{ kind: 'deleteFromRow' }] }), 'must not delete the row'],
    [
      'a mutation of the marker family',
      conditional({ otherwise: [{ ...setQ, family: 'm' }] }),
      'leave the marker family',
    ],
  ])('is not made of %s', (_what, request, alternative) => {
    expect(refusalOf(request)).toContain(alternative);
  });
});

/** A row that counts how often each mutation was applied, and the filters that these requests use. */
class ModelRow {
  readonly #cells = new Set<string>();
  readonly applied = new Map<Mutation, number>();

  check({ predicate, then, otherwise }: ConditionalRequest): boolean {
    const isMatched = predicate ? this.#passes(predicate).size > 0 : this.#cells.size > 0;
    for (const mutation of isMatched ? then : otherwise) this.apply(mutation);
    return isMatched;
  }

  apply(mutation: Mutation): void {
    this.applied.set(mutation, (this.applied.get(mutation) ?? 0) + 1);
    if (mutation.kind === 'setCell' || mutation.kind === 'addToCell') this.#cells.add(nameOf(mutation));
    if (mutation.kind === 'deleteFromFamily') {
      for (const cell of this.#cells) if (cell.startsWith(`${mutation.family}:`)) this.#cells.delete(cell);
    }
  }

  #passes(filter: RowFilter, cells: ReadonlySet<string> = this.#cells): Set<string> {
    const where = (test: (cell: string) => boolean): Set<string> => new Set([...cells].filter(test));
    switch (filter.kind) {
      case 'none':
        return new Set();
      case 'family':
        return where((cell) => cell.startsWith(`${filter.family}:`));
      case 'qualifier':
        return where((cell) => cell.endsWith(`:${filter.qualifier.toString()}`));
      case 'chain':
        return filter.filters.reduce((passed, step) => this.#passes(step, passed), new Set(cells));
      case 'interleave':
        return new Set(filter.filters.flatMap((one) => [...this.#passes(one, cells)]));
      default:
        throw new TypeError(`the model knows no filter ${filter.kind}`);
    }
  }
}

const nameOf = ({ family, qualifier }: { readonly family: string; readonly qualifier: Buffer }): string =>
  `${family}:${qualifier.toString()}`;

const CLEAR: Mutation = { kind: 'deleteFromFamily', family: 'f' };

describe('whatever is delivered again, and whatever else changes the row', () => {
  const predicate = fc.constantFrom<RowFilter | undefined>(undefined, noCell(), hasQ, familyEquals('g'));
  const step = fc.oneof(
    fc.record({ kind: fc.constant('deliver' as const), of: fc.nat({ max: 3 }) }),
    fc.record({
      kind: fc.constant('change' as const),
      by: fc.constantFrom<Mutation>(CLEAR, setQ, { ...setQ, family: 'g' }),
    }),
  );
  const schedule = fc.record({
    predicates: fc.tuple(predicate, predicate, predicate, predicate),
    steps: fc.array(step),
  });

  /** Runs a schedule and returns how often the effect of each request was applied, and its first answers. */
  function run(
    { predicates, steps }: typeof schedule extends fc.Arbitrary<infer Value> ? Value : never,
    guards: boolean,
  ) {
    const row = new ModelRow();
    const effects = predicates.map((_, id) => addToQ(BigInt(id), 'sum'));
    const decided = new Map<number, boolean>();
    for (const one of steps) {
      if (one.kind === 'change') {
        row.apply(one.by);
        continue;
      }
      const { of: id } = one;
      const filter = predicates[id];
      const asked = conditional({ ...(filter && { predicate: filter }), otherwise: [effects[id]!] });
      const identity = String(id).repeat(32);
      const isMatched = row.check(
        guards ? guarded(asked, { family: 'm', identity }) : (asked.request as ConditionalRequest),
      );
      if (!decided.has(id)) decided.set(id, isMatched);
    }
    return { decided, counts: effects.map((effect) => row.applied.get(effect) ?? 0) };
  }

  test('a guarded request is applied once where its first answer was no match, and never where it was one', () => {
    fc.assert(
      fc.property(schedule, (given) => {
        const { decided, counts } = run(given, true);
        for (const [id, isMatched] of decided) expect(counts[id]).toBe(isMatched ? 0 : 1);
      }),
    );
  });

  test('an unguarded one is not, so that the property can fail', () => {
    const again = { kind: 'deliver', of: 0 } as const;
    const { counts } = run({ predicates: [noCell(), noCell(), noCell(), noCell()], steps: [again, again] }, false);
    expect(counts[0]).toBe(2);
  });
});
