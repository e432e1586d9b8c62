import { expect, test } from 'vitest';
import {
  CoalescedSize,
  joinRequests,
  MAX_COALESCED_BYTES,
  MAX_COALESCED_ENVELOPES,
  partsOf,
} from '../../../../shared/staged/write/coalesce.ts';
import type { Envelope } from '../../../../shared/staged/envelope/envelope.ts';
import { CheckAndMutateRowRequest } from '../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import { RowFilter } from '../../../../shared/proto/google/bigtable/v2/data.ts';
import { SERVICE_LIMITS } from '../../../../infra/local/servers/bigtable/limits.ts';
import { addition, cell, envelopeOf, rowEntry } from '../../../support/envelopes.ts';

const fitting = (envelopes: Iterable<Envelope>): number => {
  const size = new CoalescedSize(MAX_COALESCED_ENVELOPES);
  let count = 0;
  for (const envelope of envelopes) {
    if (!size.tryAdd(envelope)) break;
    count += 1;
  }
  return count;
};

test('one envelope is sent as the very bytes that were stored', () => {
  const envelope = envelopeOf(1, rowEntry('k'));
  expect(joinRequests([envelope])).toBe(envelope.request);
});

test('the request of several asks for any of their markers and holds all their mutations in order', () => {
  const first = envelopeOf(1, rowEntry('k', cell('a')));
  const second = envelopeOf(2, rowEntry('k', addition(1n), cell('b')));
  const joined = CheckAndMutateRowRequest.decode(joinRequests([first, second]));
  const [one, two] = [first, second].map(({ request }) => CheckAndMutateRowRequest.decode(request));
  expect(joined).toEqual({
    ...one,
    predicateFilter: expect.anything() as RowFilter,
    falseMutations: [...(one?.falseMutations ?? []), ...(two?.falseMutations ?? [])],
  });
  const [, qualifier] =
    joined.predicateFilter?.filter?.$case === 'chain' ? joined.predicateFilter.filter.value.filters : [];
  expect(qualifier?.filter).toEqual({
    $case: 'columnQualifierRegexFilter',
    value: Buffer.from(`${first.identity}|${second.identity}`),
  });
});

test('as many as fit in one request are within the limit of a row filter, whatever the name of the family', () => {
  // The longest name a family may have, of the character that takes the most room in a pattern.
  const markerFamily = '.'.repeat(64);
  const many = Array.from({ length: MAX_COALESCED_ENVELOPES + 1 }, (_, number) =>
    envelopeOf(number, rowEntry('k'), { markerFamily }),
  );
  expect(fitting(many)).toBe(MAX_COALESCED_ENVELOPES);
  const [first, ...others] = many.slice(0, MAX_COALESCED_ENVELOPES);
  if (!first) throw new Error('there are envelopes');
  const { predicateFilter } = CheckAndMutateRowRequest.decode(joinRequests([first, ...others]));
  const bytes = RowFilter.encode(predicateFilter ?? { filter: undefined }).finish().length;
  expect(bytes).toBeLessThanOrEqual(SERVICE_LIMITS.filterBytes);
  expect(bytes).toBeGreaterThan(SERVICE_LIMITS.filterBytes * 0.9);
});

test('the mutations of one request stay within what the service takes, and its bytes within what is worth sending again', () => {
  const cells = Array.from({ length: 40_000 }, () => cell(''));
  expect(fitting([1, 2, 3].map((number) => envelopeOf(number, rowEntry('k', ...cells))))).toBe(2);
  const large = rowEntry('k', cell('x'.repeat(MAX_COALESCED_BYTES * 0.4)));
  expect(fitting([1, 2, 3].map((number) => envelopeOf(number, large)))).toBe(2);
  expect(fitting([envelopeOf(1, rowEntry('k', cell('x'.repeat(MAX_COALESCED_BYTES * 2))))])).toBe(1);
});

test('envelopes of two marker families are not joined: one predicate asks for one', () => {
  expect(fitting([envelopeOf(1, rowEntry('k')), envelopeOf(2, rowEntry('k'), { markerFamily: 'm' })])).toBe(1);
});

test('writes that are taken apart are sent again in the same order', () => {
  for (let length = 2; length < 40; length += 1) {
    const group = Array.from({ length }, (_, index) => index);
    const parts = partsOf(group);
    expect(parts.flat()).toEqual(group);
    expect(parts.every((part) => part.length > 0 && part.length < length)).toBe(true);
  }
});
