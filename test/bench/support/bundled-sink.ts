import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { bundleFunctions } from '../../../infra/tooling/bundle.ts';

/** A build takes along modules of the project of its configuration alone, so that it lies in this one. */
const DIST = join(import.meta.dirname, '../../../dist');

const FRAMEWORK = '@google-cloud/functions-framework';

export interface BundledSink extends AsyncDisposable {
  /** Folder to start the framework on. */
  readonly source: string;
  /** The document that the bundle was built with, for a start that has to read it. */
  readonly configFile: string;
}

/** Bundles the functions with a configuration into a folder of its own, as a deployment would be, its dependency installed. */
export async function bundleSink(config: unknown): Promise<BundledSink> {
  await mkdir(DIST, { recursive: true });
  const folder = await mkdtemp(join(DIST, 'bench-'));
  const configFile = join(folder, 'connector.yaml');
  // JSON is YAML.
  await writeFile(configFile, JSON.stringify(config, null, 2));
  const source = join(folder, 'dist');
  await bundleFunctions({ outDirectory: source, configFile });
  await mkdir(join(source, 'node_modules/@google-cloud'), { recursive: true });
  await symlink(dirname(findPackageJSON(FRAMEWORK, import.meta.url) ?? ''), join(source, 'node_modules', FRAMEWORK));
  return {
    source,
    configFile,
    async [Symbol.asyncDispose]() {
      await rm(folder, { recursive: true });
    },
  };
}
