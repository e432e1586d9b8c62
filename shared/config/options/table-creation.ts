import * as z from 'zod';
import { choice, declare, optional, type Output, ruled } from '../option.ts';
import { type Millis, requiredDuration } from '../quantity.ts';
import type { Rule } from '../rules.ts';
import { FAMILY_NAME } from './names.ts';
import type { SerializerOptions } from './serializer.ts';

/** What a sink may create: tables that are missing, and families that a table lacks. */

/** A rule as it is written, its durations in milliseconds. */
type WrittenGcRule =
  { maxVersions: number } | { maxAge: Millis } | { union: WrittenGcRule[] } | { intersection: WrittenGcRule[] };

const MAX_INT32 = 2 ** 31 - 1;

const versionsRule = ruled('must be a whole number, from 1 to 2,147,483,647');

function ruleList(about: string) {
  const rule = ruled('must be a list of at least 2 rules');
  const schema = z.array(
    z.lazy((): z.ZodType<WrittenGcRule> => gcRule),
    rule,
  );
  return declare(schema.min(2, rule), about, { type: 'list', bounds: 'at least 2 rules', isRequired: true });
}

/** One of four forms. Whether the service takes a rule (its size, its depth) is not checked here. */
const gcRule = z.union(
  [
    z.strictObject({
      maxVersions: declare(
        z.int(versionsRule).min(1, versionsRule).max(MAX_INT32, versionsRule),
        'Collects all but this many newest cells of a column.',
        { type: 'number', bounds: 'from 1 to 2,147,483,647', isRequired: true },
      ),
    }),
    z.strictObject({
      maxAge: requiredDuration('Collects cells whose timestamp is older than this.', { example: '30d', min: '1ms' }),
    }),
    z.strictObject({ union: ruleList('Collects what any of these rules collects.') }),
    z.strictObject({ intersection: ruleList('Collects what all of these rules collect.') }),
  ],
  ruled('must be a section with one of maxVersions, maxAge, union, intersection'),
);

const FAMILY_TYPES = ['raw', 'int64-sum', 'int64-min', 'int64-max', 'int64-hll'] as const;
const typeBounds = FAMILY_TYPES.map((type) => JSON.stringify(type)).join(', ');

const familySection = z.strictObject({
  type: declare(
    z.enum(FAMILY_TYPES, ruled(`must be one of ${typeBounds}`)).optional(),
    'Content of the cells of the family: bytes, or an aggregate of int64 inputs. A family of the mapping has the type that the mapping needs, and another one is refused; without a mapping the default is raw. An aggregate family makes the sink check the types of existing families before its first write to a table.',
    { type: 'choice', bounds: typeBounds },
  ),
  gcRule: declare(
    optional(gcRule),
    'Garbage-collection rule of the family; without it nothing is collected, so that a delivery that adds a cell version adds it forever. The rule of a family that exists is neither compared nor changed.',
    { type: 'section', bounds: 'one of maxVersions, maxAge, union, intersection' },
  ),
});

const familyRule = ruled('must be a section with at least one family, by name');
const nameRule = ruled('a family is named by 1 to 64 letters, digits, "-", "_" and "."');

const tableCreateSection = z.strictObject({
  families: declare(
    z
      .record(z.string(nameRule).regex(FAMILY_NAME, nameRule), familySection, familyRule)
      .refine((families) => Object.keys(families).length > 0, familyRule),
    'The families that every table of the pipeline must have, by name, beside those of its mapping, which need not be named here: name them for their gcRule.',
    {
      type: 'section',
      bounds: 'at least one family; 1 to 64 letters, digits, "-", "_" and "." each',
      isRequired: true,
    },
  ),
});

export const creationOptions = {
  createDisposition: choice(
    'Whether a missing table, or a family that a table lacks, is created: create-if-needed creates what the mapping and tableCreateOptions declare when a write is answered NOT_FOUND, and writes again. It changes and deletes nothing that exists, and creates no instance. It needs the permissions bigtable.tables.create, get and update.',
    ['create-never', 'create-if-needed'],
    'create-never',
  ),
  tableCreateOptions: declare(
    optional(tableCreateSection),
    'Families to create, with their rules of garbage collection. Needed by the createDisposition create-if-needed where no mapping declares families, and refused beside create-never.',
    { type: 'section' },
  ),
};

type CreationOptions = Output<typeof creationOptions>;

/** The families that every table of the pipeline must have. What else a table has is left alone. */
export interface ResolvedTableCreateOptions {
  /** By name; at least one. */
  readonly families: Readonly<Record<string, ResolvedFamily>>;
}

export interface ResolvedFamily {
  readonly type: FamilyType;
  /** Absent: nothing is collected. */
  readonly gcRule?: ResolvedGcRule;
}

/** `raw` holds bytes; the others aggregate int64 inputs. */
export type FamilyType = (typeof FAMILY_TYPES)[number];

export type ResolvedGcRule =
  | { readonly kind: 'max-versions'; readonly maxVersions: number }
  | { readonly kind: 'max-age'; readonly maxAgeMillis: number }
  | { readonly kind: 'union' | 'intersection'; readonly rules: readonly ResolvedGcRule[] };

/**
 * Absent where createDisposition is create-never.
 *
 * @param mapped the families that the mapping writes; what is written of them here has their types.
 */
export function creationOf(
  { createDisposition, tableCreateOptions }: CreationOptions,
  mapped: Readonly<Record<string, FamilyType>>,
): { readonly tableCreateOptions?: ResolvedTableCreateOptions } {
  if (createDisposition === 'create-never') return {};
  const families = new Map(Object.entries(mapped).map(([name, type]): [string, ResolvedFamily] => [name, { type }]));
  for (const [name, { type, gcRule: rule }] of Object.entries(tableCreateOptions?.families ?? {})) {
    const family = families.get(name) ?? { type: type ?? 'raw' };
    families.set(name, { ...family, ...(rule && { gcRule: gcRuleOf(rule) }) });
  }
  return { tableCreateOptions: { families: Object.fromEntries(families) } };
}

function gcRuleOf(rule: WrittenGcRule): ResolvedGcRule {
  if ('maxVersions' in rule) return { kind: 'max-versions', maxVersions: rule.maxVersions };
  if ('maxAge' in rule) return { kind: 'max-age', maxAgeMillis: rule.maxAge };
  return 'union' in rule
    ? { kind: 'union', rules: rule.union.map(gcRuleOf) }
    : { kind: 'intersection', rules: rule.intersection.map(gcRuleOf) };
}

export const creationHasItsDisposition: Rule<CreationOptions & SerializerOptions> = ({
  options: { createDisposition },
  isSet,
}) => {
  const isWanted = createDisposition === 'create-if-needed';
  if (createDisposition === undefined || isWanted === isSet('tableCreateOptions')) return [];
  // Every mapping of a sink of entries declares families.
  if (isWanted && isSet('mapping')) return [];
  return isWanted
    ? [
        {
          at: ['tableCreateOptions'],
          rule: 'is required by the createDisposition create-if-needed, unless a mapping declares the families',
        },
      ]
    : [
        {
          at: ['createDisposition'],
          rule: 'must be "create-if-needed" where tableCreateOptions is set',
          got: createDisposition,
        },
      ];
};
