import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

/** Every script of package.json that runs a program of ours, by its command line there. */
const ROOT = resolve(import.meta.dirname, '../../..');
const manifest = JSON.parse(await readFile(resolve(ROOT, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};
const OURS = Object.entries(manifest.scripts).filter(([, line]) => /^(node|bash) /.test(line));
const VERBS = ['validate', 'map', 'publish', 'replay-dlq', 'status'];
const LINES = [...OURS, ...VERBS.map((verb) => [`connector ${verb}`, `node functions/cli/main.ts ${verb}`] as const)];

const run = (line: string, ...more: readonly string[]): Promise<{ code: number; out: string; err: string }> => {
  const [program = '', ...args] = line.split(' ');
  return new Promise((done) => {
    const path = program === 'node' ? process.execPath : program;
    execFile(path, [...args, ...more], { cwd: ROOT }, (error, out, err) => {
      done({ code: typeof error?.code === 'number' ? error.code : 0, out, err });
    });
  });
};

test('the scripts that run a program of ours are known', () => {
  expect(OURS.map(([name]) => name)).toEqual(
    expect.arrayContaining(['bench', 'build', 'connector', 'demo', 'docs', 'local', 'proto', 'schema']),
  );
});

describe.each(LINES)('%s', { timeout: 30_000 }, (_name, line) => {
  test('prints its help for --help, and exits 0', async () => {
    const { code, out, err } = await run(line, '--help');
    expect([code, err]).toEqual([0, '']);
    expect(out.split('\n').length).toBeGreaterThan(4);
  });

  test('refuses an unknown option in one line, names the nearest, and exits 2', async () => {
    const { code, out, err } = await run(line, '--hepl');
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(/^error: unknown option '--hepl' \(.*--help.*\)\n$/);
  });
});

test.each([
  ['node test/bench/bench.ts bulk --only htpp', "bulk has no case 'htpp' (did you mean http?)"],
  ['node test/bench/bench.ts bulk --runs 0', 'It is a whole number of at least 1.'],
  ['node test/bench/bench.ts bluk', 'Allowed choices are bulk, mapping, scan, single-row, staged.'],
  ['node infra/tooling/build.ts --cnfig x', 'Did you mean --config?'],
  ['node functions/cli/main.ts replay-dlq orders --aply', 'Did you mean --apply?'],
  ['node functions/cli/main.ts validat', 'Did you mean validate?'],
])('%s is refused in one line', async (line, message) => {
  const { code, err } = await run(line);
  expect(code).toBe(2);
  expect(err).toContain(message);
  expect(err.trim().split('\n')).toHaveLength(1);
});
