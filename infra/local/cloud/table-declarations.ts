import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { z } from 'zod';
import { ConfigError, toError, type ConfigProblem } from '../../../shared/base/errors.ts';
import { parseTableName, type TableName } from '../../../shared/model/table-name.ts';

/** One column family of a local table. Neither key: cells of any bytes, every version kept. */
export interface FamilyDeclaration {
  /** Keeps this many newest versions of a cell. At least 1. */
  readonly maxVersions?: number | undefined;
  /** Makes it a family of int64 aggregates. */
  readonly aggregate?: 'sum' | 'min' | 'max' | undefined;
}

export interface TableDeclaration {
  readonly name: TableName;
  readonly families: Readonly<Record<string, FamilyDeclaration>>;
  /** Row keys at which a new table is split into tablets. Default: it is one tablet. */
  readonly splits?: readonly string[] | undefined;
  /** A new table has a change stream, which keeps changes for so many days: 1 to 7. Default: it has none. */
  readonly changeStreamDays?: number | undefined;
}

const family = z.strictObject({
  maxVersions: z.int().min(1).optional(),
  aggregate: z.enum(['sum', 'min', 'max']).optional(),
});

const document = z.strictObject({
  tables: z.record(
    z.string(),
    z.strictObject({
      families: z.record(z.string().regex(/^[-_.a-zA-Z0-9]{1,64}$/), family),
      splits: z.array(z.string().min(1)).optional(),
      changeStreamDays: z.int().min(1).max(7).optional(),
    }),
  ),
});

/**
 * Reads the tables that the local cloud makes, so that a pipeline finds them: `tables.<name>.families.<family>`, where
 * a name is `project.instance.table` or a table of `home`. Throws one {@link ConfigError} with every problem.
 *
 * @example
 * tables:
 *   flights:
 *     families:
 *       flight: { maxVersions: 1 }
 */
export function parseTableDeclarations(
  text: string,
  source: string,
  home: Pick<TableName, 'project' | 'instance'> | undefined,
): TableDeclaration[] {
  const read = document.safeParse(parseYaml(text, source), { reportInput: true });
  if (!read.success) {
    throw new ConfigError(
      source,
      read.error.issues.map(({ path, message, input }) => ({
        path: path.join('.') || 'document',
        rule: message,
        got: input === undefined ? 'nothing' : JSON.stringify(input),
      })),
    );
  }
  const problems: ConfigProblem[] = [];
  const declarations = Object.entries(read.data.tables).flatMap(([key, { families, splits, changeStreamDays }]) => {
    const name = parseTableName(key, home);
    if (name) return [{ name, families, ...(splits && { splits }), ...(changeStreamDays && { changeStreamDays }) }];
    problems.push({ path: `tables.${key}`, rule: 'must be project.instance.table, or a table id', got: key });
    return [];
  });
  if (problems.length > 0) throw new ConfigError(source, problems);
  return declarations;
}

export async function loadTableDeclarations(
  file: string,
  home: Pick<TableName, 'project' | 'instance'> | undefined,
): Promise<TableDeclaration[]> {
  return parseTableDeclarations(await readFile(file, 'utf8'), file, home);
}

function parseYaml(text: string, source: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw new ConfigError(source, [{ path: 'document', rule: 'must be YAML', got: toError(error).message }]);
  }
}
