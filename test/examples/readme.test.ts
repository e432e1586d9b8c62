import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { resolveConfig } from '../../shared/config/resolve.ts';
import { loadModuleSerializer } from '../../shared/mapping/module-serializer.ts';
import type { Serializer } from '../../shared/mapping/serializer.ts';
import { run } from '../functions/cli/fakes.ts';
import { PUBLISH_TIME_MICROS, recordOf } from '../shared/mapping/records.ts';
import { fencedBlocks } from './fenced-blocks.ts';
import { typeErrors, withoutTypes } from './type-check.ts';

/** Every example of the pages that people read first is one that works. */

const ROOT = resolve(import.meta.dirname, '../..');
const PAGES = ['README.md', 'functions/README.md'];

interface Example {
  /** Page and position on it. */
  readonly name: string;
  readonly code: string;
}

async function examples(language: string): Promise<Example[]> {
  const pages = await Promise.all(PAGES.map(async (page) => [page, await readFile(join(ROOT, page), 'utf8')] as const));
  return pages.flatMap(([page, text]) =>
    fencedBlocks(text, language).map((code, index) => ({ name: `${page}, ${language} ${index + 1}`, code })),
  );
}

const configurations = (await examples('yaml')).filter(({ code }) => code.includes('pipelines:'));
const modules = await examples('ts');
const sessions = await examples('console');

test('there are configurations, a serializer and a sample record to check', () => {
  expect([configurations.length, modules.length, sessions.length]).toEqual([2, 1, 1]);
});

test.each(configurations)('the configuration is right and warns of nothing: $name', ({ name, code }) => {
  const { config, warnings } = resolveConfig(parse(code), name);
  expect(Object.keys(config.pipelines)).toEqual(['orders']);
  expect(warnings).toEqual([]);
});

test.each(sessions)('the command prints what is shown: $name', async ({ code }) => {
  const session = /^\$ echo '(?<record>.*)' \|\n {2}npm run -s connector -- (?<command>.*)\n(?<shown>[^]*)$/.exec(code);
  const { record = '', command = '', shown } = session?.groups ?? {};
  const { code: exitCode, out } = await run(command.split(' '), { config: configurations[0]!.code, stdin: record });
  expect(`${out}\n`).toBe(shown);
  expect(exitCode).toBe(0);
});

describe.each(modules)('the module $name', ({ code }) => {
  async function load(): Promise<Serializer> {
    const folder = await mkdtemp(join(tmpdir(), 'connector-example-'));
    try {
      await writeFile(join(folder, 'example.mjs'), withoutTypes(code));
      return await loadModuleSerializer('./example.mjs', folder, undefined);
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  test('has the types that it says', () => {
    expect(typeErrors(code)).toEqual([]);
    expect(typeErrors(code.replace('publishTimeMicros,', 'String(publishTimeMicros),'))).toHaveLength(1);
  }, 30_000);

  test('makes a row of a sample record, and skips another', async () => {
    const { serialize } = await load();
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
    expect(() => serialize(recordOf('no JSON'), context)).toThrow(SyntaxError);
  });
});
