import type { AggregateType, ResolvedMapping } from './resolved.ts';

/**
 * The families that a mapping writes, by name, with the types that their cells need; empty where its mode declares none.
 * Tables are created by it, and held against it. Pure.
 */
export function declaredFamilies({ write }: ResolvedMapping): Readonly<Record<string, AggregateType | 'raw'>> {
  if (!('families' in write)) return {};
  return Object.fromEntries(write.families.map(({ family, aggregate }) => [family, aggregate ?? 'raw']));
}
