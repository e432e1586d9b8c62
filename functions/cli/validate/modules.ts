import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { ConfigError, type ConfigProblem } from '../../../shared/base/errors.ts';
import type { LoadedConfig } from '../../../shared/config/load.ts';
import { moduleOf, type ResolvedPipeline } from '../../../shared/config/resolved.ts';
import { importSerializer } from '../../../shared/mapping/module-serializer.ts';
import { importRowModule } from '../../../shared/scan/forms/module-form.ts';
import { readConfiguration } from '../configuration.ts';
import type { CliContext } from '../ports.ts';

/**
 * The configuration, and its modules with it.
 *
 * @throws {ConfigError} with every problem: of the configuration, or else of the modules that it names.
 */
export async function readChecked(context: CliContext, file: string | undefined): Promise<LoadedConfig> {
  const loaded = await readConfiguration(context, file);
  const found = await Promise.all(
    Object.entries(loaded.config.pipelines).map(([name, pipeline]) =>
      checkPipeline(name, pipeline, loaded.baseDirectory),
    ),
  );
  const problems = found.flatMap(({ problem }) => problem ?? []);
  if (problems.length > 0) throw new ConfigError(loaded.source, problems);
  return { ...loaded, warnings: [...loaded.warnings, ...found.flatMap(({ warning }) => warning ?? [])] };
}

interface Found {
  readonly problem?: ConfigProblem;
  readonly warning?: string;
}

async function checkPipeline(name: string, pipeline: ResolvedPipeline, baseDirectory: string): Promise<Found> {
  const named = moduleOf(pipeline);
  if (!named) return {};
  const load = { serializer: importSerializer, form: importRowModule }[named.option];
  return checkModule(
    `pipelines.${name}.${named.option}.module`,
    named.module,
    () => load(named.module, baseDirectory),
    baseDirectory,
  );
}

/** Loads a module as a function does, but does not open it: that may need a network. */
async function checkModule(
  path: string,
  module: string,
  load: () => Promise<unknown>,
  baseDirectory: string,
): Promise<Found> {
  const isFolder = await stat(resolve(baseDirectory, module)).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (isFolder) {
    const rule = 'must be a module, which is a file and no folder';
    return { problem: { path, rule, got: JSON.stringify(module) } };
  }
  try {
    await load();
    return {};
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    if (isForBundlersOnly(error.cause)) {
      const rule =
        'holds TypeScript that Node does not load as it is: only a bundle runs it, and its export is not checked';
      return { warning: `${path}: ${module} ${rule}` };
    }
    const [told] = error.problems;
    const got =
      told === undefined || told.got === module
        ? JSON.stringify(module)
        : `${JSON.stringify(module)}, whose default export is of type ${told.got}`;
    return { problem: { path, rule: told?.rule ?? error.message, got } };
  }
}

const isForBundlersOnly = (cause: unknown): boolean =>
  cause instanceof Error && 'code' in cause && cause.code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX';
