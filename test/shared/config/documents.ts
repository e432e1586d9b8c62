import { expect } from 'vitest';
import { ConfigError, type ConfigProblem } from '../../../shared/base/errors.ts';
import { resolveConfig } from '../../../shared/config/resolve.ts';
import type { PipelineKind, PipelineOf, ResolvedBulkSink } from '../../../shared/config/resolved.ts';

export type Options = Readonly<Record<string, unknown>>;

/** The least that a bulk sink needs. */
export const MINIMAL: Options = {
  kind: 'bulk-sink',
  topic: 'orders',
  project: 'p',
  instance: 'i',
  table: 't',
  serializer: 'entry',
};

/** A document with one pipeline, `orders`. */
export const documentOf = (options: Options, defaults?: Options): Options => ({
  ...(defaults && { defaults }),
  pipelines: { orders: options },
});

/** Sets `a.b.c` without touching what was given. */
export function withOption(options: Options, path: string, value: unknown): Options {
  const [head = '', ...rest] = path.split('.');
  const inner = options[head];
  const section = typeof inner === 'object' && inner !== null ? (inner as Options) : {};
  return { ...options, [head]: rest.length === 0 ? value : withOption(section, rest.join('.'), value) };
}

/** The only pipeline of a document, which is of the kind. */
export function resolvedOf<Kind extends PipelineKind>(
  kind: Kind,
  options: Options,
  defaults?: Options,
): PipelineOf<Kind> {
  const sink = resolveConfig(documentOf(options, defaults), 'test').config.pipelines.orders;
  if (sink?.kind !== kind) throw new Error(`the document resolves without its ${kind}`);
  return sink as PipelineOf<Kind>;
}

export const resolvedSink = (options: Options, defaults?: Options): ResolvedBulkSink =>
  resolvedOf('bulk-sink', options, defaults);

/** The problems of a document that must have some. */
export function problemsOf(document: unknown): readonly ConfigProblem[] {
  try {
    resolveConfig(document, 'test');
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    if (error instanceof ConfigError) return error.problems;
  }
  throw new Error('the document was accepted');
}

/** As the error prints them, without the name of the pipeline. */
export const linesOf = (options: Options, defaults?: Options): string[] =>
  problemsOf(documentOf(options, defaults)).map(
    ({ path, rule, got }) => `${path.replace('pipelines.orders.', '')}: ${rule}, got ${got}`,
  );
