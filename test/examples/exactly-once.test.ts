import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type DocumentSnapshot, Firestore } from '@google-cloud/firestore';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { METRICS } from '../../shared/base/metric-catalogue.ts';
import { deadLettersOf } from '../../shared/config/dead-letters.ts';
import { resolveConfig } from '../../shared/config/resolve.ts';
import type { ResolvedStagedSink } from '../../shared/config/resolved.ts';
import { createDatabase } from '../../shared/google/firestore/database.ts';
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
  segments: [],
  parts: [],
  rests: ['tryAt'],
  checkpoints: ['number'],
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
  const [segments, parts, rests, checkpoints] = [
    new Set<string>(),
    new Set<string>(),
    new Set<string>(),
    new Set<string>(),
  ];
  const seen = { segments, parts, rests, checkpoints };
  const database = createDatabase({ databaseId: '(default)', projectId: 'p' });
  try {
    // A large segment whose head is not stored: its part waits for one.
    staged.firestore.faults.add({
      method: 'Commit',
      fromCall: 2,
      effect: { kind: 'refuse', status: { code: 'PERMISSION_DENIED', message: 'injected' } },
    });
    const large = { id: 'large', envelopes: 1, payload: Buffer.alloc(900 * 1024), stagedAt: 1 };
    await expect(database.stage(PIPELINE).staging.stage([large], signal)).rejects.toThrow('injected');
    await fieldsOf(db, seen);
    // From the stage to a rest and a committed checkpoint.
    staged.bigtable.faults.add({
      method: 'CheckAndMutateRow',
      effect: { kind: 'refuse', status: { code: 'PERMISSION_DENIED', message: 'injected' } },
    });
    expect(await staged.push({ data: Buffer.from(entryLine('row', 'v')) })).toMatchObject({ status: 204 });
    await fieldsOf(db, seen);
    for (const work of await staged.tick()) expect(await staged.commit(work)).toMatchObject({ status: 204 });
    expect(staged.count('envelopesSetApart')).toBe(1);
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
  /** The cells of the row that begins so, but for its first. */
  const cells = (row: string): string[] =>
    (page.split('\n').find((each) => each.startsWith(row)) ?? '').split('|').slice(2, -1);

  const numberIn = (pattern: RegExp): number => Number(pattern.exec(page)?.[1]?.replaceAll(',', ''));

  /** The figures of the row that begins so; of reads the least and the most. */
  function figures(row: string): { leastReads: number; mostReads: number; writes: number; deletes: number } {
    const [reads = '', writes = NaN, deletes = NaN] = cells(`| ${row}`);
    const [leastReads = NaN, mostReads = leastReads] = reads.split(' to ').map(Number);
    return { leastReads, mostReads, writes: Number(writes), deletes: Number(deletes) };
  }

  const RECORDS = 3_000;

  /** What is in the store from there to the rows. */
  async function commitAll(staged: StagedHarness): Promise<void> {
    for (const work of await staged.tick()) expect(await staged.commit(work)).toMatchObject({ status: 204 });
  }

  test('the table adds up to what is billed, and the figure for a million follows from it', async () => {
    await using staged = await startStaged({ pipeline: { framing: 'ndjson' } });
    // The sum of the parts, each as often as it happens here; the stager's own read may still be on its way.
    staged.firestore.resetBilled();
    // Records of 1 KiB in one message: its segments are full but for the last.
    const lines = Array.from({ length: RECORDS }, (_, index) => entryLine(`row-${index}`, 'v'.repeat(1024)));
    expect(await staged.push({ data: lines.join('\n') })).toMatchObject({ status: 204 });
    await commitAll(staged);
    await staged.tick();
    const segments = staged.count('segmentsStaged');
    const billed = staged.firestore.billed();
    const parts = [
      { ...figures('segment'), times: segments },
      { ...figures('checkpoint, '), times: 1 },
      { ...figures('tick'), times: 2 },
      { ...figures('minute'), times: 1 },
      { ...figures('read of the pipeline'), times: 1 },
      { ...figures('cluster'), times: 1 },
    ];
    const sum = (key: 'writes' | 'deletes' | 'leastReads' | 'mostReads'): number =>
      parts.reduce((total, part) => total + part.times * part[key], 0);
    expect(billed.writes).toBe(sum('writes'));
    expect(billed.deletes).toBe(sum('deletes'));
    expect(billed.reads).toBeLessThanOrEqual(sum('mostReads'));
    expect(billed.reads).toBeGreaterThanOrEqual(sum('leastReads') - 8);

    const segment = figures('segment');
    const each = segment.mostReads + segment.writes + segment.deletes;
    // The last segment is not full.
    const perMillion = ((segments - 0.5) / RECORDS) * 1_000_000 * each;
    const said = numberIn(/A million records of 1 KiB in full segments are about ([\d,]+) operations/);
    expect(Math.abs(perMillion / said - 1)).toBeLessThan(0.15);
  }, 60_000);

  test('an idle tick costs what its row says', async () => {
    await using staged = await startStaged();
    await staged.tick();
    staged.firestore.resetBilled();
    await staged.tick();
    const { leastReads: reads, writes, deletes } = figures('tick');
    expect(staged.firestore.billed()).toEqual({ reads, writes, deletes });
  }, 60_000);

  test.each([
    { what: '1 record of 300 bytes', records: 1 },
    { what: '100 records of 300 bytes', records: 100 },
  ])(
    'a million messages of $what, forty in a commit or each alone',
    async ({ what, records }) => {
      const [together = NaN, alone = NaN] = cells(`| ${what}`).map((cell) => Number(cell.replaceAll(/[^\d]/g, '')));
      const rounds = records === 1 ? 10 : 3;
      await using staged = await startStaged({ pipeline: { framing: 'ndjson' } });
      for (let round = 0; round < rounds; round += 1) await pushForty(staged, records, round);
      staged.firestore.resetBilled();
      await commitAll(staged);
      const { reads, deletes } = staged.firestore.billed();
      const segments = staged.count('segmentsStaged');
      expect(deletes).toBe(segments);
      // The reads of a tick and of a checkpoint are shared by any number of messages.
      const fixed = figures('checkpoint, ').mostReads + figures('tick').mostReads + figures('minute').mostReads;
      expect(reads).toBeGreaterThanOrEqual(segments);
      expect(together).toBeGreaterThan(((3 * segments) / (40 * rounds)) * 1_000_000);
      expect(together).toBeLessThan(((2 * segments + reads) / (40 * rounds)) * 1_000_000);
      expect(reads - fixed).toBeLessThanOrEqual(2 * segments);
      expect(alone).toBe(3_000_000);
    },
    60_000,
  );

  /** Forty messages that wait together: at so many they leave at once. */
  async function pushForty(staged: StagedHarness, records: number, round: number): Promise<void> {
    const answers = Array.from({ length: 40 }, (_, index) => {
      const lines = Array.from({ length: records }, (__, at) => entryLine(`${round}-${index}-${at}`, 'v'.repeat(300)));
      return staged.push({ messageId: `${round}-${index}`, data: lines.join('\n') });
    });
    for (const answer of await Promise.all(answers)) expect(answer).toMatchObject({ status: 204 });
  }
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
  const checkpoint = (number: number, segments: number, envelopes: number, timesAgo: readonly number[]) => {
    const [staged = 0, completed = 0, sent, committed] = timesAgo;
    return {
      number,
      amount: { segments, envelopes, bytes: 0 },
      oldestStagedAt: now - staged,
      completedAt: now - completed,
      ...(sent !== undefined && { sentAt: now - sent }),
      ...(committed !== undefined && { committedAt: now - committed }),
    };
  };
  const backlog = { segments: 22, envelopes: 15_200, bytes: 16.9 * MIB };
  const rests = { segments: 1, envelopes: 3, bytes: 1843 };
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
              ...{ completed: 4172, lastCompletedAt: now - 3600, committed: 4170, lookFrom: 4171 },
              ...{ backlog, rests, countedAt: now - 3600, marks: [] },
            },
          }),
        countBacklog: () => Promise.resolve({ backlog, rests }),
        readCheckpoints: () =>
          Promise.resolve([
            checkpoint(4172, 19, 13_300, [12_700, 3_600]),
            checkpoint(4171, 20, 13_800, [24_000, 13_600, 13_500]),
            checkpoint(4170, 18, 12_100, [33_800, 23_600, 23_500, 20_700]),
          ]),
        readLowest: () =>
          Promise.resolve([
            {
              id: '5-000000004171-9c1e4a539d0b0a8f',
              number: 4171,
              ...{ envelopes: 700, bytes: 0, parts: 0, stagedAt: now - 15_300, createdAt: now - 15_200 },
            },
          ]),
        readRests: () =>
          Promise.resolve([
            {
              id: '2-000000004102-0a5b1d0c7a11e6f0',
              ...{ problem, attempts: 4, tryAt: now + 251_000 },
              ...{ envelopes: 3, bytes: 1843, parts: 0, stagedAt: now - 715_000 },
            },
          ]),
      },
    }),
  });
  expect(code).toBe(0);
  expect(`${out}\n`).toBe(fencedBlocks(page, 'text')[0]);
});
