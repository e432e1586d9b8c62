import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type DocumentSnapshot, Firestore } from '@google-cloud/firestore';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { METRICS } from '../../shared/base/metric-catalogue.ts';
import { deadLettersOf } from '../../shared/config/dead-letters.ts';
import { resolveConfig } from '../../shared/config/resolve.ts';
import type { ResolvedStagedSink } from '../../shared/config/resolved.ts';
import { createStageDatabase } from '../../shared/google/firestore/stage-database.ts';
import { run } from '../functions/cli/fakes.ts';
import { PIPELINE, type StagedHarness, startStaged } from '../support/staged-harness.ts';
import { entryLine } from '../support/test-entry.ts';
import { fencedBlocks } from './fenced-blocks.ts';

/** What the page on exactly once says of names, fields, figures and output is what the code does. */

const page = readFileSync(resolve(import.meta.dirname, '../../shared/docs/exactly-once.md'), 'utf8');
const [yaml = ''] = fencedBlocks(page, 'yaml');
const commands = fencedBlocks(page, 'sh')
  .join('\n')
  .split('\n')
  .filter((line) => line !== '');

/** What the commands say after a few words, in order. */
const said = (pattern: RegExp): string[] => commands.flatMap((line) => pattern.exec(line)?.[1] ?? []);

describe('the commands make what the configuration names', () => {
  const { ledger } = resolveConfig(parse(yaml), 'exactly-once.md').config.pipelines;
  const pipeline = ledger as ResolvedStagedSink;
  if (pipeline.commit.when !== 'on-checkpoint') throw new Error('the page shows a pipeline with checkpoints');
  const { commitTopic, firestore } = pipeline.commit;
  const idOf = (name: string): string => name.slice(name.lastIndexOf('/') + 1);

  test('topics', () => {
    const letters = deadLettersOf(pipeline);
    const topics = [pipeline.input.topic, letters?.topic ?? '', letters?.replayTopic ?? '', commitTopic].map(idOf);
    expect(said(/^gcloud pubsub topics create (\S+)$/).toSorted()).toEqual(topics.toSorted());
  });

  test('the database', () => {
    const databases = said(/^gcloud firestore .* --database (\S+)/);
    expect(databases.length).toBeGreaterThan(1);
    expect(new Set(databases)).toEqual(new Set([firestore.database]));
  });

  test('the app profile and the marker family, which keeps its markers as long as the horizon', () => {
    expect(said(/^gcloud bigtable app-profiles create (\S+) /)).toEqual([pipeline.appProfileId]);
    expect(said(/createfamily ledger (\S+)$/)).toEqual([pipeline.marker.family]);
    const [days] = said(/setgcpolicy ledger applied maxage=(\d+)d$/);
    expect(Number(days) * 86_400_000).toBe(pipeline.marker.horizonMillis);
  });
});

/** Fields that a query names. */
const QUERIED = {
  segments: ['state', 'checkpoint', 'isGivenBack'],
  parts: [],
  checkpoints: ['state', 'number'],
} as const;

type Group = keyof typeof QUERIED;
const GROUPS = Object.keys(QUERIED) as Group[];

/** Every field of every document that a pipeline keeps, at its top. */
async function fieldsOf(db: Firestore, seen: Record<Group, Set<string>>): Promise<void> {
  for (const group of GROUPS) {
    const { docs } = await db.collectionGroup(group).get();
    for (const document of docs as DocumentSnapshot[]) {
      for (const field of Object.keys(document.data() ?? {})) seen[group].add(field);
    }
  }
}

const { signal } = new AbortController();

test('a field that a pipeline keeps is asked for by a query, or exempted from the indexes by a command', async () => {
  await using staged = await startStaged();
  const db = new Firestore({ projectId: 'p' });
  const seen = { segments: new Set<string>(), parts: new Set<string>(), checkpoints: new Set<string>() };
  const database = createStageDatabase({ databaseId: '(default)', projectId: 'p' });
  try {
    // A large segment whose head is not stored: its part waits for one.
    staged.firestore.faults.add({
      method: 'Commit',
      fromCall: 2,
      effect: { kind: 'refuse', status: { code: 'PERMISSION_DENIED', message: 'injected' } },
    });
    const large = { id: 'large', envelopes: 1, payload: Buffer.alloc(900 * 1024), stagedAt: 1 };
    await expect(database.stores(PIPELINE).staging.stage([large], signal)).rejects.toThrow('injected');
    await fieldsOf(db, seen);
    // From the stage to a problem, and from there to the end.
    staged.bigtable.faults.add({
      method: 'CheckAndMutateRow',
      effect: { kind: 'refuse', status: { code: 'PERMISSION_DENIED', message: 'injected' } },
    });
    expect(await staged.push({ data: Buffer.from(entryLine('row', 'v')) })).toMatchObject({ status: 204 });
    const [work] = await staged.tick();
    expect(await staged.commit(work!)).toMatchObject({ status: 503 });
    await fieldsOf(db, seen);
    expect(await staged.commit(work!)).toMatchObject({ status: 204 });
    await staged.tick();
    await fieldsOf(db, seen);
  } finally {
    await database.close();
    await db.terminate();
  }
  for (const group of GROUPS) {
    const exempted = said(
      new RegExp(`^gcloud firestore indexes fields update (\\S+) .*-group ${group} --disable-indexes$`),
    );
    expect([...exempted, ...QUERIED[group]].toSorted()).toEqual([...seen[group]].toSorted());
  }
  const expiring = said(/^gcloud firestore fields ttls update (\S+) .* --enable-ttl$/);
  expect(expiring).toEqual(['orphanedAfter', 'expireAt']);
}, 30_000);

describe('what Firestore bills', () => {
  /** The figures of the row that begins so. */
  function figures(row: string): { reads: number; writes: number; deletes: number } {
    const line = page.split('\n').find((each) => each.startsWith(`| ${row}`)) ?? '';
    const [reads = NaN, writes = NaN, deletes = NaN] = line.split('|').slice(2).map(Number);
    return { reads, writes, deletes };
  }

  const RECORDS = 3_000;

  /** Records of 1 KiB in one message: its segments are full but for the last. */
  async function stageAndCommit(staged: StagedHarness): Promise<number> {
    const lines = Array.from({ length: RECORDS }, (_, index) => entryLine(`row-${index}`, 'v'.repeat(1024)));
    expect(await staged.push({ data: lines.join('\n') })).toMatchObject({ status: 204 });
    const works = await staged.tick();
    for (const work of works) expect(await staged.commit(work)).toMatchObject({ status: 204 });
    await staged.tick();
    return works.flatMap(({ segments }) => segments).length;
  }

  test('the table adds up to what is billed, and the figure for a million follows from it', async () => {
    await using staged = await startStaged({ pipeline: { framing: 'ndjson' } });
    // The sum of the parts, each as often as it happens here; the stager's own read may still be on its way.
    staged.firestore.resetBilled();
    const segments = await stageAndCommit(staged);
    const billed = staged.firestore.billed();
    const parts = [
      { ...figures('segment'), times: segments },
      { ...figures('commit message'), times: 1 },
      { ...figures('checkpoint  '), times: 1 },
      { ...figures('tick'), times: 2 },
      { ...figures('5 s of an instance'), times: 1 },
    ];
    const sum = (key: 'reads' | 'writes' | 'deletes'): number =>
      parts.reduce((total, part) => total + part.times * part[key], 0);
    expect(billed.writes).toBe(sum('writes'));
    expect(billed.deletes).toBe(sum('deletes'));
    // A query that finds something is billed for that and not once more, and the first tick finds no pipeline to read twice.
    expect(billed.reads).toBeLessThanOrEqual(sum('reads'));
    expect(billed.reads).toBeGreaterThanOrEqual(sum('reads') - 3);

    const segment = figures('segment');
    const each = segment.reads + segment.writes + segment.deletes + figures('commit message').writes / 8;
    // The last segment is not full.
    const perMillion = ((segments - 0.5) / RECORDS) * 1_000_000 * each;
    const said = Number(/are about ([\d,]+) operations/.exec(page)?.[1]?.replaceAll(',', ''));
    expect(Math.abs(perMillion / said - 1)).toBeLessThan(0.15);
  }, 60_000);
});

test('every metric that the page names to alert on is there', () => {
  const [, table = ''] = /^\| metric +\|(.*?)\n\n/ms.exec(page) ?? [];
  const named = [...table.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name ?? '');
  expect(named.length).toBeGreaterThan(5);
  for (const name of named) expect(METRICS).toHaveProperty([name]);
});

test('connector status prints what is shown', async () => {
  const now = 1_800_000_000_000;
  const lease = { owner: '5f0c2f4e-6c1e-4a53-9d0b-0a8f8c6f1f6d', epoch: 812, expiresAt: now + 21_400 };
  const MIB = 1024 * 1024;
  const checkpoint = (number: number, segments: number, envelopes: number, left: number, timesAgo: number[]) => {
    const [staged = 0, completed = 0, committed] = timesAgo;
    return {
      number,
      state: committed === undefined ? ('completed' as const) : ('committed' as const),
      segments,
      envelopes,
      bytes: 0,
      remainingSegments: left,
      remainingEnvelopes: 0,
      remainingBytes: 0,
      oldestStagedAt: now - staged,
      completedAt: now - completed,
      ...(committed !== undefined && { committedAt: now - committed }),
    };
  };
  const problem =
    'CheckAndMutateRow on my-project.my-instance.ledger answered NOT_FOUND: a column family that the record or the marker names does not exist; create the family, or fix the mapping';
  const { code, out } = await run(['status'], {
    config: yaml,
    now,
    stage: () => ({
      status: {
        readPipeline: () =>
          Promise.resolve({
            version: '1.0',
            value: {
              lease,
              lastCheckpoint: 4172,
              lastCompletedAt: now - 3600,
              backlog: { segments: 22, envelopes: 15_200, bytes: 16.9 * MIB },
              countedAt: now - 3600,
            },
          }),
        countStaged: () => Promise.resolve({ segments: 2, envelopes: 1400, bytes: 1.6 * MIB }),
        readCheckpoints: () =>
          Promise.resolve([
            checkpoint(4172, 2, 1400, 2, [12_700, 3_600]),
            checkpoint(4171, 20, 13_800, 1, [24_000, 13_600]),
            checkpoint(4170, 18, 12_100, 0, [33_800, 23_600, 20_700]),
          ]),
        readProblems: () =>
          Promise.resolve([
            {
              id: '0b8e4d0a-93d5-4c4e-8d0f-5a5b1d0c7a11',
              state: 'owned' as const,
              checkpoint: 4171,
              envelopes: 700,
              bytes: 0,
              parts: 0,
              stagedAt: now - 24_000,
              lease: { holder: '', expiresAt: now, attempts: 2 },
              problem,
            },
          ]),
      },
    }),
  });
  expect(code).toBe(0);
  expect(`${out}\n`).toBe(fencedBlocks(page, 'text')[0]);
});
