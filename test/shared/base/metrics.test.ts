import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createLogger } from '../../../shared/base/logging.ts';
import { createLogExporter, createMetrics } from '../../../shared/base/metrics.ts';
import { ManualClock } from '../../support/manual-clock.ts';

describe('the registry', () => {
  test('a snapshot holds what was counted since the one before', () => {
    const metrics = createMetrics();
    metrics.count('numRecordsSend');
    metrics.count('numRecordsSend', 4);
    metrics.count('numBytesSend', 100);
    expect(metrics.snapshot().counters).toEqual({ numRecordsSend: 5, numBytesSend: 100 });
    metrics.count('numRecordsSend', 2);
    expect(metrics.snapshot().counters).toEqual({ numRecordsSend: 2 });
    expect(metrics.snapshot().counters).toEqual({});
  });

  test('a labelled counter keeps one sum per label, apart from the unlabelled', () => {
    const metrics = createMetrics();
    metrics.count('errorClass.errors', 1, 'NOT_FOUND');
    metrics.count('errorClass.errors', 2, 'INVALID_ARGUMENT');
    metrics.count('errorClass.errors', 3, 'NOT_FOUND');
    metrics.count('messagesRedelivered', 1, 'NOT_FOUND');
    const { labelled, counters } = metrics.snapshot();
    expect(labelled).toEqual([
      { metric: 'errorClass.errors', label: 'NOT_FOUND', value: 4 },
      { metric: 'errorClass.errors', label: 'INVALID_ARGUMENT', value: 2 },
      { metric: 'messagesRedelivered', label: 'NOT_FOUND', value: 1 },
    ]);
    expect(counters).toEqual({});
    expect(metrics.snapshot().labelled).toEqual([]);
  });

  test('a gauge is read at every snapshot', () => {
    const metrics = createMetrics();
    let open = 3;
    metrics.observe('activeClients', () => open);
    expect(metrics.snapshot().gauges).toEqual({ activeClients: 3 });
    open = 0;
    expect(metrics.snapshot().gauges).toEqual({ activeClients: 0 });
  });

  test('count, sum, minimum and maximum of a distribution are exact however many values it took', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -1000, max: 1_000_000 }), { minLength: 1, maxLength: 2000 }), (values) => {
        const metrics = createMetrics();
        for (const value of values) metrics.record('requestLatency', value);
        expect(metrics.snapshot().distributions.requestLatency).toMatchObject({
          count: values.length,
          sum: values.reduce((sum, value) => sum + value, 0),
          min: Math.min(...values),
          max: Math.max(...values),
        });
        expect(metrics.snapshot().distributions).toEqual({});
      }),
      { seed: 3, numRuns: 50 },
    );
  });

  test('quantiles of up to 512 values are values of theirs, at the nearest lower rank', () => {
    const metrics = createMetrics();
    const values = Array.from({ length: 101 }, (_, index) => index);
    // 37 and 101 have no common factor: every value comes once, in no order.
    for (const index of values) metrics.record('messageLatency', (index * 37) % 101);
    expect(metrics.snapshot().distributions.messageLatency).toMatchObject({ p50: 50, p95: 95 });
  });

  test('quantiles of one value are that value', () => {
    const metrics = createMetrics();
    metrics.record('batchEntries', 7);
    expect(metrics.snapshot().distributions.batchEntries).toEqual({ count: 1, sum: 7, min: 7, max: 7, p50: 7, p95: 7 });
  });

  test('beyond 512 values the quantiles follow the latest', () => {
    const metrics = createMetrics();
    for (let count = 0; count < 512; count += 1) metrics.record('messageLatency', 1);
    for (let count = 0; count < 512; count += 1) metrics.record('messageLatency', 1000);
    const summary = metrics.snapshot().distributions.messageLatency;
    expect(summary).toEqual({ count: 1024, sum: 512 * 1001, min: 1, max: 1000, p50: 1000, p95: 1000 });
  });
});

describe('the log exporter', () => {
  function exporter(flushIntervalMillis: number) {
    const clock = new ManualClock();
    const metrics = createMetrics();
    const written: string[] = [];
    const logger = createLogger({ pipeline: 'p' }, (line) => void written.push(line));
    const take = (): unknown[] => written.splice(0).map((line) => JSON.parse(line) as unknown);
    return { clock, metrics, take, exporter: createLogExporter(metrics, logger, clock, flushIntervalMillis) };
  }

  test('writes one line for all that has no label and one for each labelled series', () => {
    const { metrics, take, exporter: log } = exporter(1000);
    metrics.observe('activeClients', () => 2);
    metrics.count('recordsApplied', 5);
    metrics.record('batchEntries', 4);
    metrics.count('messagesRedelivered', 1, 'deadline');
    log.flush();
    expect(take()).toEqual([
      {
        severity: 'INFO',
        message: 'metrics',
        pipeline: 'p',
        metrics: {
          recordsApplied: 5,
          activeClients: 2,
          batchEntries: { count: 1, sum: 4, min: 4, max: 4, p50: 4, p95: 4 },
        },
      },
      {
        severity: 'INFO',
        message: 'metric',
        pipeline: 'p',
        metric: 'messagesRedelivered',
        label: 'deadline',
        value: 1,
      },
    ]);
  });

  test('writes nothing where nothing happened, gauges or not', () => {
    const { metrics, take, exporter: log } = exporter(1000);
    metrics.observe('activeClients', () => 2);
    log.flush();
    expect(take()).toEqual([]);
    metrics.count('recordsApplied');
    log.flush();
    log.flush();
    expect(take()).toHaveLength(1);
  });

  test('flushIfDue writes when the last flush is as old as the interval, and not before', async () => {
    const { clock, metrics, take, exporter: log } = exporter(1000);
    metrics.count('recordsApplied');
    await clock.advance(999);
    log.flushIfDue();
    expect(take()).toEqual([]);
    await clock.advance(1);
    log.flushIfDue();
    expect(take()).toHaveLength(1);
    metrics.count('recordsApplied');
    await clock.advance(999);
    log.flushIfDue();
    expect(take()).toEqual([]);
  });

  test('a flush that was asked for starts the interval over', async () => {
    const { clock, metrics, take, exporter: log } = exporter(1000);
    await clock.advance(900);
    log.flush();
    metrics.count('recordsApplied');
    await clock.advance(999);
    log.flushIfDue();
    expect(take()).toEqual([]);
    await clock.advance(1);
    log.flushIfDue();
    expect(take()).toHaveLength(1);
  });

  test('an interval of 0 writes at every call', () => {
    const { metrics, take, exporter: log } = exporter(0);
    for (const by of [1, 2]) {
      metrics.count('recordsApplied', by);
      log.flushIfDue();
    }
    expect(take()).toMatchObject([{ metrics: { recordsApplied: 1 } }, { metrics: { recordsApplied: 2 } }]);
  });
});
