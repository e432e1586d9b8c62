import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { DEMOS } from '../../infra/local/demo/demos.ts';
import { type Expectation, expectedOutcome } from '../../infra/local/demo/bulk/truth.ts';
import { loadFlights } from '../../infra/local/demo/base/flights.ts';
import { planMessages } from '../../infra/local/demo/bulk/plan.ts';
import { conclude } from '../../infra/local/demo/base/verdict.ts';
import { judge, type Observed } from '../../infra/local/demo/bulk/verdict.ts';
import { deadLettersOf } from '../../shared/config/dead-letters.ts';
import { isSink } from '../../shared/config/resolved.ts';
import { resolveConfig } from '../../shared/config/resolve.ts';
import { loadModuleSerializer } from '../../shared/mapping/module-serializer.ts';
import { run } from '../functions/cli/fakes.ts';
import { PUBLISH_TIME_MICROS, recordOf } from '../shared/mapping/records.ts';
import { startSink } from '../support/sink-harness.ts';
import { fencedBlocks } from './fenced-blocks.ts';
import { PAGES, pageText } from './pages.ts';
import { typeErrors, withoutTypes } from './type-check.ts';

/** Every example of the pages that people read first is one that works. */

const ROOT = resolve(import.meta.dirname, '../..');
interface Example {
  /** Page and position on it. */
  readonly name: string;
  readonly code: string;
}

const examples = (language: string): Example[] =>
  PAGES.flatMap((page) =>
    fencedBlocks(pageText(page), language).map((code, index) => ({ name: `${page}, ${language} ${index + 1}`, code })),
  );

const configurations = examples('yaml').filter(({ code }) => code.includes('pipelines:'));
const idOf = (name: string): string => name.slice(name.lastIndexOf('/') + 1);
const modules = examples('ts').filter(({ code }) => code.includes('export default'));
const sessions = examples('console');
const scripts = examples('sh');

test('there are configurations, a serializer and a sample record to check', () => {
  expect([configurations.length, modules.length, sessions.length]).toEqual([12, 1, 1]);
});

test.each(configurations)('the configuration is right and warns of nothing: $name', ({ name, code }) => {
  const { config, warnings } = resolveConfig(parse(code), name);
  expect(Object.keys(config.pipelines)).toHaveLength(1);
  expect(warnings).toEqual([]);
});

test.each(scripts)('the shell can read the commands: $name', ({ code }) => {
  const { status, stderr } = spawnSync('bash', ['-n'], { input: code, encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(status).toBe(0);
});

test('every npm script that a page names is there, and so is every verb of the connector', async () => {
  const { scripts } = JSON.parse(pageText('package.json')) as { scripts: Readonly<Record<string, string>> };
  const text = PAGES.map(pageText).join('\n');
  const named = Array.from(text.matchAll(/\bnpm run (?:-s |--silent )?([\w:]+)/g), ([, name = '']) => name);
  expect(named.length).toBeGreaterThan(10);
  expect([...new Set(named)].filter((name) => !(name in scripts))).toEqual([]);
  const { out } = await run(['--help'], { config: '{}' });
  const verbs = Array.from(text.matchAll(/\bconnector -- ([a-z-]+)/g), ([, verb = '']) => verb);
  expect(verbs.length).toBeGreaterThan(5);
  expect([...new Set(verbs)].filter((verb) => !new RegExp(`^  ${verb} `, 'm').test(out))).toEqual([]);
});

test('the counts that the README shows of the demo are those that the demo must end with', async () => {
  const [shown = ''] = fencedBlocks(pageText('README.md'), 'text');
  const expected = expectedOutcome(planMessages(await loadFlights(DEMOS.flights.flights.byDefault)));
  const must = new Map(judge(expected, asItMustBe(expected)).map(({ what, mustBe }) => [what, mustBe]));
  const lines = Array.from(shown.matchAll(/^(\S.*?) {2,}([\d,]+) +([\d,]+) {2}ok$/gm));
  expect(lines).toHaveLength(8);
  for (const [, what = '', got, mustBe] of lines) {
    expect([what, got, mustBe]).toEqual([what, must.get(what)?.toLocaleString('en'), got]);
  }
  expect(shown).toContain(conclude([]));
  expect(pageText('README.md')).toContain(`publishes ${expected.records.toLocaleString('en')} records of real flights`);
});

/** What a run sees in which everything is as it must be; only its table says what rows there are. */
const asItMustBe = ({ rows }: Expectation): Observed => ({
  ...{ messages: 0, records: 0, delivered: 0, acknowledged: 0, backlog: 0, applied: 0, skipped: 0 },
  ...{ requests: 0, requestsForIsolation: 0, heldRowsBefore: 0, heldRowsAfter: 0, otherRedeliveries: 0, unreadable: 0 },
  deadLetters: [],
  redelivered: new Map(),
  table: {
    rowsExpected: rows.size,
    ...{ rowsRead: rows.size, missingRows: 0, unexpectedRows: 0, cellsCompared: 0, differentCells: 0 },
  },
});

test('the push subscriptions that are created are those of the configurations', () => {
  const pipelines = configurations.flatMap(({ name, code }) =>
    Object.values(resolveConfig(parse(code), name).config.pipelines),
  );
  const known = pipelines.flatMap((pipeline) => {
    if (!isSink(pipeline)) return [];
    const { input } = pipeline;
    const staging = pipeline.kind === 'staged-sink' && pipeline.commit.when === 'on-checkpoint' && pipeline.commit;
    const letters = deadLettersOf(pipeline);
    return [
      `${idOf(input.subscription)} of ${idOf(input.topic)}`,
      ...(staging ? [`${idOf(staging.commitSubscription)} of ${idOf(staging.commitTopic)}`] : []),
      ...(letters ? [`${idOf(letters.replaySubscription)} of ${idOf(letters.replayTopic)}`] : []),
    ];
  });
  const created = scripts.flatMap(({ code }) =>
    Array.from(
      code.matchAll(/gcloud pubsub subscriptions create (\S+) --topic (\S+) \\\n {2}--push-endpoint/g),
      ([, subscription = '', topic = '']) => `${subscription} of ${topic}`,
    ),
  );
  expect(created).toHaveLength(5);
  expect(known).toEqual(expect.arrayContaining(created));
});

test('every function that is deployed is one, and every one is deployed', async () => {
  const readme = await readFile(join(ROOT, 'functions/README.md'), 'utf8');
  const index = await readFile(join(ROOT, 'functions/index.ts'), 'utf8');
  const entryPoints = Array.from(index.matchAll(/^ {2}(\w+): async \(\) => /gm), ([, name]) => name);
  const deployed = Array.from(readme.matchAll(/^gcloud run deploy .* --function (\w+) /gm), ([, name]) => name);
  expect(entryPoints.length).toBeGreaterThan(0);
  expect(deployed.toSorted()).toEqual(entryPoints.toSorted());
});

test.each(sessions)('the command prints what is shown: $name', async ({ code }) => {
  const session = /^\$ echo '(?<record>.*)' \|\n {2}npm --silent run connector -- (?<command>.*)\n(?<shown>[^]*)$/.exec(
    code,
  );
  const { record = '', command = '', shown } = session?.groups ?? {};
  const { code: exitCode, out } = await run(command.split(' '), { config: configurations[0]!.code, stdin: record });
  expect(`${out}\n`).toBe(shown);
  expect(exitCode).toBe(0);
});

describe.each(modules)('the module $name', ({ code }) => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'connector-example-'));
    await writeFile(join(folder, 'example.mjs'), withoutTypes(code));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test('has the types that it says', () => {
    expect(typeErrors(code)).toEqual([]);
    expect(typeErrors(code.replace('publishTimeMicros,', 'String(publishTimeMicros),'))).toHaveLength(1);
  }, 30_000);

  test('makes a row of a sample record, and skips another', async () => {
    const { serialize } = await loadModuleSerializer('./example.mjs', folder, undefined);
    const context = { publishTimeMicros: PUBLISH_TIME_MICROS };
    const entry = serialize(recordOf({ id: 42, customer: 'acme', items: 3 }), context);
    expect(entry?.rowKey.toString()).toBe('acme#42');
    expect(entry?.mutations).toEqual([
      {
        kind: 'setCell',
        family: 'order',
        qualifier: Buffer.from('items'),
        timestampMicros: PUBLISH_TIME_MICROS,
        value: Buffer.from('3'),
      },
    ]);
    expect(serialize(recordOf({ id: 43, test: true }), context)).toBeNull();
  });

  test.each([
    ['no JSON', 'no JSON'],
    ['null', 'null'],
    ['a record without its customer', '{"id": 42, "items": 3}'],
    ['a record without its id', '{"customer": "acme", "items": 3}'],
    ['a record without its items', '{"id": 42, "customer": "acme"}'],
    ['a record whose items are a text', '{"id": 42, "customer": "acme", "items": "3"}'],
  ])('makes a bad record of %s: nothing is written, and it is a dead letter', async (_what, record) => {
    const pipeline = { serializer: { module: join(folder, 'example.mjs') } };
    await using sink = await startSink({ pipeline, families: ['order'], deadLetters: 'topic' });
    expect(await sink.push({ data: record })).toMatchObject({ status: 204 });
    const [letter, ...more] = await sink.letters();
    expect(more).toEqual([]);
    expect(letter?.data.toString()).toBe(record);
    expect(letter?.attributes).toMatchObject({ 'dlq-reason': 'serializer', 'dlq-payload': 'record' });
    expect(await sink.rows()).toEqual([]);
  });
});
