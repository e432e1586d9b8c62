import { ConfigError, toError } from '../base/errors.ts';
import type { ReadSchemaFile } from '../mapping/declared/resolve-format.ts';
import { RESOLVED_VERSION, type ResolvedConfig } from './resolved.ts';
import type { Resolved } from './resolve.ts';

/**
 * Makes a configuration of its text: YAML, JSON, or a document that was resolved before. The last needs neither zod nor
 * yaml, which are imported only where they are needed (zod alone takes about 100 ms to import, Node 24).
 *
 * @param source where the text came from, for messages.
 * @throws {ConfigError} with every problem; of text that is not YAML, with line and column.
 */
export async function parseConfig(text: string, source: string, readSchemaFile?: ReadSchemaFile): Promise<Resolved> {
  const json = parseJson(text);
  if (isRecord(json) && 'resolved' in json) return { config: acceptResolved(json, source), warnings: [] };
  const { document, warnings } = json === undefined ? await parseYaml(text, source) : { document: json, warnings: [] };
  const { resolveConfig } = await import('./resolve.ts');
  const { config, warnings: more } = resolveConfig(document, source, readSchemaFile);
  return { config, warnings: [...warnings, ...more] };
}

/** An object's JSON; undefined for all else, which YAML then reads or refuses with a position. */
function parseJson(text: string): unknown {
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A resolved document was checked when it was made; only what would make it another one is checked again. */
function acceptResolved(json: Readonly<Record<string, unknown>>, source: string): ResolvedConfig {
  if (json.resolved !== RESOLVED_VERSION) {
    const rule = `must be ${RESOLVED_VERSION}, the version that this connector reads; resolve the configuration again`;
    throw new ConfigError(source, [{ path: 'resolved', rule, got: JSON.stringify(json.resolved) }]);
  }
  if (!isRecord(json.pipelines)) {
    throw new ConfigError(source, [{ path: 'pipelines', rule: 'must be a section', got: typeof json.pipelines }]);
  }
  return json as unknown as ResolvedConfig;
}

async function parseYaml(text: string, source: string): Promise<{ document: unknown; warnings: string[] }> {
  const { parseDocument } = await import('yaml');
  const parsed = parseDocument(text, { prettyErrors: true });
  if (parsed.errors.length > 0) {
    throw new ConfigError(
      source,
      parsed.errors.map(({ message, linePos, code }) => ({
        path: linePos ? `line ${linePos[0].line}, column ${linePos[0].col}` : 'document',
        // The first line alone: the lines after it quote the text, which may hold a secret.
        rule: `must be YAML: ${(message.split('\n')[0] ?? message).replace(/ at line \d+, column \d+:?$/, '')}`,
        got: code,
      })),
    );
  }
  return {
    document: toPlain(parsed, source),
    warnings: parsed.warnings.map(({ message }) => `${source}: ${message.split('\n')[0] ?? message}`),
  };
}

/** Aliases that expand without bound are refused by the library with an error of its own. */
function toPlain(parsed: { toJS(): unknown }, source: string): unknown {
  try {
    return parsed.toJS();
  } catch (error) {
    const rule = `must be YAML whose aliases name anchors and expand to a bounded size`;
    throw new ConfigError(source, [{ path: 'document', rule, got: toError(error).message }]);
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
