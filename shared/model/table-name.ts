/** The address of a table. Plain value: build it with {@link tableName}, which checks the parts. */
export interface TableName {
  readonly project: string;
  readonly instance: string;
  readonly table: string;
}

/** The id of a table whose instance its pipeline says. Never an address, whatever dots it holds. */
export type TableId = Pick<TableName, 'table'>;

type Home = Pick<TableName, 'project' | 'instance'>;

/** Bigtable's rule for the id of a table. */
export const TABLE_ID = /^[_a-zA-Z0-9][-_.a-zA-Z0-9]{0,49}$/;

/** The same in words, for whatever names a table. */
export const TABLE_ID_RULE =
  'must be an id of 1 to 50 letters, digits, "_", "-" and "." that starts with none of the last two';

/** Why a text cannot be the id of a table, or undefined when it can. */
export const tableIdProblem = (value: string): string | undefined =>
  tableNamePartProblem(value) ?? (TABLE_ID.test(value) ? undefined : TABLE_ID_RULE);

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

/** A project may be scoped to a domain (`example.com:p`): only what comes before its colon holds dots. */
const FULL_NAME = /^((?:[^:]*:)?[^.:]+)\.([^.]+)\.(.+)$/s;
const PATH = /^projects\/([^/]+)\/instances\/([^/]+)\/tables\/([^/]+)$/;

/**
 * Reads `project.instance.table` or a bare `table` that belongs to `home`. Neither a project's own id nor an instance
 * holds a dot and a table id may, so the table is all that follows the second of theirs. The bare form is one without
 * any dot. Undefined when it is neither form, or when the table is no id that Bigtable has.
 */
export function parseTableName(text: string, home: Home | undefined): TableName | undefined {
  return checked(text.includes('.') ? FULL_NAME.exec(text)?.slice(1) : [home?.project, home?.instance, text]);
}

/**
 * Reads the table that a record names: `projects/p/instances/i/tables/t`, `project.instance.table`, or the id of a
 * table of `home`. Beside a home, a text with dots may be an id as well as an address, so it is read only where both
 * are the same table: `project.instance.` must be those of the home. Undefined for everything else.
 */
export function parseNamedTable(text: string, home: Home | undefined): TableName | undefined {
  const path = PATH.exec(text);
  if (path) return checked(path.slice(1));
  const table = parseTableName(text, home);
  const isElsewhere = table && home && (table.project !== home.project || table.instance !== home.instance);
  return isElsewhere ? undefined : table;
}

function checked([project, instance, table]: readonly (string | undefined)[] = []): TableName | undefined {
  if (project === undefined || instance === undefined || table === undefined || !TABLE_ID.test(table)) return undefined;
  const isValid = [project, instance].every((part) => tableNamePartProblem(part) === undefined);
  return isValid ? { project, instance, table } : undefined;
}
