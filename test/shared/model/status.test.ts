import { status as grpcStatus } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import { STATUS_CODES, statusName } from '../../../shared/model/status.ts';

test('the table of statuses is that of gRPC, both ways', () => {
  const names = Object.keys(grpcStatus).filter((name) => Number.isNaN(Number(name)));
  expect(Object.keys(STATUS_CODES).toSorted()).toEqual(names.toSorted());
  for (const [name, code] of Object.entries(STATUS_CODES)) {
    expect(grpcStatus[code]).toBe(name);
    expect(statusName(code)).toBe(name);
  }
});

test.each([-1, 17, 1.5, Number.NaN])('a number that gRPC does not define is UNKNOWN: %d', (code) => {
  expect(statusName(code)).toBe('UNKNOWN');
});
