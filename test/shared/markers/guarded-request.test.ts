import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RecordError } from '../../../shared/base/errors.ts';
import type { ConditionalRequest } from '../../../shared/model/conditional.ts';
import {
  cellExists,
  cellsPerRow,
  chain,
  familyEquals,
  interleave,
  MAX_FILTER_DEPTH,
  noCell,
  otherFamilies,
  type RowFilter,
  timestampRange,
  valueEquals,
} from '../../../shared/model/filter/filter.ts';
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

  const data = otherFamilies('m');

  test('asks the row without markers for its predicate, or for its own marker, which it leaves last in either branch', () => {
    const predicate = valueEquals(Buffer.from('1'));
    expect(guarded(conditional({ predicate }), marker)).toEqual({
      rowKey: Buffer.from('k'),
      predicate: interleave(chain(data, predicate), isThere),
      then: [cell],
      otherwise: [setQ, cell],
    });
  });

  test('whose predicate lets nothing through asks for its marker alone', () => {
    expect(guarded(conditional({ predicate: noCell() }), marker).predicate).toEqual(isThere);
  });

  test('without a predicate asks for any cell that is no marker of another request', () => {
    expect(guarded(conditional({}), marker).predicate).toEqual(interleave(data, isThere));
  });

  test('whose predicate is a chain takes the step before its others, so that no limit counts a marker', () => {
    const steps = [cellsPerRow(1), valueEquals(Buffer.from('1'))];
    const predicate = chain(...steps);
    expect(guarded(conditional({ predicate }), marker).predicate).toEqual(interleave(chain(data, ...steps), isThere));
  });

  test('leaves room for all levels of a predicate but two', () => {
    let predicate: RowFilter = interleave(hasQ);
    for (let depth = 2; depth < MAX_FILTER_DEPTH - 2; depth += 1) predicate = interleave(predicate);
    expect(guarded(conditional({ predicate }), marker).otherwise).toHaveLength(2);
    for (let depth = 0; depth < 2; depth += 1) predicate = interleave(predicate);
    expect(refusalOf(conditional({ predicate }))).toContain('18 levels of chains and interleaves');
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

interface ModelCell {
  readonly family: string;
  readonly qualifier: string;
  readonly timestampMicros: bigint;
  readonly value: string;
}

/** A row that counts how often each mutation was applied, and the filters that these requests use. */
class ModelRow {
  readonly #cells = new Map<string, ModelCell>();
  readonly applied = new Map<Mutation, number>();

  check({ predicate, then, otherwise }: ConditionalRequest): boolean {
    const cells = [...this.#cells.values()];
    const isMatched = (predicate ? this.#passes(predicate, cells) : cells).length > 0;
    for (const mutation of isMatched ? then : otherwise) this.apply(mutation);
    return isMatched;
  }

  apply(mutation: Mutation): void {
    this.applied.set(mutation, (this.applied.get(mutation) ?? 0) + 1);
    if (mutation.kind === 'setCell' || mutation.kind === 'addToCell') {
      const { family, timestampMicros } = mutation;
      const qualifier = mutation.qualifier.toString();
      const value = mutation.kind === 'setCell' ? mutation.value.toString() : 'a sum';
      this.#cells.set(`${family}:${qualifier}`, { family, qualifier, timestampMicros, value });
    }
    if (mutation.kind === 'deleteFromFamily') {
      for (const [key, { family }] of this.#cells) if (family === mutation.family) this.#cells.delete(key);
    }
  }

  #passes(filter: RowFilter, cells: readonly ModelCell[]): readonly ModelCell[] {
    switch (filter.kind) {
      case 'none':
        return [];
      case 'family':
        return cells.filter(({ family }) => family === filter.family);
      case 'otherFamilies':
        return cells.filter(({ family }) => family !== filter.family);
      case 'qualifier':
        return cells.filter(({ qualifier }) => qualifier === filter.qualifier.toString());
      case 'value':
        return cells.filter(({ value }) => value === filter.value.toString());
      case 'timestampRange': {
        const { startMicros, endMicros } = filter;
        return cells.filter(
          ({ timestampMicros: at }) => at >= startMicros && (endMicros === undefined || at < endMicros),
        );
      }
      case 'cellsPerRow':
        return cells.slice(0, filter.count);
      case 'chain':
        return filter.filters.reduce((passed, step) => this.#passes(step, passed), cells);
      case 'interleave':
        return filter.filters.flatMap((one) => this.#passes(one, cells));
      default:
        throw new TypeError(`the model knows no filter ${filter.kind}`);
    }
  }
}

const CLEAR: Mutation = { kind: 'deleteFromFamily', family: 'f' };

describe('whatever is delivered again, and whatever else changes the row', () => {
  const predicate = fc.constantFrom<RowFilter | undefined>(
    undefined,
    noCell(),
    hasQ,
    familyEquals('g'),
    // Those that a marker would answer.
    valueEquals(Buffer.from('1')),
    timestampRange(0n, 1000n),
    chain(cellsPerRow(1), valueEquals(Buffer.from('v'))),
    interleave(valueEquals(Buffer.from('1')), hasQ),
  );
  const step = fc.oneof(
    fc.record({ kind: fc.constant('deliver' as const), of: fc.nat({ max: 3 }) }),
    fc.record({
      kind: fc.constant('change' as const),
      by: fc.constantFrom<Mutation>(CLEAR, setQ, { ...setQ, family: 'g' }, { ...setQ, value: Buffer.from('1') }),
    }),
  );
  const schedule = fc.record({
    /** Markers of requests that no step delivers, which come before and between those that do. */
    foreign: fc.array(fc.nat({ max: 30 }), { maxLength: 5 }),
    predicates: fc.tuple(predicate, predicate, predicate, predicate),
    steps: fc.array(step),
  });

  /** Runs a schedule and returns how often the effect of each request was applied, and its first answers. */
  function run(
    { foreign, predicates, steps }: typeof schedule extends fc.Arbitrary<infer Value> ? Value : never,
    guards: boolean,
  ) {
    const row = new ModelRow();
    /** The same row without any marker: as it answers, so must the first delivery. */
    const bare = new ModelRow();
    const misled: number[] = [];
    const mark = (number: number): void => {
      const qualifier = Buffer.from(number.toString(16).padStart(32, 'f'));
      row.apply({ kind: 'setCell', family: 'm', qualifier, timestampMicros: 0n, value: Buffer.from('1') });
    };
    const effects = predicates.map((_, id) => addToQ(BigInt(id), 'sum'));
    const decided = new Map<number, boolean>();
    for (const [at, one] of steps.entries()) {
      if (guards) for (const number of foreign) if (number <= at) mark(number);
      if (one.kind === 'change') {
        row.apply(one.by);
        bare.apply(one.by);
        continue;
      }
      const { of: id } = one;
      const filter = predicates[id];
      const asked = conditional({ ...(filter && { predicate: filter }), otherwise: [effects[id]!] });
      const identity = String(id).repeat(32);
      const isMatched = row.check(
        guards ? guarded(asked, { family: 'm', identity }) : (asked.request as ConditionalRequest),
      );
      if (decided.has(id)) continue;
      decided.set(id, isMatched);
      if (bare.check(asked.request as ConditionalRequest) !== isMatched) misled.push(id);
    }
    return { decided, misled, counts: effects.map((effect) => row.applied.get(effect) ?? 0) };
  }

  test('a guarded request is applied once where its first answer was no match, and never where it was one', () => {
    fc.assert(
      fc.property(schedule, (given) => {
        const { decided, counts } = run(given, true);
        for (const [id, isMatched] of decided) expect(counts[id]).toBe(isMatched ? 0 : 1);
      }),
    );
  });

  test('the markers of other requests change no first answer', () => {
    fc.assert(
      fc.property(schedule, (given) => {
        expect(run(given, true).misled).toEqual([]);
      }),
    );
  });

  test('an unguarded one is not, so that the property can fail', () => {
    const again = { kind: 'deliver', of: 0 } as const;
    const predicates = [noCell(), noCell(), noCell(), noCell()] as [RowFilter, RowFilter, RowFilter, RowFilter];
    const { counts } = run({ foreign: [], predicates, steps: [again, again] }, false);
    expect(counts[0]).toBe(2);
  });
});
