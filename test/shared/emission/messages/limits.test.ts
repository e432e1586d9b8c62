import { expect, test } from 'vitest';
import { brokenRule } from '../../../../shared/emission/messages/limits.ts';
import type { OutgoingMessage } from '../../../../shared/model/publishing.ts';

const message = (given: Partial<OutgoingMessage>): OutgoingMessage => ({
  data: Buffer.from('x'),
  attributes: {},
  ...given,
});
const names = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`name-${index}`, '']));

test.each<[string, OutgoingMessage, string | undefined]>([
  ['a value of 1,024 bytes', message({ attributes: { a: 'ö'.repeat(512) } }), undefined],
  [
    'a value of 1,025 bytes',
    message({ attributes: { a: `${'ö'.repeat(512)}x` } }),
    'attribute "a" has more than 1,024 bytes',
  ],
  ['a name of 257 bytes', message({ attributes: { ['n'.repeat(257)]: '' } }), 'more than 256 bytes'],
  ['a name that begins with goog', message({ attributes: { googly: '' } }), '"googly" is not allowed'],
  ['an empty name', message({ attributes: { '': 'x' } }), '"" is not allowed'],
  ['100 attributes with the one of the unit', message({ attributes: names(99) }), undefined],
  ['101 attributes with the one of the unit', message({ attributes: names(100) }), 'more than 100 attributes'],
  [
    '100 attributes, one of which replaces that of the unit',
    message({ attributes: { ...names(99), run: 'x' } }),
    undefined,
  ],
  ['an ordering key of 1,025 bytes', message({ orderingKey: 'k'.repeat(1025) }), 'the ordering key has more'],
])('the rules of the service: %s', (_, given, rule) => {
  const broken = brokenRule(given, { run: 'r' });
  if (rule === undefined) expect(broken).toBeUndefined();
  else expect(broken).toContain(rule);
});

test('a message without data needs an attribute, its own or the unit’s', () => {
  const empty = message({ data: Buffer.alloc(0) });
  expect(brokenRule(empty, {})).toBe('a message without data needs an attribute');
  expect(brokenRule(empty, { run: 'r' })).toBeUndefined();
});
