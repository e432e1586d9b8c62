import { describe, expect, test } from 'vitest';
import { closedBound, openBound, type RowRange, UNBOUNDED, WHOLE_TABLE } from '../../../../shared/model/row-range.ts';
import { RowAssembler } from '../../../../shared/scan/reading/assemble-row.ts';
import { type Chunk, rowsMessage, rowText } from '../../../support/row-chunks.ts';

/** Chunks of one message; a text instead is how far the service has scanned. */
type Message = readonly Chunk[] | string;

/** Everything that comes of the messages, and at the end what the assembler refused. */
function assembled(messages: readonly Message[], range: RowRange = WHOLE_TABLE): string[] {
  const assembler = new RowAssembler(range);
  const seen: string[] = [];
  try {
    for (const message of messages) {
      assembler.feed(typeof message === 'string' ? rowsMessage([], message) : rowsMessage(message));
      while (assembler.hasMore) {
        for (const event of assembler.take(1000, 8_388_608)) {
          seen.push(event.kind === 'row' ? rowText(event.row) : `${event.kind} ${event.key.toString()}`);
        }
      }
    }
    assembler.end();
  } catch (error) {
    seen.push((error as Error).message.replace('the answer of ReadRows broke its protocol: ', 'refused: '));
  }
  return seen;
}

/** A message for each chunk: nothing may depend on where messages end. */
const oneByOne = (chunks: readonly Chunk[]): Message[] => chunks.map((chunk) => [chunk]);

const first = (more: Chunk = {}): Chunk => ({
  key: 'k',
  family: 'f',
  qualifier: 'q',
  micros: 100n,
  value: 'old',
  ...more,
});

/** The situations of the cases that Google publishes for readers of `ReadRows`, in chunks of our own. */
const PUBLISHED: readonly (readonly [name: string, chunks: readonly Chunk[], seen: readonly string[]])[] = [
  ['a row of one chunk', [first({ status: 'commit' })], ['k f:q@100=old']],
  [
    'a cell without a timestamp has 0',
    [{ key: 'k', family: 'f', qualifier: 'q', value: 'v', status: 'commit' }],
    ['k f:q@0=v'],
  ],
  [
    'a cell without a value has an empty one',
    [{ key: 'k', family: 'f', qualifier: 'q', status: 'commit' }],
    ['k f:q@0='],
  ],
  ['a commit alone is an empty cell at 0', [first(), { status: 'commit' }], ['k f:q@100=old f:q@0=']],
  [
    'each chunk without a word is an empty cell',
    [first(), { status: 'no commit' }, { status: 'commit' }],
    ['k f:q@100=old f:q@0= f:q@0='],
  ],
  ['two versions of a column', [first(), { micros: 98n, value: 'b', status: 'commit' }], ['k f:q@100=old f:q@98=b']],
  [
    'two qualifiers',
    [first(), { qualifier: 'r', micros: 98n, value: 'b', status: 'commit' }],
    ['k f:q@100=old f:r@98=b'],
  ],
  [
    'an empty qualifier behind another',
    [first(), { qualifier: '', micros: 98n, value: 'b', status: 'commit' }],
    ['k f:q@100=old f:@98=b'],
  ],
  [
    'two families',
    [first(), { family: 'g', qualifier: 'r', micros: 98n, value: 'b', status: 'commit' }],
    ['k f:q@100=old g:r@98=b'],
  ],
  [
    'labels belong to their cell',
    [first({ labels: ['one'] }), { micros: 98n, labels: ['two'], value: 'b', status: 'commit' }],
    ['k f:q@100=old #one f:q@98=b #two'],
  ],
  [
    'a label is not carried to the next cell',
    [first({ labels: ['one'] }), { micros: 98n, value: 'b', status: 'commit' }],
    ['k f:q@100=old #one f:q@98=b'],
  ],
  ['a value in two pieces', [first({ size: 7 }), { value: 'ness', status: 'commit' }], ['k f:q@100=oldness']],
  [
    'a value in two pieces and a commit alone',
    [first({ size: 7 }), { value: 'ness' }, { status: 'commit' }],
    ['k f:q@100=oldness f:q@0='],
  ],
  [
    'a value that is shorter than announced',
    [first({ size: 8 }), { value: 'ness', status: 'commit' }],
    ['k f:q@100=oldness'],
  ],
  [
    'a value in four pieces, labelled by the first',
    [
      first({ labels: ['one'], size: 6 }),
      { value: 'n', size: 6 },
      { value: 'e', size: 6 },
      { value: 's', status: 'commit' },
    ],
    ['k f:q@100=oldnes #one'],
  ],
  [
    'two values in pieces',
    [first({ size: 7 }), { value: 'ness' }, { micros: 98n, value: 'n', size: 3 }, { value: 'ew', status: 'commit' }],
    ['k f:q@100=oldness f:q@98=new'],
  ],
  [
    'values in pieces in two qualifiers',
    [
      first({ size: 7 }),
      { value: 'ne', size: 7 },
      { value: 'ss' },
      { qualifier: 'r', value: 'n', size: 3 },
      { value: 'e', size: 3 },
      { value: 'w', status: 'commit' },
    ],
    ['k f:q@100=oldness f:r@0=new'],
  ],
  [
    'values in pieces in two families',
    [
      first({ size: 7 }),
      { value: 'ness' },
      { family: 'g', qualifier: 'r', value: 'n', size: 3 },
      { value: 'ew', status: 'commit' },
    ],
    ['k f:q@100=oldness g:r@0=new'],
  ],
  [
    'two rows',
    [first({ status: 'commit' }), first({ key: 'l', status: 'commit' })],
    ['k f:q@100=old', 'l f:q@100=old'],
  ],
  [
    'two rows of several cells in several families',
    [
      first(),
      { family: 'g', qualifier: 'r', value: 'b', status: 'commit' },
      first({ key: 'l' }),
      { family: 'h', qualifier: 's', value: 'd', status: 'commit' },
    ],
    ['k f:q@100=old g:r@0=b', 'l f:q@100=old h:s@0=d'],
  ],
  [
    'two rows, one of them with labels',
    [first({ labels: ['one'] }), { micros: 98n, value: 'b', status: 'commit' }, first({ key: 'l', status: 'commit' })],
    ['k f:q@100=old #one f:q@98=b', 'l f:q@100=old'],
  ],
  [
    'two rows with values in pieces at one timestamp',
    [
      first({ size: 7 }),
      { value: 'ness', status: 'commit' },
      first({ key: 'l', size: 7 }),
      { value: 'ness', status: 'commit' },
    ],
    ['k f:q@100=oldness', 'l f:q@100=oldness'],
  ],
  ['nothing comes after a reset', [first(), { status: 'reset' }], []],
  [
    'the row is sent anew after a reset',
    [first(), { status: 'reset' }, first({ status: 'commit' })],
    ['k f:q@100=old'],
  ],
  ['with another value', [first(), { status: 'reset' }, first({ value: 'new', status: 'commit' })], ['k f:q@100=new']],
  [
    'with another qualifier',
    [first(), { status: 'reset' }, first({ qualifier: 'r', status: 'commit' })],
    ['k f:r@100=old'],
  ],
  [
    'after several cells',
    [first(), { micros: 98n, value: 'b' }, { status: 'reset' }, first({ value: 'new', status: 'commit' })],
    ['k f:q@100=new'],
  ],
  [
    'with several cells',
    [first(), { status: 'reset' }, first({ value: 'new' }), { micros: 97n, value: 'b', status: 'commit' }],
    ['k f:q@100=new f:q@97=b'],
  ],
  [
    'in another family',
    [first(), { status: 'reset' }, first({ family: 'g' }), { qualifier: 'r', value: 'b', status: 'commit' }],
    ['k g:q@100=old g:r@0=b'],
  ],
  [
    'after two resets',
    [first(), { status: 'reset' }, first({ value: 'b' }), { status: 'reset' }, first({ value: 'c', status: 'commit' })],
    ['k f:q@100=c'],
  ],
  [
    'another row comes after a reset',
    [first(), { status: 'reset' }, first({ key: 'l', status: 'commit' })],
    ['l f:q@100=old'],
  ],
  [
    'a reset inside a value',
    [first({ labels: ['one'], size: 7 }), { value: 'n', size: 7 }, { status: 'reset' }, first({ status: 'commit' })],
    ['k f:q@100=old'],
  ],

  ['a row without a commit', [first()], ['refused: the stream ended inside a row']],
  ['a commit before any row', [{ status: 'commit' }], ['refused: a row began without a key']],
  ['a value before any row', [{ micros: 100n, value: 'v' }], ['refused: a row began without a key']],
  [
    'a family without a qualifier',
    [first(), { family: 'g', value: 'b', status: 'commit' }],
    ['refused: a family was named without a qualifier'],
  ],
  [
    'no commit between two rows',
    [first(), first({ key: 'l' })],
    ['refused: a row began before the one before it was committed'],
  ],
  [
    'no commit after the first of two rows',
    [first(), first({ key: 'l', status: 'commit' })],
    ['refused: a row began before the one before it was committed'],
  ],
  [
    'no commit after the last row',
    [first({ status: 'commit' }), first({ key: 'l' })],
    ['k f:q@100=old', 'refused: the stream ended inside a row'],
  ],
  [
    'the same row twice',
    [first({ status: 'commit' }), first({ value: 'b', status: 'commit' })],
    ['k f:q@100=old', 'refused: the keys of rows did not grow'],
  ],
  [
    'a second row without a key',
    [first({ status: 'commit' }), { micros: 98n, value: 'b', status: 'commit' }],
    ['k f:q@100=old', 'refused: a row began without a key'],
  ],
  ['a reset before any row', [{ status: 'reset' }], ['refused: a row was reset before it began']],
  ['a reset before the first row', [{ status: 'reset' }, first()], ['refused: a row was reset before it began']],
  [
    'no key after a reset',
    [first(), { status: 'reset' }, { micros: 100n, value: 'v', status: 'commit' }],
    ['refused: a row began without a key'],
  ],
  [
    'a reset with data',
    [first({ size: 7 }), { value: 'n', size: 7, status: 'reset' }],
    ['refused: a reset came with data'],
  ],
  [
    'a commit inside a value',
    [first({ size: 7 }), { value: 'n', size: 7, status: 'commit' }],
    ['refused: a row was committed inside a value'],
  ],
];

describe('the published cases', () => {
  test.each(PUBLISHED)('%s', (_name, chunks, seen) => {
    expect(assembled([chunks])).toEqual(seen);
    expect(assembled(oneByOne(chunks))).toEqual(seen);
  });
});

describe('what else the protocol forbids', () => {
  test.each([
    [
      'a first chunk without a family',
      [{ key: 'k', qualifier: 'q', status: 'commit' }],
      'a row began without a family',
    ],
    [
      'a first chunk without a qualifier',
      [{ key: 'k', family: 'f', status: 'commit' }],
      'a family was named without a qualifier',
    ],
    [
      'a smaller key',
      [first({ status: 'commit' }), first({ key: 'j', status: 'commit' })],
      'the keys of rows did not grow',
    ],
    [
      'a key that is the start of the one before',
      [first({ key: 'kk', status: 'commit' }), first({ status: 'commit' })],
      'the keys of rows did not grow',
    ],
    [
      'a key inside a value',
      [first({ size: 7 }), { key: 'k', value: 'ness', status: 'commit' }],
      'a cell began before the value of the one before it was whole',
    ],
    [
      'a qualifier inside a value',
      [first({ size: 7 }), { qualifier: 'r', value: 'ness', status: 'commit' }],
      'a cell began before the value of the one before it was whole',
    ],
    [
      'a timestamp inside a value',
      [first({ size: 7 }), { micros: 1n, value: 'ness', status: 'commit' }],
      'a cell began before the value of the one before it was whole',
    ],
    [
      'a value longer than announced',
      [first({ size: 6 }), { value: 'ness', status: 'commit' }],
      'a value is longer than it announced',
    ],
    [
      'another size announced',
      [first({ size: 7 }), { value: 'ne', size: 8 }, { value: 'ss', status: 'commit' }],
      'a value announces two sizes',
    ],
    [
      'a negative size',
      [first({ size: -1 }), { value: 'ness', status: 'commit' }],
      'a value announces a negative size',
    ],
    [
      'a size that no row has',
      [first({ size: 2 ** 30 }), { value: 'ness', status: 'commit' }],
      `a value announces ${2 ** 30} bytes`,
    ],
  ] as const)('%s is refused', (_name, chunks, rule) => {
    expect(assembled([chunks]).at(-1)).toBe(`refused: ${rule}`);
    expect(assembled(oneByOne(chunks)).at(-1)).toBe(`refused: ${rule}`);
  });

  test('rows before the mistake in one message are handed on first', () => {
    const message = [first({ status: 'commit' }), first({ key: 'l', status: 'commit' }), { status: 'reset' }] as const;
    expect(assembled([message])).toEqual([
      'k f:q@100=old',
      'l f:q@100=old',
      'refused: a row was reset before it began',
    ]);
  });

  test('a key may be named again by the chunks of its row', () => {
    expect(assembled([[first(), { key: 'k', micros: 98n, value: 'b', status: 'commit' }]])).toEqual([
      'k f:q@100=old f:q@98=b',
    ]);
  });
});

describe('the range that was asked for', () => {
  const row = (key: string): Chunk => first({ key, value: '', status: 'commit' });
  const of = (start: RowRange['start'], end: RowRange['end']): RowRange => ({ start, end });

  test.each([
    ['closed at its start', of(closedBound(Buffer.from('b')), UNBOUNDED), ['a'], 'the keys of rows did not grow'],
    ['open at its start', of(openBound(Buffer.from('b')), UNBOUNDED), ['b'], 'the keys of rows did not grow'],
    ['open at its end', of(UNBOUNDED, openBound(Buffer.from('d'))), ['c', 'd', 'e'], 'a row lies outside the range'],
    [
      'closed at its end',
      of(UNBOUNDED, closedBound(Buffer.from('d'))),
      ['c', 'd', 'e'],
      'a row lies outside the range',
    ],
  ] as const)('a row outside a range that is %s is refused', (_name, range, keys, rule) => {
    expect(assembled([keys.map(row)], range).at(-1)).toBe(`refused: ${rule}`);
  });

  test('what lies inside is handed on before the row outside is refused', () => {
    const range = of(closedBound(Buffer.from('b')), closedBound(Buffer.from('d')));
    expect(assembled([['b', 'd', 'e', 'f'].map(row)], range)).toEqual([
      'b f:q@100=',
      'd f:q@100=',
      'refused: a row lies outside the range',
    ]);
  });
});

describe('how far the service has scanned', () => {
  const row = (key: string): Chunk => first({ key, value: '', status: 'commit' });
  const open = (key: string): Chunk => first({ key, value: '' });

  test('a message that says nothing else moves the position', () => {
    expect(assembled(['d', [row('f')], 'm', 'p'])).toEqual(['scanned d', 'f f:q@100=', 'scanned m', 'scanned p']);
  });

  test('the key of the last row says nothing new', () => {
    expect(assembled([[row('f')], 'f', 'f'])).toEqual(['f f:q@100=']);
  });

  test('a row up to which everything was scanned is refused', () => {
    expect(assembled(['f', [row('f')]]).at(-1)).toBe('refused: the keys of rows did not grow');
  });

  test('going backwards is refused', () => {
    expect(assembled(['f', 'd']).at(-1)).toBe('refused: the service has scanned backwards');
    expect(assembled([[row('f')], 'd']).at(-1)).toBe('refused: the service has scanned backwards');
  });

  test('beside rows it may stand before or behind them', () => {
    const of = (message: Buffer): string[] => {
      const assembler = new RowAssembler(WHOLE_TABLE);
      assembler.feed(message);
      return assembler
        .take(1000, 8_388_608)
        .map((event) => `${event.kind} ${'key' in event ? event.key.toString() : event.row.key.toString()}`);
    };
    expect(of(rowsMessage([row('f'), row('h')], 'd'))).toEqual(['row f', 'row h']);
    expect(of(rowsMessage([row('f'), row('h')], 'm'))).toEqual(['row f', 'row h', 'scanned m']);
    expect(of(rowsMessage([row('f'), open('h')], 'g'))).toEqual(['row f', 'scanned g']);
  });

  test('past a row that is not committed it is refused', () => {
    expect(assembled([[open('f')], 'f']).at(-1)).toBe(
      'refused: the service has scanned past a row that it has not committed',
    );
    expect(assembled([[open('f')], 'e', [{ status: 'commit' }]])).toEqual(['scanned e', 'f f:q@100= f:q@0=']);
  });
});

describe('a hand-over', () => {
  const rows = (...values: readonly string[]): Buffer =>
    rowsMessage(values.map((value, index) => first({ key: `k${index}`, value, status: 'commit' })));
  const handOvers = (message: Buffer, maxRows: number, maxBytes: number): string[] => {
    const assembler = new RowAssembler(WHOLE_TABLE);
    assembler.feed(message);
    const taken: string[] = [];
    while (assembler.hasMore) {
      const events = assembler.take(maxRows, maxBytes);
      if (events.length > 0)
        taken.push(events.map((event) => (event.kind === 'row' ? event.row.key.toString() : event.kind)).join(' '));
    }
    return taken;
  };

  test('holds at most so many rows', () => {
    expect(handOvers(rows('', '', '', '', ''), 2, 1000)).toEqual(['k0 k1', 'k2 k3', 'k4']);
  });

  test('holds at most so many bytes, but for a single row', () => {
    const message = rows('a'.repeat(40), 'b'.repeat(40), 'c'.repeat(400), 'd'.repeat(40));
    expect(handOvers(message, 1000, 110)).toEqual(['k0 k1', 'k2', 'k3']);
  });

  test('that a row fills to the byte is full', () => {
    const assembler = new RowAssembler(WHOLE_TABLE);
    assembler.feed(rows('a', 'b'));
    const [event] = assembler.take(1, 1000);
    const bytes = event?.kind === 'row' ? event.row.bytes : 0;
    expect(bytes).toBe(3 + 2 + 2 + 1 + 2);
    expect(handOvers(rows('a', 'b'), 1000, bytes)).toEqual(['k0', 'k1']);
    expect(handOvers(rows('a', 'b'), 1000, 2 * bytes)).toEqual(['k0 k1']);
  });
});

describe('what it holds', () => {
  test('of a row that is not whole, the size that its value announces counts', () => {
    const assembler = new RowAssembler(WHOLE_TABLE);
    const step = (message: Buffer): number => {
      assembler.feed(message);
      while (assembler.hasMore) assembler.take(1000, 8_388_608);
      return assembler.openBytes;
    };
    const small = step(rowsMessage([first()]));
    expect(small).toBeLessThan(100);
    expect(step(rowsMessage([{ micros: 98n, value: 'x', size: 20_000_000 }]))).toBe(small + 20_000_000);
    expect(step(rowsMessage([{ value: 'y', status: 'commit' }]))).toBe(0);
  });

  test('qualifiers that are the same are one buffer, which is no slice of a message', () => {
    const assembler = new RowAssembler(WHOLE_TABLE);
    const qualifierOf = (message: Buffer): Buffer | undefined => {
      assembler.feed(message);
      const [event] = assembler.take(1000, 8_388_608);
      return event?.kind === 'row' ? event.row.cells[0]?.qualifier : undefined;
    };
    const message = rowsMessage([first({ status: 'commit' })]);
    const qualifier = qualifierOf(message);
    expect(qualifierOf(rowsMessage([first({ key: 'l', status: 'commit' })]))).toBe(qualifier);
    message.fill(0);
    expect(qualifier?.toString()).toBe('q');
  });
});
