import * as z from 'zod';
import { declare, optional, type Output, ruled } from '../option.ts';
import { isSection } from '../read.ts';
import type { Rule } from '../rules.ts';
import type { CommonOptions } from './common.ts';
import { addressPart, attributeName, tableId } from './names.ts';
import type { SerializerOptions } from './serializer.ts';

/** Where the rows of a sink go. */

const tableSection = z.strictObject({
  project: addressPart('Project of the table.'),
  instance: addressPart('Instance of the table.'),
  table: tableId('Id of the table.'),
});

export const destinationOptions = {
  table: declare(
    optional(
      z.union(
        [tableId('Id of the table.'), tableSection],
        ruled('must be a table id or a section with project, instance and table'),
      ),
    ),
    'Table that rows go to: its id, which needs project and instance, or its whole address. A record may name another one by destinationAttribute or a module serializer.',
    { type: 'text or section', bounds: 'a table id or {project, instance, table}' },
  ),
  destinationAttribute: optional(
    attributeName(
      'Message attribute that names the table of each record: the id of a table of project and instance, project.instance.table, or projects/…/instances/…/tables/…. Where project and instance are set, a table elsewhere needs the last form, because a table id may hold dots. A message without it goes to table, and without that it comes back until it is changed; it is never dropped. Excludes mapping.destination.',
    ),
  ),
};

export type DestinationOptions = Output<typeof destinationOptions> & Pick<CommonOptions, 'project' | 'instance'>;

/**
 * Where rows go. A record's table is what the serializer says, else what its attribute says, else `table`.
 * A bare table id belongs to `home`.
 */
export interface ResolvedDestination {
  readonly table?: { readonly project: string; readonly instance: string; readonly table: string };
  readonly home?: { readonly project: string; readonly instance: string };
  /** Name of the message attribute that names the table. */
  readonly attribute?: string;
}

type TableOptions = Pick<DestinationOptions, 'project' | 'instance' | 'table'>;

const homeOf = ({ project, instance }: TableOptions): ResolvedDestination['home'] =>
  project !== undefined && instance !== undefined ? { project, instance } : undefined;

/** The table that `table` names; undefined where it is left out. */
export function tableOf(options: TableOptions): ResolvedDestination['table'] {
  const { table } = options;
  const home = homeOf(options);
  return typeof table === 'string' ? home && { ...home, table } : table;
}

export function destinationOf(options: DestinationOptions): ResolvedDestination {
  const { destinationAttribute } = options;
  const home = homeOf(options);
  const whole = tableOf(options);
  return {
    ...(whole && { table: whole }),
    ...(home && { home }),
    ...(destinationAttribute !== undefined && { attribute: destinationAttribute }),
  };
}

export const bareTableHasHome: Rule<TableOptions> = ({ options: { table }, isSet }) => {
  if (typeof table !== 'string') return [];
  const missing = (['project', 'instance'] as const).filter((part) => !isSet(part));
  return missing.map((part) => ({ at: [part], rule: 'is required because table is a bare table id' }));
};

export const destinationRules: readonly Rule<DestinationOptions & SerializerOptions>[] = [
  function hasPlaceToWriteTo({ options: { serializer, mapping }, isSet }) {
    if (isSet('table') || isSet('destinationAttribute')) return [];
    const mayName = isSet('mapping') ? isSection(mapping) && mapping.destination !== undefined : serializer !== 'entry';
    if (mayName) return [];
    return [
      {
        at: ['table'],
        rule: 'is required unless destinationAttribute, mapping.destination or a module serializer names it',
      },
    ];
  },
  bareTableHasHome,
  function oneOptionNamesTheTable({ options: { destinationAttribute, mapping }, isSet }) {
    if (!isSet('destinationAttribute') || !isSection(mapping) || mapping.destination === undefined) return [];
    const rule = 'must not be set beside mapping.destination: one of them names the table of a record';
    return [{ at: ['destinationAttribute'], rule, ...(destinationAttribute && { got: destinationAttribute }) }];
  },
];
