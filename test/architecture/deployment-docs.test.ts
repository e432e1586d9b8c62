import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { entryPoints } from '../../shared/deployment/entry-points.ts';
import { START_SECONDS } from '../../shared/deployment/plan.ts';

const root = resolve(import.meta.dirname, '../..');
const pages = [
  'README.md',
  'functions/README.md',
  ...readdirSync(resolve(root, 'shared/docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `shared/docs/${name}`),
];

/** Every command of the pages that begins so, on one line, with its flags. */
const commands = (start: string): { readonly page: string; readonly flags: Readonly<Record<string, string>> }[] =>
  pages.flatMap((page) =>
    readFileSync(resolve(root, page), 'utf8')
      .replaceAll('\\\n', ' ')
      .split('\n')
      .filter((line) => line.trim().startsWith(start))
      .map((line) => ({
        page,
        flags: Object.fromEntries(
          [...line.matchAll(/--([\w-]+) ('[^']*'|(?!--)\S+)/g)].map(([, flag = '', value = '']) => [flag, value]),
        ),
      })),
  );

describe('a command of the pages that deploys a function', () => {
  const deploying = commands('gcloud run deploy');
  test('is there for every entry point', () => {
    expect(new Set(deploying.map(({ flags }) => flags.function))).toEqual(new Set(entryPoints.map(({ name }) => name)));
  });

  test.each(deploying)('$page: that of $flags.function has the figures of its entry point', ({ flags }) => {
    const { size, serves } = entryPoints.find(({ name }) => name === flags.function)!;
    expect(flags).toMatchObject({
      concurrency: String(size.concurrency),
      cpu: String(size.cpu),
      memory: size.memory,
      timeout: String(size.timeoutSeconds),
    });
    expect(flags['max-instances']).toBe(size.maxInstances?.toString());
    expect(flags['set-env-vars'] ?? '').toMatch(serves === 'one-pipeline' ? /^CONNECTOR_PIPELINE=/ : /^$/);
  });
});

describe('a command of the pages that schedules a function', () => {
  const triggers = entryPoints.map((one) => one.trigger).filter((trigger) => trigger.kind === 'schedule');
  const scheduling = commands('gcloud scheduler jobs create http').map(({ flags }) => flags);
  const isStart = (flags: (typeof scheduling)[number]): boolean => flags['message-body']?.includes('start') === true;

  test('has the interval and deadline of an entry point', () => {
    for (const flags of scheduling.filter((one) => !isStart(one))) {
      const isKnown = ({ cron, attemptDeadlineSeconds }: (typeof triggers)[number]): boolean =>
        flags.schedule === `'${cron}'` && flags['attempt-deadline'] === `${attemptDeadlineSeconds}s`;
      expect(triggers.some(isKnown), JSON.stringify(flags)).toBe(true);
    }
    expect(scheduling.filter((one) => !isStart(one))).toHaveLength(triggers.length);
  });

  test('that starts runs has the deadline of a start', () => {
    expect(scheduling.filter(isStart).map((flags) => flags['attempt-deadline'])).toEqual([`${START_SECONDS}s`]);
  });
});
