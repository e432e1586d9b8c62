import type * as z from 'zod';
import { pipelineProblems, type PipelineOfMapping } from '../../../mapping/declared/compatibility.ts';
import type { ReadSchemaFile } from '../../../mapping/declared/resolve-format.ts';
import { type MappingResult, resolveMapping } from '../../../mapping/declared/resolve.ts';
import { formatPath, type Path } from '../../problems.ts';
import { isSection } from '../../read.ts';

export interface MappingOfSink extends Pick<PipelineOfMapping, 'kind' | 'markerFamily' | 'isReplayProtected'> {
  readonly section: z.ZodObject;
  /** The pipeline as written, over the defaults. */
  readonly value: unknown;
  readonly path: Path;
  readonly readSchemaFile: ReadSchemaFile | undefined;
}

/**
 * Reads the mapping of a sink, if it has one, and holds it against the sink's other options. Options that the kind does
 * not have are problems already.
 */
export function readMapping({
  section,
  value,
  path,
  readSchemaFile,
  ...pipeline
}: MappingOfSink): MappingResult | undefined {
  if (!isSection(value) || value.mapping === undefined) return undefined;
  const result = resolveMapping(value.mapping, formatPath([...path, 'mapping']), readSchemaFile);
  if (!result.mapping) return result;
  const written = Object.fromEntries(Object.entries(value).filter(([key]) => Object.hasOwn(section.shape, key)));
  const problems = pipelineProblems({ ...pipeline, mapping: result.mapping, written, path: formatPath(path) });
  return problems.length === 0 ? result : { problems };
}
