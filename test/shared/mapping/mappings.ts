import { expect } from 'vitest';
import { resolveMapping } from '../../../shared/mapping/declared/resolve.ts';
import type { ResolvedMapping } from '../../../shared/mapping/declared/resolved.ts';
import { type CompiledMapping, compileMapping } from '../../../shared/mapping/compile-mapping.ts';
import type { MappedWrite } from '../../../shared/mapping/modes/write.ts';
import type { InputRecord } from '../../../shared/model/record.ts';

/** Resolves a mapping that must have no problem, through JSON, as a bundle carries it. */
export function resolved(options: unknown): ResolvedMapping {
  const { mapping, problems } = resolveMapping(options, 'mapping');
  expect(problems).toEqual([]);
  return JSON.parse(JSON.stringify(mapping)) as ResolvedMapping;
}

export const compiled = (options: unknown): Promise<CompiledMapping> => compileMapping(resolved(options));

/** What a record becomes; null = it is skipped. */
export async function mapRecord(options: unknown, record: InputRecord): Promise<MappedWrite | null> {
  const { prepare } = await compiled(options);
  const { publishTimeMicros } = record.message;
  return prepare(record, { publishTimeMicros })?.write() ?? null;
}

/** The problems of a mapping, as `path: rule, got value`. */
export const problemsOf = (options: unknown): readonly string[] =>
  resolveMapping(options, 'mapping').problems.map(({ path, rule, got }) => `${path}: ${rule}, got ${got}`);
