import { describe, expect, test } from 'vitest';
import { MAX_OPTIONS_BYTES, StartError, startRun } from '../../../../shared/scan/runs/start-run.ts';
import { RunWorld } from '../../../support/run-world.ts';

describe('starting a run', () => {
  test('freezes what it goes by, and the next coordinator plans it', async () => {
    const world = new RunWorld();
    expect(await world.start('2026-01-01T00:00:00Z')).toMatchObject({ kind: 'started', run: { state: 'planning' } });
    let seen = '';
    world.ranges = (_run, options) => {
      seen = options;
      return Promise.reject(new Error('enough'));
    };
    await world.tick(world.coordinator());
    expect(seen).toBe('{"run":"2026-01-01T00:00:00Z"}');
  });

  test('twice under one id is one run, also after it ended', async () => {
    const world = new RunWorld();
    await world.start('r1');
    expect(await world.start('r1')).toMatchObject({ kind: 'known', run: { state: 'planning' } });
    await world.readAll('r1');
    expect(await world.start('r1')).toMatchObject({ kind: 'known', run: { state: 'done' } });
    expect(await world.store.runs.listRuns(10, world.ended.signal)).toHaveLength(1);
  });

  test('is refused while another run is under way, unless that is allowed', async () => {
    const world = new RunWorld();
    await world.start('r1');
    expect(await world.start('r2')).toMatchObject({ kind: 'refused', by: { id: 'r1' } });
    expect(await world.start('r2', 'allow')).toMatchObject({ kind: 'started' });
  });

  test('twice at once under two ids starts one of them', async () => {
    const world = new RunWorld();
    const access = { store: world.store.runs, clock: world.clock };
    const both = await world.until(
      Promise.all(
        ['r1', 'r2'].map((id) =>
          startRun({ id, options: () => '{}', concurrentRuns: 'refuse' }, access, world.ended.signal),
        ),
      ),
    );
    expect(both.map(({ kind }) => kind).toSorted()).toEqual(['refused', 'started']);
    expect(await world.store.runs.listRuns(10, world.ended.signal)).toHaveLength(1);
  });

  test.each(['error-after', 'error-before', 'conflict'] as const)(
    'whose commit ends with %s starts one run',
    async (fault) => {
      const world = new RunWorld();
      let isOver = false;
      world.store.fault = ({ method }) => {
        if (isOver || method !== 'start') return undefined;
        isOver = true;
        return fault;
      };
      const { kind } = await world.start('r1');
      expect(kind).toBe(fault === 'error-after' ? 'known' : 'started');
      expect(await world.store.runs.listRuns(10, world.ended.signal)).toHaveLength(1);
    },
  );

  test('that follows a run that is done knows it', async () => {
    const world = new RunWorld();
    await world.start('r1');
    await world.readAll('r1');
    let seen: unknown;
    const options = (lastDone: unknown): string => {
      seen = lastDone;
      return '{}';
    };
    const access = { store: world.store.runs, clock: world.clock };
    await world.until(startRun({ id: 'r2', options, concurrentRuns: 'refuse' }, access, world.ended.signal));
    expect(seen).toEqual({ run: 'r1', startedAt: world.run('r1').startedAt });
  });

  test.each(['', '.', '../x', 'a/b', '-a', 'a'.repeat(101), 'ä'])('under the id %j is refused', async (id) => {
    const world = new RunWorld();
    await expect(world.start(id)).rejects.toBeInstanceOf(StartError);
    expect(world.store.calls).toEqual([]);
  });

  test('with more than a document holds is refused, and says what to do', async () => {
    const world = new RunWorld();
    const options = (): string => 'x'.repeat(MAX_OPTIONS_BYTES + 1);
    const access = { store: world.store.runs, clock: world.clock };
    const start = startRun({ id: 'r1', options, concurrentRuns: 'refuse' }, access, world.ended.signal);
    await expect(world.until(start)).rejects.toThrow(/must fit into .* name fewer ranges/);
    expect(world.store.run('r1')).toBeUndefined();
  });
});
