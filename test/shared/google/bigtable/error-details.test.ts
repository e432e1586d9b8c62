import { expect, test } from 'vitest';
import { endingDetails } from '../../../../shared/google/bigtable/error-details.ts';
import { ErrorInfo, RetryInfo } from '../../../../shared/proto/google/rpc/error_details.ts';
import { Status } from '../../../../shared/proto/google/rpc/status.ts';

const encoded = (...details: readonly { readonly type: string; readonly value: Uint8Array }[]): Buffer =>
  Buffer.from(
    Status.encode({
      code: 9,
      message: '',
      details: details.map(({ type, value }) => ({
        typeUrl: `type.googleapis.com/google.rpc.${type}`,
        value: Buffer.from(value),
      })),
    }).finish(),
  );

const info = (reason: string, metadata: Record<string, string>) => ({
  type: 'ErrorInfo',
  value: ErrorInfo.encode({ reason, domain: 'bigtable.googleapis.com', metadata }).finish(),
});

test('a row that is too large is named by its key, in either alphabet of base64', () => {
  const key = Buffer.from([0xfb, 0xff, 0x00]);
  for (const text of [key.toString('base64'), key.toString('base64url')]) {
    const details = encoded(
      { type: 'Help', value: new Uint8Array() },
      info('LargeRowReadError', { rowKeyBase64Encoded: text }),
    );
    expect(endingDetails(details)).toEqual({ oversizedKey: key });
  }
});

test('the delay that the service asks for is told in milliseconds', () => {
  const value = RetryInfo.encode({ retryDelay: { seconds: 2n, nanos: 500_000_000 } }).finish();
  expect(endingDetails(encoded({ type: 'RetryInfo', value }))).toEqual({ retryAfterMillis: 2500 });
  expect(endingDetails(encoded({ type: 'RetryInfo', value: new Uint8Array() }))).toEqual({});
});

test.each([
  ['no details', undefined],
  ['details of something else', encoded(info('OtherError', { rowKeyBase64Encoded: 'aw==' }))],
  ['a key that is none', encoded(info('LargeRowReadError', { rowKeyBase64Encoded: 'a' }))],
  ['an empty key', encoded(info('LargeRowReadError', { rowKeyBase64Encoded: '' }))],
  ['no key', encoded(info('LargeRowReadError', {}))],
  ['bytes that are no status', Buffer.from([0x1a, 0xff])],
  ['an info that is none', encoded({ type: 'ErrorInfo', value: Buffer.from([0x0a, 0xff]) })],
])('%s say nothing', (_name, details) => {
  expect(endingDetails(details)).toEqual({});
});
