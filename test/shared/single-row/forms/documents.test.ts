import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RowFilter } from '../../../../shared/model/filter/filter.ts';
import type { RowResult } from '../../../../shared/model/row-result.ts';
import {
  CONTENT_TYPES,
  decodeRowRequest,
  decodeRowResult,
  encodeRowRequestDocument,
  encodeRowResult,
  formOf,
} from '../../../../shared/single-row/forms/documents.ts';
import { RowRequestError } from '../../../../shared/single-row/forms/problems.ts';
import { someDocument, someResult } from '../../../support/row-request-arbitraries.ts';

const json = (document: unknown) => decodeRowRequest(Buffer.from(JSON.stringify(document)));
const text = (document: string) => decodeRowRequest(Buffer.from(document));

/** `path: message` of everything that is wrong. */
function problemsOf(read: () => unknown): string[] {
  try {
    read();
  } catch (error) {
    if (error instanceof RowRequestError) return error.problems.map(({ path, message }) => `${path}: ${message}`);
    throw error;
  }
  return [];
}

const conditional = (members: object): object => ({
  version: 1,
  conditional: { rowKey: 'k', then: [{ deleteFromRow: {} }], ...members },
});
const change = (mutation: object): object => conditional({ then: [mutation] });
const rule = (members: object): object => ({ version: 1, readModifyWrite: { rowKey: 'k', rules: [members] } });
const cell = { family: 'f', qualifier: 'q' };

describe.each(['json', 'proto'] as const)('in %s', (form) => {
  test('a row request reads back as it was', () => {
    fc.assert(
      fc.property(someDocument, (document) => {
        const bytes = encodeRowRequestDocument(document, form);
        expect(decodeRowRequest(bytes, CONTENT_TYPES[form])).toEqual(document);
      }),
      { seed: 54, numRuns: 300 },
    );
  });

  test('a result reads back as it was, but that proto does not say what is a counter', () => {
    fc.assert(
      fc.property(someResult, (result) => {
        const read = decodeRowResult(encodeRowResult(result, form), CONTENT_TYPES[form]);
        expect(read).toEqual(form === 'proto' ? withoutCounters(result) : result);
      }),
      { seed: 55, numRuns: 300 },
    );
  });

  test('bytes of something else are refused, whatever they are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        expect(problemsOf(() => decodeRowRequest(Buffer.from(bytes), CONTENT_TYPES[form]))).not.toEqual([]);
      }),
      { seed: 56, numRuns: 500 },
    );
  });

  test('a version that is not known is the only problem', () => {
    const bytes =
      form === 'json' ? Buffer.from('{"version":2,"other":[]}') : Buffer.from([0x08, 0x02, 0x12, 0x01, 0x20]);
    expect(problemsOf(() => decodeRowRequest(bytes, CONTENT_TYPES[form]))).toEqual(['version: must be 1, got 2']);
  });
});

function withoutCounters(result: RowResult): RowResult {
  if (result.outcome.kind === 'conditional') return result;
  const cells = result.outcome.cells.map((cell) => {
    const { isCounter, ...rest } = cell;
    return isCounter ? rest : cell;
  });
  return { ...result, outcome: { ...result.outcome, cells } };
}

test.each([
  [undefined, 'json'],
  ['application/json; charset=utf-8', 'json'],
  ['text/plain', 'json'],
  ['application/x-protobuf', 'proto'],
  ['Application/Protobuf; messageType="x"', 'proto'],
  ['application/x-protobuffer', 'json'],
] as const)('content type %s is read as %s', (contentType, form) => {
  expect(formOf(contentType)).toBe(form);
});

describe('values in JSON', () => {
  const valueOf = (value: unknown) => json(change({ setCell: { ...cell, timestampMicros: 0, value } })).request;

  test.each([
    ['a text', 'é', Buffer.from('é')],
    ['a text that is said to be one', { utf8: '' }, Buffer.alloc(0)],
    ['base64', { base64: 'AP8=' }, Buffer.from([0, 255])],
    ['base64 for addresses, without padding', { base64: '-_8' }, Buffer.from([0xfb, 0xff])],
    ['an integer', { int64: '-2' }, Buffer.from('fffffffffffffffe', 'hex')],
  ])('bytes are %s', (_name, value, bytes) => {
    expect(valueOf(value)).toMatchObject({ request: { then: [{ value: bytes }] } });
  });

  test.each([
    ['nothing', undefined, 'is required and must be bytes'],
    ['null', null, 'got null'],
    ['a number', 7, 'got a number'],
    ['two forms at once', { utf8: 'a', base64: 'YQ==' }, 'got an object'],
    ['another form', { hex: '00' }, 'got an object'],
    ['base64 that loses bytes', { base64: 'a' }, 'got an object'],
    ['half a surrogate pair', '\ud800', 'got a text'],
    ['an integer beyond 64 bits', { int64: '9223372036854775808' }, 'got an object'],
  ])('bytes are not %s', (_name, value, message) => {
    expect(problemsOf(() => valueOf(value))[0]).toContain(message);
    expect(problemsOf(() => valueOf(value))).toHaveLength(1);
  });

  test('an int64 keeps every digit, as a text and as a number', () => {
    const amount = (digits: string) =>
      text(`{"version":1,"readModifyWrite":{"rowKey":"k","rules":[{"increment":{"family":"f","qualifier":"q","amount":${digits}}}]}}`).request; // prettier-ignore
    for (const digits of ['9007199254740993', '"9007199254740993"', '-9223372036854775808']) {
      const expected = BigInt(digits.replaceAll('"', ''));
      expect(amount(digits)).toMatchObject({ request: { rules: [{ amount: expected }] } });
    }
    for (const digits of ['9007199254740992.5', '1e3', '1.5', '9223372036854775808', '""', '"0x1"', 'null']) {
      expect(problemsOf(() => amount(digits))).toHaveLength(1);
    }
  });

  test('a result shows a text where a person could read it, an integer where one was counted, else base64', () => {
    const cellOf = (value: Buffer, isCounter?: true) => ({
      family: 'f',
      qualifier: Buffer.from('q'),
      timestampMicros: 9_007_199_254_740_993n,
      value,
      labels: [],
      ...(isCounter && { isCounter }),
    });
    const eight = Buffer.from([0, 0, 0, 0, 0, 0, 0, 5]);
    const result: RowResult = {
      correlationId: 'c',
      table: { project: 'p', instance: 'i', table: 't' },
      rowKey: Buffer.from('é'),
      outcome: { kind: 'readModifyWrite', cells: [cellOf(eight, true), cellOf(eight), cellOf(Buffer.from([0xff]))] },
    };
    expect(JSON.parse(encodeRowResult(result, 'json').toString())).toEqual({
      version: 1,
      correlationId: 'c',
      table: 'p.i.t',
      rowKey: 'é',
      outcome: {
        readModifyWrite: {
          cells: [{ int64: '5' }, { base64: 'AAAAAAAAAAU=' }, { base64: '/w==' }].map((value) => ({
            ...cell,
            timestampMicros: '9007199254740993',
            value,
          })),
        },
      },
    });
  });
});

test('the two combinations that people mean most are written as one filter each', () => {
  const filterOf = (predicate: object) => {
    const { request } = json(conditional({ predicate }));
    return request.kind === 'conditional' ? request.request.predicate : undefined;
  };
  const qualifier = Buffer.from('q');
  const steps: RowFilter[] = [
    { kind: 'family', family: 'f' },
    { kind: 'qualifier', qualifier },
  ];
  expect(filterOf({ cellExists: cell })).toEqual({ kind: 'chain', filters: steps });
  expect(filterOf({ latestCellValueEquals: { ...cell, value: 'v' } })).toEqual({
    kind: 'chain',
    filters: [...steps, { kind: 'cellsPerColumn', count: 1 }, { kind: 'value', value: Buffer.from('v') }],
  });
});

describe('a request that breaks a rule is refused by its path', () => {
  const nested = (depth: number): object =>
    Array.from({ length: depth }).reduce<object>((inner) => ({ chain: [inner] }), { none: {} });

  test.each<[string, unknown, string]>([
    ['no object', [], 'request: must be an object, got an empty list'],
    ['no version', { readModifyWrite: { rowKey: 'k', rules: [{ append: { ...cell, value: 'v' } }] } }, 'version: is required and must be 1'],
    ['a version in a text', { ...conditional({}), version: '1' }, 'version: must be 1, got a text'],
    ['no request', { version: 1 }, 'request: must have either conditional or readModifyWrite, got none'],
    ['both requests', { ...conditional({}), ...rule({ increment: { ...cell, amount: 1 } }) }, 'request: must have either conditional or readModifyWrite, got both'],
    ['an unknown member', { ...conditional({}), tabel: 't' }, 'request: takes version, table, correlationId, conditional, readModifyWrite, got "tabel"'],
    ['no table', { ...conditional({}), table: 'p.i' }, 'table: must be the id of a table, project.instance.table or projects/…/instances/…/tables/…, got another text'],
    ['an id that no table has', { ...conditional({}), table: 'a/b' }, 'table: must be the id of a table'],
    ['a long correlation id', { ...conditional({}), correlationId: 'é'.repeat(129) }, 'correlationId: must be 1 to 256 bytes, got 258'],
    ['an empty row key', conditional({ rowKey: '' }), 'conditional.rowKey: must not be empty, got no byte'],
    ['a long row key', conditional({ rowKey: 'k'.repeat(4097) }), 'conditional.rowKey: must be at most 4096 bytes, got 4097'],
    ['no mutation', conditional({ then: [] }), 'conditional: must have a mutation in one of its branches, got none'],
    ['branches that are no list', conditional({ otherwise: {} }), 'conditional.otherwise: must be a list, got an object'],
    ['a mutation of no kind', change({}), 'conditional.then[0]: must be exactly one of'],
    ['a mutation of two kinds', change({ deleteFromRow: {}, deleteFromFamily: { family: 'f' } }), 'got 2'],
    ['a mutation of an unknown kind', change({ setCells: {} }), 'conditional.then[0]: takes setCell, addToCell, mergeToCell, deleteFromColumn, deleteFromFamily, deleteFromRow, got "setCells"'],
    ['a member that a deletion does not have', change({ deleteFromRow: { now: true } }), 'conditional.then[0].deleteFromRow: takes no member, got "now"'],
    ['a blank family', change({ deleteFromFamily: { family: ' ' } }), 'conditional.then[0].deleteFromFamily.family: must not be blank, got a blank text'],
    ['a cell without a time', change({ setCell: { ...cell, value: '' } }), 'conditional.then[0].setCell.timestampMicros: is required and must be a 64-bit integer'],
    ['a time of −2', change({ setCell: { ...cell, timestampMicros: -2, value: '' } }), 'conditional.then[0].setCell.timestampMicros: must be from -1'],
    ['an aggregate at server time', change({ addToCell: { ...cell, timestampMicros: -1, input: { int64: 1 } } }), 'conditional.then[0].addToCell.timestampMicros: must be from 0'],
    ['an aggregate of nothing', change({ mergeToCell: { ...cell, timestampMicros: 0, input: {} } }), 'conditional.then[0].mergeToCell.input: must be exactly one of {"int64": …}, {"bytes": …}, {"raw": …}, got none'],
    ['an empty range of versions', change({ deleteFromColumn: { ...cell, startTimestampMicros: 5000, endTimestampMicros: 5000 } }), 'conditional.then[0].deleteFromColumn.endTimestampMicros: must be above the start 5000, got 5000'],
    ['a time between two milliseconds', change({ setCell: { ...cell, timestampMicros: 1, value: '' } }), 'conditional.then[0].setCell.timestampMicros: must be whole milliseconds (a multiple of 1000), got 1'],
    ['versions from between two milliseconds', change({ deleteFromColumn: { ...cell, startTimestampMicros: 1 } }), 'conditional.then[0].deleteFromColumn.startTimestampMicros: must be whole milliseconds'],
    ['the name of no family', change({ deleteFromFamily: { family: 'f:q' } }), 'conditional.then[0].deleteFromFamily.family: must be letters, digits'],
    ['a qualifier above 16 KiB', change({ setCell: { ...cell, qualifier: 'q'.repeat(16_385), timestampMicros: 0, value: '' } }), 'conditional.then[0].setCell.qualifier: must be at most 16384 bytes, got 16385'],
    ['an empty range of a filter', conditional({ predicate: { timestampRange: { startMicros: 5000, endMicros: 4000 } } }), 'conditional.predicate.timestampRange.endMicros: must be above the start 5000, got 4000'],
    ['a filter of no kind', conditional({ predicate: { chain: [{}] } }), 'conditional.predicate.chain[0]: must be exactly one of'],
    ['an empty chain', conditional({ predicate: { chain: [] } }), 'conditional.predicate.chain: must combine at least one filter, got none'],
    ['no cell a row', conditional({ predicate: { cellsPerRow: 0 } }), 'conditional.predicate.cellsPerRow: must be an integer from 1 to 2^31 − 1, got 0'],
    ['21 chains in each other', conditional({ predicate: nested(21) }), 'conditional.predicate: must nest chains and interleaves at most 20 deep, got more'],
    ['300 chains in each other', conditional({ predicate: nested(300) }), 'request: must not be nested deeper than 200'],
    ['no rule', { version: 1, readModifyWrite: { rowKey: 'k', rules: [] } }, 'readModifyWrite.rules: must hold at least one rule, got none'],
    ['an empty append', rule({ append: { ...cell, value: '' } }), 'readModifyWrite.rules[0].append.value: must not be empty, got no byte'],
    ['an amount beyond 64 bits', rule({ increment: { ...cell, amount: '9223372036854775808' } }), 'readModifyWrite.rules[0].increment.amount: must be a 64-bit integer'],
  ])('%s', (_name, document, problem) => {
    const problems = problemsOf(() => json(document));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(problem);
  }); // prettier-ignore

  test('100,001 mutations, which one request cannot carry', () => {
    const then = Array.from({ length: 100_001 }, () => ({ deleteFromRow: {} }));
    expect(problemsOf(() => json(conditional({ then })))).toEqual(['conditional.then: must hold at most 100000, got 100001']);
  }); // prettier-ignore

  test.each([
    ['no byte', Buffer.alloc(0), 'request: is required, got no byte'],
    ['no UTF-8', Buffer.from('{"version":1,"table":"\xff"}', 'latin1'), 'request: must be UTF-8, got other bytes'],
    ['no JSON', Buffer.from('{"secret-key'), 'request: must be JSON, got other text'],
    [
      'a byte order mark',
      Buffer.from('\uFEFF{"version":1}'),
      'request: must be JSON in UTF-8, got a byte order mark before the JSON',
    ],
    ['UTF-16', Buffer.from('{"version":1}', 'utf16le'), 'request: must be JSON in UTF-8, got UTF-16'],
    [
      'a member twice',
      Buffer.from('{"version":1,"readModifyWrite":{"rowKey":"a","rowKey":"b"}}'),
      'readModifyWrite.rowKey: must be there once, got two members of that name',
    ],
    [
      'a branch twice',
      Buffer.from('{"version":1,"conditional":{"rowKey":"a","then":[{"setCell":{"family":"f","family":"g"}}]}}'),
      'conditional.then[0].setCell.family: must be there once, got two members of that name',
    ],
  ])('%s', (_name, bytes, problem) => {
    expect(problemsOf(() => decodeRowRequest(bytes))).toEqual([problem]);
  });

  test('every problem is told at once, and none quotes a row key or a value', () => {
    const document = {
      version: 1,
      table: '',
      conditional: {
        rowKey: { base64: 'SECRET!' },
        predicate: { valu: 'SECRET' },
        then: [{ setCell: { family: '', qualifier: 'SECRET', timestampMicros: 'SECRET', value: ['SECRET'] } }],
        otherwise: [{ deleteFromRow: {} }, { deleteFromFamily: {} }],
      },
    };
    const problems = problemsOf(() => json(document));
    expect(problems.map((problem) => problem.split(': ')[0])).toEqual([
      'table',
      'conditional.rowKey',
      'conditional.predicate',
      'conditional.then[0].setCell.family',
      'conditional.then[0].setCell.timestampMicros',
      'conditional.then[0].setCell.value',
      'conditional.otherwise[1].deleteFromFamily.family',
    ]);
    expect(problems.join()).not.toContain('SECRET');
  });

  test('the text of the error holds ten of them and says how many more there are', () => {
    const then = Array.from({ length: 12 }, () => ({}));
    expect(() => json(conditional({ then }))).toThrow(/^conditional\.then\[0\]: .*; and 2 more$/);
  });
});
