/** The address of a table. Plain value: build it with {@link tableName}, which checks the parts. */
export interface TableName {
  readonly project: string;
  readonly instance: string;
  readonly table: string;
}

/** Why a part of a table address cannot be one, or undefined when it can. Shared by configuration and routing. */
export function tableNamePartProblem(value: string): string | undefined {
  if (value.trim() === '') return 'must not be blank';
  if (value !== value.trim()) return 'must not start or end with white space';
  if (value.includes('/')) return 'must not contain "/"';
  return undefined;
}

/** Builds a table address. Throws a `TypeError` that names the part when one is blank, padded or holds a slash. */
export function tableName(project: string, instance: string, table: string): TableName {
  for (const [part, value] of Object.entries({ project, instance, table })) {
    const problem = tableNamePartProblem(value);
    if (problem !== undefined) throw new TypeError(`${part}: ${problem}, got ${JSON.stringify(value)}`);
  }
  return { project, instance, table };
}

/** `projects/p/instances/i/tables/t`: the name on the wire. */
export const tablePath = (name: TableName): string =>
  `projects/${name.project}/instances/${name.instance}/tables/${name.table}`;

/** `project.instance.table`: the rendering in metrics, messages and dead letters. */
export const formatTableName = (name: TableName): string => `${name.project}.${name.instance}.${name.table}`;

/**
 * Reads `project.instance.table` or a bare `table` that belongs to `home`. A project may hold dots and a colon
 * (`example.com:p`), so the table and the instance are the last two parts. Undefined when it is neither form.
 */
export function parseTableName(
  text: string,
  home: Pick<TableName, 'project' | 'instance'> | undefined,
): TableName | undefined {
  const parts = text.split('.');
  // A table id may itself contain dots; the bare form therefore is one without any.
  const candidate =
    parts.length === 1
      ? home && { ...home, table: text }
      : parts.length >= 3 && {
          project: parts.slice(0, -2).join('.'),
          instance: parts.at(-2) ?? '',
          table: parts.at(-1) ?? '',
        };
  if (!candidate) return undefined;
  const { project, instance, table } = candidate;
  const isValid = [project, instance, table].every((part) => tableNamePartProblem(part) === undefined);
  return isValid ? { project, instance, table } : undefined;
}
