import { z } from 'zod';

/** An object of options that knows all its names, so that an unknown one can be answered with the known. */
export function options<Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject<Shape, z.core.$strict> {
  const known = Object.keys(shape).join(', ');
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? `must be one of ${known}` : undefined),
  });
}

/** A text with at least one character that is not white space. */
export const words = (description: string): z.ZodString =>
  z.string().regex(/\S/, { error: 'must not be blank' }).describe(description);
