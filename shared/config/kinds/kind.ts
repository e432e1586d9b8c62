import type * as z from 'zod';
import type { ConfigProblem } from '../../base/errors.ts';
import type { ReadSchemaFile } from '../../mapping/declared/resolve-format.ts';
import type { Path } from '../problems.ts';

/** A kind of pipeline: its options, and how they become what a function runs by. */
export interface Kind<Pipeline = unknown> {
  readonly section: z.ZodObject;
  /** Option names that the document's `defaults` may set for every pipeline of this kind. */
  readonly shared: readonly string[];
  /** `readSchemaFile` gives the files that a mapping names; without it such a file is a problem. */
  resolve(name: string, value: unknown, path: Path, readSchemaFile?: ReadSchemaFile): Resolution<Pipeline>;
}

export interface Resolution<Pipeline> {
  /** Undefined when there is any problem. */
  readonly pipeline: Pipeline | undefined;
  readonly problems: readonly ConfigProblem[];
  readonly warnings: readonly string[];
}
