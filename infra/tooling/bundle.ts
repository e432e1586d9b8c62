import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { join, resolve } from 'node:path';
import { build, formatMessages, type BuildFailure } from 'esbuild';
import { carryConfig, type CarriedConfig } from './bundle-config.ts';
import { lazyCommonJs } from './lazy-commonjs.ts';

export interface BundleOptions {
  /** Folder to write; made if absent, emptied if it holds an earlier bundle, refused if it holds anything else. */
  readonly outDirectory: string;
  /** `connector.yaml` to check and carry along. Without it the deployment names one by CONNECTOR_CONFIG(_FILE). */
  readonly configFile?: string;
}

export interface BundledFile {
  /** Relative to the folder. */
  readonly path: string;
  readonly bytes: number;
}

export interface Bundle {
  readonly files: readonly BundledFile[];
  /** What in the configuration works but perhaps not as meant. */
  readonly warnings: readonly string[];
}

/** The folder cannot be written, or the sources cannot be bundled. The message is meant for a person. */
export class BundleError extends Error {
  override readonly name = 'BundleError';
}

const ROOT = resolve(import.meta.dirname, '../..');

/**
 * Not bundled: the framework keeps the registered functions in a module of its own, so the functions must import the
 * very module that its command line runs. It is loaded by then, and costs them nothing.
 */
const FRAMEWORK = '@google-cloud/functions-framework';

/** Written into the artefact's package.json, and what an earlier bundle is told by. */
const ARTEFACT_NAME = 'bigtable-connector-bundle';

const CONFIG_FILE = 'connector.json';

/**
 * Bundles all entry points for deployment: checks the configuration, bundles the functions and the serializers that it
 * names, and writes the package that `functions-framework --source <folder> --target bulkSink` starts.
 *
 * @throws {ConfigError} where the configuration is wrong; nothing is written then.
 * @throws {BundleError} where the folder is not ours to write or a source does not bundle.
 */
export async function bundleFunctions({ outDirectory, configFile }: BundleOptions): Promise<Bundle> {
  const carried = configFile === undefined ? undefined : await carryConfig(configFile);
  await emptyDirectory(outDirectory);
  // The package first: a folder that a failed build leaves behind is known as ours.
  await writePackage(outDirectory, carried);
  await bundleSources(outDirectory, carried?.serializers ?? {});
  return { files: await filesIn(outDirectory), warnings: carried?.warnings ?? [] };
}

async function emptyDirectory(directory: string): Promise<void> {
  const held = await readdir(directory).catch(() => []);
  if (held.length > 0) {
    const manifest = await readFile(join(directory, 'package.json'), 'utf8').catch(() => '{}');
    if ((JSON.parse(manifest) as { name?: unknown }).name !== ARTEFACT_NAME) {
      throw new BundleError(
        `${directory}: holds files that are no bundle of this tool; name an empty folder with --out`,
      );
    }
    await rm(directory, { recursive: true });
  }
  await mkdir(directory, { recursive: true });
}

/** One graph for functions and serializers, split where an import is lazy, so that what is lazy stays so. */
async function bundleSources(outDirectory: string, serializers: Readonly<Record<string, string>>): Promise<void> {
  try {
    await build({
      absWorkingDir: ROOT,
      entryPoints: { functions: join(ROOT, 'functions/index.ts'), ...serializers },
      outdir: resolve(outDirectory),
      chunkNames: 'chunks/[name]-[hash]',
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node22',
      external: [FRAMEWORK],
      plugins: [lazyCommonJs],
      // CommonJS packages inside an ES module still use these.
      banner: { js: COMMONJS },
      legalComments: 'linked',
      logLevel: 'silent',
    });
  } catch (error) {
    const { errors } = error as BuildFailure;
    if (!Array.isArray(errors)) throw error;
    const messages = await formatMessages(errors, { kind: 'error' });
    throw new BundleError(messages.join('\n').trimEnd(), { cause: error });
  }
}

const COMMONJS = `import { createRequire as bundleRequire } from 'node:module';
const require = bundleRequire(import.meta.url);
const __dirname = import.meta.dirname;
const __filename = import.meta.filename;`;

async function writePackage(outDirectory: string, carried: CarriedConfig | undefined): Promise<void> {
  const own = await manifestOf(join(ROOT, 'package.json'));
  const framework = await manifestOf(findPackageJSON(FRAMEWORK, import.meta.url) ?? FRAMEWORK);
  const manifest = {
    name: ARTEFACT_NAME,
    version: own.version,
    private: true,
    license: own.license,
    type: 'module',
    main: 'index.js',
    engines: { node: '>=22' },
    dependencies: { [FRAMEWORK]: framework.version },
  };
  await writeFile(join(outDirectory, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  await writeFile(join(outDirectory, 'index.js'), carried ? INDEX_WITH_CONFIG : INDEX);
  if (carried) await writeFile(join(outDirectory, CONFIG_FILE), `${JSON.stringify(carried.config, null, 2)}\n`);
}

const INDEX = "await import('./functions.js');\n";

const INDEX_WITH_CONFIG = `import { fileURLToPath } from 'node:url';
// The configuration in this bundle, unless the deployment names another one.
if (process.env.CONNECTOR_CONFIG === undefined) {
  process.env.CONNECTOR_CONFIG_FILE ??= fileURLToPath(new URL('${CONFIG_FILE}', import.meta.url));
}
${INDEX}`;

interface Manifest {
  readonly version: string;
  readonly license: string;
}

const manifestOf = async (path: string): Promise<Manifest> => JSON.parse(await readFile(path, 'utf8')) as Manifest;

async function filesIn(directory: string): Promise<BundledFile[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const files = await Promise.all(
    paths.map(async (path) => ({ path: path.slice(directory.length + 1), bytes: (await stat(path)).size })),
  );
  return files.toSorted((left, right) => left.path.localeCompare(right.path, 'en'));
}
