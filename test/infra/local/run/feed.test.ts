import { expect, test } from 'vitest';
import { endpointAt } from '../../../../infra/local/run/feed.ts';

test.each([
  ['http://127.0.0.1:8080/', '/', 'http://127.0.0.1:8080/'],
  ['http://127.0.0.1:8080/', '/letters', 'http://127.0.0.1:8080/letters'],
  ['http://127.0.0.1:8080/fn/bulkSink', '/', 'http://127.0.0.1:8080/fn/bulkSink'],
  ['http://127.0.0.1:8080/fn/bulkSink', '/letters', 'http://127.0.0.1:8080/fn/bulkSink/letters'],
])('of a function at %s the path %s is at %s', (address, path, endpoint) => {
  expect(endpointAt(address, path)).toBe(endpoint);
});
