import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { ConfigError, type ConfigProblem } from '../../shared/base/errors.ts';
import { loadConfigFile } from '../../shared/config/load.ts';
import { moduleOf, type ResolvedConfig, type ResolvedPipeline, withModule } from '../../shared/config/resolved.ts';

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
    const named = moduleOf(pipeline);
    if (!named) return [name, pipeline] as const;
    const module = resolve(baseDirectory, named.module);
    const rule = moduleRule(module, baseDirectory);
    if (rule !== undefined) {
      problems.push({ path: `${path}.${named.option}.module`, rule, got: JSON.stringify(named.module) });
    }
    const bundled = `serializers/${name}`;
    serializers[bundled] = module;
    return [name, withModule(pipeline, `./${bundled}.js`)] as const;
  });
  if (problems.length > 0) throw new ConfigError(source, problems);
  return {
    config: { ...config, pipelines: Object.fromEntries<ResolvedPipeline>(pipelines) },
    serializers,
    warnings,
  };
}

const MODULE = /\.[cm]?[jt]s$/;

/** The rule that a module breaks which is to be carried along; undefined where it breaks none. */
function moduleRule(module: string, baseDirectory: string): string | undefined {
  const found = statSync(module, { throwIfNoEntry: false });
  if (!found) return "must be a module that exists, relative to the configuration's directory";
  if (!found.isFile()) return 'must be a module, which is a file and no folder';
  // A link is what it leads to: a bundle is deployed, and carries nothing that only this machine should know.
  const path = realpathSync(module);
  if (!MODULE.test(module) || !MODULE.test(path)) {
    return 'must be a JavaScript or TypeScript module: .js, .mjs, .cjs, .ts, .mts or .cts';
  }
  const project = projectOf(realpathSync(baseDirectory));
  if (path.startsWith(join(project, sep))) return undefined;
  return `must be within the project, which is ${project}: the repository of the configuration, else its package, else its folder`;
}

/** The nearest folder upwards with `.git`, else with a `package.json`, else the folder itself. */
function projectOf(folder: string): string {
  const upwards = [folder];
  for (let at = folder; dirname(at) !== at; at = dirname(at)) upwards.push(dirname(at));
  const nearest = (name: string): string | undefined => upwards.find((each) => existsSync(join(each, name)));
  return nearest('.git') ?? nearest('package.json') ?? folder;
}
