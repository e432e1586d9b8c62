/** What the service answers to a row request, in the connector's own words. Holds row data: nothing prints it. */
export type RowAnswer =
  | { readonly kind: 'conditional'; readonly predicateMatched: boolean }
  | {
      readonly kind: 'readModifyWrite';
      /** Only those that the request changed, in the service's order: family, qualifier, newest first. */
      readonly cells: readonly ChangedCell[];
    };

/** A cell as the request left it. */
export interface ChangedCell {
  readonly family: string;
  readonly qualifier: Buffer;
  readonly timestampMicros: bigint;
  readonly value: Buffer;
  readonly labels: readonly string[];
}
