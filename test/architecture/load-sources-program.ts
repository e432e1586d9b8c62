/**
 * The program of a plain Node: loads what the test names and prints what Node refuses, a line each. One argument, a
 * {@link LoadOrder} as JSON.
 */
export interface LoadOrder {
  /** URLs of modules to import and to run. */
  readonly modules: readonly string[];
  /** URLs of programs: everything that they import is resolved and linked, and nothing of them runs. */
  readonly programs: readonly string[];
  /** Package → names that sources take out of it after a lazy import. */
  readonly lazyNames: Readonly<Record<string, readonly string[]>>;
}

const NOT_RUN = 'linked, and not to be run';

/** Linking comes before the first module runs; the first one here stops all that would follow it. */
const linkingOnly = (url: string): string =>
  `data:text/javascript,${encodeURIComponent(
    `import ${JSON.stringify(`data:text/javascript,${encodeURIComponent(`throw ${JSON.stringify(NOT_RUN)}`)}`)};
     import ${JSON.stringify(url)};`,
  )}`;

async function refusal(url: string): Promise<string | undefined> {
  try {
    await import(url);
    return undefined;
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message.split('\n')[0]}` : String(error);
  }
}

const { modules, programs, lazyNames } = JSON.parse(process.argv[2] ?? '') as LoadOrder;
for (const url of modules) {
  const problem = await refusal(url);
  if (problem !== undefined) console.log(`${url}: ${problem}`);
}
for (const url of programs) {
  const problem = await refusal(linkingOnly(url));
  if (problem !== NOT_RUN) console.log(`${url}: ${problem ?? 'it ran'}`);
}
for (const [name, wanted] of Object.entries(lazyNames)) {
  const given = (await import(name)) as object;
  for (const each of wanted) if (!(each in given)) console.log(`${name}: gives Node no ${each}`);
}
