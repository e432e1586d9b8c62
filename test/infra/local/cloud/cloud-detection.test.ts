import { describe, expect, test } from 'vitest';
import type { EmulatorCommand } from '../../../../infra/local/cloud/cloud-sdk.ts';
import { chooseBackend, parseMode, type LocalCloudMode } from '../../../../infra/local/cloud/detection.ts';

const command: EmulatorCommand = { command: 'cbtemulator', args: (port) => ['-port', String(port)] };
const found = { found: command };
const missing = { missing: 'no Cloud SDK on this machine' };
const dead = { host: '127.0.0.1:9', hostAnswers: false };
const unset = { hostAnswers: false };

describe('the order in which a backend is chosen', () => {
  test.each<LocalCloudMode>(['embedded', 'google', 'auto'])('mode %s: a host that answers comes first', (mode) => {
    const host = '127.0.0.1:8086';
    expect(chooseBackend({ service: 'bigtable', mode, host, hostAnswers: true, emulator: found })).toEqual({
      kind: 'existing',
      endpoint: host,
      why: 'BIGTABLE_EMULATOR_HOST is set',
    });
  });

  test.each([
    ['embedded', found, 'embedded', 'the default', undefined],
    ['auto', found, 'google', 'asked for by auto', undefined],
    ['google', found, 'google', 'asked for by google', undefined],
    ['auto', missing, 'embedded', /no Google emulator: no Cloud SDK/, undefined],
    ['google', missing, 'embedded', /no Google emulator: no Cloud SDK/, /asked for: no Cloud SDK .*; embedded instead/],
  ] as const)('mode %s without a host, the emulator %o: %s', (mode, emulator, kind, why, warning) => {
    const choice = chooseBackend({ service: 'pubsub', mode, ...unset, emulator });
    expect(choice.kind).toBe(kind);
    expect(choice.why).toMatch(why);
    if (warning) expect(choice.warning).toMatch(warning);
    else expect(choice).not.toHaveProperty('warning');
  });

  test.each<LocalCloudMode>(['embedded', 'google', 'auto'])('mode %s: a dead host is passed over aloud', (mode) => {
    const choice = chooseBackend({ service: 'pubsub', mode, ...dead, emulator: found });
    expect(choice.kind).toBe(mode === 'embedded' ? 'embedded' : 'google');
    expect(choice.warning).toBe('PUBSUB_EMULATOR_HOST=127.0.0.1:9 is set, but nothing answers there; it is ignored');
  });
});

test('LOCAL_CLOUD takes the three modes, nothing means embedded, and anything else is refused with them', () => {
  expect([undefined, '', 'embedded', 'google', 'auto'].map(parseMode)).toEqual([
    ...['embedded', 'embedded', 'embedded', 'google', 'auto'],
  ]);
  expect(() => parseMode('gcloud')).toThrow(/LOCAL_CLOUD: must be one of embedded, google, auto, got "gcloud"/);
});
