import { describe, expect, test } from 'vitest';
import {
  admitMessage,
  afterApplied,
  afterProbe,
  afterRejected,
  NO_REJECTIONS,
  type RejectionState,
} from '../../../shared/bulk/rejections.ts';

const LIMIT = { maxConsecutiveRejections: 3, cooldownMillis: 1000 };

const rejectedTimes = (count: number, from: RejectionState = NO_REJECTIONS, now = 0, limit = LIMIT): RejectionState =>
  Array.from({ length: count }).reduce<RejectionState>((state) => afterRejected(state, limit, now), from);

describe('maxConsecutiveRejections', () => {
  test('trips at the bound, not before', () => {
    expect(rejectedTimes(2).kind).toBe('closed');
    expect(rejectedTimes(3)).toEqual({ kind: 'tripped', until: 1000, isProbing: false });
  });

  test('starts over with any applied entry', () => {
    expect(afterApplied()).toEqual(NO_REJECTIONS);
    expect(rejectedTimes(2, afterApplied()).kind).toBe('closed');
  });

  test('never trips at -1', () => {
    expect(rejectedTimes(10_000, NO_REJECTIONS, 0, { ...LIMIT, maxConsecutiveRejections: -1 }).kind).toBe('closed');
  });

  test('lets nothing through while it cools down, then one probe at a time', () => {
    const tripped = rejectedTimes(3);
    expect(admitMessage(tripped, 999).admitted).toBe('no');
    const probe = admitMessage(tripped, 1000);
    expect(probe.admitted).toBe('as-probe');
    expect(admitMessage(probe.state, 1001).admitted).toBe('no');
    expect(admitMessage(afterProbe(probe.state), 1001).admitted).toBe('as-probe');
  });

  test('a rejected probe costs another cool-down', () => {
    const probe = admitMessage(rejectedTimes(3), 1000);
    const again = afterProbe(afterRejected(probe.state, LIMIT, 1500));
    expect(admitMessage(again, 2499).admitted).toBe('no');
    expect(admitMessage(again, 2500).admitted).toBe('as-probe');
  });

  test('lets everything through while closed', () => {
    expect(admitMessage(rejectedTimes(2), 0).admitted).toBe('freely');
  });
});
