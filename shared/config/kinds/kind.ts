import type * as z from 'zod';
import type { ConfigProblem } from '../../base/errors.ts';
import type { ReadSchemaFile } from '../../mapping/declared/resolve-format.ts';
import type { Path } from '../problems.ts';
import type { ResolvedPipeline } from '../resolved.ts';

/** A kind of pipeline: its options, and how they become what a function runs by. */
export interface Kind {
  readonly section: z.ZodObject;
  /** Option names that the document's `defaults` may set for every pipeline of this kind. */
  readonly shared: readonly string[];
  /** `readSchemaFile` gives the files that a mapping names; without it such a file is a problem. */
  resolve(name: string, value: unknown, path: Path, readSchemaFile?: ReadSchemaFile): Resolution;
}

export interface Resolution {
  /** Undefined when there is any problem. */
  readonly pipeline: ResolvedPipeline | undefined;
  readonly problems: readonly ConfigProblem[];
  readonly warnings: readonly string[];
}
