import { cellsPerColumn, chain, familyEquals, interleave, type RowFilter } from '../../model/filter/filter.ts';
import type { ResolvedMapping } from '../declared/resolved.ts';
import { familiesOf } from './produced.ts';

/**
 * The cells that a mapping reads: the newest of every column of the families in which it declares one. Families that it
 * does not declare thus decide neither which rows there are nor what they cost. Pure.
 */
export function projectionOf(mapping: ResolvedMapping): RowFilter {
  const read = familiesOf(mapping).filter(({ columns, dynamic }) => columns.length > 0 || dynamic !== undefined);
  const filters = read.map(({ family }) => familyEquals(family));
  const [only] = filters;
  return chain(only && filters.length === 1 ? only : interleave(...filters), cellsPerColumn(1));
}
