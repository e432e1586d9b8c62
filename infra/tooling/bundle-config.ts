import { existsSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { ConfigError, type ConfigProblem } from '../../shared/base/errors.ts';
import { loadConfigFile } from '../../shared/config/load.ts';
import { isSink, type ResolvedConfig, type ResolvedPipeline } from '../../shared/config/resolved.ts';

/** What a bundle takes along of a configuration. */
export interface CarriedConfig {
  /** Every default filled in, modules named by where they are in the bundle. Loads without the parser. */
  readonly config: ResolvedConfig;
  /** Name in the bundle, without `.js` → absolute path of the source. */
  readonly serializers: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
}

/**
 * Checks a configuration and prepares it for a bundle: the modules that it names are bundled too, and a path that
 * would mean another place there is refused.
 *
 * @throws {ConfigError} with every problem.
 */
export async function carryConfig(configFile: string): Promise<CarriedConfig> {
  const { config, warnings, baseDirectory, source } = await loadConfigFile(configFile);
  const problems: ConfigProblem[] = [];
  const serializers: Record<string, string> = {};
  const pipelines = Object.entries(config.pipelines).map(([name, pipeline]) => {
    const path = `pipelines.${name}`;
    const { access } = pipeline;
    if (access.mode === 'key-file' && !isAbsolute(access.serviceAccountKeyFile)) {
      const rule =
        'must be an absolute path in a bundle, which carries no key: mount it as a secret and name that path';
      problems.push({ path: `${path}.serviceAccountKeyFile`, rule, got: 'a relative path' });
    }
    if (!isSink(pipeline) || pipeline.serializer.kind !== 'module') return [name, pipeline] as const;
    const { serializer } = pipeline;
    const module = resolve(baseDirectory, serializer.module);
    if (!existsSync(module)) {
      const rule = "must be a module that exists, relative to the configuration's directory";
      problems.push({ path: `${path}.serializer.module`, rule, got: JSON.stringify(serializer.module) });
    }
    const bundled = `serializers/${name}`;
    serializers[bundled] = module;
    return [name, { ...pipeline, serializer: { ...serializer, module: `./${bundled}.js` } }] as const;
  });
  if (problems.length > 0) throw new ConfigError(source, problems);
  return {
    config: { ...config, pipelines: Object.fromEntries<ResolvedPipeline>(pipelines) },
    serializers,
    warnings,
  };
}
