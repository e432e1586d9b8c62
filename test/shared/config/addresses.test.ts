import { describe, expect, test } from 'vitest';
import { parseEmulatorEndpoint } from '../../../shared/config/addresses.ts';

describe('emulator endpoints', () => {
  test.each([
    ['localhost:8086', 'localhost', 8086],
    ['127.0.0.1:1', '127.0.0.1', 1],
    ['[::1]:65535', '[::1]', 65_535],
    ['::1:80', '::1', 80],
    ['HOST.example:0080', 'HOST.example', 80],
  ])('%s is host %s and port %i', (text, host, port) => {
    expect(parseEmulatorEndpoint(text)).toEqual({ host, port });
  });

  test.each([
    '',
    'localhost',
    ':8086',
    'localhost:',
    'localhost:0',
    'localhost:65536',
    'localhost:+80',
    'localhost:-1',
    'localhost:8o',
    'localhost:1e3',
    'localhost:٨٠',
    ' localhost:80',
    'localhost:80 ',
    'local host:80',
    'localhost: 80',
    'local\u00a0host:80',
  ])('%j is none', (text) => {
    expect(parseEmulatorEndpoint(text)).toBeUndefined();
  });
});
