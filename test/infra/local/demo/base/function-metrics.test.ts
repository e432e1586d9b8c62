import { expect, test } from 'vitest';
import { FunctionMetrics } from '../../../../../infra/local/demo/base/function-metrics.ts';

test('the metrics of a function are the sums of its log lines, and every other line is passed over', () => {
  const metrics = new FunctionMetrics();
  for (const line of [
    'Serving function...',
    '{ not JSON',
    '[]',
    '{"message":"metrics","metrics":{"recordsApplied":2,"batchEntries":{"count":1}}}',
    '{"message":"metrics","metrics":{"recordsApplied":3}}',
    '{"message":"metric","metric":"messagesRedelivered","label":"transient","value":1}',
    '{"message":"metric","metric":"messagesRedelivered","label":"transient","value":4}',
    '{"message":"metric","metric":"messagesRedelivered","label":"deadline","value":1}',
    '{"message":"started"}',
  ]) {
    metrics.add(line);
  }
  expect(metrics.total('recordsApplied')).toBe(5);
  expect(metrics.total('batchEntries')).toBe(0);
  expect(metrics.total('messagesRedelivered', 'transient')).toBe(5);
  expect(Object.fromEntries(metrics.byLabel('messagesRedelivered'))).toEqual({ transient: 5, deadline: 1 });
});
