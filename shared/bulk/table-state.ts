/**
 * What an instance last learned of a table that it repairs. An object is one lesson: a later one is another object,
 * which is how a write tells whether anything was done since it was sent. Times are milliseconds of the clock.
 */
export type TableState =
  /** It exists with its declared families; these are all that it had then. */
  | { readonly kind: 'ensured'; readonly families: ReadonlySet<string>; readonly standsUntil: number }
  /** It could not be ensured; `failures` in a row. Nothing is asked again before `standsUntil`. */
  | { readonly kind: 'failed'; readonly message: string; readonly failures: number; readonly standsUntil: number }
  /** A family is of another type than declared: nothing that we may do would help. */
  | { readonly kind: 'mistyped'; readonly message: string; readonly standsUntil: number };
