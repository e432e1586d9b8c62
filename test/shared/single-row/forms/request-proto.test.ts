import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RowRequest as ProtoRequest } from '../../../../shared/proto/connector/v1/row_request.ts';
import {
  CheckAndMutateRowRequest,
  ReadModifyWriteRowRequest,
} from '../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import { RowFilter as WireFilter } from '../../../../shared/proto/google/bigtable/v2/data.ts';
import { blank } from '../../../../infra/local/cloud/unary.ts';
import { exactBytesOf, patternOf } from '../../../../shared/model/filter/exact-pattern.ts';
import { fromWireFilter, toWireFilter } from '../../../../shared/forms/filter-wire.ts';
import { decodeRowRequest } from '../../../../shared/single-row/forms/documents.ts';
import { RowRequestError } from '../../../../shared/single-row/forms/problems.ts';
import { anyBytes } from '../../../support/arbitraries.ts';
import { someFilter } from '../../../support/row-request-arbitraries.ts';

const rowKey = Buffer.from('k');
const deleteRow = { mutation: { $case: 'deleteFromRow' as const, value: {} } };

function problemsOf(request: ProtoRequest['request'], beside: Partial<ProtoRequest> = {}): string[] {
  const document: ProtoRequest = { version: 1, table: '', correlationId: '', request, ...beside };
  try {
    decodeRowRequest(Buffer.from(ProtoRequest.encode(document).finish()), 'application/x-protobuf');
  } catch (error) {
    if (error instanceof RowRequestError) return error.problems.map(({ path, message }) => `${path}: ${message}`);
    throw error;
  }
  return [];
}

const conditional = (more: Partial<CheckAndMutateRowRequest>): ProtoRequest['request'] => ({
  $case: 'conditional',
  value: { ...blank(CheckAndMutateRowRequest), rowKey, trueMutations: [deleteRow], ...more },
});
const filtered = (filter: WireFilter['filter']): ProtoRequest['request'] =>
  conditional({ predicateFilter: { filter } });
const rules = (more: Partial<ReadModifyWriteRowRequest>): ProtoRequest['request'] => ({
  $case: 'readModifyWrite',
  value: { ...blank(ReadModifyWriteRowRequest), rowKey, ...more },
});

test('a filter that was put on the wire is read as the same filter', () => {
  fc.assert(
    fc.property(someFilter, (filter) => {
      const wire = WireFilter.decode(WireFilter.encode(toWireFilter(filter)).finish());
      expect(fromWireFilter(wire, 'predicate', () => expect.unreachable())).toEqual(filter);
    }),
    { seed: 57, numRuns: 300 },
  );
});

describe('a pattern', () => {
  test('of exact bytes is read as those bytes', () => {
    fc.assert(
      fc.property(anyBytes(), (bytes) => {
        expect(exactBytesOf(patternOf(bytes))).toEqual(bytes);
      }),
      { seed: 58 },
    );
  });

  test.each(['.', 'a*', 'a|b', '^a', 'a$', '[a]', '(a)', 'a{2}', String.raw`\d`, String.raw`\C`, String.raw`\x{41}`, String.raw`\Qa\E`, 'a\\', String.raw`\1`])('that may match something else is none of exact bytes: %s', (pattern) => {
    expect(exactBytesOf(Buffer.from(pattern))).toBeUndefined();
  }); // prettier-ignore

  test('may quote more than it must', () => {
    expect(exactBytesOf(Buffer.from(String.raw`\x41\_\-b`))?.toString()).toBe('A_-b');
  });
});

const EXACT = 'must match one text exactly, every other character quoted by a backslash';

describe('a request that the model cannot express is refused by its path', () => {
  test.each<[string, ProtoRequest['request'], string]>([
    ['no request', undefined, 'request: must have either conditional or readModifyWrite, got none'],
    ['a table of its own', conditional({ tableName: 'projects/p/instances/i/tables/t' }), 'conditional.tableName: must be empty'],
    ['a view', rules({ authorizedViewName: 'v', rules: [{ familyName: 'f', columnQualifier: rowKey, rule: { $case: 'incrementAmount', value: 1n } }] }), 'readModifyWrite.authorizedViewName: must be empty'],
    ['a profile', conditional({ appProfileId: 'other' }), 'conditional.appProfileId: must be empty'],
    ['an empty row key', conditional({ rowKey: Buffer.alloc(0) }), 'conditional.rowKey: must not be empty, got no byte'],
    ['no mutation', conditional({ trueMutations: [] }), 'conditional: must have a mutation in one of its branches, got none'],
    ['a mutation of no kind', conditional({ falseMutations: [deleteRow, { mutation: undefined }] }), 'conditional.falseMutations[1]: must be one of the six kinds of mutation, got none'],
    ['a blank family', conditional({ trueMutations: [{ mutation: { $case: 'deleteFromFamily', value: { familyName: '' } } }] }), 'conditional.trueMutations[0]: family must not be blank'],
    ['an aggregate that is no raw value', conditional({ trueMutations: [{ mutation: { $case: 'addToCell', value: { familyName: 'f', columnQualifier: undefined, timestamp: undefined, input: undefined } } }] }), 'conditional.trueMutations[0].addToCell.columnQualifier: must be a raw value'],
    ['too many mutations', conditional({ trueMutations: Array.from({ length: 100_001 }, () => deleteRow) }), 'conditional.trueMutations: must hold at most 100000, got 100001'],
    ['no rule', rules({}), 'readModifyWrite.rules: must hold at least one rule, got none'],
    ['a rule of no kind', rules({ rules: [{ familyName: 'f', columnQualifier: rowKey, rule: undefined }] }), 'readModifyWrite.rules[0]: must be an append or an increment, got none'],
    ['an empty append', rules({ rules: [{ familyName: 'f', columnQualifier: rowKey, rule: { $case: 'appendValue', value: Buffer.alloc(0) } }] }), 'readModifyWrite.rules[0]: value must not be empty'],
    ['a filter of no kind', filtered(undefined), 'conditional.predicateFilter: must be a filter, got none'],
    ['a filter that lets all through', filtered({ $case: 'passAllFilter', value: true }), 'conditional.predicateFilter.passAllFilter: is no filter that a row request takes'],
    ['a condition in a chain', filtered({ $case: 'chain', value: { filters: [{ filter: { $case: 'sink', value: true } }] } }), 'conditional.predicateFilter.chain.filters[0].sink: is no filter that a row request takes'],
    ['a filter that lets not nothing through', filtered({ $case: 'blockAllFilter', value: false }), 'conditional.predicateFilter.blockAllFilter: must be true, got false'],
    ['a pattern of families', filtered({ $case: 'familyNameRegexFilter', value: 'a|b' }), `conditional.predicateFilter.familyNameRegexFilter: ${EXACT}`],
    ['a pattern of qualifiers', filtered({ $case: 'columnQualifierRegexFilter', value: Buffer.from('.*') }), `conditional.predicateFilter.columnQualifierRegexFilter: ${EXACT}`],
    ['a pattern of values', filtered({ $case: 'valueRegexFilter', value: Buffer.from('v+') }), `conditional.predicateFilter.valueRegexFilter: ${EXACT}`],
    ['no cell a column', filtered({ $case: 'cellsPerColumnLimitFilter', value: 0 }), 'conditional.predicateFilter.count: must be an integer from 1'],
    ['an empty interleave', filtered({ $case: 'interleave', value: { filters: [] } }), 'conditional.predicateFilter: must combine at least one filter, got none'],
  ])('%s', (_name, request, problem) => {
    const problems = problemsOf(request);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(problem);
  }); // prettier-ignore

  test('with every problem at once', () => {
    const request = conditional({ rowKey: Buffer.alloc(0), predicateFilter: { filter: undefined }, appProfileId: 'x' });
    expect(problemsOf(request, { table: 'p.i', correlationId: 'c'.repeat(257) })).toHaveLength(5);
  });
});
