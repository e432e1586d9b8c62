import { ConfigError, type ConfigProblem } from '../base/errors.ts';
import { PIPELINE_NAME } from './addresses.ts';
import { sharedReplayTopics } from './dead-letters.ts';
import { inherit, readDefaults } from './defaults.ts';
import { KINDS } from './kinds.ts';
import type { Kind } from './kinds/kind.ts';
import type { ReadSchemaFile } from '../mapping/declared/resolve-format.ts';
import { nearestName } from './nearest.ts';
import { formatPath, problem } from './problems.ts';
import { SECTION_RULE, isSection } from './read.ts';
import { RESOLVED_VERSION, type PipelineKind, type ResolvedConfig, type ResolvedPipeline } from './resolved.ts';

export interface Resolved {
  readonly config: ResolvedConfig;
  /** What works, but perhaps not as meant. */
  readonly warnings: readonly string[];
}

/**
 * Checks a parsed `connector.yaml` and fills in every default. Pure but for `readSchemaFile`, which the caller gives
 * where mappings may name schema files: no other file, no network, credential or environment.
 *
 * @param source where the document came from, for the error's first line.
 * @throws {ConfigError} one, with every problem of the document.
 */
export function resolveConfig(document: unknown, source: string, readSchemaFile?: ReadSchemaFile): Resolved {
  const problems: ConfigProblem[] = [];
  const warnings: string[] = [];
  const pipelines: Record<string, ResolvedPipeline> = {};
  const root = isSection(document) ? document : {};

  if (root === document) problems.push(...unknownKeys(root));
  else problems.push(problem([], 'must be a section with "pipelines"', document));
  const defaults = readDefaults(root.defaults);
  problems.push(...defaults.problems);

  const named = isSection(root.pipelines) ? root.pipelines : {};
  if (root === document && Object.keys(named).length === 0) {
    problems.push(problem(['pipelines'], 'must name at least one pipeline', root.pipelines));
  }
  for (const [name, own] of Object.entries(named)) {
    const path = ['pipelines', name];
    if (!PIPELINE_NAME.test(name)) {
      const rule = 'a pipeline is named by 1 to 40 of a-z, 0-9 and "-", starting with a letter';
      problems.push(problem(path, rule, name));
    }
    if (!isSection(own)) {
      problems.push(problem(path, SECTION_RULE, own));
      continue;
    }
    const kind = kindOf(own.kind);
    if (!kind) {
      const allowed = Object.keys(KINDS).map((word) => JSON.stringify(word));
      const rule = `${own.kind === undefined ? 'is required and ' : ''}must be one of ${allowed.join(', ')}`;
      problems.push(problem([...path, 'kind'], rule, own.kind));
      continue;
    }
    const resolution = kind.resolve(name, inherit(defaults.values, own, kind), path, readSchemaFile);
    problems.push(...resolution.problems.filter((each) => !defaults.explain(each, formatPath(path))));
    warnings.push(...resolution.warnings);
    if (resolution.pipeline) pipelines[name] = resolution.pipeline;
  }

  problems.push(...sharedReplayTopics(pipelines));
  if (problems.length > 0) throw new ConfigError(source, problems);
  return { config: { resolved: RESOLVED_VERSION, pipelines }, warnings };
}

const kindOf = (value: unknown): Kind<ResolvedPipeline> | undefined =>
  typeof value === 'string' && Object.hasOwn(KINDS, value) ? KINDS[value as PipelineKind] : undefined;

const ROOT_KEYS = ['$schema', 'defaults', 'pipelines'];

function unknownKeys(root: Readonly<Record<string, unknown>>): ConfigProblem[] {
  return Object.keys(root)
    .filter((key) => !ROOT_KEYS.includes(key))
    .map((key) => {
      const nearest = nearestName(key, ROOT_KEYS);
      const hint = nearest === undefined ? ' (known: defaults, pipelines)' : `, did you mean "${nearest}"?`;
      return problem([key], `is not an option here${hint}`, root[key]);
    });
}
