import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { ConfigError, toError } from '../base/errors.ts';
import { parseConfig } from './parse.ts';
import type { ConfigFiles } from './ports.ts';
import type { PipelineKind, PipelineOf, ResolvedConfig, ResolvedPipeline } from './resolved.ts';

/**
 * Finds the configuration that the environment names and the pipeline that a function serves. Everything else about it
 * is pure; this file reads the disk.
 */

type Environment = Readonly<Record<string, string | undefined>>;

export interface LoadedConfig {
  readonly config: ResolvedConfig;
  readonly warnings: readonly string[];
  /** Absolute path of the directory that relative paths in the configuration belong to. */
  readonly baseDirectory: string;
  /** Where it came from, for messages. */
  readonly source: string;
}

export interface LoadedPipeline<Kind extends PipelineKind = PipelineKind> {
  readonly pipeline: PipelineOf<Kind>;
  readonly name: string;
  /** What works but perhaps not as meant; logged once at start. */
  readonly warnings: readonly string[];
  readonly baseDirectory: string;
}

const DEFAULT_FILE = 'connector.yaml';

const diskFiles: ConfigFiles = {
  readText: (path) => readFile(path, 'utf8'),
  readTextNow: (path) => readFileSync(path, 'utf8'),
  get workingDirectory() {
    return process.cwd();
  },
};

/**
 * The pipeline of one function: `CONNECTOR_PIPELINE` names it, and may be absent where the configuration holds exactly
 * one of the wanted kind.
 *
 * @param env the environment, handed in.
 * @param kind what the function can serve.
 * @throws {ConfigError} where the configuration or the environment is wrong.
 */
export async function loadPipeline<Kind extends PipelineKind>(
  env: Environment,
  kind: Kind,
  files: ConfigFiles = diskFiles,
): Promise<LoadedPipeline<Kind>> {
  const { config, warnings, baseDirectory, source } = await loadConfig(env, files);
  const name = chosenPipeline(config, env.CONNECTOR_PIPELINE, kind, source);
  const pipeline = pipelineNamed(config, name);
  if (!pipeline || !isOfKind(pipeline, kind)) {
    const rule = `must name a pipeline of kind ${kind} (there is: ${namesOfKind(config, kind).join(', ') || 'none'})`;
    throw new ConfigError(source, [{ path: 'CONNECTOR_PIPELINE', rule, got: JSON.stringify(name) }]);
  }
  const own = warnings.filter((warning) => isAbout(warning, name));
  return { pipeline, name, warnings: own, baseDirectory };
}

/**
 * The whole configuration that the environment names: `CONNECTOR_CONFIG` (the text itself) or `CONNECTOR_CONFIG_FILE`
 * (default `connector.yaml` in the working directory), never both.
 */
export async function loadConfig(env: Environment, files: ConfigFiles = diskFiles): Promise<LoadedConfig> {
  const { CONNECTOR_CONFIG: text, CONNECTOR_CONFIG_FILE: path } = env;
  if (text === undefined) return loadConfigFile(path ?? DEFAULT_FILE, files);
  const source = 'CONNECTOR_CONFIG';
  if (path !== undefined) {
    const rule = 'must not be set beside CONNECTOR_CONFIG_FILE: one of them is the configuration';
    throw new ConfigError('environment', [{ path: source, rule, got: 'both' }]);
  }
  const baseDirectory = files.workingDirectory;
  return { ...(await parseConfig(text, source, schemasIn(baseDirectory, files))), source, baseDirectory };
}

/** The configuration in one file. */
export async function loadConfigFile(path: string, files: ConfigFiles = diskFiles): Promise<LoadedConfig> {
  const absolute = resolve(files.workingDirectory, path);
  const text = await files.readText(absolute).catch((error: unknown) => {
    const { message } = toError(error);
    const rule = 'must be a readable file; CONNECTOR_CONFIG_FILE or the command line names another one';
    throw new ConfigError(path, [{ path: 'file', rule, got: message }]);
  });
  const baseDirectory = dirname(absolute);
  return { ...(await parseConfig(text, path, schemasIn(baseDirectory, files))), source: path, baseDirectory };
}

const schemasIn =
  (baseDirectory: string, files: ConfigFiles) =>
  (file: string): string =>
    files.readTextNow(resolve(baseDirectory, file));

/** A pipeline by name; the prototype's own names are none. */
export const pipelineNamed = (config: ResolvedConfig, name: string): ResolvedPipeline | undefined =>
  Object.hasOwn(config.pipelines, name) ? config.pipelines[name] : undefined;

function chosenPipeline(
  config: ResolvedConfig,
  wanted: string | undefined,
  kind: PipelineKind,
  source: string,
): string {
  if (wanted !== undefined && wanted !== '') return wanted;
  const names = namesOfKind(config, kind);
  const [only] = names;
  if (only !== undefined && names.length === 1) return only;
  const rule =
    names.length === 0
      ? `has nothing to name: the configuration holds no pipeline of kind ${kind}`
      : `is required because there are several pipelines of kind ${kind}: ${names.join(', ')}`;
  throw new ConfigError(source, [{ path: 'CONNECTOR_PIPELINE', rule, got: 'nothing' }]);
}

/** A resolved document may have been written by hand, so its kind is compared as the text that it is. */
const isOfKind = <Kind extends PipelineKind>(pipeline: ResolvedPipeline, wanted: Kind): pipeline is PipelineOf<Kind> =>
  pipeline.kind === wanted;

const namesOfKind = (config: ResolvedConfig, kind: PipelineKind): string[] =>
  Object.entries(config.pipelines).flatMap(([name, pipeline]) => (isOfKind(pipeline, kind) ? [name] : []));

/** Warnings of other pipelines are for the functions that serve those. */
const isAbout = (warning: string, name: string): boolean =>
  !warning.startsWith('pipelines.') || warning.startsWith(`pipelines.${name}.`);
